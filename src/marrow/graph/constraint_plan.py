"""`ConstraintPlan`: constraints on a skeleton as the numbers that the operation `CONSTRAIN` takes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import MarrowError, UnknownNameError, ValidationError
from marrow.ik.joint_limits import JointLimits
from marrow.kernels.operations.constraints import layout as kinds
from marrow.math import affine, quaternion
from marrow.model.constraint_order import constraint_order, refuse_itself
from marrow.model.constraints import (
    AimAt,
    Constraint,
    CopyTransform,
    DriveChannel,
    FollowDamped,
    JointName,
    KeepDistance,
    LimitTransform,
    PoleTo,
    ReachChain,
    SplineChain,
    channel_number,
)
from marrow.model.skeleton import Skeleton

__all__ = ["ConstraintPlan", "check_constraints"]

Array = NDArray[Any]
EYE = (0.0, 0.0, 0.0, 1.0)
NOTHING = (0.0, 0.0, 0.0)
FAR = 1e30
_CHANNELS = {"translation": kinds.TRANSLATION, "rotation": kinds.ROTATION, "scale": kinds.SCALE}
_AXES = {"x": 8, "y": 16, "z": 32}


def check_constraints(constraints: Sequence[Constraint], skeleton: Skeleton, where: str) -> None:
    """Refuses constraints that a skeleton cannot have: joints and morphs it lacks, chains that are none, circles."""
    ConstraintPlan(constraints, skeleton, where)


class ConstraintPlan:
    """Constraints in the order they are solved, and the fields of `CONSTRAINED` but for where its vectors and memory
    are.

    `weights` has the weight of each, `targets` those that are no joints, with their place among the vectors: the
    weights come first."""

    def __init__(
        self, constraints: Sequence[Constraint], skeleton: Skeleton, where: str, *, given_order: bool = False
    ) -> None:
        self.skeleton, self.where = skeleton, where
        self.rest = skeleton.rest
        self.rows: dict[str, list[Any]] = {
            name: [] for name, field in kinds.CONSTRAINED.fields.items() if field.each
        }
        self.weights: list[tuple[float | str, str]] = []
        self.targets: list[tuple[Any, str]] = []
        self.followers = 0
        self._fresh = np.zeros(len(skeleton), bool)
        self._model_turns: list[Array] | None = None
        for k, c in enumerate(constraints):
            c.check(f"{where}[{k}]")
            for joint in (*c.moves(), *c.reads()):
                self._joint(joint, f"{where}[{k}]")
            refuse_itself(c, skeleton, f"{where}[{k}]")
        order = range(len(constraints)) if given_order else constraint_order(constraints, skeleton, where)
        self.order = tuple(order)
        for k in self.order:
            self._add(constraints[k], f"{where}[{k}]", len(constraints))

    def fields(self) -> dict[str, Any]:
        """What `CONSTRAINED.put` takes, but for `vectors`, `memory` and `header`."""
        rows = self.rows
        return {
            **rows, "count": len(rows["kind"]), "source_count": len(rows["source"]), "refresh_count": len(rows["refresh"]),
            "key_count": len(rows["key"]), "vector_count": len(self.weights) + 3 * len(self.targets),
            "followers": self.followers,
        }  # fmt: skip

    # -- one constraint -----------------------------------------------------------------------------------------------
    def _joint(self, name: JointName, where: str) -> int:
        try:
            return self.skeleton.index(name)
        except UnknownNameError as error:
            raise UnknownNameError(
                f"{error.kind} (used by {where})", name, error.known, error.near, error.listed
            ) from None

    def _add(self, c: Constraint, where: str, count: int) -> None:
        rows, skeleton = self.rows, self.skeleton
        moved = [skeleton.index(j) for j in c.moves()]
        joint = moved[0] if moved else 0
        parent = int(skeleton.parents[joint])
        first_source, first_key = len(rows["source"]), len(rows["key"])
        target = -1
        if getattr(c, "target", None) is not None:
            target = count + 3 * len(self.targets)
            self.targets.append((c.target, f"{where}.target"))  # type: ignore[attr-defined]
        self._where = where
        kind, option, extra, numbers = self._said(c, joint)
        if getattr(c, "over", "pose") == "rest":
            option |= kinds.OVER_REST
        looked = (
            [] if kind in (kinds.COPY, kinds.LIMIT, kinds.DRIVE) else [joint, *rows["source"][first_source:]]
        )
        refresh = self._stale(looked)
        rows["kind"].append(kind)
        rows["joint"].append(joint)
        rows["parent"].append(parent)
        rows["option"].append(option)
        rows["extra"].append(extra)
        rows["weight"].append(len(self.weights))
        rows["target"].append(target)
        rows["first_source"].append(first_source)
        rows["sources"].append(len(rows["source"]) - first_source)
        rows["first_refresh"].append(len(rows["refresh"]))
        rows["refreshes"].append(len(refresh))
        rows["first_key"].append(first_key)
        rows["keys"].append(len(rows["key"]) - first_key)
        rest = self.rest
        rows["rest"].append([*rest.translation[joint], *rest.rotation[joint], *rest.scale[joint]])
        rows["numbers"].append([*map(float, numbers), *[0.0] * (24 - len(numbers))])
        rows["refresh"] += refresh
        self.weights.append((c.weight, f"{where}.weight"))
        self._changed(moved)

    def _stale(self, joints: list[int]) -> list[int]:
        """The joints that have to be worked out before others can be looked at, parents first."""
        wanted = {a for j in joints for a in (j, *self.skeleton.ancestors(j))}
        found = sorted(j for j in wanted if not self._fresh[j])
        self._fresh[found] = True
        return found

    def _changed(self, joints: list[int]) -> None:
        """What is at and below joints that moved is no longer known."""
        gone = np.zeros(len(self._fresh), bool)
        gone[joints] = True
        for j, p in enumerate(self.skeleton.parents.tolist()):
            gone[j] |= p >= 0 and gone[p]
        self._fresh &= ~gone

    def _source(
        self, joint: int, share: float = 1.0, before: Any = EYE, after: Any = EYE, offset: Any = NOTHING
    ) -> None:
        for name, value in (
            ("source", joint), ("share", share), ("before", before), ("after", after), ("offset", offset)
        ):  # fmt: skip
            self.rows[name].append(value)

    def _sources(self, c: Constraint) -> None:
        for name, share in c.shares().items():
            self._source(self.skeleton.index(name), share)

    def _said(self, c: Constraint, joint: int) -> tuple[int, int, int, Sequence[float]]:
        """The kind, option, extra and numbers of a constraint; its sources and keys are added."""
        if isinstance(c, CopyTransform):
            return self._copy(c, joint)
        if isinstance(c, AimAt):
            return self._aim(c)
        if isinstance(c, PoleTo):
            for name in (c.mid, c.tip):
                at = self._joint(name, self._where)
                if joint not in self.skeleton.ancestors(at):
                    raise ValidationError(f"{self._where}: {name!r} is not below {c.joint!r}")
                self._source(at)
            self._sources(c)
            return kinds.POLE, 0, 0, [c.angle]
        if isinstance(c, FollowDamped):
            self._sources(c)
            self.followers += 1
            option = sum(_CHANNELS[channel] for channel in set(c.channels))
            return kinds.FOLLOW, option, self.followers - 1, [math.log(2) / c.half_life]
        if isinstance(c, LimitTransform):
            return self._limit(c, joint)
        if isinstance(c, DriveChannel):
            return self._drive(c)
        if isinstance(c, KeepDistance):
            self._sources(c)
            return kinds.DISTANCE, 0, 0, [c.least, c.most]
        if isinstance(c, SplineChain):
            return self._spline(c)
        if isinstance(c, ReachChain):
            return self._reach(c)
        raise ValidationError(f"{self._where}: expected a constraint, got {type(c).__name__}")

    # -- each kind ----------------------------------------------------------------------------------------------------
    def _copy(self, c: CopyTransform, joint: int) -> tuple[int, int, int, Sequence[float]]:
        option = sum(_CHANNELS[n] for n in set(c.channels)) + sum(_AXES[a] for a in set(c.axes))
        if c.space == "model":
            for name, share in c.shares().items():
                s = self.skeleton.index(name)
                offset, after = self._model_offset(c, s, joint)
                self._source(s, share, after=after, offset=offset)
            return kinds.COPY_MODEL, option, 0, []
        rest = self.rest
        t, r, scale = (a.astype(np.float64) for a in (rest.translation, rest.rotation, rest.scale))
        home, behind = quaternion.normalize(r[joint]), _turn(c.offset_rotation)
        shift = np.array(c.offset_translation)
        if c.space == "rest" or c.keep_offset:
            shift = t[joint].copy()
        for name, share in c.shares().items():
            s = self.skeleton.index(name)
            back = quaternion.conjugate(quaternion.normalize(r[s]))
            if c.space == "rest" and c.frame == "own":
                before, after = back, np.array(EYE)
            elif c.space == "rest" or c.keep_offset:
                before, after = quaternion.conjugate(home), quaternion.multiply(back, home)
            else:
                before, after = quaternion.conjugate(home), behind
            factors = np.ones(3)
            if c.space == "rest":
                factors = 1 / np.where(np.abs(scale[s]) > 1e-9, scale[s], 1.0)
            if c.space == "rest" or c.keep_offset:
                shift = shift - c.factor * share * t[s]
            self._source(s, share, before, after, factors)
        base = scale[joint] if c.space == "rest" else np.ones(3)
        return kinds.COPY, option, 0, [c.factor, *shift, *base]

    def _model_offset(self, c: CopyTransform, source: int, joint: int) -> tuple[Array, Array]:
        if not c.keep_offset:
            return np.array(c.offset_translation), _turn(c.offset_rotation)
        rest = self.skeleton.rest_model.astype(np.float64)
        inverse = affine.invert(rest[source])
        if not np.isfinite(inverse).all():
            raise ValidationError(
                f"{self._where}.keep_offset: {self.skeleton.names[source]!r} is scaled to nothing in the rest pose"
            )
        if self._model_turns is None:
            self._model_turns = []
            for j, p in enumerate(self.skeleton.parents.tolist()):
                own = quaternion.normalize(self.rest.rotation[j].astype(np.float64))
                self._model_turns.append(own if p < 0 else quaternion.multiply(self._model_turns[p], own))
        turns = self._model_turns
        between = quaternion.multiply(quaternion.conjugate(turns[source]), turns[joint])
        return affine.apply(inverse, rest[joint, None, :, 3])[0], between

    def _aim(self, c: AimAt) -> tuple[int, int, int, Sequence[float]]:
        self._sources(c)
        option, up = 0, NOTHING
        if c.up_source is not None:
            self._source(self.skeleton.index(c.up_source), 0.0)
            option = kinds.HAS_UP | kinds.UP_SOURCE
        elif c.up is not None:
            option, up = kinds.HAS_UP, c.up
        return kinds.AIM, option, 0, [*_unit(c.axis), *_unit(c.up_axis), *up]

    def _limit(self, c: LimitTransform, joint: int) -> tuple[int, int, int, Sequence[float]]:
        option, numbers = 0, [0.0] * 23
        if c.rotation is not None:
            option |= kinds.ROTATION
            numbers[:11] = self._limits({joint: c.rotation})[joint]
        for bit, given, at, rest in (
            (kinds.TRANSLATION, c.translation, 11, self.rest.translation[joint]),
            (kinds.SCALE, c.scale, 17, self.rest.scale[joint]),
        ):
            if given is None:
                continue
            option |= bit
            for d, pair in enumerate(given):
                low, high = -FAR, FAR
                if pair is not None:
                    own = float(rest[d])
                    low, high = (
                        (own + pair[0], own + pair[1]) if at == 11 else sorted((own * pair[0], own * pair[1]))
                    )
                numbers[at + d], numbers[at + 3 + d] = low, high
        return kinds.LIMIT, option, 0, numbers

    def _limits(self, given: dict[int, Any]) -> list[list[float]]:
        try:
            found: list[list[float]] = JointLimits.given(self.skeleton, given).constants().tolist()  # type: ignore[arg-type]
        except MarrowError as error:
            raise ValidationError(f"{self._where}: {error}") from None
        return found

    def _drive(self, c: DriveChannel) -> tuple[int, int, int, Sequence[float]]:
        s, rest, extra, default = self.skeleton.index(c.source), self.rest, -1, 0.0
        if c.morph is not None:
            if c.morph not in self.skeleton.morph_names:
                raise UnknownNameError(f"morph (used by {self._where})", c.morph, self.skeleton.morph_names)
            extra = self.skeleton.morph_index(c.morph)
            default = float(rest.morphs[extra])
        self._source(s)
        self.rows["key"] += [list(key) for key in c.keys]
        entry, into = channel_number(c.source_channel), channel_number(c.channel)
        turn = quaternion.normalize(rest.rotation[s].astype(np.float64))
        return (
            kinds.DRIVE, 0, extra, [entry or 0, into or 0, *turn, *rest.translation[s], *rest.scale[s], default]
        )  # fmt: skip

    def _links(self, names: Sequence[JointName]) -> list[int]:
        links = [self.skeleton.index(name) for name in names]
        for a, b in itertools.pairwise(links):
            if self.skeleton.parents[b] != a:
                known = self.skeleton.names
                raise ValidationError(
                    f"{self._where}.joints: {known[b]!r} is not a child of {known[a]!r}: "
                    "list every joint of a chain, from its root"
                )
        return links

    def _spline(self, c: SplineChain) -> tuple[int, int, int, Sequence[float]]:
        links = self._links(c.joints)
        for name in c.through:
            self._source(self.skeleton.index(name))
        steps = np.linalg.norm(
            np.diff(self.skeleton.rest_model[links, :, 3].astype(np.float64), axis=0), axis=1
        )
        along = np.concatenate([[0.0], np.cumsum(steps)])
        shares = along / along[-1] if along[-1] > 0 else np.linspace(0, 1, len(links))
        for j, share in zip(links, shares):
            self._source(j, float(share))
        return kinds.SPLINE, 0, len(c.through), []

    def _reach(self, c: ReachChain) -> tuple[int, int, int, Sequence[float]]:
        links = self._links(c.joints)
        limited = {self._joint(name, f"{self._where}.limits"): limit for name, limit in c.limits.items()}
        for j in limited:
            if j not in links:
                raise ValidationError(
                    f"{self._where}.limits: {self.skeleton.names[j]!r} is not one of the joints"
                )
        numbers = self._limits(limited) if limited else []
        for j in links:
            if j in limited:
                row = numbers[j]
                self._source(j, 1.0, row[:4], row[4:8], row[8:11])
            else:
                self._source(j, 0.0)
        self._sources(c)
        return kinds.CHAIN, 0, len(links), [c.iterations, c.tolerance, float(c.method == "fabrik")]


def _turn(vector: Sequence[float]) -> Array:
    v = np.asarray(vector, np.float64)
    angle = float(np.linalg.norm(v))
    return quaternion.from_axis_angle(v / angle, np.array(angle)) if angle > 0 else np.array(EYE)


def _unit(vector: Sequence[float]) -> list[float]:
    size = math.hypot(*vector)
    return [v / size for v in vector]
