"""Key points as text: JSON, CSV and TRC. Each becomes a `Table`; what it means is for `recognition`."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError, ResourceLimitError
from marrow.motion.point_layouts import named_points

__all__ = ["Table", "from_csv", "from_json", "from_trc"]

Array = NDArray[Any]
MAX_BYTES = 512 << 20
_FRAMES = (
    "frames",
    "poses",
    "motion",
    "data",
    "positions",
    "joints",
    "keypoints",
    "landmarks",
    "annotations",
)
_POINTS = (
    "pose_keypoints_3d", "keypoints3d", "keypoints_3d", "poseWorldLandmarks", "pose_world_landmarks", "worldLandmarks",
    "keypoints", "landmarks", "poseLandmarks", "pose_landmarks", "joints", "positions", "points",
)  # fmt: skip
_NAMES = ("names", "joint_names", "keypoint_names", "point_names", "labels")
_RATES = ("fps", "rate", "frame_rate", "framerate", "mocap_framerate")
_COLUMN = re.compile(r"(.*?)[\s_.:\-\[(]*([xyz])[\])]*", re.IGNORECASE | re.DOTALL)
_SUIT = re.compile(r"(\w+?)_position_([xyz])", re.IGNORECASE)
"""Columns of suits (Rokoko): `LeftFoot_position_x`."""
_AXIS_FIRST = re.compile(r"([xyz])[\s_.:\-\[(]*(\w+?)[\])]*", re.IGNORECASE)
_UNITS = {
    "mm": 0.001,
    "cm": 0.01,
    "m": 1.0,
    "in": 0.0254,
    "ft": 0.3048,
    "inches": 0.0254,
    "meters": 1.0,
    "metres": 1.0,
}


@dataclass
class Table:
    """Numbers of points over frames, `(T, P, C)` or `(T, N)`; the points' names where the file has them, its frames a
    second and metres per unit where it says so; `note` is what the report should say of the file."""

    values: Array
    names: tuple[str, ...] | None = None
    rate: float | None = None
    unit: float | None = None
    note: str = ""


def _text(data: bytes | memoryview, path: Path) -> str:
    if len(data) > MAX_BYTES:
        raise ResourceLimitError(
            f"is {len(data) / 1e6:,.0f} MB of text, more than {MAX_BYTES / 1e6:,.0f}",
            path=path,
            remedy="save the numbers with np.save",
        )
    try:
        return bytes(data).decode("utf-8-sig")
    except UnicodeDecodeError:
        return bytes(data).decode("latin-1")


def from_json(data: bytes | memoryview, path: Path) -> Table:
    """Frames of points: lists of numbers, of `[x, y, z]`, of `{"x": ...}`, by name; OpenPose's `people` too."""
    try:
        given = json.loads(_text(data, path))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"is no JSON: {error or 'nested too deeply'}", path=path) from None
    names, rate, frames = None, None, given
    if isinstance(given, dict):
        names = next((tuple(map(str, given[k])) for k in _NAMES if isinstance(given.get(k), list)), None)
        rate = next((_said_rate(given[k]) for k in _RATES if given.get(k) is not None), None)
        inside = [k for k in _FRAMES if isinstance(given.get(k), list)]
        frames = [given] if "people" in given else given[inside[0]] if inside else None
    if not isinstance(frames, list) or not frames:
        raise FormatError(
            "holds no frames of key points",
            path=path,
            remedy='expected a list of frames, or {"frames": [...], "fps": 30, "names": [...]}',
        )
    rows, keys = [], None
    for t, frame in enumerate(frames):
        try:
            row, own = _frame(frame)
        except (TypeError, ValueError, KeyError, IndexError, OverflowError) as error:
            raise FormatError(f"is no set of points: {error}", path=path, place=f"frame {t}") from None
        if own is not None:
            keys = own if keys is None else keys
            if row is not None and own != keys:  # the same names in another order, or some of them missing
                at = {name: k for k, name in enumerate(own)}
                keys += tuple(n for n in own if n not in keys)
                row = np.array([row[at[n]] if n in at else np.full(row.shape[1], np.nan) for n in keys])
        rows.append(row)
    sizes = [row.shape for row in rows if row is not None]
    if not sizes:
        raise FormatError("no frame has a body in it", path=path)
    width = max(s[-1] for s in sizes)
    shape = (max(s[0] for s in sizes), width) if len(sizes[0]) == 2 else (width,)
    if keys is None and len(set(sizes)) > 1:
        raise FormatError(f"its frames have different numbers of points: {sorted(set(sizes))[:4]}", path=path)
    values = np.full((len(rows), *shape), np.nan)
    for t, row in enumerate(rows):
        if row is not None:
            values[t][tuple(slice(0, n) for n in row.shape)] = row
    return Table(values, keys or names, rate)


