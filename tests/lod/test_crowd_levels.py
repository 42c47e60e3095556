"""A crowd at levels of detail: the same poses for fewer joints, the same events and travel, no jumps."""

from __future__ import annotations

import numpy as np
import pytest

import marrow as mw
from graph.worlds import BONES, gait, place, ramp
from lod.level_worlds import mannequin, with_levels
from marrow.errors import ValidationError
from marrow.graph import ClipNode, Graph, RootMotion

L = 4


def prod(crowds, rng, N):
    """The same parameters and triggers for several crowds."""
    values = {
        "speed": rng.uniform(-1, 4, N), "strafe": rng.normal(0, 1, N), "crouch": rng.random(N) < 0.3,
        "upper": rng.random(N), "aim_yaw": rng.normal(0, 0.5, N), "look": rng.random(N), "reach": rng.random(N),
        "look_at": rng.normal(0, 2, (N, 3)), "reach_for": rng.normal((0, 1, 0), 1, (N, 3)),
    }  # fmt: skip
    jumping, acting = rng.random(N) < 0.2, np.flatnonzero(rng.random(N) < 0.2)
    for crowd in crowds:
        for name, value in values.items():
            if name in crowd.parameters:
                crowd[name] = value
        crowd.trigger("jump", instances=jumping)
        crowd.slots["action"].play("attack", instances=acting)


def crowds(count, N=6):
    character, graph = mannequin(), mw.samples.mannequin_graph()
    return [mw.Animator(character, graph, count=N) for _ in range(count)]


def test_joints_of_a_level_have_the_bits_they_have_in_full():
    """States, blends, layers, inertia, slots, look-at and reach, levels thrown about: the twin knows nothing of levels."""
    N, rng = 6, np.random.default_rng(1)
    crowd, twin = crowds(2, N)
    joints = np.array([len(level.skeleton) for level in mannequin().levels])
    for step in range(60):
        if step % 12 == 0:
            prod((crowd, twin), rng, N)
        if step % 5 == 0:
            crowd.levels = rng.integers(-1, L, N)
        for one in (crowd, twin):
            one.update(1 / 30)
        if step % 4:
            continue
        seen = np.flatnonzero(crowd.levels >= 0)
        groups = crowd.evaluation.level_groups()
        assert sorted(np.concatenate([g.instances for g in groups])) == seen.tolist()
        for group in groups:
            J = joints[group.level]
            assert group.matrices.shape == (len(group.instances), len(group.character.palette), 3, 4)
            np.testing.assert_array_equal(group.matrices[:, :J], twin.matrices[group.instances][:, :J])
            np.testing.assert_array_equal(group.morphs, twin.pose.morphs[group.instances])
        for n in seen:
            J = joints[crowd.levels[n]]
            for got, wanted in (
                (crowd.model_matrices, twin.model_matrices), (crowd.matrices, twin.matrices),
                (crowd.pose.rotation, twin.pose.rotation), (crowd.pose.translation, twin.pose.translation),
            ):  # fmt: skip
                np.testing.assert_array_equal(got[n, :J], wanted[n, :J])
            np.testing.assert_array_equal(crowd.pose.morphs[n], twin.pose.morphs[n])


def test_joints_a_level_lacks_are_at_rest():
    crowd, _ = crowds(2, 3)
    crowd["speed"] = 3.0
    for _ in range(20):
        crowd.update(1 / 30)
    crowd.levels = [0, 2, -1]
    skeleton, J = mannequin().skeleton, 20
    np.testing.assert_allclose(crowd.pose.rotation[1, J:], skeleton.rest.rotation[J:], atol=1e-7)
    np.testing.assert_array_equal(crowd.pose.translation[2], skeleton.rest.translation)
    model = skeleton.to_model(crowd.pose)
    np.testing.assert_allclose(crowd.model_matrices, model, atol=1e-5)
    wanted = mw.skinning_matrices(mannequin(), model)
    np.testing.assert_allclose(crowd.matrices, wanted, atol=1e-5)
    out = np.empty_like(crowd.matrices)
    crowd.evaluation.write(palette=out)
    np.testing.assert_array_equal(out, crowd.matrices)


def test_every_instance_is_skinned_with_the_mesh_of_its_level():
    crowd, twin = crowds(2, 8)
    for one in (crowd, twin):
        one["speed"] = np.linspace(0, 4, 8)
        for _ in range(15):
            one.update(1 / 30)
    crowd.levels = [0, 1, 2, 3, 3, -1, 1, 0]
    surfaces = crowd.skin()
    assert len(surfaces) == 8 and surfaces[5] is None
    pose = twin.pose
    for n, level in enumerate(crowd.levels.tolist()):
        if level < 0:
            continue
        character = mannequin().levels[level]
        J = len(character.skeleton)
        own = mw.Pose(pose.translation[n, :J], pose.rotation[n, :J], pose.scale[n, :J], pose.morphs[n])
        wanted = mw.skin(character, own)
        np.testing.assert_allclose(surfaces[n].positions, wanted.positions, atol=2e-6)
        np.testing.assert_allclose(surfaces[n].normals, wanted.normals, atol=1e-4)
    triangles = [mannequin().levels[k].triangle_count for k in crowd.levels if k >= 0]
    assert surfaces.triangles == sum(triangles)
    assert sum(len(group.instances) for group, _ in surfaces) == 7
    again = crowd.skin(out=surfaces)
    assert np.shares_memory(again[3].positions, surfaces[3].positions)
    plain = crowd.skin(normals=False)
    assert plain[3].normals is None
    with pytest.raises(ValidationError, match="LevelSurfaces"):
        crowd.skin(out=mw.skin(mannequin(), twin.matrices[0]))


