"""`PoseDriver`: morphs and helper joints that follow how other joints are turned, learned from examples;
`CombineMorphs`: a morph that follows other morphs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError, WrongTypeError
from marrow.graph.nodes.base import AnyNode, Names, Node, Value
from marrow.graph.nodes.procedural import compile_procedural
from marrow.graph.tables import Part, Place, unknown
from marrow.kernels.operations import codes as kernel
from marrow.kernels.operations.driving import COMBINED, DRIVER, MOST_EXAMPLES, features, radial
from marrow.math import quaternion
from marrow.model._asset import Replaceable
from marrow.model.pose import Pose
from marrow.model.skeleton import Skeleton

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.placeholder import Requirements

__all__ = ["CombineMorphs", "DriverExample", "PoseDriver"]

Array = NDArray[Any]
MEASURES = ("rotation", "swing", "twist")
KERNELS = ("gaussian", "thin_plate")
COMBINATIONS = ("multiply", "min", "max", "sum", "mean")
MODES = ("set", "add", "multiply")
SINGULAR = 1e-9
"""Of the functions of two examples, by how much they must differ to be told apart."""

Quaternion = tuple[float, float, float, float]
Six = tuple[float, float, float, float, float, float]


class DriverExample(msgspec.Struct, Replaceable, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What belongs together: how the joints of a driver are turned (`xyzw`, by name, as in a pose), and what follows:
    weights of `morphs`, and of helper `joints` how they differ from where clips have them (translation, then a
    rotation vector: axis times radians, in the joint's own frame)."""

    rotations: dict[str, Quaternion]
    morphs: dict[str, float] = {}
    joints: dict[str, Six] = {}


