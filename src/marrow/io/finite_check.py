"""Whether all numbers of a character are finite, as every file must have them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.model import Character, Mesh

__all__ = ["check_finite", "check_finite_data"]

Array = NDArray[Any]
_MESH = ("positions", "normals", "tangents", "colors", "weights", "inverse_bind", "dual_quaternion_weights")


def check_finite(character: Character) -> None:
    """Raises a `ValidationError` that names the first number of a character that is NaN or infinite."""
    seen: set[tuple[int, tuple[int, ...]]] = set()
    for place, values in _arrays(character):
        key = (values.__array_interface__["data"][0], values.shape)
        if key not in seen:  # instances share their arrays
            seen.add(key)
            _check(place, values)
    check_finite_data("Character.extras", character.extras)
    check_finite_data("Character.vrm", character.vrm)
    for material in character.materials:
        check_finite_data(f"Material({material.name!r})", material)
    check_finite_data("Character.cameras", character.cameras)
    check_finite_data("Character.lights", character.lights)


def _arrays(character: Character) -> Iterator[tuple[str, Array]]:
    rest = character.skeleton.rest
    for field in ("translation", "rotation", "scale", "morphs"):
        yield f"Skeleton.rest.{field}", getattr(rest, field)
    for socket in character.skeleton.sockets:
        for field in ("translation", "rotation", "scale"):
            yield f"Socket({socket.name!r}).{field}", getattr(socket, field)
    for mesh in (*character.meshes, *(m for level in character.reduced for m in level.meshes)):
        yield from _mesh_arrays(mesh)
    for clip in character.clips.values():
        yield f"Clip({clip.name!r}).tracks", clip.tracks.values


def _mesh_arrays(mesh: Mesh) -> Iterator[tuple[str, Array]]:
    who = f"Mesh({mesh.name!r})"
    for field in _MESH:
        if (values := getattr(mesh, field)) is not None:
            yield f"{who}.{field}", values
    for i, uv in enumerate(mesh.uvs):
        yield f"{who}.uvs[{i}]", uv
    for name, values in mesh.attributes.items():
        yield f"{who}.attributes[{name!r}]", values
    for target in mesh.morph_targets:
        for field in ("positions", "normals", "tangents"):
            if (values := getattr(target, field)) is not None:
                yield f"{who}, morph target {target.name!r}, {field}", values
        for name, values in target.attributes.items():
            yield f"{who}, morph target {target.name!r}, {name}", values


def _check(place: str, values: Array) -> None:
    with np.errstate(all="ignore"):
        # The sum is finite where all numbers are, unless it overflows; it is many times quicker than looking at each.
        if np.isfinite(values.sum()) or np.isfinite(values).all():
            return
    rows = values.reshape(len(values), -1)
    row = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
    raise ValidationError(f"{place}: row {row} is not finite: {rows[row].tolist()[:12]}")


def check_finite_data(place: str, value: Any) -> None:
    """The same for JSON-like data, which has no way to write numbers that are not finite."""
    stack = [(place, value)]
    while stack:
        where, inner = stack.pop()
        if inner is None or isinstance(inner, (str, int)):
            continue
        if isinstance(inner, float):
            if not math.isfinite(inner):
                raise ValidationError(f"{where}: {inner} is not finite")
        elif isinstance(inner, dict):
            stack.extend((f"{where}.{key}" if where else key, item) for key, item in inner.items())
        elif isinstance(inner, (list, tuple)):
            stack.extend((f"{where}[{i}]", item) for i, item in enumerate(inner))
        elif is_dataclass(inner):
            stack.extend((f"{where}.{f.name}", getattr(inner, f.name)) for f in fields(inner))