def test_all_at_level_0_is_as_without_levels():
    crowd, twin = crowds(2, 3)
    crowd.levels = 0
    for one in (crowd, twin):
        one["speed"] = [0, 1, 3]
        one.update(0.4)
    np.testing.assert_array_equal(crowd.matrices, twin.matrices)
    whole = twin.skin()
    for n in range(3):
        np.testing.assert_array_equal(crowd.skin()[n].positions, whole.positions[n])
    crowd.levels = None
    assert crowd.levels is None
    np.testing.assert_array_equal(crowd.skin().positions, whole.positions)


def test_sockets_sit_on_what_is_left_above_them():
    character = mannequin()
    crowd = mw.Animator(character, mw.samples.mannequin_graph(), count=2)
    crowd["speed"] = 2.0
    crowd.update(0.7)
    for socket in character.skeleton.sockets:
        for level, lower in enumerate(character.levels):
            crowd.levels = [0, level]
            J = len(lower.skeleton)
            pose = crowd.pose[1]
            own = mw.Pose(pose.translation[:J], pose.rotation[:J], pose.scale[:J], pose.morphs)
            there = lower.skeleton.socket(socket.name)
            joint = lower.skeleton.to_model(own)[there.joint]
            wanted = joint[:, :3] @ there.translation + joint[:, 3]
            np.testing.assert_allclose(crowd.socket(socket.name)[1, :, 3], wanted, atol=1e-5)


@pytest.mark.parametrize("rates", [False, True])
def test_events_states_and_travel_are_those_of_a_twin_in_full(rates):
    N, rng = 5, np.random.default_rng(3)
    crowd, twin = crowds(2, N)
    told = [[], []]
    way = np.zeros((2, N, 3))
    heading = np.tile([0.0, 0, 0, 1], (2, N, 1))

    def update():
        for k, one in enumerate((crowd, twin)):
            one.update(1 / 60)
            happened = one.events.all
            told[k] += zip(happened.instance, happened.kinds, happened.names, happened.time.round(9))
            motion = one.root.motion
            way[k] += mw.math.quaternion.rotate(heading[k], motion.translation)
            heading[k] = mw.math.quaternion.multiply(heading[k], motion.rotation)

    class Chosen:
        """What a selector hands over."""

        def __init__(self, levels):
            self.levels, self.every = levels, np.where(levels > 1, 2 * levels - 2, 1)

        def __array__(self, dtype=None, copy=None):
            return self.levels

    for one in (crowd, twin):
        one["speed"] = [1, 2, 3, 0.5, 4]
    for step in range(240):
        if step % 7 == 0:
            levels = rng.integers(-1, L, N)
            crowd.levels = Chosen(levels) if rates else levels
        if step % 3 == 0:
            crowd.evaluation.level_groups()
        update()
    if rates:  # all come to the present
        crowd.levels = Chosen(np.zeros(N, np.int64))
        for _ in range(12):
            update()
        assert crowd.instances.update_every.tolist() == [1] * N
    assert sorted(told[0]) == sorted(told[1]) and len(told[1]) > 30
    np.testing.assert_allclose(way[0], way[1], atol=1e-9 if not rates else 1e-4)
    np.testing.assert_allclose(heading[0], heading[1], atol=1e-9 if not rates else 1e-6)
    crowd.levels = 0
    np.testing.assert_array_equal(crowd.matrices, twin.matrices)


