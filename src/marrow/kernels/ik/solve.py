"""`ik_solve`: the solver as one kernel over groups of 16 poses."""

from __future__ import annotations

from marrow.kernels.ik.effectors import add_aim, add_floor, add_goal, add_pole, measure, soften
from marrow.kernels.ik.exchange import bring_in, bring_out
from marrow.kernels.ik.limits import add_limit, clamp, own_terms
from marrow.kernels.ik.tree import (
    carry,
    clear,
    damp,
    eliminate_move,
    eliminate_turn,
    forward,
    move_node,
    pass_up,
    start_energy,
    turn_node,
)
from marrow.kernels.ik.work import AIM, LIMITED, MOVES, POLE, SOFT, TURNS, IkWork
from marrow.kernels.language.kernel import apart, kernel

__all__ = ["ik_solve", "solve_lanes"]

RELEASE = 0.2
"""What is left of the hold on a joint that went back inside its limits, after each step."""
AT_LIMIT = 0.999
"""A joint beyond this part of its limit is at it."""


@apart
def place_nodes(work):
    """Frames and places of all nodes."""
    for i in range(1, len(work.joints)):
        forward(i, work.parents[i], work)


@apart
def add_residuals(work, care):
    """What effectors and floors ask for, at each node."""
    for i in range(len(work.joints)):
        clear(i, work)
    start_energy(0, work)
    for k in range(len(work.effector_flags)):
        node, mid, first = work.effector_nodes[k, 0], work.effector_nodes[k, 1], work.effector_nodes[k, 2]
        flags = work.effector_flags[k]
        if flags & SOFT == SOFT:
            soften(k, first, node, work)
        add_goal(k, node, work, work.turn_weight)
        if flags & AIM == AIM:
            add_aim(k, node, work, work.turn_weight)
        if flags & POLE == POLE:
            add_pole(k, first, mid, node, work, work.turn_weight)
    for k in range(len(work.floor_nodes)):
        add_floor(k, work.floor_nodes[k], work, work.floor_weight)
    damp(0, work, work.damping, care)


@apart
def eliminate(work, posture, taut):
    """From the leaves up: what each joint must do, given what carries it."""
    K = len(work.joints)
    for k in range(1, K):
        i = K - k
        flags, parent = work.flags[i], work.parents[i]
        if flags & TURNS == TURNS:
            own_terms(i, parent, work, posture)
            if flags & LIMITED == LIMITED:
                add_limit(i, parent, work, work.limit_weight)
            eliminate_turn(i, work, taut)
        if flags & MOVES == MOVES:
            eliminate_move(i, parent, K, work, posture * work.hips)
        pass_up(i, parent, work)


@apart
def step(work):
    """From the root down: moves and turns all joints."""
    K = len(work.joints)
    for i in range(1, K):
        flags, parent = work.flags[i], work.parents[i]
        carry(i, parent, work)
        if flags & MOVES == MOVES:
            move_node(i, parent, K, work)
        if flags & TURNS == TURNS:
            turn_node(i, parent, work, work.most_turn)


@apart
def clamp_all(work, trigger, edge, hold, keep):
    """Puts all joints that are beyond `trigger` of their limits to `edge` of them."""
    for i in range(1, len(work.joints)):
        if work.flags[i] & LIMITED == LIMITED:
            clamp(i, work, trigger, edge, hold, keep)


@apart
def solve_lanes(work, inner, first, last):
    """Solves for the poses in the lanes by the steps `first..last`. Joints that begin at their limits or outside are put inside by
    `inner`; 1 leaves them."""
    for s in range(first, last + 1):
        # At first, and after each step.
        trigger, edge, hold, keep = 1.0, 1.0, 1.0, RELEASE
        if s == first:
            trigger, edge, hold, keep = AT_LIMIT, inner, 1.0 if inner == 1.0 else 0.0, 0.0
        clamp_all(work, trigger, edge, hold, keep)
        place_nodes(work)
        if s < last:
            add_residuals(work, work.cares[s])
            eliminate(work, work.fades[s], work.tauts[s])
            step(work)
    for k in range(len(work.effector_flags)):
        measure(k, work.effector_nodes[k, 0], work)


@kernel
def ik_solve(work: IkWork, first: int, last: int) -> int:
    """Solves for the poses of the groups `first..last`, 16 each; the lanes that the last group has too many do the
    last pose again."""
    N = len(work.rotation)
    for g in range(first, last):
        for lane in range(16):
            bring_in(work, min(16 * g + lane, N - 1), lane)
        solve_lanes(work, work.inner, 0, len(work.fades))
        for lane in range(16):
            if 16 * g + lane < N:
                bring_out(work, 16 * g + lane, lane)
    return last - first
