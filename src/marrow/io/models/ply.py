"""PLY in: text and binary of both byte orders; points with normals, colours and UVs, polygons and triangle strips."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError
from marrow.io.bvh.motion import first_numbers
from marrow.io.images import media_type
from marrow.io.models.one_joint import ModelPart, as_character, from_srgb, model_mesh
from marrow.io.source import LoadOptions, Source
from marrow.model import Character, Image, Material, Texture
from marrow.report import ReportBuilder

__all__ = ["read"]

Array = NDArray[Any]
_TYPES = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "float": "f4", "double": "f8",
    "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4", "float32": "f4",
    "float64": "f8",
}  # fmt: skip
_FORMATS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
_INDICES = ("vertex_indices", "vertex_index")
_COLORS = (
    ("red", "green", "blue", "alpha"),
    ("diffuse_red", "diffuse_green", "diffuse_blue", "diffuse_alpha"),
)
_UVS = (("s", "t"), ("u", "v"), ("texture_u", "texture_v"))
_MAX_HEADER = 1 << 16


@dataclass
class _Element:
    """`properties`: name, type, and of lists the type of their length."""

    name: str
    count: int
    properties: list[tuple[str, str, str]] = field(default_factory=list)


def read(source: Source, options: LoadOptions) -> Character:
    """The model in a PLY file."""
    report = ReportBuilder()
    data = bytes(source.data)
    elements, order, body, texture = _header(data)
    found: dict[str, dict[str, Any]] = {}
    text = None if order else _Words(data[body:])
    for element in elements:
        if order:
            found[element.name], body = _binary(data, body, element, order)
        else:
            assert text is not None
            found[element.name] = _ascii(text, element)
    vertex = found.get("vertex")
    if not vertex or not all(axis in vertex for axis in "xyz"):
        raise FormatError("has no points with x, y and z")
    points = _columns(vertex, ("x", "y", "z"))
    if not np.isfinite(points).all():
        raise FormatError("has points that are not finite")
    normals = _columns(vertex, ("nx", "ny", "nz")) if "nx" in vertex else None
    if normals is not None and not np.isfinite(normals).all():
        report.add("dropped", "normals", "they are not finite")
        normals = None
    uvs = next((_columns(vertex, names) for names in _UVS if all(n in vertex for n in names)), None)
    uvs = None if uvs is None else np.nan_to_num(uvs, posinf=0, neginf=0)
    colors = _vertex_colors(vertex)
    count, corner = _polygons(found, report)
    if not len(count):
        raise FormatError("has no polygons", remedy="point clouds have no surface to move")
    if corner.min(initial=0) < 0 or corner.max(initial=0) >= len(points):
        raise FormatError("has polygons with points that are not there")
    nothing = np.full(len(corner), -1)
    corners = np.stack(
        [corner, nothing if uvs is None else corner, nothing if normals is None else corner], axis=1
    )
    materials, images = _texture(source, texture, report)
    material = np.full(len(count), 0 if materials else -1)
    part = ModelPart(source.path.stem or "model", count, corners, material)
    mesh = model_mesh(part, points, uvs, normals, colors, options.scale or 1.0, report)
    if mesh is None:
        raise FormatError("has no polygons of three corners and more")
    return as_character([mesh], materials, images, report)


def _header(data: bytes) -> tuple[list[_Element], str, int, str]:
    """The elements, the order of bytes (empty: text), where they begin, and the texture's name."""
    end = re.search(rb"\nend_header[ \t]*(?:\r\n|\n|\r)", data[:_MAX_HEADER])
    if end is None:
        raise FormatError("is a PLY file whose header does not end")
    elements: list[_Element] = []
    order, texture = None, ""
    for line in data[: end.start()].decode("latin-1").splitlines()[1:]:
        words = line.split()
        if not words or words[0] == "obj_info":
            continue
        if words[0] == "comment":
            if len(words) > 2 and words[1].lower() == "texturefile":
                texture = line.split(None, 2)[2].strip()
            continue
        try:
            if words[0] == "format":
                order = _FORMATS[words[1]]
            elif words[0] == "element":
                elements.append(_Element(words[1], int(words[2])))
                if elements[-1].count < 0:
                    raise ValueError
            elif words[0] == "property" and words[1] == "list":
                elements[-1].properties.append((words[4], _TYPES[words[3]], _TYPES[words[2]]))
            elif words[0] == "property":
                elements[-1].properties.append((words[2], _TYPES[words[1]], ""))
            else:
                raise ValueError
        except (KeyError, IndexError, ValueError):
            raise FormatError(
                f"has a line in its header that PLY does not know: {line.strip()[:80]!r}"
            ) from None
    if order is None or not elements:
        raise FormatError("is a PLY file whose header says no format or no elements")
    return elements, order, end.end(), texture


