"""`ClipBank`: all clips of a character as one flat array of pose rows, for the pose kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.frame_budget import joint_frames
from marrow.animation.packed import PackedFrames, base_row, with_spare
from marrow.animation.resampling import SampledClip, pack_rows, resampled
from marrow.errors import ValidationError
from marrow.kernels.memory import aligned
from marrow.kernels.pose_layout import PoseLayout
from marrow.model import _validate
from marrow.model._asset import Asset, freeze
from marrow.model._derived import derived
from marrow.model.character import Character
from marrow.model.clip import Clip
from marrow.model.packed_motion import PackedMotion
from marrow.model.skeleton import Skeleton

__all__ = ["ClipBank"]

Array = NDArray[Any]
MAX_BANK = 16_000_000
"""Frames of single joints that all clips of a bank have together, beyond the numbers they hold themselves."""
REST = 0
"""The entry of every bank that is the skeleton's rest pose."""


@dataclass(frozen=True, eq=False, repr=False)
class ClipBank(Asset):
    """Clips laid end to end: `rows` flat float32; clip `c` begins at `start[c]`, has `frames[c]` rows at `rate[c]` per
    second. Entry 0 is the rest pose; `index` maps names to entries.

    Clips that were `compressed` stay packed: their records lie in `packed`, from the word `packed_at[c]` on (-1
    for others), and at `start[c]` of `rows` there is
    the pose that they start from. `frame_rows` has the frames of any."""

    skeleton: Skeleton
    rows: Array
    start: Array
    frames: Array
    rate: Array
    duration: Array
    index: dict[str, int]
    sampled: tuple[SampledClip | PackedFrames, ...]
    packed: Array
    packed_at: Array

    def __post_init__(self) -> None:
        rows = aligned(self.rows)  # rows of a copied bank may lie anywhere
        rows.flags.writeable = self.rows.flags.writeable
        _validate.set_fields(self, rows=rows)

    @classmethod
    def build(cls, skeleton: Skeleton, clips: Iterable[Clip], *, rate: float | None = None) -> ClipBank:
        """Resamples the clips (`rate=None`: each at its own rate) and lays them end to end."""
        sampled: list[SampledClip | PackedFrames] = []
        numbers, most = 0, MAX_BANK
        for clip in clips:
            if clip.packed is not None and rate is None:
                sampled.append(PackedFrames(clip))
                continue
            sampled.append(resampled(clip, rate))
            numbers += joint_frames(skeleton, sampled[-1].frame_count)
            most += len(clip.tracks.values)
            if numbers > most:
                raise ValidationError(
                    f"the first {len(sampled)} clips, up to {clip.name!r}, are more than {most:,} frames of single joints; "
                    "animators play clips from frames: keep fewer of them, or trim them"
                )
        rest = pack_rows(skeleton.rest.broadcast_to((1,)))
        parts, begins, total = [rest], [0], 1
        nothing = -1  # where the pose is that differences start from
        words: list[Array] = []
        packed_at, used = [-1], 0
        for s in sampled:
            if isinstance(s, SampledClip):
                begins.append(total)
                packed_at.append(-1)
                parts.append(s.rows)
                total += len(s.rows)
                continue
            if s.motion.additive and nothing < 0:
                nothing = total
                parts.append(base_row(skeleton, True)[None])
                total += 1
            begins.append(nothing if s.motion.additive else REST)
            packed_at.append(used)
            words.append(s.motion.words)
            used += len(s.motion.words)
        frames = np.array([1, *(s.frame_count for s in sampled)], np.int64)
        size = rest.shape[1]
        rows = np.concatenate(parts).ravel()
        rows.flags.writeable = False
        return cls(
            skeleton,
            rows,
            freeze(np.array(begins, np.int64) * size),
            freeze(frames),
            freeze(np.array([1.0, *(s.rate for s in sampled)], np.float32)),
            freeze(np.array([0.0, *(s.duration for s in sampled)], np.float64)),
            {s.name: i + 1 for i, s in enumerate(sampled)},
            tuple(sampled),
            freeze(with_spare(words)),
            freeze(np.array(packed_at, np.int64)),
        )

    @classmethod
    def of(cls, character: Character) -> ClipBank:
        """The bank of all of a character's clips at their own rates, built once and shared by its animators."""
        bank: ClipBank = derived(
            character, "bank", lambda: cls.build(character.skeleton, character.clips.values())
        )
        return bank

    def frame_rows(self, entry: int) -> Array:
        """All frames of a clip as pose rows `(T, size)`; those of packed ones are made for whoever asks."""
        clip = self.sampled[entry - 1] if entry else None
        if self.packed_at[entry] >= 0 and isinstance(clip, PackedFrames):
            return clip.rows
        size = self.layout.size
        begin = int(self.start[entry])
        return self.rows[begin : begin + int(self.frames[entry]) * size].reshape(-1, size)

    def unpacked(self) -> ClipBank:
        """The same with the frames of all clips in its rows; itself where none is packed."""
        if (self.packed_at < 0).all():
            return self
        size = self.layout.size
        rows = np.concatenate([self.frame_rows(entry) for entry in range(len(self))]).ravel()
        start = np.concatenate([[0], np.cumsum(self.frames)[:-1]]).astype(np.int64) * size
        return replace(
            self, rows=freeze(rows), start=freeze(start), packed=freeze(np.zeros(0, np.int32)),
            packed_at=freeze(np.full(len(self), -1, np.int64)),
        )  # fmt: skip

    def with_motions(self, motions: Mapping[int, PackedMotion], frames: ClipBank) -> ClipBank:
        """The same clips, played otherwise: packed ones from `motions`, by their entries, others from the rows of
        `frames`, which has those of all."""
        if not motions:
            return frames if (self.packed_at < 0).all() else self
        sampled = [
            PackedFrames(clip.source, motions[k]) if k in motions else clip
            for k, clip in enumerate(self.sampled, 1)
        ]
        records, packed_at, used = [], np.full(len(self), -1, np.int64), 0
        for k, clip in enumerate(sampled, 1):
            if isinstance(clip, PackedFrames):
                packed_at[k], used = used, used + len(clip.motion.words)
                records.append(clip.motion.words)
        rows, size = np.array(self.rows), self.layout.size
        for k in np.flatnonzero(packed_at < 0).tolist():
            begin, there, count = int(self.start[k]), int(frames.start[k]), int(self.frames[k]) * size
            rows[begin : begin + count] = frames.rows[there : there + count]
        return replace(
            self, rows=freeze(rows), packed=freeze(with_spare(records)), packed_at=freeze(packed_at), sampled=tuple(sampled)
        )  # fmt: skip

    @property
    def nbytes(self) -> int:
        """The room that clips take."""
        return int(self.rows.nbytes + self.packed.nbytes)

    @property
    def layout(self) -> PoseLayout:
        """How its pose rows lie in memory."""
        return PoseLayout(len(self.skeleton), len(self.skeleton.morph_names))

    def __len__(self) -> int:
        return len(self.start)

    def __repr__(self) -> str:
        return f"ClipBank({len(self.sampled)} clips, {int(self.frames.sum())} frames, {self.nbytes} bytes)"
