"""A character in another program's space: other axes, other handedness, other units, and back.

`p' = s C p`, where the rows of `C` are signed axes and `s` is how many of the other units a metre has. Everything
follows from that, exactly: matrices become `C M C^-1`, the axis of a rotation turns as a pseudovector
(`det(C) C v`), scales change places. Where `C` mirrors, triangles are wound the other way round and the handedness
of tangents changes, so that normals still stand on the side that the triangle's corners say.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from marrow.errors import UnknownNameError, ValidationError
from marrow.io import vrm_space
from marrow.io.camera_space import resized_curves, turned_placed
from marrow.io.constraint_space import turned_constraints
from marrow.model import Character, Clip, Hinge, Mesh, MorphTarget, Skeleton, Socket, Tracks
from marrow.model._validate import owned
from marrow.model.clip import PATH_WIDTH, PATHS, value_sizes
from marrow.motion.facing import axis_name
from marrow.report import Report, ReportLine

__all__ = ["WORLDS", "Space", "converted", "turned_to"]

Array = NDArray[Any]
UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "km": 1000.0, "in": 0.0254, "ft": 0.3048}
_AXES = {
    sign + name: (1 if sign != "-" else -1) * np.eye(3)[i]
    for i, name in enumerate("xyz")
    for sign in ("", "+", "-")
}
_FORWARD = {("y", "right"): "z", ("y", "left"): "z", ("z", "right"): "-y", ("z", "left"): "x"}


@dataclass(frozen=True)
class Space:
    """A program's space: which axis points up, which way characters face, on which hand the axes are, and the
    length of a unit in metres. marrow's own is `Space()`.
    """

    up: str = "y"
    forward: str = "z"
    handedness: Literal["right", "left"] = "right"
    metres: float = 1.0

    @property
    def matrix(self) -> Array:
        """`C (3, 3)`: where marrow's X (to the left of who looks along Z), Y (up) and Z (forward) point."""
        up, forward = _axis(self.up), _axis(self.forward)
        left = np.cross(up, forward) * (1 if self.handedness == "right" else -1)
        if not left.any():
            raise ValidationError(f"converted: up {self.up!r} and forward {self.forward!r} are the same axis")
        return np.stack([left, up, forward], axis=1)


WORLDS = {
    "marrow": Space(),
    "gltf": Space(),
    "blender": Space("z", "-y"),
    "unreal": Space("z", "x", "left", 0.01),
    "unity": Space("y", "z", "left"),
    "d3d": Space("y", "z", "left"),
    "maya": Space("y", "z", "right", 0.01),
    "3dsmax": Space("z", "-y", "right", 0.0254),
}


def converted(
    character: Character,
    world: str | None = None,
    *,
    up: str | None = None,
    forward: str | None = None,
    handedness: str | None = None,
    units: str | float | None = None,
    back: bool = False,
) -> Character:
    """The character in the space of another program: `world` by name (`unreal`, `unity`, `blender`, `d3d`, ...), or
    axis by axis: `up` and `forward` such as `"z"` and `"-y"`, `handedness` `"right"` or `"left"`, `units` such as
    `"cm"`, or a length in metres. What is left out is marrow's own (forward: what programs with that up axis use).

    `back=True` goes the other way: from that space to marrow's.
    """
    space = _space(world, up, forward, handedness, units)
    C, s = space.matrix, 1.0 / space.metres
    if back:
        C, s = C.T, space.metres
    if s == 1 and np.array_equal(C, np.eye(3)):
        return character
    return _turned(character, C, s)


