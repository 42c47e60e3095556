"""Bodies whose rest pose is none: zeros of joint angles, turned axes, another up. Their motion shows what they are."""

from __future__ import annotations

import numpy as np
import pytest

import marrow as mw
from marrow.animation.kinematics import to_model
from marrow.math import quaternion
from marrow.motion.posture import model_rotations
from marrow.motion.rig import find_rig

UP_Z = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


def nonsense(clip: mw.Clip, seed: int, *, up_z: bool = False) -> mw.Clip:
    """The same places at every moment, on joints whose axes are turned anyhow and whose rest pose is all zeros."""
    skeleton, random = clip.skeleton, np.random.default_rng(seed)
    own = quaternion.normalize(random.normal(size=(len(skeleton), 4)))
    world = quaternion.from_matrix(UP_Z if up_z else np.eye(3))
    times = np.arange(0.0, clip.duration, 1 / 30)
    pose = clip.sample(times)
    turned = quaternion.multiply(
        quaternion.multiply(world, model_rotations(pose.rotation, skeleton.parents)), own
    )
    rotation = np.array(turned)
    translation = np.array(pose.translation, np.float64)
    for j, parent in enumerate(skeleton.parents.tolist()):
        if parent >= 0:
            rotation[:, j] = quaternion.multiply(quaternion.conjugate(turned[:, parent]), turned[:, j])
            translation[:, j] = quaternion.rotate(quaternion.conjugate(own[parent]), translation[:, j])
        else:
            translation[:, j] = quaternion.rotate(world, translation[:, j])
    rest = mw.Pose(
        np.array(translation[0], np.float32),
        np.tile(np.float32([0, 0, 0, 1]), (len(skeleton), 1)),
        np.ones((len(skeleton), 3), np.float32),
    )
    zero = mw.Skeleton(list(skeleton.names), skeleton.parents, rest)
    poses = mw.Pose(
        translation.astype(np.float32), rotation.astype(np.float32), np.array(pose.scale, np.float32)
    )
    return mw.Clip.from_poses("again", zero, poses, times=times)


def directions(clip: mw.Clip, times: np.ndarray) -> np.ndarray:
    """Unit vectors along the bones of arms and legs, `(T, 8, 3)`, in model space."""
    place = to_model(clip.skeleton, clip.sample(times))[..., 3].astype(np.float64)
    chains = find_rig(clip.skeleton).chains
    bones = [
        chains[f"{s}_{limb}"][k : k + 2] for s in ("left", "right") for limb in ("arm", "leg") for k in (0, 1)
    ]
    way = np.stack([place[:, b] - place[:, a] for a, b in bones], axis=1)
    return way / np.linalg.norm(way, axis=-1, keepdims=True)


@pytest.mark.parametrize(("name", "seed", "up_z"), [("walk", 1, False), ("run", 2, False), ("idle", 3, True)])
def test_a_rest_pose_of_zeros_and_turned_axes_does_not_matter(name: str, seed: int, up_z: bool) -> None:
    hero = mw.samples.mannequin()
    clip = hero.clips[name]
    made = mw.retarget(nonsense(clip, seed, up_z=up_z), hero, contacts=False)
    times = np.arange(0.0, made.duration, 1 / 15)
    cosine = (directions(made, times) * directions(clip, times)).sum(axis=-1)
    angle = np.degrees(np.arccos(np.clip(cosine, -1, 1)))
    assert np.median(angle) < 1.5 and angle.max() < 8, (np.median(angle), angle.max())


def test_the_report_says_which_pose_was_taken() -> None:
    hero = mw.samples.mannequin()
    clip = nonsense(hero.clips["walk"], 4)
    tool = mw.Retargeter(clip.skeleton, hero, clip=clip)
    assert any("stands the straightest" in line.message for line in tool.report.lines)


def test_a_body_made_for_another_up_that_leans_all_the_time_is_righted() -> None:
    """It rests standing along z and leans aside by 45 degrees: z is up, since nothing of it points along y."""
    hero = mw.samples.mannequin()
    names, at = list(hero.skeleton.names), quaternion.from_matrix(UP_Z)
    lean = quaternion.from_axis_angle([0.0, 1.0, 0.0], np.radians(45.0))
    rest = hero.skeleton.rest
    top = names.index("root")
    turned = np.array(rest.rotation)
    turned[top] = quaternion.multiply(at, turned[top])
    skeleton = mw.Skeleton(names, hero.skeleton.parents, mw.Pose(rest.translation, turned, rest.scale))
    leaning = turned.copy()
    leaning[top] = quaternion.multiply(lean, turned[top])
    poses = mw.Pose(rest.translation[None], leaning[None], rest.scale[None])
    clip = mw.Clip.from_poses("lean", skeleton, poses, times=[0.0])
    made = mw.retarget(clip, hero, contacts=False)
    place = to_model(hero.skeleton, made.sample(0.0))[..., 3]
    up = place[names.index("head")] - place[names.index("pelvis")]
    assert up[1] / np.linalg.norm(up) > 0.6


def another(skeleton: mw.Skeleton) -> mw.Skeleton:
    """The same body under other names."""
    rest = skeleton.rest
    names = [f"m_{n}" for n in skeleton.names]
    return mw.Skeleton(names, skeleton.parents, mw.Pose(rest.translation, rest.rotation, rest.scale))


def z_up_motion(clip: mw.Clip) -> mw.Clip:
    """The same skeleton, resting along y, in a world whose up is z."""
    times = np.arange(0.0, clip.duration, 1 / 30)
    pose = clip.sample(times)
    turn = quaternion.from_matrix(UP_Z)
    rotation, translation = np.array(pose.rotation), np.array(pose.translation)
    rotation[:, 0] = quaternion.multiply(turn, rotation[:, 0])
    translation[:, 0] = quaternion.rotate(turn, translation[:, 0])
    return mw.Clip.from_poses("z", clip.skeleton, mw.Pose(translation, rotation, pose.scale), times=times)


def test_a_motion_with_another_up_than_its_rest_pose_is_righted() -> None:
    hero = mw.samples.mannequin()
    clip = z_up_motion(hero.clips["walk"])
    other = another(hero.skeleton)
    made = mw.retarget(clip, other, contacts=False)
    place = to_model(other, made.sample(np.linspace(0.0, made.duration, 9)))[..., 3]
    up = place[:, other.index("m_head")] - place[:, other.index("m_pelvis")]
    assert (up[:, 1] / np.linalg.norm(up, axis=-1)).min() > 0.9
    assert place[:, other.index("m_pelvis"), 1].min() > 0.8


def test_a_body_that_lies_on_the_ground_stays_lying() -> None:
    """Along z, and a little above y = 0: but its feet are not on a plane across z a leg below its hips."""
    hero = mw.samples.mannequin()
    clip = z_up_motion(hero.clips["idle"])
    poses = clip.sample(np.linspace(0.0, clip.duration, 20))
    moved = np.array(poses.translation)
    moved[:, 0] += [0.0, 0.1, 1.5]
    lying = mw.Clip.from_poses("lie", clip.skeleton, poses.replace(translation=moved), 30)
    other = another(hero.skeleton)
    made = mw.retarget(lying, other, contacts=False)
    place = to_model(other, made.sample(0.3))[..., 3]
    up = place[other.index("m_head")] - place[other.index("m_pelvis")]
    assert abs(up[1]) / np.linalg.norm(up) < 0.3
