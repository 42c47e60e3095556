"""What an error is besides a `MarrowError`: the kind that a caller who knows Python expects."""

import pickle

import numpy as np
import pytest

import marrow as mw
from marrow.errors import FormatError, MissingFileError, UnknownNameError, WrongTypeError
from marrow.graph import Graph, load_graph, save_graph

BONES = mw.Skeleton(("hips", "spine"), [-1, 0])
HERO = mw.Character(BONES)


@pytest.mark.parametrize(
    "call",
    [
        lambda away: mw.load(away / "hero.glb"),
        lambda away: mw.load(away / "hero.usda"),
        lambda away: load_graph(away / "walk.json"),
        lambda away: mw.BoneMap.load(away / "map.json", BONES, BONES),
        lambda away: mw.retarget(mw.Clip("c", BONES, duration=1.0), HERO, map=away / "map.json"),
        lambda away: mw.render(away / "hero.glb"),
        lambda away: mw.render_video(away / "hero.glb", away / "hero.gif"),
        lambda away: mw.dataset.build([away / "walk.bvh"], away.parent / "out"),
        lambda away: mw.dataset.open(away),
        lambda away: mw.save(HERO, away / "nowhere" / "hero.glb"),
        lambda away: save_graph(Graph("walk"), away / "nowhere" / "walk.json"),
        lambda away: mw.VideoWriter(away / "nowhere" / "walk.gif", (64, 64)).__enter__(),
    ],
    ids=["load", "usd", "graph", "map", "retarget", "render", "video_of", "build", "dataset", "save", "graph out", "video"],
)  # fmt: skip
def test_a_missing_file_is_a_file_not_found_error(tmp_path, call):
    away = tmp_path / "not there"
    with pytest.raises(FileNotFoundError) as caught:
        call(away)
    assert isinstance(caught.value, mw.MarrowError)
    assert "not there" in str(caught.value) and "[Errno" not in str(caught.value)
    assert caught.value.errno == 2 and "not there" in caught.value.filename


def test_a_missing_file_is_told_apart_from_a_damaged_one(tmp_path):
    (tmp_path / "hero.glb").write_bytes(b"glTF, but no more")
    with pytest.raises(FormatError) as caught:
        mw.load(tmp_path / "hero.glb", cache=False)
    assert not isinstance(caught.value, FileNotFoundError)


@pytest.mark.parametrize(
    "call",
    [
        lambda: mw.Event("foot_l", 0.2),
        lambda: mw.Character("hero"),
        lambda: mw.Skeleton(("a",), ["b"]),
        lambda: mw.skin("hero", BONES.rest),
        lambda: mw.Animator("hero"),
        lambda: mw.load(3),
        lambda: mw.retarget("walk", HERO),
        lambda: mw.Clip("c", BONES, duration="long"),
        lambda: load_graph(None),
        lambda: mw.render(3),
        lambda: mw.Graph(3) and mw.Animator(HERO, 3),
    ],
)
def test_a_thing_of_the_wrong_type_is_a_type_error_and_a_value_error(call):
    """Code that was written against either catches it."""
    with pytest.raises(TypeError) as caught:
        call()
    assert isinstance(caught.value, (WrongTypeError, ValueError)) and isinstance(caught.value, mw.MarrowError)


def test_a_value_of_the_right_type_is_no_type_error():
    with pytest.raises(ValueError, match="more than 0") as caught:
        mw.Clip("c", BONES, duration=1.0).resampled(rate=-1.0)
    assert not isinstance(caught.value, TypeError)


def test_motion_that_cannot_be_put_on_a_character_is_a_value_error():
    nothing = mw.Character(mw.Skeleton(("prop",), [-1]))
    with pytest.raises(ValueError, match=r"share|body|joint"):
        mw.retarget(mw.Clip("c", BONES, duration=1.0), nothing)


def test_a_missing_file_keeps_its_name_in_another_process():
    error = MissingFileError("no such file", path="a b.glb", remedy="look again")
    again = pickle.loads(pickle.dumps(error))
    assert (again.errno, again.filename, str(again)) == (error.errno, "a b.glb", str(error))


def test_an_unknown_name_is_a_key_error_that_reads_as_a_sentence():
    with pytest.raises(KeyError) as caught:
        HERO.clips["walk"]
    assert str(caught.value) == "there is no clip called 'walk'; there are none"


def test_numbers_of_numpy_are_numbers():
    assert mw.Event(np.float32(0.5), "hit").time == 0.5


@pytest.mark.parametrize(
    ("typed", "near"),
    [("Wlak", "'Walking_A' or 'Walking_B'"), ("Run", "'Running_A'"), ("chop", "'1H_Melee_Attack_Chop'")],
)
def test_a_name_that_is_like_a_part_of_others_gets_those(typed, near):
    names = [
        "1H_Melee_Attack_Chop",
        "Death_A",
        "Idle",
        "Running_A",
        "T-Pose",
        "Walking_A",
        "Walking_B",
        "Cheer",
    ]
    assert f"did you mean {near}?" in str(UnknownNameError("clip", typed, names))


def test_a_long_list_of_names_is_cut_after_a_dozen():
    text = str(UnknownNameError("clip", "zzz", [f"clip{k:02}" for k in range(76)]))
    assert text.endswith("clip10, clip11, ... (76 in all)")


def test_a_controller_of_a_files_name_is_refused_with_the_call_that_loads_it():
    with pytest.raises(WrongTypeError, match=r"got 'hero.glb'; mw.load\('hero.glb'\) makes one"):
        mw.Controller("hero.glb")  # type: ignore[arg-type]
