"""The points of C3D files, the exchange format of optical motion capture: labels, places, rate and unit. Forces and
other analog channels are passed over."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError
from marrow.io.motion_arrays.tables import Table

__all__ = ["from_c3d"]

Array = NDArray[Any]
BLOCK = 512
INTEL = 84
_UNITS = {"mm": 0.001, "cm": 0.01, "m": 1.0, "in": 0.0254}


@dataclass(frozen=True)
class _Header:
    points: int
    analog: int
    first: int
    last: int
    scale: float
    data_block: int
    rate: float


def from_c3d(data: bytes | memoryview, path: Path) -> Table:
    """The points of a C3D file `(T, P, 3)`; those that were not seen are NaN."""
    raw = bytes(data)
    if len(raw) < 2 * BLOCK or raw[1] != 0x50:
        raise FormatError("is no C3D file", path=path)
    try:
        head = _header(raw)
        facts = _parameters(raw, BLOCK * (raw[0] - 1), path)
    except (struct.error, IndexError, ValueError) as error:
        raise FormatError(f"its header cannot be read: {error}", path=path) from None
    frames = head.last - head.first + 1
    long = facts.get(("POINT", "FRAMES"))
    if isinstance(long, np.ndarray) and long.size and int(long[0]) % 65536 == frames % 65536:
        frames = int(long[0])  # where there are more than 65,535
    if frames < 1 or head.points < 1:
        raise FormatError("has no points" if head.points < 1 else "has no frames", path=path)
    real = head.scale < 0
    kind = np.dtype("<f4") if real else np.dtype("<i2")
    width = 4 * head.points + head.analog
    begin = BLOCK * (head.data_block - 1)
    there = max(len(raw) - begin, 0) // (width * kind.itemsize)
    if begin < BLOCK or there < frames:
        raise FormatError(f"is cut short: {there} whole frames of {frames}", path=path)
    values = np.frombuffer(raw, kind, frames * width, begin).reshape(frames, width)[:, : 4 * head.points]
    rows = values.reshape(frames, head.points, 4).astype(np.float64)
    places = rows[..., :3] if real else rows[..., :3] * abs(head.scale)
    unseen = (rows[..., 3] < 0) | ~np.isfinite(places).all(-1)
    names = _labels(facts, head.points)
    units = facts.get(("POINT", "UNITS"))
    unit = str(units[0]).lower() if isinstance(units, list) and units else ""
    rate = head.rate if 0 < head.rate < 1e5 else None
    return Table(np.where(unseen[..., None], np.nan, places), names, rate, _UNITS.get(unit))


def _header(raw: bytes) -> _Header:
    points, analog, first, last = struct.unpack_from("<4H", raw, 2)
    (scale,) = struct.unpack_from("<f", raw, 12)
    (block,) = struct.unpack_from("<H", raw, 16)
    (rate,) = struct.unpack_from("<f", raw, 20)
    return _Header(points, analog, first, last, scale, block, rate)


def _parameters(raw: bytes, at: int, path: Path) -> dict[tuple[str, str], Any]:
    """Parameters by group and name: lists of text, or arrays of numbers."""
    if not BLOCK <= at < len(raw) - 4:
        raise ValueError("its parameters are outside the file")
    if raw[at + 3] != INTEL:
        raise FormatError(
            "is written in the numbers of a DEC or SGI machine, which are not read",
            path=path,
            remedy="write it again with any C3D tool of today",
        )
    end = min(at + BLOCK * max(raw[at + 2], 1), len(raw))
    groups: dict[int, str] = {}
    found: list[tuple[int, str, Any]] = []
    at += 4
    while at + 2 < end:
        size, group = abs(struct.unpack_from("<b", raw, at)[0]), struct.unpack_from("<b", raw, at + 1)[0]
        if size == 0:
            break
        name = raw[at + 2 : at + 2 + size].decode("latin-1").strip().upper()
        step_at = at + 2 + size
        (step,) = struct.unpack_from("<H", raw, step_at)
        if group < 0:
            groups[-group] = name
        elif group > 0:
            found.append((group, name, _value(raw, step_at + 2)))
        if step == 0:
            break
        at = step_at + step
    return {(groups.get(group, ""), name): value for group, name, value in found}


def _value(raw: bytes, at: int) -> Any:
    (kind,) = struct.unpack_from("<b", raw, at)
    count = raw[at + 1]
    sizes = list(raw[at + 2 : at + 2 + count])
    total = int(np.prod(sizes)) if sizes else 1
    body = raw[at + 2 + count : at + 2 + count + total * abs(kind)]
    if kind == -1:
        width = sizes[0] if sizes else 1
        return [body[k : k + width].decode("latin-1").strip() for k in range(0, len(body), max(width, 1))]
    types = {1: "<u1", 2: "<u2", 4: "<f4"}
    return np.frombuffer(body[: len(body) // kind * kind], types[kind]) if kind in types else []


def _labels(facts: dict[tuple[str, str], Any], count: int) -> tuple[str, ...]:
    labels: list[str] = []
    for name in ("LABELS", "LABELS2", "LABELS3", "LABELS4"):
        given = facts.get(("POINT", name))
        labels += given if isinstance(given, list) else []
    labels = labels[:count]
    return (*labels, *(f"point {k}" for k in range(len(labels), count)))
