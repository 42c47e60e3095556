"""One primitive: its vertices and its triangles, out of accessors or Draco data."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.gltf import draco
from marrow.io.gltf.accessors import COMPONENTS, WIDTHS, normalized_floats
from marrow.io.gltf.context import Context
from marrow.io.gltf.schema import Draco, Primitive
from marrow.math.counting import bincount
from marrow.math.elementary import dot

__all__ = ["OWN", "Delta", "PrimitiveVertices", "finite", "read_triangles", "read_vertices", "smooth_normals"]

Array = NDArray[Any]
DUAL_QUATERNION_WEIGHT = "_DUAL_QUATERNION_WEIGHT"
# Before the name of an attribute: what it was before it was mended to what glTF allows.
OWN = "_MARROW_"
POINTS, LINES, LINE_LOOP, LINE_STRIP, TRIANGLES, STRIP, FAN = range(7)
_MODES = ("points", "lines", "a line loop", "a line strip", "triangles", "a triangle strip", "a triangle fan")


@dataclass(slots=True)
class Delta:
    """One morph target of one primitive. `vertices` names those it moves; None stands for all of them."""

    positions: Array | None = None
    normals: Array | None = None
    tangents: Array | None = None
    vertices: Array | None = None
    attributes: dict[str, Array] = field(default_factory=dict)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The arrays it has."""
        return tuple(name for name in ("positions", "normals", "tangents") if getattr(self, name) is not None)


@dataclass(slots=True)
class PrimitiveVertices:
    """The vertices of a primitive in accessor order; joints and weights still as the file has them."""

    positions: Array
    normals: Array | None = None
    tangents: Array | None = None
    uvs: list[Array] = field(default_factory=list)
    colors: Array | None = None
    joints: Array | None = None
    weights: Array | None = None
    dual_quaternion_weights: Array | None = None
    deltas: list[Delta] = field(default_factory=list)
    attributes: dict[str, Array] = field(default_factory=dict)

    @property
    def layout(self) -> tuple[Any, ...]:
        """What primitives must share to become sections of one mesh."""
        parts = (self.normals, self.tangents, self.colors, self.dual_quaternion_weights)
        others = tuple((name, a.dtype.str, a.shape[1:]) for name, a in sorted(self.attributes.items()))
        return (len(self.uvs), *(a is not None for a in parts), others)


class _Attributes:
    """The arrays of a primitive by attribute name, whichever way they are stored."""

    def __init__(self, ctx: Context, primitive: Primitive, place: str) -> None:
        self._ctx, self._place = ctx, place
        self.names = primitive.attributes
        self._packed: dict[str, Array] = {}
        self.faces: Array | None = None
        packed = ctx.extension(primitive.extensions, "KHR_draco_mesh_compression", Draco, place)
        if packed is None:
            return
        required = "KHR_draco_mesh_compression" in ctx.document.extensionsRequired
        if not required and not draco.installed():
            return  # then the file carries the same data unpacked
        data = bytes(ctx.accessors.view(packed.bufferView, place)[0])
        self.faces, by_id = draco.unpack(data, ctx.source.path, place)
        for name, unique in packed.attributes.items():
            if unique not in by_id:
                raise ctx.refuse(f"its Draco data has no attribute {unique} for {name}", place)
            ctx.budget.charge(by_id[unique].nbytes, place)
            self._packed[name] = by_id[unique]

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def own(self, name: str) -> str:
        """The attribute to read for another: the one beside it, as it was before it was mended, where there is one."""
        return OWN + name if OWN + name in self.names else name

    def floats(self, name: str, kind: str) -> Array:
        if name not in self._packed:
            return self._ctx.accessors.floats(self.names[name], kind)
        accessor = self._ctx.accessors.definition(self.names[name])
        values, component = self._packed[name], COMPONENTS.get(accessor.componentType)
        if accessor.type != kind or values.shape[1] != WIDTHS[kind] or component is None:
            raise self._ctx.refuse(f"{name}: expected {kind}", self._place)
        # The decoder hands small integers out as large ones; fractions are of the file's own type.
        return normalized_floats(values.astype(component), accessor.normalized)

    def either(self, name: str, *kinds: str) -> Array:
        found = self._ctx.accessors.definition(self.names[name]).type
        return self.floats(name, found if found in kinds else kinds[0])

    def any(self, name: str) -> Array | None:
        """An attribute as the file has it, fractions as numbers; None for one that is no vector."""
        accessor = self._ctx.accessors.definition(self.names[name])
        if WIDTHS.get(accessor.type, 16) > 4:
            return None
        if accessor.normalized or accessor.componentType == 5126:
            values = self.floats(name, accessor.type)
        elif name in self._packed:
            component = COMPONENTS.get(accessor.componentType)
            if component is None or self._packed[name].shape[1] != WIDTHS[accessor.type]:
                return None
            values = self._packed[name].astype(component)
        else:
            values = self._ctx.accessors.raw(self.names[name])
        return values[:, 0] if accessor.type == "SCALAR" else values

    def integers(self, name: str) -> Array:
        if name in self._packed:
            values = self._packed[name]
            if values.dtype.kind not in "iu" or values.shape[1] != 4:
                raise self._ctx.refuse(f"{name}: expected VEC4 of unsigned integers", self._place)
            return values.astype(np.uint32)
        return self._ctx.accessors.integers(self.names[name], "VEC4")


