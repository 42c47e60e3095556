"""Levels of detail of a crowd: which instance is shown at which level, and the poses of each for the joints its level has.

A level has the first joints of the character, so its poses are what the pose kernel finds for those, bit for bit.
Programs that keep something for later (where inertia starts from, what slots hold, what functions get) are run for all
joints: a level may change at any time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import skinning_matrices
from marrow.animation.resampling import pack_rows
from marrow.errors import ValidationError
from marrow.graph.compiled import CompiledGraph
from marrow.graph.evaluator import Evaluator, LevelEvaluation
from marrow.graph.pose_program import PoseProgram, Procedurals
from marrow.kernels.memory import RESULTS, readonly
from marrow.kernels.pose_layout import ROWS, padded
from marrow.math import affine, transform
from marrow.model.character import Character

__all__ = ["HIDDEN", "CrowdLevels", "LevelGroup", "checked_levels"]

Array = NDArray[Any]
HIDDEN = -1
"""The level of instances that nobody sees: their time passes, they have no poses."""


@dataclass(frozen=True, eq=False, repr=False)
class LevelGroup:
    """The n instances of a crowd that are shown at one level: their numbers `instances (n,)`, skinning matrices `(n, P,
    3, 4)` for the palette of the level's own `character`, weights of the morph channels `morphs (n, M)`."""

    level: int
    character: Character
    instances: Array
    matrices: Array
    morphs: Array

    def __repr__(self) -> str:
        return (
            f"LevelGroup(level {self.level}, {len(self.instances)} instances, matrices {self.matrices.shape})"
        )


def checked_levels(levels: Any, count: int, available: int) -> Array:
    """Levels as a caller gives them: a number or one per instance, `(N,)` int64."""
    given = np.asarray(levels)
    if given.dtype.kind not in "iu" or given.shape not in ((), (count,)):
        got = f"shape {given.shape}" if given.dtype.kind in "iu" else f"{given.dtype} {type(levels).__name__}"
        raise ValidationError(f"levels: expected a whole number or ({count},) of them, got {got}")
    values = np.empty(count, np.int64)
    values[:] = given
    if count and not (values.min() >= HIDDEN and values.max() < available):
        raise ValidationError(
            f"levels: expected {HIDDEN} (not seen) to {available - 1}, got {values.min()} to {values.max()}: the character "
            f"has {available} level{'s' if available > 1 else ''}"
        )
    return values


