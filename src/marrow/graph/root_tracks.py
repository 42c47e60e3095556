"""The travel of a joint through all clips of a bank: what root motion is read from, and a bank without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.bank import ClipBank
from marrow.animation.kinematics import to_model
from marrow.animation.packed import PackedFrames
from marrow.animation.packed_joint import with_joint
from marrow.animation.resampling import unpack_rows
from marrow.kernels.memory import aligned_zeros
from marrow.math import elementary, quaternion
from marrow.model._derived import derived
from marrow.model.character import Character
from marrow.model.skeleton import Skeleton
from marrow.printing import warn

__all__ = ["carried_by_hips", "in_place", "root_tracks", "say_that_nothing_travels", "travelling_joint"]

Array = NDArray[Any]
STILL = 1e-6
TRAVELS, NEARLY = 0.1, 0.8
"""How far a joint goes in a clip that travels, as a part of the body's height; and how much of the joints is nearly all."""


def _rows(bank: ClipBank) -> Array:
    """All frames `(T, 10, Jp)`."""
    Jp, size = bank.layout.joints, bank.layout.size
    return bank.rows.reshape(-1, size)[:, : 10 * Jp].reshape(-1, 10, Jp)


def _model(bank: ClipBank, joints: Sequence[int]) -> tuple[Array, Array]:
    """Place `(T, 3)` and rotation `(T, 4)` in model space that a chain of joints leads to, in all frames."""
    rows, units = _rows(bank), _units(bank.skeleton, joints)
    place, turn = np.zeros((len(rows), 3)), quaternion.identity((len(rows),), np.float64)
    for j, unit in zip(joints, units):
        own = rows[:, :7, j].astype(np.float64)
        place = place + quaternion.rotate(turn, own[:, 0:3] * unit)
        turn = quaternion.multiply(turn, quaternion.normalize(own[:, 3:7]))
    return place, turn


def _units(skeleton: Skeleton, joints: Sequence[int]) -> list[float]:
    """How long the unit is in which each joint of a chain is moved, and one more for what hangs on its end: armatures of
    files in centimetres are scaled at rest."""
    sizes = np.cumprod([1.0, *(float(skeleton.rest.scale[j].astype(np.float64).mean()) for j in joints)])
    return [float(u) for u in np.where(np.abs(sizes) > 1e-9, sizes, 1.0)]


def _travel(bank: ClipBank, joint: int, axes: Sequence[str], smooth: float = 0.0) -> tuple[Array, Array]:
    """The character's own motion in all frames, translation `(T, 3)` and rotation `(T, 4)`: how `joint` has moved from its
    rest pose in model space, as far as `axes` say, evened out over `smooth` seconds."""
    bank = bank.unpacked()
    skeleton = bank.skeleton
    chain = [*reversed(skeleton.ancestors(joint)), joint]
    place, turn = _model(bank, chain)
    rest_place, rest_turn = np.zeros(3), quaternion.identity(dtype=np.float64)
    for j, unit in zip(chain, _units(skeleton, chain)):
        rest_place = rest_place + quaternion.rotate(
            rest_turn, skeleton.rest.translation[j].astype(np.float64) * unit
        )
        rest_turn = quaternion.multiply(
            rest_turn, quaternion.normalize(skeleton.rest.rotation[j].astype(np.float64))
        )
    own = quaternion.multiply(turn, quaternion.conjugate(rest_turn))
    if "yaw" not in axes:
        own = quaternion.identity((len(own),), np.float64)
    elif "tilt" not in axes:
        # The part of the turn that is about the axis that points up; none where it is turned upside down.
        upright = own * np.array([0.0, 1.0, 0.0, 1.0])
        size = np.linalg.norm(upright, axis=1, keepdims=True)
        own = np.where(size > 1e-6, upright / np.maximum(size, 1e-6), quaternion.identity(dtype=np.float64))
        if smooth > 0:
            yaw = _steadied(bank, 2 * elementary.arctan2(own[:, 1], own[:, 3])[:, None], smooth, turns=True)[
                :, 0
            ]
            own = quaternion.from_axis_angle(np.array([0.0, 1.0, 0.0]), yaw)
    kept = np.array([name in axes for name in "xyz"], np.float64)
    way = (place - quaternion.rotate(own, rest_place)) * kept
    if smooth > 0 and "tilt" not in axes:
        way[:, [0, 2]] = _steadied(bank, way[:, [0, 2]], smooth)
    return way, own


