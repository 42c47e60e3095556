"""Which primitives the sections of a mesh become, and over which vertices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from marrow.io.gltf.builder import GltfBuilder
from marrow.model import Mesh, Section

__all__ = ["drawn_parts", "noted_sections"]

SectionNote = tuple[int, int, int | None, str, list[int | None]]


def drawn_parts(builder: GltfBuilder, mesh: Mesh, place: str) -> tuple[list[tuple[Section, slice]], bool]:
    """What becomes a primitive: runs of triangles, each triangle once and in order, with ranges of vertices one after the
    other; and whether they share all vertices instead. One without triangles stands for points."""
    runs = _runs(builder, mesh, place)
    used = [(s, mesh.triangles[s.first : s.first + s.count]) for s in runs if s.count]
    low = [int(corners.min()) for _, corners in used]
    high = [int(corners.max()) + 1 for _, corners in used]
    if any(start < end for start, end in zip(low[1:], high)):
        return [(s, slice(0, mesh.vertex_count)) for s, _ in used], True
    parts: list[tuple[Section, slice]] = []
    ends, starts = [0, *high], [*low, mesh.vertex_count]
    # Vertices that no triangle uses are the points of a section without triangles, or go with their neighbour.
    for k, (end, start) in enumerate(zip(ends, starts)):
        points = next(iter(_empty_at(mesh, [s for s, _ in used], k)), None)
        if start > end and (points is not None or not used):
            parts.append((points or Section(0, 0), slice(end, start)))
        elif start > end and parts:
            parts[-1] = (parts[-1][0], slice(parts[-1][1].start, start))
        if k < len(used):
            first = low[k] if parts else 0
            parts.append((used[k][0], slice(first, high[k])))
    return parts, False


def _runs(builder: GltfBuilder, mesh: Mesh, place: str) -> list[Section]:
    """The sections with triangles in the order of these, with those that no section claims in sections of their own."""
    out: list[Section] = []
    end = 0
    for s in sorted((s for s in mesh.sections if s.count), key=lambda s: s.first):
        if s.first > end:
            out.append(Section(end, s.first - end))
        first = max(s.first, end)
        if first > s.first:
            builder.warn(f"{place}: sections share triangles, which other programs draw once")
        if first < s.first + s.count:
            out.append(Section(first, s.first + s.count - first, s.material, s.name, s.variants))
            end = s.first + s.count
    return out + ([Section(end, mesh.triangle_count - end)] if end < mesh.triangle_count else [])


def _empty_at(mesh: Mesh, used: Sequence[Section], k: int) -> Iterator[Section]:
    """The sections without triangles that lie before run `k`."""
    edges = [0, *(s.first + s.count for s in used)]
    at = edges[k]
    yield from (s for s in mesh.sections if not s.count and s.first == at)


def noted_sections(mesh: Mesh, drawn: Sequence[Section]) -> list[SectionNote] | None:
    """The sections of a mesh; None where a reader finds the same in the primitives."""
    found = [
        s if any(m is not None for m in s.variants) else Section(s.first, s.count, s.material, s.name)
        for s in drawn
    ]
    follow = all(a.first + a.count == b.first for a, b in pairwise(found)) and (
        not found or found[0].first == 0
    )
    if follow and tuple(found) == mesh.sections:
        return None
    return [(s.first, s.count, s.material, s.name, list(s.variants)) for s in mesh.sections]
