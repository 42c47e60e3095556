"""Outputs of pictures against rays cast in NumPy at vertices skinned by the CPU, and joints against kinematics."""

from __future__ import annotations

import numpy as np
import pytest
import quads
import solids

import marrow as mw
from marrow.errors import UnknownNameError, ValidationError
from marrow.rendering.passes.outputs import dominant_joints
from marrow.scene import Actor, Scene
from marrow.scene.joint_pixels import OCCLUDED, OUTSIDE, VISIBLE, near_joints
from marrow.scene.random_views import random_view

ALL = ("color", "depth", "normals", "ids", "parts", "joint_ids", "joints")
SIZE = (96, 80)


def camera(eye=(1.2, 1.6, 2.6), target=(0.2, 0.9, 0.0), **options):
    return mw.Camera.perspective(eye, target, width=SIZE[0], height=SIZE[1], **options)


def place(x=0.0, z=0.0, angle=0.0, scale=1.0, mirrored=False):
    c, s = scale * np.cos(angle), scale * np.sin(angle)
    flip = -1.0 if mirrored else 1.0
    return np.array([[flip * c, 0, s, x], [0, scale, 0, 0], [-flip * s, 0, c, z]])


@pytest.fixture
def drawn(renderer):
    def draw(scene, eye, outputs=ALL, **options):
        renderer.size = SIZE
        return renderer.render(scene, eye, outputs=outputs, **options)

    return draw


def triangles_of(actor_number, character, positions, normals, place_of, first_id, first_part):
    """Corners in the world, normals there, instance, part and joint of every triangle."""
    turn, move = place_of[:, :3], place_of[:, 3]
    cofactor = np.linalg.inv(turn).T * np.linalg.det(turn) * np.sign(np.linalg.det(turn))
    at, facing = positions @ turn.T + move, normals @ cofactor.T
    lead = dominant_joints(character)
    corners, slopes, parts, joints = [], [], [], []
    part = first_part
    for mesh, first in zip(character.meshes, character.vertex_offsets):
        for section in mesh.sections:
            t = mesh.triangles[section.first : section.first + section.count].astype(np.int64) + first
            corners.append(at[t])
            slopes.append(facing[t])
            parts.append(np.full(len(t), part))
            joints.append(lead[t])
            part += 1
    count = sum(map(len, corners))
    flip = np.linalg.det(turn) < 0
    return (
        np.concatenate(corners)[:, ::-1] if flip else np.concatenate(corners),
        np.concatenate(slopes)[:, ::-1] if flip else np.concatenate(slopes),
        np.full(count, first_id),
        np.concatenate(parts),
        np.concatenate(joints),
    )


def cast(view, pixels, world):
    """The nearest front face that rays through pixels hit: depth, normal, instance, part, joints of its corners."""
    corners, slopes, ids, parts, joints = world
    inverse = np.linalg.inv(view.projection @ np.vstack([view.view, [0, 0, 0, 1]]))
    ndc = (np.asarray(pixels) + 0.5) / np.array(SIZE) * [2, -2] + [-1, 1]
    ends = [np.column_stack([ndc, np.full(len(ndc), z), np.ones(len(ndc))]) @ inverse.T for z in (-1.0, 1.0)]
    near, far = (e[:, :3] / e[:, 3:] for e in ends)
    forward = -view.view[2, :3]
    a, ab, ac = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    out = []
    for origin, way in zip(near, far - near):
        p = np.cross(way, ac)
        det = (ab * p).sum(1)
        with np.errstate(divide="ignore", invalid="ignore"):
            t0 = origin - a
            u = (t0 * p).sum(1) / det
            q = np.cross(t0, ab)
            v = (q @ way) / det
            t = (ac * q).sum(1) / det
            hit = (det > 0) & (u >= 0) & (v >= 0) & (u + v <= 1) & (t >= 0) & (t <= 1)
        if not hit.any():
            out.append(None)
            continue
        k = np.flatnonzero(hit)[np.argmin(t[hit])]
        normal = (1 - u[k] - v[k]) * slopes[k, 0] + u[k] * slopes[k, 1] + v[k] * slopes[k, 2]
        point = origin + t[k] * way
        edge = min(u[k], v[k], 1 - u[k] - v[k])
        out.append(
            (
                forward @ (point - np.linalg.inv(np.vstack([view.view, [0, 0, 0, 1]]))[:3, 3]),
                normal / np.linalg.norm(normal),
                ids[k],
                parts[k],
                joints[k],
                edge,
            )
        )
    return out


