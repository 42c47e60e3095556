"""Damaged and random rigs: every answer is finite motion or a refusal in words, never a warning or a crash."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import marrow as mw
from builders import rotations
from marrow.io.lint import lint
from marrow.motion import find_rig

WORDS = [
    "Hips", "Spine", "Chest", "Neck", "Head", "LeftArm", "RightArm", "LeftForeArm", "RightForeArm",
    "LeftHand", "RightHand", "LeftUpLeg", "RightUpLeg", "LeftLeg", "RightLeg", "LeftFoot", "RightFoot",
    "LeftToe", "RightToe", "LeftShoulder", "root", "x", "node", "LeftHandIndex1", "LeftArmTwist",
    "ik_foot_l", "hand_l", "hand_r", "foot_l", "thigh_l", "calf_l",
]  # fmt: skip


def damaged(rng: np.random.Generator, bones: mw.Skeleton) -> mw.Skeleton:
    """Joints left out, names exchanged, places shaken, lengths of another unit, of none, or mirrored."""
    kept = [j for j in range(len(bones)) if rng.random() < 0.93 or j == 0]
    where = {j: i for i, j in enumerate(kept)}
    parents = []
    for j in kept:
        p = int(bones.parents[j])
        while p >= 0 and p not in where:
            p = int(bones.parents[p])
        parents.append(where.get(p, -1))
    names = tuple(bones.names[j] if rng.random() < 0.9 else str(rng.choice(WORDS)) for j in kept)
    size = rng.choice([1, 0, 100, 1e-3, -1], p=[0.6, 0.1, 0.1, 0.1, 0.1])
    place = bones.rest.translation[kept] * size + rng.normal(0, 0.02, (len(kept), 3)) * abs(size)
    return mw.Skeleton(names, parents, mw.Pose(place, bones.rest.rotation[kept], scales(rng, len(kept))))


def anything(rng: np.random.Generator) -> mw.Skeleton:
    n = int(rng.integers(1, 40))
    parents = [-1, *(int(rng.integers(-1 if rng.random() < 0.1 else 0, i)) for i in range(1, n))]
    place = rng.normal(0, 0.3, (n, 3)) * (rng.random() > 0.1)
    return mw.Skeleton(
        tuple(map(str, rng.choice(WORDS, n))), parents, mw.Pose(place, rotations(rng, (n,)), scales(rng, n))
    )


def scales(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.ones((n, 3)) * rng.choice([1, 0.01, 0.0, -1], p=[0.8, 0.1, 0.05, 0.05])


@pytest.mark.parametrize("seed", range(24))
def test_random_rigs_are_fitted_or_refused(seed: int) -> None:
    hero = mw.samples.mannequin()
    rng = np.random.default_rng(seed)
    bones = damaged(rng, hero.skeleton) if seed % 2 else anything(rng)
    n, frames = len(bones), int(rng.integers(1, 8))
    rest = bones.rest.broadcast_to((frames,)).copy()
    clip = mw.Clip.from_poses("c", bones, rest.replace(rotation=rotations(rng, (frames, n))), 30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="mirrored: ")  # it says that joints have no partners
        find_rig(bones)
        for motion, onto in ((clip, hero), (hero.clips["walk"].trimmed(0, 0.1), bones)):
            try:
                made = mw.retarget(motion, onto=onto)
            except mw.MarrowError as error:
                if len(str(error)) < 20:
                    pytest.fail(f"too few words: {error}")
                continue
            assert np.isfinite(made.tracks.values).all()
        for tool in (
            clip.mirrored,
            clip.looped,
            clip.in_place,
            clip.smoothed,
            clip.with_contacts,
            clip.with_travel,
        ):
            try:
                assert np.isfinite(tool().tracks.values).all()
            except mw.MarrowError:
                continue
        lint(mw.Character(bones, (), [clip]))
