"""`IKEffector`: a joint that `FullBodyIK` brings to a target; and how nodes with a solver are laid out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np

from marrow.errors import MarrowError, ValidationError
from marrow.graph.compiled import FunctionEntry
from marrow.graph.ik_steps import IkStep, IkTargets
from marrow.graph.nodes.base import AnyNode, Names, Value, Vector
from marrow.graph.nodes.function import compile_function
from marrow.graph.tables import Part, Place
from marrow.ik.effector import Effector
from marrow.ik.joint_limits import JointLimit, JointLimits
from marrow.ik.solver import Solver
from marrow.kernels.ik.rows import AIMS, AT, BENDS, REFS, TURNED, WORLD, state_size
from marrow.kernels.pose_layout import padded
from marrow.model._asset import Replaceable

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.placeholder import Requirements

__all__ = ["IKEffector", "IKFloor", "compile_ik", "limits_of", "require_limits"]

Limits = dict[str, JointLimit] | Literal["clips"] | None
"""Limits by joint, those that the character's clips show, or none."""
FAR, FAR_CHAIN = 2.0, 1.5
"""Targets are sought up to so many of the body's sizes from its hips, and so many lengths of a chain from its root."""
_PARTS = (("target", 0, AT), ("rotation", 3, TURNED), ("aim", 6, AIMS), ("pole", 9, BENDS))


class IKEffector(msgspec.Struct, Replaceable, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A joint that reaches for a target. Of a target any part may be given, as a vector parameter or three numbers: the
    place (`target`), the `rotation` (a rotation vector: axis times radians), a place that its `axis` points at (`aim`),
    a place that its limb bends towards (`pole`). Without any it stays where the pose has it, place and rotation.

    They are given in `space`: that of the character (model space), that of the world (see `animator.root`), or in the
    frame of the joint or socket of that name, as it is before the solver moves it. With a `weight` below 1 the target
    lies between where the pose has the joint and what is given; 0 holds it there.

    The strengths say what gives way where not all can be had; `point`, `limb`, `soft` and `pull` are as in
    `mw.ik.Effector`."""

    joint: str
    target: Vector | None = None
    rotation: Vector | None = None
    aim: Vector | None = None
    pole: Vector | None = None
    space: str = "character"
    weight: Value = 1.0
    strength: float = 1.0
    rotation_strength: float = 1.0
    aim_strength: float = 1.0
    pole_strength: float = 0.2
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    limb: tuple[str, str] | None = None
    soft: float = 0.0
    pull: float = 1.0

    @property
    def parts(self) -> int:
        """Which parts of a target are given."""
        return sum(part for name, _, part in _PARTS if getattr(self, name) is not None)

    def require(self, requirements: Requirements) -> None:
        requirements.chain(*(self.limb or ()), self.joint)
        if self.space not in ("world", "character"):
            requirements.joints(self.space)

    def effector(self) -> Effector:
        """What the solver knows of it."""
        parts = self.parts
        placed = parts & AT or not parts & (TURNED | AIMS)
        return Effector(
            self.joint,
            self.strength if placed else 0.0,
            self.rotation_strength if parts & TURNED or not parts else 0.0,
            self.aim_strength if parts & AIMS else 0.0,
            self.pole_strength if parts & BENDS else 0.0,
            self.axis, self.point, self.limb, self.soft, self.pull,
        )  # fmt: skip


class IKFloor(msgspec.Struct, Replaceable, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A plane that `joints` (or the `point` on each) stay above: a `normal` of any length and a `height` along it,
    numbers or parameters, in the `space` of the character or of the world. Walls are floors with other normals."""

    joints: Names
    normal: Vector = (0.0, 1.0, 0.0)
    height: Value = 0.0
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    space: Literal["character", "world"] = "character"

    def __post_init__(self) -> None:
        if isinstance(self.joints, str):
            msgspec.structs.force_setattr(self, "joints", (self.joints,))

    def compile(self, c: Compiler, path: str) -> tuple[list[Effector], list[int]]:
        """What the solver keeps above it, and where the plane is found: see `IkFloors`."""
        if self.space not in ("character", "world"):
            raise ValidationError(f"{path}.space: expected 'character' or 'world', got {self.space!r}")
        if not self.joints:
            raise ValidationError(f"{path}.joints: expected at least one")
        if not isinstance(self.normal, str) and not any(self.normal):
            raise ValidationError(f"{path}.normal: expected a direction, got {self.normal}")
        for name in self.joints:
            c.joint(name, f"{path}.joints")
        with _told_at(path):
            points = [Effector(name, point=self.point) for name in self.joints]
        plane = [
            *c.builder.vector(self.normal, f"{path}.normal"),
            c.builder.value(self.height, f"{path}.height"),
        ]
        return points, [*plane, int(self.space == "world")]


def require_limits(requirements: Requirements, limits: Limits) -> None:
    if isinstance(limits, Mapping):
        requirements.joints(*limits)


def limits_of(c: Compiler, limits: Limits, margin: float, path: str) -> JointLimits | None:
    """The limits that a node names, for the character at hand."""
    if limits is None or c.standalone:
        return None
    if isinstance(limits, Mapping):
        for name in limits:
            c.joint(name, f"{path}.limits")
    with _told_at(f"{path}.limits"):
        if isinstance(limits, Mapping):
            return JointLimits.given(
                c.skeleton, {c.skeleton.index(name): limit for name, limit in limits.items()}
            )
        clips = [clip for clip in c.character.clips.values() if not clip.additive]
        return JointLimits.from_clips(c.character, clips, margin=margin)


@contextmanager
def _told_at(path: str) -> Iterator[None]:
    """What the solver refuses is said with the node it is about."""
    try:
        yield
    except MarrowError as error:
        raise ValidationError(f"{path}: {error}") from None


def _space(c: Compiler, effector: IKEffector, path: str) -> tuple[int, np.ndarray[Any, Any]]:
    """The joint of a target's space and where in its frame that begins."""
    offset = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1], np.float32)
    if effector.space in ("world", "character"):
        return (WORLD if effector.space == "world" else -1), offset
    for socket in c.skeleton.sockets:
        if socket.name == effector.space and effector.space not in c.skeleton.names:
            return socket.joint, np.concatenate([socket.translation, socket.rotation, socket.scale])
    return c.joint(effector.space, f"{path}.space"), offset


