"""Limits of joints: what clips show, what is given, and that the solver never leaves them."""

import numpy as np
import pytest
from ik_worlds import chain, turn, turned

import marrow as mw
from marrow.errors import ValidationError
from marrow.ik import Effector, JointLimit, JointLimits, Solver
from marrow.math import quaternion
from marrow.samples import mannequin


def swing_and_twist(rotation, bone):
    """The swing vector and the twist angle of a rotation, the plain way: where the bone goes, and what is left."""
    aim = quaternion.rotate(rotation, bone)
    swing = quaternion.between(bone, aim)
    twist = quaternion.multiply(quaternion.conjugate(swing), rotation)
    return quaternion.log(swing), 2 * np.arctan2(twist[..., :3] @ bone, twist[..., 3])


def test_clips_stay_inside_the_limits_that_they_show():
    hero = mannequin()
    limits = JointLimits.from_clips(hero, margin=0.0)
    for clip in (c for c in hero.clips.values() if not c.additive):
        assert limits.excess(clip.sample(np.linspace(0, clip.duration, 20))).max() < np.radians(2)
    wide = JointLimits.from_clips(hero, margin=0.3)
    assert (wide.swing >= limits.swing).all() and wide.excess(hero.clips["run"].sample(0.1)).max() == 0


def test_a_hinge_that_a_clip_shows_is_a_hinge():
    """A joint that only ever turns about x, from 0 to 1.2."""
    skeleton = chain([0.5, 0.5])
    angles = np.linspace(0, 1.2, 7)
    keys = turn(np.stack([angles, 0 * angles, 0 * angles], -1)).astype(np.float32)
    clip = mw.Clip("bend", skeleton, [mw.Track(1, "rotation", np.linspace(0, 1, 7), keys)])
    limits = JointLimits.from_clips(mw.Character(skeleton, (), (clip,)), margin=0.1)
    np.testing.assert_allclose(sorted(limits.swing[1]), [0.1, 0.7], atol=5e-3)
    for angle, outside in ((-0.05, 0), (1.25, 0), (-0.3, 0.2), (1.6, 0.3)):
        pose = turned(skeleton.rest, np.array([[0, 0, 0], [angle, 0, 0], [0, 0, 0]]))
        np.testing.assert_allclose(limits.excess(pose)[1], outside, atol=0.02)


@pytest.mark.parametrize("seed", range(3))
def test_the_solver_never_exceeds_limits(seed):
    """Targets all round, near and out of reach, and starts that are outside themselves; measured without the solver's
    formulas."""
    rng = np.random.default_rng(seed)
    skeleton = chain([0.3, 0.3, 0.3, 0.2])
    cone, twist = 0.4, (-0.2, 0.5)
    limit = JointLimit(swing=cone, twist=twist, bone=(0, 1, 0))
    limits = JointLimits.given(skeleton, dict.fromkeys((1, 2, 3), limit))
    start = turned(skeleton.rest.broadcast_to((40,)), rng.normal(0, 0.8, (40, 5, 3)))
    solver = Solver(skeleton, [Effector("j4", rotation=0.5)], limits=limits, steps=6)
    goal = mw.ik.Goal(rng.normal(0, 0.6, (40, 3)), quaternion.normalize(rng.normal(size=(40, 4))))
    found = solver.solve(start, {"j4": goal})
    for j in (1, 2, 3):
        swing, turned_by = swing_and_twist(found.pose.rotation[:, j].astype(float), np.array([0, 1.0, 0]))
        assert np.degrees(np.linalg.norm(swing, axis=-1)).max() < np.degrees(cone) + 0.1
        assert twist[0] - np.radians(0.1) < turned_by.min() and turned_by.max() < twist[1] + np.radians(0.1)