@pytest.mark.parametrize("orthographic", [False, True])
def test_pixels_are_what_rays_hit(drawn, hero, orthographic):
    small = hero.levels[-1]  # fewer triangles: rays are slow
    places = np.stack([place(), place(0.7, -0.6, 1.0, 0.8), place(-0.5, 0.3, 0.4, 0.9, mirrored=True)])
    times = np.array([0.1, 0.4, 0.7])
    lizard = mw.samples.lizard().levels[-1]
    where = place(0.3, 0.9, 2.0, 0.7)
    scene = Scene(Actor(small, clip="walk", time=times, transforms=places), Actor(lizard, transforms=where))
    view = camera()
    if orthographic:
        view = mw.Camera.orthographic(
            (1.2, 1.6, 2.6), (0.2, 0.8, 0.0), size=2.4, width=SIZE[0], height=SIZE[1], near=0.1, far=20
        )
    frame = drawn(scene, view)
    worlds = []
    surface = mw.skin(small, small.clips["walk"].sample(times))
    for n in range(3):
        worlds.append(
            triangles_of(
                0,
                small,
                surface.positions[n].astype(float),
                surface.normals[n].astype(float),
                places[n],
                n,
                0,
            )
        )
    parts = sum(len(m.sections) for m in small.meshes)
    rest = mw.skin(lizard, lizard.skeleton.rest)
    worlds.append(
        triangles_of(1, lizard, rest.positions.astype(float), rest.normals.astype(float), where, 3, parts)
    )
    world = tuple(np.concatenate(w) for w in zip(*worlds))
    chance = np.random.default_rng(5)
    covered = np.argwhere(frame.ids >= 0)[:, ::-1]
    pixels = np.concatenate([chance.integers(0, SIZE, (60, 2)), chance.permutation(covered)[:160]])
    off = []
    seen = wrong = 0
    for (x, y), hit in zip(pixels, cast(view, pixels, world)):
        if hit is None:
            wrong += frame.ids[y, x] != -1
            continue
        depth, normal, instance, part, joints, edge = hit
        same = frame.ids[y, x] == instance and abs(frame.depth[y, x] - depth) < 2e-3
        if not same:
            wrong += 1  # a ray along an edge may go either way
            continue
        seen += 1
        assert frame.normals[y, x] @ normal > 0.99
        if edge > 0.02:
            assert frame.parts[y, x] == part
            assert frame.joint_ids[y, x] in joints
            off.append(abs(frame.depth[y, x] - depth))
    assert np.median(off) < 1e-4  # corners are snapped to 1/256 of a pixel: slopes are off by more
    assert seen > 100
    assert wrong <= 3
    assert set(np.unique(frame.ids)) == {-1, 0, 1, 2, 3}
    assert len(frame.part_names) == parts + sum(len(m.sections) for m in lizard.meshes)


def test_nothing_is_told_as_nothing(drawn, hero):
    away = drawn(Scene(Actor(hero, transforms=place(0, 50))), camera())
    empty = drawn(Scene(), camera())
    for frame in (away, empty):
        assert np.isposinf(frame.depth).all()
        assert (frame.ids == -1).all()
        assert (frame.parts == -1).all()
        assert not frame.normals.any()
        assert frame.depth.dtype == np.float32
        assert frame.ids.dtype == frame.parts.dtype == np.int32
    assert (away.joints[0].visibility == OUTSIDE).all()
    assert empty.joints == ()


