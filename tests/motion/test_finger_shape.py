"""Fingers of hands whose joint names say nothing, and joints that only lead to others."""

from __future__ import annotations

import numpy as np
import pytest
from rigs import PARTS, body

import marrow as mw
from marrow.motion.rig import FINGERS, find_rig

WORDS = ("thumb", "index", "middle", "ring", "pinky")


def nameless(parts: tuple[str, ...]) -> tuple[mw.Skeleton, dict[str, int]]:
    names = {part: f"j{k}" for k, part in enumerate(parts)}
    skeleton = body(names)
    return skeleton, {part: skeleton.index(name) for part, name in names.items()}


def test_fingers_are_found_by_shape() -> None:
    skeleton, at = nameless(PARTS)
    rig = find_rig(skeleton)
    assert rig.by == "structure" and rig.complete
    for side in ("left", "right"):
        letter = next(s for s in "lr" if rig.joint(f"{side}_arm") == at[f"upperarm_{s}"])
        for finger, word in zip(FINGERS, WORDS):
            assert rig.chains[f"{side}_{finger}"] == tuple(at[f"{word}_0{k}_{letter}"] for k in (1, 2, 3))


@pytest.mark.parametrize("left_out", [("pinky",), ("pinky", "ring")])
def test_hands_with_fewer_fingers_have_a_thumb_and_an_index(left_out: tuple[str, ...]) -> None:
    skeleton, at = nameless(tuple(p for p in PARTS if not p.startswith(left_out)))
    rig = find_rig(skeleton)
    letter = next(s for s in "lr" if rig.joint("left_arm") == at[f"upperarm_{s}"])
    for finger, word in (("thumb", "thumb"), ("index", "index"), ("middle", "middle")):
        assert rig.chains[f"left_{finger}"][0] == at[f"{word}_01_{letter}"]


def test_fingers_found_by_shape_bend_with_the_motion() -> None:
    hero = mw.samples.mannequin()
    skeleton, at = nameless(PARTS)
    made = mw.retarget(hero.clips["attack"], skeleton, contacts=False)
    times = np.linspace(0.0, made.duration, 9)
    for part in ("index_02_l", "pinky_01_r", "thumb_02_l"):
        own = np.asarray(made.sample(times).rotation[:, at[part]], np.float64)
        theirs = hero.clips["attack"].sample(times).rotation[:, hero.skeleton.index(part)].astype(np.float64)

        def bent(q: np.ndarray) -> np.ndarray:
            return 2 * np.arccos(np.clip(np.abs((q * q[0]).sum(axis=-1)), 0, 1))

        np.testing.assert_allclose(bent(own), bent(theirs), atol=0.02)


def test_a_joint_that_only_leads_to_another_of_its_name_is_none_of_the_body() -> None:
    """MakeHuman puts `__UpLeg_L` between the hips and `UpLeg_L`."""
    names = {p: p for p in PARTS}
    names |= {f"thigh_{s}": (f"__UpLeg_{s.upper()}", f"UpLeg_{s.upper()}") for s in "lr"}  # type: ignore[misc]
    skeleton = body(names)
    rig = find_rig(skeleton)
    assert skeleton.names[rig.joint("left_leg")] == "UpLeg_L"
    assert skeleton.names[rig.joint("right_leg")] == "UpLeg_R"
