"""Real files of many rig families onto each other: mapped, planted, the right size."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from pairs import CORPUS, MOTION, PAIRS

import marrow as mw
from marrow.math import quaternion
from marrow.motion import Retargeter, RetargetError
from marrow.motion.posture import leg_length


@pytest.fixture(scope="module")
def rig(corpus: Path, motion: Path):
    @cache
    def load(name: str) -> mw.Character:
        if name == "mannequin":
            return mw.samples.mannequin()
        path = corpus / CORPUS[name] if name in CORPUS else motion / MOTION[name]
        return mw.load(path)

    return load


@pytest.mark.parametrize(("source", "clip", "target"), PAIRS)
def test_motion_of_one_rig_on_another(rig, source: str, clip: str | int, target: str) -> None:
    a, b = rig(source), rig(target)
    motion = a.clips[clip]
    tool = Retargeter(a, b, clip=motion)
    made = tool.retarget(motion)
    quality = tool.quality(motion, made)
    assert quality is not None
    size = tool.leg_t / 0.85
    assert quality.result.drift <= 0.005 * size
    assert quality.result.sink <= 0.005 * size
    assert quality.result.skate <= quality.source.skate
    assert quality.knees <= 0.02
    assert quality.stretch <= 1 + 1e-3, "no bone is lengthened"
    # Hips about as high over the ankles as in the source, by the length of the legs: they move so that feet stand and
    # knees do not snap. The head goes up and down with them.
    times = np.linspace(0, motion.duration, 9)
    pose, own = motion.sample(times), b.skeleton.to_model(made.sample(times))[..., 3]
    world = tool.world(motion.sample(np.linspace(0, motion.duration, 40)))
    seen = quaternion.rotate(world, a.skeleton.to_model(pose)[..., 3].astype(float))
    mine, theirs = tool.chains("source"), tool.chains("target")

    def hips(at: np.ndarray, chains) -> np.ndarray:
        return (at[:, chains["left_leg"][0], 1] + at[:, chains["right_leg"][0], 1]) / 2

    ground = tool.ground(motion.sample(np.linspace(0, motion.duration, 40)), world)
    legs = leg_length(tool.rest_s.place, mine), tool.leg_t
    before = (hips(seen, mine) - ground - tool.feet_s.ankle) / legs[0]
    after = (hips(own, theirs) - tool.feet_t.ankle) / legs[1]
    assert np.abs(after - before).mean() < 0.03 and np.abs(after - before).max() < 0.075
    heads = [
        at[:, chains["head"][-1], 1] / leg
        for at, chains, leg in ((seen, mine, legs[0]), (own, theirs, legs[1]))
    ]
    # Spines of other shapes bend a little differently.
    gap = np.abs((heads[1] - heads[1].mean()) - (heads[0] - heads[0].mean()))
    assert gap.mean() < 0.02 and gap.max() < 0.075


@pytest.mark.parametrize(
    ("source", "clip", "target"), [p for p in PAIRS if p[2] not in ("maya", "unreal", "vrma", "cmu walk")]
)
def test_the_skin_stays_in_one_piece(rig, source: str, clip: str | int, target: str) -> None:
    """No edge of the mesh becomes much longer than any was at rest: what the joints above the hips carry comes along."""
    a, b = rig(source), rig(target)
    motion = a.clips[clip]
    made = mw.retarget(motion, onto=b, source=a)
    times = motion.duration * np.array([0.15, 0.5, 0.8])
    poses = made.sample(times)
    offsets = b.vertex_offsets
    corners = np.concatenate([m.triangles.astype(np.int64) + o for m, o in zip(b.meshes, offsets)])
    skinned = np.concatenate([np.full(m.vertex_count, m.rigid_joint is None) for m in b.meshes])
    corners = corners[skinned[corners].all(axis=1)]
    own = next((c for c in b.clips.values() if c.duration > 0), None)

    def longest(pose: mw.Pose) -> float:
        at = mw.skin(b, pose).positions.astype(float)
        return max(
            float(np.linalg.norm(at[..., corners[:, k], :] - at[..., corners[:, k - 1], :], axis=-1).max())
            for k in range(3)
        )

    usual = longest(b.skeleton.rest)
    if own is not None:
        usual = max(usual, longest(own.sample(own.duration / 2)))
    assert longest(poses) < 2.2 * usual


@pytest.mark.parametrize(
    ("source", "clip", "target", "words"),
    [
        ("fox clips", "Run", "mannequin", "four legs"),
        ("mannequin", "walk", "horse", "four legs"),
        ("fox", "Run", "xbot", "four legs"),
        ("barbarian", 0, "mannequin", "left lower arm"),
        ("xbot", "walk", "barbarian", "left lower leg"),
    ],
)
def test_what_does_not_go_together_is_refused_with_the_reason(
    rig, source: str, clip: str | int, target: str, words: str
) -> None:
    with pytest.raises(RetargetError, match=words):
        mw.retarget(rig(source).clips[clip], onto=rig(target))


def test_animals_with_the_same_names_go_together(rig) -> None:
    fox, horse = rig("fox clips"), rig("horse")
    made = mw.retarget(fox.clips["Run"], onto=horse)
    at = horse.skeleton.to_model(made.sample(np.linspace(0, made.duration, 9)))[..., 3]
    rest = horse.skeleton.rest_model[..., 3]
    hips = horse.skeleton.index("Hips")
    spread = np.linalg.norm(at - at[:, hips : hips + 1], axis=-1).max(axis=0)
    assert (spread <= 2.2 * np.linalg.norm(rest - rest[hips], axis=-1) + 0.4).all()


def test_animals_with_other_names_go_by_shape_and_it_is_said(rig) -> None:
    fox, other = rig("fox"), rig("fox clips")
    tool = Retargeter(fox, other, clip=fox.clips["Run"])
    assert {"left_front_leg", "right_hind_leg", "spine", "head"} <= {c.name for c in tool.map}
    assert [other.skeleton.names[j] for j in tool.map["head"].target][-1] == "Head"
    assert any("by shape" in line.message for line in tool.report)
    made = tool.retarget(fox.clips["Run"])
    at = other.skeleton.to_model(made.sample(np.linspace(0, made.duration, 9)))[..., 3]
    rest = other.skeleton.rest_model[..., 3]
    assert np.abs(at).max() < 2 * np.abs(rest).max()


def test_loading_with_clips_says_what_it_did(corpus: Path, motion: Path) -> None:
    hero = mw.load(corpus / "Xbot.glb", clips=motion / "cmu_walk.bvh")
    assert "cmu_walk" in hero.clips
    assert any("times" in line.message and "tall" in line.message for line in hero.report)
