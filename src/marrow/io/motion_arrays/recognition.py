"""What an array of numbers is: which of the known orders of key points, or HumanML3D's features.

Shapes propose, proportions decide: points in the wrong order have arms and legs that change their length, or none that
anybody has. What remains possible more than once is an error with the options that say it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError
from marrow.io.motion_arrays.tables import Table
from marrow.motion.point_body import missing_points, unlikely_body
from marrow.motion.point_layouts import LAYOUTS, PointLayout, named_points
from marrow.motion.skin_markers import joints_of_markers

__all__ = ["HUMANML3D", "PICTURE", "KeyPoints", "in_a_picture", "key_points"]

Array = NDArray[Any]
HUMANML3D = 263
PICTURE = "its third numbers are confidences: these are points in a picture, and points in 3D are needed"
MOST_FRAMES = 2_000_000
MOST_CLIPS = 1000
SAMPLES = 500
_POSES = {66: "22", 72: "24", 156: "52", 165: "55"}
"""Widths that rotations of SMPL, SMPL+H and SMPL-X have too, and their joints."""


@dataclass
class KeyPoints:
    """Recordings of named points: `clips` of places `(T, P, 3)` with `sure (T, P)` (0: not seen), and what they
    were recognised as."""

    names: tuple[str, ...]
    clips: list[tuple[Array, Array]]
    words: str
    rate: float
    rate_told: str
    unit: float | None = None
    up: str | None = None


def key_points(table: Table, path: Path, motion: str | None) -> KeyPoints:
    """The points in a table: by their names where it has some, else by their order."""
    values = np.asarray(table.values)
    if values.dtype.kind not in "fiu":
        raise FormatError(f"holds {values.dtype}, not numbers", path=path)
    if not values.size:
        raise FormatError(f"has no frames: its array is {values.shape}", path=path)
    if table.names is not None and motion is None:
        if values.ndim > 2 and len(table.names) != values.shape[1]:
            raise FormatError(
                f"it has {len(table.names)} names and {values.shape[1]} points", path=path,
                remedy="a name for each point, or none and motion=...",
            )  # fmt: skip
        if len(table.names) == values.shape[1]:
            return _named(table, values, path)
    found = _laid_out(values, path, motion)
    return _of_layout(*found, table)


def _of_layout(layout: PointLayout, clips: list[Array], why: str, table: Table) -> KeyPoints:
    used = [k for k, name in enumerate(layout.points) if name]
    names = tuple(name for name in layout.points if name)
    told = "as the file says" if table.rate else "assumed for this kind of file"
    return KeyPoints(
        names, [_split(clip[:, used]) for clip in clips], f"{layout.words} ({layout.name}), told by {why}",
        table.rate or layout.rate, told, table.unit, layout.up,
    )  # fmt: skip


def _split(values: Array) -> tuple[Array, Array]:
    """Places, and how sure they are."""
    values = np.asarray(values, np.float64)
    sure = np.asarray(np.isfinite(values[..., :3]).all(-1), np.float64)
    if values.shape[-1] > 3:
        given = values[..., 3]
        sure = np.asarray(np.where(np.isfinite(given), np.clip(given, 0.0, None) * sure, 0.0))
    return values[..., :3], sure


def _named(table: Table, values: Array, path: Path) -> KeyPoints:
    if values.ndim != 3 or values.shape[-1] < 3:
        raise FormatError(f"its points have no three coordinates: {values.shape}", path=path)
    _check_frames(len(values), path)
    columns = named_points(table.names or ())
    missing = missing_points(list(columns))
    markers = joints_of_markers(table.names or (), values[..., :3]) if missing else None
    if markers is not None:
        names, places = markers
        told = "as the file says" if table.rate else "assumed: the file does not say"
        words = f"{values.shape[1]} markers on the skin (Plug-in Gait), as {len(names)} joints"
        return KeyPoints(names, [_split(places)], words, table.rate or 100.0, told, table.unit)
    if missing:
        some = ", ".join((table.names or ())[:12])
        raise FormatError(
            f"its points are no body: none of them is called {', '.join(m.replace('_', ' ') for m in missing[:4])}"
            f"{' and others' if len(missing) > 4 else ''}; it has {some}{', ...' if len(table.names or ()) > 12 else ''}",
            path=path,
            remedy="joints of arms and legs are needed (RShoulder, left_knee, ...), or markers as Plug-in Gait calls them "
            "(LASI, RASI, LPSI, RPSI, LKNE, LANK, LSHO, LELB, LWRA, ...); motion='markers' (--motion markers) reads them "
            "as points",
        )
    if values.shape[-1] == 3 and in_a_picture(values[:, list(columns.values())]):
        raise FormatError(PICTURE, path=path)
    told = "as the file says" if table.rate else "assumed: the file does not say"
    return KeyPoints(
        tuple(columns), [_split(values[:, list(columns.values())])],
        f"{len(columns)} of {values.shape[1]} points, told by their names", table.rate or 30.0, told, table.unit,
    )  # fmt: skip


def _laid_out(values: Array, path: Path, motion: str | None) -> tuple[PointLayout, list[Array], str]:
    """The layout of an array, its recordings `(T, P, C)`, and what told it."""
    if motion is not None:
        layout = LAYOUTS[motion]
        shaped = _shaped(values, len(layout.points))
        if shaped is None:
            P = len(layout.points)
            raise FormatError(
                f"is no array of {layout.words}: it is {values.shape}, expected (T, {P}, 3), ({P}, 3, T) or (T, {3 * P})",
                path=path,
            )
        _check_all(shaped, path)
        if shaped[0].shape[-1] == 3 and in_a_picture(shaped[0]):
            raise FormatError(PICTURE, path=path)
        return layout, shaped, "motion="
    possible, rejected = [], []
    for layout in LAYOUTS.values():
        shaped = _shaped(values, len(layout.points))
        if shaped is None:
            continue
        _check_all(shaped, path)
        wrong = _wrong(layout, shaped[0])
        if wrong:
            rejected.append(f"{layout.words} (motion={layout.name!r}): {wrong}")
        else:
            possible.append((layout, shaped))
    turns = values.ndim == 2 and values.shape[1] in _POSES
    if len(possible) == 1:
        return *possible[0], "the shape of its array and the proportions of the body"
    if possible:
        raise FormatError(
            f"an array {values.shape} could be {' or '.join(f'{p.words} (motion={p.name!r})' for p, _ in possible)}",
            path=path,
            remedy=f"say which: motion={possible[0][0].name!r}, or --motion {possible[0][0].name}",
        )
    if turns:
        rejected.append(
            f"rotations of {_POSES[values.shape[1]]} joints of SMPL (motion='smpl'): it cannot be told by numbers alone"
        )
    if rejected:
        raise FormatError(
            f"an array {values.shape} is not recognised for certain. It could be " + "; or ".join(rejected),
            path=path,
            remedy="say what it is with motion=..., or --motion",
        )
    raise FormatError(
        f"an array {values.shape} is no motion that is known",
        path=path,
        remedy=f"expected HumanML3D (T, {HUMANML3D}), or (T, P, 3) with P = "
        + ", ".join(f"{len(x.points)} ({x.name})" for x in LAYOUTS.values()),
    )


def _shaped(values: Array, P: int) -> list[Array] | None:
    """Recordings `(T, P, C)` in an array: frames first or last, flat, or several of them."""
    shape = values.shape
    if values.ndim == 2 and shape[1] in (3 * P, 4 * P):
        return [values.reshape(shape[0], P, shape[1] // P)]
    if values.ndim == 3 and shape[1] == P and shape[2] in (3, 4, 5):
        return [values]
    if values.ndim == 3 and shape[:2] == (P, 3):
        return [values.transpose(2, 0, 1)]
    if values.ndim == 4 and shape[0] <= MOST_CLIPS:
        if shape[2] == P and shape[3] in (3, 4, 5):
            return list(values)
        if shape[1:3] == (P, 3):
            return [v.transpose(2, 0, 1) for v in values]
    return None


def _check_all(clips: list[Array], path: Path) -> None:
    if not clips:
        raise FormatError("has no frames", path=path)
    for clip in clips:
        _check_frames(len(clip), path)


def _check_frames(T: int, path: Path) -> None:
    if not T:
        raise FormatError("has no frames", path=path)
    if T > MOST_FRAMES:
        raise FormatError(
            f"has {T:,} frames, more than {MOST_FRAMES:,}", path=path, remedy="cut it into several files"
        )


def _wrong(layout: PointLayout, clip: Array) -> str:
    """Why a recording can hardly be in this layout; empty where it can."""
    places, sure = _split(clip)
    if clip.shape[-1] == 3 and in_a_picture(places):
        return PICTURE
    names = [name or f"?{k}" for k, name in enumerate(layout.points)]
    seen = (sure > 0).all(axis=1)
    if not seen.any():
        needed = [k for k, name in enumerate(names) if name.partition("_")[2] in _LIMB]
        seen = (sure[:, needed] > 0).all(axis=1)
    if not seen.any():
        return "no frame shows the whole body"
    some = places[seen]
    return unlikely_body(names, some[:: max(1, len(some) // SAMPLES)])


def in_a_picture(places: Array) -> bool:
    """Whether points `(T, P, 3)` are pixels with how sure they are: wide, and flatter than any body."""
    given = np.asarray(places, np.float64)
    seen = np.asarray(np.isfinite(given).all(axis=-1))
    given, seen = given[seen.any(axis=1)], seen[seen.any(axis=1)]
    if not len(given):
        return False
    sure, flat = given[seen][:, 2], given[..., :2]
    low = np.where(seen[..., None], flat, np.inf).min(axis=1)
    high = np.where(seen[..., None], flat, -np.inf).max(axis=1)
    return bool(np.median(high - low) > 20 and sure.min() >= 0 and sure.max() <= 1)


_LIMB = {"shoulder", "elbow", "wrist", "hip", "knee", "ankle"}
