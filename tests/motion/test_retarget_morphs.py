"""Morph curves on another rig: channels are found by name, whatever their number and order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import rigs

import marrow as mw
from marrow import dataset
from marrow.cli.app import run
from marrow.motion import Retargeter

JOINTS = {part: part for part in rigs.PARTS if "0" not in part}
TIMES = np.array([0.0, 0.25, 1.0], np.float32)
SMILE = np.array([[0.0], [1.0], [0.5]], np.float32)
BLINK = np.array([[[0.0], [0.2], [4.0]], [[-1.0], [0.9], [-1.0]], [[0.0], [0.1], [0.0]]], np.float32)


def with_morphs(skeleton: mw.Skeleton, names: tuple[str, ...], rest: float = 0.0) -> mw.Skeleton:
    pose = replace(skeleton.rest, morphs=np.full(len(names), rest, np.float32))
    return mw.Skeleton(skeleton.names, skeleton.parents, pose, morph_names=names)


@pytest.fixture(scope="module")
def actor() -> mw.Character:
    """A body that turns its head, smiles (linear keys) and blinks (cubic ones)."""
    skeleton = with_morphs(rigs.body(JOINTS), ("brow", "smile", "blink"))
    turn = np.array([[0, 0, 0, 1], [0, 0.5, 0, 0.75**0.5], [0, 0, 0, 1]], np.float32)
    clip = mw.Clip(
        "talk",
        skeleton,
        (
            mw.Track(skeleton.index("head"), "rotation", TIMES, turn),
            mw.Track(1, "morph", TIMES, SMILE),
            mw.Track(2, "morph", TIMES, BLINK, "cubic"),
        ),
    )
    return mw.Character(skeleton, clips=[clip], name="actor")


def target(*morphs: str, rest: float = 0.0) -> mw.Character:
    """The same body with other axes, so that it is another rig."""
    body = rigs.body(JOINTS, axes=np.random.default_rng(5))
    return mw.Character(with_morphs(body, morphs, rest), name="target")


def morph_tracks(clip: mw.Clip) -> dict[str, mw.Track]:
    found = [t for t in clip.tracks if t.path == "morph"]
    names = [clip.skeleton.morph_names[t.target] for t in found]
    assert len(set(names)) == len(names), "one track a channel"
    return dict(zip(names, found))


@pytest.mark.parametrize(
    "morphs",
    [("brow", "smile", "blink"), ("blink", "x", "smile", "y", "z"), ("rig:Blink", "rig:Smile"), ("smile",)],
    ids=["same", "more", "namespace", "one"],
)
def test_keys_of_a_shared_morph_go_across_as_they_are(actor: mw.Character, morphs: tuple[str, ...]) -> None:
    other = target(*morphs)
    tool = Retargeter(actor, other)
    made = tool.retarget(actor.clips["talk"])
    assert not tool.exact
    assert any(t.path == "rotation" for t in made.tracks)
    tracks = morph_tracks(made)
    assert set(tracks) == set(morphs) & {"smile", "blink", "rig:Smile", "rig:Blink"}
    for name, track in tracks.items():
        wanted, how = (SMILE, "linear") if name.lower().endswith("smile") else (BLINK, "cubic")
        np.testing.assert_array_equal(track.times, TIMES)
        np.testing.assert_array_equal(track.values, wanted)
        assert track.interpolation == how
    lost = [line for line in tool.report if "morphs do not exist here" in line.message]
    assert [line.message.rpartition(": ")[2] for line in lost] == (["blink"] if morphs == ("smile",) else [])


def test_a_morph_that_is_not_there_is_a_line(actor: mw.Character) -> None:
    tool = Retargeter(actor, target("jaw"))
    assert not morph_tracks(tool.retarget(actor.clips["talk"]))
    (line,) = [line for line in tool.report if "morphs" in line.message]
    assert (line.kind, line.message) == ("dropped", "2 morphs do not exist here: smile, blink")


@pytest.mark.parametrize("same", [False, True], ids=["other rig", "same rig"])
def test_two_channels_of_one_name_give_one_track_and_a_line(actor: mw.Character, same: bool) -> None:
    skeleton = with_morphs(actor.skeleton, ("a:smile", "b:smile"))
    head = actor.clips["talk"].tracks[0]
    clip = mw.Clip(
        "both",
        skeleton,
        (head, mw.Track(0, "morph", TIMES, SMILE), mw.Track(1, "morph", TIMES, 1 - SMILE)),
    )
    onto = mw.Character(with_morphs(actor.skeleton, ("smile",))) if same else target("smile")
    tool = Retargeter(skeleton, onto)
    assert tool.exact is same
    tracks = morph_tracks(tool.retarget(clip))
    np.testing.assert_array_equal(tracks["smile"].values, SMILE)
    assert any("b:smile" in line.message and line.kind == "dropped" for line in tool.report)


def test_a_clip_of_the_same_joints_with_other_morphs_goes_by_its_own_names(actor: mw.Character) -> None:
    skeleton = with_morphs(actor.skeleton, ("u", "v", "w", "x", "smile"))
    clip = mw.Clip("far", skeleton, (actor.clips["talk"].tracks[0], mw.Track(4, "morph", TIMES, SMILE)))
    made = Retargeter(actor, target("smile")).retarget(clip)
    np.testing.assert_array_equal(morph_tracks(made)["smile"].values, SMILE)


def test_a_difference_of_a_morph_stays_that_difference(actor: mw.Character) -> None:
    skeleton = with_morphs(actor.skeleton, ("smile",), rest=0.25)
    head = actor.clips["talk"].tracks[0]
    clip = mw.Clip("more", skeleton, (head, mw.Track(0, "morph", TIMES, 0.5 * SMILE)), additive=True)
    made = mw.retarget(clip, onto=target("x", "smile", rest=0.75))
    assert made.additive
    np.testing.assert_allclose(made.sample(TIMES).morphs, np.hstack([0 * SMILE, 0.5 * SMILE]), atol=1e-6)


def test_every_way_to_another_rig_keeps_the_curve(
    actor: mw.Character, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    motion, character = tmp_path / "in" / "actor.marrow", tmp_path / "target.marrow"
    motion.parent.mkdir()
    mw.save(actor, motion)
    mw.save(target("x", "smile"), character)

    assert run(["retarget", str(motion), str(character), "-o", str(tmp_path / "a.marrow")]) == 0
    assert "1 morphs do not exist here: blink" in capsys.readouterr().err
    out = str(tmp_path / "b.marrow")
    assert run(["convert", str(character), out, "--clips-from", str(motion)]) == 0
    for name in "ab":
        (clip,) = mw.load(tmp_path / f"{name}.marrow", cache=False).clips.values()
        np.testing.assert_array_equal(morph_tracks(clip)["smile"].values, SMILE)
    loaded = mw.load(character, clips=motion, cache=False)
    assert any("morphs do not exist here: blink" in line.message for line in loaded.report)

    made = dataset.build(
        str(motion.parent),
        tmp_path / "out",
        character=str(character),
        features=("morphs", "rotations"),
        rate=4.0,
        workers=0,
        split=1,
    )
    (row,) = made["train"]
    np.testing.assert_allclose(row["morphs"][:, 1], [0.0, 1.0, 5 / 6, 2 / 3, 0.5], atol=1e-6)
    assert any("blink" in line for source in made.sources() for line in source.get("report", ()))
