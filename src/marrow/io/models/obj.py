"""Wavefront OBJ in: points with or without colours, UVs, normals, polygons, objects or groups, materials of .mtl files.

Lines of one kind are read together: what they have in words is found in whole arrays, and their numbers are parsed by a
kernel.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError
from marrow.io.bvh.motion import first_numbers
from marrow.io.models.mtl import read_materials
from marrow.io.models.one_joint import ModelPart, as_character, from_srgb, model_mesh
from marrow.io.source import LoadOptions, Source
from marrow.model import Character
from marrow.report import ReportBuilder

__all__ = ["read"]

Array = NDArray[Any]
MAX_PARTS = 4096
_SPACES = b" \t"


def read(source: Source, options: LoadOptions) -> Character:
    """The model in an OBJ file."""
    report = ReportBuilder()
    text = bytes(source.data).removeprefix(b"\xef\xbb\xbf")
    text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if b"\\\n" in text:
        text = text.replace(b"\\\n", b" ")
    if re.search(rb"(?m)^[ \t]", text):
        text = re.sub(rb"(?m)^[ \t]+", b"", text)
    if b"#" in text:
        text = re.sub(rb"#[^\n]*", b"", text)
    lines = _Lines(text + b"\n")
    points = lines.numbers(b"v", (3, 4, 6, 7, 8), "points")
    colors = None
    if points.shape[1] >= 6:
        last = points[:, 3:] if points.shape[1] < 8 else points[:, 4:]
        largest = float(np.nanmax(last, initial=0))
        last = last / 255 if largest > 1.5 else last
        full = np.ones((len(last), 4))
        full[:, : last.shape[1]] = last
        colors = from_srgb(full)
    uvs = lines.numbers(b"vt", (1, 2, 3), "UVs")
    uvs = np.c_[uvs, np.zeros(len(uvs))][:, :2] if uvs.shape[1] == 1 else uvs[:, :2]
    normals = lines.numbers(b"vn", (3,), "normals")
    points = points[:, :3]
    if not len(points):
        raise FormatError("is no OBJ file: it has no points", path=source.path)
    for name, values in (("points", points), ("UVs", uvs), ("normals", normals)):
        if not np.isfinite(values).all():
            raise FormatError(f"has {name} that are not finite", path=source.path)
    count, corners, at = lines.polygons((len(points), len(uvs), len(normals)))
    lost = lines.number_of(b"l") + lines.number_of(b"p")
    if lost:
        report.add("dropped", "file", f"{lost} lines and points were left out")
    materials, images, named = read_materials(source, lines.words(b"mtllib"), report)
    material = _materials(lines, at, named, materials, report)
    meshes = []
    for part in _parts(lines, count, corners, material, at, source.path.stem, report):
        mesh = model_mesh(part, points, uvs, normals, colors, options.scale or 1.0, report)
        if mesh is not None:
            meshes.append(mesh)
    if not meshes:
        raise FormatError("has no polygons", path=source.path)
    return as_character(meshes, materials, images, report)


class _Lines:
    """The lines of a text, by their first word."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.octets = np.frombuffer(text + bytes(8), np.uint8)
        ends = np.flatnonzero(self.octets[: len(text)] == 10)
        self.begin = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
        self.end = ends
        first = [self.octets[self.begin + k] for k in range(3)]
        blank = [(o == 32) | (o == 9) for o in first]
        self._where: dict[bytes, Array] = {}
        for word in (b"v", b"f", b"l", b"p", b"o", b"g"):
            self._where[word] = np.flatnonzero((first[0] == word[0]) & blank[1])
        for word in (b"vt", b"vn"):
            self._where[word] = np.flatnonzero((first[0] == word[0]) & (first[1] == word[1]) & blank[2])

    def number_of(self, word: bytes) -> int:
        return len(self._where[word])

    def words(self, word: bytes) -> list[tuple[int, str]]:
        """The lines that begin with a word: their numbers, and what follows it."""
        found = self._where.get(word)
        if found is None:
            starts = [m.start() for m in re.finditer(rb"(?m)^" + word + rb"[ \t]", self.text)]
            found = np.searchsorted(self.begin, starts)
        out = []
        for k in found.tolist():
            raw = self.text[self.begin[k] + len(word) : self.end[k]]
            out.append((k, raw.decode("utf-8", "replace").strip()))
        return out

    def body(self, word: bytes) -> bytes:
        """The text of all lines of a kind, without the word."""
        where = self._where[word]
        if not len(where):
            return b""
        # Lines that follow one another are taken at once; the word before each is blanked.
        breaks = np.flatnonzero(np.diff(where) != 1)
        firsts, lasts = (
            where[np.concatenate([[0], breaks + 1])],
            where[np.concatenate([breaks, [len(where) - 1]])],
        )
        octets = self.octets.copy()
        for k in range(len(word)):
            octets[self.begin[where] + k] = 32
        whole = octets.tobytes()
        spans = zip(self.begin[firsts].tolist(), self.end[lasts].tolist())
        return b"\n".join(whole[a:b] for a, b in spans) + b"\n"

    def numbers(self, word: bytes, widths: tuple[int, ...], what: str) -> Array:
        """The numbers of all lines of a kind, `(n, width)`; rows of different widths have what they share."""
        lines = self.number_of(word)
        if not lines:
            return np.zeros((0, widths[0]))
        body = self.body(word)
        counts, total = _words_of_lines(body, lines)
        low = int(counts.min())
        if low < widths[0]:
            raise FormatError(f"has {what} with {low} numbers")
        values, rest = first_numbers(body, total)
        if len(values) != total or rest.strip():
            raise FormatError(f"has {what} that are not numbers")
        width = max(w for w in widths if w <= low)
        if low == int(counts.max()):
            return values.reshape(lines, low)[:, :width]
        starts = np.cumsum(counts) - counts
        return np.asarray(values[starts[:, None] + np.arange(width)])

    def polygons(self, sizes: tuple[int, int, int]) -> tuple[Array, Array, Array]:
        """Corners of each polygon, point, UV and normal of each corner (-1: none), and the line of each polygon."""
        where = self._where[b"f"]
        if not len(where):
            return np.zeros(0, np.int64), np.zeros((0, 3), np.int64), where
        body = self.body(b"f")
        count, total = _words_of_lines(body, len(where))
        slashes = body.count(b"/")
        per = 1 if not slashes else 2 if slashes == total else 3 if slashes == 2 * total else 0
        if not per or re.search(rb"/(?:[\s/]|$)", body.replace(b"//", b"/0/")):
            body, per = _spelled_out(body), 3
        plain = body.replace(b"//", b"/0/").replace(b"/", b" ")
        values, rest = first_numbers(plain, total * per)
        if len(values) != total * per or rest.strip() or (values != np.floor(values)).any():
            raise FormatError("has polygons whose corners are not whole numbers")
        if np.abs(values).max(initial=0) > 1 << 40:
            raise FormatError("has polygons with points that are not there")
        index = np.zeros((total, 3), np.int64)
        index[:, :per] = values.reshape(total, per)
        if (index[:, 0] == 0).any():
            raise FormatError("has polygons with a point 0: they are counted from 1")
        line = np.repeat(where, count)
        for k, word in enumerate((b"v", b"vt", b"vn")):
            column = index[:, k]
            before = np.searchsorted(self._where[word], line)
            column[:] = np.where(column > 0, column - 1, np.where(column < 0, before + column, -1))
            if ((index[:, k] < (0 if k == 0 else -1)) | (column >= max(sizes[k], 0 if k == 0 else 1))).any():
                raise FormatError("has polygons with points that are not there")
            if not sizes[k]:
                column[:] = -1
        return count, index, where


