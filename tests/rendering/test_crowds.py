"""Crowds in pictures: boxes found quickly, levels within a budget, poses that never leave the GPU."""

import numpy as np
import pytest
from solids import at, ball, difference

import marrow as mw
from marrow import gpu
from marrow.scene.actor_state import actor_states, quick_bounds
from marrow.scene.bounding_boxes import BoundingBoxes
from marrow.skinning.joint_boxes import joined_boxes


@pytest.mark.parametrize("sample", ["mannequin", "lizard"])
def test_quick_boxes_hold_every_vertex(sample):
    who = getattr(mw.samples, sample)()
    for clip in [c for c in who.clips.values() if not c.additive][:8]:
        pose = clip.sample(np.linspace(0, clip.duration, 12))
        matrices = mw.skinning_matrices(who.palette, who.skeleton.to_model(pose))
        found, exact = quick_bounds(who, matrices), mw.bounds(who, matrices)
        assert (found.low <= exact.low).all() and (found.high >= exact.high).all(), clip.name


def test_joined_boxes_are_those_that_numpy_finds():
    """The same bits in float32, whatever the number of boxes; what is not finite shows in every number of its instance."""
    rng = np.random.default_rng(4)
    for count, palette, boxes in ((1, 3, 1), (150, 7, 5), (70, 20, 33)):
        matrices = rng.normal(size=(count, palette, 3, 4)).astype(np.float32)
        entries = rng.integers(0, palette, boxes)
        center, half = rng.normal(size=(boxes, 3)).astype("f4"), rng.random((boxes, 3)).astype("f4")
        m = matrices[:, entries]
        x = m[..., 0] * center[:, :1] + m[..., 1] * center[:, 1:2] + m[..., 2] * center[:, 2:] + m[..., 3]
        a = np.abs(m)
        r = a[..., 0] * half[:, :1] + a[..., 1] * half[:, 1:2] + a[..., 2] * half[:, 2:]
        table = np.concatenate([center, half], 1).reshape(-1)
        low, high, far = joined_boxes(matrices, entries, table)
        np.testing.assert_array_equal(low, (x - r).min(1))
        np.testing.assert_array_equal(high, (x + r).max(1))
        np.testing.assert_array_equal(far[:, 0], (np.abs(x) + r).max((1, 2)))
        matrices[0, entries[0], 1, 2], wrong = (np.nan, np.inf)[boxes % 2], np.arange(count) == 0
        for found in joined_boxes(matrices, entries, table):
            np.testing.assert_array_equal(np.isnan(found), np.broadcast_to(wrong[:, None], found.shape))


def test_boxes_in_the_world_are_those_of_their_corners():
    """Random places, mirrored, sheared and flat ones, against the eight corners of each box; nothing stays nothing."""
    rng = np.random.default_rng(2)
    world = rng.normal(size=(60, 3, 4))
    world[7, :, :3] = 0.0
    center, half = rng.normal(size=(60, 3)), rng.uniform(0, 1, (60, 3))
    boxes, mirrored = BoundingBoxes.carried(world, center, half)
    signs = np.array(np.meshgrid(*[[-1, 1]] * 3)).reshape(3, -1).T
    corners = center[:, None] + signs * half[:, None]
    moved = np.einsum("nij,nkj->nki", world[:, :, :3], corners) + world[:, None, :, 3]
    np.testing.assert_allclose(boxes.low, moved.min(1), atol=1e-12)
    np.testing.assert_allclose(boxes.high, moved.max(1), atol=1e-12)
    np.testing.assert_array_equal(mirrored, np.linalg.det(world[:, :, :3]) < 0)
    planes = rng.normal(size=(6, 4))
    seen = (np.einsum("pi,nki->npk", planes[:, :3], moved.min(1)[:, None] + (moved.max(1) - moved.min(1))[:, None]
            * (signs / 2 + 0.5)) + planes[:, 3, None]).max(2).min(1) >= 0  # fmt: skip
    np.testing.assert_array_equal(boxes.touching(planes), seen)
    world[3, 0, 0] = np.nan
    broken, _ = BoundingBoxes.carried(world, center, half)
    assert broken.there.sum() == 59 and not broken.touching(planes)[3] and (broken.low > broken.high)[3].all()
    assert np.isfinite(broken.extent()).all()


def test_a_budget_of_triangles_makes_all_coarser_alike(device, hero):
    places = at(*((x, 0, -z) for z in range(6) for x in range(-4, 5)))
    camera = mw.Camera.perspective((0, 2, 6), (0, 0.5, -3), width=96, height=64)
    there = mw.Scene(mw.Actor(hero, transforms=places))
    renderer = mw.Renderer((96, 64), device=device, triangles=30_000, samples=1)
    renderer.render(there, camera)
    drawn = sum(d.count * d.index_count for d in renderer.list.draws) // 3
    assert drawn <= 30_000 and renderer.detail.farther > 1
    free = mw.Renderer((96, 64), device=device, triangles=np.inf, samples=1)
    free.render(there, camera)
    assert free.detail.farther == 1 and sum(d.count * d.index_count for d in free.list.draws) // 3 > 30_000


def test_a_crowd_on_the_gpu_is_drawn_as_its_animator_would_be(renderer, hero):
    camera = mw.Camera.perspective((0, 1.5, 5), (0, 0.9, 0), width=128, height=128)
    people = mw.Animator(hero, mw.samples.mannequin_graph(), count=3)
    people["speed"] = [0.0, 1.5, 3.5]
    for _ in range(10):
        people.update(1 / 30)
    people.levels = [1, 2, 3]
    places = at((-1, 0, 0), (0, 0, 0), (1, 0, 0))
    # Without shadows: the map lies around boxes, which are wider where poses are not known to the CPU.
    options = {"lights": [mw.DirectionalLight(shadows=False)], "ground": False}
    wanted = renderer.render(mw.Scene(mw.Actor(people, transforms=places), **options), camera)
    crowd = gpu.Crowd(people)
    try:
        found = renderer.render(mw.Scene(mw.Actor(crowd, transforms=places), **options), camera)
    finally:
        crowd.release()
    assert difference(found, wanted) < 0.1


def test_what_stands_still_is_skinned_once(renderer, monkeypatch):
    from marrow.rendering.resources import skinned_vertices as skins

    calls = []
    real = skins.skin
    monkeypatch.setattr(skins, "skin", lambda *a, **k: calls.append(1) or real(*a, **k))
    there = mw.Scene(mw.Actor(ball(), transforms=at((0, 0, 0), (3, 0, 0))))
    camera = mw.Camera.perspective((0, 1, 8), (0, 0, 0), width=128, height=128)
    first = renderer.render(there, camera)
    count = len(calls)
    assert difference(renderer.render(there, camera), first) == 0 and len(calls) == count
    assert actor_states(there)[0].still