def _said_rate(given: Any) -> float:
    """A rate as JSON has it, also in quotes; NaN where it is none."""
    try:
        return float("nan" if isinstance(given, bool) else given)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def _frame(frame: Any) -> tuple[Array | None, tuple[str, ...] | None]:
    """The points of a frame, None where it has none, and their names."""
    if frame is None:
        return None, None
    if isinstance(frame, dict):
        if "people" in frame:
            return _frame(frame["people"][0]) if frame["people"] else (None, None)
        inside = next((k for k in _POINTS if k in frame), None)
        if inside is not None:
            return _frame(frame[inside])
        if "pose_keypoints_2d" in frame:
            raise ValueError("these are points in a picture (pose_keypoints_2d), and points in 3D are needed")
        names = tuple(k for k, v in frame.items() if isinstance(v, (list, dict)))
        if not names:
            raise ValueError("it has no points")
        return np.array([_point(frame[k]) for k in names]), names
    if not isinstance(frame, list):
        raise TypeError(f"expected a list or an object, got {type(frame).__name__}")
    if not frame:
        return None, None
    if len(frame) == 1 and isinstance(frame[0], list) and frame[0] and isinstance(frame[0][0], (list, dict)):
        return _frame(frame[0])  # the first of several people
    if isinstance(frame[0], (int, float)):
        return np.array([_number(v) for v in frame]), None
    if isinstance(frame[0], dict) and isinstance(frame[0].get("name"), str):
        return np.array([_point(v) for v in frame]), tuple(v["name"] for v in frame)
    return np.array([_point(v) for v in frame]), None


def _point(given: Any) -> list[float]:
    if given is None:
        return [np.nan, np.nan, np.nan]
    if isinstance(given, dict):
        sure = next((given[k] for k in ("visibility", "score", "confidence") if k in given), None)
        return [_number(given[c]) for c in "xyz"] + ([] if sure is None else [_number(sure)])
    return [_number(v) for v in given]


def _number(given: Any) -> float:
    if given is None:
        return float("nan")
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        raise TypeError(f"expected a number, got {given!r:.40}")
    return float(given)


def from_csv(data: bytes | memoryview, path: Path) -> Table:
    """A row for each frame, with or without a line of names (`nose_x, nose_y, nose_z, ...`)."""
    text = _text(data, path)
    first = text.partition("\n")[0]
    mark = max(",;\t", key=first.count)
    mark = mark if mark in first else " "  # names may have blanks in them
    try:
        rows = [
            row for row in csv.reader(io.StringIO(text), delimiter=mark, skipinitialspace=True) if any(row)
        ]
    except csv.Error as error:
        raise FormatError(f"is no table: {error}", path=path) from None
    if not rows:
        raise FormatError("has no rows", path=path)
    head = None if all(_is_number(cell) for cell in rows[0]) else [cell.strip() for cell in rows.pop(0)]
    if not rows:
        raise FormatError("has names and no frames", path=path)
    width = len(rows[0])
    if head is not None and len(head) != width:
        raise FormatError(f"has {len(head)} names for {width} columns", path=path)
    values = np.empty((len(rows), width))
    for t, row in enumerate(rows):
        if len(row) != width:
            raise FormatError(f"has {len(row)} cells, the first row {width}", path=path, place=f"row {t + 1}")
        try:
            values[t] = [float(cell) if cell.strip() else np.nan for cell in row]
        except ValueError:
            raise FormatError("a cell is not a number", path=path, place=f"row {t + 1}") from None
    return Table(values) if head is None else _by_columns(head, values, path)


def _is_number(cell: str) -> bool:
    try:
        float(cell or "nan")
    except ValueError:
        return False
    return True


