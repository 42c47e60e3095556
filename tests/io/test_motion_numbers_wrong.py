"""Motion in numbers that says something wrong about itself: rates, names, pictures, cut files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import marrow as mw
import point_worlds
from marrow.errors import FormatError, ValidationError
from marrow.motion.point_layouts import LAYOUTS

COCO = point_worlds.key_points(LAYOUTS["coco"].points).astype(np.float32)
NAMES = [str(name) for name in LAYOUTS["coco"].points]


def load(path: Path, **options: object) -> mw.Character:
    return mw.load(path, cache=False, **options)


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def in_a_picture() -> np.ndarray:
    pixels = COCO * 300 + 500
    pixels[..., 2] = np.linspace(0.5, 1.0, 17)
    pixels[:, 3] = np.nan
    return pixels


@pytest.mark.parametrize("rate", ["NaN", "Infinity", "1e300", "1" + "0" * 400, "-30", "true", '"fast"'])
def test_a_rate_that_is_none_is_refused_unless_another_is_said(tmp_path: Path, rate: str) -> None:
    path = written(tmp_path / "a.json", f'{{"fps": {rate}, "frames": {json.dumps(COCO[:5].tolist())}}}')
    with pytest.raises(FormatError, match=r"frames a second.*rate="):
        load(path)
    assert load(path, rate=40).clips[0].duration == pytest.approx(4 / 40)


def test_a_rate_in_quotes_is_a_rate(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", json.dumps({"fps": "25", "frames": COCO[:6].tolist()}))
    assert load(path).clips[0].duration == pytest.approx(5 / 25)


def test_points_in_a_picture_are_refused_also_where_their_order_is_said(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", in_a_picture())
    with pytest.raises(FormatError, match="points in a picture"):
        load(tmp_path / "a.npy", motion="coco")
    named = {"names": NAMES, "frames": in_a_picture().tolist()}
    with pytest.raises(FormatError, match="points in a picture"):
        load(written(tmp_path / "named.json", json.dumps(named)))
    openpose = {"people": [{"pose_keypoints_2d": [1.0] * 75, "face_keypoints_2d": []}]}
    with pytest.raises(FormatError, match="points in a picture"):
        load(written(tmp_path / "openpose.json", json.dumps(openpose)))
    with pytest.raises(ValidationError, match="points in a picture"):
        list(mw.live(iter(in_a_picture()), "coco"))


def test_a_body_far_from_the_origin_is_not_taken_for_a_picture(tmp_path: Path) -> None:
    far = COCO.copy()
    far[..., 2] = 0.5 + 0.3 * far[..., 2] / np.abs(far[..., 2]).max()
    far[..., 0] += 25
    np.save(tmp_path / "a.npy", far)
    assert load(tmp_path / "a.npy", motion="coco").clips[0].duration > 0


def test_names_that_are_not_as_many_as_the_points_are_refused(tmp_path: Path) -> None:
    text = json.dumps({"names": NAMES[:9], "frames": COCO.tolist()})
    with pytest.raises(FormatError, match=r"9 names.*17 points"):
        load(written(tmp_path / "a.json", text))


def trc(frames: int) -> str:
    lines = [
        "PathFileType\t4\t(X/Y/Z)\ta.trc",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits",
        f"50\t50\t{frames}\t17\tm",
        "Frame#\tTime\t" + "\t\t\t".join(NAMES),
        "\t\t" + "\t".join(f"{c}{k}" for k in range(1, 18) for c in "XYZ"),
        "",
    ]
    rows = [
        f"{t + 1}\t{t / 50}\t" + "\t".join(map(str, row)) for t, row in enumerate(COCO.reshape(len(COCO), -1))
    ]
    return "\n".join([*lines, *rows])


def test_a_trc_file_that_is_cut_short_says_so(tmp_path: Path) -> None:
    whole = load(written(tmp_path / "whole.trc", trc(len(COCO))))
    assert "cut short" not in str(whole.report)
    fewer = load(written(tmp_path / "fewer.trc", trc(1000)))
    assert f"cut short: it says 1000 frames, {len(COCO)} are there" in str(fewer.report)


def test_motion_of_smpl_further_away_than_numbers_reach_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", poses=np.zeros((4, 66)), trans=np.full((4, 3), 1e12))
    with pytest.raises(FormatError, match="too large"):
        load(tmp_path / "a.npz")
