"""What the report of a retargeted clip sees: all of the skin, contacts that are lost, limbs that cannot be compared."""

from __future__ import annotations

import numpy as np
import pytest
import rigs

import marrow as mw
from marrow.motion import Retargeter

WITHOUT_HANDS = {
    p: p for p in rigs.PARTS if not p.startswith(("hand", "thumb", "index", "middle", "ring", "pinky"))
}


@pytest.fixture(scope="module")
def hero() -> mw.Character:
    return mw.samples.mannequin()


def long_hand(skeleton: mw.Skeleton, longer: float) -> mw.Character:
    """A body whose skin is a triangle on its left hand, `longer` metres further out at rest."""
    j = skeleton.index("hand_l")
    rest = skeleton.rest_model[j].astype(float)
    way = rest[:, 3] - skeleton.rest_model[skeleton.index("lowerarm_l"), :, 3]
    out = rest[:, 3] + longer * way / np.linalg.norm(way)
    at = out + np.array([[0, 0, 0], [0.01, 0.01, 0], [0, 0.01, 0.01]])
    inverse = np.zeros((1, 3, 4))
    inverse[0, :, :3] = np.linalg.inv(rest[:, :3])
    inverse[0, :, 3] = -inverse[0, :, :3] @ rest[:, 3]
    mesh = mw.Mesh(
        "skin", at.astype(np.float32), np.array([[0, 1, 2]], np.int32), np.zeros((3, 2), np.uint16),
        np.tile(np.float32([1, 0]), (3, 1)), np.array([j], np.int32), inverse.astype(np.float32),
    )  # fmt: skip
    return mw.Character(skeleton, (mesh,))


def test_a_hand_in_the_ground_is_told_with_its_moment(hero: mw.Character) -> None:
    """Its feet stand well; a hand that is a metre longer goes through the ground as the arms swing."""
    target = long_hand(rigs.body({p: p for p in rigs.PARTS}, root="root"), 1.0)
    clip = hero.clips["walk"]
    tool = Retargeter(hero, target, clip=clip)
    made = tool.retarget(clip, contacts=False)
    quality = tool.quality(clip, made)
    times = np.arange(round(clip.duration * 60) + 1) / 60
    lowest = mw.skin(target, made.sample(times)).positions[..., 1].min(axis=1)
    rest = min(float(mw.skin(target, target.skeleton.rest).positions[:, 1].min()), 0.0)
    assert quality is not None and rest - lowest.min() > 0.05
    assert quality.visible.depth == pytest.approx(rest - lowest.min(), abs=0.01)
    assert abs(np.interp(quality.visible.depth_at, times, lowest) - lowest.min()) < 0.01
    assert quality.visible.sink < 0.01 and "all of it" in str(quality)


def test_feet_that_never_come_down_lose_their_contacts(hero: mw.Character) -> None:
    target = rigs.body({p: p for p in rigs.PARTS}, root="root")
    clip = hero.clips["walk"]
    tool = Retargeter(hero, target, clip=clip)
    made = tool.retarget(clip, contacts=False)
    fine = tool.quality(clip, made)
    poses = made.sample(np.linspace(0.0, clip.duration, 60))
    higher = np.array(poses.translation)
    higher[:, target.index("pelvis"), 1] += 0.1
    floating = mw.Clip.from_poses("floating", target, poses.replace(translation=higher), 60)
    quality = tool.quality(clip, floating.replace(duration=clip.duration))
    assert fine is not None and quality is not None
    assert fine.visible.contacts > 0 and fine.visible.lost == 0
    assert quality.visible.lost == quality.visible.contacts
    assert "contacts lost" in str(quality) and "contacts lost" not in str(fine)


def test_arms_without_hands_are_measured_as_far_as_they_go(hero: mw.Character) -> None:
    target = rigs.body(WITHOUT_HANDS, root="root")
    clip = hero.clips["walk"]
    tool = Retargeter(hero, target, clip=clip)
    made = tool.retarget(clip, contacts=False)
    poses = made.sample(np.linspace(0.0, clip.duration, 30))
    turned = np.array(poses.rotation)
    turned[:, target.index("upperarm_l")] = target.rest.rotation[target.index("upperarm_l")]
    stiff = mw.Clip.from_poses("stiff", target, poses.replace(rotation=turned), 30)
    quality = tool.quality(clip, stiff.replace(duration=clip.duration))
    assert quality is not None and quality.reach is None
    assert quality.visible.arms is not None and quality.visible.arms > 20
    assert "hands not measured" in str(quality)
