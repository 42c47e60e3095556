"""Views of the surface: `weights`, `influences`, `normals`, `tangents`, `wireframe`, `uv`, `levels`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.model._derived import derived
from marrow.model.character import Character
from marrow.scene.colors import NOTHING, TELLING, hex_color
from marrow.scene.views.drawing import Drawing, Legend, Paint
from marrow.scene.views.kind import ViewKind, count_of
from marrow.scene.views.stage import Posed, Stage, no_joint

__all__ = [
    "INFLUENCES",
    "LEVELS",
    "NORMALS",
    "TANGENTS",
    "UV",
    "WEIGHTS",
    "WIREFRAME",
    "edges",
    "influence_counts",
    "joint_weights",
]

Array = NDArray[Any]
HAIR = 0.012
"""Normals and tangents are drawn this long, as a part of the character's size."""
MOST_HAIRS = 4000
MOST_EDGES = 1_500_000
"""More edges than this are no picture of anything, and take gigabytes."""
MOST_INFLUENCES = 64
PLAIN, WIRE = np.array([0.74, 0.75, 0.77]), np.array([0.05, 0.07, 0.12, 0.6])


def joint_weights(character: Character, joint: int) -> Array:
    """How much each vertex follows a joint, `(V,)` float64."""
    found: Array = derived(character, ("joint weights", joint), lambda: _joint_weights(character, joint))
    return found


def _joint_weights(character: Character, joint: int) -> Array:
    parts = [np.zeros(0)]
    for mesh in character.meshes:
        mine = mesh.joint_list[mesh.joints] == joint
        parts.append(np.where(mine, mesh.weights, 0.0).astype(np.float64).sum(axis=1))
    return np.concatenate(parts)


def draw_weights(stage: Stage, argument: str, drawing: Drawing) -> None:
    legend = Legend(f"weight of {argument}", ramp="viridis")
    found = moved = False
    for posed in stage.things:
        skeleton = posed.character.skeleton
        found = found or argument in skeleton
        weights = np.zeros(posed.character.vertex_count)
        if argument in skeleton:
            weights = joint_weights(posed.character, skeleton.index(argument))
        colors = np.where((weights > 0)[:, None], legend.color(weights), NOTHING)
        drawing.paints[posed.key] = Paint(colors=colors)
        moved = moved or bool(weights.any())
    if not found:
        no_joint(argument, [posed.character.skeleton for posed in stage.things])
    if not moved:
        drawing.notes.append(f"{argument} moves no vertex")
    drawing.legends.append(legend)


def influence_counts(character: Character) -> Array:
    """How many joints move each vertex, `(V,)`."""
    parts = [np.zeros(0, np.int64)]
    for mesh in character.meshes:
        # A joint that is listed twice is one.
        used = np.sort(np.where(mesh.weights > 0, mesh.joints.astype(np.int64), -1), axis=1)
        new = np.diff(used, axis=1, prepend=-1) > 0
        parts.append(new.sum(axis=1))
    return np.concatenate(parts)


def draw_influences(stage: Stage, argument: str, drawing: Drawing) -> None:
    limit = count_of("influences", argument, 0, MOST_INFLUENCES)
    counts = {posed.key: influence_counts(posed.character) for posed in stage.things}
    most = max((int(c.max(initial=0)) for c in counts.values()), default=0)
    legend = Legend("influences", ramp="viridis", high=float(max(most, 1)))
    if limit:
        over = sum(int((c > limit).sum()) for c in counts.values())
        entries = (("fits", tuple(NOTHING.tolist())), ("over", tuple(MARKED.tolist())))
        legend = Legend(f"more than {limit} influences", entries=entries)
        drawing.notes.append(f"{over:,} vertices have more than {limit} influences")
    for key, c in counts.items():
        colors = np.where((c > limit)[:, None], MARKED, NOTHING) if limit else legend.color(c)
        drawing.paints[key] = Paint(colors=colors)
    drawing.legends.append(legend)


def draw_normals(stage: Stage, argument: str, drawing: Drawing) -> None:
    for posed in stage.things:
        drawing.paints[posed.key] = Paint("normals", lit=False)
    x, y, z = ((0.88, 0.44, 0.44), (0.44, 0.88, 0.44), (0.44, 0.44, 0.88))
    drawing.legends.append(Legend("normal", entries=(("+x", x), ("+y", y), ("+z", z))))


