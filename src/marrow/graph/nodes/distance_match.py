"""`DistanceMatch`: a clip that plays by distance instead of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from marrow.animation.bank import ClipBank
from marrow.errors import ValidationError
from marrow.graph.nodes.base import Node, Value
from marrow.graph.root_tracks import root_tracks
from marrow.graph.tables import Part, Place
from marrow.kernels import control_tables as ct

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.placeholder import Requirements

__all__ = ["DistanceMatch"]


class DistanceMatch(Node, frozen=True):
    """Plays `clip` so that its root has as far to go as `distance` says, in metres: a stop that ends where it should,
    a jump that lands on its mark. `to="end"`: the distance that is left until its travel is over; `"start"`: the
    distance since it began. Where its travel is over, the rest of the clip plays by time. A `curve` of the clip, by
    name, says what distance belongs to a time where its root does not."""

    clip: str
    distance: Value
    to: Literal["end", "start"] = "end"
    curve: str | None = None

    colour: ClassVar[str] = "#e8f1fb"

    def require(self, requirements: Requirements) -> None:
        requirements.clip(self.clip)

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c = compiler
        entry = c.clip_entry(self.clip, at)
        times, gone = self._way(c, entry, at.path)
        # Distances that grow, as the kernel wants them: what is left is told as less and less below nothing.
        sign = -1.0 if self.to == "end" else 1.0
        keys = gone - gone[-1] if self.to == "end" else gone
        rising = np.concatenate([[True], np.diff(np.maximum.accumulate(keys)) > 1e-7])
        keys, times = keys[rising], times[rising]
        match = c.builder.number([sign, *keys.tolist(), *times.tolist()])
        distance = c.builder.value(self.distance, f"{at.path}.distance")
        return c.leaf(at, ct.CLIP, clip=entry, loop=0, speed=distance, match=match, matches=len(keys))

    def _way(self, c: Compiler, entry: int, path: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """Times of the clip, and how far it has come at each."""
        if self.curve is not None:
            curves = {curve.name: curve for curve in c.bank.sampled[entry - 1].source.curves}
            if self.curve not in curves:
                if c.standalone:
                    return np.array([0.0, 1.0]), np.array([0.0, 1.0])
                raise ValidationError(f"{path}.curve: {self.clip!r} has no curve {self.curve!r}")
            curve = curves[self.curve]
            return np.asarray(curve.times, np.float64), np.abs(
                curve.values.astype(np.float64) - curve.values[0]
            )
        bank = ClipBank.of(c.character)
        places, first = root_tracks(bank, c.root_joint, ("x", "z", "yaw"), c.root_smooth)
        if first[entry] < 0:
            if c.standalone:
                return np.array([0.0, 1.0]), np.array([0.0, 1.0])
            raise ValidationError(
                f"{path}.clip: {self.clip!r} does not travel; name a curve that tells its distance"
            )
        begin, frames = int(first[entry]), int(bank.frames[entry])
        way = places[begin : begin + frames, [0, 2]]
        gone = np.concatenate([[0.0], np.cumsum(np.sqrt((np.diff(way, axis=0) ** 2).sum(-1)))])
        return np.arange(frames) / float(bank.rate[entry]), gone
