"""Constraints: what joints of a rig do by themselves, as data of a character or in a graph.

They have one grammar. `joint` is what moves. `sources` are the joints it looks at: one, or several with a share each
(`{"hand_l": 1.0, "hand_r": 3.0}`); where a constraint looks for a place, `target` may be one in model space instead
(three numbers; in a graph also a vector parameter). `weight` says how much of it counts: a number, or in a graph a
parameter, a curve or a rule. `over="pose"` begins with what the joint does anyway, `over="rest"` with its rest pose,
as VRM has it.

A joint is named, or numbered where several share a name."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import msgspec

from marrow.errors import ValidationError
from marrow.model._asset import Replaceable
from marrow.model.joint_limit import JointLimit

if TYPE_CHECKING:
    from marrow.model.skeleton import Skeleton

__all__ = [
    "AimAt", "AnyConstraint", "Constraint", "CopyTransform", "DriveChannel", "FollowDamped", "KeepDistance",
    "LimitTransform", "PoleTo", "ReachChain", "SplineChain", "constraint_from_data", "constraint_to_data", "twist_chain",
]  # fmt: skip

JointName = str | int
Sources = str | int | dict[str, float]
Place = str | tuple[float, float, float]
Triple = tuple[float, float, float]
Over = Literal["pose", "rest"]
Channel = Literal["translation", "rotation", "scale"]
_NAMING = ("joint", "mid", "tip", "sources", "up_source", "source", "joints", "through")
"""Fields that name joints."""


class Constraint(
    msgspec.Struct,
    Replaceable,
    frozen=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    tag_field="constraint",
    tag=str,
    kw_only=True,
):
    """What all constraints have: a `weight` from 0 to 1, and a `name` to be told by."""

    weight: float | str = 1.0
    name: str = ""

    def __post_init__(self) -> None:
        channels = getattr(self, "channels", ())
        if isinstance(channels, str):
            msgspec.structs.force_setattr(self, "channels", (channels,))

    def moves(self) -> tuple[JointName, ...]:
        """The joints it changes."""
        joint = getattr(self, "joint", None)
        return () if joint is None else (joint,)

    def reads(self) -> tuple[JointName, ...]:
        """The joints it looks at besides."""
        return tuple(self.shares())

    def shares(self) -> dict[JointName, float]:
        """Its sources, each with its share of all."""
        given = getattr(self, "sources", None)
        if given is None or given == {}:
            return {}
        if not isinstance(given, dict):
            return {given: 1.0}
        total = sum(given.values())
        return {name: share / total for name, share in given.items()}

    @property
    def in_model_space(self) -> bool:
        """Whether it looks at joints in model space: then it depends on what is above them too."""
        return True

    def names(self) -> tuple[JointName, ...]:
        """All joints it names."""
        between = (getattr(self, "mid", None), getattr(self, "tip", None))
        return (*self.moves(), *self.reads(), *(n for n in between if n is not None))

    def known_in(self, skeleton: Skeleton) -> bool:
        """Whether a skeleton has the joints it names."""
        J = len(skeleton)
        return all(name in skeleton if isinstance(name, str) else 0 <= name < J for name in self.names())

    def renumbered(self, new: Any) -> Self:
        """For joints in another order: joint j, where it goes by its number, is `new[j]`."""

        def known(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(map(known, value))
            return int(new[value]) if isinstance(value, int) else value

        names = [n for n in _NAMING if n in self.__struct_fields__]
        return self.replace(**{n: known(getattr(self, n)) for n in names})

    def check(self, where: str) -> None:
        """Refuses what makes no sense whatever the skeleton; the error begins with `where`."""
        try:
            msgspec.convert(msgspec.to_builtins(self, enc_hook=_plain), type(self))
        except (msgspec.ValidationError, TypeError) as error:
            raise ValidationError(f"{where}: {error}") from None
        weight = self.weight
        if not isinstance(weight, str) and not 0 <= weight <= 1:
            raise ValidationError(f"{where}.weight: expected a number from 0 to 1, got {weight}")
        given = getattr(self, "sources", None)
        if isinstance(given, dict) and given:
            shares = list(given.values())
            if not all(math.isfinite(s) and s >= 0 for s in shares) or not sum(shares) > 0:
                raise ValidationError(
                    f"{where}.sources: expected shares of at least 0, some above, got {shares}"
                )
        for name in ("axis", "up_axis", "up"):
            vector = getattr(self, name, None)
            if vector is not None and not 1e-9 < math.hypot(*vector) < math.inf:
                raise ValidationError(f"{where}.{name}: expected a direction, got {vector}")
        for info in self.__struct_fields__:
            _check_finite(getattr(self, info), f"{where}.{info}")

    def _check_target(self, where: str) -> None:
        given = bool(self.shares()) + (getattr(self, "target", None) is not None)
        if given != 1:
            raise ValidationError(f"{where}: expected either sources or a target")


class CopyTransform(Constraint, frozen=True):
    """A joint that does as its `sources` do: all of it or some `channels`, about or along some `axes` ("x", "xz").

    `space="rest"` copies how far sources are from their rest pose, seen from their own frame or from their parent's
    (`frame`); `"local"` copies their transforms as they are; `"model"` puts the joint where they are in model space.
    Rotations by axes: of one axis the twist about it, of two what is left without the twist about the third. `factor`
    makes more or less of it, the other way round below zero (not in model space). The offset (metres; a rotation
    vector) comes behind the source; with `keep_offset` it is what there is between source and joint in the rest pose.

    What other programs call parent is `space="model"` with translation and rotation, point is translation alone,
    orient rotation alone."""

    joint: JointName
    sources: Sources
    channels: tuple[Channel, ...] = ("translation", "rotation", "scale")
    axes: str = "xyz"
    space: Literal["rest", "local", "model"] = "rest"
    frame: Literal["own", "parent"] = "own"
    over: Over = "pose"
    factor: float = 1.0
    offset_translation: Triple = (0.0, 0.0, 0.0)
    offset_rotation: Triple = (0.0, 0.0, 0.0)
    keep_offset: bool = False

    @property
    def in_model_space(self) -> bool:
        return self.space == "model"

    def check(self, where: str) -> None:
        super().check(where)
        if not self.shares():
            raise ValidationError(f"{where}.sources: expected at least one joint")
        if not self.channels or not self.axes or set(self.axes) - set("xyz"):
            raise ValidationError(f'{where}: expected some channels, and axes such as "x" or "xyz"')
        moved = any((*self.offset_translation, *self.offset_rotation))
        if self.space == "model" and self.factor != 1:
            raise ValidationError(f'{where}.factor: in model space there is none; space="rest" has one')
        if self.space == "rest" and (moved or self.keep_offset):
            raise ValidationError(f'{where}: space="rest" has no offset; "local" and "model" have one')


class AimAt(Constraint, frozen=True):
    """Turns a joint until its `axis` points at its sources or target. Its `up_axis` then goes as far up as that
    leaves it: along the direction `up` of model space, or towards the joint `up_source`; without either it turns no
    more than it must."""

    joint: JointName
    sources: Sources = {}
    target: Place | None = None
    axis: Triple = (0.0, 0.0, 1.0)
    up_axis: Triple = (0.0, 1.0, 0.0)
    up: Triple | None = None
    up_source: JointName | None = None
    over: Over = "pose"

    def reads(self) -> tuple[JointName, ...]:
        return (*super().reads(), *(() if self.up_source is None else (self.up_source,)))

    def check(self, where: str) -> None:
        super().check(where)
        self._check_target(where)
        if self.up is not None and self.up_source is not None:
            raise ValidationError(f"{where}: expected up or up_source, not both")


class PoleTo(Constraint, frozen=True):
    """Turns a limb, from `joint` by `mid` to `tip`, about the line from its beginning to its tip, until `mid` lies
    towards its sources or target (and `angle` radians further)."""

    joint: JointName
    mid: JointName
    tip: JointName
    sources: Sources = {}
    target: Place | None = None
    angle: float = 0.0

    def check(self, where: str) -> None:
        super().check(where)
        self._check_target(where)


class FollowDamped(Constraint, frozen=True):
    """A joint that comes after where it is in the pose, or after its sources or target: half of what is missing in
    each `half_life` seconds, at any frame rate. It is seen in the world: who walks on leaves it behind."""

    joint: JointName
    half_life: float = 0.1
    sources: Sources = {}
    target: Place | None = None
    channels: tuple[Literal["translation", "rotation"], ...] = ("translation",)

    def check(self, where: str) -> None:
        super().check(where)
        if not 1e-4 <= self.half_life <= 1e4:
            raise ValidationError(f"{where}.half_life: expected seconds above zero, got {self.half_life}")
        if self.shares() and self.target is not None:
            raise ValidationError(f"{where}: expected either sources or a target")
        if not self.channels:
            raise ValidationError(f"{where}.channels: expected translation, rotation or both")


class LimitTransform(Constraint, frozen=True):
    """Keeps a joint inside limits: of its `rotation` (a cone of swing and a range of twist, `mw.ik.JointLimit`), and
    ranges of its `translation` (metres from the rest pose) and `scale` (factors of it), an axis each, None where
    there is none."""

    joint: JointName
    rotation: JointLimit | None = None
    translation: (
        tuple[tuple[float, float] | None, tuple[float, float] | None, tuple[float, float] | None] | None
    ) = None
    scale: (
        tuple[tuple[float, float] | None, tuple[float, float] | None, tuple[float, float] | None] | None
    ) = None

    @property
    def in_model_space(self) -> bool:
        return False

    def check(self, where: str) -> None:
        super().check(where)
        if self.rotation is None and self.translation is None and self.scale is None:
            raise ValidationError(f"{where}: expected limits of rotation, translation or scale")
        for field in ("translation", "scale"):
            for pair in getattr(self, field) or ():
                if pair is not None and not pair[0] <= pair[1]:
                    raise ValidationError(f"{where}.{field}: expected (low, high), got {pair}")


class DriveChannel(Constraint, frozen=True):
    """A channel that follows one of another joint by a curve: a brow that opens when the arm goes up. Channels are
    "translation.x" (metres from the rest pose), "rotation.y" (radians of twist about that axis, from the rest pose),
    "scale.z" (a factor of the rest pose), and for what is driven also "morph.NAME" (then there is no joint). `keys`
    are (in, out), with straight lines between and level beyond. What comes out is added to the pose, scales are
    multiplied."""

    source: JointName
    source_channel: str
    channel: str
    keys: tuple[tuple[float, float], ...]
    joint: JointName | None = None
    over: Over = "pose"

    def reads(self) -> tuple[JointName, ...]:
        return (self.source,)

    @property
    def in_model_space(self) -> bool:
        return False

    @property
    def morph(self) -> str | None:
        """The morph it drives."""
        return self.channel.removeprefix("morph.") if self.channel.startswith("morph.") else None

    def check(self, where: str) -> None:
        super().check(where)
        if channel_number(self.source_channel) is None:
            raise ValidationError(f"{where}.source_channel: expected {CHANNELS}, got {self.source_channel!r}")
        if self.morph is None and channel_number(self.channel) is None:
            raise ValidationError(f"{where}.channel: expected {CHANNELS} or morph.NAME, got {self.channel!r}")
        if (self.morph is None) == (self.joint is None):
            raise ValidationError(f"{where}: expected a joint, or a morph and no joint")
        places = [x for x, _ in self.keys]
        if not places or any(b <= a for a, b in itertools.pairwise(places)):
            raise ValidationError(f"{where}.keys: expected (in, out) with rising ins, got {self.keys}")


class KeepDistance(Constraint, frozen=True):
    """Keeps a joint at least `least` and at most `most` metres from its sources or target, along the line between
    them."""

    joint: JointName
    sources: Sources = {}
    target: Place | None = None
    least: float = 0.0
    most: float = 1e9

    def check(self, where: str) -> None:
        super().check(where)
        self._check_target(where)
        if not 0 <= self.least <= self.most:
            raise ValidationError(f"{where}: expected 0 <= least <= most, got {self.least}, {self.most}")


class SplineChain(Constraint, frozen=True):
    """Lays a chain of `joints`, each the child of the one before, along the curve through some other joints
    (Catmull-Rom): each at the share of the curve that it has of the chain's length at rest, pointing at the next. The
    way is measured from joint to joint of those it goes through, however far apart they are."""

    joints: tuple[JointName, ...]
    through: tuple[JointName, ...]

    def moves(self) -> tuple[JointName, ...]:
        return self.joints

    def reads(self) -> tuple[JointName, ...]:
        return self.through

    def check(self, where: str) -> None:
        super().check(where)
        if len(self.joints) < 2 or len(self.through) < 2:
            raise ValidationError(f"{where}: expected at least two joints, and two to go through")


class ReachChain(Constraint, frozen=True):
    """Turns a chain of `joints`, each the child of the one before, so that the last comes to its sources or target,
    in `iterations` at most: by `method="fabrik"` (even bends) or `"ccd"` (the tip bends first). `limits` by joint
    keep links inside theirs. `mw.graph.ChainIK` solves the same more evenly, and more slowly."""

    joints: tuple[JointName, ...]
    sources: Sources = {}
    target: Place | None = None
    method: Literal["fabrik", "ccd"] = "fabrik"
    limits: dict[str, JointLimit] = {}
    iterations: int = 10
    tolerance: float = 1e-4

    def moves(self) -> tuple[JointName, ...]:
        return self.joints

    def check(self, where: str) -> None:
        super().check(where)
        self._check_target(where)
        if len(self.joints) < 2:
            raise ValidationError(f"{where}.joints: expected at least two")
        if not 1 <= self.iterations <= 100 or not 0 <= self.tolerance < math.inf:
            raise ValidationError(f"{where}: expected from 1 to 100 iterations, and a tolerance of 0 or more")


AnyConstraint = Annotated[
    CopyTransform
    | AimAt
    | PoleTo
    | FollowDamped
    | LimitTransform
    | DriveChannel
    | KeepDistance
    | SplineChain
    | ReachChain,
    "one of the constraints",
]
"""Any of them; what data of files is read as."""
CHANNELS = "translation.x, rotation.y, scale.z or the like"
_CHANNELS = [f"{channel}.{axis}" for channel in ("translation", "rotation", "scale") for axis in "xyz"]


def channel_number(name: str) -> int | None:
    """0 to 8: translations, rotations, scales."""
    return _CHANNELS.index(name) if name in _CHANNELS else None


def twist_chain(
    joints: Sequence[JointName],
    source: JointName,
    *,
    axis: Literal["x", "y", "z"] = "x",
    shares: Sequence[float] | None = None,
    weight: float | str = 1.0,
) -> tuple[CopyTransform, ...]:
    """Spreads the twist of `source` about an axis over `joints`: each takes its share, evenly rising from the first
    to the last where none are given. A negative share takes it back (twist correction). The axis is the one along the
    bone, in the frame of the source's parent: where the source lies from there at rest."""
    given = [(k + 1) / len(joints) for k in range(len(joints))] if shares is None else list(shares)
    if len(given) != len(joints):
        raise ValidationError(f"twist_chain.shares: expected {len(joints)} numbers, got {len(given)}")
    return tuple(
        CopyTransform(j, source, ("rotation",), axes=axis, factor=float(s), frame="parent", weight=weight)
        for j, s in zip(joints, given)
    )


def constraint_to_data(constraint: Constraint) -> dict[str, Any]:
    """As plain JSON-like data."""
    data: dict[str, Any] = msgspec.to_builtins(constraint)
    return data


def constraint_from_data(data: Any, where: str) -> Constraint:
    """From plain data, checked."""
    try:
        made: Constraint = msgspec.convert(data, AnyConstraint)  # type: ignore[arg-type]
    except msgspec.ValidationError as error:
        raise ValidationError(f"{where}: {error}") from None
    made.check(where)
    return made


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"expected names and numbers, got {type(value).__name__}")


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, float):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _numbers(item)
    elif isinstance(value, dict):
        yield from _numbers(list(value.values()))


def _check_finite(value: Any, where: str) -> None:
    if not all(map(math.isfinite, _numbers(value))):
        raise ValidationError(f"{where}: expected finite numbers, got {value}")