def turned_to(character: Character, axis: str) -> Character:
    """The character turned about the vertical until it looks along `axis`. Quarter turns change no digit."""
    wanted = _axis(axis, "facing")
    if wanted[1]:
        raise ValidationError(f"facing: expected a level axis, '+z', '-z', '+x' or '-x', got {axis!r}")
    facing = character.facing
    report = Report(tuple(line for line in character.report if line.place != "facing"))
    if facing is None:
        told = f"it was to look along {axis}, and where it looks is not known ({character.facing_told}): it stays as it is"
        remedy = 'character.converted(forward="-z") turns one that looks back'
        return character.replace(
            report=report + Report((ReportLine("warning", "facing", f"{told}; {remedy}"),))
        )
    # The turn about Y that takes `facing` to `wanted`: cosine and sine of its angle.
    c = float(facing @ wanted)
    s = float(facing[2] * wanted[0] - facing[0] * wanted[2]) + 0.0
    if c > 1 - 1e-9:
        return character.replace(report=report) if len(report) < len(character.report) else character
    C = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    if np.abs(C).max(axis=0).min() < 1:  # no quarter turn
        _refuse_uneven(character, axis_name(facing), axis)
    line = ReportLine("info", "facing", f"it looked along {axis_name(facing)} and was turned to {axis}")
    return _turned(character, C, 1.0).replace(report=report + Report((line,)))


def _refuse_uneven(character: Character, looks: str, axis: str) -> None:
    """Between the axes, a scale that differs along them has no place in the transform of a joint."""
    tracks = (track for clip in character.clips.values() for track in clip.tracks if track.path == "scale")
    scales = [character.skeleton.rest.scale, *(track.values for track in tracks)]
    if any(np.ptp(np.reshape(s, (-1, 3)), axis=1).max(initial=0.0) > 1e-5 for s in scales):
        raise ValidationError(
            f"facing: it looks {looks} and has joints that are scaled unevenly; it can only be turned by quarter turns, "
            f"not to {axis}: turn its root in the program that it was made with"
        )


def _turned(character: Character, C: Array, s: float) -> Character:
    turn = _Turn(C, s)
    skeleton = turn.skeleton(character.skeleton)
    return character.with_meshes(
        turn.mesh,
        factor=s,
        skeleton=skeleton,
        clips=tuple(turn.clip(c, skeleton) for c in character.clips.values()),
        vrm=vrm_space.turned(character.vrm, C, s),
        constraints=turned_constraints(character.constraints, C, s),
        cameras=turned_placed(character.cameras, C, s),
        lights=turned_placed(character.lights, C, s),
    )


def _space(
    world: str | None, up: str | None, forward: str | None, handedness: str | None, units: str | float | None
) -> Space:
    if world is not None:
        if world.lower() not in WORLDS:
            raise UnknownNameError("world", world, WORLDS)
        if any(v is not None for v in (up, forward, handedness, units)):
            raise ValidationError("converted: name a world, or say its axes and units, not both")
        return WORLDS[world.lower()]
    hand = handedness or "right"
    if hand not in ("right", "left"):
        raise ValidationError(f"converted: handedness must be 'right' or 'left', got {handedness!r}")
    upward = up or "y"
    _axis(upward)
    ahead = forward or _FORWARD.get((upward.lstrip("+"), hand)) or ("z" if upward[-1] != "z" else "y")
    metres = UNITS.get(units.lower()) if isinstance(units, str) else units if units is not None else 1.0
    if metres is None or not 0 < metres < math.inf:
        raise ValidationError(f"converted: units must be one of {', '.join(UNITS)} or metres, got {units!r}")
    return Space(upward, ahead, hand, float(metres))  # type: ignore[arg-type]


def _axis(name: str, where: str = "converted") -> Array:
    found = _AXES.get(name.lower())
    if found is None:
        raise ValidationError(f"{where}: expected an axis such as 'y' or '-z', got {name!r}")
    return found


