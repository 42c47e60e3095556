"""What differs between a character and the same one exported again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.model import Character, Clip
from marrow.studio import protocol as p

__all__ = ["carried_over", "differences", "same_buffers"]

Array = NDArray[Any]
NEAR = 1e-6
"""What moves less than this, by the size of the character, has not moved."""


def differences(old: Character, new: Character) -> p.Difference:
    """In words and numbers; how far vertices are from where they were at rest, where meshes have the same numbers of
    vertices."""
    size = max(_size(old), _size(new), 1e-9)
    mine, theirs = ({n: j for j, n in enumerate(c.skeleton.names)} for c in (old, new))
    both = [name for name in theirs if name in mine]
    gone = np.array([mine[n] for n in both], np.int64), np.array([theirs[n] for n in both], np.int64)
    models = [c.skeleton.rest_model.astype(np.float64) for c in (old, new)]
    turned = np.abs(models[0][gone[0]] - models[1][gone[1]])
    off = (
        (turned[..., 3].max(axis=-1) > NEAR * size) | (turned[..., :3].max(axis=(-1, -2)) > 1e-5)
        if both
        else []
    )
    moved, comparable = None, [m.vertex_count for m in old.meshes] == [m.vertex_count for m in new.meshes]
    if comparable and new.vertex_count:
        moved = np.linalg.norm(_at_rest(new) - _at_rest(old), axis=1).astype(np.float32)
    known = {c.name: c for c in old.clips.values()}
    clips = {c.name: c for c in new.clips.values()}
    named = {m.name: m for m in old.meshes}
    return p.Difference(
        joints_added=[n for n in theirs if n not in mine],
        joints_removed=[n for n in mine if n not in theirs],
        joints_moved=[name for name, is_off in zip(both, off) if is_off],
        clips_added=[n for n in clips if n not in known],
        clips_removed=[n for n in known if n not in clips],
        clips_changed=[n for n, c in clips.items() if n in known and not _same_clip(known[n], c)],
        meshes_changed=[m.name for m in new.meshes if named.get(m.name) != m]
        + [n for n in named if n not in {m.name for m in new.meshes}],
        vertices_moved=0 if moved is None else int((moved > NEAR * size).sum()),
        largest=0.0 if moved is None else float(moved.max(initial=0.0)),
        comparable=comparable,
    )


def same_buffers(old: Character, new: Character) -> bool:
    """Whether a page can draw one from what it has of the other."""
    return bool(
        old.meshes == new.meshes
        and old.skeleton == new.skeleton
        and old.materials == new.materials
        and old.images == new.images
        and old.reduced == new.reduced
    )


def carried_over(loaded: Character, now: Character, new: Character) -> Character:
    """The new character with what was done to the clips of the one `loaded` before: edited and added ones stay as they are
    `now`, removed ones stay away. Other joints cannot carry them: then it is as the file has it."""
    if now.clips == loaded.clips or now.skeleton.names != new.skeleton.names:
        return new
    kept = {
        name: clip.replace(skeleton=new.skeleton)
        for name, clip in now.clips.items()
        if name not in loaded.clips or not _same_clip(loaded.clips[name], clip)
    }
    clips = [
        kept.pop(name, clip)
        for name, clip in new.clips.items()
        if name in now.clips or name not in loaded.clips
    ]
    return new.replace(clips=(*clips, *kept.values()))


def _same_clip(a: Clip, b: Clip) -> bool:
    return (a.tracks, a.duration, a.events, a.additive) == (b.tracks, b.duration, b.events, b.additive)


def _at_rest(character: Character) -> Array:
    from marrow.skinning import skin

    rest = character.skeleton.rest
    return np.asarray(skin(character, rest, normals=False, tangents=False).positions, np.float64)


def _size(character: Character) -> float:
    from marrow.studio.shown import rest_box_shown

    box = rest_box_shown(character)
    return 0.0 if box is None else float((box[1] - box[0]).max())