_KEPT = re.compile(r"_.+|COLOR_[1-9]\d*|TEXCOORD_\d+|[A-Z]+_\w+:.+")
"""Attributes that are kept as they are: those of applications and extensions, further colours, coordinates beyond a gap."""
_FIELDS = ("positions", "normals", "tangents")
_KEPT_DELTAS = re.compile(r"_.+|COLOR_\d+|TEXCOORD_\d+")


def _follows(name: str, names: Iterable[str]) -> bool:
    """Whether all sets before a numbered one (`COLOR_2`) are there, as glTF wants it."""
    word, _, number = name.rpartition("_")
    return len(number) < 6 and {f"{word}_{k}" for k in range(int(number))} <= set(names)


def read_vertices(ctx: Context, primitive: Primitive, place: str) -> tuple[PrimitiveVertices, Array | None]:
    """The vertices of a primitive, and its faces where Draco packed them too."""
    attributes = _Attributes(ctx, primitive, place)
    if "POSITION" not in attributes:
        raise ctx.refuse("has no POSITION", place)
    out = PrimitiveVertices(attributes.floats("POSITION", "VEC3"))
    known = {"POSITION"}
    known |= {OWN + name for name in ("NORMAL", "TANGENT", "COLOR_0") if name in attributes}
    if "NORMAL" in attributes:
        out.normals = attributes.floats(attributes.own("NORMAL"), "VEC3")
        known.add("NORMAL")
    if "TANGENT" in attributes:
        name = attributes.own("TANGENT")
        tangents = attributes.floats(name, "VEC4")
        out.tangents = _handed(tangents) if name == "TANGENT" else tangents
        known.add("TANGENT")
    while (name := f"TEXCOORD_{len(out.uvs)}") in attributes:
        out.uvs.append(attributes.floats(name, "VEC2"))
        known.add(name)
    if "COLOR_0" in attributes:
        out.colors = _with_alpha(attributes.either(attributes.own("COLOR_0"), "VEC4", "VEC3"))
        known.add("COLOR_0")
    joints: list[Array] = []
    weights: list[Array] = []
    while (name := f"JOINTS_{len(joints)}") in attributes and (
        other := f"WEIGHTS_{len(joints)}"
    ) in attributes:
        joints.append(attributes.integers(name))
        weights.append(attributes.floats(other, "VEC4"))
        known |= {name, other}
    if joints:
        out.joints = joints[0] if len(joints) == 1 else _side_by_side(ctx, joints, place)
        out.weights = weights[0] if len(weights) == 1 else _side_by_side(ctx, weights, place)
    if DUAL_QUATERNION_WEIGHT in attributes:
        out.dual_quaternion_weights = attributes.floats(DUAL_QUATERNION_WEIGHT, "SCALAR")[:, 0]
        known.add(DUAL_QUATERNION_WEIGHT)
    V = len(out.positions)
    for name in attributes.names:
        if name not in known:
            kept = attributes.any(name) if _KEPT.fullmatch(name) else None
            if kept is None or not np.isfinite(kept).all() or len(kept) != V:
                ctx.report.add("dropped", name, "marrow does not keep this vertex attribute")
                continue
            ctx.budget.charge(kept.nbytes, place)
            if not name.startswith("_") and ":" not in name and not _follows(name, attributes.names):
                ctx.report.add(
                    "repaired", name, f"the ones before it are missing; it is called '_{name}' now"
                )
                name = f"_{name}"
            out.attributes[name] = kept
    for array in (
        out.normals,
        out.tangents,
        out.colors,
        out.joints,
        out.weights,
        out.dual_quaternion_weights,
        *out.uvs,
    ):
        if array is not None and len(array) != V:
            raise ctx.refuse(f"its attributes have {V} and {len(array)} vertices", place)
    out.deltas = [_delta(ctx, t, V, f"{place}.targets[{i}]") for i, t in enumerate(primitive.targets or ())]
    return out, attributes.faces