def _binary(data: bytes, at: int, element: _Element, order: str) -> tuple[dict[str, Any], int]:
    if not any(size for _, _, size in element.properties):
        dtype = np.dtype([(f"{k}", order + kind) for k, (_, kind, _) in enumerate(element.properties)])
        if at + element.count * dtype.itemsize > len(data):
            raise FormatError(f"ends before its {element.count:,} {element.name} elements")
        table = (
            np.frombuffer(data, dtype, element.count, at)
            if dtype.itemsize
            else np.zeros(element.count, dtype)
        )
        named = {name: table[f"{k}"] for k, (name, _, _) in enumerate(element.properties)}
        return named, at + element.count * dtype.itemsize
    fixed = _fixed(data, at, element, order)
    return fixed if fixed is not None else _ragged(data, at, element, order)


def _fixed(data: bytes, at: int, element: _Element, order: str) -> tuple[dict[str, Any], int] | None:
    """Elements whose lists are all as long as in the first of them; None where they are not."""
    fields: list[tuple[Any, ...]] = []
    place = at
    for k, (_, kind, size) in enumerate(element.properties):
        if size:
            step = np.dtype(size).itemsize
            if place + step > len(data) or not element.count:
                return None
            length = int(np.frombuffer(data, order + size, 1, place)[0])
            if not 0 <= length <= len(data):
                return None
            fields += [(f"n{k}", order + size), (f"{k}", order + kind, (length,))]
            place += step + length * np.dtype(kind).itemsize
        else:
            fields.append((f"{k}", order + kind))
            place += np.dtype(kind).itemsize
    if (place - at) * element.count > len(data) - at:
        return None
    table = np.frombuffer(data, np.dtype(fields), element.count, at)
    out: dict[str, Any] = {}
    for k, (name, _, size) in enumerate(element.properties):
        if size:
            lengths = table[f"n{k}"]
            if (lengths != lengths[0]).any():
                return None
            out[name] = (lengths.astype(np.int64), table[f"{k}"].reshape(-1))
        else:
            out[name] = table[f"{k}"]
    return out, place + (place - at) * (element.count - 1)


def _ragged(data: bytes, at: int, element: _Element, order: str) -> tuple[dict[str, Any], int]:
    """Elements whose lists differ in length, one after the other."""
    little = "little" if order == "<" else "big"
    plan = [
        (np.dtype(kind).itemsize, np.dtype(size).itemsize if size else 0)
        for _, kind, size in element.properties
    ]
    smallest = sum(length or width for width, length in plan)
    if element.count * smallest > len(data) - at:
        raise FormatError(f"ends before its {element.count:,} {element.name} elements")
    counts: list[list[int]] = [[] for _ in plan]
    pieces: list[list[bytes]] = [[] for _ in plan]
    for _ in range(element.count):
        for k, (width, length) in enumerate(plan):
            n = 1
            if length:
                n = int.from_bytes(data[at : at + length], little)  # type: ignore[arg-type]
                at += length
                counts[k].append(n)
            if at + n * width > len(data):
                raise FormatError(f"ends before its {element.count:,} {element.name} elements")
            pieces[k].append(data[at : at + n * width])
            at += n * width
    out: dict[str, Any] = {}
    for k, (name, kind, size) in enumerate(element.properties):
        values = np.frombuffer(b"".join(pieces[k]), order + kind)
        out[name] = (np.array(counts[k], np.int64), values) if size else values
    return out, at


class _Words:
    """The numbers of a text, taken one after the other."""

    def __init__(self, text: bytes) -> None:
        octets = np.frombuffer(text, np.uint8)
        blank = octets <= 32
        total = int((~blank & np.concatenate([[True], blank[:-1]])).sum()) if len(octets) else 0
        self.values, rest = first_numbers(text, total)
        if len(self.values) != total or rest.strip():
            raise FormatError("has words that are not numbers")
        self.at = 0

    def take(self, count: int, what: str) -> Array:
        if self.at + count > len(self.values):
            raise FormatError(f"ends before its {what} elements")
        self.at += count
        return self.values[self.at - count : self.at]


