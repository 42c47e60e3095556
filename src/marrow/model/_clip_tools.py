"""The methods of a `Clip` that edit motion. Their work is done by `marrow.motion`, looked up on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

from marrow.model import _late

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from marrow.model.character import Character
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
        rate: float | None = None,
        *,
        times: ArrayLike | None = None,
        events: Iterable[Event] = (),
    ) -> Self:
        """A clip of poses `(T,)` at `rate` frames a second, or at `times (T,)`. Joints that rest get no track."""
        return _late.function("motion.frames", "clip_from_poses")(
            name, skeleton, poses, rate, times=times, events=events
        )

    def mirrored(
        self, pairs: Mapping[str, str] | Iterable[tuple[str, str]] | None = None, *, name: str | None = None
    ) -> Self:
        """The clip as in a mirror between left and right: each joint does what its partner did, reflected in model space
        and seen from both rest poses. Partners are found by name; `pairs` overrules. Events and morphs change sides, travel
        turns round. Keys and their interpolation stay."""
        return _late.function("motion.mirror", "mirrored_clip")(self, pairs, name=name)

    @classmethod
    def from_run(
        cls,
        animator: Any,
        seconds: float,
        rate: float = 30.0,
        *,
        instance: int = 0,
        name: str = "run",
        travel: bool = True,
        every: Callable[[float], None] | None = None,
    ) -> Self:
        """What an `Animator` does in the next `seconds`, as a clip. Root motion moves the root (not with `travel=False`).
        `every(time)` is called before each frame, to set parameters and pull triggers."""
        return _late.function("motion.baking", "clip_from_run")(
            animator, seconds, rate, instance=instance, name=name, travel=travel, every=every
        )

    def trimmed(self, start: float = 0.0, end: float | None = None, *, name: str | None = None) -> Self:
        """The piece from `start` to `end` seconds. Keys inside stay; between keys the curve is cut where it is. Where the
        piece began in its take is remembered in `start`."""
        return _late.function("motion.editing", "trimmed")(self, start, end, name=name)

    def cut(self, ranges: Mapping[str, tuple[float, float]]) -> dict[str, Self]:
        """Named pieces, `{"walk": (0, 1.2), ...}` in seconds of the take: a piece of a piece is found by the same times."""
        return _late.function("motion.editing", "cut")(self, ranges)

    def split(
        self, at: Sequence[float] | None = None, *, event: str | None = None, silence: float | None = None
    ) -> list[Self]:
        """Pieces: at times, at every `event` of that name, or where nothing moves for `silence` seconds (what is silent is
        left out)."""
        return _late.function("motion.editing", "split")(self, at, event=event, silence=silence)

    def then(
        self,
        other: Self,
        blend: float = 0.2,
        *,
        follow: bool = True,
        name: str | None = None,
        rate: float | None = None,
    ) -> Self:
        """This clip, then `other`, blended over `blend` seconds. `follow` lets it go on where and facing as this one
        ends."""
        return _late.function("motion.root_motion", "joined")(
            self, other, blend, follow=follow, name=name, rate=rate
        )

    def looped(
        self,
        window: float = 0.25,
        *,
        travel: bool | None = None,
        joint: str | int | None = None,
        rate: float | None = None,
    ) -> Self:
        """A clip whose last pose is its first: the seam is closed over the last `window` seconds. Travel stays
        and drift goes: `travel` says which of the two a shift over the ground is (None: by its length)."""
        return _late.function("motion.root_motion", "looped")(
            self, window, travel=travel, joint=joint, rate=rate
        )

    def in_place(self, joint: str | int | None = None, *, rate: float | None = None) -> Self:
        """The clip without its way over the ground: that of the root where it moves, else of the hips (which keep their
        sway)."""
        return _late.function("motion.root_motion", "in_place")(self, joint, rate=rate)

    def with_travel(
        self, velocity: ArrayLike | None = None, joint: str | int | None = None, *, rate: float | None = None
    ) -> Self:
        """The clip with a steady way over the ground, on the topmost joint: `velocity (3,)` in metres a second,
        or what lets the feet stand while they are down."""
        return _late.function("motion.root_motion", "with_travel")(self, velocity, joint, rate=rate)

    def reversed(self) -> Self:
        """The clip backwards, key by key."""
        return _late.function("motion.editing", "reversed_clip")(self)

    def retimed(self, speed: float | None = None, *, duration: float | None = None) -> Self:
        """The clip `speed` times as fast, or `duration` seconds long. Keys stay."""
        return _late.function("motion.editing", "retimed")(self, speed, duration=duration)

    def at_rate(self, rate: float) -> Self:
        """The clip with a key at each of `rate` frames a second."""
        return _late.function("motion.editing", "at_rate")(self, rate)

    def renamed(self, name: str) -> Self:
        """The clip under another name."""
        return _late.function("motion.editing", "renamed")(self, name)

    def only(self, joints: Iterable[str | int], *, below: bool = False, morphs: bool = True) -> Self:
        """The tracks of these joints alone; `below` adds those that hang from them."""
        return _late.function("motion.editing", "only")(self, joints, below=below, morphs=morphs)

    def without(self, joints: Iterable[str | int], *, below: bool = False) -> Self:
        """The clip without the tracks of these joints; `below` adds those that hang from them."""
        return _late.function("motion.editing", "without")(self, joints, below=below)

    def as_additive(self, to: Pose | Self | float | None = None) -> Self:
        """What the clip does beyond a pose, the first frame of a clip, or a time in it; see `mw.additive`."""
        return _late.function("motion.editing", "as_additive")(self, to)

    def smoothed(
        self,
        cutoff: float = 6.0,
        *,
        method: Literal["butterworth", "one-euro", "gauss"] = "butterworth",
        joints: Iterable[str | int] | None = None,
        beta: float = 0.5,
        rate: float | None = None,
    ) -> Self:
        """The clip without what trembles faster than `cutoff` hertz. Butterworth and Gauss delay nothing; one-euro lets
        fast motion through the more, the larger `beta`."""
        return _late.function("motion.filters", "smoothed")(
            self, cutoff, method=method, joints=joints, beta=beta, rate=rate
        )

    def filled(self) -> Self:
        """The clip without keys that are no numbers or no rotations; neighbours bridge the gap."""
        return _late.function("motion.filters", "filled")(self)

    def without_calibration(self) -> Self:
        """The clip without the T-pose (or A-pose, or rest pose) that capture software writes before the motion: the first
        frames, where the whole body jumps out of them. Most clips have none, and stay as they are."""
        return _late.function("motion.calibration", "without_calibration")(self)

    def with_contacts(
        self,
        *,
        height: float | None = None,
        speed: float | None = None,
        names: Mapping[str, str] | None = None,
    ) -> Self:
        """The clip with an event where each foot comes down (`foot_l`, `foot_r`) and where it leaves (`foot_l_lift`, ...).
        A foot is down when it is lower than `height` metres over its rest and slower than `speed` metres a second."""
        return _late.function("motion.contacts", "contact_events")(
            self, height=height, speed=speed, names=names
        )

    def reduced(self, error: float = 0.001, character: Character | None = None) -> Self:
        """The clip with as few keys as keep it within `error` metres, at the vertices of `character` where it is given.
        `mw.motion.reduce` also tells the error that is left."""
        return _late.function("motion.reduction", "reduced")(self, error, character).clip
