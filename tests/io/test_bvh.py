"""BVH: every dialect in, joint positions out."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import marrow as mw
from marrow.errors import FormatError, MarrowError, ResourceLimitError, UnknownNameError, ValidationError
from marrow.io import bvh
from marrow.io.source import LoadOptions, Source
from marrow.math import quaternion
from surroundings import repeats

ARM = """HIERARCHY
ROOT hips
{
  OFFSET 0 1 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT arm
  {
    OFFSET 2 0 0
    CHANNELS 3 Yrotation Xrotation Zrotation
    End Site
    {
      OFFSET 0 3 0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.5
1 2 3 0 0 0 0 0 0
4 5 6 90 0 0 0 0 90
"""


def read(text: str | bytes, **options) -> mw.Character:
    data = text.encode() if isinstance(text, str) else text
    return bvh.read(Source(Path("take.bvh"), data), LoadOptions(**options))


def positions(character: mw.Character, time: float, clip: str | int = 0) -> dict[str, np.ndarray]:
    model = character.skeleton.to_model(character.clips[clip].sample(time))
    return dict(zip(character.skeleton.names, model[:, :, 3]))


def test_rest_pose_is_the_offsets_without_rotation():
    skeleton = read(ARM).skeleton
    assert skeleton.names == ("hips", "arm", "arm_end")
    assert skeleton.parents.tolist() == [-1, 0, 1]
    assert skeleton.rest.translation.tolist() == [[0, 1, 0], [2, 0, 0], [0, 3, 0]]
    assert skeleton.rest.rotation.tolist() == [[0, 0, 0, 1]] * 3


def test_motion_is_one_clip_with_a_key_per_frame():
    character = read(ARM)
    clip = character.clips["clip_0"]
    assert clip.duration == 0.5
    assert clip.rate == 2
    keyed = {(character.skeleton.names[t.target], t.path): t for t in clip.tracks}
    assert set(keyed) == {("hips", "translation"), ("hips", "rotation"), ("arm", "rotation")}
    assert keyed["hips", "translation"].values.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert keyed["arm", "rotation"].times.tolist() == [0, 0.5]


def test_position_channels_take_the_place_of_the_offset_and_degrees_become_radians():
    at_rest, turned = positions(read(ARM), 0), positions(read(ARM), 0.5)
    np.testing.assert_allclose(at_rest["hips"], [1, 2, 3], atol=1e-6)
    np.testing.assert_allclose(at_rest["arm_end"], [3, 5, 3], atol=1e-6)
    # 90 degrees about Z turns +X to +Y; the arm's own 90 turn its end from +Y to -X, seen from the hips to -Y
    np.testing.assert_allclose(turned["arm"], [4, 7, 6], atol=1e-6)
    np.testing.assert_allclose(turned["arm_end"], [4, 4, 6], atol=1e-6)


def test_rotation_channels_apply_in_the_order_they_are_written():
    def end(order: str) -> np.ndarray:
        text = f"""HIERARCHY ROOT a {{ OFFSET 0 0 0 CHANNELS 3 {order} End Site {{ OFFSET 0 0 1 }} }}
        MOTION Frames: 1 Frame Time: 1 90 90 0"""
        return positions(read(text.replace("MOTION", "\nMOTION")), 0)["a_end"]

    # X(90) Y(90): +Z -> +X -> +X;   Y(90) X(90): +Z -> -Y -> -Y
    np.testing.assert_allclose(end("Xrotation Yrotation Zrotation"), [1, 0, 0], atol=1e-6)
    np.testing.assert_allclose(end("Yrotation Xrotation Zrotation"), [0, -1, 0], atol=1e-6)


@settings(max_examples=repeats(60), deadline=None)
@given(
    st.text("XYZ", min_size=1, max_size=4),
    st.lists(st.floats(-720, 720, allow_subnormal=False), min_size=4, max_size=4),
)
def test_any_chain_of_rotations_is_the_product_of_its_turns(order, degrees):
    def turn(axis: str, angle: float) -> np.ndarray:
        i = "XYZ".index(axis)
        j, k = (i + 1) % 3, (i + 2) % 3
        m = np.eye(3)
        m[j, j] = m[k, k] = np.cos(angle)
        m[k, j], m[j, k] = np.sin(angle), -np.sin(angle)
        return m

    channels = " ".join(f"{axis}rotation" for axis in order)
    used = degrees[: len(order)]
    character = read(
        f"HIERARCHY\nROOT a {{ OFFSET 0 0 0 CHANNELS {len(order)} {channels} }}\n"
        f"MOTION\nFrames: 1\nFrame Time: 1\n{' '.join(map(repr, used))}\n"
    )
    expected = np.eye(3)
    for axis, angle in zip(order, np.deg2rad(used)):
        expected = expected @ turn(axis, angle)
    rotation = character.clips[0].tracks[0].values[0].astype(np.float64)
    np.testing.assert_allclose(quaternion.to_matrix(rotation), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("channels", "values", "end"),
    [
        ("0", "", None),
        ("1 Yrotation", "90", [1, 0, 0]),
        ("2 Xrotation Yrotation", "90 0", [0, -1, 0]),
        ("6 Zrotation Xrotation Yrotation Zposition Xposition Yposition", "0 0 90 30 10 20", [11, 20, 30]),
        ("1 Yposition", "7", [5, 7, 1]),
        ("3 Xscale Yscale Zscale", "2 2 2", [5, 0, 2]),
    ],
)
def test_any_number_and_mix_of_channels(channels, values, end):
    offset = "5 0 0" if end and end[0] == 5 else "0 0 0"
    text = f"""HIERARCHY
ROOT base {{ OFFSET 0 0 0 CHANNELS 1 Xrotation
JOINT a {{ OFFSET {offset} CHANNELS {channels} End Site {{ OFFSET 0 0 1 }} }} }}
MOTION
Frames: 1
Frame Time: 0.1
0 {values}
"""
    character = read(text)
    tracked = {t.target for t in character.clips[0].tracks}
    assert tracked == ({0} if end is None else {0, 1})
    np.testing.assert_allclose(positions(character, 0)["a_end"], end or [0, 0, 1], atol=1e-6)


def test_several_roots_and_end_sites_keep_their_own_names():
    text = """HIERARCHY
ROOT left { OFFSET -1 0 0 CHANNELS 0 End Site { OFFSET 0 1 0 } End Site { OFFSET 0 2 0 } }
ROOT right { OFFSET 1 0 0 CHANNELS 3 Xrotation Yrotation Zrotation }
MOTION
Frames: 1
Frame Time: 0.1
0 0 0
"""
    skeleton = read(text).skeleton
    assert skeleton.names == ("left", "left_end", "left_end_2", "right")
    assert skeleton.roots == (0, 3)


def test_scale_applies_to_offsets_and_positions_only():
    character = read(ARM, scale=0.01)
    np.testing.assert_allclose(character.skeleton.rest.translation[1], [0.02, 0, 0], rtol=1e-6)
    np.testing.assert_allclose(positions(character, 0.5)["arm_end"], [0.04, 0.04, 0.06], atol=1e-8)


@pytest.mark.parametrize("ending", ["\r\n", "\r", "\n\n"])
def test_line_endings_do_not_matter(ending):
    assert (
        positions(read(ARM.replace("\n", ending)), 0.5)["arm"].tolist()
        == positions(read(ARM), 0.5)["arm"].tolist()
    )


def test_names_may_hold_spaces_colons_and_any_script():
    text = ARM.replace("hips", "mixamorig:Hüfte 1").replace("JOINT arm", "JOINT  腕")
    assert read(text).skeleton.names == ("mixamorig:Hüfte 1", "腕", "腕_end")
    assert read(text.replace("腕", "arm").encode("latin-1")).skeleton.names[0] == "mixamorig:Hüfte 1"


def test_a_skeleton_without_motion_loads_and_says_so():
    character = read(ARM.split("MOTION")[0])
    assert len(character.skeleton) == 3
    assert len(character.clips) == 0
    assert "no motion" in str(character.report)


def test_empty_motion_is_left_out_and_reported():
    character = read(ARM.split("Frames")[0] + "Frames: 0\nFrame Time: 0.1\n")
    assert len(character.clips) == 0
    assert "left out" in str(character.report)


def test_numbers_past_the_last_frame_are_reported():
    character = read(ARM + "1 2 3\n")
    assert "3 numbers after the last" in str(character.report)
    assert read(ARM + "# made by hand\n").clips[0].duration == 0.5


def test_repeated_names_are_reported():
    assert "more than once: hips" in str(read(ARM.replace("JOINT arm", "JOINT hips")).report)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "hierarchy"),
        ("MOTION", "hierarchy"),
        ("glTF" + ARM, "not a BVH"),
        ("HIERARCHY", "no ROOT"),
        (ARM.split("End Site")[0], "ends in the middle"),
        (ARM.replace("OFFSET 2 0 0", "OFFSET 2 zero 0"), "expected a number, found 'zero'"),
        (ARM.replace("OFFSET 2 0 0", "OFFSET 2 nan 0"), "not a usable number"),
        (ARM.replace("Zrotation\n", "Wrotation\n"), "'Wrotation' is not a channel"),
        (ARM.replace("CHANNELS 6", "CHANNELS -6"), "expected a count"),
        (ARM.replace("CHANNELS 6", "CHANNELS 999999999"), "channels on one joint"),
        (ARM.replace("JOINT", "ROOT"), "inside a joint"),
        (ARM.replace("Frames: 2", "Frames: two"), "not a count"),
        (ARM.replace("Frames: 2", "Frames: -2"), "Frames is -2"),
        (ARM.replace("Frames: 2", "Frames: 3"), "cut short: 2 whole frames of 3, 1 are missing"),
        (ARM.replace("Frames: 2", "Frames: 9999999"), "cut short: 2 whole frames of 9999999"),
        (ARM.replace("0.5", "0"), "pass rate="),
        (ARM.replace("0.5", "-1"), "pass rate="),
        (ARM.replace("0.5", "soon"), "not a number"),
        (ARM.replace("4 5 6", "4 x 6"), "frame 1: expected a number, found 'x'"),
        (ARM.replace("4 5 6", "4 nan 6"), "frame 1"),
        (ARM.replace("4 5 6", "4 1e99 6"), "too large"),
        (ARM.replace("Frame Time", "Time"), "Frame Time"),
    ],
)
def test_damage_is_named(text, says):
    with pytest.raises(FormatError, match=says) as caught:
        read(text)
    assert "take.bvh" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: text.encode("utf-16"), ""),
        (lambda text: text.replace(" ", "\t").encode(), ""),
        (lambda text: f"# made by hand\n{text}".encode(), ""),
        (lambda text: text.replace("ROOT", "// the hips\nROOT").encode(), ""),
        (lambda text: text.replace("End Site", "EndSite").encode(), ""),
        (lambda text: text.replace("End Site", "End Site tip").encode(), ""),
        (lambda text: text.replace("rotation", "rot").replace("position", "Translation").encode(), ""),
        (lambda text: text.replace("Frames: 2", "Frames: 2.0").encode(), ""),
        (lambda text: text.replace("Frames: 2\n", "").replace("0.5", "0.5\nFrames: 2").encode(), ""),
        (lambda text: text.replace("Frames: 2\n", "").encode(), "does not say how many frames"),
        (lambda text: text.replace("0.5", "0,5").replace("4 5 6", "4,0 5,0 6,0").encode(), "taken as points"),
        (lambda text: text.replace("4 5 6", "4e0 +5.0E+00 .6e+1").encode(), ""),
        (lambda text: text.replace("ROOT", "JOINT").encode(), "taken as one"),
        (lambda text: re.sub(r"\}\s*MOTION", "MOTION", text).encode(), "missing at its end"),
        (lambda text: text.replace("MOTION", "}\nMOTION").encode(), "too many"),
    ],
)
def test_files_as_people_have_them_are_the_same_motion(change, says):
    plain = read(ARM)
    made = mw.load(change(ARM), cache=False)
    assert made.skeleton == plain.skeleton
    assert_array_equal(made.clips[0].tracks.values, plain.clips[0].tracks.values)
    assert made.clips[0].duration == plain.clips[0].duration
    told = [line for line in made.report if line.kind != "info"]
    assert len(told) == bool(says) and all(says in line.message for line in told)


def test_frame_time_of_zero_can_be_set_by_the_caller():
    character = read(ARM.replace("0.5", "0"), rate=4)
    assert character.clips[0].duration == 0.25
    assert "rate=4" in str(character.report)


def test_bombs_are_refused():
    deep = "HIERARCHY\nROOT a {" + "JOINT b {" * 70_000
    with pytest.raises(ResourceLimitError, match="joints"):
        read(deep)
    wide = "HIERARCHY\nROOT a {" + "JOINT b { }" * 70_000 + "}"
    with pytest.raises(ResourceLimitError, match="joints"):
        read(wide)
    with pytest.raises(ResourceLimitError, match="frames"):
        read(ARM.replace("Frames: 2", "Frames: 99999999999999"))


@settings(max_examples=repeats(150), deadline=None)
@given(st.data())
def test_mutated_files_load_or_raise_a_marrow_error(data):
    raw = bytearray(ARM.encode())
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=4))
    with contextlib.suppress(MarrowError):
        read(bytes(raw))


# writing


def round_trip(character: mw.Character, folder: Path, **options) -> mw.Character:
    path = folder / "out.bvh"
    bvh.write(character, path, **options)
    return bvh.read(Source.open(path), LoadOptions())


def assert_same_motion(
    a: mw.Character, b: mw.Character, clip: str | int = 0, tolerance: float = 2e-6
) -> None:
    for time in np.linspace(0, a.clips[clip].duration, 5):
        before, after = positions(a, time, clip), positions(b, time)
        size = np.ptp(np.array(list(before.values())), axis=0).max()
        for name, place in before.items():
            np.testing.assert_allclose(after[name], place, atol=tolerance * size, err_msg=f"{name} at {time}")


def test_writing_what_was_read_gives_the_same_file_back(tmp_path):
    character = read(ARM)
    again = round_trip(character, tmp_path)
    assert again.skeleton.names == character.skeleton.names
    np.testing.assert_allclose(again.skeleton.rest.translation[1:], character.skeleton.rest.translation[1:])
    np.testing.assert_array_equal(again.skeleton.rest.translation[0], [0, 0, 0])
    assert again.clips[0].duration == 0.5
    assert_same_motion(character, again)


def test_corpus_motion_survives_the_round_trip(corpus, tmp_path):
    character = bvh.read(Source.open(corpus / "pirouette.bvh"), LoadOptions())
    again = round_trip(character, tmp_path)
    assert again.skeleton.names == character.skeleton.names
    assert len(again.clips[0].tracks[0].times) == 592
    assert_same_motion(character, again)


def bent(scale=(1.0, 1.0, 1.0), seed: int = 3) -> mw.Character:
    """A chain and a branch with rotations at rest, and a clip that turns everything and slides one joint."""
    rng = np.random.default_rng(seed)
    names, parents = ("root", "a", "b", "tip", "side"), [-1, 0, 1, 2, 1]
    turns = rng.normal(size=(5, 4))
    rest = mw.Pose(
        rng.normal(size=(5, 3)),
        turns / np.linalg.norm(turns, axis=1, keepdims=True),
        np.array([scale] + [(1.0, 1.0, 1.0)] * 4),
    )
    skeleton = mw.Skeleton(names, parents, rest)
    times = np.arange(7) / 10
    keys = rng.normal(size=(4, 7, 4))
    keys /= np.linalg.norm(keys, axis=-1, keepdims=True)
    tracks = [mw.Track(j, "rotation", times, keys[j]) for j in range(4)]
    tracks += [
        mw.Track(0, "translation", times, rng.normal(size=(7, 3))),
        mw.Track(2, "translation", times, rng.normal(size=(7, 3))),
        mw.Track(1, "scale", times, rng.uniform(0.5, 2, (7, 3))),
    ]
    clips = [mw.Clip("wave", skeleton, tracks), mw.Clip("stay", skeleton, tracks[:1])]
    return mw.Character(skeleton, clips=clips)


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (0.01, 0.01, 0.01), (1.0, 2.0, 0.5)])
def test_joint_positions_survive_rest_rotations_sliding_and_scale(scale, tmp_path):
    character = bent(scale)
    again = round_trip(character, tmp_path, clip="wave", rate=10)
    before = character.clips["wave"]
    for time in np.arange(7) / 10:
        model = character.skeleton.to_model(before.sample(time))[:, :, 3]
        found = positions(again, time)
        for name, place in zip(character.skeleton.names, model):
            np.testing.assert_allclose(found[name], place, atol=5e-6)


def test_rest_pose_keeps_its_shape(tmp_path):
    character = bent((0.5, 0.5, 0.5))
    again = round_trip(character, tmp_path, clip="wave")
    places = {n: m[:, 3] for n, m in zip(again.skeleton.names, again.skeleton.rest_model)}
    root = character.skeleton.rest_model[0, :, 3]  # readers disagree on its OFFSET, so it is zero
    for name, model in zip(character.skeleton.names, character.skeleton.rest_model):
        np.testing.assert_allclose(places[name], model[:, 3] - root, atol=2e-6)


def two_trees() -> mw.Character:
    """A skinned chain below an armature, the node of its mesh, a prop, and a lamp that stands alone."""
    names = ("scene", "armature", "hips", "spine", "tip", "body", "hat", "lamp")
    parents = [-1, 0, 1, 2, 3, 1, 3, -1]
    offsets = np.zeros((8, 3))
    offsets[[1, 2, 3, 4, 6], 1] = 0.5
    skeleton = mw.Skeleton(names, parents, mw.Pose.identity(8).replace(translation=offsets))
    times = np.array([0.0, 1.0])
    turn = [[0, 0, 0, 1], [0, 0, np.sin(0.5), np.cos(0.5)]]
    tracks = [
        mw.Track(3, "rotation", times, turn),
        mw.Track(2, "translation", times, [[0, 0.5, 0], [1, 0.5, 2]]),
    ]
    body = mw.Mesh(
        "body",
        [[0, 1, 0], [1, 1, 0], [0, 2, 0]],
        [[0, 1, 2]],
        [[0], [0], [1]],
        [[1.0]] * 3,
        [2, 3],
        np.repeat(np.eye(4)[None, :3], 2, axis=0),
        node=5,
    )
    hat = mw.Mesh(
        "hat", [[0, 0, 0]] * 3, [[0, 1, 2]], [[0]] * 3, [[1.0]] * 3, [6], np.eye(4)[None, :3], node=6
    )
    return mw.Character(skeleton, (body, hat), [mw.Clip("go", skeleton, tracks)])


def test_bones_are_written_and_nodes_of_meshes_are_not(tmp_path):
    assert round_trip(two_trees(), tmp_path).skeleton.names == ("hips", "spine", "tip", "tip_end")


def test_joints_are_chosen_by_name_or_pattern_below_one_root(tmp_path):
    character = two_trees()
    assert round_trip(character, tmp_path, joints=["hips", "tip"]).skeleton.names == (
        "hips",
        "tip",
        "tip_end",
    )
    found = round_trip(character, tmp_path, joints=["sp*", "lamp"])
    assert found.skeleton.names == ("root", "spine", "spine_end", "lamp", "lamp_end")
    model = character.skeleton.to_model(character.clips[0].sample(1.0))[:, :, 3]
    np.testing.assert_allclose(positions(found, 1.0)["spine"], model[3], atol=1e-6)
    with pytest.raises(UnknownNameError, match="spien"):
        round_trip(character, tmp_path, joints=["spien"])


@pytest.mark.parametrize("whose", ["own", "real"])
def test_three_js_reads_what_is_written(whose, request, tmp_path, node_tools):
    """Clips as BVH: three.js finds one root, and all joints where marrow has them. Joints that slide are left out of the
    comparison with what is below them: three.js adds their positions to the offset."""
    wanted, files = [], []
    if whose == "real":
        folder = request.getfixturevalue("corpus")
        characters = {file.stem: mw.load(file) for file in sorted(folder.glob("*.glb"))}
    else:
        characters = {"lizard": mw.samples.lizard(), "mannequin": mw.samples.mannequin(), "bent": bent()}
    for stem, character in characters.items():
        for clip in list(character.clips.values())[:1]:
            file = tmp_path / f"{stem}.bvh"
            with warnings.catch_warnings(record=True) as slid:
                warnings.simplefilter("always")
                mw.save(character, file, clip=clip.name, rate=10)
            again = mw.load(file, cache=False)
            frame = len(again.clips[0].tracks[0].times) // 2 if len(again.clips[0].tracks) else 0
            files.append((str(file), frame))
            wanted.append((again, frame, bool(slid)))
    command = ["node", str(node_tools / "three-bvh.mjs"), *(str(v) for pair in files for v in pair)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(wanted) > 2
    for (again, frame, slid), theirs in zip(wanted, answers):
        assert theirs["roots"] == 1
        ends = [n for n in again.skeleton.names if n.endswith("_end") or "_end_" in n]
        assert theirs["bones"] == len(again.skeleton)
        if slid:
            continue
        ours = positions(again, frame / 10)
        size = max(1.0, float(np.abs(np.array(list(ours.values()))).max()))
        for name, place in theirs["places"]:
            if name != "ENDSITE" and name not in ends:
                np.testing.assert_allclose(place, ours[name], atol=1e-4 * size, err_msg=name)


def test_leaves_end_in_an_end_site_and_names_become_safe(tmp_path):
    skeleton = mw.Skeleton(("a b", "x", "x"), [-1, 0, 0])
    again = round_trip(mw.Character(skeleton), tmp_path)
    assert again.skeleton.names == ("a_b", "x", "x_end", "x_2", "x_2_end")
    assert len(again.clips) == 1


def test_several_clips_ask_for_a_choice(tmp_path):
    with pytest.raises(ValidationError, match="wave, stay"):
        bvh.write(bent(), tmp_path / "out.bvh")
    with pytest.raises(UnknownNameError, match="wvae"):
        bvh.write(bent(), tmp_path / "out.bvh", clip="wvae")
    with pytest.raises(ValidationError, match="rate"):
        bvh.write(bent(), tmp_path / "out.bvh", clip="wave", rate=0)
    assert not list(tmp_path.iterdir())


def test_scale_on_the_way_out(tmp_path):
    character = read(ARM)
    again = round_trip(character, tmp_path, scale=100)
    np.testing.assert_allclose(positions(again, 0.5)["arm_end"], [400, 400, 600], rtol=1e-6)


def test_positions_that_would_collapse_a_body_are_added_to_the_offsets():
    """MakeHuman writes how far a joint is off its OFFSET, which is nothing, for every joint."""
    inner = "End Site { OFFSET 0 1 0 }"
    for name in "dcb":
        inner = f"JOINT {name} {{ OFFSET 0 2 0 CHANNELS 3 Xposition Yposition Zposition {inner} }}"
    text = "HIERARCHY\nROOT a { OFFSET 0 0 0 CHANNELS 3 Xposition Yposition Zposition " + inner + " }\n"
    head = "MOTION\nFrames: 1\nFrame Time: 0.1\n"
    relative = read(text + head + "5 0 0 " + "0.1 0 0 " * 3)
    np.testing.assert_allclose(positions(relative, 0)["d"], [5.3, 6, 0], atol=1e-6)
    assert any("added to their OFFSET" in line.message for line in relative.report.lines)
    whole = read(text + head + "5 0 0 " + "0.1 2 0 " * 3)
    np.testing.assert_allclose(positions(whole, 0)["d"], [5.3, 6, 0], atol=1e-6)
