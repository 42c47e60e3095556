"""What keeping contacts reads and changes: a clip of the source and what has become of it on the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from marrow.model import Pose
from marrow.motion.contact_weights import ContactWeights
from marrow.motion.retarget_rotations import LocalTracks

if TYPE_CHECKING:
    from marrow.motion.retarget import Retargeter

__all__ = ["ContactWork"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class ContactWork:
    """The source's `pose (T,)` at `times (T,)`, the turn from its `world` and its `ground` (see `Retargeter.ground`); the
    target's `tracks`, which are changed, and which are `body` and, as matrices, `model (T, J, 3, 4)`; and how much is
    kept."""

    tool: Retargeter
    pose: Pose
    world: Array
    ground: float
    body: Pose
    model: Array
    tracks: LocalTracks
    times: Array
    weights: ContactWeights

    @property
    def seconds(self) -> float:
        """How far frames are apart."""
        T = len(self.times)
        return float(self.times[-1] - self.times[0]) / (T - 1) if T > 1 else 1.0
