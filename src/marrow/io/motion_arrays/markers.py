"""Points that are no body (`motion="markers"`): every marker of a recording is a joint that moves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError
from marrow.io.motion_arrays.preparation import filled
from marrow.io.motion_arrays.tables import Table
from marrow.model import Character, Clip, Pose, Skeleton, Track
from marrow.report import ReportBuilder

__all__ = ["marker_character"]

Array = NDArray[Any]
MOST = 65_535
_TURNS = {"y": (0, 1, 2), "z": (1, 2, 0), "x": (2, 0, 1)}
"""Which axes of the file are x, y and z here, by the one that is up."""


def marker_character(
    table: Table, path: Path, rate: float | None, up: str | None, report: ReportBuilder
) -> Character:
    """A joint for each marker below one called `markers`, in metres, and a clip of their way."""
    values = np.asarray(table.values)
    if values.ndim != 3 or values.shape[-1] < 3 or values.dtype.kind not in "fiu" or not values.size:
        raise FormatError(f"has no points in 3D: its array is {values.shape}", path=path)
    names = list(table.names or ())
    if len(names) != values.shape[1]:
        names = [f"marker_{k}" for k in range(values.shape[1])]
    places = np.asarray(values[..., :3], np.float64)
    if places.shape[1] > MOST:
        raise FormatError(f"has {places.shape[1]} points, more than {MOST}", path=path)
    seen = np.asarray(np.isfinite(places).all(-1), np.float64)
    kept, points = filled(names, places, seen, path, report)
    if not kept:
        raise FormatError("none of its points is ever seen", path=path)
    said = table.rate or rate
    if rate is not None:
        said = rate
    frames = said or 100.0
    unit = table.unit
    report.add(
        "info",
        "markers",
        f"{len(kept)} markers, {frames:g} frames a second ({'as said' if said else 'assumed'}), "
        f"a unit is {unit or 0.001:g} m ({'as the file says' if unit else 'assumed'})",
    )
    # Tables of text have Y up by custom, C3D files Z.
    axis = up or ("z" if path.suffix.lower() == ".c3d" else "y")
    if up is None:
        report.add("info", "up", f"{axis} is taken to be up; up= says another")
    order = list(_TURNS[axis[-1]])
    points = points[..., order] * (unit or 0.001)
    if axis.startswith("-"):
        points = points * [1.0, -1.0, -1.0]  # half a turn about x
    count = len(kept)
    rest = np.concatenate([np.zeros((1, 3)), points[0]])
    skeleton = Skeleton(
        ("markers", *(str(name) for name in kept)),
        np.array([-1] + [0] * count, np.int32),
        Pose.identity(count + 1).replace(translation=rest.astype(np.float32)),
    )
    times = (np.arange(len(points)) / frames).astype(np.float32)
    tracks = [Track(1 + k, "translation", times, points[:, k].astype(np.float32)) for k in range(count)]
    return Character(skeleton, clips=[Clip("motion", skeleton, tracks, rate=frames)])  # type: ignore[arg-type]
