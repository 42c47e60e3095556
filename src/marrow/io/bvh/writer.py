"""Writes one clip as BVH.

BVH knows rest offsets without rotation, so every joint's frame is turned to stand parallel to the model's at
rest: the rest pose looks as it does in marrow, and each frame's rotation is what the joint has turned since.
Joint positions are kept exactly, in every frame: where scale or translation moves a joint against its parent,
it gets position channels. Scale itself, morphs and meshes have no place in the format.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ResourceLimitError, ValidationError
from marrow.io.atomic import replacing
from marrow.math import affine, quaternion, transform
from marrow.model import Character, Clip, Pose, Skeleton

__all__ = ["write"]

Array = NDArray[Any]
MAX_VALUES = 200_000_000
# Offsets that move by less than this part of the skeleton's size are rounding, not motion.
_STILL = 1e-6
_ROTATION_ORDER = "zxy"
_POSITION_CHANNELS = "Xposition Yposition Zposition"
_ROTATION_CHANNELS = "Zrotation Xrotation Yrotation"


def write(
    character: Character,
    path: Path | str,
    *,
    clip: str | None = None,
    fps: float | None = None,
    scale: float = 1.0,
) -> None:
    """Writes a clip of a character: `clip` by name (it may be left out when there is just one; without any
    clip the rest pose is one frame), at `fps` frames a second (default: the clip's own rate, 30 where it has
    none).

    `scale` multiplies all lengths: `scale=100` writes the centimetres that most BVH tools expect.
    """
    if fps is not None and not 0 < fps < 1e6:
        raise ValidationError(f"save: fps must be a positive number, got {fps}")
    if not 0 < scale < math.inf:
        raise ValidationError(f"save: scale must be a positive number, got {scale}")
    skeleton = character.skeleton
    if not len(skeleton):
        raise ValidationError("save: a BVH file needs at least one joint, the character has none")
    chosen = _chosen(character, clip)
    rate = fps or (_own_rate(chosen) if chosen else None) or 30.0
    frames = math.ceil(chosen.duration * rate - 1e-3) + 1 if chosen else 1
    if frames * len(skeleton) * 6 > MAX_VALUES:
        raise ResourceLimitError(
            f"{frames} frames of {len(skeleton)} joints are more than a BVH file should hold",
            path=path,
            remedy="lower fps",
        )
    pose = chosen.sample(np.arange(frames) / rate) if chosen else skeleton.rest.reshape(1)
    offsets, moved, angles = _motion(skeleton, pose)
    offsets, moved = offsets * scale, moved * scale
    order = _depth_first(skeleton)
    size = float(np.ptp(np.concatenate([moved.reshape(-1, 3), offsets]), axis=0).max())
    sliding = np.abs(moved - offsets).max(axis=(0, 2)) > _STILL * size
    sliding[list(skeleton.roots)] = True
    ends = _end_sites(skeleton, chosen, sliding)
    text = _hierarchy(skeleton, order, offsets, sliding, ends)
    columns = []
    for j in order:
        if not ends[j]:
            columns += [moved[:, j]] * bool(sliding[j]) + [angles[:, j]]
    values = np.concatenate(columns, axis=1) + 0.0  # no negative zeros
    row = " ".join(["%.9g"] * values.shape[1]) + "\n"
    with replacing(path) as file:
        file.write(text.encode())
        file.write(f"MOTION\nFrames: {frames}\nFrame Time: {1 / rate:.12g}\n".encode())
        for start in range(0, frames, 256):
            block = values[start : start + 256]
            file.write(((row * len(block)) % tuple(block.ravel().tolist())).encode())


def _chosen(character: Character, clip: str | None) -> Clip | None:
    if clip is not None:
        return character.clips[clip]
    if len(character.clips) > 1:
        raise ValidationError(
            f"save: a BVH file holds one clip; choose it with clip=: {', '.join(character.clips)}"
        )
    return character.clips[0] if character.clips else None


def _own_rate(clip: Clip) -> float | None:
    return clip.rate or clip.key_rate


def _motion(skeleton: Skeleton, pose: Pose) -> tuple[Array, Array, Array]:
    """Rest offsets `(J, 3)`, offsets over time `(T, J, 3)` and angles in degrees `(T, J, 3)`, in
    model-parallel frames."""
    parents = skeleton.parents.tolist()
    rest_turn, rest_place = _turns_and_places(parents, skeleton.rest.reshape(1))
    turn, place = _turns_and_places(parents, pose)
    since_rest = quaternion.multiply(turn, quaternion.conjugate(rest_turn))
    offsets, moved, local = rest_place[0].copy(), place.copy(), since_rest.copy()
    child = np.flatnonzero(skeleton.parents >= 0)
    above = skeleton.parents[child]
    offsets[child] -= rest_place[0, above]
    back = quaternion.conjugate(since_rest[:, above])
    moved[:, child] = quaternion.rotate(back, place[:, child] - place[:, above])
    local[:, child] = quaternion.multiply(back, since_rest[:, child])
    return offsets, moved, np.rad2deg(quaternion.to_euler(local, _ROTATION_ORDER))


def _turns_and_places(parents: list[int], pose: Pose) -> tuple[Array, Array]:
    """Model-space rotations `(T, J, 4)` and positions `(T, J, 3)` in double precision; scale counts for
    positions."""
    translation, rotation, scale = (
        np.asarray(a, np.float64) for a in (pose.translation, pose.rotation, pose.scale)
    )
    rotation = quaternion.normalize(rotation)
    model = transform.compose(translation, rotation, scale)
    turn = rotation.copy()
    for j, p in enumerate(parents):
        if p >= 0:
            model[:, j] = affine.multiply(model[:, p], model[:, j])
            turn[:, j] = quaternion.multiply(turn[:, p], turn[:, j])
    return turn, model[..., 3].copy()


def _depth_first(skeleton: Skeleton) -> list[int]:
    children: list[list[int]] = [[] for _ in range(len(skeleton))]
    for j, p in enumerate(skeleton.parents.tolist()):
        if p >= 0:
            children[p].append(j)
    order, stack = [], list(reversed(skeleton.roots))
    while stack:
        j = stack.pop()
        order.append(j)
        stack += reversed(children[j])
    return order


def _end_sites(skeleton: Skeleton, clip: Clip | None, sliding: Array) -> Array:
    """Leaves that came from an End Site go back to being one: called `<parent>_end`, and never moved."""
    names, parents = skeleton.names, skeleton.parents.tolist()
    leaf = np.ones(len(skeleton), bool)
    leaf[[p for p in parents if p >= 0]] = False
    keyed = {t for t, p in clip.tracks.table[["target", "path"]].tolist() if p != 3} if clip else set()
    return np.array(
        [
            bool(leaf[j] and p >= 0 and not sliding[j] and j not in keyed)
            and re.fullmatch(re.escape(names[p]) + r"_end(_\d+)?", names[j]) is not None
            for j, p in enumerate(parents)
        ],
        bool,
    )


def _hierarchy(skeleton: Skeleton, order: list[int], offsets: Array, sliding: Array, ends: Array) -> str:
    names = _safe_names(skeleton.names)
    parents, depth = skeleton.parents.tolist(), skeleton.depth.tolist()
    has_child = {p for p in parents if p >= 0}
    lines = ["HIERARCHY"]
    open_depth: list[int] = []

    def close(to: int) -> None:
        while open_depth and open_depth[-1] >= to:
            lines.append("\t" * open_depth.pop() + "}")

    def opened(head: str, at: int, offset: Array) -> None:
        tab = "\t" * at
        lines.extend(
            [f"{tab}{head}", f"{tab}{{", f"{tab}\tOFFSET {' '.join('%.9g' % (v + 0.0) for v in offset)}"]
        )
        open_depth.append(at)

    for j in order:
        at = depth[j]
        close(at)
        if ends[j]:
            opened("End Site", at, offsets[j])
            continue
        opened(f"{'JOINT' if parents[j] >= 0 else 'ROOT'} {names[j]}", at, offsets[j])
        channels = f"6 {_POSITION_CHANNELS}" if sliding[j] else "3"
        lines.append("\t" * (at + 1) + f"CHANNELS {channels} {_ROTATION_CHANNELS}")
        if j not in has_child:  # the format wants every branch to end in one
            opened("End Site", at + 1, np.zeros(3))
    close(0)
    return "\n".join(lines) + "\n"


def _safe_names(names: tuple[str, ...]) -> list[str]:
    """Names without spaces and braces, each used once: other tools' parsers fall over those."""
    taken: dict[str, int] = {}
    for j, name in enumerate(names):
        unique = stem = re.sub(r"[\s{}]+", "_", name.strip()) or f"joint_{j}"
        while unique in taken:
            taken[stem] += 1
            unique = f"{stem}_{taken[stem]}"
        taken[unique] = 1
    return list(taken)
