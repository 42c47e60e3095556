"""Markers on the skin become joints; segments of suits are the joints they begin at."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from test_motion_arrays import load, told, trc

import marrow as mw
import point_worlds
from marrow.errors import FormatError
from marrow.motion.point_layouts import LAYOUTS

JOINTS = tuple(n for n in LAYOUTS["smpl-joints"].points if n)


def unit(v: np.ndarray) -> np.ndarray:
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def markers() -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Joints of a motion, and markers as they would sit on a body around them."""
    moved = point_worlds.key_points(JOINTS)
    at = {name: moved[:, k] for k, name in enumerate(JOINTS)}
    left = unit(at["left_hip"] - at["right_hip"])
    up = at["neck"] - at["pelvis"]
    up = unit(up - left * (up * left).sum(-1, keepdims=True))
    front = np.cross(left, up)
    wide = np.linalg.norm(at["left_hip"] - at["right_hip"], axis=-1, keepdims=True) / 0.72
    out: dict[str, np.ndarray] = {}
    for letter, side, s in (("L", "left", 1.0), ("R", "right", -1.0)):
        out[f"{letter}ASI"] = at[f"{side}_hip"] + wide * (s * 0.14 * left + 0.22 * front + 0.30 * up)
    for letter, side, s in (("L", "left", 1.0), ("R", "right", -1.0)):
        middle = (out["LASI"] + out["RASI"]) / 2 if "RASI" in out else out["LASI"]
        out[f"{letter}PSI"] = middle - 0.15 * front + s * 0.04 * left
        out[f"{letter}KNE"] = at[f"{side}_knee"] + s * 0.05 * left
        out[f"{letter}ANK"] = at[f"{side}_ankle"] + s * 0.035 * left
        out[f"{letter}HEE"] = at[f"{side}_ankle"] - 0.05 * front - [0, 0.04, 0]
        out[f"{letter}TOE"] = at[f"{side}_foot"]
        out[f"{letter}SHO"] = at[f"{side}_shoulder"] + 0.045 * up
        out[f"{letter}ELB"] = at[f"{side}_elbow"]
        out[f"{letter}WRA"], out[f"{letter}WRB"] = (at[f"{side}_wrist"] + k * 0.03 * front for k in (1, -1))
    out["C7"], out["CLAV"] = at["neck"] - 0.05 * front, at["neck"] + 0.05 * front
    return out, at


@pytest.mark.parametrize("waist", [("ASI", "PSI"), ("FWT", "BWT")])
def test_plug_in_gait_becomes_joints(tmp_path: Path, waist: tuple[str, str]) -> None:
    on_skin, joints = markers()
    names = tuple(f"Anna:{n.replace('ASI', waist[0]).replace('PSI', waist[1])}" for n in on_skin)
    (tmp_path / "gait.trc").write_text(trc(names, np.stack(list(on_skin.values()), axis=1) * 1000))
    character = load(tmp_path / "gait.trc")
    assert "markers on the skin (Plug-in Gait)" in told(character, "motion")
    clip = character.clips[0]
    found = character.skeleton.to_model(clip.sample(np.arange(31) / (clip.rate or 30.0)))[..., 3]
    for name in ("left_hip", "right_knee", "left_ankle", "left_shoulder", "right_elbow", "left_wrist"):
        gap = np.linalg.norm(found[:, character.skeleton.index(name)] - joints[name][:31], axis=-1)
        assert np.median(gap) < 0.03, (name, gap)


def test_other_markers_are_refused_with_the_names_that_are_known(tmp_path: Path) -> None:
    (tmp_path / "x.trc").write_text(trc(("M1", "M2", "M3"), np.zeros((5, 3, 3))))
    with pytest.raises(FormatError, match="LASI, RASI"):
        load(tmp_path / "x.trc")


def test_segments_of_a_suit_are_the_joints_they_begin_at(tmp_path: Path) -> None:
    """Xsens writes where segments begin: `Right Foot` is the ankle, `Right Toe` the ball, `Right Hand` the wrist."""
    words = {
        "collar": "Shoulder", "shoulder": "Upper Arm", "elbow": "Forearm", "wrist": "Hand", "hip": "Upper Leg",
        "knee": "Lower Leg", "ankle": "Foot", "foot": "Toe",
    }  # fmt: skip
    names = []
    for name in JOINTS:
        side, _, part = name.partition("_")
        alone = name.title() if name in ("pelvis", "neck") else ""
        names.append(f"{side.title()} {words[part]}" if part in words else alone)
    moved = point_worlds.key_points(JOINTS)
    kept = [k for k, name in enumerate(names) if name]
    head = ",".join(f"{names[k]} {c}" for k in kept for c in "xyz")
    rows = moved[:, kept].reshape(len(moved), -1)
    table = "\n".join([head, *(",".join(f"{v:.6f}" for v in row) for row in rows)])
    (tmp_path / "suit.csv").write_text(table)
    character = load(tmp_path / "suit.csv", rate=30)
    found = character.skeleton.to_model(character.clips[0].sample(np.arange(31) / 30))[..., 3]
    for name in ("left_ankle", "right_wrist", "left_shoulder", "right_foot"):
        gap = found[:, character.skeleton.index(name)] - moved[:31, JOINTS.index(name)]
        assert np.median(np.linalg.norm(gap, axis=-1)) < 0.02, name


@pytest.mark.parametrize("suffix", [".trc", ".csv.trc"])
def test_markers_that_are_no_body_are_a_joint_each(tmp_path: Path, suffix: str) -> None:
    rng = np.random.default_rng(5)
    places = rng.normal(size=(4, 3, 3)) * 1000
    rows = [
        "PathFileType\t4\t(X/Y/Z)\tx.trc", "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits", "50\t50\t4\t3\tmm",
        "Frame#\tTime\tbox a\t\t\tbox b\t\t\tlid\t\t", "\t\tX1\tY1\tZ1\tX2\tY2\tZ2\tX3\tY3\tZ3",
        *(f"{t + 1}\t{t / 50}\t" + "\t".join(map(repr, map(float, row.ravel()))) for t, row in enumerate(places)),
    ]  # fmt: skip
    text = "\n".join(rows)
    path = tmp_path / f"box{suffix}"
    path.write_text(text.replace("\t", ",") if "csv" in suffix else text)
    with pytest.raises(FormatError, match="motion='markers'"):
        mw.load(path, cache=False)
    made = mw.load(path, cache=False, motion="markers")
    assert made.skeleton.names == ("markers", "box a", "box b", "lid")
    clip = made.clips[0]
    assert clip.rate == 50
    found = np.stack([made.skeleton.to_model(clip.sample(t / 50))[1:, :, 3] for t in range(4)])
    assert_allclose(found, places / 1000, atol=1e-6)
    turned = mw.load(path, cache=False, motion="markers", up="z")
    assert_allclose(turned.skeleton.rest.translation[1:, 1], places[0, :, 2] / 1000, atol=1e-6)  # z is up


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("cache.abc", b"Ogawa\xff", "Alembic"),
        ("x.blend", b"BLENDER-v300", "docs/blender.md"),
        ("a.ma", b"//Maya ASCII 2020", "FBX"),
    ],
)
def test_files_of_other_programs_say_what_to_do(tmp_path: Path, name: str, data: bytes, says: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(FormatError, match=says):
        mw.load(tmp_path / name)