class CrowdLevels:
    """Evaluators for the levels of a character under one graph, and the instances that are shown at each."""

    def __init__(
        self, compiled: CompiledGraph, whole: Evaluator, procedurals: Procedurals | None = None
    ) -> None:
        self.character = compiled.character
        self._whole = whole
        self._evaluators = [
            whole
            if k == 0
            else whole.again(
                compiled.bank,
                level.palette,
                compiled.masks,
                procedurals or compiled.procedurals,
                joints=len(level.skeleton),
            )
            for k, level in enumerate(self.character.levels)
        ]
        self._rest = pack_rows(self.character.skeleton.rest.broadcast_to((1,)))[0]
        self._below = [_below(self.character, len(level.skeleton)) for level in self.character.levels]
        self._grouped: tuple[Array, list[tuple[int, Array]]] = (np.zeros(0, np.int64), [])

    def members(self, values: Array) -> list[tuple[int, Array]]:
        """The levels that occur in `values (N,)`, one per instance, with the numbers of those who are shown at each."""
        if self._grouped[0] is not values:
            found = [(k, np.flatnonzero(values == k)) for k in range(HIDDEN, len(self._evaluators))]
            self._grouped = values, [(k, instances) for k, instances in found if len(instances)]
        return self._grouped[1]

    def work(self, values: Array, intervals: Array) -> list[LevelEvaluation]:
        """Who is run by which evaluator. Those who are not seen are run where they are updated rarely, and keep their last
        poses."""
        found = []
        for level, instances in self.members(values):
            if level == HIDDEN:
                instances = instances[intervals[instances] > 1]
                found += [LevelEvaluation(HIDDEN, self._evaluators[-1], instances)] if len(instances) else []
            else:
                everybody = len(instances) == len(values)
                found.append(
                    LevelEvaluation(level, self._evaluators[level], None if everybody else instances)
                )
        return found

    def lanes(self, values: Array) -> Array:
        """How many numbers of each row of a pose are evaluated for instances at these levels."""
        return np.array([padded(e.joints) for e in self._evaluators])[np.maximum(values, 0)]

    def forget(self, memory: Array, values: Array, rows: Array, first: int) -> None:
        """Puts joints to rest, in the two poses kept from `first` on for rarely updated instances `rows`, that these no
        longer evaluate at their levels in `values`: should they get them back, they start from there."""
        layout = self._whole.layout
        lanes = self.lanes(values[rows])
        rest = self._rest[: ROWS * layout.joints].reshape(ROWS, layout.joints)
        for count in np.unique(lanes).tolist():
            some = rows[lanes == count]
            for at in (first, first + layout.size):
                kept = memory[some, at : at + ROWS * layout.joints].reshape(len(some), ROWS, layout.joints)
                kept[:, :, count:] = rest[:, count:]
                memory[some, at : at + ROWS * layout.joints] = kept.reshape(len(some), -1)

    # -- poses ----------------------------------------------------------------------------------------------------
    def run(self, runtime: Any, outputs: dict[str, Array]) -> None:
        """Evaluates the programs of this moment into arrays for all N instances and J joints. Joints that an instance's
        level lacks are at rest; so is everything of those that are not seen."""
        if not runtime.batch:
            outputs = {name: out[None] for name, out in outputs.items()}
        for level, instances in self.members(runtime.control.store.levels):
            if level == HIDDEN:
                self._rest_for(instances, outputs)
                self._keep(runtime, instances)
                continue
            if len(self.character.levels[level].skeleton) == len(self.character.skeleton):
                self._run_whole(runtime, instances, outputs)
            else:
                self._run_reduced(runtime, level, instances, outputs)

    def _run_whole(self, runtime: Any, instances: Array, outputs: dict[str, Array]) -> None:
        own = {name: np.empty((len(instances), *_rows(out)), np.float32) for name, out in outputs.items()}
        self._evaluate(runtime, 0, instances, own)
        for name, out in outputs.items():
            out[instances] = own[name]

    def _run_reduced(self, runtime: Any, level: int, instances: Array, outputs: dict[str, Array]) -> None:
        evaluator, n = self._evaluators[level], len(instances)
        layout, J = self._whole.layout, len(self.character.levels[level].skeleton)
        own = {}
        if "morphs" in outputs:
            own["morphs"] = np.empty((n, layout.morphs), np.float32)
        if "pose" in outputs:
            own["pose"] = np.empty((n, layout.size), np.float32)
        if outputs.keys() & {"model", "palette"}:
            own["model"] = np.empty((n, evaluator.joints, 3, 4), np.float32)
        self._evaluate(runtime, level, instances, own)
        if "morphs" in own:
            outputs["morphs"][instances] = own["morphs"]
        if "pose" in own:
            rows = own["pose"][:, : ROWS * layout.joints].reshape(n, ROWS, layout.joints)
            rows[:, :, J:] = self._rest[: ROWS * layout.joints].reshape(ROWS, layout.joints)[:, J:]
            outputs["pose"][instances] = own["pose"]
        if "model" in own:
            model = self._completed(own["model"][:, :J], level)
            if "model" in outputs:
                outputs["model"][instances] = model
            if "palette" in outputs:
                outputs["palette"][instances] = skinning_matrices(self.character, model)

    def _completed(self, model: Array, level: int) -> Array:
        """Model matrices `(n, J, 3, 4)` of all joints, of those of a level: the others as they are at rest."""
        above, local = self._below[level]
        J = model.shape[1]
        whole = np.empty((len(model), len(self.character.skeleton), 3, 4), np.float32)
        whole[:, :J] = model
        for some, joints in ((above >= 0, above), (above < 0, None)):
            at = J + np.flatnonzero(some)
            rest = local[some]
            whole[:, at] = rest if joints is None else affine.multiply(model[:, joints[some]], rest)
        return whole

    def _rest_for(self, instances: Array, outputs: dict[str, Array]) -> None:
        rest = self.character.skeleton.rest_model
        values = {
            "pose": self._rest,
            "model": rest,
            "palette": skinning_matrices(self.character, rest) if "palette" in outputs else None,
            "morphs": self._rest[ROWS * self._whole.layout.joints :],
        }
        for name, out in outputs.items():
            out[instances] = values[name]

    def _keep(self, runtime: Any, instances: Array) -> None:
        """Those who are no longer seen, and still are updated rarely, keep their poses until they are updated every
        time."""
        late = instances[runtime.control.state.instances["interval"][instances] > 1]
        if len(late):
            self._evaluate(runtime, len(self._evaluators) - 1, late, {})

    def _evaluate(
        self,
        runtime: Any,
        level: int,
        instances: Array,
        outputs: dict[str, Array],
        program: PoseProgram | None = None,
    ) -> None:
        control = runtime.control
        self._evaluators[level].run(
            control.program if program is None else program,
            memory=control.memory,
            vectors=control.vectors,
            instances=instances,
            threads=runtime.threads,
            **outputs,
        )

    def groups(self, runtime: Any, program: PoseProgram | None = None) -> tuple[LevelGroup, ...]:
        """The instances that are seen, by level, with the matrices of the joints their level has and no others; of this
        moment, or of the `program` of another."""
        found = []
        M, Mp = len(self.character.skeleton.morph_names), self._whole.layout.morphs
        values = runtime.control.store.levels
        members = self.members(values)
        characters = [self.character.levels[max(level, 0)] for level, _ in members]
        # All matrices in one piece, of a size that seldom changes when somebody's level does: its memory is used again.
        sizes = [
            12 * len(c.palette) * len(who) * (level != HIDDEN) for c, (level, who) in zip(characters, members)
        ]
        room = RESULTS.take((1 << max(sum(sizes) - 1, 1).bit_length(),))
        weights = RESULTS.take((len(values), Mp)) if M else np.zeros((len(values), 0), np.float32)
        at = first = 0
        for (level, instances), character, size in zip(members, characters, sizes):
            n = len(instances)
            palette = (
                room[at : at + size].reshape(n, len(character.palette), 3, 4) if level != HIDDEN else room[:0]
            )
            morphs = weights[first : first + n]
            at, first = at + size, first + n
            if level == HIDDEN:
                self._keep(runtime, instances)
                continue
            outputs = {"palette": palette, "morphs": morphs} if M else {"palette": palette}
            self._evaluate(runtime, level, instances, outputs, program)
            parts = map(readonly, (instances, palette, morphs[:, :M]))
            found.append(LevelGroup(level, character, *parts))
        return tuple(found)


def _rows(out: Array) -> tuple[int, ...]:
    return out.shape[1:]


def _below(character: Character, joints: int) -> tuple[Array, Array]:
    """For each joint from `joints` on the one above it that is left (-1: none), and where it is at rest from there
    `(k, 3, 4)`."""
    skeleton = character.skeleton
    rest = skeleton.rest
    local = transform.compose(rest.translation, rest.rotation, rest.scale).astype(np.float64)
    above = np.zeros(len(skeleton), np.int64)
    whole = local.copy()
    for j in range(joints, len(skeleton)):
        p = int(skeleton.parents[j])
        above[j] = p if p < joints else above[p]
        if p >= joints:
            whole[j] = affine.multiply(whole[p], local[j])
    return above[joints:], whole[joints:].astype(np.float32)
