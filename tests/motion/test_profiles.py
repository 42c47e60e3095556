"""Retarget profiles: what each setting does, how they are found, saved and read back, and hostile ones."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import rigs
from families import FAMILIES

import marrow as mw
from marrow.errors import FormatError, MissingFileError, ValidationError, WrongTypeError
from marrow.math import quaternion
from marrow.motion import ChainProfile, ClipProfile, ContactProfile, Retargeter, RetargetError, RetargetPose

TIMES = np.linspace(0.1, 0.9, 5)


@pytest.fixture(scope="module")
def hero() -> mw.Character:
    return mw.samples.mannequin()


@pytest.fixture(scope="module")
def other() -> mw.Skeleton:
    """Another rig with the joints of a 3ds Max Biped."""
    return rigs.body(FAMILIES["biped"])


def place(skeleton: mw.Skeleton, clip: mw.Clip, joint: str) -> np.ndarray:
    return skeleton.to_model(clip.sample(TIMES))[:, skeleton.index(joint), :, 3].astype(np.float64)


def longer(character: mw.Character, joints: dict[str, float]) -> mw.Skeleton:
    """Joints that many times as far from those they hang from."""
    old = character.skeleton
    offsets = old.rest.translation.copy()
    for name, factor in joints.items():
        offsets[old.index(name)] *= factor
    return rigs.resting_in(old, old.rest.replace(translation=offsets))


def made(clip: mw.Clip, onto, **profile) -> mw.Clip:
    return mw.retarget(clip, onto, profile=mw.RetargetProfile(**profile), contacts=False)


# -- the file ------------------------------------------------------------------------------------------------------
def full() -> mw.RetargetProfile:
    return mw.RetargetProfile(
        pose=RetargetPose(of="bind", turns_degrees={"upperarm_l": (0.0, 0.0, -12.5)}),
        chains={
            "left_arm": ChainProfile(fk=0.5, ik=0.25, stretch=0.05, pole_degrees=-30.0, pin="hand_r"),
            "tail": ChainProfile(joints=("tail_1", "tail_2")),
            "right_toes": ChainProfile(joints=()),
        },
        root="hips to root",
        contacts=False,
        hands=True,
        contact_weights=ContactProfile(feet=0.5),
        scale=1.5,
        morphs={"jawOpen": "mouth_open"},
        clips={"jump*": ClipProfile(root="travel", chains={"left_arm": ChainProfile(fk=1.0)})},
    )


def test_a_profile_is_read_back_as_it_was(tmp_path: Path, hero: mw.Character) -> None:
    for k, profile in enumerate((full(), mw.RetargetProfile(), mw.retarget_profile(hero))):
        profile.save(tmp_path / f"{k}.retarget.json")
        assert mw.RetargetProfile.load(tmp_path / f"{k}.retarget.json") == profile
        marked = b"\xef\xbb\xbf" + (tmp_path / f"{k}.retarget.json").read_bytes()
        assert mw.RetargetProfile.from_json(marked) == profile
    assert [f.name for f in tmp_path.iterdir() if f.name.startswith(".")] == []


def test_the_profile_of_a_character_names_the_chains_that_are_found(hero: mw.Character) -> None:
    found = mw.retarget_profile(hero)
    assert found.chains["left_arm"].joints == ("upperarm_l", "lowerarm_l", "hand_l")
    assert list(found.chains)[:2] == ["root", "hips"] and found.root == "travel"
    assert mw.retarget_profile(hero.skeleton).chains == found.chains


def test_the_profile_that_is_found_changes_nothing(hero: mw.Character, other: mw.Skeleton) -> None:
    clip = hero.clips["walk"]
    plain = mw.retarget(clip, other, source=hero)
    assert mw.retarget(clip, other, source=hero, profile=mw.retarget_profile(other)) == plain
    assert mw.retarget(clip, hero, source=hero, profile=mw.retarget_profile(hero)) == clip  # still a copy


WRONG = [
    (b"", "is not JSON"),
    (b"{", "is not JSON"),
    (b"\xff\xfe\x00", "is not JSON"),
    (b"[" * 100_000, "is not JSON"),
    (b"[]", "is no retarget profile"),
    (b'{"format": "marrow bone map", "version": 1}', "is no retarget profile"),
    ({"version": 2}, "version 2 is not known here"),
    ({"version": True}, "version True is not known here"),
    ({"version": "1"}, "version '1' is not known here"),
    ({"chain": {}}, "unknown field `chain`"),
    ({"chains": {"spine": {"fkk": 1}}}, "chains.*fkk"),
    ({"chains": {"spine": {"fk": 2}}}, "fk: Expected `float` <= 1.0"),
    ({"chains": {"spine": {"fk": "all"}}}, "fk: Expected `float"),
    ({"chains": {"spine": {"joints": "spine_01"}}}, "joints: Expected `array"),
    ({"chains": []}, "chains: Expected `object`"),
    ({"root": "home"}, "root: Invalid enum value 'home'"),
    ({"scale": 0}, "scale: Expected `float` > 0"),
    ({"pose": {"turns_degrees": {"head": [0, 0]}}}, "turns_degrees"),
    ({"clips": {"a": {"scale": 2}}}, "unknown field `scale`"),
]


@pytest.mark.parametrize(("data", "words"), WRONG)
def test_a_hostile_file_is_refused_in_words(data, words: str, tmp_path: Path) -> None:
    if isinstance(data, dict):
        data = json.dumps({"format": "marrow retarget profile", "version": 1, **data}).encode()
    (tmp_path / "bad.json").write_bytes(data)
    with pytest.raises(RetargetError, match=r"bad\.json: .*" + words):
        mw.RetargetProfile.load(tmp_path / "bad.json")


def test_files_that_are_none_are_refused(tmp_path: Path, hero: mw.Character) -> None:
    with pytest.raises(MissingFileError):
        mw.retarget(hero.clips["walk"], hero, profile=tmp_path / "none.json")
    with pytest.raises(FormatError):
        mw.RetargetProfile.load(tmp_path)
    (tmp_path / "long.json").write_bytes(b" " * (1 << 20) + b"{}")
    with pytest.raises(RetargetError, match="larger than 1 MiB"):
        mw.RetargetProfile.load(tmp_path / "long.json")
    with pytest.raises(WrongTypeError, match="profile: expected a RetargetProfile"):
        mw.retarget(hero.clips["walk"], hero, profile=3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        ({"chains": {"left_arm": ChainProfile(joints=("Bip01 L Upperarm", "elbow"))}}, "no joint called|did you mean"),
        ({"chains": {"left_arm": ChainProfile(pin="handle")}}, r"chains\.left_arm\.pin"),
        ({"chains": {"left_arm": ChainProfile(pin="Bip01 L Hand")}}, "cannot stay with itself"),
        ({"chains": {"spine": ChainProfile(ik=1.0)}}, "is for arms and legs"),
        ({"pose": RetargetPose(clip="idle")}, r"pose\.clip"),
        ({"pose": RetargetPose(of="bind")}, "no mesh is bound"),
        ({"pose": RetargetPose(turns_degrees={"arm": (0, 0, 0)})}, r"pose\.turns_degrees"),
    ],
)  # fmt: skip
def test_what_does_not_fit_the_character_is_refused(hero, other, profile, words: str) -> None:
    with pytest.raises(RetargetError, match=words):
        made(hero.clips["walk"], other, **profile)


@pytest.mark.parametrize(
    ("kind", "fields", "words"),
    [
        (ChainProfile, {"fk": 7.0}, "ChainProfile.fk: Expected `float` <= 1.0"),
        (ChainProfile, {"fk": float("nan")}, "ChainProfile.fk"),
        (ChainProfile, {"joints": "hand"}, "ChainProfile.joints"),
        (mw.RetargetProfile, {"chains": {"spine": 3}}, "RetargetProfile.chains"),
        (mw.RetargetProfile, {"root": "home"}, "RetargetProfile.root"),
        (RetargetPose, {"time": -1.0}, "RetargetPose.time"),
    ],
)
def test_wrong_values_are_told_where_they_are_given(kind, fields, words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        kind(**fields)
    assert ChainProfile(fk=np.float32(0.5), joints=["a", "b"]) == ChainProfile(fk=0.5, joints=("a", "b"))


# -- how it is found ------------------------------------------------------------------------------------------------
def test_a_profile_beside_the_file_is_used_and_told(hero: mw.Character, tmp_path: Path) -> None:
    mw.save(hero.replace(clips=[hero.clips["walk"]]), tmp_path / "hero.glb")
    body = mw.load(tmp_path / "hero.glb")
    mw.RetargetProfile(chains={"left_arm": ChainProfile(fk=0.0)}).save(tmp_path / "hero.retarget.json")
    tool = Retargeter(hero, body)
    arm = body.skeleton.index("upperarm_l")
    rest = body.skeleton.rest.rotation[arm]
    assert any("hero.retarget.json is used" in line.message for line in tool.report)
    assert (
        quaternion.angle(tool.retarget(hero.clips["walk"]).sample(TIMES).rotation[:, arm], rest).max() < 1e-3
    )
    without = mw.retarget(hero.clips["walk"], body, profile=None).sample(TIMES)
    assert quaternion.angle(without.rotation[:, arm], rest).max() > 0.1
    more = mw.load(tmp_path / "hero.glb", clips=[_saved(hero, tmp_path)]).clips["wave"].sample(TIMES)
    assert quaternion.angle(more.rotation[:, arm], rest).max() < 1e-3
    (tmp_path / "hero.retarget.json").write_text("{}")
    with pytest.raises(RetargetError, match=r"hero\.retarget\.json: is no retarget profile"):
        mw.retarget(hero.clips["walk"], body)


def _saved(hero: mw.Character, folder: Path) -> Path:
    mw.save(hero.replace(clips=[hero.clips["wave"]]), folder / "wave.glb")
    return folder / "wave.glb"


# -- what settings do ------------------------------------------------------------------------------------------------
def test_fk_takes_a_share_of_the_turning(hero: mw.Character, other: mw.Skeleton) -> None:
    clip = hero.clips["wave"]
    joint = other.index("Bip01 R UpperArm")
    rest = other.rest.rotation[joint]
    whole, half = (
        quaternion.angle(made(clip, other, chains={"right_arm": ChainProfile(fk=f)}).sample(TIMES).rotation[:, joint], rest)
        for f in (1.0, 0.5)
    )  # fmt: skip
    assert whole.max() > 0.2 and np.allclose(half, whole / 2, atol=2e-3)


def test_ik_brings_hands_to_where_the_source_has_them(hero: mw.Character) -> None:
    """On a body with forearms half as long again the hands are elsewhere; ik brings them back."""
    body = longer(hero, {"hand_l": 1.5, "hand_r": 1.5})
    clip = hero.clips["walk"]
    there = place(hero.skeleton, clip, "hand_l")
    off = np.linalg.norm(place(body, made(clip, body), "hand_l") - there, axis=-1)
    near = made(clip, body, chains={"left_arm": ChainProfile(ik=1.0)})
    assert off.min() > 0.05
    assert np.linalg.norm(place(body, near, "hand_l") - there, axis=-1).max() < 2e-3
    half = made(clip, body, chains={"left_arm": ChainProfile(ik=0.5)})
    assert np.allclose(np.linalg.norm(place(body, half, "hand_l") - there, axis=-1), off / 2, rtol=0.05)


def test_bones_are_longer_only_where_stretch_allows_it(hero: mw.Character) -> None:
    body = longer(hero, {"hand_l": 0.4, "lowerarm_l": 0.6})
    clip = hero.clips["walk"]
    rest = np.linalg.norm(body.rest.translation[body.index("hand_l")])
    lengths = [
        np.linalg.norm(c.sample(TIMES).translation[:, body.index("hand_l")], axis=-1).max() / rest
        for c in (
            made(clip, body, chains={"left_arm": ChainProfile(ik=1.0)}),
            made(clip, body, chains={"left_arm": ChainProfile(ik=1.0, stretch=0.2)}),
        )
    ]
    assert np.allclose(lengths, [1.0, 1.2], atol=1e-4)


def test_a_pole_turns_the_elbow_and_leaves_the_hand(hero: mw.Character, other: mw.Skeleton) -> None:
    clip = hero.clips["run"]
    plain, turned = (
        made(clip, other, chains={} if angle is None else {"left_arm": ChainProfile(pole_degrees=angle)})
        for angle in (None, 40.0)
    )
    hands = [place(other, c, "Bip01 L Hand") for c in (plain, turned)]
    elbows = [place(other, c, "Bip01 L Forearm") for c in (plain, turned)]
    assert np.abs(hands[0] - hands[1]).max() < 1e-4
    upper = place(other, plain, "Bip01 L UpperArm")
    line = hands[0] - upper
    line /= np.linalg.norm(line, axis=-1, keepdims=True)
    a, b = (e - upper - line * ((e - upper) * line).sum(-1, keepdims=True) for e in elbows)
    angle = np.degrees(np.arctan2((np.cross(a, b) * line).sum(-1), (a * b).sum(-1)))
    assert np.allclose(angle, 40.0, atol=0.5)
    assert (elbows[1][:, 0] > elbows[0][:, 0]).all()  # to the left of the body: outwards


def test_a_pin_keeps_a_hand_with_another_joint(hero: mw.Character, other: mw.Skeleton) -> None:
    """The left hand stays where it rests, seen from the pelvis."""
    pinned = made(
        hero.clips["wave"], other, chains={"left_arm": ChainProfile(pin="Bip01 Pelvis", stretch=0.2)}
    )
    model = other.to_model(pinned.sample(TIMES)).astype(np.float64)
    hips, hand = other.index("Bip01 Pelvis"), other.index("Bip01 L Hand")
    seen = np.einsum("tji,tj->ti", model[:, hips, :, :3], model[:, hand, :, 3] - model[:, hips, :, 3])
    rest = other.rest_model.astype(np.float64)
    wanted = rest[hips, :, :3].T @ (rest[hand, :, 3] - rest[hips, :, 3])
    assert np.abs(seen - wanted).max() < 1e-3


def test_a_retarget_pose_turns_what_is_compared(hero: mw.Character, other: mw.Skeleton) -> None:
    """Seen as a body whose left arm rests 20 degrees lower, each pose has that arm higher by as much."""
    clip = hero.clips["idle"]
    plain = made(clip, other)
    posed = made(clip, other, pose=RetargetPose(turns_degrees={"Bip01 L UpperArm": (0.0, 0.0, -20.0)}))
    arm = [place(other, c, "Bip01 L Forearm") - place(other, c, "Bip01 L UpperArm") for c in (plain, posed)]
    cosine = (arm[0] * arm[1]).sum(-1) / np.prod([np.linalg.norm(a, axis=-1) for a in arm], axis=0)
    assert (
        np.degrees(np.arccos(np.clip(cosine, -1, 1))).max() < 0.1
    )  # limbs go by their direction, whatever rests how
    twisted = made(clip, other, pose=RetargetPose(turns_degrees={"Bip01 Head": (0.0, 30.0, 0.0)}))
    j = other.index("Bip01 Head")
    turn = quaternion.angle(plain.sample(TIMES).rotation[:, j], twisted.sample(TIMES).rotation[:, j])
    assert np.allclose(np.degrees(turn), 30.0, atol=0.05)


@pytest.mark.parametrize("mode", ["in place", "hips to root"])
def test_the_root_mode_says_where_the_way_goes(hero: mw.Character, mode: str) -> None:
    """A body with a root over its hips, onto which the motion of hips without one goes."""
    walker = hero.replace(clips=[hero.clips["walk"].with_travel((0.0, 0.0, 1.2))])
    clip = mw.retarget(walker.clips["walk"], rigs.body(FAMILIES["mixamo"]))  # its hips travel
    target = hero.skeleton
    plain, other = made(clip, target), made(clip, target, root=mode)
    hips = [place(target, c, "pelvis") for c in (plain, other)]
    root = place(target, other, "root")
    way = hips[0][-1, 2] - hips[0][0, 2]
    assert way > 0.5
    if mode == "in place":
        assert abs(hips[1][-1, 2] - hips[1][0, 2]) < 0.1 * way
    else:
        assert np.abs(hips[0] - hips[1]).max() < 1e-4
        assert np.allclose(root[:, 2] - root[0, 2], hips[0][:, 2] - hips[0][0, 2], atol=1e-4)
        with pytest.raises(RetargetError, match="needs a joint above the hips"):
            made(clip, rigs.body(FAMILIES["mixamo"]), root=mode)


def test_clips_may_be_otherwise(hero: mw.Character, other: mw.Skeleton) -> None:
    profile = mw.RetargetProfile(
        chains={"right_arm": ChainProfile(fk=0.0)},
        clips={"wa*": ClipProfile(chains={"right_arm": ChainProfile(fk=1.0)}, contacts=False)},
    )
    plain = mw.retarget(hero.clips["wave"], other, profile=None, contacts=False)
    assert mw.retarget(hero.clips["wave"], other, profile=profile) == plain
    still = mw.retarget(hero.clips["idle"], other, profile=profile).sample(TIMES)
    joint = other.index("Bip01 R UpperArm")
    assert quaternion.angle(still.rotation[:, joint], other.rest.rotation[joint]).max() < 1e-3


def test_contacts_are_kept_as_much_as_the_profile_says(hero: mw.Character) -> None:
    body = longer(hero, {"calf_l": 0.8, "calf_r": 0.8})
    clip = hero.clips["walk"]
    free = place(body, made(clip, body), "foot_l")
    off = []
    for feet in (1.0, 0.0):
        weights = ContactProfile(feet=feet, hands=0.0, body=0.0)
        kept = mw.retarget(clip, body, profile=mw.RetargetProfile(contact_weights=weights))
        off.append(np.abs(place(body, kept, "foot_l") - free).max())
    assert off[0] > 0.005 and off[1] < 1e-4


def test_chains_of_the_profile_are_those_that_move(hero: mw.Character, other: mw.Skeleton) -> None:
    profile = mw.RetargetProfile(chains={"left_index": ChainProfile(joints=())})
    tool = Retargeter(hero, other, profile=profile)
    assert "left_index" not in tool.map and "left_middle" in tool.map
    arms = {side: mw.retarget_profile(other).chains[f"{side}_arm"] for side in ("left", "right")}
    crossed = mw.RetargetProfile(chains={"left_arm": arms["right"], "right_arm": arms["left"]})
    bones = Retargeter(hero, other, profile=crossed).map
    assert bones["left_arm"].target == tuple(other.index(n) for n in arms["right"].joints or ())


def test_morphs_go_by_the_names_of_the_profile() -> None:
    face = mw.Skeleton(("root",), (-1,), morph_names=("mouth_open",))
    theirs = mw.Skeleton(("root",), (-1,), morph_names=("jawOpen",))
    poses = theirs.rest.broadcast_to((2,)).copy()
    poses.morphs[1] = 0.75
    clip = mw.Clip.from_poses("talk", theirs, poses, 1.0)
    assert not len(mw.retarget(clip, face).tracks)
    named = mw.retarget(clip, face, profile=mw.RetargetProfile(morphs={"jawOpen": "mouth_open"}))
    assert named.sample(1.0).morphs.tolist() == [0.75]


def test_a_tail_that_the_profile_names_is_paired(hero: mw.Character) -> None:
    """Tails of other names and counts."""
    source, target = (
        rigs.with_joints(
            hero.skeleton,
            {name: (above, "head", -0.1) for above, name in zip(("pelvis", *names), names)},
        )
        for names in (("tail_a", "tail_b"), ("fluff1", "fluff2", "fluff3"))
    )
    said = mw.RetargetProfile(chains={"tail": ChainProfile(joints=("fluff1", "fluff2", "fluff3"))})
    assert "tail" not in Retargeter(source, target).map
    bones = Retargeter(source, target, profile=said).map  # the other's tail is found by its name
    assert bones["tail"].source == (source.index("tail_a"), source.index("tail_b"))


def test_an_arm_may_lack_its_hand_on_one_side(hero: mw.Character, other: mw.Skeleton) -> None:
    """Named by a profile, from both sides: feet are planted, hands are not brought anywhere."""
    there = mw.retarget(hero.clips["walk"], other)
    for arm in ("left", "right"):
        joints = tuple(f"{part}_{arm[0]}" for part in ("upperarm", "lowerarm"))
        profile = mw.RetargetProfile(chains={f"{arm}_arm": ChainProfile(joints=joints)})
        clip = mw.retarget(there, hero, profile=profile, contacts=True)
        assert np.isfinite(hero.skeleton.to_model(clip.sample(TIMES))).all()


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ({"chains": {"spine": {"fk": 1}, "left_arm": {"fk": 2}}}, r"chains\.left_arm\.fk: Expected"),
        ({"chains": {"head": {}, "spine": {"bones": []}}}, r"chains\.spine: .*unknown field `bones`"),
        ({"clips": {"a": {}, "climb*": {"chains": {"left_arm": {"ik": -1}}}}}, r"clips\.climb\*\.chains\.left_arm\.ik:"),
        ({"pose": {"turns_degrees": {"a": [0, 0, 0], "b": [0, None, 0]}}}, r"pose\.turns_degrees\.b\[1\]: Expected"),
        ({"morphs": {"a": "b", "c": 1}}, r"morphs\.c: Expected `str`"),
        ({"clips": {"*": {"chains": {"tail": {"joints": []}}}}}, r"clips\.\*: .*joints.* the same for all clips"),
        ({"pose": {"time": 1.0}}, r"pose: .*time.* name the clip"),
        ({"pose": {"of": "bind", "clip": "walk"}}, r"pose: .*`of` or `clip`"),
    ],
)  # fmt: skip
def test_errors_name_the_place_in_the_file(said: dict, place: str) -> None:
    data = {"format": "marrow retarget profile", "version": 1, **said}
    with pytest.raises(RetargetError, match=r"^hero\.json: " + place):
        mw.RetargetProfile.from_json(json.dumps(data), place="hero.json")