class _Turn:
    """`p' = s C p` for everything a character has."""

    def __init__(self, C: Array, s: float) -> None:
        self.C, self.s = C, s
        self.mirrors = bool(np.linalg.det(C) < 0)
        self.between = bool(np.abs(C).max(axis=0).min() < 1)
        self._made: dict[tuple[str, int], tuple[Any, Any]] = {}
        self._quaternion = np.eye(4)
        self._quaternion[:3, :3] = -C if self.mirrors else C

    def once(self, make: Callable[[Any], Array], given: Any) -> Array:
        """`make(given)`; arrays that several meshes share are shared again."""
        key = (make.__name__, id(given))
        if key not in self._made:
            self._made[key] = given, make(given)  # the array is held, so that its number stays its own
        return self._made[key][1]

    def vectors(self, v: Array) -> Array:
        """Directions `(..., 3)`."""
        return owned((np.asarray(v, np.float64) @ self.C.T).astype(np.float32))

    def points(self, p: Array) -> Array:
        """Positions and offsets `(..., 3)`."""
        return owned((np.asarray(p, np.float64) @ self.C.T * self.s).astype(np.float32))

    def rotations(self, q: Array) -> Array:
        return owned((np.asarray(q, np.float64) @ self._quaternion.T).astype(np.float32))

    def scales(self, v: Array) -> Array:
        if self.between:  # even ones only: the same along any axes
            return owned(np.array(v, np.float32))
        return owned((np.asarray(v, np.float64) @ np.abs(self.C).T).astype(np.float32))

    def matrices(self, m: Array) -> Array:
        """Affine matrices `(..., 3, 4)`."""
        out = np.empty(m.shape, np.float64)
        out[..., :3] = self.C @ np.asarray(m[..., :3], np.float64) @ self.C.T
        out[..., 3] = np.asarray(m[..., 3], np.float64) @ self.C.T * self.s
        return owned(out.astype(np.float32))

    def skeleton(self, old: Skeleton) -> Skeleton:
        rest = old.rest.replace(
            translation=self.points(old.rest.translation),
            rotation=self.rotations(old.rest.rotation),
            scale=self.scales(old.rest.scale),
        )
        sockets = tuple(
            Socket(
                s.name, s.joint, self.points(s.translation), self.rotations(s.rotation), self.scales(s.scale)
            )
            for s in old.sockets
        )
        hinges = tuple(self.hinge(h) for h in old.hinges)
        return Skeleton(old.names, old.parents, rest, old.morph_names, sockets, old.bones, hinges)

    def hinge(self, old: Hinge) -> Hinge:
        axis = self.C @ np.array(old.axis)
        if old.slides:
            return old.replace(axis=tuple(axis), lower=old.lower * self.s, upper=old.upper * self.s)
        return old.replace(axis=tuple(-axis if self.mirrors else axis))

    def mesh(self, mesh: Mesh) -> Mesh:
        changes: dict[str, Any] = {
            "positions": self.once(self.points, mesh.positions),
            "inverse_bind": self.once(self.matrices, mesh.inverse_bind),
            "morph_targets": tuple(self.target(t) for t in mesh.morph_targets),
        }
        if mesh.normals is not None:
            changes["normals"] = self.once(self.vectors, mesh.normals)
        if mesh.tangents is not None:
            changes["tangents"] = self.once(self.tangents, mesh.tangents)
        if self.mirrors:
            changes["triangles"] = self.once(self.triangles, mesh.triangles)
        return mesh.replace(**changes)

    def tangents(self, t: Array) -> Array:
        side = -t[:, 3:] if self.mirrors else t[:, 3:]
        return owned(np.concatenate([self.vectors(t[:, :3]), side], axis=1))

    def triangles(self, corners: Array) -> Array:
        """Wound the other way round."""
        return owned(np.ascontiguousarray(corners[:, ::-1]))

    def target(self, t: MorphTarget) -> MorphTarget:
        normals = None if t.normals is None else self.once(self.vectors, t.normals)
        tangents = None if t.tangents is None else self.once(self.vectors, t.tangents)
        places = self.once(self.points, t.positions)
        return t.replace(positions=places, normals=normals, tangents=tangents)

    def clip(self, clip: Clip, skeleton: Skeleton) -> Clip:
        table, values = clip.tracks.table, clip.tracks.values.copy()
        done: set[tuple[int, int]] = set()
        by_path = {"translation": self.points, "rotation": self.rotations, "scale": self.scales}
        for row, size in zip(table, value_sizes(table).tolist()):
            path, start = PATHS[row["path"]], int(row["value_start"])
            # Tracks may share their values.
            if path in by_path and (start, size) not in done:
                done.add((start, size))
                part = clip.tracks.values[start : start + size].reshape(-1, PATH_WIDTH[row["path"]])
                values[start : start + size] = by_path[path](part).ravel()
        tracks = Tracks(table, clip.tracks.times, owned(values))
        return clip.replace(skeleton=skeleton, tracks=tracks, curves=resized_curves(clip.curves, self.s))