def _side_by_side(ctx: Context, arrays: list[Array], place: str) -> Array:
    if len({len(a) for a in arrays}) > 1:
        raise ctx.refuse("its sets of joints and weights have different lengths", place)
    ctx.budget.charge(sum(a.nbytes for a in arrays), place)
    return np.concatenate(arrays, axis=1)


def finite(ctx: Context, values: Array, place: str, what: str) -> Array:
    """The values, with rows that are not finite numbers set to zero there and reported."""
    if math.isfinite(values.sum()):  # then all are; it is quicker than to look at each
        return values
    good = np.isfinite(values)
    if good.all():
        return values
    rows = int((~good.all(axis=1)).sum())
    ctx.report.add(
        "repaired", place, f"{rows} vertices had {what} that are not finite; they were set to zero"
    )
    ctx.budget.charge(values.nbytes, place)
    return np.where(good, values, np.float32(0))


def _handed(tangents: Array) -> Array:
    """Tangents whose `w` is +1 or -1."""
    if (np.abs(tangents[:, 3]) == 1).all():
        return tangents
    out = tangents.copy()
    out[:, 3] = np.where(tangents[:, 3] < 0, -1, 1)
    return out


def _with_alpha(colors: Array) -> Array:
    if colors.shape[1] == 4:
        return colors
    return np.concatenate([colors, np.ones((len(colors), 1), np.float32)], axis=1)


def _delta(ctx: Context, target: dict[str, int], V: int, place: str) -> Delta:
    out = Delta()
    fields = {"POSITION": "positions", "NORMAL": "normals", "TANGENT": "tangents"}
    for name in target:
        if name not in fields and not _KEPT_DELTAS.fullmatch(name):
            ctx.report.add("dropped", name, "marrow does not keep this attribute of morph targets")
    others = {
        name: index for name, index in target.items() if name not in fields and _KEPT_DELTAS.fullmatch(name)
    }
    present = {f: target[a] for a, f in fields.items() if a in target}
    for index in (*present.values(), *others.values()):
        if ctx.accessors.definition(index).count != V:
            raise ctx.refuse(f"it has {ctx.accessors.definition(index).count} vertices, its mesh {V}", place)
    for name in [n for n, i in others.items() if WIDTHS.get(ctx.accessors.definition(i).type, 16) > 4]:
        ctx.report.add("dropped", name, "marrow does not keep this attribute of morph targets")
        del others[name]
    if _read_sparse(ctx, present | others, out, place):
        return out
    for name, index in others.items():
        kind = ctx.accessors.definition(index).type
        out.attributes[name] = finite(ctx, ctx.accessors.floats(index, kind), place, "deltas")
        ctx.budget.charge(out.attributes[name].nbytes, place)
        if kind == "SCALAR":
            out.attributes[name] = out.attributes[name][:, 0]
    if "positions" not in present:
        ctx.budget.charge(12 * V, place)
    for name, index in present.items():
        if index in ctx.morphed:
            ctx.budget.charge(
                12 * V, place
            )  # one array for many targets: each of them is gone through all the same
        ctx.morphed.add(index)
        setattr(out, name, finite(ctx, ctx.accessors.floats(index, "VEC3"), place, "deltas"))
    return out


