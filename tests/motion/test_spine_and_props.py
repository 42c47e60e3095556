"""The spine leans after hands on the ground that arms do not reach; what both hands hold stays in both."""

from __future__ import annotations

import numpy as np
import pytest
import rigs

import marrow as mw
from marrow.math import quaternion
from marrow.motion import hand_contacts, held_props
from marrow.motion.foot_ik import BentLimb

SAME = {n: n for n in rigs.PARTS}
FRAMES = 48


@pytest.fixture(scope="module")
def hero() -> mw.Character:
    return mw.samples.mannequin()


def reaching(
    skeleton: mw.Skeleton, pose: mw.Pose, goals: dict[str, np.ndarray], *, legs: bool = False
) -> mw.Clip:
    """A clip of `pose` with wrists at `goals (T, 3)`, and ankles where they rest."""
    for side, goal in goals.items():
        limbs = [(("upperarm", "lowerarm", "hand"), goal, -1.0)]
        if legs:
            foot = skeleton.rest_model[skeleton.index(f"foot_{side}"), :, 3]
            limbs.append((("thigh", "calf", "foot"), np.broadcast_to(foot, goal.shape), 1.0))
        for parts, place, way in limbs:
            model = skeleton.to_model(pose)
            chain = tuple(skeleton.index(f"{p}_{side}") for p in parts)
            moves = np.zeros((len(pose), 9))
            moves[:, :3] = place - model[:, chain[2], :, 3]
            limb = BentLimb(skeleton, chain, pose, model, np.array([0, 0, way]))
            for (joint, _), turns in limb.bent(moves, 0).items():
                pose.rotation[:, joint] = turns
    return mw.Clip.from_poses("reach", skeleton, pose, 30)


def all_fours(skeleton: mw.Skeleton) -> mw.Clip:
    pose = skeleton.rest.broadcast_to((FRAMES,)).copy()
    bow = quaternion.from_axis_angle([1.0, 0, 0], np.radians(75))
    pelvis, spine = skeleton.index("pelvis"), skeleton.index("spine_01")
    above, own = (
        quaternion.from_matrix(skeleton.rest_model[j, :, :3].astype(float)) for j in (pelvis, spine)
    )
    pose.rotation[:, spine] = quaternion.multiply(quaternion.conjugate(above), quaternion.multiply(bow, own))
    pose.translation[:, pelvis] += [0, -0.5, 0]
    goals = {s: np.tile([0.22 * x, 0.09, 0.48], (FRAMES, 1)) for s, x in (("l", 1), ("r", -1))}
    return reaching(skeleton, pose, goals, legs=True)


def short_arms(name: str, p: np.ndarray) -> np.ndarray:
    """Arms of two thirds."""
    part, _, side = name.rpartition("_")
    if side not in "lr" or part in ("clavicle", "upperarm", "thigh", "calf", "foot", "ball"):
        return p
    shoulder = mw.samples.mannequin().skeleton
    at = shoulder.rest_model[shoulder.index(f"upperarm_{side}"), :, 3].astype(float)
    return at + (p - at) * 0.67


def places(skeleton: mw.Skeleton, clip: mw.Clip, *names: str) -> np.ndarray:
    at = skeleton.to_model(clip.sample(np.arange(FRAMES) / 30))[..., 3].astype(float)
    return at[:, [skeleton.index(n) for n in names]]


