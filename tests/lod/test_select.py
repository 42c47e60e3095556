"""Choosing levels: against one instance at a time in float64, near thresholds, under budgets, with broken input."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

import marrow as mw
from lod.level_worlds import mannequin, measured, standing
from marrow.errors import ValidationError
from marrow.lod import Selector
from marrow.scene import Camera

ERRORS = (0.002, 0.01, 0.03)


def ball(character):
    """The ball the character moves in: from skinned vertices of all clips, in place."""
    selector = Selector(character)
    return selector.moving_sphere[0, :3].astype(float), float(selector.moving_sphere[0, 3])


def scattered(N, rng, reach=60.0):
    """Instances all around, turned and of several sizes."""
    out = standing(rng.uniform(-reach, reach, (N, 3)) * [1, 0.1, 1])
    q = rng.normal(size=(N, 4))
    turn = mw.math.quaternion.to_matrix(q / np.linalg.norm(q, axis=1, keepdims=True))
    out[:, :, :3] = turn * rng.uniform(0.5, 2.0, N)[:, None, None]
    return out


def by_hand(character, cameras, transforms, *, pixels=1.0):
    """The coarsest level whose error is at most so many pixels for the nearest point of the ball; None out of sight."""
    center, radius = ball(character)
    found = []
    for m in transforms.astype(np.float64):
        place = m[:, :3] @ center + m[:, 3]
        scale = np.linalg.norm(m[:, :3], axis=0).max()
        r, worst = radius * scale, 0.0
        for camera in cameras:
            eye = camera.view[:, :3] @ place + camera.view[:, 3]
            fx, fy = camera.projection[0, 0], camera.projection[1, 1]
            if camera.projection[3, 2]:  # perspective
                depth = -eye[2]
                # Outside one of the four sides by more than the radius, or behind.
                out = max(
                    (abs(eye[0]) * fx - depth) / math.hypot(fx, 1),
                    (abs(eye[1]) * fy - depth) / math.hypot(fy, 1),
                )
                near = max(depth - r, 1e-9)
                if out > r or depth < -r:
                    continue
                metre = fy * camera.height / 2 / near
            else:
                out = max(abs(eye[0]) - 1 / fx, abs(eye[1]) - 1 / fy)
                if out > r:
                    continue
                metre = fy * camera.height / 2
            worst = max(worst, metre * scale)
        if not worst:
            found.append(None)
            continue
        found.append(max([k + 1 for k, error in enumerate(ERRORS) if error * worst <= pixels], default=0))
    return found


CAMERAS = {
    "perspective": [Camera.perspective((1, 2, -5), (0, 1, 10))],
    "orthographic": [Camera.orthographic((5, 5, 5), (0, 0, 0), size=30.0, near=-500)],
    "several": [
        Camera.perspective((0, 2, 0), (0, 1, 10), fov=0.6, height=720),
        Camera.perspective((20, 2, 20), (0, 1, 0), fov=1.2, height=1440),
        Camera.orthographic((0, 50, 0), (0, 0, 0), size=8.0, height=400, near=-500),
    ],
}


@pytest.mark.parametrize("which", list(CAMERAS))
def test_levels_are_the_coarsest_whose_error_is_not_seen(which):
    character, cameras = mannequin(), CAMERAS[which]
    transforms = scattered(400, np.random.default_rng(2))
    wanted = by_hand(character, cameras, transforms)
    for hide, unseen in ((True, -1), (False, 3)):
        chosen = Selector(character, hide=hide).select(cameras, transforms)
        assert chosen.levels.tolist() == [unseen if w is None else w for w in wanted]
    assert 0 < sum(w is None for w in wanted) < 400 and len(set(wanted)) >= 3


def test_the_error_on_screen_is_never_more_than_allowed():
    character, rng = mannequin(), np.random.default_rng(3)
    selector = Selector(character, pixels=1.5, hysteresis=0.5)
    transforms = standing(rng.uniform(-30, 30, (200, 3)) * [1, 0, 1])
    for angle in np.linspace(0, 2 * math.pi, 50):
        camera = Camera.perspective((8 * math.sin(angle), 2, 8 * math.cos(angle)), (0, 1, 0))
        pixels = selector.select(camera, transforms).pixels
        assert (pixels[np.isfinite(pixels)] <= 1.5 * (1 + 1e-9)).all()


def test_nobody_flickers_at_a_border():
    character = mannequin()
    camera = Camera.perspective((0, 1, 0), (0, 1, 10))
    plain, calm = Selector(character, hysteresis=0.0), Selector(character)
    # The distance at which the level changes, found by looking.
    distances = np.linspace(2, 60, 20_000)
    levels = plain.select(
        camera, standing(np.stack([0 * distances, 0 * distances, distances], axis=1))
    ).levels
    for edge in distances[1:][np.diff(levels) > 0]:
        changes = {}
        for name, selector in (("plain", plain), ("calm", calm)):
            selector.forget()
            path = edge + 0.02 * edge * np.sin(np.arange(200))
            seen = [int(selector.select(camera, standing([0, 0, d])).levels[0]) for d in path]
            changes[name] = int((np.diff(seen) != 0).sum())
        assert changes["plain"] > 50 and changes["calm"] <= 1, (edge, changes)
        # Far past the border it does become coarser.
        calm.select(camera, standing([0, 0, 0.5 * edge]))
        near = calm.select(camera, standing([0, 0, 0.98 * edge])).levels[0]
        assert calm.select(camera, standing([0, 0, 1.3 * edge])).levels[0] > near


def test_forced_levels_win():
    character = mannequin()
    camera = Camera.perspective((0, 1, -3), (0, 1, 0))
    transforms = standing([[0, 0, 0], [0, 0, 500], [0, 0, -900], [0, 0, 100]])
    selector = Selector(character, hide=True, triangles=0)
    assert selector.select(camera, transforms, force=2).levels.tolist() == [2] * 4
    chosen = selector.select(camera, transforms, force=[3, 0, 1, -1]).levels
    assert chosen.tolist() == [3, 0, 1, 3]
    for wrong in (4, -2, [0, 1], 0.5, "low"):
        with pytest.raises(ValidationError, match="force"):
            selector.select(camera, transforms, force=wrong)


def test_farther_and_farther_is_what_select_gives_for_each_bias():
    rng, camera = np.random.default_rng(3), Camera.perspective((0, 2, 9), (0, 1, 0), width=640, height=360)
    places, biases = scattered(200, rng), [0.0, 0.5, 1.0, 3.5]
    low = rng.uniform(-1, 0, (200, 3)).astype(np.float32)
    selector = Selector(mannequin(), pixels=0.7)
    selector.select(camera, places)  # what it chose last is neither used nor forgotten
    kept = selector._before.copy()
    for bounds in (None, mw.Bounds(low, low + 1)):
        found = list(selector.select_farther(camera, places, biases, bounds=bounds))
        for bias, levels in zip(biases, found, strict=True):
            wanted = Selector(mannequin(), pixels=0.7).select(camera, places, bounds=bounds, bias=bias).levels
            np.testing.assert_array_equal(levels, wanted)
        assert (found[0] <= found[-1]).all() and (found[0] < found[-1]).any()
    np.testing.assert_array_equal(selector._before, kept)


def test_a_bias_of_one_is_twice_as_far():
    character = mannequin()
    camera = Camera.orthographic((0, 0, 0), (0, 0, 1), size=1.0, near=-500)
    rng = np.random.default_rng(1)
    errors = sorted(rng.uniform(1e-4, 1e-2, 3))
    character = measured(character, *errors)
    bias = rng.uniform(-5, 8, 300)
    chosen = Selector(character).select(camera, standing(np.zeros((300, 3))), bias=bias).levels
    metre = 1080.0
    wanted = [sum(e * metre / 2**b <= 1 for e in errors) for b in bias]
    assert chosen.tolist() == wanted


@cache
def sphere(character):
    """The bounding sphere at rest, from skinned vertices."""
    points = mw.skin(character, character.skeleton.rest, normals=False).positions.astype(float)
    center = (points.min(axis=0) + points.max(axis=0)) / 2
    return center, np.linalg.norm(points - center, axis=1).max()


def at_size(character, size, fov=1.0):
    """Where the bounding sphere covers that part of the height of a picture."""
    center, radius = sphere(character)
    return standing(np.array([0, 0, radius / (size * math.tan(fov / 2))]) - center)


def test_screen_sizes_are_of_the_character_at_rest_and_saved_with_it():
    """Not of what it reaches in its clips, which is twice as much."""
    character = mw.lod.with_screen_sizes(mannequin(), (0.5, 0.2, 0.05))
    assert [level.lod.screen_size for level in character.levels] == [None, 0.5, 0.2, 0.05]
    assert ball(character)[1] > 1.9 * sphere(character)[1]
    camera = Camera.perspective((0, 0, 0), (0, 0, 10), fov=1.0)
    for selector in (Selector(character), Selector(mannequin(), sizes=(0.5, 0.2, 0.05))):
        for size in (0.5, 0.2, 0.05):
            for factor, finer in ((1.001, 1), (0.999, 0)):
                selector.forget()
                chosen = selector.select(camera, at_size(character, factor * size)).levels
                assert chosen.tolist() == [[0.5, 0.2, 0.05].index(size) + 1 - finer], (size, factor)
    # The mannequin stands 1.8 m high in it: what is asked for is about what is seen.
    assert 1.8 < 2 * sphere(character)[1] < 1.9


def test_boxes_of_a_moment_say_where_an_instance_is_and_not_how_large():
    character = mw.lod.with_screen_sizes(mannequin(), (0.5, 0.2, 0.05))
    camera = Camera.perspective((0, 0, 0), (0, 0, 10), fov=1.0)
    _, radius = sphere(character)
    selector = Selector(character)
    for size, level in ((0.51, 0), (0.49, 1), (0.19, 2)):
        away = radius / (size * math.tan(0.5))
        for half in (0.2, 3.0):  # curled up, or with everything spread
            box = mw.skinning.Bounds(*(np.array([[0, 0, away]]) + half * np.array([[[-1.0]], [[1.0]]])))
            selector.forget()
            assert selector.select(camera, standing([0, 0, 0]), bounds=box).levels.tolist() == [level]
    # A box that is given for good is both.
    own = Selector(character, bounds=mw.skinning.Bounds(np.array([-1.0] * 3), np.array([1.0] * 3)))
    away = math.sqrt(3) / (0.45 * math.tan(0.5))
    assert own.select(camera, standing([0, 0, away])).levels.tolist() == [1]


def test_screen_sizes_that_make_no_sense_are_refused():
    assert "pixels" in repr(Selector(mw.lod.with_screen_sizes(mannequin(), None)))
    sized = mw.lod.with_screen_sizes(mannequin(), (0.5, 0.2, 0.05))
    assert "pixels" in repr(Selector(sized, pixels=2)) and "sizes" in repr(Selector(sized))
    for wrong in ((0.5,), (0.1, 0.2, 0.3), (0.5, 0.2, math.nan), (1, 0.5, -1)):
        with pytest.raises(ValidationError, match="sizes"):
            mw.lod.with_screen_sizes(mannequin(), wrong)
    for wrong in ((0.5,), (0.1, 0.2, -0.3), (0.5, 0.2, math.nan), -1, "much"):
        with pytest.raises(ValidationError, match="hysteresis"):
            mw.lod.with_screen_sizes(mannequin(), (0.5, 0.2, 0.05), hysteresis=wrong)
        with pytest.raises(ValidationError, match="hysteresis"):
            Selector(sized, hysteresis=wrong)


def test_hysteresis_is_of_each_level_and_saved_with_it():
    """Going away, a level is changed to where it is past its size by its hysteresis; coming back, at once."""
    sizes, calm = (0.5, 0.2, 0.05), (0.0, 0.5, 0.1)
    character = mw.lod.with_screen_sizes(mannequin(), sizes, hysteresis=calm)
    assert [level.lod.hysteresis for level in character.levels] == [None, *calm]
    assert Selector(character).hysteresis == calm and Selector(mannequin()).hysteresis == (0.1,) * 3
    assert Selector(character, hysteresis=0.3).hysteresis == (0.3,) * 3
    kept = mw.lod.with_screen_sizes(character, (0.4, 0.3, 0.2))
    assert [level.lod.hysteresis for level in kept.levels] == [None, *calm]
    camera = Camera.perspective((0, 0, 0), (0, 0, 10), fov=1.0)
    for selector in (Selector(character), Selector(mannequin(), sizes=sizes, hysteresis=calm)):
        away = np.geomspace(0.9, 0.02, 300)
        levels = [int(selector.select(camera, at_size(character, s)).levels[0]) for s in away]
        changed = away[1:][np.diff(levels) > 0]
        np.testing.assert_allclose(changed, [s / (1 + h) for s, h in zip(sizes, calm)], rtol=2e-2)
        levels = [int(selector.select(camera, at_size(character, s)).levels[0]) for s in away[::-1]]
        np.testing.assert_allclose(away[::-1][1:][np.diff(levels) < 0], sizes[::-1], rtol=2e-2)


def test_distances():
    selector = Selector(mannequin(), distances=(10, 20, 40), hysteresis=0)
    camera = Camera.perspective((0, 1, 0), (0, 1, 10), far=1e5)
    center, _ = ball(mannequin())
    z = np.array([5.0, 11, 19.9, 21, 39, 41, 400])
    eye = np.stack([0 * z - center[0], 0 * z + 1 - center[1], z - center[2]], axis=1)
    assert selector.select(camera, standing(eye)).levels.tolist() == [0, 1, 1, 2, 2, 3, 3]


def test_a_budget_of_triangles_takes_from_those_seen_least():
    character = mannequin()
    counts = np.array([level.triangle_count for level in character.levels])
    N, rng = 300, np.random.default_rng(4)
    distance = np.sort(rng.uniform(4, 25, N))
    transforms = standing(np.stack([0 * distance, 0 * distance, distance], axis=1))
    camera = Camera.perspective((0, 1, 0), (0, 1, 10))
    free = Selector(character).select(camera, transforms)
    for share in (1.0, 0.7, 0.3, 0.1):
        budget = share * free.triangles
        selector = Selector(character, triangles=budget)
        chosen = selector.select(camera, transforms)
        assert chosen.triangles == counts[chosen.levels].sum()
        assert chosen.triangles <= max(budget, N * counts[-1])
        # No more was taken than needed: the step that was taken last would have broken the budget.
        if budget > N * counts[-1]:
            assert chosen.triangles > budget - counts.max()
        # Who is nearer is never coarser: errors of the same steps are seen the more the nearer one is.
        assert (np.diff(chosen.levels) >= 0).mean() > 0.99
        again = selector.select(camera, transforms)
        np.testing.assert_array_equal(again.levels, chosen.levels)
        moved = standing(transforms[:, :, 3] + rng.normal(0, 0.005, (N, 3)))
        changed = selector.select(camera, moved).levels != chosen.levels
        assert changed.mean() < 0.02
    nothing = Selector(character, triangles=0).select(camera, transforms)
    assert (nothing.levels == len(counts) - 1).all()


def test_a_budget_of_microseconds():
    character = mannequin()
    transforms = standing(np.zeros((100, 3)))
    camera = Camera.perspective((0, 1, -2), (0, 1, 0))
    chosen = Selector(character, microseconds=310.0, costs=(10, 5, 2, 1)).select(camera, transforms)
    spent = np.array([10, 5, 2, 1])[chosen.levels].sum()
    assert 300 < spent <= 310
    own = Selector(character, microseconds=1e9)
    assert own.costs.shape == (4,) and (np.diff(own.costs) <= 0).all() and (own.costs > 0).all()
    assert (own.select(camera, transforms).levels == 0).all()
    with pytest.raises(ValidationError, match="costs"):
        Selector(character, microseconds=5, costs=(1, 2))
    with pytest.raises(ValidationError, match="one budget"):
        Selector(character, microseconds=5, triangles=5)


def test_broken_bounds_do_not_break_the_batch():
    character = mannequin()
    camera = Camera.perspective((0, 1, -3), (0, 1, 0))
    transforms = standing(np.zeros((7, 3)))
    transforms[1, 0, 0], transforms[2, 2, 3], transforms[3] = np.nan, np.inf, np.nan
    low, high = np.tile([-1.0, 0, -1], (7, 1)), np.tile([1.0, 2, 1], (7, 1))
    low[4], high[4] = np.inf, -np.inf
    low[5] = np.nan
    bounds = mw.skinning.Bounds(low, high)
    for budget in (None, 1000.0):
        for hide, unseen in ((True, -1), (False, 3)):
            selector = Selector(character, hide=hide, triangles=budget)
            levels = selector.select(camera, transforms, bounds=bounds).levels
            assert levels[1:6].tolist() == [unseen] * 5
            if budget is None:
                assert levels[0] == levels[6] == 0
    nobody = Selector(character).select(camera, np.zeros((0, 3, 4)))
    assert len(nobody) == 0 and nobody.triangles == 0 and "nobody" in repr(nobody)
    empty = mw.Character(character.skeleton, (), name="bones")
    assert Selector(empty, hide=True).select(camera, transforms).levels.tolist() == [-1] * 7


def test_bounds_of_poses_that_go_elsewhere():
    """Boxes of each instance, as they are animated: one that has walked out of the picture is not seen."""
    character = mannequin()
    crowd = mw.Animator(character, mw.samples.mannequin_graph(), count=2)
    crowd.update(0.2)
    boxes = mw.bounds(character, crowd.matrices, exact=False)
    boxes.low[1, 0] += 50
    boxes.high[1, 0] += 50
    camera = Camera.perspective((0, 1, -4), (0, 1, 0))
    selector = Selector(character, hide=True)
    assert (selector.select(camera, standing(np.zeros((2, 3))), bounds=boxes).levels >= 0).tolist() == [
        True,
        False,
    ]
    with pytest.raises(ValidationError, match="one box or 3"):
        selector.select(camera, standing(np.zeros((3, 3))), bounds=boxes)
    with pytest.raises(ValidationError, match="bounds"):
        selector.select(camera, standing(np.zeros((2, 3))), bounds=np.zeros((2, 6)))


def test_rates_and_levels_go_to_the_crowd_together():
    character = mannequin()
    crowd = mw.Animator(character, mw.samples.mannequin_graph(), count=4)
    selector = Selector(character, every=(1, 1, 2, 4), hide=True)
    camera = Camera.perspective((0, 1, -3), (0, 1, 0))
    transforms = standing([[0, 0, 0], [0, 0, 12], [0, 0, 300], [0, 0, -300]])
    crowd.levels = selection = selector.select(camera, transforms)
    assert crowd.levels.tolist() == selection.levels.tolist() == [0, 2, 3, -1]
    assert crowd.instances.update_every.tolist() == [1, 2, 4, 1]
    assert selection.counts(4) == [1, 0, 1, 1]
    by_hand = mw.Animator(character, count=4)
    with pytest.raises(ValidationError, match="graph"):
        by_hand.levels = selection
    with pytest.raises(ValidationError, match="every"):
        Selector(character, every=(1, 2))


def test_a_character_without_levels_or_measures():
    plain = mw.samples.lizard().replace(reduced=(), lod=None)
    camera = Camera.perspective((0, 1, -3), (0, 1, 0))
    assert Selector(plain).select(camera, standing([[0, 0, 0], [0, 0, 900]])).levels.tolist() == [0, 0]
    unmeasured = measured(mannequin(), None, None, None)
    with pytest.raises(ValidationError, match="nobody measured"):
        Selector(unmeasured)
    assert Selector(unmeasured, distances=(1, 2, 3)).select(
        camera, standing([0, 0, 900])
    ).levels.tolist() == [3]


def test_the_ball_holds_what_moves():
    """Of exact skins at other moments than those it was made from; a clip that goes somewhere without its way."""
    character = mannequin()
    center, radius = ball(character)
    level = character.levels[2]
    for clip in list(level.clips.values())[::6]:
        if clip.additive:
            continue
        points = mw.skin(level, clip.sample(np.linspace(0, clip.duration, 7)), normals=False).positions
        middle = (points.min(axis=1) + points.max(axis=1)) / 2
        way = np.linspace(0, 1, len(points))[:, None] * (middle[-1] - middle[0]) * [1, 0, 1]
        assert np.linalg.norm(points - way[:, None] - center, axis=-1).max() < 1.1 * radius, clip.name


def test_wrong_calls_are_refused_in_words():
    character = mannequin()
    camera = Camera.perspective((0, 1, -3), (0, 1, 0))
    selector = Selector(character)
    for call, words in (
        (lambda: Selector("hero"), "Character"),
        (lambda: Selector(character, pixels=0), "pixels"),
        (lambda: Selector(character, pixels=1, sizes=(1, 1, 1)), "one of them"),
        (lambda: Selector(character, distances=(3, 2, 1)), "near to far"),
        (lambda: Selector(character, hysteresis=-1), "hysteresis"),
        (lambda: selector.select("camera", standing([0, 0, 0])), "Camera"),
        (lambda: selector.select([], standing([0, 0, 0])), "Camera"),
        (lambda: selector.select(camera, np.zeros((3, 3))), "transforms"),
        (lambda: selector.select(camera, standing([0, 0, 0]), bias=[1, 2]), "bias"),
        (lambda: selector.select(camera, standing([0, 0, 0]), bias=math.nan), "bias"),
        (lambda: Camera.perspective((0, 0, 0), (0, 0, 0)), "same place"),
        (lambda: Camera.perspective((0, 0, 0), (0, 0, 1), fov=50), "radians"),
        (lambda: Camera.perspective((0, 0, 0), (0, 0, 1), near=0), "near"),
        (lambda: Camera.orthographic((0, 0, 0), (0, 0, 1), size=0), "size"),
        (lambda: Camera(np.eye(3), np.eye(4)), "view"),
        (lambda: Camera(np.eye(4), np.eye(4), height=0), "height"),
    ):
        with pytest.raises(ValidationError, match=words):
            call()
    assert "perspective" in repr(camera) and "Selector" in repr(selector)
    Camera.perspective((0, 5, 0), (0, 0, 0))  # straight down


def test_matrices_of_a_view_may_be_four_by_four():
    view = np.eye(4)
    camera = Camera(view, Camera.perspective((0, 0, 0), (0, 0, -1)).projection)
    chosen = Selector(mannequin(), hide=True).select(camera, standing([[0, 0, -5], [0, 0, 15]]))
    assert chosen.levels[0] >= 0 and chosen.levels[1] == -1
