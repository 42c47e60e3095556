"""Motion written as VRMA, held to what the standard says a reader does with it."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from test_vrm import one

import marrow as mw
from marrow.errors import FormatError
from marrow.math import quaternion

Array = NDArray[Any]
TIMES = np.linspace(0, 1, 5)


def moving(character: mw.Character, seed: int = 0, interpolation: str = "linear") -> mw.Clip:
    """A clip that turns every joint of the body and moves its hips."""
    rng = np.random.default_rng(seed)
    skeleton = character.skeleton
    eyes = [skeleton.humanoid.get(side) for side in ("leftEye", "rightEye")]
    tracks = []
    for j in skeleton.humanoid.values():
        if j not in eyes:
            turn = quaternion.from_axis_angle(rng.normal(size=(5, 3)), rng.uniform(-0.7, 0.7, 5))
            values = quaternion.multiply(skeleton.rest.rotation[j], turn)
            if interpolation == "cubic":
                values = np.stack(
                    [0.1 * rng.normal(size=values.shape), values, 0.1 * rng.normal(size=values.shape)], 1
                )
            tracks.append(mw.Track(j, "rotation", TIMES, values, interpolation))
    hips = skeleton.humanoid["hips"]
    walk = skeleton.rest.translation[hips] + rng.normal(size=(5, 3)) * 0.1
    tracks.append(mw.Track(hips, "translation", TIMES, walk))
    return mw.Clip("move", skeleton, tracks, 1.0)


def played(path: Path, onto: mw.Character, times: Array) -> Array:
    """Where the bones of an avatar are `(T, B, 3)` when it plays the file, by the formula of the standard: turns are taken
    from the T-pose of the one body to that of the other, and the way of the hips grows with their height."""
    motion = mw.load(path, cache=False)
    pose = motion.clips[0].sample(times)
    source, target = motion.skeleton, onto.skeleton

    def worlds(skeleton: mw.Skeleton, rotation: Array) -> Array:
        out = np.array(rotation, np.float64)
        for j, parent in enumerate(skeleton.parents):
            if parent >= 0:
                out[..., j, :] = quaternion.multiply(out[..., parent, :], out[..., j, :])
        return out

    rest, target_rest = worlds(source, source.rest.rotation), worlds(target, target.rest.rotation)
    rotation = np.broadcast_to(target.rest.rotation, (len(times), *target.rest.rotation.shape)).copy()
    translation = np.broadcast_to(
        target.rest.translation, (len(times), *target.rest.translation.shape)
    ).copy()
    turned = worlds(target, target.rest.rotation[None].repeat(len(times), 0))
    model = worlds(source, pose.rotation)
    of_joint = {j: bone for bone, j in target.humanoid.items()}
    for j in range(len(target)):
        parent = int(target.parents[j])
        above = turned[:, parent] if parent >= 0 else np.array([0, 0, 0, 1.0])
        s = source.humanoid.get(of_joint.get(j, ""))
        if s is not None:
            seen = quaternion.multiply(model[:, s], quaternion.conjugate(rest[s]))
            turned[:, j] = quaternion.multiply(seen, target_rest[j])
            rotation[:, j] = quaternion.multiply(quaternion.conjugate(above), turned[:, j])
        else:
            turned[:, j] = quaternion.multiply(above, target.rest.rotation[j])
    hips, from_hips = target.humanoid["hips"], source.humanoid["hips"]
    high = [float(sk.to_model(sk.rest)[h, 1, 3]) for sk, h in ((target, hips), (source, from_hips))]
    place = source.to_model(pose)[:, from_hips, :, 3] * (high[0] / high[1])
    parent = int(target.parents[hips])
    if parent >= 0:
        above = np.asarray(target.to_model(target.rest), np.float64)[parent]
        place = (place - above[:, 3]) @ np.linalg.inv(above[:, :3]).T
    translation[:, hips] = place
    made = mw.Pose(
        translation, rotation, np.ones_like(translation), np.zeros((len(times), len(target.morph_names)))
    )
    return np.asarray(target.to_model(made))[:, list(target.humanoid.values()), :, 3]


def document(path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    (length,) = struct.unpack("<I", data[12:16])
    found: dict[str, Any] = json.loads(data[20 : 20 + length])
    return found


@pytest.mark.parametrize("interpolation", ["linear", "cubic", "step"])
def test_an_avatar_moves_as_its_clip_says(
    interpolation: str, tmp_path: Path, errors_of: Callable[..., list[str]]
) -> None:
    ami, path = one().load(), tmp_path / "move.vrma"
    clip = moving(ami, 1, interpolation)
    mw.save(mw.Character(ami.skeleton, clips=[clip], vrm=ami.vrm), path)
    times = np.linspace(0, 1, 11)
    bones = list(ami.skeleton.humanoid.values())
    assert_allclose(
        played(path, ami, times), ami.skeleton.to_model(clip.sample(times))[:, bones, :, 3], atol=2e-6
    )
    assert errors_of(path) == []
    said = document(path)["extensions"]["VRMC_vrm_animation"]
    assert said["specVersion"] == "1.0"
    assert not {"leftEye", "rightEye"} & said["humanoid"]["humanBones"].keys()
    kinds = {(c["target"]["path"], c["target"]["node"]) for c in document(path)["animations"][0]["channels"]}
    hips = said["humanoid"]["humanBones"]["hips"]["node"]
    assert [node for kind, node in kinds if kind != "rotation"] == [hips]
    keys = mw.load(path, cache=False).clips[0].tracks[0]
    assert len(keys.times) == 5 and keys.interpolation == interpolation  # every key is still a key


def test_joints_between_bones_and_above_them_are_part_of_the_motion(tmp_path: Path) -> None:
    """A rig with a root that travels and a twist joint in the arm; none of them is in the file."""
    ami = one().load()
    old = ami.skeleton
    arm = old.humanoid["leftLowerArm"]
    names = ("root", *old.names, "twist")
    parents = np.array([-1, *(old.parents + 1), old.parents[arm] + 1], np.int32)
    parents[1 + arm] = len(names) - 1
    half = np.float32(0.5)
    translation = np.concatenate([[[0.3, 0.1, 0]], old.rest.translation, [old.rest.translation[arm] * half]])
    translation[1 + arm] *= half
    turn = quaternion.from_axis_angle([0, 1, 0], 0.4)
    rotation = np.concatenate([[turn], old.rest.rotation, [[0, 0, 0, 1]]])
    order = np.array([*range(1 + arm), len(names) - 1, *range(1 + arm, len(names) - 1)])  # parents first
    where = np.argsort(order)
    rest = mw.Pose(translation[order], rotation[order], np.ones((len(names), 3)), old.rest.morphs)
    skeleton = mw.Skeleton(
        tuple(names[i] for i in order), np.array([where[p] if p >= 0 else -1 for p in parents[order]], np.int32), rest,
        old.morph_names, bones={bone: int(where[1 + j]) for bone, j in old.humanoid.items()},
    )  # fmt: skip
    clip = moving(mw.Character(skeleton), 2)
    twist, rng = skeleton.index("twist"), np.random.default_rng(3)
    clip = clip.replace(
        tracks=(
            *clip.tracks,
            mw.Track(twist, "rotation", TIMES, quaternion.from_axis_angle([1, 0, 0], TIMES)),
            mw.Track(0, "rotation", TIMES, quaternion.from_axis_angle([0, 1, 0], 0.4 + TIMES)),
            mw.Track(0, "translation", TIMES, rng.normal(size=(5, 3))),
        )
    )
    path = tmp_path / "move.vrma"
    mw.save(mw.Character(skeleton, clips=[clip], vrm=ami.vrm), path)
    motion = mw.load(path, cache=False)
    assert len(motion.skeleton) == len(skeleton.humanoid) - 2  # without eyes
    wanted = skeleton.to_model(clip.sample(TIMES))
    found = motion.skeleton.to_model(motion.clips[0].sample(TIMES))
    for bone, j in motion.skeleton.humanoid.items():
        assert_allclose(found[:, j, :, 3], wanted[:, skeleton.humanoid[bone], :, 3], atol=2e-6, err_msg=bone)


def test_faces_and_eyes_go_out_and_come_back(tmp_path: Path) -> None:
    ami, path = one().load(), tmp_path / "smile.vrma"
    times = [0.0, 0.5, 1.0]
    curves = (
        mw.Curve("expression:happy", times, [0, 0.5, 1.0]),
        mw.Curve("look:yaw", times, [0, 0.3, 0.5]),
        mw.Curve("look:pitch", times, [0.1, 0, -0.2]),
    )
    clip = moving(ami).replace(curves=curves)
    mw.save(mw.Character(ami.skeleton, clips=[clip], vrm=ami.vrm), path)
    again = {c.name: c for c in mw.load(path, cache=False).clips[0].curves}
    for curve in curves:
        assert_allclose(again[curve.name].sample(times), curve.sample(times), atol=1e-5)
    # The same from the tracks of an avatar alone: morphs are told as expressions, eyes as a gaze.
    from marrow.motion.expressions import with_expressions

    shown = with_expressions(clip, ami).replace(curves=())
    mw.save(mw.Character(ami.skeleton, clips=[shown], vrm=ami.vrm), path)
    told = mw.load(path, cache=False).clips[0].curves
    back = with_expressions(mw.Clip("c", ami.skeleton, (), 1.0, curves=told), ami)
    assert_allclose(back.sample(times).morphs, shown.sample(times).morphs, atol=1e-4)
    for eye in ("leftEye", "rightEye"):
        j = ami.skeleton.humanoid[eye]
        assert_allclose(back.sample(times).rotation[:, j], shown.sample(times).rotation[:, j], atol=1e-4)


def test_a_rig_that_does_not_stand_in_a_t_is_brought_there(tmp_path: Path) -> None:
    hero, path = mw.load("mannequin"), tmp_path / "walk.vrma"
    with pytest.warns(UserWarning, match="no T-pose"):
        mw.save(hero.clips["walk"], path)
    motion = mw.load(path, cache=False)
    bones = motion.skeleton.humanoid
    rest = motion.skeleton.to_model(motion.skeleton.rest)[:, :, 3]
    arm = rest[bones["leftHand"]] - rest[bones["leftUpperArm"]]
    assert_allclose(arm / np.linalg.norm(arm), [1, 0, 0], atol=1e-3)
    # Limbs point where those of the mannequin do.
    for t in (0.0, 0.3):
        there = hero.skeleton.to_model(hero.clips["walk"].sample(t))[:, :, 3]
        here = motion.skeleton.to_model(motion.clips[0].sample(t))[:, :, 3]
        for a, b in (
            ("leftUpperArm", "leftLowerArm"),
            ("rightLowerLeg", "rightFoot"),
            ("leftUpperLeg", "leftLowerLeg"),
        ):
            ways = [p[m[b]] - p[m[a]] for p, m in ((there, hero.skeleton.humanoid), (here, bones))]
            cosine = ways[0] @ ways[1] / np.linalg.norm(ways[0]) / np.linalg.norm(ways[1])
            assert cosine > np.cos(np.radians(3))


def test_what_is_no_motion_of_a_body_is_refused_or_told(tmp_path: Path) -> None:
    path = tmp_path / "x.vrma"
    ami = one().load()
    with pytest.raises(FormatError, match="has no clips"):
        mw.save(ami, path)
    bare = mw.Skeleton(("a", "b"), [-1, 0], mw.Pose.identity(2))
    with pytest.raises(FormatError, match="hips, spine"):
        mw.save(mw.Clip("c", bare, [mw.Track(0, "rotation", [0], [[0, 0, 0, 1]])]), path)
    assert not path.exists()
    clip = moving(ami)
    hand = ami.skeleton.humanoid["leftHand"]
    away = clip.replace(
        tracks=(*clip.tracks, mw.Track(hand, "translation", [0.0, 1.0], [[0, 0, 0], [1, 0, 0]]))
    )
    with pytest.warns(UserWarning, match="only turns bones"):
        mw.save(mw.Character(ami.skeleton, clips=[away], vrm=ami.vrm), path)
    extra = clip.replace(
        tracks=(*clip.tracks, mw.Track(ami.skeleton.index("hair0"), "rotation", [0.0], [[0, 1, 0, 0]]))
    )
    with pytest.warns(UserWarning, match=r"no bones of a body.*hair0"):
        mw.save(mw.Character(ami.skeleton, clips=[extra], vrm=ami.vrm), path)