def _by_columns(head: list[str], values: Array, path: Path) -> Table:
    points: dict[str, dict[str, int]] = {}
    rate = None
    suit = any(_SUIT.fullmatch(name) for name in head)
    for k, name in enumerate(head):
        if name.lower() in ("time", "timestamp", "t", "seconds") and len(values) > 1:
            rate = _rate(values[:, k] / 1000 if suit and _in_milliseconds(values[:, k]) else values[:, k])
            continue
        if suit:  # beside places it has speeds, angles and turns
            place = _SUIT.fullmatch(name)
            if place:
                points.setdefault(place[1], {})[place[2].lower()] = k
            continue
        found = _COLUMN.fullmatch(name)
        word, axis = (found[1], found[2]) if found and found[1] else ("", "")
        if not word and (turned := _AXIS_FIRST.fullmatch(name)):
            word, axis = turned[2], turned[1]
        if word:
            points.setdefault(word, {})[axis.lower()] = k
    whole = {word: axes for word, axes in points.items() if len(axes) == 3}
    if not whole:
        raise FormatError(
            "its columns name no points",
            path=path,
            remedy="expected columns such as nose_x, nose_y, nose_z",
        )
    columns = np.array([[axes[c] for c in "xyz"] for axes in whole.values()])
    names = None if all(word.isdigit() for word in whole) else tuple(whole)
    places = values[:, columns]
    if suit and left_handed(tuple(whole), places):
        note = "its axes are left-handed (as Unity's): x is turned round"
        return Table(places * [-1.0, 1.0, 1.0], names, rate, 1.0, note)
    return Table(places, names, rate)


def _in_milliseconds(times: Array) -> bool:
    """Whether times of frames are in milliseconds: nobody records less than one frame a second."""
    return bool(np.median(np.diff(times)) > 1.0)


def left_handed(names: tuple[str, ...], places: Array) -> bool:
    """Whether a body of named points `(T, P, 3)` with y up is a mirror image: its knees bend backwards. Where legs are too
    straight to tell it is as Unity has it, whose axes suits write."""
    known = named_points(names)
    legs = [[known.get(f"{side}_{part}") for part in ("hip", "knee", "ankle")] for side in ("left", "right")]
    if any(k is None for leg in legs for k in leg):
        return True
    (lh, lk, la), (rh, rk, ra) = ([places[:, k] for k in leg if k is not None] for leg in legs)
    ahead = (lk - (lh + la) / 2) + (rk - (rh + ra) / 2)
    left = lh - rh
    # In right-handed axes left x up is ahead.
    turned = left[:, 0] * ahead[:, 2] - left[:, 2] * ahead[:, 0]
    seen = turned[np.isfinite(turned)]
    return not len(seen) or float(seen.sum()) <= 0


def _rate(times: Array) -> float | None:
    """Frames a second of times in seconds, whole where they are nearly so."""
    span = float(times[-1] - times[0])
    if not 0 < span < 1e9:
        return None
    rate = (len(times) - 1) / span
    return float(round(rate)) if abs(rate - round(rate)) < 1e-3 * rate else rate


def from_trc(data: bytes | memoryview, path: Path) -> Table:
    """The markers of a TRC file (Motion Analysis, OpenSim, Pose2Sim)."""
    text = _text(data, path)
    if text.startswith("PathFileType,"):  # saved by a spreadsheet
        text = text.replace(",", "\t")
    lines = text.splitlines()
    if len(lines) < 6:
        raise FormatError("is cut short: it has no frames", path=path)
    facts = dict(
        zip(
            lines[1].split("\t" if "\t" in lines[1] else None),
            lines[2].split("\t" if "\t" in lines[2] else None),
        )
    )
    names = tuple(n.strip() for n in lines[3].split("\t")[2:] if n.strip())
    try:
        rate = float(facts.get("DataRate", "nan"))
    except ValueError:
        rate = float("nan")
    rows = []
    for number, line in enumerate(lines[4:], 5):
        cells = line.split("\t") if "\t" in line else line.split()
        if not cells or not cells[0].strip().lstrip("-").isdigit():
            continue
        numbers = [cell.strip() for cell in cells[2 : 2 + 3 * len(names)]]
        try:
            row = [float(cell) if cell else np.nan for cell in numbers]
        except ValueError:
            raise FormatError("a cell is not a number", path=path, place=f"line {number}") from None
        rows.append(row + [np.nan] * (3 * len(names) - len(row)))
    if not names or not rows:
        raise FormatError("has no markers" if not names else "has no frames", path=path)
    values = np.array(rows).reshape(len(rows), len(names), 3)
    unit = _UNITS.get(facts.get("Units", "").strip().lower())
    said = facts.get("NumFrames", "").strip()
    short = said.isdecimal() and int(said[:12]) > len(rows)
    note = f"is cut short: it says {said[:12]} frames, {len(rows)} are there" if short else ""
    return Table(values, names, rate if 0 < rate < 1e5 else None, unit, note)