def _chosen(posed: Posed) -> Array:
    """Vertices to draw hairs at: all, or as many as can be told apart, spread evenly."""
    V, most = posed.character.vertex_count, max(1, MOST_HAIRS // max(posed.count, 1))
    return np.arange(V) if most >= V else np.linspace(0, V - 1, most).astype(np.int64)


def draw_tangents(stage: Stage, argument: str, drawing: Drawing) -> None:
    """Normals blue; tangents in the colour of their handedness."""
    found = False
    for posed in stage.things:
        surface, some = posed.surface, _chosen(posed)
        drawing.paints.setdefault(posed.key, _plain(posed.character))
        if not len(some) or surface.normals is None:
            continue
        length = HAIR * posed.size
        drawing.surface_lines(
            posed, some, color=hex_color("#3f7fe8"), along="normal", length=length, width=1.3, hidden=0.0
        )
        if surface.tangents is not None:
            found = True
            right = surface.tangents[0, some, 3:] > 0  # the same in all instances
            drawing.surface_lines(
                posed,
                some,
                color=np.where(right, RIGHTHANDED, MIRRORED),
                along="tangent",
                length=length,
                width=1.6,
                hidden=0.0,
            )
    if not found:
        drawing.notes.append("no tangents: these meshes have none")
    drawing.legends.append(
        Legend(
            "tangents",
            entries=(
                ("normal", tuple(hex_color("#3f7fe8").tolist())),
                ("tangent", tuple(RIGHTHANDED.tolist())),
                ("tangent, mirrored", tuple(MIRRORED.tolist())),
            ),
        )
    )


RIGHTHANDED, MIRRORED = hex_color("#e69f00"), hex_color("#cc3f9a")
MARKED = hex_color("#d55e00")


def edges(character: Character) -> Array:
    """The edges of all triangles, each once, `(E, 2)` vertices of the surface."""

    def build() -> Array:
        parts = [np.zeros((0, 2), np.int64)]
        for mesh, first in zip(character.meshes, character.vertex_offsets):
            if mesh.visible:
                t = mesh.triangles.astype(np.int64) + first
                parts.append(np.sort(np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]]), axis=1))
        return np.unique(np.concatenate(parts), axis=0)

    found: Array = derived(character, "edges", build)
    return found


def draw_wireframe(stage: Stage, argument: str, drawing: Drawing) -> None:
    triangles = shown = left = 0
    for posed in stage.things:
        drawing.paints.setdefault(posed.key, _plain(posed.character))
        ends = edges(posed.character)
        some = min(posed.count, (MOST_EDGES - shown) // max(len(ends), 1))
        if some:
            drawing.surface_lines(
                posed, ends[:, 0], ends[:, 1], color=WIRE, width=0.7, hidden=0.0, instances=some
            )
        shown, left = shown + some * len(ends), left + posed.count - some
        triangles += posed.character.triangle_count * posed.count
    if left:
        drawing.notes.append(f"too many edges: {left:,} instances are shown without theirs")
    drawing.notes.append(f"{triangles:,} triangles")


def draw_uv(stage: Stage, argument: str, drawing: Drawing) -> None:
    for posed in stage.things:
        if any(m.uvs for m in posed.character.meshes):
            drawing.paints[posed.key] = Paint("checker")
        else:
            drawing.paints[posed.key] = _plain(posed.character)
            drawing.notes.append(f"{posed.character.name or 'character'}: no texture coordinates")
    drawing.notes.append("16 squares a side; u: blue to red, v: dark to light")


def draw_levels(stage: Stage, argument: str, drawing: Drawing) -> None:
    used: dict[int, tuple[str, int]] = {}
    for posed in stage.things:
        color = TELLING[posed.level % len(TELLING)]
        drawing.paints[posed.key] = Paint(colors=np.broadcast_to(color, (posed.character.vertex_count, 3)))
        shown = used.get(posed.level, ("", 0))[1] + posed.count
        used[posed.level] = f"level {posed.level}: {posed.character.triangle_count:,} triangles", shown
    several = sum(number for _, number in used.values()) > 1
    entries = tuple(
        (f"{words}, {number} shown" if several else words, tuple(TELLING[k % len(TELLING)].tolist()))
        for k, (words, number) in sorted(used.items())
    )
    if entries:
        drawing.legends.append(Legend("levels of detail", entries=entries))


def _plain(character: Character) -> Paint:
    return Paint(colors=np.broadcast_to(PLAIN, (character.vertex_count, 3)))


WEIGHTS = ViewKind(
    "weights", "how much each vertex follows a joint; grey where not at all", draw_weights, "JOINT", key="4"
)
INFLUENCES = ViewKind(
    "influences",
    "how many joints move each vertex; `influences:4` marks those that more than four do",
    draw_influences,
    "[COUNT]",
)
NORMALS = ViewKind(
    "normals", "where the surface faces, as a colour: red x, green y, blue z", draw_normals, key="5"
)
TANGENTS = ViewKind("tangents", "normals and tangents as hairs, coloured by handedness", draw_tangents)
WIREFRAME = ViewKind("wireframe", "the edges of all triangles", draw_wireframe, key="6")
UV = ViewKind("uv", "texture coordinates as a checkerboard", draw_uv, key="8")
LEVELS = ViewKind("levels", "each instance in the colour of its level of detail", draw_levels, key="9")
