"""`constrained_poses`: the constraints of a character on any poses, without an animator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.bank import ClipBank
from marrow.animation.resampling import pack_rows, unpack_rows
from marrow.graph.constraint_plan import ConstraintPlan
from marrow.graph.pose_program import PoseEvaluator, PoseProgram, Procedurals
from marrow.kernels.memory import readonly
from marrow.kernels.operations import OPERATION
from marrow.kernels.operations import codes as op
from marrow.kernels.operations.constraints.layout import CONSTRAINED
from marrow.model._derived import derived
from marrow.model.character import Character
from marrow.model.constraints import FollowDamped
from marrow.model.pose import Pose

__all__ = ["constrained_poses"]

Array = NDArray[Any]


def constrained_poses(character: Character, pose: Pose) -> Pose:
    """Poses of a character `(...)` with its constraints solved: as an `Animator` shows them. `FollowDamped`, which goes by
    what was before, is left out; a weight that is no number counts as 1."""
    if not character.constraints:
        return pose
    solver: _Solver = derived(character, "constrained poses", lambda: _Solver(character))
    return solver.run(pose)


class _Solver:
    """The evaluator, the vectors and the constants of the constraints of a character."""

    def __init__(self, character: Character) -> None:
        skeleton = character.skeleton
        given = [c for c in character.constraints if not isinstance(c, FollowDamped)]
        plan = ConstraintPlan(given, skeleton, "Character.constraints")
        ints: list[int] = []
        floats: list[float] = []
        CONSTRAINED.put(ints, floats, **plan.fields(), vectors=0, memory=-1, header=0)
        numbers = [1.0 if isinstance(weight, str) else weight for weight, _ in plan.weights]
        numbers += [v for target, _ in plan.targets for v in target]
        bare = Character(skeleton)
        constants = Procedurals(readonly(np.array(ints, np.int32)), readonly(np.array(floats, np.float32)))
        self.evaluator = PoseEvaluator(ClipBank.of(bare), bare.palette, None, constants)
        self.vectors = np.array([numbers], np.float32)
        self.shape = (len(skeleton), len(skeleton.morph_names))

    def run(self, pose: Pose) -> Pose:
        batch = pose.translation.shape[:-2]
        flat = pose.reshape(int(np.prod(batch)))
        rows = pack_rows(flat)
        N = len(rows)
        if not N:
            return pose
        ops = np.tile(np.array([(op.LOAD, 0, 0.0, 0.0), (op.CONSTRAIN, 0, 0.0, 1.0)], OPERATION), N)
        program, out = PoseProgram(np.arange(0, 2 * N + 1, 2), ops, 2), np.empty_like(rows)
        self.evaluator.run(
            program, memory=rows, vectors=np.repeat(self.vectors, N, axis=0), pose=out, threads=1
        )
        return unpack_rows(out, *self.shape).reshape(*batch)
