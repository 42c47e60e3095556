"""A source that is scaled, turned, Z-up, re-rolled, renamed, re-ordered or mirrored gives the same result."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import rigs

import marrow as mw
from builders import rotations
from marrow.math import quaternion
from marrow.motion.posture import model_rotations

UP_Z = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
TIMES = np.linspace(0.0, 0.5, 16)


@pytest.fixture(scope="module")
def hero() -> mw.Character:
    return mw.samples.mannequin()


@pytest.fixture(scope="module")
def target() -> mw.Skeleton:
    """Another body: other axes, shorter shins."""

    def place(name: str, at: np.ndarray) -> np.ndarray:
        return at * [1.0, 0.85, 1.0] if name.startswith(("calf", "thigh", "foot")) else at

    return rigs.body({p: p for p in rigs.PARTS}, root="root", place=place, axes=np.random.default_rng(5))


Arrays = tuple[np.ndarray, np.ndarray]


def rebuilt(
    clip: mw.Clip, change: Callable[[Arrays, np.ndarray], Arrays], names: list[str] | None = None
) -> mw.Clip:
    """The clip and its rest pose as `(translation, rotation)` changed by `change(arrays, parents)`."""
    skeleton, poses = clip.skeleton, clip.sample(TIMES)
    rest = skeleton.rest
    still = change((np.array(rest.translation, float), np.array(rest.rotation, float)), skeleton.parents)
    moved = change((np.array(poses.translation, float), np.array(poses.rotation, float)), skeleton.parents)
    ones = np.ones(still[0].shape, np.float32)
    again = mw.Skeleton(
        names or list(skeleton.names), skeleton.parents, mw.Pose(*(a.astype(np.float32) for a in still), ones)
    )
    scales = np.ones(moved[0].shape, np.float32)
    return mw.Clip.from_poses(
        clip.name, again, mw.Pose(*(a.astype(np.float32) for a in moved), scales), times=TIMES
    )


def same(arrays: Arrays, parents: np.ndarray) -> Arrays:
    return arrays


def scaled(arrays: Arrays, parents: np.ndarray) -> Arrays:
    return arrays[0] * 100.0, arrays[1]


def under(turn: np.ndarray) -> Callable[[Arrays, np.ndarray], Arrays]:
    def change(arrays: Arrays, parents: np.ndarray) -> Arrays:
        at, turned = (a.copy() for a in arrays)
        at[..., 0, :] = quaternion.rotate(turn, at[..., 0, :])
        turned[..., 0, :] = quaternion.multiply(turn, turned[..., 0, :])
        return at, turned

    return change


def rolled(arrays: Arrays, parents: np.ndarray) -> Arrays:
    """Every joint's axes turned at random, its place kept."""
    own = rotations(np.random.default_rng(11), (len(parents),))
    at, turned = (a.copy() for a in arrays)
    model = quaternion.multiply(model_rotations(turned, parents), own)
    for j, p in enumerate(parents.tolist()):
        turned[..., j, :] = model[..., j, :]
        if p >= 0:
            turned[..., j, :] = quaternion.multiply(quaternion.conjugate(model[..., p, :]), model[..., j, :])
            at[..., j, :] = quaternion.rotate(quaternion.conjugate(own[p]), at[..., j, :])
    return at, turned


def places(clip: mw.Clip) -> np.ndarray:
    return clip.skeleton.to_model(clip.sample(TIMES))[..., 3].astype(np.float64)


QUARTER = quaternion.from_axis_angle([0.0, 1.0, 0.0], np.pi / 2)


@pytest.mark.parametrize("contacts", [False, True])
@pytest.mark.parametrize(
    "change",
    [scaled, under(QUARTER), under(quaternion.from_matrix(UP_Z)), rolled],
    ids=["scaled", "turned", "z up", "re-rolled"],
)
def test_copies_of_a_source_give_the_same_result(
    hero: mw.Character, target: mw.Skeleton, change: Callable[[Arrays, np.ndarray], Arrays], contacts: bool
) -> None:
    whole, other = (rebuilt(hero.clips["walk"], c) for c in (same, change))
    want, made = (places(mw.retarget(c, target, contacts=contacts)) for c in (whole, other))
    np.testing.assert_allclose(made, want, atol=1e-4)


def test_a_renamed_source_gives_the_same_result(hero: mw.Character, target: mw.Skeleton) -> None:
    words = {
        "pelvis": "Hips", "spine_01": "Spine", "spine_02": "Spine1", "spine_03": "Spine2", "neck": "Neck", "head": "Head",
    }  # fmt: skip
    for s, side in (("l", "Left"), ("r", "Right")):
        parts = ("Shoulder", "Arm", "ForeArm", "Hand", "UpLeg", "Leg", "Foot", "ToeBase")
        ours = ("clavicle", "upperarm", "lowerarm", "hand", "thigh", "calf", "foot", "ball")
        words |= {f"{a}_{s}": f"{side}{b}" for a, b in zip(ours, parts)}
        for finger in ("thumb", "index", "middle", "ring", "pinky"):
            words |= {f"{finger}_0{k}_{s}": f"{side}Hand{finger.title()}{k}" for k in (1, 2, 3)}
    names = [f"mixamorig:{words[n]}" if n in words else n for n in hero.skeleton.names]
    want, made = (places(mw.retarget(rebuilt(hero.clips["walk"], same, n), target)) for n in (None, names))
    np.testing.assert_allclose(made, want, atol=1e-4)


def test_a_reordered_source_gives_the_same_result(hero: mw.Character, target: mw.Skeleton) -> None:
    clip = rebuilt(hero.clips["walk"], same)
    again = rigs.reordered(mw.Character(clip.skeleton), np.random.default_rng(2)).skeleton
    order = [clip.skeleton.index(n) for n in again.names]
    poses = clip.sample(TIMES)
    moved = mw.Pose(*(a[:, order] for a in (poses.translation, poses.rotation, poses.scale)))
    other = mw.Clip.from_poses("walk", again, moved, times=TIMES)
    want, made = (places(mw.retarget(c, target)) for c in (clip, other))
    np.testing.assert_allclose(made, want, atol=1e-4)


def test_a_mirrored_source_gives_the_mirrored_result(hero: mw.Character, target: mw.Skeleton) -> None:
    clip = rebuilt(hero.clips["walk"], same)
    want = mw.retarget(clip, target, contacts=False)
    made = places(mw.retarget(clip.mirrored(), target, contacts=False))
    swapped = [
        target.index(n[:-1] + {"l": "r", "r": "l"}[n[-1]] if n.endswith(("_l", "_r")) else n)
        for n in target.names
    ]
    np.testing.assert_allclose(made, places(want)[:, swapped] * [-1, 1, 1], atol=1e-4)
