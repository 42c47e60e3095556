"""`IkStep`: the solver inside a graph, for all instances that see its node at once.

Programs are run up to the node and leave their poses in the memory of the instances; the step solves for them 16 at a time;
then programs go on. What it did to a pose is kept, and the next update begins there (`kernels.ik.rows`)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.ik.plan import TURN_WEIGHT
from marrow.kernels.ik.rows import AT, TICK, IkRows, put_solved, state_size, take_poses
from marrow.kernels.jobs import Job, worth
from marrow.kernels.language.kernel import Kernel
from marrow.math import quaternion

if TYPE_CHECKING:
    from marrow.graph.control import GraphControl
    from marrow.ik.solver import Solver

__all__ = ["IkStep", "IkTargets", "solve_step", "state_of"]

Array = NDArray[Any]
SECONDS = 6e-6
"""About what an instance takes."""
BLOCK = 1024
"""Instances that are solved for together: what they need stays in the cache."""
REACHED = np.array([1e-3, 1e-2, 1e-2], np.float32)
"""Metres and radians from a target, its rotation and its aim, from which on it counts as missed."""
CLOSER = 0.99
"""What is missing must become less than this part of what it was, or what was found is not taken."""
LEFT = 1 - TICK / 2.0
"""What is left of what was done to a pose after `TICK`: it is forgotten in two seconds. An update begins where the last one
ended, that much closer to the pose: so a body returns to the pose as far as its targets let it."""
POSTURE = 1e-6
"""The part of the posture's weight that counts in an update that begins where the last one ended."""
SPEED = 3.0
"""Radians a second that joints turn at most where a target is missed."""
JUMP = 0.2
"""The share of the body's size that a target may move in one update before it is sought from the pose again."""
MOST_PARTS = 12
"""Ticks that an update makes up for at most."""


@dataclass(frozen=True, eq=False)
class IkTargets:
    """Where E effectors are and find their targets, and which joints turn: see `kernels.ik.rows.IkRows`."""

    refs: Array
    parts: Array
    spaces: Array
    offsets: Array
    joints: Array
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
    ticks = state.instances["since"][instances] / TICK
    parts = np.clip(np.ceil(ticks - 0.1), 1, MOST_PARTS).astype(np.int64)
    for count in np.unique(parts[parts > 1]) if step.steps else ():
        slow = parts == count
        _solve_in_parts(control, step, instances[slow], weights[slow], at, int(count))
    if step.steps and not (parts == 1).all():
        instances, weights = instances[parts == 1], weights[parts == 1]
    if isinstance(memory, np.ndarray):
        _solve(control, step, instances, weights, memory, instances, at, step.kept)
        return
    # Memory that lies elsewhere: what is needed of it is fetched and put back.
    count = 1 + 2 * state_of(step)
    poses, kept = slice(at, at + size), slice(step.kept, step.kept + count)
    rows = np.concatenate([memory[instances, poses], memory[instances, kept]], axis=1)
    _solve(control, step, instances, weights, rows, np.arange(len(rows)), 0, size)
    memory[instances, poses], memory[instances, kept] = rows[:, :size], rows[:, size:]


def _solve_in_parts(
    control: GraphControl, step: IkStep, instances: Array, weights: Array, at: int, parts: int
) -> None:
    """An update of several ticks, tick by tick, with targets on their way: so it ends where as many short updates do."""
    memory, size, state = control.memory, control.pose_size, state_of(step)
    poses, kept = slice(at, at + size), slice(step.kept, step.kept + 1 + 2 * state)
    given = memory[instances, poses]
    rows = np.concatenate([given, memory[instances, kept]], axis=1)
    old, new = slice(size + 1, size + 1 + state), slice(size + 1 + state, size + 1 + 2 * state)
    for k in range(parts):
        _solve(
            control, step, instances, weights, rows, np.arange(len(rows)), 0, size, parts=parts, left=parts - k
        )  # fmt: skip
        if k == 0:
            first = rows[:, old].copy()
        if k < parts - 1:
            rows[:, old], rows[:, :size] = rows[:, new], given
    rows[:, old] = first
    memory[instances, poses], memory[instances, kept] = rows[:, :size], rows[:, size:]


def state_of(step: IkStep) -> int:
    """How many numbers an instance keeps from one update to the next."""
    return state_size(len(step.targets.turning), len(step.targets.joints))


