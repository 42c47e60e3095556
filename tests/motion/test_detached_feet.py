"""Feet that hang on the root, as exporters leave legs that inverse kinematics moved: they are found, read and carried."""

from __future__ import annotations

import numpy as np
import pytest

import marrow as mw
from marrow.animation.kinematics import to_model
from marrow.math import affine, transform
from marrow.motion.detached_feet import detached_feet


def detached(clip: mw.Clip) -> mw.Clip:
    """The same motion on a skeleton whose feet are children of its root; where they were is a joint without a mesh."""
    skeleton = clip.skeleton
    feet = [skeleton.names.index(name) for name in ("foot_l", "foot_r")]
    names = [*skeleton.names, "calf_l_end", "calf_r_end"]
    parents = [*skeleton.parents.tolist(), *(int(skeleton.parents[foot]) for foot in feet)]
    for foot in feet:
        parents[foot] = 0
    times = np.arange(0.0, clip.duration, 1 / 30)
    model = to_model(skeleton, clip.sample(times)).astype(np.float64)
    rest = skeleton.rest_model.astype(np.float64)

    def poses(at: np.ndarray) -> mw.Pose:
        local = np.concatenate([at, at[..., feet, :, :]], axis=-3)
        for j, parent in reversed(list(enumerate(parents))):
            if parent >= 0:
                local[..., j, :, :] = affine.multiply(
                    affine.invert(local[..., parent, :, :]), local[..., j, :, :]
                )
        return mw.Pose(*(part.astype(np.float32) for part in transform.decompose(local)))

    # A child of the root may come anywhere after it: joints keep their order.
    whole = mw.Skeleton(names, parents, poses(rest))
    return mw.Clip.from_poses(clip.name, whole, poses(model), times=times)


def ways(clip: mw.Clip, times: np.ndarray) -> np.ndarray:
    """Unit vectors along both shins and feet, `(T, 4, 3)`."""
    place = to_model(clip.skeleton, clip.sample(times))[..., 3].astype(np.float64)
    at = clip.skeleton.names.index
    bones = [(f"calf_{s}", f"foot_{s}") for s in "lr"] + [(f"foot_{s}", f"ball_{s}") for s in "lr"]
    way = np.stack([place[:, at(b)] - place[:, at(a)] for a, b in bones], axis=1)
    return way / np.linalg.norm(way, axis=-1, keepdims=True)


def most_off(made: mw.Clip, clip: mw.Clip) -> float:
    times = np.arange(0.0, made.duration, 1 / 15)
    return float(np.degrees(np.arccos(np.clip((ways(made, times) * ways(clip, times)).sum(-1), -1, 1))).max())


def test_they_are_found_where_they_lie() -> None:
    skeleton = detached(mw.samples.mannequin().clips["walk"]).skeleton
    found = {skeleton.names[a]: skeleton.names[b] for a, b in detached_feet(skeleton).items()}
    assert found == {"foot_l": "calf_l_end", "foot_r": "calf_r_end"}
    assert not detached_feet(mw.samples.mannequin().skeleton)


def test_their_motion_goes_onto_an_ordinary_body() -> None:
    hero = mw.samples.mannequin()
    made = mw.retarget(detached(hero.clips["walk"]), hero, contacts=False)
    assert most_off(made, hero.clips["walk"]) < 2


def test_they_follow_the_legs_of_their_own_body() -> None:
    hero = mw.samples.mannequin()
    body = detached(hero.clips["walk"]).skeleton
    made = mw.retarget(hero.clips["run"], body, contacts=False)
    place = to_model(body, made.sample(np.unique(made.tracks.times)))[..., 3]
    at = body.names.index
    assert np.abs(place[:, at("foot_l")] - place[:, at("calf_l_end")]).max() < 1e-4
    assert most_off(made, hero.clips["run"]) < 2


def skin_on(skeleton: mw.Skeleton, joints: list[str]) -> mw.Character:
    """A body with a small triangle on each of some joints."""
    meshes = []
    for name in joints:
        j = skeleton.index(name)
        rest = skeleton.rest_model[j].astype(float)
        inverse = np.zeros((1, 3, 4), np.float32)
        inverse[0, :, :3] = np.linalg.inv(rest[:, :3])
        inverse[0, :, 3] = -inverse[0, :, :3] @ rest[:, 3]
        at = (rest[:, 3] + np.array([[0, 0, 0], [0.02, 0, 0], [0, 0, 0.02]])).astype(np.float32)
        weights = np.tile(np.float32([1, 0]), (3, 1))
        triangle = np.array([[0, 1, 2]], np.int32)
        joint_list = np.array([j], np.int32)
        meshes.append(mw.Mesh(name, at, triangle, np.zeros((3, 2), np.uint16), weights, joint_list, inverse))
    return mw.Character(skeleton, tuple(meshes))


@pytest.mark.parametrize("joints", [["pelvis"], ["foot_l", "ball_l", "foot_r", "ball_r"]])
def test_their_skin_may_be_elsewhere_or_on_several_joints(joints: list[str]) -> None:
    hero = mw.samples.mannequin()
    target = skin_on(detached(hero.clips["walk"]).skeleton, joints)
    tool = mw.Retargeter(hero, target, clip=hero.clips["walk"])
    quality = tool.quality(hero.clips["walk"], tool.retarget(hero.clips["walk"]))
    assert quality is not None and quality.visible.sink < 0.02
    assert (tool.soles_t is None) == (joints == ["pelvis"])