def test_only_what_was_asked_for_is_there(drawn, hero):
    frame = drawn(Scene(hero), camera(), outputs=("depth",))
    assert "depth" in frame and "ids" not in frame
    assert drawn(Scene(hero), camera(), outputs="color").outputs == {}
    with pytest.raises(UnknownNameError, match="depth"):
        drawn(Scene(hero), camera(), outputs=("dept",))
    with pytest.raises(ValidationError):
        drawn(Scene(hero), camera(), outputs=3)


def test_labels_do_not_depend_on_how_large_somebody_is_in_the_picture(drawn, hero):
    far = camera(eye=(0, 2, 12), target=(0, 1, 0))
    coarse = [len(level.skeleton) for level in hero.levels]
    assert coarse[-1] < coarse[0]  # otherwise this proves nothing
    assert not np.array_equal(
        drawn(Scene(hero), far, ("color",)).pixels,
        drawn(Scene(Actor(hero, levels=0)), far, ("color",)).pixels,
    )
    auto, finest, said = (drawn(Scene(Actor(hero, levels=k)), far) for k in ("auto", 0, len(coarse) - 1))
    for name in ("pixels", "depth", "ids", "joint_ids"):
        np.testing.assert_array_equal(getattr(auto, name), getattr(finest, name))
    assert not np.array_equal(said.depth, finest.depth)  # what is said is drawn


def test_joints_are_projected_kinematics(drawn, hero):
    where = place(0.2, -0.3, 0.5)
    frame = drawn(Scene(Actor(hero, clip="run", time=0.3, transforms=where)), camera())
    joints = frame.joints[0]
    model = hero.skeleton.to_model(hero.clips["run"].sample(0.3))[..., 3].astype(float)
    world = model @ where[:, :3].T + where[:, 3]
    m = frame.camera_matrices
    seen = (world @ m.extrinsics[:, :3].T + m.extrinsics[:, 3]) @ m.K.T
    np.testing.assert_allclose(joints.pixels[0], seen[:, :2] / seen[:, 2:], atol=1e-3)
    np.testing.assert_allclose(joints.depth[0], seen[:, 2], atol=1e-5)
    assert joints.names == hero.skeleton.names


def test_a_joint_is_seen_unless_something_else_is_before_it(drawn, hero):
    front = mw.Camera.perspective((0, 1.2, 3), (0, 1, 0), width=SIZE[0], height=SIZE[1])
    rest = drawn(Scene(hero), front)
    names = list(hero.skeleton.names)
    seen = dict(zip(names, rest.joints[0].visibility[0]))
    assert all(seen[n] == VISIBLE for n in ("head", "spine_02", "calf_l", "calf_r", "hand_l", "foot_r"))
    # Another body before it hides it; its own instances are told apart.
    both = drawn(Scene(Actor(hero, transforms=np.stack([place(), place(0, 0.8)]))), front)
    hidden = dict(zip(names, both.joints[0].visibility[0]))
    assert all(hidden[n] == OCCLUDED for n in ("spine_02", "head"))
    assert dict(zip(names, both.joints[0].visibility[1]))["spine_02"] == VISIBLE
    # A hand behind the back is hidden by the body itself.
    behind = hero.skeleton.rest_model[hero.skeleton.index("spine_02"), :, 3] - [0, 0, 0.35]
    scene = Scene(hero)
    frame = drawn(scene, front)
    from marrow.scene.joint_pixels import joint_pixels

    world = frame.joints[0].world.copy()
    world[0, names.index("hand_l")] = behind
    moved = joint_pixels(
        hero.skeleton, world, np.array([0]), front, SIZE, (frame.depth, frame.ids, frame.joint_ids)
    )
    assert moved.visibility[0, names.index("hand_l")] == OCCLUDED
    # Behind the camera, and what is no number: outside.
    world[0, 0], world[0, 1] = (0, 1, 9), np.nan
    lost = joint_pixels(
        hero.skeleton, world, np.array([0]), front, SIZE, (frame.depth, frame.ids, frame.joint_ids)
    )
    assert lost.visibility[0, :2].tolist() == [OUTSIDE, OUTSIDE]
    assert np.isnan(lost.pixels[0, 0]).all()