def test_rates_that_change_make_neither_pose_nor_place_jump():
    """A straight motion at one speed: whatever the levels and rates do, nobody moves more than twice as fast."""
    walk = mw.Character(BONES, (), [gait("walk", 1.0, 0.2, 0.7)], name="walker")
    nod = mw.Character(BONES, (), [ramp("nod", 0.0, 10.0, 10.0)], name="nodder")
    rng = np.random.default_rng(5)
    for character, graph, told in (
        (nod, Graph(ClipNode("nod", loop=False)), lambda crowd, ways: place(crowd)),
        (walk, Graph(RootMotion("walk")), lambda crowd, ways: np.sum(ways, axis=0)),
    ):
        N = 40
        character = character.replace(reduced=tuple(with_levels(character, (4, 1, 0.1), (2, 1, 0.2)).reduced))
        crowd = mw.Animator(character, graph, count=N)
        ways, seen = [], []
        for step in range(300):
            if step % 3 == 0 and step < 270:
                some = rng.random(N) < 0.2
                rates = np.where(some, rng.integers(1, 9, N), crowd.instances.update_every)
                crowd.instances.update_every = rates
                crowd.levels = np.where(rates > 3, 2, np.where(rates > 1, 1, 0))
            if step == 270:
                crowd.instances.update_every, crowd.levels = 1, 0
            crowd.update(1 / 60)
            ways.append(crowd.root.motion.translation[:, 2].copy())
            seen.append(np.array(told(crowd, ways)))
        steps = np.diff(np.array(seen), axis=0) * 60
        assert steps.max() < 2.0 + 1e-3 and steps.min() > -1e-4
        # In the end all have caught up.
        np.testing.assert_allclose(steps[-5:], 1.0, atol=1e-3)
        np.testing.assert_allclose(seen[-1], 5.0, atol=1e-3)


def test_joints_come_back_without_a_jump_where_updates_are_rare():
    """A joint that the coarse level lacks starts from rest, and not from what it was when the level last had it."""
    clip = ramp("arm", 1.0, 9.0, 8.0, joint=4)
    character = mw.Character(BONES, (), [clip], name="waver")
    character = character.replace(reduced=with_levels(character, (2, 1, 0.1)).reduced)
    crowd = mw.Animator(character, Graph(ClipNode("arm", loop=False)), count=1)
    crowd.instances.update_every = 4
    crowd.levels = [0]
    seen = []
    for step in range(60):
        if step == 20:
            crowd.levels = [1]
        if step == 40:
            crowd.levels = [0]
        crowd.update(1 / 30)
        seen.append(float(place(crowd, 4)[0]))
        assert np.isfinite(crowd.matrices).all()
    rest = float(BONES.rest.translation[4, 0])
    assert seen[25] == rest and seen[19] > 1.3
    back = np.array(seen[39:48])
    assert (np.diff(back) > -1e-6).all() and back[0] == rest and back[-1] > 2.0


def test_hidden_instances_keep_time_and_have_no_poses(monkeypatch):
    crowd, twin = crowds(2, 3)
    crowd.levels = -1
    ran = []
    evaluate = crowd._runtime.levels._evaluate
    monkeypatch.setattr(crowd._runtime.levels, "_evaluate", lambda *a: (ran.append(a[2]), evaluate(*a)))
    for one in (crowd, twin):
        one["speed"] = [0, 2, 4]
        for _ in range(30):
            one.update(1 / 30)
    assert crowd.evaluation.level_groups() == () and not ran
    assert len(crowd.skin()) == 3 and crowd.skin()[0] is None and crowd.skin().triangles == 0
    crowd.levels = 0
    np.testing.assert_array_equal(crowd.matrices, twin.matrices)


def test_instances_that_come_and_go_keep_their_levels():
    crowd, _ = crowds(2, 4)
    crowd.levels = [0, 1, 2, 3]
    crowd.instances.add(2)
    assert crowd.levels.tolist() == [0, 1, 2, 3, 0, 0]
    crowd.instances.remove([1, 4])
    assert crowd.levels.tolist() == [0, 2, 3, 0]
    moment = crowd.snapshot()
    crowd.update(0.3)
    now = crowd.matrices.copy()
    crowd.restore(moment)
    crowd.update(0.3)
    np.testing.assert_array_equal(crowd.matrices, now)
    crowd.replace_graph(mw.samples.locomotion_graph())
    assert crowd.levels.tolist() == [0, 2, 3, 0]
    assert len(crowd.evaluation.level_groups()) == 3
    crowd.instances.reset()
    assert np.isfinite(crowd.matrices).all()


def test_playback_by_hand_has_levels_but_no_rates():
    solo = mw.Animator(mannequin())
    solo.play("run")
    solo.update(0.3)
    whole = solo.matrices.copy()
    solo.levels = 2
    assert solo.levels == 2
    np.testing.assert_array_equal(solo.matrices[:20], whole[:20])
    assert solo.skin()[0].positions.shape == (mannequin().levels[2].vertex_count, 3)
    solo.update(-0.1)
    assert solo.matrices.shape == whole.shape


def test_wrong_levels_are_refused_in_words():
    crowd, _ = crowds(2, 3)
    for wrong, words in (
        (4, "4 levels"), ([0, 1], r"\(3,\)"), (0.5, "whole number"), ("high", "whole number"), ([0, 0, -2], "not seen"),
        (np.zeros((3, 1), int), r"\(3,\)"),
    ):  # fmt: skip
        with pytest.raises(ValidationError, match=words):
            crowd.levels = wrong
    with pytest.raises(ValidationError, match=r"has 1 level$"):
        mw.Animator(mw.samples.lizard().replace(reduced=(), lod=None), count=2).levels = [0, 1]
    crowd.levels = 0
    with pytest.raises(ValidationError, match="morphs"):
        crowd.skin(morphs=np.zeros((3, 1)))
