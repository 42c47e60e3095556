"""`Solver`: inverse kinematics of one body, limb or chain, for any number of poses at once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.animation.kinematics import check_pose
from marrow.errors import UnknownNameError, ValidationError, WrongTypeError
from marrow.ik.clip_solving import SolvedClip, solve_clip
from marrow.ik.effector import Effector, Goal
from marrow.ik.joint_limits import JointLimits
from marrow.ik.joint_tree import hips_of, joint_tree
from marrow.ik.plan import DAMPING, fixed_arguments, schedule, scratch
from marrow.ik.second_try import try_from_middle
from marrow.kernels.ik import work as layout
from marrow.kernels.ik.solve import ik_solve
from marrow.kernels.jobs import Job
from marrow.kernels.language.kernel import CallFrame, FramePool
from marrow.model import Character, Clip, Pose, Skeleton, _validate

__all__ = ["Solved", "Solver"]

Array = NDArray[Any]
MOST_STEPS = 1000
WARM = 1e-2
"""The part of the posture's weight that a warm start begins with."""


@dataclass(frozen=True, eq=False)
class Solved:
    """What a solver found: the `pose`, and how far each effector is from its target, `(..., E)`: `distance` in
    metres, `angle` and `aim_angle` in radians."""

    pose: Pose
    distance: Array
    angle: Array
    aim_angle: Array

    def __repr__(self) -> str:
        far = float(self.distance.max(initial=0.0))
        return f"Solved(pose={self.pose!r}, furthest from its target: {1000 * far:.2f} mm)"


