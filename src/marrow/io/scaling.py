"""A character at another size: every length multiplied, every angle and proportion kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.camera_space import resized_curves
from marrow.io.constraint_space import turned_constraints
from marrow.io.vrm_space import turned
from marrow.model import Character, Clip, Mesh, Skeleton, Tracks
from marrow.model._derived import derived
from marrow.model._validate import owned
from marrow.model.clip import PATHS, value_sizes
from marrow.model.joint_camera import resized

__all__ = ["in_metres", "scaled", "scaled_clip"]

Array = NDArray[Any]


def scaled(character: Character, factor: float | None) -> Character:
    """`character` with all lengths multiplied by `factor`; itself for None and 1. Metres stay metres; another unit is
    as much smaller as its numbers are larger."""
    if factor is None or factor == 1:
        return character
    skeleton = _scaled_skeleton(character.skeleton, factor)
    lengths = _Lengths(factor)
    return character.with_meshes(
        lambda mesh: _scaled_mesh(mesh, lengths),
        factor=factor,
        skeleton=skeleton,
        clips=tuple(scaled_clip(clip, skeleton, factor) for clip in character.clips.values()),
        vrm=turned(character.vrm, np.eye(3), factor),
        constraints=turned_constraints(character.constraints, np.eye(3), factor),
        cameras=resized(character.cameras, factor),
        lights=resized(character.lights, factor),
        unit=1.0 if character.unit == 1 else character.unit / factor,
    )


def in_metres(character: Character) -> Character:
    """See `Character.in_metres`."""
    if character.unit == 1:
        return character
    made: Character = derived(character, "in metres", lambda: scaled(character, character.unit))
    return made


def _times(values: Array, factor: float | Array) -> Array:
    return owned((np.asarray(values, np.float64) * factor).astype(np.float32))


def _scaled_skeleton(skeleton: Skeleton, factor: float) -> Skeleton:
    rest = skeleton.rest.replace(translation=_times(skeleton.rest.translation, factor))
    sockets = tuple(
        type(s)(s.name, s.joint, _times(s.translation, factor), s.rotation, s.scale) for s in skeleton.sockets
    )
    hinges = tuple(
        h.replace(lower=h.lower * factor, upper=h.upper * factor) if h.slides else h for h in skeleton.hinges
    )
    return Skeleton(
        skeleton.names, skeleton.parents, rest, skeleton.morph_names, sockets, skeleton.bones, hinges
    )


class _Lengths:
    """Arrays multiplied, each once: what meshes share they share afterwards."""

    def __init__(self, factor: float) -> None:
        self._factor = factor
        # Kept with the array: as long as it lives, no other has its number.
        self._made: dict[int, tuple[Array, Array]] = {}

    def times(self, values: Array) -> Array:
        return self._once(values, lambda: _times(values, self._factor))

    def moved(self, matrices: Array) -> Array:
        """Matrices `(..., 3, 4)` whose translations are multiplied."""
        columns = np.array([1, 1, 1, self._factor], np.float64)
        return self._once(matrices, lambda: _times(matrices, columns))

    def _once(self, values: Array, make: Callable[[], Array]) -> Array:
        if id(values) not in self._made:
            self._made[id(values)] = values, make()
        return self._made[id(values)][1]


def _scaled_mesh(mesh: Mesh, lengths: _Lengths) -> Mesh:
    return mesh.replace(
        positions=lengths.times(mesh.positions),
        inverse_bind=lengths.moved(mesh.inverse_bind),
        morph_targets=tuple(replace(t, positions=lengths.times(t.positions)) for t in mesh.morph_targets),
    )


def scaled_clip(clip: Clip, skeleton: Skeleton, factor: float) -> Clip:
    """The clip for the skeleton that was multiplied by as much."""
    table = clip.tracks.table
    moves = table[table["path"] == PATHS.index("translation")]
    # Tracks may share their values: each element is marked once, then multiplied once.
    marked = np.zeros(len(clip.tracks.values), bool)
    for start, size in zip(moves["value_start"].tolist(), value_sizes(moves).tolist()):
        marked[start : start + size] = True
    values = clip.tracks.values.astype(np.float64)
    values[marked] *= factor
    tracks = Tracks(table, clip.tracks.times, owned(values.astype(np.float32)))
    return clip.replace(skeleton=skeleton, tracks=tracks, curves=resized_curves(clip.curves, factor))