def test_the_spine_leans_after_hands_on_the_ground(
    hero: mw.Character, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arms of two thirds do not reach it: with the spine hands come as much nearer as a bend of 30 degrees makes."""
    bones, clip = rigs.body(SAME, place=short_arms, root="root"), all_fours(hero.skeleton)
    names = ("hand_l", "hand_r")
    bent = mw.retarget(clip, onto=bones, contacts=True)
    monkeypatch.setattr(hand_contacts, "bend_spine", lambda *_: [])
    stiff = mw.retarget(clip, onto=bones, contacts=True)
    low, high = (places(bones, c, *names)[..., 1].mean() for c in (bent, stiff))
    assert high > 0.15 and low < high - 0.08
    model = [bones.to_model(c.sample(0.8)) for c in (bent, stiff)]
    turned = [m[bones.index("spine_03"), :, :3] for m in model]
    angle = np.degrees(np.arccos((np.trace(turned[0] @ turned[1].T) - 1) / 2))
    assert 8 < angle < 31
    feet = [m[[bones.index("foot_l"), bones.index("foot_r")]] for m in model]
    np.testing.assert_allclose(feet[0], feet[1], atol=1e-4, err_msg="legs are not moved")


def test_a_spine_whose_arms_reach_the_ground_stays(
    hero: mw.Character, monkeypatch: pytest.MonkeyPatch
) -> None:
    bones, clip = rigs.body(SAME, root="root"), all_fours(hero.skeleton)
    made = mw.retarget(clip, onto=bones, contacts=True).sample(0.8)
    monkeypatch.setattr(hand_contacts, "bend_spine", lambda *_: [])
    plain = mw.retarget(clip, onto=bones, contacts=True).sample(0.8)
    np.testing.assert_allclose(made.rotation, plain.rotation, atol=1e-4)


def swung(skeleton: mw.Skeleton) -> mw.Clip:
    """A rod of 40 cm, swung from side to side in both hands."""
    swing = 0.15 * np.sin(np.linspace(0, 2 * np.pi, FRAMES))
    middle = np.stack([swing, 1.25 + 0.1 * np.cos(3 * swing / 0.15), np.full(FRAMES, 0.38)], axis=1)
    goals = {s: middle + np.array([0.2 * x, 0, 0]) for s, x in (("l", 1), ("r", -1))}
    return reaching(skeleton, skeleton.rest.broadcast_to((FRAMES,)).copy(), goals)


def broad(name: str, p: np.ndarray) -> np.ndarray:
    """Broad shoulders."""
    part, _, side = name.rpartition("_")
    legs = part in ("clavicle", "thigh", "calf", "foot", "ball")
    return p if legs or side not in "lr" else p + np.array([0.05 if side == "l" else -0.05, 0, 0])


def test_what_both_hands_hold_keeps_its_length(hero: mw.Character, monkeypatch: pytest.MonkeyPatch) -> None:
    bones, clip = rigs.body(SAME, place=broad, root="root"), swung(hero.skeleton)
    names = ("middle_01_l", "middle_01_r")
    wanted, *_ = (np.linalg.norm(np.diff(places(hero.skeleton, clip, *names), axis=1), axis=-1),)
    assert np.ptp(wanted) < 1e-3, "it is rigid in the source"
    held = mw.retarget(clip, onto=bones, contacts=True)
    monkeypatch.setattr(hand_contacts, "holding", lambda palms, *_: np.zeros(len(palms)))
    loose = mw.retarget(clip, onto=bones, contacts=True)
    far = [np.linalg.norm(np.diff(places(bones, c, *names), axis=1), axis=-1) for c in (held, loose)]
    off = [np.abs(f - wanted.mean()).max() for f in far]
    assert off[0] < 0.012 < 0.05 < off[1]


def test_only_hands_that_move_together_hold_something() -> None:
    """A rod that is swung is held from a moment after the hands take it; hands that hang beside a body, that swing against
    each other or that are too far apart hold nothing."""
    T = 90
    t = np.arange(T) / 30
    way = np.stack([0.2 * np.sin(3 * t), 1.2 + 0 * t, 0.4 + 0 * t], axis=1)
    side = np.array([[0.2, 0, 0], [-0.2, 0, 0]])
    palms = way[:, None] + side
    knuckles = palms + np.array([0, 0, 0.08])

    def held(p: np.ndarray) -> np.ndarray:
        return held_props.holding(p, p + np.array([0, 0, 0.08]), lambda: p, 1 / 30, 1.0)

    assert held(palms).min() == 1.0
    assert not held(palms * [0, 1, 1] + side).any(), "they do not move"
    assert not held(np.stack([palms[:, 0], palms[:, 1] - 2 * (palms[:, 1] - side[1])], axis=1)).any()
    assert not held(palms + 2 * side).any()
    late = palms.copy()
    late[:45, 1] -= (45 - np.arange(45))[:, None] / 45 * [0.3, 0.2, 0]
    found = held(late)
    assert not found[:38].any() and found[60:].min() == 1.0 and np.abs(np.diff(found)).max() < 0.5
    assert not held_props.holding(palms[:4], knuckles[:4], lambda: palms[:4], 1 / 30, 1.0).any()
