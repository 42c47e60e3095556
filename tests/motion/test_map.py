"""Bone maps: shown, saved, read back; and everything a person can get wrong in one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import rigs
from families import FAMILIES

import marrow as mw
from marrow.errors import MissingFileError
from marrow.motion import RetargetError, find_rig, map_bones


@pytest.fixture(scope="module")
def pair() -> tuple[mw.Skeleton, mw.Skeleton]:
    return rigs.body(FAMILIES["mixamo"]), rigs.body(FAMILIES["biped"])


def changed(pair: tuple[mw.Skeleton, mw.Skeleton], change) -> str:
    data = json.loads(map_bones(*pair).to_json())
    change(data["chains"])
    return json.dumps(data)


def test_a_map_is_read_back_as_it_was(pair, tmp_path: Path) -> None:
    bones = map_bones(*pair)
    bones.save(tmp_path / "map.json")
    again = mw.BoneMap.load(tmp_path / "map.json", *pair)
    assert again.chains == bones.chains
    assert "left_arm" in str(bones) and "mixamorig:LeftArm" in str(bones)
    assert repr(bones).startswith("BoneMap(")
    assert bones["hips"].source == (0,) and "tail" not in bones
    (tmp_path / "marked.json").write_bytes(b"\xef\xbb\xbf" + (tmp_path / "map.json").read_bytes())
    assert mw.BoneMap.load(tmp_path / "marked.json", *pair).chains == bones.chains


def test_a_map_given_by_hand_is_used(pair) -> None:
    """Left and right exchanged on purpose: the left arm does what the right one did."""
    clip = mw.retarget(mw.samples.mannequin().clips["wave"], onto=pair[0])
    straight = mw.retarget(clip, onto=pair[1])

    def swap(chains: dict) -> None:
        left, right = chains["left_arm"], chains["right_arm"]
        left["source"], right["source"] = right["source"], left["source"]

    crossed = mw.retarget(clip, onto=pair[1], map=json.loads(changed(pair, swap)))
    times = np.linspace(0.4, 1.5, 5)
    hand = pair[1].index("Bip01 L Hand")
    a, b = (pair[1].to_model(c.sample(times))[:, hand, 1, 3] for c in (straight, crossed))
    assert np.abs(a - b).max() > 0.1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda c: c["left_arm"].update(target=["Bip01 L Handle"]),
            "no joint called 'Bip01 L Handle'; did you mean 'Bip01 L Hand'",
        ),
        (lambda c: c["left_arm"].update(source=[]), "list of joint names"),
        (lambda c: c["left_arm"].update(source=7), "list of joint names"),
        (lambda c: c.update(left_arm=["x"]), "expected"),
        (lambda c: c["left_arm"].update(target=c["right_arm"]["target"]), "two chains"),
        (lambda c: c["left_arm"]["target"].reverse(), "is not below"),
        (lambda c: c["spine"].update(target=["Bip01 Spine", "Bip01 Spine"]), "two chains|is not below"),
        (lambda c: c.pop("hips"), "hips"),
        (lambda c: c["left_leg"].update(target=c["left_leg"]["target"][:2]), "whole of left_leg"),
        (lambda c: [c.pop(k) for k in list(c)], "at least one chain"),
    ],
)
def test_mistakes_in_a_map_are_named(pair, change, words: str) -> None:
    text = changed(pair, change)
    clip = mw.retarget(mw.samples.mannequin().clips["idle"], onto=pair[0])
    with pytest.raises(RetargetError, match=words):
        mw.retarget(clip, onto=pair[1], map=json.loads(text))


def test_chains_that_run_in_a_circle(pair) -> None:
    def circle(chains: dict) -> None:
        hips, head = chains["hips"], chains["head"]
        hips["target"], head["target"] = head["target"][-1:], hips["target"]

    with pytest.raises(RetargetError, match="circle"):
        mw.BoneMap.from_json(changed(pair, circle), *pair)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON"),
        ("[]", "no bone map"),
        ('{"format": "x"}', "no bone map"),
        ('{"format": "marrow bone map", "version": 9}', "version 9"),
        ('{"format": "marrow bone map", "version": 1}', "chains"),
    ],
)
def test_files_that_are_no_map(pair, text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "map.json").write_text(text)
    with pytest.raises(RetargetError, match=words) as error:
        mw.BoneMap.load(tmp_path / "map.json", *pair)
    assert "map.json" in str(error.value)
    with pytest.raises(MissingFileError, match="cannot be read"):
        mw.BoneMap.load(tmp_path / "none.json", *pair)


def test_a_map_for_other_skeletons_is_refused(pair) -> None:
    bones = map_bones(*pair)
    with pytest.raises(RetargetError, match="other skeletons"):
        mw.retarget(mw.samples.mannequin().clips["idle"], onto=pair[1], map=bones)


def test_two_left_hands_are_not_taken_for_a_right_one() -> None:
    """A right arm whose joints are all called left: the shape of the body says which is which."""
    names = dict(FAMILIES["unity"])
    for part in ("clavicle", "upperarm", "lowerarm", "hand"):
        names[f"{part}_r"] = f"{names[f'{part}_l']}_2"
    odd = rigs.body(names)
    clip = mw.samples.mannequin().clips["wave"]
    made = mw.retarget(clip, onto=odd)
    times = np.linspace(0, clip.duration, 5)
    a = mw.samples.mannequin().skeleton
    mine, theirs = a.to_model(clip.sample(times))[..., 3], odd.to_model(made.sample(times))[..., 3]
    right = odd.index(names["hand_r"])
    np.testing.assert_allclose(theirs[:, right], mine[:, a.index("hand_r")], atol=0.03)


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_joints_does_not_matter_where_only_the_shape_speaks(seed: int) -> None:
    lizard = rigs.reordered(mw.Character(mw.samples.lizard().skeleton), np.random.default_rng(seed)).skeleton
    assert find_rig(lizard).kind == "quadruped"
    body = rigs.body(FAMILIES["nothing"], axes=np.random.default_rng(seed), root="r")
    other = rigs.reordered(mw.Character(body), np.random.default_rng(seed)).skeleton
    found = [{part: [s.names[j] for j in c] for part, c in find_rig(s).chains.items()} for s in (body, other)]
    assert find_rig(other).complete and found[0] == found[1]
