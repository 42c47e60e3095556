"""A character at another size: every length multiplied, every angle and proportion kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from marrow.io.vrm_space import turned
from marrow.model import Character, Clip, Mesh, Skeleton, Tracks
from marrow.model._validate import owned
from marrow.model.clip import PATHS, value_sizes

__all__ = ["scaled"]


def scaled(character: Character, factor: float | None) -> Character:
    """`character` with all lengths multiplied by `factor`; itself for None and 1."""
    if factor is None or factor == 1:
        return character
    skeleton = _scaled_skeleton(character.skeleton, factor)
    made: dict[int, tuple[Any, Any]] = {}

    def once(given: Any) -> Any:
        """`given` times `factor`; arrays that several meshes share are shared again."""
        if id(given) not in made:
            made[id(given)] = given, _times(given, factor)
        return made[id(given)][1]

    return character.with_meshes(
        lambda mesh: _scaled_mesh(mesh, factor, once),
        factor=factor,
        skeleton=skeleton,
        clips=tuple(_scaled_clip(clip, skeleton, factor) for clip in character.clips.values()),
        vrm=turned(character.vrm, np.eye(3), factor),
    )


def _times(values: Any, factor: float) -> Any:
    return owned((np.asarray(values, np.float64) * factor).astype(np.float32))


def _scaled_skeleton(skeleton: Skeleton, factor: float) -> Skeleton:
    rest = skeleton.rest.replace(translation=_times(skeleton.rest.translation, factor))
    sockets = tuple(
        type(s)(s.name, s.joint, _times(s.translation, factor), s.rotation, s.scale) for s in skeleton.sockets
    )
    return Skeleton(skeleton.names, skeleton.parents, rest, skeleton.morph_names, sockets, skeleton.humanoid)


def _scaled_mesh(mesh: Mesh, factor: float, once: Callable[[Any], Any]) -> Mesh:
    bind = mesh.inverse_bind.astype(np.float64)
    bind[:, :, 3] *= factor
    targets = tuple(
        type(t)(t.name, t.channel, once(t.positions), t.normals, t.tangents, t.vertices, t.full_weight)
        for t in mesh.morph_targets
    )
    return mesh.replace(
        positions=once(mesh.positions),
        inverse_bind=owned(bind.astype(np.float32)),
        morph_targets=targets,
    )


def _scaled_clip(clip: Clip, skeleton: Skeleton, factor: float) -> Clip:
    table = clip.tracks.table
    moves = table[table["path"] == PATHS.index("translation")]
    # Tracks may share their values: each element is marked once, then multiplied once.
    marked = np.zeros(len(clip.tracks.values), bool)
    for start, size in zip(moves["value_start"].tolist(), value_sizes(moves).tolist()):
        marked[start : start + size] = True
    values = clip.tracks.values.astype(np.float64)
    values[marked] *= factor
    tracks = Tracks(table, clip.tracks.times, owned(values.astype(np.float32)))
    return clip.replace(skeleton=skeleton, tracks=tracks)
