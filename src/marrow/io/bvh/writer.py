"""Writes one clip as BVH that any reader takes: one root, joints only, every branch with its End Site.

BVH knows rest offsets without rotation, so every joint's frame is turned to stand parallel to the model's at
rest: the rest pose looks as it does in marrow, and each frame's rotation is what the joint has turned since.
Joint positions are kept exactly, in every frame: where scale or translation moves a joint against its parent,
it gets position channels. Scale itself, morphs and meshes have no place in the format.

Readers disagree on whether a position adds to the OFFSET or takes its place. The root's OFFSET is zero, so that
all agree on it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ResourceLimitError, ValidationError
from marrow.io.atomic import replacing
from marrow.io.bvh.hierarchy import MAX_JOINTS
from marrow.io.bvh.selection import selected_joints
from marrow.math import affine, quaternion, transform
from marrow.model import Character, Clip, Pose, _validate
from marrow.printing import warn

__all__ = ["write"]

Array = NDArray[Any]
MAX_VALUES = 200_000_000
_BLOCK = 250_000  # joints x frames that are worked on at a time
# Offsets that move by less than this part of the skeleton's size are rounding, not motion.
_STILL = 1e-6
_DEEPEST_INDENT = 100  # tabs before every line would make a deep skeleton grow with its square
_ROTATION_ORDER = "zxy"
_POSITION_CHANNELS = "Xposition Yposition Zposition"
_ROTATION_CHANNELS = "Zrotation Xrotation Yrotation"


@dataclass
class _Tree:
    """The joints that are written, depth first: their names, parents (the root is 0) and joint numbers (-1 for a
    root that was added).
    """

    names: list[str]
    parents: list[int]
    joints: list[int]
    ends: list[bool]


def write(
    character: Character,
    path: Path | str,
    *,
    clip: str | None = None,
    rate: float | None = None,
    scale: float = 1.0,
    joints: Iterable[str] | None = None,
) -> None:
    """Writes a clip of a character: `clip` by name (it may be left out when there is just one; without any
    clip the rest pose is one frame), at `rate` frames a second (default: the clip's own rate, 30 where it has
    none).

    `scale` multiplies all lengths: `scale=100` writes the centimetres that most BVH tools expect. `joints` are the
    names (or patterns, such as `mixamorig:*`) of those to write; by default all that are bones: what moves a
    skin, and what hangs on that, without the nodes of meshes.
    """
    if rate is not None:
        rate = _validate.frame_rate("save", rate)
    if not 0 < scale < math.inf:
        raise ValidationError(f"save: scale must be a positive number, got {scale}")
    skeleton = character.skeleton
    if not len(skeleton):
        raise ValidationError("save: a BVH file needs at least one joint, the character has none")
    chosen = _chosen(character, clip)
    kept = selected_joints(character, chosen, joints)
    if len(kept) >= MAX_JOINTS:
        raise ResourceLimitError(
            f"{len(kept)} joints are more than the {MAX_JOINTS} of a BVH file",
            path=path,
            remedy="choose joints=",
        )
    rate = rate or (_own_rate(chosen) if chosen else None) or 30.0
    frames = math.ceil(chosen.duration * rate - 1e-3) + 1 if chosen else 1
    if frames * len(skeleton) * 6 > MAX_VALUES:
        raise ResourceLimitError(
            f"{frames} frames of {len(skeleton)} joints are more than a BVH file should hold",
            path=path,
            remedy="lower rate",
        )
    tree = _tree(character, kept, chosen)
    motion = _Motion(character, tree, chosen, frames, rate, scale)
    offsets, sliding = motion.offsets, motion.sliding()
    tree.ends = [end and not slides for end, slides in zip(tree.ends, sliding)]
    if sliding[1:].any():
        names = [tree.names[j] for j in np.flatnonzero(sliding[1:]) + 1]
        warn(
            f"{len(names)} joints move against their parents ({', '.join(names[:3])}{', ...' if names[3:] else ''}); "
            "they get position channels, which some readers add to the offset",
        )
    with replacing(path) as file:
        file.write(_hierarchy(tree, offsets, sliding).encode())
        file.write(f"MOTION\nFrames: {frames}\nFrame Time: {1 / rate:.12g}\n".encode())
        for moved, angles in motion.blocks():
            _write_rows(file, _columns(tree, sliding, moved, angles))


def _columns(tree: _Tree, sliding: Array, moved: Array, angles: Array) -> Array:
    """The channels of some frames `(T, W)`, in the order of the hierarchy."""
    columns = []
    for j, end in enumerate(tree.ends):
        if not end:
            columns += [moved[:, j]] * bool(sliding[j]) + [angles[:, j]]
    return np.concatenate(columns, axis=1) + 0.0  # no negative zeros


def _write_rows(file: IO[bytes], values: Array) -> None:
    row = " ".join(["%.9g"] * values.shape[1]) + "\n"
    step = max(1, min(256, _BLOCK // values.shape[1]))
    for start in range(0, len(values), step):
        block = values[start : start + step]
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


def _tree(character: Character, kept: list[int], clip: Clip | None) -> _Tree:
    """The kept joints below the nearest kept joint above them, and a root above several."""
    skeleton = character.skeleton
    above = skeleton.parents.tolist()
    chosen = set(kept)

    nearest: list[int] = []  # the chosen joint above each, -1 for none
    for p in above:
        nearest.append(p if p < 0 or p in chosen else nearest[p])
    children: dict[int, list[int]] = {}
    for j in kept:
        children.setdefault(nearest[j], []).append(j)
    roots = children.get(-1, [])
    order: list[int] = [] if len(roots) == 1 else [-1]
    stack = list(reversed(roots))
    while stack:
        j = stack.pop()
        order.append(j)
        stack += reversed(children.get(j, []))
    place = {j: i for i, j in enumerate(order)}
    parents = [-1] + [place.get(nearest[j], 0) for j in order[1:]]
    names = _safe_names(["root" if j < 0 else skeleton.names[j] for j in order])
    return _Tree(names, parents, order, _end_sites(character, order, parents, clip))


class _Motion:
    """The frames of a clip in model-parallel frames, the root's place at rest taken as the origin: some frames at a time,
    since all of a long clip take more memory than its file ever will."""

    def __init__(
        self, character: Character, tree: _Tree, clip: Clip | None, frames: int, rate: float, scale: float
    ) -> None:
        self.character, self.tree, self.clip, self.scale = character, tree, clip, scale
        self.times = np.arange(frames) / rate
        self.step = max(1, _BLOCK // len(character.skeleton))
        rest = character.skeleton.rest.reshape(1)
        self._rest_turn, place = _turns_and_places(character, tree, rest)
        self._above = np.array(tree.parents[1:], int)
        self.offsets = place[0].copy()
        self.offsets[1:] -= place[0, self._above]
        self.offsets[0] = 0
        self.offsets *= scale
        self._kept: tuple[Array, Array] | None = None

    def blocks(self) -> Iterator[tuple[Array, Array]]:
        """Offsets over time `(T, J, 3)` and angles in degrees `(T, J, 3)`, for some frames after the other."""
        if self._kept is not None:
            yield self._kept
            return
        for start in range(0, len(self.times), self.step):
            times = self.times[start : start + self.step]
            made = self._block(
                self.clip.sample(times) if self.clip else self.character.skeleton.rest.reshape(1)
            )
            if len(times) == len(self.times):
                self._kept = made
            yield made

    def _block(self, pose: Pose) -> tuple[Array, Array]:
        turn, place = _turns_and_places(self.character, self.tree, pose)
        since_rest = quaternion.multiply(turn, quaternion.conjugate(self._rest_turn))
        moved, local = place.copy(), since_rest.copy()
        back = quaternion.conjugate(since_rest[:, self._above])
        moved[:, 1:] = quaternion.rotate(back, place[:, 1:] - place[:, self._above])
        local[:, 1:] = quaternion.multiply(back, since_rest[:, 1:])
        return moved * self.scale, np.rad2deg(quaternion.to_euler(local, _ROTATION_ORDER))

    def sliding(self) -> Array:
        """Which joints `(J,)` move against their parents; the root always may."""
        low, high = self.offsets.min(axis=0), self.offsets.max(axis=0)
        most = np.zeros(len(self.offsets))
        for moved, _ in self.blocks():
            low, high = np.minimum(low, moved.min(axis=(0, 1))), np.maximum(high, moved.max(axis=(0, 1)))
            most = np.maximum(most, np.abs(moved - self.offsets).max(axis=(0, 2)))
        slides: Array = most > _STILL * float((high - low).max())
        slides[0] = True
        return slides


def _turns_and_places(character: Character, tree: _Tree, pose: Pose) -> tuple[Array, Array]:
    """Model-space rotations `(T, J, 4)` and positions `(T, J, 3)` of the written joints in double precision;
    scale counts for positions."""
    translation, rotation, scale = (
        np.asarray(a, np.float64) for a in (pose.translation, pose.rotation, pose.scale)
    )
    rotation = quaternion.normalize(rotation)
    model = transform.compose(translation, rotation, scale)
    turn = rotation.copy()
    for j, p in enumerate(character.skeleton.parents.tolist()):
        if p >= 0:
            model[:, j] = affine.multiply(model[:, p], model[:, j])
            turn[:, j] = quaternion.multiply(turn[:, p], turn[:, j])
    turns, places = turn[:, tree.joints], model[..., 3][:, tree.joints]
    if tree.joints[0] < 0:
        turns[:, 0], places[:, 0] = quaternion.identity(), 0.0
    return turns, places


def _end_sites(character: Character, order: list[int], parents: list[int], clip: Clip | None) -> list[bool]:
    """Leaves that came from an End Site go back to being one: called `<parent>_end`, and never moved."""
    names = character.skeleton.names
    inner = set(parents)
    keyed = {t for t, p in clip.tracks.table[["target", "path"]].tolist() if p != 3} if clip else set()

    def is_end(i: int) -> bool:
        j, p = order[i], parents[i]
        if i in inner or p < 0 or order[p] < 0 or j in keyed:
            return False
        return re.fullmatch(re.escape(names[order[p]]) + r"_end(_\d+)?", names[j]) is not None

    return [is_end(i) for i in range(len(order))]


def _hierarchy(tree: _Tree, offsets: Array, sliding: Array) -> str:
    inner = set(tree.parents)
    lines = ["HIERARCHY"]
    open_depth: list[int] = []
    depth: list[int] = []

    def tabs(at: int) -> str:
        return "\t" * min(at, _DEEPEST_INDENT)

    def close(to: int) -> None:
        while open_depth and open_depth[-1] >= to:
            lines.append(tabs(open_depth.pop()) + "}")

    def opened(head: str, at: int, offset: Array) -> None:
        tab = tabs(at)
        lines.extend(
            [f"{tab}{head}", f"{tab}{{", f"{tab}\tOFFSET {' '.join('%.9g' % (v + 0.0) for v in offset)}"]
        )
        open_depth.append(at)

    for j, parent in enumerate(tree.parents):
        at = depth[parent] + 1 if parent >= 0 else 0
        depth.append(at)
        close(at)
        if tree.ends[j]:
            opened("End Site", at, offsets[j])
            continue
        opened(f"{'JOINT' if parent >= 0 else 'ROOT'} {tree.names[j]}", at, offsets[j])
        channels = f"6 {_POSITION_CHANNELS}" if sliding[j] else "3"
        lines.append(tabs(at + 1) + f"CHANNELS {channels} {_ROTATION_CHANNELS}")
        if j not in inner:  # the format wants every branch to end in one
            opened("End Site", at + 1, np.zeros(3))
    close(0)
    return "\n".join(lines) + "\n"


def _safe_names(names: list[str]) -> list[str]:
    """Names that no reader falls over, each used once: without a namespace where all share it (readers put one in
    front or take it away as they please), without spaces, braces and what three.js takes for a path.
    """
    spaces = {name.rpartition(":")[0] for name in names if ":" in name}
    if len(spaces) == 1:
        names = [name.removeprefix(f"{next(iter(spaces))}:") for name in names]
    taken: dict[str, int] = {}
    for j, name in enumerate(names):
        unique = stem = re.sub(r"[\s{}\[\]:/]+", "_", name.strip()) or f"joint_{j}"
        while unique in taken:
            taken[stem] += 1
            unique = f"{stem}_{taken[stem]}"
        taken[unique] = 1
    return list(taken)
