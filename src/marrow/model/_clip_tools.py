"""The methods of a `Clip` that edit motion. Their work is done by `marrow.motion`, looked up on first use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Self

from marrow.model import _late

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from marrow.model.clip import Event
    from marrow.model.pose import Pose
    from marrow.model.skeleton import Skeleton

__all__ = ["ClipTools"]


class ClipTools:
    """What can be done to a clip. Every method gives a new clip and leaves this one as it is."""

    @classmethod
    def from_poses(
        cls,
        name: str,
        skeleton: Skeleton,
        poses: Pose,
        fps: float | None = None,
        *,
        times: ArrayLike | None = None,
        events: Iterable[Event] = (),
    ) -> Self:
        """A clip of poses `(T,)` at `fps` frames a second, or at `times (T,)`. Joints that rest get no track."""
        return _late.function("motion.frames", "clip_from_poses")(
            name, skeleton, poses, fps, times=times, events=tuple(events)
        )

    def mirrored(
        self, pairs: Mapping[str, str] | Iterable[tuple[str, str]] | None = None, *, name: str | None = None
    ) -> Self:
        """The clip as in a mirror between left and right: each joint does what its partner did, reflected in model space and
        seen from both rest poses. Partners are found by name; `pairs` overrules. Events and morphs change sides, travel turns
        round. Keys and their interpolation stay."""
        return _late.function("motion.mirror", "mirrored_clip")(self, pairs, name=name)
