"""Each rule of the linter, on a character that breaks just that one."""

from __future__ import annotations

import numpy as np
import pytest

import marrow as mw
from marrow.io.lint import lint
from marrow.report import Report, ReportLine

SKELETON = mw.Skeleton(("hips", "spine"), [-1, 0])


def body(**changes) -> mw.Mesh:
    options = {
        "joints": np.array([[0, 1], [0, 1], [1, 0]]),
        "weights": np.array([[1, 0], [0.5, 0.5], [1, 0]], "f4"),
        "joint_list": [0, 1],
        "inverse_bind": np.tile(np.eye(3, 4, dtype="f4"), (2, 1, 1)),
        "normals": np.tile(np.float32([0, 0, 1]), (3, 1)),
    } | changes
    return mw.Mesh("body", np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "f4"), [[0, 1, 2]], **options)


def clip(*tracks: mw.Track, name: str = "walk") -> mw.Clip:
    turn = np.array([[0, 0, 0, 1], [0, 0, 1, 0]], "f4")
    both = [mw.Track(j, "rotation", [0, 1], turn) for j in (0, 1)]
    return mw.Clip(name, SKELETON, tracks or both)


def sound(**changes) -> mw.Character:
    options = {"meshes": (body(),), "clips": (clip(),)} | changes
    return mw.Character(options.pop("skeleton", SKELETON), **options)


def findings(character: mw.Character) -> dict[str, tuple[str, str]]:
    found = lint(character)
    assert all(f.remedy and f.message and f.place for f in found)
    return {f.rule: (f.severity, f.message) for f in found}


def rest(**changes) -> mw.Skeleton:
    return mw.Skeleton(SKELETON.names, SKELETON.parents, mw.Pose.identity(2).replace(**changes))


def test_a_sound_character_has_no_findings():
    assert lint(sound()) == []
    assert lint(mw.Character(SKELETON)) == []


@pytest.mark.parametrize(("count", "severity"), [(4, None), (5, "info"), (8, "info"), (9, "warning")])
def test_influences_beyond_what_engines_take(count, severity):
    skeleton = mw.Skeleton(tuple(f"j{i}" for i in range(9)), [-1] * 9)
    mesh = body(
        joints=np.tile(np.arange(9), (3, 1)),
        weights=np.tile([*[1 / count] * count, *[0] * (9 - count)], (3, 1)).astype("f4"),
        joint_list=np.arange(9),
        inverse_bind=np.tile(np.eye(3, 4, dtype="f4"), (9, 1, 1)),
    )
    found = findings(mw.Character(skeleton, (mesh,)))
    assert found.get("influences", (None,))[0] == severity
    if severity:
        assert f"(most: {count})" in found["influences"][1]


def test_weights_that_do_not_sum_to_one():
    mesh = body(weights=np.array([[1, 0], [0.5, 0.4995], [1, 0]], "f4"))
    assert findings(sound(meshes=(mesh,)))["weight-sums"][0] == "warning"


@pytest.mark.parametrize(
    ("kind", "message", "rule", "severity"),
    [
        ("repaired", "the weights of 52 vertices did not sum to 1 (worst: 0.98)", "weight-sums", "warning"),
        ("repaired", "3 vertices without weights follow the mesh's node", "unweighted-vertices", "warning"),
        (
            "repaired",
            "3 vertices have no weights; they follow the mesh's node",
            "unweighted-vertices",
            "warning",
        ),
        ("info", "tangents were generated (MikkTSpace)", "missing-tangents", "info"),
        ("dropped", "a light was left out", "import", "warning"),
        ("info", "made by hand", "import", "info"),
    ],
)
def test_what_the_importer_reported(kind, message, rule, severity):
    character = sound(report=Report((ReportLine(kind, "mesh 'x'", message),)))
    assert findings(character) == {rule: (severity, message)}


@pytest.mark.parametrize(
    ("scale", "rule", "severity"),
    [
        ([1, 2, 1], "uneven-scale", "warning"),
        ([-1, 1, 1], "negative-scale", "warning"),
        ([0, 0, 0], "zero-scale", "error"),
        ([2, 2, 2], None, None),
    ],
)
def test_scale_at_rest(scale, rule, severity):
    skeleton = rest(scale=np.array([[1, 1, 1], scale], "f4"))
    found = findings(mw.Character(skeleton))
    assert found.get(rule, (None,))[0] == severity
    assert not rule or "spine" in found[rule][1]


def test_degenerate_triangles():
    mesh = body().replace(triangles=np.array([[0, 1, 2], [0, 0, 1]]))
    found = findings(sound(meshes=(mesh,)))
    assert found["degenerate-triangles"] == ("warning", "1 of 2 triangles have no area")


def test_unkeyed_joints():
    turn = np.array([[0, 0, 0, 1], [0, 0, 1, 0]], "f4")
    found = findings(sound(clips=(clip(mw.Track(0, "rotation", [0, 1], turn)),)))
    assert found["unkeyed-joints"][0] == "info"
    assert "spine" in found["unkeyed-joints"][1]


