"""Surfaces that robots refer to: STL (binary and text) and OBJ."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError
from marrow.io.robots.shapes import Surface
from marrow.io.source import Source

__all__ = ["read_surface"]

Array = NDArray[Any]
_STL = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("note", "<u2")])


def read_surface(source: Source, reference: str) -> Surface:
    """The surface in a file beside the robot's. `package://` and far folders are looked for beside it."""
    data = _found(source, reference)
    suffix = PurePosixPath(reference.lower()).suffix
    if suffix == ".stl":
        corners = _stl(data)
    elif suffix == ".obj":
        corners = _obj(data)
    else:
        raise FormatError(
            f"{suffix or 'a file without a suffix'} is not read, only .stl and .obj", path=source.path
        )
    if not len(corners) or not np.isfinite(corners).all():
        raise FormatError("has no surface made of finite numbers", path=source.path)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]).astype(np.float64)
    length = np.linalg.norm(across, axis=-1, keepdims=True)
    normals = np.where(length > 0, across / np.where(length > 0, length, 1), [0.0, 0.0, 1.0])
    triangles = np.arange(3 * len(corners)).reshape(-1, 3)
    return corners.reshape(-1, 3).astype(np.float64), np.repeat(normals, 3, axis=0), triangles


def _found(source: Source, reference: str) -> bytes:
    path = reference.replace("\\", "/")
    tries = []
    for scheme in ("package://", "model://", "file://"):
        if path.startswith(scheme):
            path = path[len(scheme) :].lstrip("/")
            tries = [path.partition("/")[2]]
    parts = [p for p in path.split("/") if p not in ("", "..", ".")]
    tries = [path, *tries, *("/".join(parts[k:]) for k in range(len(parts)))]
    reasons = []
    for name in dict.fromkeys(t for t in tries if t):
        try:
            return source.neighbour(name)
        except FormatError as error:
            reasons.append(error.message)
    outside = any("outside its own folder" in reason for reason in reasons)
    raise FormatError(
        "it lies outside the folder of the file (allow_outside=True reads it)" if outside else "no such file",
        path=source.path,
    )


def _stl(data: bytes) -> Array:
    count = int.from_bytes(data[80:84], "little")
    if len(data) >= 84 + count * _STL.itemsize and count:
        return np.frombuffer(data, _STL, count, 84)["corners"]
    if data[:5].lower() != b"solid":
        raise FormatError(f"is an STL of {count} triangles that ends before them")
    words = data.split()
    at = [k for k, word in enumerate(words) if word.lower() == b"vertex"]
    return _corners([words[k + 1 : k + 4] for k in at])


def _corners(rows: list[list[bytes]]) -> Array:
    try:
        return np.array(rows, np.float64).reshape(-1, 3, 3)
    except ValueError:
        raise FormatError("is an STL whose vertices are not numbers in threes") from None


def _obj(data: bytes) -> Array:
    places: list[list[float]] = []
    faces: list[tuple[int, int, int]] = []
    try:
        for line in data.decode("utf-8", "replace").splitlines():
            kind, *words = line.split() or [""]
            if kind == "v":
                places.append([float(w) for w in words[:3]])
            elif kind == "f":
                corner = [int(w.partition("/")[0]) for w in words]
                corner = [k - 1 if k > 0 else len(places) + k for k in corner]
                faces += [(corner[0], corner[k], corner[k + 1]) for k in range(1, len(corner) - 1)]
        points, index = np.array(places, np.float64).reshape(-1, 3), np.array(faces, np.int64).reshape(-1, 3)
        if len(index) and (index.min() < 0 or index.max() >= len(points)):
            raise ValueError("a face has a vertex that is not there")
    except ValueError as error:
        raise FormatError(f"is no OBJ: {error}") from None
    return points[index]
