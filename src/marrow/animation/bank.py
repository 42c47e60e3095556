"""`ClipBank`: all clips of a character as one flat array of pose rows, for the pose kernel."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.frame_budget import joint_frames
from marrow.animation.resampling import SampledClip, pack_rows, resampled
from marrow.errors import ValidationError
from marrow.kernels.memory import aligned
from marrow.kernels.pose_layout import PoseLayout
from marrow.model import _validate
from marrow.model._asset import Asset, freeze
from marrow.model._derived import derived
from marrow.model.character import Character
from marrow.model.clip import Clip
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
    second. Entry 0 is the rest pose; `index` maps names to entries."""

    skeleton: Skeleton
    rows: Array
    start: Array
    frames: Array
    rate: Array
    duration: Array
    index: dict[str, int]
    sampled: tuple[SampledClip, ...]

    def __post_init__(self) -> None:
        rows = aligned(self.rows)  # rows of a copied bank may lie anywhere
        rows.flags.writeable = self.rows.flags.writeable
        _validate.set_fields(self, rows=rows)

    @classmethod
    def build(cls, skeleton: Skeleton, clips: Iterable[Clip], *, rate: float | None = None) -> ClipBank:
        """Resamples the clips (`rate=None`: each at its own rate) and lays them end to end."""
        sampled: list[SampledClip] = []
        numbers, most = 0, MAX_BANK
        for clip in clips:
            sampled.append(resampled(clip, rate))
            numbers += joint_frames(skeleton, sampled[-1].frame_count)
            most += len(clip.tracks.values)
            if numbers > most:
                raise ValidationError(
                    f"the first {len(sampled)} clips, up to {clip.name!r}, are more than {most:,} frames of single joints; "
                    "animators play clips from frames: keep fewer of them, or trim them"
                )
        rest = pack_rows(skeleton.rest.broadcast_to((1,)))
        parts = [rest, *(s.rows for s in sampled)]
        frames = np.array([len(p) for p in parts], np.int64)
        size = rest.shape[1]
        rows = np.concatenate(parts).ravel()
        rows.flags.writeable = False
        return cls(
            skeleton,
            rows,
            freeze(np.concatenate([[0], np.cumsum(frames)[:-1]]).astype(np.int64) * size),
            freeze(frames),
            freeze(np.array([1.0, *(s.rate for s in sampled)], np.float32)),
            freeze(np.array([0.0, *(s.duration for s in sampled)], np.float64)),
            {s.name: i + 1 for i, s in enumerate(sampled)},
            tuple(sampled),
        )

    @classmethod
    def of(cls, character: Character) -> ClipBank:
        """The bank of all of a character's clips at their own rates, built once and shared by its animators."""
        bank: ClipBank = derived(
            character, "bank", lambda: cls.build(character.skeleton, character.clips.values())
        )
        return bank

    @property
    def layout(self) -> PoseLayout:
        """How its pose rows lie in memory."""
        return PoseLayout(len(self.skeleton), len(self.skeleton.morph_names))

    def __len__(self) -> int:
        return len(self.start)

    def __repr__(self) -> str:
        return (
            f"ClipBank({len(self.sampled)} clips, {int(self.frames.sum())} frames, {self.rows.nbytes} bytes)"
        )
