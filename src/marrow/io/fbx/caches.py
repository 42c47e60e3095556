"""Geometry caches of FBX meshes: the files are found and read in the parent, by the rules of `Source.neighbour`."""

from __future__ import annotations

import re

import msgspec
import numpy as np

from marrow.errors import FormatError
from marrow.io.point_cache import PointCache, read_point_cache
from marrow.io.source import Source
from marrow.io.vertex_motion import VertexMotion, with_vertex_motion
from marrow.model import Character
from marrow.report import ReportBuilder

__all__ = ["CacheNote", "CacheNotes", "with_caches"]


class CacheNote(msgspec.Struct):
    """A mesh by its number, the paths its cache may be at, the channel in it, and the control point of every vertex."""

    mesh: int
    paths: list[str]
    channel: str
    control: list[int]
    points: int


class CacheNotes(msgspec.Struct):
    """All caches of a file; lengths in it are `scale` metres, its takes count `rate` frames a second."""

    caches: list[CacheNote] = []
    scale: float = 1.0
    rate: float = 30.0
    take: str = ""


def with_caches(character: Character, notes: CacheNotes, source: Source) -> Character:
    """The character with the caches that are there; a line in the report for each that is not."""
    motions, report = [], ReportBuilder()
    for note in notes.caches:
        name = character.meshes[note.mesh].name
        try:
            cache = _find(note, notes.rate, source)
            motions.append(_motion(note, cache, notes.scale, character))
        except FormatError as error:
            report.add(
                "dropped",
                f"mesh {name!r}",
                f"its geometry cache {note.paths[:1]} was left out ({error.message}); it moves by skin and morphs alone",
            )
    character = with_vertex_motion(character, motions, name=notes.take or "cache")
    lines = report.build()
    return character.replace(report=character.report + lines) if len(lines) else character


def _find(note: CacheNote, rate: float, source: Source) -> PointCache:
    """The cache at the first of its paths that can be read; files get moved, so names beside the FBX do too."""
    folder = f"{source.path.stem}_fpc"
    names = [path.replace("\\", "/") for path in note.paths if path]
    bare = [name.rpartition("/")[2] for name in names]
    reasons = []
    for name in dict.fromkeys((*names, *bare, *(f"{folder}/{b}" for b in bare))):
        # References to files are URIs elsewhere; here they are plain paths.
        def fetch(path: str) -> bytes:
            return source.neighbour(re.sub("%", "%25", path))

        try:
            return read_point_cache(name, note.channel, rate, fetch)
        except FormatError as error:
            reasons.append(error)
    said = [e for e in reasons if e.message != "no such file" and "outside" not in e.message]
    raise said[0] if said else FormatError("the file is not there")


def _motion(note: CacheNote, cache: PointCache, scale: float, character: Character) -> VertexMotion:
    control = np.array(note.control, np.int64)
    if cache.points.shape[1] != note.points:
        raise FormatError(f"it has {cache.points.shape[1]} points, the mesh {note.points}")
    points = cache.points[:, control] * np.float32(scale)
    if cache.offsets:
        points = points + character.meshes[note.mesh].positions
    return VertexMotion(note.mesh, cache.times, points)