def _steadied(bank: ClipBank, values: Array, seconds: float, turns: bool = False) -> Array:
    """Values `(T, k)` of all frames, each clip by itself, as means over `seconds`: what comes and goes with every
    step (sway, hips that turn to and fro) is gone, what leads somewhere is still there, and a loop closes as
    before."""
    out = values.copy()
    for clip in range(1, len(bank)):
        begin, frames = int(bank.start[clip]) // bank.layout.size, int(bank.frames[clip])
        if frames < 3:
            continue
        part = values[begin : begin + frames]
        part = np.unwrap(part, axis=0) if turns else part
        line = part[0] + np.linspace(0, 1, frames)[:, None] * (part[-1] - part[0])
        away = part - line  # nothing at both ends: it goes round
        width = min(seconds * float(bank.rate[clip]), frames - 1.0)
        laps = frames - 1
        round_ = away[np.arange(3 * laps + 2) % laps]
        shifted = np.concatenate(
            [np.zeros((1, away.shape[1])), np.cumsum((round_[1:] + round_[:-1]) / 2, axis=0)]
        )
        ends = []
        for side in (0.5, -0.5):
            at = laps + np.arange(frames) + side * width
            low = np.floor(at).astype(int)
            t = (at - low)[:, None]
            # The integral of what is straight between frames.
            ends.append(shifted[low] + t * round_[low] + 0.5 * t * t * (round_[low + 1] - round_[low]))
        out[begin : begin + frames] = line + (ends[0] - ends[1]) / width
    return out


def carried_by_hips(skeleton: Skeleton, joint: int) -> bool:
    """Whether a root is part of the body, as hips are, and not a point on the ground below it."""
    heights = skeleton.rest_model[:, 1, 3].astype(np.float64)
    low, high = float(heights.min(initial=0.0)), float(heights.max(initial=0.0))
    return high > low and float(heights[joint]) - low > 0.3 * (high - low)


def travelling_joint(character: Character) -> int:
    """The joint that travels in the clips of a character: its first root; or, where that stands still, what is below it and
    carries nearly the whole body."""
    found: int = derived(character, ("travelling joint",), lambda: _travelling_joint(character))
    return found