def _read_sparse(ctx: Context, present: dict[str, int], out: Delta, place: str) -> bool:
    """Reads a target that is stored as changes to zero as just those changes, where all its arrays agree on
    them."""
    parts: dict[str, Array] = {}
    rows: Array | None = None
    for name, index in present.items():
        accessor = ctx.accessors.definition(index)
        if accessor.bufferView is not None or accessor.componentType != 5126:
            return False
        if name in _FIELDS and accessor.type != "VEC3":
            return False
        width = WIDTHS[accessor.type]
        if accessor.sparse is None:  # nothing but zeros
            indices, values = np.zeros(0, np.uint32), np.zeros((0, width), np.float32)
        else:
            indices, values = ctx.accessors.sparse_parts(
                accessor, accessor.sparse, width, np.dtype("<f4"), place
            )
        if rows is not None and not np.array_equal(rows, indices):
            return False
        rows = indices
        parts[name] = values
    if rows is None or len(np.unique(rows)) != len(rows):
        return False
    out.vertices = rows
    for name, values in parts.items():
        good = finite(ctx, values, place, "deltas")
        if name in _FIELDS:
            setattr(out, name, good)
        else:
            out.attributes[name] = good[:, 0] if good.shape[1] == 1 else good
    return True


def read_triangles(ctx: Context, primitive: Primitive, faces: Array | None, V: int, place: str) -> Array:
    """The triangles `(F, 3)` of a primitive; strips and fans are taken apart, points and lines have none."""
    mode = primitive.mode
    if not 0 <= mode < len(_MODES):
        raise ctx.refuse(f"mode {mode} does not exist", place)
    if mode < TRIANGLES:
        ctx.report.add("info", place, f"it draws {_MODES[mode]}; its vertices are kept, it has no triangles")
        return np.zeros((0, 3), np.uint32)
    if faces is not None:
        indices = faces.reshape(-1)
    elif primitive.indices is not None:
        indices = ctx.accessors.integers(primitive.indices, "SCALAR")[:, 0]
    else:
        ctx.budget.charge(V * 4, place)
        indices = np.arange(V, dtype=np.uint32)
    if len(indices) and int(indices.max()) >= V:
        raise ctx.refuse(f"index {indices.max()} is out of range for {V} vertices", place)
    if mode == TRIANGLES or faces is not None:
        if len(indices) % 3:
            ctx.report.add("repaired", place, f"{len(indices) % 3} indices at the end make no triangle")
            indices = indices[: len(indices) - len(indices) % 3]
        return indices.reshape(-1, 3)
    ctx.budget.charge(len(indices) * 12, place)
    return _unrolled(indices.astype(np.uint32), fan=mode == FAN)


def _unrolled(indices: Array, *, fan: bool) -> Array:
    """The triangles of a strip or fan; the degenerate ones that only stitch a strip together are left out."""
    count = max(len(indices) - 2, 0)
    i = np.arange(count)
    if fan:
        corners = (i + 1, i + 2, np.zeros(count, int))
    else:
        corners = (i, i + 1 + i % 2, i + 2 - i % 2)
    triangles = np.stack([indices[c] for c in corners], axis=1) if count else np.zeros((0, 3), np.uint32)
    a, b, c = triangles.T
    return np.ascontiguousarray(triangles[(a != b) & (b != c) & (c != a)])


def smooth_normals(positions: Array, triangles: Array) -> Array:
    """Normals `(V, 3)` from the triangles at each vertex, weighted by area; +Z where there are none."""
    x, y, z = (np.ascontiguousarray(positions[:, k], np.float64)[triangles.T] for k in range(3))
    (ax, bx), (ay, by), (az, bz) = ((c[1] - c[0], c[2] - c[0]) for c in (x, y, z))
    # Twice the area long: exactly the weight wanted.
    face = (ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx)
    at = triangles.ravel()
    normals = np.stack([bincount(at, np.repeat(part, 3), len(positions)) for part in face], axis=1)
    length = np.sqrt(dot(normals, normals))[:, None]
    flat = ~((length > 0) & np.isfinite(length))
    out = np.where(flat, [0.0, 0.0, 1.0], normals / np.where(flat, 1, length))
    return out.astype(np.float32)