def _solve(
    control: GraphControl, step: IkStep, instances: Array, weights: Array, memory: Array, rows: Array, at: int, kept: int,
    *, parts: int = 1, left: int = 1,
) -> None:  # fmt: skip
    """Solves for instances block by block: of an update in `parts`, the first of the last `left` ones."""
    solver, state = step.solver, control.state
    assert solver is not None
    J, E, N = len(solver.skeleton), len(solver.effectors), min(len(instances), BLOCK)
    if not N:
        return
    room = _room(N, J, E)
    stamps, since = state.instances["stamp"][instances], state.instances["since"][instances] / parts
    fixed: dict[str, Any] = {
        "memory": memory, "values": state.values, "constants": control.compiled.tables.constants, "place": state.place,
        "parents": solver.skeleton.parents, **vars(step.targets), "Jp": control.compiled.bank.layout.joints, "at": at,
        "kept": kept, "state": state_of(step), "mover": solver.mover, "keeps": int(step.steps > 0),
        "left": LEFT, "jump": JUMP * solver.tree.size * left,
    }  # fmt: skip
    for begin in range(0, len(instances), BLOCK):
        part = slice(begin, min(begin + BLOCK, len(instances)))
        n = part.stop - part.start
        own: dict[str, Any] = {
            "instances": instances[part],
            "since": since[part],
            "rows": rows[part],
            "stamps": stamps[part],
            "weights": weights[part],
        }
        here: dict[str, Any] = {name: array[:n] for name, array in room.items()}
        work = IkRows(**fixed, **own, **here)
        workers = worth(n * SECONDS, control.threads)
        _spread(take_poses, work, n, workers)
        if left > 1:
            _on_their_way(step, work, left)
        warm = int(here["warm"].sum())
        floors = _floors(control, step, instances[part])
        residuals = _run(solver, here, floors, step, warm, n, workers)
        if step.steps:
            # Also those whose target jumped and who began at the pose: or they would flip from one far place to another.
            lost = np.flatnonzero((memory[rows[part], kept + 1] > 0) & _missed(residuals, step.targets))
            if len(lost):
                some = {name: array[lost] for name, array in own.items()} | {"since": np.zeros(len(lost))}
                clocks = memory[some["rows"], kept + 2 * work.state]
                again = IkRows(**{**fixed, "jump": math.inf}, **some, **_room(len(lost), J, E))
                _come_to_rest(solver, again, floors[lost], here, lost, residuals[lost], since[part][lost])
                memory[some["rows"], kept + 2 * work.state] = clocks
        _spread(put_solved, work, n, workers)


def _on_their_way(step: IkStep, work: IkRows, left: int) -> None:
    """Brings the goals of those who go on from where they were to the next of `left` even steps from where those were."""
    goes = np.flatnonzero(work.warm)
    rows, first = work.rows[goes], work.kept + 1 + 4 + 4 * len(work.turning)
    for k in np.flatnonzero(work.parts & AT):
        was, to = (slice(at, at + 3) for at in (first + 3 * k, first + 3 * k + work.state))
        place = work.memory[rows, was] + (work.memory[rows, to] - work.memory[rows, was]) / np.float32(left)
        work.memory[rows, to] = work.goals[goes, k, :3] = place


def _floors(control: GraphControl, step: IkStep, instances: Array) -> Array:
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


def _spread(kernel: Kernel, work: IkRows, n: int, workers: int) -> None:
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
    return np.any((residuals > REACHED) & (targets.strengths[:, :3] > 0), axis=(1, 2))  # type: ignore[no-any-return]


def _come_to_rest(
    solver: Solver,
    work: IkRows,
    floors: Array,
    room: dict[str, Array],
    lost: Array,
    residuals: Array,
    dt: Array,
) -> None:
    """Those who cannot reach stay where they were where the steps brought them no closer, and turn no faster than they may:
    so they come to rest."""
    take_poses(work, 0, len(lost))
    here = work._asdict()
    before = _found(solver, here, floors, 0, warm=True)
    was, now = (_missing(solver, here["goals"], r) for r in (before, residuals))
    joints = work.turning
    turn, begin = room["out_rotation"][lost[:, None], joints], here["out_rotation"][:, joints]
    begin = np.where(_dot(begin, turn)[..., None] < 0, -begin, begin)
    way = turn - begin
    # Half the angle between rotations is about the distance of their quaternions.
    largest = 2 * np.sqrt(_dot(way, way).max(axis=1))
    share = np.minimum(1.0, SPEED * dt / np.maximum(largest, 1e-6)).astype(np.float32)
    if not len(solver.floor):  # a floor may lead away from a target
        share = np.where(now > CLOSER * was, np.float32(0), share)
    room["out_rotation"][lost[:, None], joints] = begin + share[:, None, None] * way
    if solver.mover >= 0:
        start = here["out_translation"][:, solver.mover]
        move = room["out_translation"][lost, solver.mover] - start
        room["out_translation"][lost, solver.mover] = start + share[:, None] * move


def _dot(a: Array, b: Array) -> Array:
    """Products of quaternions, summed in the same order for any number of them."""
    x, y, z, w = (a[..., c] * b[..., c] for c in range(4))
    return (x + y) + (z + w)


def _missing(solver: Solver, goals: Array, residuals: Array) -> Array:
    """What the solver makes small `(n,)`."""
    total = np.zeros(len(goals))
    for c, unit in enumerate((solver.tree.size**-2, TURN_WEIGHT, TURN_WEIGHT)):
        for k in range(len(solver.effectors)):
            total += (
                unit * goals[:, k, 13 + c].astype(np.float64) * residuals[:, k, c].astype(np.float64) ** 2
            )
    return total
