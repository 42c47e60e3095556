"""`skeleton`: bones, the axes of joints, and their names; `sockets`: the places that things are fastened to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import affine, transform
from marrow.scene.colors import hex_color
from marrow.scene.views.drawing import Drawing, Paint
from marrow.scene.views.kind import ViewKind
from marrow.scene.views.stage import Posed, Stage, shown_joints, side_colors

__all__ = ["SKELETON", "SOCKETS", "bone_lengths"]

Array = NDArray[Any]
AXES = np.stack([hex_color("#e8504a"), hex_color("#67b83f"), hex_color("#3f7fe8")])
"""X, Y, Z: red, green, blue, as everywhere."""
AXIS_LENGTH, LONGEST = 0.35, 0.05
"""Axes are this part of the bones at their joint, and at most this part of the character."""
PALE, FADED = np.array([0.80, 0.81, 0.83]), 0.75
SOCKET = hex_color("#cc79a7")
MOST_NAMED = 8
"""Characters of a scene that still show names."""


def bone_lengths(posed: Posed, shown: Array) -> Array:
    """How long the bones at each joint are, `(N, J)`: the mean of those to its children, or the one to its parent at an
    end."""
    parents = posed.character.skeleton.parents
    at = posed.joints
    has = shown & (parents >= 0)
    reach = np.zeros(at.shape[:2])
    reach[:, has] = np.linalg.norm(at[:, has] - at[:, parents[has]], axis=-1)
    total, number = np.zeros_like(reach), np.zeros(at.shape[1])
    for j in np.flatnonzero(has):
        total[:, parents[j]] += reach[:, j]
        number[parents[j]] += 1
    return np.where(number > 0, total / np.maximum(number, 1), reach)


def short_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names without the prefix up to a colon that all of them share (`mixamorig:Hips`)."""
    prefixes = {n.rpartition(":")[0] for n in names}
    return tuple(n.rpartition(":")[2] for n in names) if len(prefixes) == 1 else names


def draw(stage: Stage, argument: str, drawing: Drawing) -> None:
    want_names = argument != "plain" and sum(p.count for p in stage.things) <= MOST_NAMED
    for posed in stage.things:
        skeleton, shown = posed.character.skeleton, shown_joints(posed.character)
        if not len(skeleton):
            continue
        colors, parents = side_colors(posed.character), skeleton.parents
        bones = np.flatnonzero(shown & (parents >= 0) & shown[np.maximum(parents, 0)])
        drawing.lines(
            posed.joints[:, parents[bones]],
            posed.joints[:, bones],
            np.broadcast_to(colors[bones], (posed.count, len(bones), 3)).reshape(-1, 3),
            width=np.array([6.0, 1.5]),
            hidden=0.8,
        )
        joints = np.flatnonzero(shown)
        length = np.minimum(AXIS_LENGTH * bone_lengths(posed, shown), LONGEST * posed.size)[:, joints]
        length = np.where(length > 0, length, 0.3 * LONGEST * posed.size)
        for k in range(3):
            axis = posed.world[:, joints][..., k]
            axis = axis / np.maximum(np.linalg.norm(axis, axis=-1, keepdims=True), 1e-30)
            start = posed.joints[:, joints]
            drawing.lines(start, start + axis * length[..., None], AXES[k], width=2.0, hidden=0.9)
        drawing.points(
            posed.joints[:, joints],
            np.broadcast_to(0.5 + 0.5 * colors[joints], (posed.count, len(joints), 3)).reshape(-1, 3),
            size=6.0,
        )
        # Where there is no room for all names, those of long bones near the root are kept.
        lengths = bone_lengths(posed, shown)
        rank_of = lengths / posed.size - 1e-3 * skeleton.depth
        if want_names:
            named = short_names(tuple(skeleton.names[j] for j in joints))
            for n in range(posed.count):
                for j, name in zip(joints.tolist(), named):
                    rank = float(rank_of[n, j])
                    drawing.label(name, posed.joints[n, j], 0.7 + 0.3 * colors[j], rank, float(lengths[n, j]))
        drawing.paints.setdefault(posed.key, _pale(posed.character.vertex_count))


def draw_sockets(stage: Stage, argument: str, drawing: Drawing) -> None:
    found = False
    for posed in stage.things:
        for socket in posed.character.skeleton.sockets:
            if socket.joint >= posed.joints.shape[1]:
                continue  # a joint that this level of detail does not have
            found = True
            local = transform.compose(socket.translation, socket.rotation, socket.scale)
            at = affine.multiply(posed.world[:, socket.joint], np.asarray(local, np.float64))
            for k in range(3):
                axis = at[..., k] / np.maximum(np.linalg.norm(at[..., k], axis=-1, keepdims=True), 1e-30)
                end = at[..., 3] + axis * LONGEST * posed.size
                drawing.lines(at[..., 3], end, AXES[k], width=3.0, hidden=0.9)
            drawing.points(at[..., 3], SOCKET, size=7.0, hidden=0.9)
            if sum(p.count for p in stage.things) <= MOST_NAMED:
                for n in range(posed.count):
                    drawing.label(socket.name, at[n, :, 3], SOCKET, rank=1.0)
    if not found:
        drawing.notes.append("sockets: there are none")


def _pale(vertices: int) -> Paint:
    return Paint(colors=np.broadcast_to(PALE, (vertices, 3)), strength=FADED)


SKELETON = ViewKind(
    "skeleton",
    "bones, the axes of joints (red, green, blue: x, y, z) and their names; `skeleton:plain` leaves the names out",
    draw,
    "[plain]",
    key="3",
)
SOCKETS = ViewKind(
    "sockets",
    "places on joints that things are fastened to, with their axes and names",
    draw_sockets,
    key="O",
)