def test_near_joints_are_few_bones_apart():
    bones = mw.Skeleton(tuple("abcdef"), [-1, 0, 1, 2, 1, 0])
    near = near_joints(bones, 2)
    wanted = np.array(
        [
            [0, 1, 2, 3, 2, 1],
            [1, 0, 1, 2, 1, 2],
            [2, 1, 0, 1, 2, 3],
            [3, 2, 1, 0, 3, 4],
            [2, 1, 2, 3, 0, 3],
            [1, 2, 3, 4, 3, 0],
        ]
    )
    assert (near == (wanted <= 2)).all()


def test_outputs_are_the_same_again_and_beside_a_view(drawn, hero):
    scene = Scene(Actor(hero, clip="walk", time=0.2))
    first = drawn(scene, camera())
    again = drawn(scene, camera(), view="weights:spine_01+ghosts:4+skeleton")
    for name in ("depth", "normals", "ids", "parts", "joint_ids"):
        np.testing.assert_array_equal(first[name], again[name])
    assert not np.array_equal(first.pixels, again.pixels)


def test_sizes_a_millionth_and_a_thousand_times(drawn, hero):
    plain = drawn(Scene(hero), camera())
    for scale in (1e-6, 1e3):
        where = place(scale=scale)
        view = mw.Camera.perspective(
            np.array([1.2, 1.6, 2.6]) * scale, np.array([0.2, 0.9, 0.0]) * scale,
            width=SIZE[0], height=SIZE[1], near=0.05 * scale, far=1e4 * scale,
        )  # fmt: skip
        frame = drawn(Scene(Actor(hero, transforms=where)), view)
        assert (frame.ids != plain.ids).mean() < 0.005
        both = (frame.ids == 0) & (plain.ids == 0)
        apart = np.abs(frame.depth[both] / scale - plain.depth[both])
        assert apart.max() < 0.05
        assert np.median(apart) < 1e-4
        assert (frame.joints[0].visibility == plain.joints[0].visibility).mean() > 0.95


def test_random_views_go_by_their_seed(drawn, hero):
    scene = Scene(Actor(hero, clip="walk", time=np.zeros(2), transforms=np.stack([place(), place(1)])))
    made = [random_view(scene, seed=s, size=SIZE) for s in (1, 1, 2)]
    a, b, c = (drawn(m.scene, m.camera, outputs=("color", "ids")) for m in made)
    np.testing.assert_array_equal(a.pixels, b.pixels)
    assert not np.array_equal(a.pixels, c.pixels)
    assert (np.asarray(scene.actors[0].time) == 0).all()
    assert len(set(np.asarray(made[0].scene.actors[0].time).tolist())) == 2
    other = random_view(scene, seed=1, size=SIZE, lights=False, times=False)
    assert other.scene.lights == scene.lights
    for seed in range(12):
        found = random_view(scene, seed=seed, size=SIZE)
        frame = drawn(found.scene, found.camera, outputs=("ids",))
        assert 0.01 < (frame.ids >= 0).mean() < 0.9
    for bad in (
        {"seed": -1},
        {"seed": 0, "fov": (0, 50)},
        {"seed": 0, "fill": 3},
        {"seed": 0, "elevation": (5, 1)},
    ):
        with pytest.raises(ValidationError):
            random_view(scene, **bad)


def numbers_of(renderer, character, *, behind=False, **options):
    """Outputs of a square that fills the picture."""
    renderer.size = (quads.SIZE, quads.SIZE)
    scene = Scene(Actor(character, **options), ground=False)
    return renderer.render(scene, quads.camera(behind=behind), outputs=ALL)