def test_targets_that_limits_allow_are_reached():
    hero = mannequin()
    limits = JointLimits.from_clips(hero, margin=0.2)
    names = ("@head", "@left_hand", "@right_hand", "@left_foot", "@right_foot")
    run = hero.clips["run"].sample(np.linspace(0, 0.6, 40))
    later = hero.clips["run"].sample(np.linspace(0.05, 0.65, 40))
    goals = hero.skeleton.to_model(later)
    solver = Solver(hero, [Effector(n, rotation=0.5) for n in names], limits=limits)
    found = solver.solve(run, {n: goals[:, hero.skeleton.index(n)] for n in names})
    assert np.percentile(found.distance, 95) < 1e-4
    assert np.degrees(limits.excess(found.pose)[:, sorted(solver.joints)]).max() < 0.1


def any_pose_to_any_other(count, margin):
    """Random poses of the mannequin's clips, and targets of other such poses, all inside narrow limits."""
    hero, rng = mannequin(), np.random.default_rng(0)
    clips = [c for c in hero.clips.values() if not c.additive]
    poses = [
        c.sample(rng.uniform(0, c.duration))
        for c in (clips[k] for k in rng.integers(len(clips), size=2 * count))
    ]
    translation, rotation, scale = (
        np.stack([getattr(p, name) for p in poses]) for name in ("translation", "rotation", "scale")
    )
    translation[:, 0] = 0
    all_of_them = mw.Pose(translation, rotation, scale)
    limits = JointLimits.from_clips(hero, margin=margin)
    return hero, limits, all_of_them[:count], hero.skeleton.to_model(all_of_them[count:])


def test_a_start_that_limits_stop_is_tried_again_from_their_middle():
    hero, limits, start, goals = any_pose_to_any_other(256, 0.05)
    names = ("@head", "@left_hand", "@right_hand", "@left_foot", "@right_foot")
    solver = Solver(hero, [Effector(n, rotation=0.5) for n in names], limits=limits)
    found = solver.solve(start, {n: goals[:, hero.skeleton.index(n)] for n in names})
    there = (found.distance < 1e-4).all(axis=1) & (found.angle < np.radians(0.1)).all(axis=1)
    assert there.mean() > 0.97
    assert np.degrees(limits.excess(found.pose)[:, sorted(solver.joints)]).max() < 0.1


def test_a_knee_does_not_bend_backwards():
    """A leg that is nearly straight and must shorten bends the way it may, though the other way is nearer."""
    skeleton = chain([0.5, 0.5])
    slightly = turned(skeleton.rest, np.array([[-0.05, 0, 0], [0.1, 0, 0], [0, 0, 0]]))
    knee = JointLimit(swing=((-2.5, 0.0), 0.02), twist=0.02, bone=(0, 1, 0), side=(1, 0, 0))
    limits = JointLimits.given(skeleton, {"j1": knee})
    free = Solver(skeleton, ["j2"], joints=["j0", "j1"], steps=20).solve(slightly, {"j2": (0, 0.8, 0)})
    held = Solver(skeleton, ["j2"], joints=["j0", "j1"], limits=limits, steps=20).solve(
        slightly, {"j2": (0, 0.8, 0)}
    )
    assert quaternion.log(free.pose.rotation[1])[0] > 0.5
    assert quaternion.log(held.pose.rotation[1])[0] < 1e-3
    assert held.distance[0] < 1e-3


def test_limits_that_cannot_be_meant_are_said_in_words():
    skeleton = chain([0.5, 0.5])
    with pytest.raises(ValidationError, match=r"math\.radians"):
        JointLimits.given(skeleton, {"j1": JointLimit(swing=45.0)})
    with pytest.raises(ValidationError, match="low, high"):
        JointLimits.given(skeleton, {"j1": JointLimit(twist=(0.5, -0.5))})
    with pytest.raises(ValidationError, match="no clip"):
        JointLimits.from_clips(mw.Character(skeleton, ()))
    hero = mannequin()
    with pytest.raises(ValidationError, match="additive"):
        JointLimits.from_clips(hero, ["breathe"])
    with pytest.raises(ValidationError, match="across the bone"):
        JointLimits.given(skeleton, {"j1": JointLimit(side=(0, 1, 0))})
