"""Bodies of random proportions, names, axes, orders, sizes and facings: the figures that are promised, and feet measured
without the package's own words for them (heel, ball, planted), from the places of ankle and toe joints alone."""

from __future__ import annotations

import numpy as np
import pytest
import rigs
from families import FAMILIES

import marrow as mw
from marrow.math import quaternion
from marrow.motion import Retargeter, find_rig

HIPS, SHOULDER = 0.925, np.array([0.18, 1.43, 0.0])
CLIPS = ("walk", "run", "turn_left", "attack")


def random_body(rng: np.random.Generator) -> mw.Skeleton:
    legs, arms, wide = rng.uniform(0.7, 1.4, 3)
    trunk, feet, knee = rng.uniform(0.8, 1.2), rng.uniform(0.6, 1.6), rng.uniform(-0.05, 0.05)

    def place(name: str, p: np.ndarray) -> np.ndarray:
        part = name.split("_")[0]
        if part in ("thigh", "calf"):
            return np.array([p[0] * wide, p[1] * legs + (knee if part == "calf" else 0), p[2]])
        if part in ("foot", "ball"):
            return np.array([p[0] * wide, p[1], p[2] * (feet if part == "ball" else 1)])
        high = np.array([p[0], HIPS + max(p[1] - HIPS, 0) * trunk, p[2]])
        if part in ("lowerarm", "hand", "thumb", "index", "middle", "ring", "pinky"):
            start = SHOULDER * [1 if name.endswith("_l") else -1, 1, 1]
            high = start * [1, 0, 1] + [0, HIPS + (start[1] - HIPS) * trunk, 0] + (p - start) * arms
        return high + np.array([0, (legs - 1) * HIPS, 0])

    families = [f for f in FAMILIES if f != "nothing"]
    bones = rigs.body(FAMILIES[str(rng.choice(families))], place=place, axes=rng, root="rig_root")
    rest, unit = bones.rest.copy(), float(10 ** rng.uniform(-2, 2))
    rest.translation[1:] *= unit
    rest.scale[0] = 1 / unit
    facing = quaternion.from_axis_angle([0.0, 1, 0], np.radians(rng.choice([0, 90, 180, 270])))
    rest.rotation[0] = quaternion.multiply(facing, rest.rotation[0].astype(float))
    shuffled = mw.Character(mw.Skeleton(bones.names, bones.parents, rest))
    return rigs.reordered(shuffled, rng).skeleton


def feet(bones: mw.Skeleton, clip: mw.Clip, times: np.ndarray) -> np.ndarray:
    """Ankles and toes `(T, 2, 2, 3)`, for a leg of 85 cm, in the frame of the body at rest."""
    chains = find_rig(bones).chains
    joints = [[chains[f"{s}_leg"][2], chains[f"{s}_toes"][0]] for s in ("left", "right")]
    rest = bones.rest_model[..., 3].astype(float)
    leg = chains["left_leg"]
    length = np.linalg.norm(rest[leg[1]] - rest[leg[0]]) + np.linalg.norm(rest[leg[2]] - rest[leg[1]])
    return bones.to_model(clip.sample(times))[..., 3].astype(float)[:, joints] / length * 0.85


@pytest.mark.parametrize("seed", range(6))
def test_feet_of_random_bodies_stand_and_slide_as_those_of_the_source(seed: int) -> None:
    rng = np.random.default_rng(seed)
    hero, bones = mw.samples.mannequin(), random_body(rng)
    for name in CLIPS:
        clip = hero.clips[name]
        tool = Retargeter(hero, bones, clip=clip)
        made = tool.retarget(clip)
        quality = tool.quality(clip, made)
        assert quality is not None and not quality.hints
        size = tool.leg_t / 0.85
        assert quality.result.skate <= quality.source.skate
        assert quality.result.drift <= 0.005 * size and quality.result.sink <= 0.005 * size
        times = np.linspace(0, clip.duration, round(clip.duration * 60) + 1)
        before, after = feet(hero.skeleton, clip, times), feet(bones, made, times)
        still = np.linalg.norm(np.diff(before, axis=0), axis=-1) * 60 < 0.03
        for foot, toe in np.ndindex(2, 2):
            # Runs of a tenth of a second or more in which a joint stands still in the source.
            edges = np.flatnonzero(np.diff(np.r_[0, still[:, foot, toe].astype(int), 0]))
            for begin, end in zip(edges[::2], edges[1::2]):
                if end - begin >= 6:
                    at = after[begin : end + 1, foot, toe][:, [0, 2]]
                    assert np.linalg.norm(at - at.mean(axis=0), axis=-1).max() < 0.005, (name, foot, toe)