def test_holes_backs_and_what_is_hidden_count_as_nothing(renderer):
    half = np.full((8, 8, 4), 255, np.uint8)
    half[:, :4, 3] = 0
    holes = quads.picture("holes", half)
    texture = mw.Texture(0)
    mask = mw.Material("mask", alpha_mode="mask", base_color_texture=texture)
    left, right = np.s_[:, :28], np.s_[:, 36:]
    frame = numbers_of(renderer, quads.square(mask, [holes]))
    assert (frame.ids[left] == -1).all() and (frame.ids[right] == 0).all()
    assert np.isposinf(frame.depth[left]).all() and np.allclose(frame.depth[right], 3.0)
    assert np.allclose(frame.normals[right], [0, 0, 1], atol=1e-6)
    # Translucent: there, where it lets less than half of the light through.
    for alpha, there in ((0.8, 0), (0.3, -1)):
        glass = mw.Material("glass", alpha_mode="blend", base_color=(1, 1, 1, alpha))
        assert (numbers_of(renderer, quads.square(glass)).ids == there).all()
    # One side only, unless the material has two; the normal looks at whoever sees it.
    assert (numbers_of(renderer, quads.square(mw.Material("one")), behind=True).ids == -1).all()
    both = numbers_of(renderer, quads.square(mw.Material("two", double_sided=True)), behind=True)
    assert (both.ids == 0).all() and np.allclose(both.normals, [0, 0, -1], atol=1e-6)
    assert (numbers_of(renderer, quads.square(mw.Material("one")), visible=[False]).ids == -1).all()


def test_normals_are_those_that_are_lit(renderer):
    """A normal map bends them, as the light sees it."""
    tilted = np.full((4, 4, 3), np.round(255 * (0.5 + 0.5 * np.array([0.6, 0.0, 0.8]))), np.uint8)
    bent = mw.Material("bent", normal_texture=mw.Texture(0))
    frame = numbers_of(renderer, quads.square(bent, [quads.picture("normals", tilted)]))
    assert np.allclose(frame.normals[32, 32], [0.6, 0.0, 0.8], atol=0.01)


def test_what_hangs_on_a_socket_has_its_own_number(drawn, hero):
    body = Actor(hero, clip="walk", time=0.3)
    frame = drawn(Scene(body, Actor(solids.ball(0.3), parent=body, socket="head")), camera())
    assert set(np.unique(frame.ids)) == {-1, 0, 1}
    head = hero.skeleton.index("head")
    np.testing.assert_allclose(frame.joints[1].world[0, 0], frame.joints[0].world[0, head], atol=1e-5)
    assert frame.part_names[-1] == ("ball", "ball", "paint")
    assert frame.joints[0].visibility[0, head] == OCCLUDED


def test_a_ball_is_as_deep_as_the_formula_says(drawn):
    """Closed form: the ray through a pixel meets the ball; its normal is the way from the middle."""
    eye = camera((0, 0, 4), (0, 0, 0))
    frame = drawn(Scene(Actor(solids.ball(1.0, rings=96)), ground=False), eye)
    K = np.linalg.inv(frame.camera_matrices.K)
    y, x = np.mgrid[: SIZE[1], : SIZE[0]] + 0.5
    way = np.stack([x, y, np.ones_like(x)], axis=-1) @ K.T  # to depth 1, y down
    a, b, c = (way**2).sum(-1), -2 * 4.0 * way[..., 2], 4.0**2 - 1.0
    inside = b * b - 4 * a * c
    sure = inside > 0.02
    depth = (-b - np.sqrt(np.where(sure, inside, 0))) / (2 * a)
    assert (frame.ids[sure] == 0).all() and (frame.ids[inside < -0.02] == -1).all()
    assert np.abs(frame.depth - depth)[sure].max() < 4e-3  # flat triangles
    normal = depth[..., None] * way * [1, -1, -1] + [0, 0, 4]
    assert ((normal * frame.normals).sum(-1)[sure] > 0.999).all()
