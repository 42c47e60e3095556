"""A number for each joint, as colours: of the bones, and of the surface as its joints move it: masks of layers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.model.character import Character
from marrow.scene.views.drawing import Drawing, Legend, Paint
from marrow.scene.views.stage import Stage, shown_joints

__all__ = ["draw_joint_values", "vertex_values"]

Array = NDArray[Any]


def vertex_values(character: Character, values: Array) -> Array:
    """Numbers of the joints `(J,)`, mixed as the joints move each vertex, `(V,)`."""
    parts = [np.zeros(0)]
    for mesh in character.meshes:
        parts.append((mesh.weights.astype(np.float64) * values[mesh.joint_list[mesh.joints]]).sum(axis=1))
    return np.concatenate(parts)


def draw_joint_values(stage: Stage, values: ArrayLike, title: str, drawing: Drawing) -> None:
    """Shows numbers from 0 to 1, one for each joint `(J,)` of what is on the stage."""
    numbers = np.asarray(values, np.float64)
    legend = Legend(title, ramp="viridis")
    for posed in stage.things:
        skeleton, shown = posed.character.skeleton, shown_joints(posed.character)
        of_joints = np.zeros(len(skeleton))
        of_joints[: len(numbers)] = numbers[: len(skeleton)]
        parents = skeleton.parents
        bones = np.flatnonzero(shown & (parents >= 0) & shown[np.maximum(parents, 0)])
        colors = np.broadcast_to(legend.color(of_joints[bones]), (posed.count, len(bones), 3)).reshape(-1, 3)
        drawing.lines(
            posed.joints[:, parents[bones]],
            posed.joints[:, bones],
            colors,
            width=np.array([6.0, 1.5]),
            hidden=0.8,
        )
        drawing.paints[posed.key] = Paint(colors=legend.color(vertex_values(posed.character, of_joints)))
    drawing.legends.append(legend)