class Solver:
    """Brings `effectors` to their targets by damped least squares over the joints between `hips` and them.

    All that is fixed is worked out here, once; `solve` then takes any number of poses. The cost of a step does not
    depend on the poses, nor do the results of one depend on the others.
    """

    def __init__(
        self,
        body: Skeleton | Character,
        effectors: Sequence[Effector | str],
        *,
        joints: Iterable[str | int] | None = None,
        hips: float = 1.0,
        posture: float = 0.01,
        stiffness: Mapping[str | int, float] | None = None,
        limits: JointLimits | None = None,
        floor: Sequence[str | int | Effector] = (),
        steps: int = 12,
        damping: float = DAMPING,
    ) -> None:
        if not isinstance(body, (Skeleton, Character)):
            raise WrongTypeError(f"Solver: expected a Skeleton or a Character, got {_validate.shown(body)}")
        self.skeleton = skeleton = body.skeleton if isinstance(body, Character) else body
        self.effectors = tuple(_effector("Solver.effectors", e) for e in _several("effectors", effectors))
        self.floor = tuple(_effector("Solver.floor", e) for e in _several("floor", floor))
        if not self.effectors:
            raise ValidationError("Solver.effectors: expected at least one")
        self.steps = _steps("Solver", steps)
        self.hips = _validate.number("Solver", "hips", hips, low=0.0, finite=False)
        self.posture = _validate.number("Solver", "posture", posture, low=0.0, high=1e4)
        damping = _validate.number("Solver", "damping", damping, low=1e-5, high=1e4)
        if limits is not None and not isinstance(limits, JointLimits):
            raise WrongTypeError(f"Solver.limits: expected JointLimits, got {_validate.shown(limits)}")
        if limits is not None and len(limits.limited) != len(skeleton):
            raise ValidationError(
                f"Solver.limits: they are for {len(limits.limited)} joints, the skeleton has {len(skeleton)}"
            )
        self.limits = limits
        self._index: dict[str, int] = {}
        for k, effector in enumerate(self.effectors):
            if self._index.setdefault(effector.label, k) != k:
                raise ValidationError(
                    f"Solver.effectors: two effectors are called {effector.label!r}, and a target could be for either: "
                    "give one a name of its own (Effector(..., name=...))"
                )
        tips = [skeleton.index(e.joint) for e in self.effectors]
        feet = [skeleton.index(e.joint) for e in self.floor]
        mover = hips_of(skeleton, [*tips, *feet])
        self.joints = free = self._free(joints, [*tips, *feet], mover)
        carries = joints is None or skeleton.humanoid.get("hips", -1) == mover
        self.mover = moves = mover if mover in free and carries and math.isfinite(self.hips) else -1
        """The joint that moves; -1 for none."""
        limited = np.flatnonzero(limits.limited).tolist() if limits is not None else []
        self.tree = joint_tree(skeleton, [*tips, *feet], free, moves, limited, centred=mover)
        idle = sorted(free - set(self.tree.node))
        if idle:
            raise ValidationError(f"Solver.joints: {skeleton.names[idle[0]]!r} carries no effector")
        self.stiffness = self._stiff(stiffness)
        self.fixed = fixed_arguments(
            skeleton, self.tree, self.effectors, self.floor, limits,
            centre=self.tree.node.get(mover, 1), stiffness=self.stiffness, hips=self.hips, damping=damping,
        )  # fmt: skip
        self._frames = FramePool(lambda: self._frame(len(tips), len(feet)))

    def _frame(self, E: int, F: int) -> CallFrame:
        """The arguments of the kernel that stay, and memory to work in."""
        fixed = {**self.fixed, **scratch(len(self.tree.joints), E, F)}
        return ik_solve.frame(**{f"work.{name}": value for name, value in fixed.items()})

    def _free(self, joints: Iterable[str | int] | None, tips: Sequence[int], mover: int) -> set[int]:
        """The joints that turn."""
        skeleton = self.skeleton
        if joints is not None:
            chosen = {skeleton.index(j) for j in _several("joints", joints)}
            if not chosen:
                raise ValidationError(
                    "Solver.joints: expected at least one; leave it out for all above the effectors"
                )
            return chosen
        found: set[int] = set()
        for tip in tips:
            path = [tip, *skeleton.ancestors(tip)]
            found.update(path[: path.index(mover) + 1] if mover in path else path)
        if not math.isfinite(self.hips):
            found.discard(mover)
        return found

    def _stiff(self, given: Mapping[str | int, float] | None) -> Array:
        out = np.ones(len(self.tree.joints), np.float32)
        if given is not None and not isinstance(given, Mapping):
            raise WrongTypeError(f"Solver.stiffness: expected factors by joint, got {_validate.shown(given)}")
        for joint, value in (given or {}).items():
            j = self.skeleton.index(joint)
            value = _validate.number("Solver", f"stiffness[{joint!r}]", value, low=0.0, above=True, high=1e6)
            if j in self.tree.node:
                out[self.tree.node[j]] = value
        return out

    def solve(
        self,
        pose: Pose,
        targets: Mapping[str, Any],
        *,
        warm: Pose | Solved | None = None,
        floor: ArrayLike | None = None,
        steps: int | None = None,
    ) -> Solved:
        """The pose nearest to `pose` whose effectors are at `targets`: by the effector's joint (or its name) a place
        `(..., 3)`, a matrix `(..., 3, 4)` or a `Goal`, in model space. Effectors without a target stay where the
        pose has them. Leading axes of pose and targets go together as NumPy's do.

        `warm` is where to begin: what was found for the frame before. `floor` are planes `(..., 4)` or `(..., F, 4)`,
        a normal and a distance, that the joints named by the solver's `floor` stay above (y = 0 without it).
        """
        check_pose(self.skeleton, pose)
        goals, shape = self._goals(targets, pose.batch_shape)
        if floor is not None and not self.floor:
            raise ValidationError(
                "solve: floor: no joint stays above it: name those that do in Solver(..., floor=[...])"
            )
        floors = _validate.numbers("solve: floor", (0.0, 1.0, 0.0, 0.0) if floor is None else floor)
        F, J, N = len(self.floor), len(self.skeleton), math.prod(shape)
        if floors.shape[-1:] != (4,):
            raise ValidationError(f"solve: floor: expected planes (..., 4), got {floors.shape}")
        start = warm.pose if isinstance(warm, Solved) else warm
        if start is not None:
            check_pose(self.skeleton, start)
        begin = pose if start is None else start
        steps = self.steps if steps is None else _steps("solve", steps)

        def many(values: Array, *tail: int) -> Array:
            try:
                wide = np.broadcast_to(values, (*shape, *tail))
            except ValueError:
                raise ValidationError(
                    f"solve: warm and floor: shape {np.shape(values)} does not go with {(*shape, *tail)}"
                ) from None
            return np.ascontiguousarray(wide, np.float32).reshape(N, *tail)

        translation, rotation = (
            many(v, J, k).copy() for v, k in ((begin.translation, 3), (begin.rotation, 4))
        )
        scale = many(pose.scale, J, 3)
        given = (
            many(pose.translation, J, 3), many(pose.rotation, J, 4), scale,
            many(goals, len(self.effectors), layout.GOAL), many(floors, F, 4),
        )  # fmt: skip
        residuals = self.run(*given, translation, rotation, steps=steps, warm=warm is not None)
        if warm is None and self.limits is not None:
            try_from_middle(self, given, translation, rotation, residuals, steps)
        found = Pose(
            translation.reshape(*shape, J, 3), rotation.reshape(*shape, J, 4), scale.reshape(*shape, J, 3),
            np.broadcast_to(pose.morphs, (*shape, pose.morph_count)),
        )  # fmt: skip
        distance, angle, aim = np.moveaxis(residuals.reshape(*shape, len(self.effectors), 3), -1, 0)
        angle, aim = (2 * np.arcsin(np.clip(a / 2, 0, 1)) for a in (angle, aim))
        if (scale != 1).any():
            above = scale[:, self.tree.joints[1:]]
            if (np.ptp(above, axis=-1) > 1e-3 * np.abs(above).max(axis=-1)).any():
                distance = self._measured(found, pose, goals)
        return Solved(found, distance, angle, aim)

    def _measured(self, found: Pose, pose: Pose, goals: Array) -> Array:
        """Distances as they are where joints are scaled unevenly, which the solver takes for even."""
        there, before = (self.skeleton.to_model(p) for p in (found, pose))
        out = np.zeros((*found.batch_shape, len(self.effectors)), np.float32)
        for k, effector in enumerate(self.effectors):
            j, point = self.skeleton.index(effector.joint), np.array(effector.point, np.float32)
            now, held = (m[..., j, :, :3] @ point + m[..., j, :, 3] for m in (there, before))
            goal = goals[..., k, :3]
            given = np.isfinite(goal).all(axis=-1, keepdims=True)
            out[..., k] = np.linalg.norm(np.where(given, goal, held) - now, axis=-1)
        return out

    def solve_clip(
        self, clip: Clip, targets: Mapping[str, Any], *, rate: float | None = None, smooth: float = 0.25
    ) -> SolvedClip:
        """`solve` for all frames of a clip, at `rate` or the clip's own: targets are for all of them or one for each,
        `(T, 3)`.

        What is changed is smooth in time: `smooth` are the seconds within which the body goes to a target and back
        where the weight of its goal (`Goal.weight (T,)`) is zero before and after; 0 solves each frame by itself.
        """
        return solve_clip(self, clip, targets, rate=rate, smooth=smooth)

    def pull(self, targets: Mapping[str, Any], shape: tuple[int, ...]) -> Array:
        """How strongly targets pull at all, from 0 to 1: the largest weight among those that are given."""
        given = [Goal.of(f"target of {name!r}", target).weight for name, target in targets.items()]
        most = np.zeros(shape)
        for weight in given:
            most = np.maximum(most, np.clip(np.asarray(weight, np.float64), 0.0, 1.0))
        return most

    def run(
        self,
        translation: Array,
        rotation: Array,
        scale: Array,
        goals: Array,
        floors: Array,
        out_translation: Array,
        out_rotation: Array,
        *,
        steps: int,
        warm: bool,
        kept: float = WARM,
        workers: int = 1,
    ) -> Array:
        """The solver on arrays, for those who have them: poses `(N, J, 3)`, `(N, J, 4)`, `(N, J, 3)`, goals `(N, E,
        17)` and floors `(N, F, 4)` as `marrow.kernels.ik.work` says, all float32 and contiguous. `out_translation`
        and `out_rotation` hold where it begins, and then what it found. `kept` is the part of the posture's weight that a
        warm start has; `workers` threads share the work, with the same bits. Residuals `(N, E, 3)`: metres, and twice the
        sines of half the angles of rotation and aim."""
        N = len(rotation)
        residuals = np.zeros((N, len(self.effectors), 3), np.float32)
        if not N:
            return residuals
        told, inner = schedule(self.posture, steps, warm=warm, kept=kept)
        frame = self._frames.take()  # threads that share a solver have each their own
        for letter in ("N", "B"):  # sizes that each call has its own of
            frame.sizes.pop(letter, None)
        frame.put(
            **{
                "work.translation": translation, "work.rotation": rotation, "work.scale": scale, "work.goals": goals,
                "work.floors": floors, "work.out_translation": out_translation, "work.out_rotation": out_rotation,
                "work.residuals": residuals, **{f"work.{name}": values for name, values in told.items()},
                "work.inner": inner, "first": 0, "last": -(-N // 16),
            }
        )  # fmt: skip
        if workers == 1:
            frame.run()
        else:
            job = Job(frame, "first", "last")
            rooms = [
                scratch(len(self.tree.joints), len(self.effectors), len(self.floor))
                for _ in range(workers - 1)
            ]
            job.own({f"work.{name}": [room[name] for room in rooms] for name in rooms[0]})
            job.run(0, -(-N // 16), step=2, workers=workers)
        self._frames.give(frame)
        return residuals

    def _goals(self, targets: Mapping[str, Any], batch: tuple[int, ...]) -> tuple[Array, tuple[int, ...]]:
        """Goals of all effectors `(..., E, 17)`, and the shape of the whole batch."""
        if not isinstance(targets, Mapping):
            raise WrongTypeError(
                f"solve: targets: expected a mapping from joints to targets, got {_validate.shown(targets)}"
            )
        parts: list[tuple[int, int, Array]] = []
        shapes = [batch]
        for name, given in targets.items():
            k = self._index.get(str(name))
            if k is None:
                raise UnknownNameError("effector", name, self._index)
            who = f"solve: target of {name!r}"
            target = Goal.of(who, given)
            for field, at, width in (("position", 0, 3), ("rotation", 3, 4), ("pole", 7, 3), ("aim", 10, 3)):
                value = getattr(target, field)
                if value is None:
                    continue
                values = _validate.numbers(f"{who}: {field}", value)
                if values.shape[-1:] != (width,):
                    raise ValidationError(f"{who}: {field}: expected (..., {width}), got {values.shape}")
                parts.append((k, at, values))
                shapes.append(values.shape[:-1])
            weight = _validate.numbers(f"{who}: weight", target.weight)
            parts.append((k, 13, weight[..., None] * np.array(self.effectors[k].weights)))
            shapes.append(weight.shape)
        try:
            shape = np.broadcast_shapes(*shapes)
        except ValueError:
            raise ValidationError(
                f"solve: the leading axes of pose {batch} and targets {shapes[1:]} do not go together"
            ) from None
        goals = np.full((*shape, len(self.effectors), layout.GOAL), np.nan, np.float32)
        goals[..., 13:] = np.array([e.weights for e in self.effectors])
        for k, at, values in parts:
            goals[..., k, at : at + values.shape[-1]] = values
        return goals, shape


def _steps(owner: str, given: Any) -> int:
    steps = _validate.integer(owner, "steps", given, low=1)
    if steps > MOST_STEPS:
        raise ValidationError(f"{owner}.steps: expected at most {MOST_STEPS}, got {given}")
    return steps


def _several(what: str, given: Any) -> list[Any]:
    if isinstance(given, (str, Effector)) or not isinstance(given, Iterable):
        raise WrongTypeError(f"Solver.{what}: expected several, in a list; got {_validate.shown(given)}")
    return list(given)


def _effector(what: str, given: Any) -> Effector:
    return given if isinstance(given, Effector) else Effector(given)
