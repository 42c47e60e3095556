"""`PackedMotion`: the frames of a clip in a tenth to a fiftieth of their room; and tracks that are unpacked when
somebody looks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.model import _late, _validate
from marrow.model._asset import Asset
from marrow.model.clip import Tracks

__all__ = ["PackedMotion", "PackedTracks"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class PackedMotion(Asset):
    """Uniform frames at `rate` a second, packed into 32-bit `words` (docs/compression.md says how).

    `limit` is what the error on the skin was to be at most, in metres, `error` the largest that was found when it
    was made, against the frames it was
    made from; `resampling_error` is by how much those frames were off the clip's own keys. `additive` motion
    starts from nothing, other from the
    skeleton's rest pose."""

    words: Array
    frame_count: int
    joint_count: int
    morph_count: int
    rate: float
    additive: bool = False
    limit: float = 0.0
    error: float = 0.0
    resampling_error: float = 0.0

    def __post_init__(self) -> None:
        words = _validate.array("PackedMotion", "words", self.words, np.int32, (None,))
        counts = {
            name: _validate.integer("PackedMotion", name, getattr(self, name))
            for name in ("frame_count", "joint_count", "morph_count")
        }
        rate = _validate.number("PackedMotion", "rate", self.rate, low=0, above=True)
        figures = {
            name: _validate.number("PackedMotion", name, getattr(self, name), low=0)
            for name in ("limit", "error", "resampling_error")
        }
        additive = _validate.flag("PackedMotion", "additive", self.additive)
        _validate.set_fields(self, words=words, rate=rate, additive=additive, **counts, **figures)
        _late.function("animation.packed_check", "check_packed")(self)

    def archived(self) -> bytes:
        """The same in less room, for files: numbers predicted and range coded. It cannot be played as it is;
        `from_archive` gives back the very same words."""
        made: bytes = _late.function("animation.archive", "archived")(self)
        return made

    @staticmethod
    def from_archive(data: bytes) -> PackedMotion:
        """What `archived` made octets of. Damaged ones are a `ValidationError`, or other motion of the same size."""
        motion: PackedMotion = _late.function("animation.archive", "expanded")(data)
        return motion

    @property
    def nbytes(self) -> int:
        """The room that it takes."""
        return int(self.words.nbytes)

    @property
    def raw_bytes(self) -> int:
        """The room that its frames would take: ten float32 for each joint, one for each morph channel."""
        return 4 * self.frame_count * (10 * self.joint_count + self.morph_count)

    @property
    def ratio(self) -> float:
        """How many times smaller it is than its frames."""
        return self.raw_bytes / max(self.nbytes, 1)

    def __repr__(self) -> str:
        size = f"{self.frame_count} frames of {self.joint_count} joints, {self.nbytes} bytes"
        return f"PackedMotion({size}, {self.ratio:.1f}:1, error {self.error:.3g} m)"


class PackedTracks(Tracks):
    """Tracks of a packed clip: a key in every frame, unpacked on first use."""

    __slots__ = ("_kept", "motion", "skeleton")

    def __init__(self, motion: PackedMotion, skeleton: Any) -> None:
        self.motion, self.skeleton = motion, skeleton
        self._kept: tuple[Array, Array, Array] | None = None

    def _arrays(self) -> tuple[Array, Array, Array]:
        if self._kept is None:
            self._kept = _late.function("animation.packed", "track_arrays")(self.motion, self.skeleton)
        return self._kept

    @property
    def table(self) -> Array:  # type: ignore[override]
        return self._arrays()[0]

    @property
    def times(self) -> Array:  # type: ignore[override]
        return self._arrays()[1]

    @property
    def values(self) -> Array:  # type: ignore[override]
        return self._arrays()[2]

    def __reduce__(self) -> tuple[Any, ...]:
        return PackedTracks, (self.motion, self.skeleton)