def test_constantly_keyed_joints():
    still = mw.Track(1, "translation", [0, 1, 2], np.zeros((3, 3)))
    moving = mw.Track(0, "translation", [0, 1], [[0, 0, 0], [1, 0, 0]])
    message = findings(sound(clips=(clip(still, moving),)))["constant-tracks"][1]
    assert message == "1 of 2 tracks never change (3 keys): translation of 'spine'"


def test_cubic_tracks_with_tangents_are_not_constant():
    values = np.zeros((2, 3, 3))
    values[:, 2] = 1
    swing = mw.Track(0, "translation", [0, 1], values, "cubic")
    assert "constant-tracks" not in findings(sound(clips=(clip(swing),)))


@pytest.mark.parametrize(
    ("end", "severity"), [([2, 2, 2], "info"), ([1, 2, 1], "warning"), ([1, 1, 1], None)]
)
def test_scale_tracks(end, severity):
    track = mw.Track(0, "scale", [0, 1], [[1, 1, 1], end])
    assert findings(sound(clips=(clip(track),))).get("scale-tracks", (None,))[0] == severity


def test_joints_nobody_uses():
    skeleton = mw.Skeleton(("hips", "spine", "tail"), [-1, 0, 1])
    found = findings(mw.Character(skeleton, (body(),)))
    assert found["unused-joints"] == ("info", "1 joints move no vertex: tail")
    socketed = mw.Skeleton(skeleton.names, skeleton.parents, sockets=(mw.Socket("grip", 2),))
    assert "unused-joints" not in findings(mw.Character(socketed, (body(),)))


def painted(**mesh_options) -> mw.Character:
    mesh = body(sections=(mw.Section(0, 1, 0),), **mesh_options)
    material = mw.Material("brick", normal_texture=mw.Texture(0))
    return sound(meshes=(mesh,), materials=(material,), images=(mw.Image("bumps", "image/png", b""),))


def test_missing_tangents_uvs_and_normals():
    uvs = (np.zeros((3, 2), "f4"),)
    assert findings(painted(uvs=uvs))["missing-tangents"][0] == "warning"
    assert findings(painted(uvs=uvs, tangents=np.zeros((3, 4), "f4"))) == {}
    assert findings(painted())["missing-uvs"][0] == "error"
    assert findings(sound(meshes=(body(normals=None),)))["missing-normals"][0] == "warning"


@pytest.mark.parametrize(("factor", "words"), [(100, "scale=0.01"), (0.01, "scale=100"), (1.8, None)])
def test_huge_and_tiny_units(factor, words):
    mesh = body().replace(positions=body().positions * np.float32(factor))
    remedies = [f.remedy for f in lint(sound(meshes=(mesh,))) if f.rule == "units"]
    assert [words in r for r in remedies] == ([True] if words else [])


def test_size_counts_the_joints_scale_not_only_the_numbers():
    small = rest(scale=np.array([[0.01, 0.01, 0.01], [1, 1, 1]], "f4"))
    mesh = body().replace(positions=body().positions * np.float32(100))
    assert "units" not in findings(mw.Character(small, (mesh,)))


def test_duplicate_joint_names():
    found = findings(mw.Character(mw.Skeleton(("a", "a", "b"), [-1, 0, 1])))
    assert found["duplicate-names"] == ("warning", "1 joint names occur more than once: a")


def test_empty_clips():
    pose = mw.Clip("pose", SKELETON, [mw.Track(0, "translation", [0], [[0, 0, 0]])])
    found = lint(sound(clips=(clip(), pose, mw.Clip("nothing", SKELETON))))
    assert [(f.place, f.severity) for f in found] == [("clip 'nothing'", "warning"), ("clip 'pose'", "info")]


def test_vertices_that_are_nowhere():
    positions = body().positions.copy()
    positions[1] = np.nan
    assert findings(sound(meshes=(body().replace(positions=positions),)))["not-finite"][0] == "error"


def test_the_worst_comes_first():
    skeleton = mw.Skeleton(("a", "a"), [-1, 0], mw.Pose.identity(2).replace(scale=np.zeros((2, 3), "f4")))
    assert [f.severity for f in lint(mw.Character(skeleton))] == ["error", "warning"]


def test_a_file_without_joints_is_checked_and_said_to_be_empty() -> None:
    (finding,) = lint(mw.Character(mw.Skeleton((), np.zeros(0, np.int32))))
    assert (finding.rule, finding.severity) == ("empty", "warning")


def test_a_clip_of_more_frames_than_are_looked_at_is_named_and_the_others_are_checked() -> None:
    bones = mw.Skeleton(tuple(f"j{k}" for k in range(100)), np.arange(-1, 99))
    spin = mw.Track(1, "rotation", [0, 1], [[0, 0, 0, 1], [0, 1, 0, 0]])
    endless = mw.Clip("endless", bones, [mw.Track(1, "translation", [0, 1e7], [[0, 0, 0], [0, 0, 1]])])
    found = lint(mw.Character(bones, clips=[endless, mw.Clip("spin", bones, [spin])]))
    (said,) = [f for f in found if f.rule == "long-clip"]
    assert said.place == "clip 'endless'" and "100 joints" in said.message and "1e+07 s" in said.message
