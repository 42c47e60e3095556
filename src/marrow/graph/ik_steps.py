"""`IkStep`: the solver inside a graph, for all instances that see its node at once.

Programs are run up to the node and leave their poses in the memory of the instances; the step solves for them 16 at a time;
then programs go on. What it did to a pose is kept, and the next update begins there (`kernels.ik.rows`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.ik import plan
from marrow.kernels.ik.row_solver import REACHED, TURNED, IkRest, come_to_rest
from marrow.kernels.ik.rows import (
    GIVEN,
    TICK,
    IkGiven,
    IkHandedOver,
    IkRows,
    begin_again,
    hand_over_targets,
    look_up_targets,
    put_solved,
    state_size,
    take_poses,
)
from marrow.kernels.jobs import Job, worth
from marrow.kernels.language.kernel import Kernel
from marrow.math import quaternion

if TYPE_CHECKING:
    from marrow.graph.control import GraphControl
    from marrow.ik.solver import Solver

__all__ = [
    "MOST_TICKS", "IkStep", "IkTargets", "fixed_fields", "floors_of", "schedule", "solve_step", "state_of", "targets_of",
]  # fmt: skip

Array = NDArray[Any]
SECONDS = 6e-6
"""About what an instance takes."""
BLOCK = 1024
"""Instances that are solved for together: what they need stays in the cache."""
LEFT = 1 - TICK / 2.0
"""What is left of what was done to a pose after `TICK`: it is forgotten in two seconds. An update begins where the last one
ended, that much closer to the pose: so a body returns to the pose as far as its targets let it."""
POSTURE = 1e-6
"""The part of the posture's weight that counts in an update that begins where the last one ended."""
JUMP = 0.2
"""The share of the body's size that a target may move in one update before it is sought from the pose again."""
MOST_TICKS = 12
"""Ticks that an update makes up for at most."""


@dataclass(frozen=True, eq=False)
class IkTargets:
    """Where E effectors are and find their targets, and which joints turn: see `kernels.ik.rows.IkRows`."""

    refs: Array
    parts: Array
    spaces: Array
    offsets: Array
    effector_joints: Array
    points: Array
    centres: Array
    reaches: Array
    strengths: Array
    turning: Array
    used: Array


@dataclass(frozen=True, eq=False)
class IkStep:
    """A solver in a graph: its targets, the value that is its weight, the columns of memory where it keeps what it did, how
    many steps it makes from the pose and from where it ended. With no steps joints are put inside their limits."""

    solver: Solver | None
    """None where a graph is checked without a character."""
    targets: IkTargets
    weight: int
    kept: int
    steps: int
    warm_steps: int
    world: bool
    """Whether targets or floors are given in the world."""
    floors: Array
    """Of each point that stays above a plane, where that is found `(F, 5)`: columns of values, or -1 - k for constant k,
    of its normal and its height; and whether it is one of the world."""


def solve_step(control: GraphControl, step: IkStep, instances: Array, at: int) -> None:
    """Solves for the pose rows that instances have in memory from column `at` on."""
    solver, constants = step.solver, control.compiled.tables.constants
    assert solver is not None
    state = control.state
    if step.weight >= 0:
        weights = state.values[instances, step.weight]
        seen = weights > 0
        if not seen.all():
            instances, weights = instances[seen], weights[seen]
    else:
        weights = np.full(len(instances), constants[-1 - step.weight])
        if not constants[-1 - step.weight] > 0:
            return
    memory, size = control.memory, control.pose_size
    since = state.instances["since"][instances] / TICK
    ticks = np.clip(np.ceil(since - 0.1), 1, MOST_TICKS if step.steps else 1).astype(np.int64)
    # Memory that lies elsewhere may have a solver there.
    if hasattr(memory, "solve_ik") and memory.solve_ik(control, step, instances, weights, ticks, at):
        return
    for count in np.unique(ticks[ticks > 1]):
        slow = ticks == count
        _solve_in_ticks(control, step, instances[slow], weights[slow], at, int(count))
    if not (ticks == 1).all():
        instances, weights = instances[ticks == 1], weights[ticks == 1]
    if isinstance(memory, np.ndarray):
        _solve(control, step, instances, weights, memory, instances, at, step.kept)
        return
    # What is needed of memory that lies elsewhere is fetched and put back.
    count = 1 + 2 * state_of(step)
    poses, kept = slice(at, at + size), slice(step.kept, step.kept + count)
    rows = np.concatenate([memory[instances, poses], memory[instances, kept]], axis=1)
    _solve(control, step, instances, weights, rows, np.arange(len(rows), dtype=np.int64), 0, size)
    memory[instances, poses], memory[instances, kept] = rows[:, :size], rows[:, size:]


