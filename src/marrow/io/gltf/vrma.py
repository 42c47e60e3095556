"""VRMA: motion for any VRM avatar. The bones of its nodes are `skeleton.humanoid`; how strong an expression is and where
the eyes look are curves of its clips, `expression:happy`, `look:yaw`, `look:pitch` (radians, to the left and down)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.gltf.context import Context
from marrow.io.gltf.vrm import VrmReader, bones, raw
from marrow.math import quaternion
from marrow.model import Clip, Curve

__all__ = ["EXPRESSION", "LOOK", "VrmaMotion", "read_vrma"]

Array = NDArray[Any]
EXPRESSION, LOOK = "expression:", ("look:yaw", "look:pitch")


class VrmaMotion:
    """What a VRMA file says: `humanoid` bones, joints that stand for `expressions`, and the one that turns as the eyes."""

    def __init__(self, humanoid: dict[str, int], expressions: dict[str, int], look: int | None) -> None:
        self.humanoid, self.expressions, self.look = humanoid, expressions, look

    def clip(self, clip: Clip) -> Clip:
        """A clip of the file, with curves in place of the tracks of nodes that are no bones."""
        names = {j: name for name, j in self.expressions.items()}
        curves, tracks = [], []
        for track in clip.tracks:
            values = track.values[:, 1] if track.interpolation == "cubic" else track.values
            if track.path == "translation" and track.target in names:
                weights = np.clip(values[:, 0], 0.0, 1.0)
                curves.append(
                    Curve(EXPRESSION + names[track.target], *_keys(track.times, weights, track.interpolation))
                )
            elif track.path == "rotation" and track.target == self.look:
                for name, angle in zip(LOOK, yaw_and_pitch(values)):
                    curves.append(Curve(name, *_keys(track.times, angle, track.interpolation)))
            elif track.target not in (*names, self.look):
                tracks.append(track)
        return clip.replace(tracks=tuple(tracks), curves=(*clip.curves, *curves), duration=clip.duration)


def _keys(times: Array, values: Array, interpolation: str) -> tuple[Array, Array]:
    """Keys of a curve, which is straight in between: a step is two of them at one time."""
    if interpolation != "step" or len(times) < 2:
        return times, values
    return np.repeat(times, 2)[1:], np.repeat(values, 2)[:-1]


def yaw_and_pitch(rotations: Array) -> tuple[Array, Array]:
    """How far a gaze `(T, 4)` goes to the left and down, in radians."""
    ahead = quaternion.rotate(
        quaternion.normalize(np.asarray(rotations, np.float64)), np.array([0.0, 0.0, 1.0])
    )
    x, y, z = ahead[..., 0], ahead[..., 1], ahead[..., 2]
    return np.arctan2(x, z), np.arctan2(-y, np.hypot(x, z))


def read_vrma(ctx: Context, reader: VrmReader) -> VrmaMotion | None:
    """The motion of a VRMA file; None for any other."""
    found = raw(ctx, "VRMC_vrm_animation")
    if not found:
        return None

    def items(*path: str) -> dict[str, dict[str, Any]]:
        value: Any = found
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        return {k: v for k, v in value.items() if isinstance(v, dict)} if isinstance(value, dict) else {}

    expressions: dict[str, int] = {}
    for name, item in {**items("expressions", "preset"), **items("expressions", "custom")}.items():
        node = item.get("node")
        joint = reader.tree.joint_of.get(node) if isinstance(node, int) else None
        if joint is None:
            ctx.report.add("dropped", "VRMA", f"the expression {name!r} names no node")
        elif joint not in expressions.values():
            expressions[name] = joint
    look = found.get("lookAt")
    node = look.get("node") if isinstance(look, dict) else None
    return VrmaMotion(
        bones(reader, items("humanoid", "humanBones")),
        expressions,
        reader.tree.joint_of.get(node) if isinstance(node, int) else None,
    )