def _travelling_joint(character: Character) -> int:
    skeleton, bank = character.skeleton, ClipBank.of(character).unpacked()
    begin, frames = (bank.start // bank.layout.size)[1:], bank.frames[1:]
    moves = np.array([not s.source.additive for s in bank.sampled], bool)
    rows = bank.rows.reshape(-1, bank.layout.size)
    J, M = len(skeleton), len(skeleton.morph_names)
    first, last = (
        to_model(skeleton, unpack_rows(np.ascontiguousarray(rows[at[moves]]), J, M))[..., 3]
        for at in (begin, begin + np.maximum(frames, 1) - 1)
    )
    far = TRAVELS * float(np.ptp(skeleton.rest_model[:, 1, 3]))
    goes = (np.linalg.norm((last - first)[..., [0, 2]], axis=-1) > far).any(axis=0)
    joint = skeleton.roots[0]
    while not goes[joint]:
        body = [k for k in skeleton.children(joint) if len(skeleton.descendants(k)) + 1 > NEARLY * J]
        if not body:
            return skeleton.roots[0]
        joint = body[0]
    return joint


def root_tracks(bank: ClipBank, joint: int, axes: Sequence[str], smooth: float = 0.0) -> tuple[Array, Array]:
    """The character's own motion `(T, 7)` (translation, rotation) in all frames of a bank, as `joint` has it along `axes`;
    and where each clip's frames begin `(C,)`, -1 for clips that stay."""
    bank = bank.unpacked()
    out = np.concatenate(_travel(bank, joint, axes, smooth), axis=1)
    size = bank.layout.size
    begin = (bank.start // size).astype(np.int64)
    first = np.full(len(bank), -1, np.int64)
    for clip in range(1, len(bank)):
        if bank.sampled[clip - 1].source.additive:
            continue
        frames = out[begin[clip] : begin[clip] + bank.frames[clip]]
        # Neighbours on the same side, so that they can be mixed straight.
        flips = np.cumsum((frames[1:, 3:] * frames[:-1, 3:]).sum(axis=1) < 0) % 2
        frames[1:, 3:] *= np.where(flips == 1, -1.0, 1.0)[:, None]
        if np.abs(frames - frames[0]).max() > STILL:
            first[clip] = begin[clip]
    return out, first


def in_place(character: Character, joint: int, axes: Sequence[str], smooth: float = 0.0) -> ClipBank:
    """The character's bank without the travel that `root_tracks` tells of, so that clips stay where they are."""

    def build() -> ClipBank:
        played = ClipBank.of(character)
        bank = played.unpacked()
        travel, facing = _travel(bank, joint, axes, smooth)
        above = list(reversed(bank.skeleton.ancestors(joint)))
        place, turn = _model(bank, [*above, joint])
        parent_place, parent_turn = _model(bank, above)
        # What is left of the joint's motion in model space, seen from what it hangs on.
        back = quaternion.conjugate(facing)
        place, turn = quaternion.rotate(back, place - travel), quaternion.multiply(back, turn)
        up = quaternion.conjugate(parent_turn)
        place = quaternion.rotate(up, place - parent_place) / _units(bank.skeleton, above)[-1]
        turn = quaternion.multiply(up, turn)
        rows = aligned_zeros(bank.rows.shape)
        rows[:] = bank.rows
        changed, made = replace(bank, rows=rows), {}
        frames, size = _rows(changed), bank.layout.size
        for clip in range(1, len(bank)):
            if bank.sampled[clip - 1].source.additive:
                continue
            begin = int(bank.start[clip]) // size
            part = slice(begin, begin + int(bank.frames[clip]))
            frames[part, 0:3, joint] = place[part]
            side = np.where((frames[part, 3:7, joint] * turn[part]).sum(-1, keepdims=True) < 0, -1.0, 1.0)
            frames[part, 3:7, joint] = side * turn[part]
            frames_of = played.sampled[clip - 1]
            if isinstance(frames_of, PackedFrames):
                made[clip] = with_joint(frames_of.motion, bank.skeleton, joint, place[part], turn[part])
        rows.flags.writeable = False
        return played.with_motions(made, changed)

    result: ClipBank = derived(character, ("bank in place", joint, tuple(sorted(axes)), smooth), build)
    return result


MOST_MEASURED = 8
"""Clips whose feet are looked at where none travels."""


def say_that_nothing_travels(
    character: Character, bank: ClipBank, travel: tuple[Array, Array], played: Sequence[str]
) -> None:
    """Warns, once for a character, where a graph takes travel out of clips that have none and walk in place."""
    from marrow.motion.contacts import LEG, PACE, clip_points, ground_velocity
    from marrow.motion.frames import frame_times
    from marrow.motion.rig import find_rig

    way, first = travel
    if not find_rig(bank.skeleton).complete:
        return
    still = []
    for name in played:
        clip, k = character.clips[name], bank.index[name]
        if clip.additive or clip.duration <= 0:
            continue
        if first[k] >= 0:
            frames = way[first[k] : first[k] + bank.frames[k]]
            size = float(np.ptp(bank.skeleton.rest_model[:, 1, 3]))
            if float(np.linalg.norm((frames[-1] - frames[0])[[0, 2]])) > 0.1 * size:
                return
        still.append(clip)

    def walking() -> list[str]:
        found = []
        for clip in still[:MOST_MEASURED]:
            times = frame_times(clip)
            points = clip_points(clip, times)
            if np.linalg.norm(ground_velocity(points, times)) > PACE * points.leg / LEG:
                found.append(clip.name)
        return found

    def said() -> bool:
        names = walking()
        if names:
            listed = ", ".join(map(repr, names[:3])) + (", ..." if len(names) > 3 else "")
            warn(
                f"RootMotion: {listed} {'walks' if len(names) == 1 else 'walk'} in place: there is no travel to take out, "
                "and the character stays where it is; give the clips theirs first: "
                "character.with_clips(clip.with_travel(), ...)"
            )
        return True

    derived(character, ("said that nothing travels", tuple(sorted(played))), said)
