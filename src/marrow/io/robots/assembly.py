"""Links become a character: joints, hinges, one mesh for each link; Z up and X forward become Y up and Z forward."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError
from marrow.io.robots.mesh_files import read_surface
from marrow.io.robots.parts import Color, Link, Shape
from marrow.io.robots.shapes import Surface, capsule_between, surface_of
from marrow.io.scaling import scaled
from marrow.io.source import LoadOptions, Source
from marrow.math import quaternion
from marrow.model import Character, Hinge, Material, Mesh, Pose, Section, Skeleton
from marrow.report import ReportBuilder

__all__ = ["MAX_LINKS", "assembled", "file_axes", "our_axes"]

Array = NDArray[Any]
MAX_LINKS = 10_000
THIN, THICK, SHORT = 0.015, 0.06, 0.02
"""Metres: radii of the capsules that take the place of surfaces, and the bones that are too short for one."""
SLENDER = 0.2


def our_axes(vectors: Array) -> Array:
    """Vectors `(..., 3)` and quaternions `(..., 4)` of a robot's file (Z up, X forward), in marrow's axes."""
    out = np.array(vectors, np.float64)
    out[..., :3] = np.roll(out[..., :3], -1, axis=-1)
    return out


def file_axes(vectors: Array) -> Array:
    """The way back."""
    out = np.array(vectors, np.float64)
    out[..., :3] = np.roll(out[..., :3], 1, axis=-1)
    return out


def assembled(
    links: list[Link], source: Source, report: ReportBuilder, name: str, options: LoadOptions
) -> Character:
    """The character of a robot. Parents come before their children."""
    names = _unique([link.name for link in links], report)
    rest = Pose(
        our_axes(np.array([link.translation for link in links])).astype(np.float32),
        our_axes(np.array([link.rotation for link in links])).astype(np.float32),
        np.ones((len(links), 3), np.float32),
    )
    motors = [link.motor.name if link.motor is not None else "" for link in links]
    hinges = tuple(
        Hinge(
            motor, j, tuple(our_axes(link.motor.axis)), link.motor.lower, link.motor.upper, link.motor.slides
        )
        for j, (link, motor) in enumerate(zip(links, motors))
        if link.motor is not None
    )
    skeleton = Skeleton(names, np.array([link.parent for link in links], np.int32), rest, hinges=hinges)
    surfaces = _Surfaces(links, source, report)
    meshes = [mesh for j in range(len(links)) if (mesh := surfaces.mesh(j, names[j])) is not None]
    made = Character(
        skeleton, meshes=tuple(meshes), materials=surfaces.materials(), name=name, report=report.build()
    )
    return scaled(made, options.scale)


def _unique(names: list[str], report: ReportBuilder) -> tuple[str, ...]:
    taken: set[str] = set()
    out = []
    for k, name in enumerate(names):
        plain = name or f"link_{k}"
        made, number = plain, 2
        while made in taken:
            made, number = f"{plain}_{number}", number + 1
        if made != name:
            report.add("repaired", f"link {name!r}", f"it is called {made!r}: names are given once")
        taken.add(made)
        out.append(made)
    return tuple(out)


class _Surfaces:
    """The meshes of links. A file that several links show is read once."""

    def __init__(self, links: list[Link], source: Source, report: ReportBuilder) -> None:
        self._links, self._source, self._report = links, source, report
        self._read: dict[str, Surface | None] = {}
        self._colors: dict[Color, int] = {}
        self._below: list[list[int]] = [[] for _ in links]
        for j, link in enumerate(links):
            if link.parent >= 0:
                self._below[link.parent].append(j)

    def materials(self) -> tuple[Material, ...]:
        return tuple(
            Material(name=f"material_{k}", base_color=color, metallic=0.1, roughness=0.6)
            for k, color in enumerate(self._colors)
        )

    def mesh(self, j: int, name: str) -> Mesh | None:
        shapes = self._links[j].shapes
        parts = self._parts([s for s in shapes if s.visible])
        if not parts:
            parts = self._parts([s for s in shapes if not s.visible])
        if not parts and any(s.kind == "mesh" for s in shapes):
            parts = [(surface, shapes[0].color) for surface in self._capsules(j)]
        parts.sort(key=lambda part: self._colors.setdefault(part[1], len(self._colors)))
        if not parts:
            return None
        sections: list[Section] = []
        triangles, first, vertices = [], 0, 0
        positions, normals = ([our_axes(part[0][k]) for part in parts] for k in (0, 1))
        for (p, _, t), color in parts:
            triangles.append(t + vertices)
            vertices += len(p)
            material = self._colors[color]
            if sections and sections[-1].material == material:
                sections[-1] = Section(sections[-1].first, sections[-1].count + len(t), material)
            else:
                sections.append(Section(first, len(t), material))
            first += len(t)
        return Mesh(
            name,
            np.concatenate(positions).astype(np.float32),
            np.concatenate(triangles).astype(np.uint32),
            np.zeros((vertices, 1), np.uint16),
            np.ones((vertices, 1), np.float32),
            np.array([j], np.int32),
            np.eye(3, 4, dtype=np.float32)[None],
            normals=np.concatenate(normals).astype(np.float32),
            sections=tuple(sections),
            node=j,
        )

    def _parts(self, shapes: list[Shape]) -> list[tuple[Surface, Color]]:
        out = []
        for shape in shapes:
            if shape.kind == "mesh":
                found = self._file(shape.file)
                if found is None:
                    continue
                p, n, t = found
                p, n = p * shape.scale, n / np.where(shape.scale != 0, shape.scale, 1)
                n = n / np.maximum(np.linalg.norm(n, axis=-1, keepdims=True), 1e-12)
                t = t[:, ::-1] if np.prod(shape.scale) < 0 else t
            elif np.all(shape.size > 0):
                p, n, t = surface_of(shape.kind, shape.size)
            else:
                continue
            place = shape.translation + quaternion.rotate(shape.rotation, p)
            out.append(((place, quaternion.rotate(shape.rotation, n), t), shape.color))
        return out

    def _file(self, name: str) -> Surface | None:
        if name not in self._read:
            self._read[name] = None
            if name:
                try:
                    self._read[name] = read_surface(self._source, name)
                except FormatError as error:
                    self._report.add(
                        "dropped", f"mesh {name!r}", f"{error.message}; simple shapes take its place"
                    )
        return self._read[name]

    def _capsules(self, j: int) -> list[Surface]:
        """Bones to the links below, for a link whose surface is not there."""
        out = []
        for child in self._below[j]:
            end = np.asarray(self._links[child].translation)
            length = float(np.linalg.norm(end))
            if length > SHORT:
                out.append(capsule_between(np.zeros(3), end, float(np.clip(SLENDER * length, THIN, THICK))))
        return out or [surface_of("sphere", np.array([2 * THIN]))]