class PoseDriver(Node, frozen=True):
    """Adds to morphs and helper joints what `examples` say for how `joints` are turned: at an example just what it
    says, between them a smooth mix by radial basis functions. `PoseDriver.from_examples` makes it from poses.

    `measure` says what is compared: whole rotations against the parent, only where the bone points (`"swing"`), or
    only how it is turned about itself (`"twist"`, against the rest pose); the bone's axis is where its first child
    lies, or `axis`. `kernel="gaussian"` reaches `radius` radians around each example (left out: the mean distance to
    the nearest one) and fades to nothing beyond; `"thin_plate"` is stiffer and has no reach. `normalized=True` shares
    the whole among examples, so that far from all the nearest one holds. `regularization` above 0 lets examples that
    contradict each other agree half-way. What comes out stays between the least and the most that examples say (and
    0), unless `clamp=False`."""

    source: AnyNode
    joints: Names
    examples: tuple[DriverExample, ...]
    measure: Literal["rotation", "swing", "twist"] = "rotation"
    kernel: Literal["gaussian", "thin_plate"] = "gaussian"
    radius: float | None = None
    normalized: bool = False
    regularization: float = 0.0
    axis: tuple[float, float, float] | None = None
    clamp: bool = True
    weight: Value = 1.0

    colour: ClassVar[str] = "#f7e8f3"

    @classmethod
    def from_examples(
        cls,
        source: AnyNode,
        skeleton: Skeleton,
        poses: Sequence[Pose] | Pose,
        values: Mapping[str, Sequence[float]] | Sequence[Mapping[str, float]] = (),
        *,
        joints: str | Sequence[str],
        helpers: str | Sequence[str] = (),
        **settings: Any,
    ) -> PoseDriver:
        """A driver from poses: `values` are weights of morphs, a list for each (`{"bulge": [0, 1]}`) or a dict for
        each pose. `helpers` are joints whose places and rotations follow as the poses have them, seen from the rest
        pose."""
        joints = (joints,) if isinstance(joints, str) else tuple(joints)
        helpers = (helpers,) if isinstance(helpers, str) else tuple(helpers)
        if not isinstance(skeleton, Skeleton):
            raise WrongTypeError(
                f"PoseDriver.from_examples: expected a Skeleton, got {type(skeleton).__name__}"
            )
        given = [poses[k] for k in range(len(poses))] if isinstance(poses, Pose) else list(poses)
        for k, pose in enumerate(given):
            if not isinstance(pose, Pose) or pose.rotation.shape != (len(skeleton), 4):
                raise WrongTypeError(
                    f"PoseDriver.from_examples: poses[{k}] is no single pose of {len(skeleton)} joints"
                )
        rows = _value_rows(values, len(given))
        turned = [skeleton.index(name) for name in joints]
        moved = [skeleton.index(name) for name in helpers]
        rest = skeleton.rest
        examples = []
        for pose, row in zip(given, rows):
            six = {
                name: (
                    *(pose.translation[j].astype(np.float64) - rest.translation[j]).tolist(),
                    *quaternion.log(
                        quaternion.multiply(
                            quaternion.conjugate(rest.rotation[j].astype(np.float64)),
                            pose.rotation[j].astype(np.float64),
                        )
                    ).tolist(),
                )
                for name, j in zip(helpers, moved)
            }
            rotations = {name: tuple(pose.rotation[j].tolist()) for name, j in zip(joints, turned)}
            examples.append(DriverExample(rotations, {k: float(v) for k, v in row.items()}, six))
        return cls(source, joints, tuple(examples), **settings)

    def require(self, requirements: Requirements) -> None:
        requirements.joints(*self.joints)
        for example in self.examples:
            requirements.joints(*example.joints)
            requirements.morphs.update(example.morphs)

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c, path, names = compiler, at.path, tuple(self.joints)
        self._check(path)
        looked = [c.joint(name, f"{path}.joints") for name in names]
        morphs = list(dict.fromkeys(name for e in self.examples for name in e.morphs))
        helpers = list(dict.fromkeys(name for e in self.examples for name in e.joints))
        if not morphs and not helpers:
            raise ValidationError(f"{path}.examples: none of them says what is to follow (morphs or joints)")
        for name in morphs:
            if name not in c.skeleton.morph_names:
                raise unknown("morph", name, c.skeleton.morph_names, f"{path}.examples")
        moved = [c.joint(name, f"{path}.examples") for name in helpers]
        axes = np.array([self._axis(c, j, path) for j in looked])
        rests = quaternion.normalize(c.skeleton.rest.rotation[looked].astype(np.float64))
        turned = np.array(
            [[self._rotation(e, n, k, path) for n in names] for k, e in enumerate(self.examples)]
        )
        measure, function = MEASURES.index(self.measure), KERNELS.index(self.kernel)
        known = features(turned, measure, axes, rests)
        values = np.array(
            [[e.morphs.get(n, 0.0) for n in morphs] + [v for n in helpers for v in e.joints.get(n, (0.0,) * 6)]
             for e in self.examples]
        )  # fmt: skip
        if not np.isfinite(values).all():
            raise ValidationError(f"{path}.examples: expected finite numbers")
        radius = self.radius if self.radius is not None else _mean_gap(known, measure)
        terms = self._terms(known, values, measure, function, radius, path)
        bounds = np.stack([np.minimum(values.min(0), 0), np.maximum(values.max(0), 0)], axis=1)
        if not self.clamp:
            bounds[:] = -1e30, 1e30
        E, S, O = len(self.examples), len(looked), values.shape[1]
        index = c.constants(
            DRIVER, sources=S, examples=E, pairs=S * E, outputs=O, terms=E * O, morph_count=len(morphs),
            joint_count=len(moved), measure=measure, kernel=function, normalized=int(self.normalized), memory=c.keep(E),
            radius=radius, looked=looked, axes=axes, rests=rests, known=known, terms_of=terms, bounds=bounds,
            morphs=[c.skeleton.morph_index(n) for n in morphs], joints=moved,
        )  # fmt: skip
        return compile_procedural(c, at, self.source, self.weight, code=kernel.DRIVE, index=index, refs=[])

    def _check(self, path: str) -> None:
        if not self.joints:
            raise ValidationError(f"{path}.joints: expected at least one")
        if not 1 <= len(self.examples) < MOST_EXAMPLES:
            raise ValidationError(
                f"{path}.examples: expected 1 to {MOST_EXAMPLES - 1}, got {len(self.examples)}"
            )
        if self.radius is not None and not (math.isfinite(self.radius) and self.radius > 0):
            raise ValidationError(f"{path}.radius: expected more than 0 radians, got {self.radius}")
        if not (math.isfinite(self.regularization) and self.regularization >= 0):
            raise ValidationError(f"{path}.regularization: expected 0 or more, got {self.regularization}")
        if self.normalized and self.kernel != "gaussian":
            raise ValidationError(
                f"{path}.normalized: thin plates do not add up to anything; use the Gaussian"
            )

    def _axis(self, c: Compiler, j: int, path: str) -> Array:
        """The axis of a bone in its own frame."""
        if self.axis is not None:
            axis = np.array(self.axis, np.float64)
        else:
            children = np.flatnonzero(c.skeleton.parents == j)
            axis = (
                c.skeleton.rest.translation[children[0]].astype(np.float64)
                if len(children)
                else np.array([0.0, 1.0, 0.0])
            )
        size = float(np.linalg.norm(axis))
        if not (math.isfinite(size) and size > 1e-12):
            if self.measure == "rotation":
                return np.array([0.0, 1.0, 0.0])
            raise ValidationError(
                f"{path}.axis: {c.skeleton.names[j]!r} has no length that says where it points; name an axis"
            )
        return axis / size

    @staticmethod
    def _rotation(example: DriverExample, name: str, k: int, path: str) -> Quaternion:
        if name not in example.rotations:
            raise ValidationError(f"{path}.examples[{k}].rotations: {name!r} is missing")
        q = example.rotations[name]
        size = math.sqrt(sum(v * v for v in q))
        if not (math.isfinite(size) and size > 1e-6):
            raise ValidationError(f"{path}.examples[{k}].rotations.{name}: expected a quaternion, got {q}")
        return q

    def _terms(
        self, known: Array, values: Array, measure: int, function: int, radius: float, path: str
    ) -> Array:
        """What each example adds, so that examples come out as they were given."""
        E = len(known)
        functions = radial(
            known, known, measure=measure, kernel=function, radius=radius, normalized=self.normalized
        )
        if self.regularization == 0:
            gaps = radial(known, known, measure=measure, kernel=0, radius=1.0) - 2 * np.eye(E)
            a, b = np.unravel_index(int(np.argmax(gaps)), gaps.shape)
            if gaps[a, b] > 1 - SINGULAR:
                raise ValidationError(
                    f"{path}.examples: {min(a, b)} and {max(a, b)} are the same as far as {self.measure} goes; "
                    "take one out, or give a regularization"
                )
        functions = functions + self.regularization * np.eye(E)
        try:
            terms = np.linalg.solve(functions, values)
        except np.linalg.LinAlgError:
            terms = np.full_like(values, np.inf)
        if not np.isfinite(terms).all() or np.abs(terms).max(initial=0.0) > 1e6:
            raise ValidationError(
                f"{path}.examples: they are too near each other for a radius of {radius:.3g}; make it smaller, or give a "
                "regularization"
            )
        return np.asarray(terms)


