"""`clip.compressed`: packed motion that is off by no more than it may be, measured when it is made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.packed import base_row, unpacked_rows
from marrow.animation.packed_tracks import TrackPlan, plan_tracks, step_code, write_record
from marrow.animation.skin_reach import joint_limits, joint_radii, morph_reach
from marrow.errors import ValidationError
from marrow.kernels.packed_layout import STEP_ONE, step_of
from marrow.kernels.packing_steps import StepWork, choose_numbers, tune_steps
from marrow.kernels.pose_layout import PoseLayout
from marrow.kernels.skin_errors import skin_errors
from marrow.math import quaternion
from marrow.model import _validate
from marrow.model.character import Character
from marrow.model.clip import Clip
from marrow.model.packed_motion import PackedMotion, PackedTracks
from marrow.model.skeleton import Skeleton

__all__ = ["compressed"]

Array = NDArray[Any]
SURE = 0.995
"""The part of the limit that errors may take where they are looked at, so that none between is larger."""
SHARES = np.array([0.0, 0.25, 0.5, 0.75])
CLOSELY = np.arange(32) / 32
TUNED, PIECE = 4, 16
"""How many pieces of a clip steps are tuned on, and the frames of one."""
ALIKE = 1e-5
"""The part of a scale that it may change by and count as one that stays: what programs make of scales that do."""
MOST_FINER = 6
"""Codes that a scale is made finer by at once: what jumps by half a turn is far off until two frames agree on the way."""
MORPH_SHARE = 0.1
"""The part of the limit that is left to morphs, where a clip has some."""
SIZES = np.array([step_of(code) for code in range(256)])
LOWEST, HIGHEST = STEP_ONE - 48, STEP_ONE + 12
"""Scales of segments that are tried."""


@dataclass(frozen=True, eq=False)
class _Body:
    """What errors are measured on."""

    parents: Array
    radius: Array
    limit: Array
    unit: Array
    own_unit: Array
    rough: Array
    """How long the unit is at most, where scales leave no exact one; else 1."""

    @property
    def alike(self) -> Array:
        return (self.own_unit > 0).astype(np.int32)


def compressed(
    clip: Clip,
    *,
    error: float | Mapping[str, float] = 1e-4,
    character: Character | None = None,
    rate: float | None = None,
) -> Clip:
    """See `Clip.compressed`."""
    skeleton = clip.skeleton
    if character is not None:
        _validate.instance("compressed", "character", character, Character)
    if character is not None and character.skeleton != skeleton:
        raise ValidationError(f"compressed: {character!r} has another skeleton than {clip!r}")
    limits = joint_limits(skeleton, error)
    sampled = clip.resampled(rate)
    rows = np.ascontiguousarray(sampled.rows)
    if not np.isfinite(rows).all():
        frame = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
        raise ValidationError(
            f"compressed: {clip!r} has numbers that are not finite, the first in frame {frame}"
        )
    layout = PoseLayout(len(skeleton), len(skeleton.morph_names))
    if clip.additive:
        rows = _applied(rows, skeleton, layout)
    plan = plan_tracks(
        skeleton, rows, base_row(skeleton, False), limits, morph_reach(skeleton, character), clip.additive
    )
    share = 1.0 - (MORPH_SHARE if plan.morphs.any() else 0.0)
    body = _body(clip, rows, joint_radii(skeleton, character), limits * share)
    packer = _Packer(clip, rows, layout, plan, body, sampled.rate)
    lengths = {even_length(len(rows), length) for length in (16, 32)}
    motion = min((packer.pack(length) for length in sorted(lengths)), key=lambda packed: packed.nbytes)
    resampling = 0.0 if clip.packed is not None else _resampling_error(clip, sampled)
    motion = replace(motion, limit=float(limits.min()), resampling_error=resampling)
    return replace(clip, tracks=PackedTracks(motion, skeleton), duration=clip.duration)


def even_length(frames: int, length: int) -> int:
    """About so many frames, so that all segments are as long as each other, nearly."""
    return -(-frames // max(round(frames / length), 1))


def _applied(rows: Array, skeleton: Skeleton, layout: PoseLayout) -> Array:
    """The rows of a difference on top of the rest pose, where its errors are seen."""
    out = np.array(rows)
    joints = out[:, : 10 * layout.joints].reshape(len(out), 10, -1)[:, :, : layout.J]
    rest = skeleton.rest
    joints[:, :3] += rest.translation.T
    turns = quaternion.normalize(rest.rotation.astype(np.float64))
    made = quaternion.multiply(turns, np.swapaxes(joints[:, 3:7], 1, 2).astype(np.float64))
    joints[:, 3:7] = np.swapaxes(made, 1, 2)
    out[:, 10 * layout.joints :][:, : layout.M] += rest.morphs
    return out


def _resampling_error(clip: Clip, sampled: Any) -> float:
    """By how much the frames are off; nothing is off at keys that are frames, so that only others are measured."""
    return (
        0.0
        if clip.key_rate is not None and abs(clip.key_rate - sampled.rate) < 0.01
        else float(sampled.error.metres)
    )


def _body(clip: Clip, rows: Array, radius: Array, limit: Array) -> _Body:
    """Units: as long as all joints above scale all ways alike, and always the same."""
    skeleton, J = clip.skeleton, len(clip.skeleton)
    Jp = PoseLayout(J).joints
    scale = rows[:, : 10 * Jp].reshape(len(rows), 10, Jp)[:, 7:10, :J].astype(np.float64)
    first = scale[0, 0]
    same = (np.abs(scale - first) <= ALIKE * np.abs(first)).all(axis=(0, 1)) & (first > 0)
    unit, own, largest = np.ones(J), np.ones(J), np.abs(scale).max(axis=(0, 1))
    for j, p in enumerate(skeleton.parents.tolist()):
        unit[j] = own[p] if p >= 0 else 1.0
        own[j] = unit[j] * first[j] if same[j] else 0.0
        largest[j] *= largest[p] if p >= 0 else 1.0
    parents = np.ascontiguousarray(skeleton.parents, np.int32)
    return _Body(parents, radius, limit, unit, own, np.where(own > 0, 1.0, np.maximum(largest, 1e-9)))


def _reaches(plan: TrackPlan, body: _Body, rows: Array) -> tuple[Array, Array]:
    """For each joint: how long the lever of its turns is, and the least that may be off, of all that moves with it."""
    J, Jp = len(body.parents), PoseLayout(len(body.parents)).joints
    place = rows[:, : 10 * Jp].reshape(len(rows), 10, Jp)[:, :3, :J]
    length = np.sqrt((place.astype(np.float64) ** 2).sum(axis=1)).max(axis=0)
    scale = np.where(body.own_unit > 0, body.own_unit, body.rough)
    lever = body.radius * scale / body.limit
    least = body.limit.copy()
    still = np.asarray((plan.column[:, 3:6] < 0).all(axis=1))
    for j in range(J - 1, 0, -1):
        p = body.parents[j]
        if p >= 0:
            far = length[j] * (body.unit[j] if body.unit[j] > 0 else body.rough[p]) / body.limit[j]
            lever[p] = max(lever[p], far + (lever[j] if still[j] or body.own_unit[p] == 0 else 0.0))
            least[p] = min(least[p], least[j])
    return lever, least


class _Packer:
    """Packs the frames of one clip, with segments of any length."""

    def __init__(
        self, clip: Clip, rows: Array, layout: PoseLayout, plan: TrackPlan, body: _Body, rate: float
    ) -> None:
        self.clip, self.rows, self.layout, self.plan, self.body, self.rate = (
            clip,
            rows,
            layout,
            plan,
            body,
            rate,
        )
        T, J = len(rows), layout.J
        lever, least = _reaches(plan, body, rows)
        self.steps = np.empty((J, 3), np.int32)
        unit = np.where(body.unit > 0, body.unit, body.rough)
        for kind, sizes in enumerate(
            (0.5 * least / unit, 0.2 / np.maximum(lever, 1e-9), 0.1 / np.maximum(lever, 1e-9))
        ):
            self.steps[:, kind] = [step_code(x) for x in sizes]
        children = [np.flatnonzero(body.parents == j) for j in range(J)]
        below = [clip.skeleton.descendants(j) for j in range(J)]
        plan.mark_long_ways(rows, layout, SIZES[self.steps[:, 0]])
        self.work = StepWork(
            rows=rows.reshape(-1), parents=body.parents, children=np.concatenate([*children, []]).astype(np.int32),
            child_start=np.concatenate([[0], np.cumsum([len(c) for c in children])]).astype(np.int32),
            below=np.concatenate([*below, []]).astype(np.int32),
            below_start=np.concatenate([[0], np.cumsum([len(b) for b in below])]).astype(np.int32),
            column=plan.column.reshape(-1), code=self.steps.reshape(-1), sizes=SIZES, exact=plan.exact,
            base=plan.base.reshape(-1),
            unit=body.unit, own_unit=body.own_unit, radius=body.radius, limit=SURE * body.limit,
            frames=np.zeros(0, np.int64),
            scale=np.zeros(0), true=np.zeros(0), decoded=np.zeros(0), numbers=np.zeros(max(T * plan.columns, 1), np.int32),
            codes=np.zeros(0, np.int32), size=layout.size, Jp=layout.joints, columns=plan.columns, length=16,
        )  # fmt: skip
        if plan.columns:
            self._tune()

    def _room(self, frames: Array, **changes: Any) -> StepWork:
        """What kernels work with, for so many frames at once."""
        count = 7 * self.layout.J * len(frames)
        return self.work._replace(
            frames=frames,
            scale=np.ones(len(frames)),
            true=np.zeros(count),
            decoded=np.zeros(count),
            **changes,
        )

    def _tune(self) -> None:
        """Coarser steps, tried on a few places of the clip."""
        T = len(self.rows)
        pieces = -(-T // PIECE)
        chosen = np.unique(np.linspace(0, pieces - 1, min(TUNED, pieces)).round().astype(int))
        frames = np.concatenate([np.arange(PIECE * s, min(PIECE * s + PIECE, T)) for s in chosen])
        work, before = self._room(frames.astype(np.int64)), self.steps.copy()
        tune_steps(work, 8, 2)
        tune_steps(work, 2, 1)
        # Where scales leave no exact unit, errors are looked at when all is written.
        loose = (self.body.own_unit == 0) | (self.body.unit == 0)
        self.steps[loose] = np.minimum(self.steps, before)[loose]

    def pack(self, length: int) -> PackedMotion:
        """The motion in segments of so many frames."""
        rows, plan, layout, T = self.rows, self.plan, self.layout, len(self.rows)
        segments = -(-T // length)
        codes = np.full(segments, STEP_ONE, np.int32)
        work = self._room(np.zeros(length, np.int64), codes=codes, length=length)
        if plan.columns:
            choose_numbers(work, 0, segments, T, LOWEST, HIGHEST, 0)
        for _ in range(12):
            plan.keep_morphs(rows, layout, work.numbers, codes, SIZES, length)
            words = write_record(plan, layout, rows, work.numbers, codes, self.steps, SIZES, length)
            motion = PackedMotion(words, T, layout.J, layout.M, self.rate, self.clip.additive)
            mine = unpacked_rows(motion, self.clip.skeleton)
            if self.clip.additive:
                mine = _applied(mine, self.clip.skeleton, layout)
            ratio, metres = _errors(rows, mine, self.body, layout)
            if float(ratio.max()) <= 1.0:
                return replace(motion, error=float(metres.max()))
            _refine(work, ratio, T)
        limit = float(self.body.limit.min())
        raise ValidationError(
            f"compressed: {self.clip!r} cannot be packed to {limit:.3g} m; allow it a larger error, or keep its frames"
        )


def _errors(rows: Array, mine: Array, body: _Body, layout: PoseLayout) -> tuple[Array, Array]:
    """The largest error from each frame on, as a part of the limit and in metres; looked at more closely where it
    is large."""
    T, J = len(rows), layout.J
    ratio, metres, room = np.zeros(T), np.zeros(T), [np.zeros(12 * J) for _ in range(2)]

    def looked(a: Array, b: Array, shares: Array, out: tuple[Array, Array]) -> None:
        skin_errors(
            a.reshape(-1), b.reshape(-1), body.parents, body.radius, body.limit, body.alike, shares, *room, *out,
            layout.joints,
            layout.size,
        )  # fmt: skip

    looked(rows, mine, SHARES, (ratio, metres))
    for f in np.argsort(ratio)[-16:].tolist():
        pair = [f, min(f + 1, T - 1)]
        found = (np.zeros(2), np.zeros(2))
        looked(rows[pair], mine[pair], CLOSELY, found)
        ratio[f], metres[f] = max(ratio[f], found[0][0]), max(metres[f], found[1][0])
    return ratio, metres


def _refine(work: StepWork, ratio: Array, frames: int) -> None:
    """Finer scales where errors between frames are too large, by as much as they are: steps have eight codes for each
    doubling."""
    finer: dict[int, int] = {}
    for f in np.flatnonzero(ratio > 1.0).tolist():
        much = min(max(2, math.ceil(8 * math.log2(min(float(ratio[f]), 1e9)))), MOST_FINER)
        for s in {f // work.length, min(f + 1, frames - 1) // work.length}:
            finer[s] = max(finer.get(s, 0), much)
    for s, much in finer.items():
        work.codes[s] = max(work.codes[s] - much, 0)
        choose_numbers(work, s, s + 1, frames, 0, 0, 1)
