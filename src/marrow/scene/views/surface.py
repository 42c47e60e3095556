"""Views of the surface: `weights`, `normals`, `tangents`, `wireframe`, `uv`, `levels`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.model._derived import derived
from marrow.model.character import Character
from marrow.scene.colors import NOTHING, TELLING, hex_color
from marrow.scene.views.drawing import Drawing, Legend, Paint
from marrow.scene.views.kind import ViewKind
from marrow.scene.views.stage import Posed, Stage, no_joint

__all__ = ["LEVELS", "NORMALS", "TANGENTS", "UV", "WEIGHTS", "WIREFRAME", "edges", "joint_weights"]

Array = NDArray[Any]
HAIR = 0.012
"""Normals and tangents are drawn this long, as a part of the character's size."""
MOST_HAIRS = 4000
MOST_EDGES = 1_500_000
"""More edges than this are no picture of anything, and take gigabytes."""
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
        at, length = posed.vertices[:, some], HAIR * posed.size
        normal = posed.directed(surface.normals[:, some], normals=True)
        drawing.lines(at, at + length * normal, hex_color("#3f7fe8"), width=1.3, hidden=0.0)
        if surface.tangents is not None:
            found = True
            tangents = surface.tangents[:, some]
            along = posed.directed(tangents[..., :3])
            right = (tangents[..., 3] > 0).reshape(-1, 1)
            drawing.lines(
                at, at + length * along, np.where(right, RIGHTHANDED, MIRRORED), width=1.6, hidden=0.0
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
            at = posed.vertices[:some]
            drawing.lines(at[:, ends[:, 0]], at[:, ends[:, 1]], WIRE, width=0.7, hidden=0.0)
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
    "weights", "how much each vertex follows a joint; grey where not at all", draw_weights, "JOINT"
)
NORMALS = ViewKind("normals", "where the surface faces, as a colour: red x, green y, blue z", draw_normals)
TANGENTS = ViewKind("tangents", "normals and tangents as hairs, coloured by handedness", draw_tangents)
WIREFRAME = ViewKind("wireframe", "the edges of all triangles", draw_wireframe)
UV = ViewKind("uv", "texture coordinates as a checkerboard", draw_uv)
LEVELS = ViewKind("levels", "each instance in the colour of its level of detail", draw_levels)