def _solve_in_ticks(
    control: GraphControl, step: IkStep, instances: Array, weights: Array, at: int, ticks: int
) -> None:
    """An update of several ticks, tick by tick, with targets on their way: so it ends where as many short updates do."""
    memory, size, state = control.memory, control.pose_size, state_of(step)
    poses, kept = slice(at, at + size), slice(step.kept, step.kept + 1 + 2 * state)
    rows = np.concatenate([memory[instances, poses], memory[instances, kept]], axis=1)
    old, new = slice(size + 1, size + 1 + state), slice(size + 1 + state, size + 1 + 2 * state)
    every = np.arange(len(rows), dtype=np.int64)
    for k in range(ticks):
        if k > 0:
            rows[:, old] = rows[:, new]
        _solve(control, step, instances, weights, rows, every, 0, size, ticks=ticks, left=ticks - k)
        if k == 0:
            first = rows[:, old].copy()
    rows[:, old] = first
    memory[instances, poses], memory[instances, kept] = rows[:, :size], rows[:, size:]


def state_of(step: IkStep) -> int:
    """How many numbers an instance keeps from one update to the next."""
    return state_size(len(step.targets.turning), len(step.targets.effector_joints))


def _solve(
    control: GraphControl, step: IkStep, instances: Array, weights: Array, memory: Array, rows: Array, at: int, kept: int,
    *, ticks: int = 1, left: int = 1,
) -> None:  # fmt: skip
    """Solves for instances block by block: of an update in `ticks`, the first of the last `left` ones."""
    solver, state = step.solver, control.state
    assert solver is not None
    J, E, N = len(solver.skeleton), len(solver.effectors), min(len(instances), BLOCK)
    if not N:
        return
    room = _room(N, J, E)
    stamps, since = state.instances["stamp"][instances], state.instances["since"][instances] / ticks
    fixed = {
        **fixed_fields(step), "memory": memory, "Jp": control.compiled.bank.layout.joints, "at": at, "kept": kept,
        "ticks_left": left,
    }  # fmt: skip
    for begin in range(0, len(instances), BLOCK):
        part = slice(begin, min(begin + BLOCK, len(instances)))
        n = part.stop - part.start
        workers = worth(n * SECONDS, control.threads)
        own: dict[str, Any] = {
            "targets": targets_of(control, step, instances[part], workers),
            "since": since[part],
            "rows": rows[part],
            "stamps": stamps[part],
            "weights": weights[part],
        }
        here: dict[str, Any] = {name: array[:n] for name, array in room.items()}
        work = IkRows(**fixed, **own, **here)
        _spread(take_poses, work, n, workers)
        warm = int(here["warm"].sum())
        floors = floors_of(control, step, instances[part])
        residuals = _run(solver, here, floors, step, warm, n, workers)
        if step.steps:
            # Also those whose target jumped and who began at the pose: or they would flip from one far place to another.
            lost = np.flatnonzero((memory[rows[part], kept + 1] > 0) & _missed(residuals, step.targets))
            if len(lost):
                some = {name: array[lost] for name, array in (own | here).items()}
                again = IkRows(**{**fixed, **some})
                _come_to_rest(solver, again, floors[lost], here, lost, residuals[lost], since[part][lost])
        _spread(put_solved, work, n, workers)


def fixed_fields(step: IkStep) -> dict[str, Any]:
    """The fields of `IkRows` that stay the same from update to update."""
    solver, targets = step.solver, vars(step.targets)
    assert solver is not None
    return {name: value for name, value in targets.items() if name != "refs"} | {
        "skeleton_parents": solver.skeleton.parents, "state": state_of(step), "mover": solver.mover,
        "keeps": int(step.steps > 0), "left": LEFT, "jump": JUMP * solver.tree.size,
    }  # fmt: skip


def schedule(step: IkStep) -> tuple[dict[str, Array], dict[str, Array], float]:
    """What the solver is told for each step from the pose, and from where it ended; and by which factor joints begin
    inside their limits at the pose."""
    assert step.solver is not None
    posture = step.solver.posture
    cold, inner = plan.schedule(posture, step.steps, warm=not step.steps, kept=POSTURE)
    return cold, plan.schedule(posture, step.warm_steps, warm=True, kept=POSTURE)[0], inner


def targets_of(
    control: GraphControl, step: IkStep, instances: Array, workers: int = 1, *, single: bool = False
) -> Array:
    """The targets of instances as they are at this moment `(n, E, GIVEN)`, those in the world seen from the instances; in
    float32 where `single`."""
    shape, state = (len(instances), len(step.targets.parts), GIVEN), control.state
    found = np.zeros(shape, np.float32 if single else np.float64)
    given = (IkHandedOver if single else IkGiven)(
        np.asarray(instances, np.int64), state.values, control.compiled.tables.constants, state.place, step.targets.refs,
        step.targets.parts, step.targets.spaces, found,
    )  # fmt: skip
    _spread(hand_over_targets if single else look_up_targets, given, len(instances), workers)
    return found