def _ascii(words: _Words, element: _Element) -> dict[str, Any]:
    lists = [bool(size) for _, _, size in element.properties]
    width = len(lists)
    if not any(lists):
        table = words.take(element.count * width, element.name).reshape(element.count, width)
        return {name: table[:, k] for k, (name, _, _) in enumerate(element.properties)}
    if width == 1 and element.count and words.at < len(words.values):
        # One list: as long as the first in most files.
        first = words.values[words.at]
        n = int(first) if 0 <= first <= len(words.values) else 0
        if words.at + element.count * (n + 1) <= len(words.values):
            table = words.values[words.at : words.at + element.count * (n + 1)].reshape(element.count, n + 1)
            if (table[:, 0] == n).all():
                words.at += table.size
                return {element.properties[0][0]: (np.full(element.count, n), table[:, 1:].reshape(-1))}
    if element.count * width > len(words.values):
        raise FormatError(f"ends before its {element.name} elements")
    counts: list[list[int]] = [[] for _ in lists]
    pieces: list[list[Array]] = [[] for _ in lists]
    for _ in range(element.count):
        for k, is_list in enumerate(lists):
            n = 1
            if is_list:
                said = float(words.take(1, element.name)[0])
                if not 0 <= said <= len(words.values):
                    raise FormatError(f"ends before its {element.name} elements")
                n = int(said)
                counts[k].append(n)
            pieces[k].append(words.take(n, element.name))
    out: dict[str, Any] = {}
    for k, (name, _, size) in enumerate(element.properties):
        values = np.concatenate(pieces[k]) if pieces[k] else np.zeros(0)
        out[name] = (np.array(counts[k], np.int64), values) if size else values
    return out


def _columns(vertex: dict[str, Any], names: tuple[str, ...]) -> Array:
    if not all(isinstance(vertex.get(n), np.ndarray) for n in names):
        raise FormatError(f"has points without a number for each of {', '.join(names)}")
    return np.stack([vertex[n].astype(np.float64) for n in names], axis=1)


def _vertex_colors(vertex: dict[str, Any]) -> Array | None:
    for names in _COLORS:
        if all(isinstance(vertex.get(n), np.ndarray) for n in names[:3]):
            given = [vertex[n] for n in names if isinstance(vertex.get(n), np.ndarray)]
            values = np.nan_to_num(
                np.stack([g.astype(np.float64) for g in given], axis=1), posinf=0, neginf=0
            )
            kinds = {g.dtype for g in given}
            most = max((np.iinfo(k).max for k in kinds if k.kind in "iu"), default=0)
            # In a text all are numbers of one kind: above 1 they are octets.
            most = most or (255 if values.max(initial=0) > 1 else 1)
            made = np.ones((len(values), 4))
            made[:, : values.shape[1]] = np.clip(values / most, 0, 1)
            return from_srgb(made)
    return None


def _polygons(found: dict[str, dict[str, Any]], report: ReportBuilder) -> tuple[Array, Array]:
    """How many corners each polygon has, and the point of each corner."""
    faces = found.get("face", {})
    for name in _INDICES:
        if isinstance(faces.get(name), tuple):
            if any(isinstance(v, tuple) and k not in _INDICES for k, v in faces.items()):
                report.add("dropped", "faces", "UVs at the corners of polygons were left out")
            count, index = faces[name]
            if not np.isfinite(index).all():
                raise FormatError("has polygons with points that are not there")
            return count, index.astype(np.int64)
    strips = found.get("tristrips", {})
    for name in _INDICES:
        if isinstance(strips.get(name), tuple):
            return _strips(*strips[name])
    return np.zeros(0, np.int64), np.zeros(0, np.int64)


def _strips(lengths: Array, index: Array) -> tuple[Array, Array]:
    """Triangles of strips; -1 begins a new one."""
    index = np.nan_to_num(index, nan=-1).astype(np.int64)
    strip = np.repeat(np.arange(len(lengths)), lengths)
    ends = np.flatnonzero(index < 0)
    cut = np.zeros(len(index), np.int64)
    cut[ends] = 1
    strip = strip * (len(ends) + 1) + np.cumsum(cut)
    kept = index >= 0
    index, strip = index[kept], strip[kept]
    if len(index) < 3:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    starts = np.maximum.accumulate(
        np.where(np.concatenate([[True], strip[1:] != strip[:-1]]), np.arange(len(index)), 0)
    )
    whole = (strip[2:] == strip[:-2]) & (strip[1:-1] == strip[:-2])
    odd = (np.arange(len(index) - 2) - starts[:-2]) % 2 == 1
    a, b, c = index[:-2], index[1:-1], index[2:]
    triangles = np.stack([np.where(odd, b, a), np.where(odd, a, b), c], axis=1)
    good = whole & (a != b) & (b != c) & (a != c)
    return np.full(int(good.sum()), 3), triangles[good].reshape(-1)


def _texture(source: Source, name: str, report: ReportBuilder) -> tuple[list[Material], list[Image]]:
    if not name:
        return [], []
    data, reason = source.picture(name)
    if data is None:
        report.add("dropped", "file", f"texture {name!r}: {reason}")
        return [], []
    image = Image(name, media_type(data, name=name), data)
    return [Material("texture", metallic=0.0, base_color_texture=Texture(0))], [image]