def _reach(solver: Solver, effector: Effector) -> tuple[int, float]:
    """The joint that an effector reaches from (-1: none), and the metres from there beyond which targets are drawn back:
    the solver finds its way to places that are not much out of reach."""
    skeleton, tip = solver.skeleton, solver.skeleton.index(effector.joint)
    path = [tip, *skeleton.ancestors(tip)]
    turning = [j for j in path if j in solver.joints]
    if solver.mover in path:
        return (solver.mover, FAR * solver.tree.size) if tip != solver.mover else (-1, 0.0)
    if not turning:
        return -1, 0.0
    places = skeleton.rest_model[path[: path.index(turning[-1]) + 1], :, 3].astype(np.float64)
    bones = np.linalg.norm(np.diff(places, axis=0), axis=-1).sum() + np.linalg.norm(effector.point)
    return turning[-1], float(FAR_CHAIN * bones)


def compile_ik(
    c: Compiler,
    at: Place,
    source: AnyNode,
    effectors: Sequence[IKEffector],
    *,
    weight: Value,
    steps: int,
    warm_steps: int,
    listed: bool = False,
    floor: Sequence[IKFloor] = (),
    **options: Any,
) -> Part:
    """A node whose poses a solver makes of those of `source`: programs run up to it, it is solved, they go on.
    Effectors are `listed` where the node has them in a list; `options` are the solver's."""
    if at.scope.additive:
        raise ValidationError(f"{at.path}: it works on poses, not on differences")
    E = len(effectors)
    refs, spaces = np.zeros((E, REFS), np.int32), np.zeros(E, np.int32)
    offsets = np.zeros((E, 10), np.float32)
    solved = []
    for k, effector in enumerate(effectors):
        path = f"{at.path}.effectors[{k}]" if listed else at.path
        for name in (effector.joint, *(effector.limb or ())):
            c.joint(name, path)
        with _told_at(path):
            solved.append(effector.effector().replace(name=f"{path} {k}"))
        for name, first, _ in _PARTS:
            given = getattr(effector, name)
            if given is not None:
                refs[k, first : first + 3] = c.builder.vector(given, f"{path}.{name}")
        refs[k, 12] = c.builder.value(effector.weight, f"{path}.weight")
        spaces[k], offsets[k] = _space(c, effector, path)
    above, planes = [], []
    for k, half_space in enumerate(floor):
        points, plane = half_space.compile(c, f"{at.path}.floor[{k}]")
        above += points
        planes += [plane] * len(points)
    solver = None
    if not c.standalone:
        with _told_at(at.path):
            solver = Solver(c.skeleton, solved, steps=max(steps, 1), floor=above, **options)
    reaches = [(-1, 0.0) if solver is None else _reach(solver, e) for e in solved]
    turning = sorted(solver.joints) if solver is not None else []
    targets = IkTargets(
        refs=refs,
        parts=np.array([e.parts for e in effectors], np.int32),
        spaces=spaces,
        offsets=offsets,
        effector_joints=np.array([c.skeleton.index(e.joint) for e in effectors], np.int32),
        points=np.array([e.point for e in solved], np.float32).reshape(E, 3),
        centres=np.array([joint for joint, _ in reaches], np.int32),
        reaches=np.array([metres for _, metres in reaches], np.float32),
        strengths=np.array([e.weights for e in solved], np.float32).reshape(E, 4),
        turning=np.array(turning, np.int32),
        used=np.zeros(0, np.int32) if solver is None else solver.tree.joints[1:],
    )
    kept = c.keep(padded(1 + 2 * state_size(len(turning), E)))
    step = IkStep(
        solver,
        targets,
        c.builder.value(weight, f"{at.path}.weight"),
        kept,
        steps,
        warm_steps,
        WORLD in spaces or any(f.space == "world" for f in floor),
        np.array(planes, np.int32).reshape(-1, 5),
    )
    return compile_function(c, at, source, FunctionEntry(at.path, "ik", (), ik=step))