def _words_of_lines(body: bytes, lines: int) -> tuple[Array, int]:
    """How many words each line has, and all have."""
    octets = np.frombuffer(body, np.uint8)
    blank = octets <= 32
    starts = np.flatnonzero(~blank & np.concatenate([[True], blank[:-1]]))
    ends = np.flatnonzero(octets == 10)
    bounds = np.searchsorted(starts, ends)
    counts = np.diff(np.concatenate([[0], bounds]))
    if len(counts) != lines:
        raise FormatError("has lines that do not fit together")
    return counts, len(starts)


def _spelled_out(body: bytes) -> bytes:
    """Corners of different kinds, all as point/UV/normal."""
    out = []
    for line in body.split(b"\n"):
        words = [[*word.split(b"/"), b"", b""][:3] for word in line.split()]
        out.append(b" ".join(b"/".join(part or b"0" for part in word) for word in words))
    return b"\n".join(out)


def _materials(
    lines: _Lines, at: Array, named: dict[str, int], materials: list[Any], report: ReportBuilder
) -> Array:
    """The material of each polygon; those that no .mtl file describes are plain."""
    from marrow.model import Material

    used = lines.words(b"usemtl")
    if not used:
        return np.full(len(at), -1, np.int64)
    numbers = []
    for _, name in used:
        if name not in named:
            named[name] = len(materials)
            materials.append(Material(name, metallic=0.0, roughness=0.8))
        numbers.append(named[name])
    which = np.searchsorted([k for k, _ in used], at) - 1
    return np.where(which >= 0, np.array(numbers)[np.maximum(which, 0)], -1)


def _parts(
    lines: _Lines, count: Array, corners: Array, material: Array, at: Array, name: str, report: ReportBuilder
) -> list[ModelPart]:
    """A part for each object, or each group where there are no objects."""
    marks = lines.words(b"o") or lines.words(b"g")
    names = list(dict.fromkeys(text for _, text in marks))
    if len(names) <= 1 or len(names) > MAX_PARTS:
        if len(names) > MAX_PARTS:
            report.add("info", "file", f"its {len(names):,} objects are one mesh")
        return [
            ModelPart(names[0] if len(names) == 1 and names[0] else name or "model", count, corners, material)
        ]
    which = np.searchsorted([k for k, _ in marks], at) - 1
    numbers = np.array([names.index(text) if len(names) < 64 else 0 for _, text in marks])
    if len(names) >= 64:
        known = {text: k for k, text in enumerate(names)}
        numbers = np.array([known[text] for _, text in marks])
    part = np.where(which >= 0, numbers[np.maximum(which, 0)], len(names))
    order = np.argsort(part, kind="stable")
    first = np.cumsum(count) - count
    made = []
    bounds = np.searchsorted(part[order], np.arange(len(names) + 2))
    for k in range(len(names) + 1):
        faces = order[bounds[k] : bounds[k + 1]]
        if not len(faces):
            continue
        own = count[faces]
        begin = np.cumsum(own) - own
        rows = np.repeat(first[faces] - begin, own) + np.arange(int(own.sum()))
        label = names[k] if k < len(names) else name
        made.append(ModelPart(label or "model", own, corners[rows], material[faces]))
    return made