def floors_of(control: GraphControl, step: IkStep, instances: Array) -> Array:
    """The planes of instances in model space `(n, F, 4)`: normals at unit length and heights; those without a direction
    hold nothing."""
    out = np.zeros((len(instances), len(step.floors), 4), np.float32)
    values, constants = control.state.values, control.compiled.tables.constants
    for k, (*refs, world) in enumerate(step.floors.tolist()):
        x, y, z, height = (
            values[instances, r] if r >= 0 else np.full(len(instances), constants[-1 - r]) for r in refs
        )
        size = np.sqrt(x * x + y * y + z * z)
        known = np.isfinite(size) & (size > 1e-9) & np.isfinite(height)
        normal = np.stack([x, y, z], axis=-1) / np.where(known, size, 1.0)[:, None]
        if world:
            place = control.state.place[instances]
            height = height - (
                normal[:, 0] * place[:, 0] + normal[:, 1] * place[:, 1] + normal[:, 2] * place[:, 2]
            )
            normal = quaternion.rotate(quaternion.conjugate(place[:, 3:7]), normal)
        out[known, k, :3], out[known, k, 3] = normal[known], height[known]
    return out


def _spread(kernel: Kernel, work: Any, n: int, workers: int) -> None:
    """Runs a kernel over n instances."""
    if workers == 1:
        kernel(work, 0, n)
    else:
        Job(kernel.frame(work=work, first=0, last=0), "first", "last").run(0, n, step=32, workers=workers)


def _room(N: int, J: int, E: int) -> dict[str, Any]:
    """Poses, goals and what is found for N instances."""
    shapes = {
        "translation": (N, J, 3), "rotation": (N, J, 4), "scale": (N, J, 3), "goals": (N, E, 17),
        "out_translation": (N, J, 3), "out_rotation": (N, J, 4),
    }  # fmt: skip
    arrays: dict[str, Array] = {name: np.empty(shape, np.float32) for name, shape in shapes.items()}
    return arrays | {"warm": np.zeros(N, np.int64)}


def _run(
    solver: Solver, room: dict[str, Array], floors: Array, step: IkStep, warm: int, n: int, workers: int
) -> Array:
    """Solves for those that begin where they ended, and for those that begin at their poses; residuals `(n, E, 3)`."""
    if warm in (0, n) or not step.steps:
        steps = step.warm_steps if warm else step.steps
        return _found(solver, room, floors, steps, warm=warm > 0 or not step.steps, workers=workers)
    residuals = np.empty((n, len(solver.effectors), 3), np.float32)
    for kind in (0, 1):
        chosen = np.flatnonzero(room["warm"] == kind)
        some = {name: array[chosen] for name, array in room.items()}
        residuals[chosen] = _found(
            solver,
            some,
            floors[chosen],
            step.warm_steps if kind else step.steps,
            warm=kind > 0,
            workers=workers,
        )
        for name in ("out_translation", "out_rotation"):
            room[name][chosen] = some[name]
    return residuals


def _found(
    solver: Solver, room: dict[str, Array], floors: Array, steps: int, *, warm: bool, workers: int = 1
) -> Array:
    return solver.run(
        room["translation"], room["rotation"], room["scale"], room["goals"], floors, room["out_translation"],
        room["out_rotation"], steps=steps, warm=warm, kept=POSTURE, workers=workers,
    )  # fmt: skip


def _missed(residuals: Array, targets: IkTargets) -> Array:
    """Who is further from a target than it would be once it is reached `(n,)`."""
    most = np.array([REACHED, TURNED, TURNED], np.float32)
    return np.any((residuals > most) & (targets.strengths[:, :3] > 0), axis=(1, 2))  # type: ignore[no-any-return]


def _come_to_rest(
    solver: Solver,
    work: IkRows,
    floors: Array,
    room: dict[str, Array],
    lost: Array,
    residuals: Array,
    dt: Array,
) -> None:
    """See the kernel: those who miss their targets."""
    here, joints, mover = work._asdict(), work.turning, max(solver.mover, 0)
    rest = IkRest(
        np.ascontiguousarray(here["out_rotation"][:, joints]), here["out_translation"][:, mover].copy(), residuals,
        residuals, solver.tree.size, int(not len(solver.floor)), plan.TURN_WEIGHT,
    )  # fmt: skip
    begin_again(work, 0, len(lost))
    rest = rest._replace(residuals=_found(solver, here, floors, 0, warm=True))
    come_to_rest(work, rest, dt, 0, len(lost))
    room["out_rotation"][lost[:, None], joints] = here["out_rotation"][:, joints]
    if solver.mover >= 0:
        room["out_translation"][lost, mover] = here["out_translation"][:, mover]
