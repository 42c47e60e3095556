"""Arms go where the source's go: only a hand that touches something moves them, and not too far."""

from __future__ import annotations

import numpy as np
import pytest
import rigs
from test_body_contacts import SAME, barrel, from_axis, palm, reached, wider

import marrow as mw
from marrow.math import affine
from marrow.motion import Retargeter
from marrow.motion.arm_turns import arm_turns
from marrow.motion.hand_contacts import meeting

BELLY = np.array([-0.02, 1.12, 0.095])
"""Where the wrist is of a hand on the belly."""


@pytest.fixture(scope="module")
def hero() -> mw.Character:
    return mw.samples.mannequin()


def turned(bones: mw.Skeleton, one: mw.Clip, other: mw.Clip) -> float:
    """The most that a bone of an arm differs between two clips, in degrees."""
    places = [bones.to_model(c.sample(np.arange(40) / 30))[..., 3].astype(float) for c in (one, other)]
    most = 0.0
    for side in "lr":
        for a, b in (("upperarm", "lowerarm"), ("lowerarm", "hand")):
            u, v = (p[:, bones.index(f"{b}_{side}")] - p[:, bones.index(f"{a}_{side}")] for p in places)
            angle = np.arctan2(np.linalg.norm(np.cross(u, v), axis=-1), (u * v).sum(-1))
            most = max(most, float(np.degrees(angle).max()))
    return most


def moved_arms(tool: Retargeter, clip: mw.Clip) -> float:
    return turned(tool.target, tool.retarget(clip, hands=False), tool.retarget(clip))


def test_a_sword_in_the_ground_does_not_turn_the_arm(hero: mw.Character) -> None:
    bones = rigs.with_joints(rigs.body(SAME, place=wider, root="root"), {"sword": ("hand_l", None, 0.0)})
    joint = bones.index("sword")
    at = bones.rest_model[joint, :, 3] + 1.2 * np.concatenate([np.eye(3), -np.eye(3)])
    mesh = mw.Mesh(
        "sword", at.astype(np.float32), np.array([[0, 1, 2], [3, 4, 5]], np.uint32), joints=np.zeros((6, 1), np.int32),
        weights=np.ones((6, 1), np.float32), joint_list=np.array([joint], np.int32),
        inverse_bind=affine.invert(bones.rest_model[joint].astype(float))[None].astype(np.float32),
    )  # fmt: skip
    tool = Retargeter(hero, mw.Character(bones, (mesh,)))
    assert (
        moved_arms(tool, reached(hero.skeleton, {s: [x, 0.95, 0.05] for s, x in (("l", 0.4), ("r", -0.4))}))
        < 0.1
    )


def test_hands_beside_each_other_do_not_meet(hero: mw.Character) -> None:
    """Knuckles 23 cm apart in front of the chest never come to touch: the arms of a broader body stay as they are."""

    def broader(name: str, p: np.ndarray) -> np.ndarray:
        arm = name.split("_")[0] in ("clavicle", "upperarm", "lowerarm", "hand")
        return p + np.array([0.1 * np.sign(p[0]), 0, 0]) if arm else wider(name, p)

    tool = Retargeter(hero, rigs.body(SAME, place=broader, root="root"))
    clip = reached(hero.skeleton, {s: np.array([x, 1.2, 0.4]) for s, x in (("l", 0.05), ("r", -0.05))})
    assert moved_arms(tool, clip) < 0.1


def test_all_of_the_way_to_a_clap_counts_and_hands_that_turn_back_before_do_not_meet() -> None:
    apart = np.array([0.4, 0.26, 0.2, 0.14, 0.19, 0.27, 0.4])
    clap, wave = meeting(apart), meeting(apart + 0.04)
    assert (clap[[1, 2, 3, 4, 5]] > 0).all() and clap[3] > 0.9 and not clap[[0, 6]].any()
    assert not wave.any()


def long_trunk(name: str, p: np.ndarray) -> np.ndarray:
    """A trunk twice as long, on the same legs and with the same arms."""
    part = name.split("_")[0]
    if part in ("thigh", "calf", "foot", "ball", "pelvis"):
        return wider(name, p)
    return p + np.array([0, p[1] - 0.95 if part in ("spine", "neck", "head") else 0.5, 0])


def test_a_hand_that_touches_is_on_the_skin_where_the_same_place_is_too_far(hero: mw.Character) -> None:
    """The belly of a trunk twice as long is out of reach, its skin in front of the hand is not."""
    body = barrel(rigs.body(SAME, place=long_trunk, root="root"), 0.18)
    clip = reached(hero.skeleton, {"l": BELLY - np.array([0, 0.07, 0])})
    tool = Retargeter(hero, body)
    far = from_axis(body.skeleton, palm(body.skeleton, tool.retarget(clip), "l"))
    assert moved_arms(tool, clip) < 15
    np.testing.assert_allclose(far, 0.18, atol=0.02)


def test_a_contact_that_would_turn_an_arm_too_far_is_let_go_and_told(hero: mw.Character) -> None:
    """Over a barrel with a radius of 30 cm the arm would turn by more than 30 degrees: it turns as far as it may."""
    tool = Retargeter(hero, barrel(rigs.body(SAME, place=wider, root="root"), 0.3))
    clip = reached(hero.skeleton, {"l": BELLY})
    assert 5 < moved_arms(tool, clip) < 16
    said = [line.message for line in tool.report.lines if "let go" in line.message]
    assert len(said) == 1 and "1.3 s" in said[0]


def test_how_far_an_arm_turns() -> None:
    """A straight arm lifted by 30 degrees; one bent by 90 degrees, with its hand moved towards the shoulder until the elbow
    is bent by 120 (bones of equal length: each turns by half of the difference); a hand out of reach."""
    still = np.array([0.0, -2.0, 0.0])
    lifted = 2 * np.array([0.5, -(3**0.5) / 2, 0])
    bent, more = np.array([0, -(2**0.5), 0.0]), np.array([0, -1.0, 0.0])
    found = np.degrees(
        arm_turns(np.stack([still, bent, still]), np.stack([lifted, more, 1.5 * still]), 1.0, 1.0)
    )
    np.testing.assert_allclose(found[:2], [30, 15], atol=1e-6)
    assert found[2] > 25