def _mean_gap(known: Array, measure: int) -> float:
    """The mean distance of an example to the one nearest to it; 1 for one alone."""
    if len(known) < 2:
        return 1.0
    along = (known[:, None] * known[None]).sum(-1)
    squared = (8 * (1 - np.abs(along)) if measure == 0 else 2 * (1 - along)).sum(-1)
    np.fill_diagonal(squared, np.inf)
    return max(float(np.sqrt(np.maximum(squared.min(1), 0)).mean()), 1e-3)


def _value_rows(
    values: Mapping[str, Sequence[float]] | Sequence[Mapping[str, float]], count: int
) -> list[Mapping[str, float]]:
    if isinstance(values, Mapping):
        for name, column in values.items():
            if len(column) != count:
                raise ValidationError(
                    f"PoseDriver.from_examples: {name!r} has {len(column)} values for {count} poses"
                )
        return [{name: float(column[k]) for name, column in values.items()} for k in range(count)]
    rows = list(values) or [{}] * count
    if len(rows) != count:
        raise ValidationError(f"PoseDriver.from_examples: {len(rows)} rows of values for {count} poses")
    return rows


class CombineMorphs(Node, frozen=True):
    """Sets `morph` to what the morphs `inputs` are together: multiplied (a combination shape that corrects two shapes
    where they meet), the least, the most, the sum or the mean of them. `curve` maps that: points `(in, out)`, straight
    between them, held outside. `mode` sets the morph, adds to it or multiplies it; `weight` says how much of that."""

    source: AnyNode
    morph: str
    inputs: Names
    combine: Literal["multiply", "min", "max", "sum", "mean"] = "multiply"
    curve: tuple[tuple[float, float], ...] = ()
    mode: Literal["set", "add", "multiply"] = "set"
    weight: Value = 1.0

    colour: ClassVar[str] = "#f7e8f3"

    def require(self, requirements: Requirements) -> None:
        requirements.morphs.update((self.morph, *self.inputs))

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c = compiler
        if not self.inputs:
            raise ValidationError(f"{at.path}.inputs: expected at least one morph")
        for name in (self.morph, *self.inputs):
            if name not in c.skeleton.morph_names:
                raise unknown("morph", name, c.skeleton.morph_names, at.path)
        points = np.array(self.curve or ((0.0, 0.0),), np.float64)
        if not np.isfinite(points).all() or (np.diff(points[:, 0]) <= 0).any() or len(self.curve) == 1:
            raise ValidationError(
                f"{at.path}.curve: expected two or more points (in, out) that go up, got {self.curve}"
            )
        index = c.constants(
            COMBINED, count=len(self.inputs), keys=len(points), morph=c.skeleton.morph_index(self.morph),
            how=COMBINATIONS.index(self.combine), mode=MODES.index(self.mode),
            inputs=[c.skeleton.morph_index(n) for n in self.inputs], curve=points,
        )  # fmt: skip
        return compile_procedural(c, at, self.source, self.weight, code=kernel.COMBINE, index=index, refs=[])
