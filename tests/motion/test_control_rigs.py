"""Rigs exported with their controls (Rigify): skin on joints beside those that move, identities for a bind pose, a clip of
one pose, bones along one axis."""

from __future__ import annotations

import numpy as np
import pytest
import rigs

import marrow as mw
from marrow.math import affine, quaternion
from marrow.motion.alignment import shares_frames
from marrow.motion.bone_map import BoneMap, ChainPair
from marrow.motion.posture import Posture, posture
from marrow.motion.rig import find_rig

PARTS = {p: p for p in rigs.PARTS}


@pytest.fixture(scope="module")
def hero() -> mw.Character:
    return mw.samples.mannequin()


def test_joints_of_the_trunk_that_hang_elsewhere_go_along(hero: mw.Character) -> None:
    bones = rigs.body(PARTS, root="root")
    beside = {"DEF-spine": ("root", "pelvis", 1.0), "DEF-spine.001": ("root", "spine_02", 1.0)}
    target = rigs.with_joints(bones, beside)
    made = mw.retarget(hero.clips["attack"], target)
    places = target.to_model(made.sample(np.linspace(0.0, made.duration, 9)))[..., 3]
    for name, (_, followed, _) in beside.items():
        np.testing.assert_allclose(
            places[:, target.index(name)], places[:, target.index(followed)], atol=1e-4
        )
    assert np.ptp(places[:, target.index("DEF-spine")], axis=0).max() > 0.02


def crouched(hero: mw.Character, bones: mw.Skeleton) -> mw.Skeleton:
    made = mw.retarget(hero.clips["attack"], bones, contacts=False)
    return rigs.resting_in(bones, made.sample(0.4 * made.duration))


def skinned(skeleton: mw.Skeleton, bound: mw.Skeleton, identities: bool) -> mw.Character:
    """A triangle on each joint but the trunk's, bound in the rest pose of `bound`; the trunk's with identities or not."""
    names = [n for n in skeleton.names if n != "root"]
    trunk = {"pelvis", "spine_01", "spine_02", "spine_03"}
    model = bound.rest_model[[bound.index(n) for n in names]].astype(np.float64)
    inverse = affine.invert(model)
    if identities:
        inverse[[n in trunk for n in names]] = np.eye(3, 4)
    at, joints = [], []
    for k, name in enumerate(names):
        if name not in trunk:
            at += [model[k, :, 3] + d for d in ([0, 0, 0], [0.01, 0, 0], [0, 0, 0.01])]
            joints += [[k, 0]] * 3
    weights = np.tile(np.float32([1, 0]), (len(at), 1))
    triangles = np.arange(len(at), dtype=np.int32).reshape(-1, 3)
    mesh = mw.Mesh(
        "skin", np.array(at, np.float32), triangles, np.array(joints, np.uint16), weights,
        np.array([skeleton.index(n) for n in names], np.int32), inverse.astype(np.float32),
    )  # fmt: skip
    return mw.Character(skeleton, (mesh,))


@pytest.mark.parametrize(("identities", "of"), [(False, "bind pose"), (True, "rest pose")])
def test_identities_of_joints_without_skin_are_no_bind_pose(
    hero: mw.Character, identities: bool, of: str
) -> None:
    bones = rigs.body(PARTS, root="root")
    resting = crouched(hero, bones)
    character = skinned(resting, bones, identities)
    assert posture(resting, find_rig(resting).chains, character).of == of


def test_a_clip_of_one_pose_is_the_stance_of_a_body_that_rests_in_none(hero: mw.Character) -> None:
    bones = rigs.body(PARTS, root="root", axes=np.random.default_rng(3))
    stance, resting = bones.rest, crouched(hero, bones)
    clip = mw.Clip.from_poses("A-pose", resting, stance.broadcast_to((1,)), times=[0.0])
    target = mw.Character(resting, clips=[clip])
    tool = mw.Retargeter(hero, target, clip=hero.clips["walk"])
    assert any("stands the straightest" in line.message for line in tool.report)
    made = tool.retarget(hero.clips["walk"], contacts=False)
    free = mw.retarget(hero.clips["walk"], rigs.body(PARTS, root="root"), contacts=False)
    times = np.linspace(0.0, made.duration, 7)
    was, now = (c.skeleton.to_model(c.sample(times))[..., 3] for c in (free, made))
    way = [p[:, resting.index("head")] - p[:, resting.index("pelvis")] for p in (was, now)]
    cosine = (way[0] * way[1]).sum(-1) / np.linalg.norm(way[0], axis=-1) / np.linalg.norm(way[1], axis=-1)
    assert np.degrees(np.arccos(np.clip(cosine, -1, 1))).max() < 2


def test_bones_along_one_axis_do_not_make_joints_alike() -> None:
    """Every bone along its joint's y, as Blender makes them; in the second body half a turn about it."""
    bones = rigs.body(PARTS, root="root")
    at = bones.rest_model[..., 3].astype(np.float64)
    rotation = np.tile([0.0, 0.0, 0.0, 1.0], (len(bones), 1))
    for j in range(len(bones)):
        children = bones.children(j)
        if children:
            way = at[children[0]] - at[j]
            rotation[j] = quaternion.between(np.array([0.0, 1.0, 0.0]), way / np.linalg.norm(way))
    frame = np.eye(3)
    one = Posture(rotation, at, frame, True, "rest pose")
    half = quaternion.multiply(rotation, np.array([0.0, 1.0, 0.0, 0.0]))
    chains = [ChainPair("hips", (0,), (0,))]
    for side, s in (("left", "l"), ("right", "r")):
        for limb, parts in (
            ("leg", ("thigh", "calf", "foot")), ("arm", ("upperarm", "lowerarm", "hand")), ("toes", ("ball",)),
        ):  # fmt: skip
            joints = tuple(bones.index(f"{p}_{s}") for p in parts)
            chains.append(ChainPair(f"{side}_{limb}", joints, joints))
    bone_map = BoneMap(bones, bones, tuple(chains))
    assert shares_frames(bone_map, one, one)[0]
    assert not shares_frames(bone_map, one, Posture(half, at, frame, True, "rest pose"))[0]
