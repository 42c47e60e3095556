"""The tree: where its nodes are, and the step that least squares asks for.

What a step changes is told by *twists* about one point: a turn and a move `(w, v)`, by which a point `x` moves `v + w
x x`. A joint at `p` that turns by `d` adds the twist `(d, p x d)` to all below it, one that moves by `m` adds `(0,
m)`. The residuals below a node are a quadratic form of its twist (`moments`), which has 27 numbers whatever their
number is. Nodes are eliminated from the leaves: a joint's own unknowns are solved for, what is left of the form is
added to its parent's. That is exact, has no fill-in, and takes a time that grows with the number of joints (as
Featherstone's articulated bodies do it for forces).
"""

from __future__ import annotations

from typing import Any

from marrow.kernels.ik.lane_math import (
    conjugate,
    cross_columns,
    difference,
    least,
    load,
    most,
    rotate,
    store,
)
from marrow.kernels.ik.work import FACTORS, FORM, MOMENTS
from marrow.kernels.language.lanes import block

__all__ = [
    "Moments",
    "carry",
    "clear",
    "damp",
    "eliminate_move",
    "eliminate_turn",
    "forward",
    "move_node",
    "pass_up",
    "start_energy",
    "turn_node",
]

MOST_MOVE = 2.0
"""How far a node moves in one step at most, in sizes of the body."""
SYMMETRIC = ((0, 1, 2), (1, 3, 4), (2, 4, 5))
"""Where the entries of a symmetric matrix are among its six numbers."""


@block
def forward(e: Any, i: Any, parent: Any, work: Any) -> None:
    """The frame and the place of a node from those of its parent."""
    above = load(e, work.frame, e.times(parent, 64), 0, 4)
    own = load(e, work.turn, e.times(i, 64), 0, 4)
    store(e, work.frame, e.times(i, 64), 0, e.multiply_quaternions(above, own))
    way = rotate(e, above, load(e, work.offset, e.times(i, 48), 0, 3))
    place = load(e, work.place, e.times(parent, 48), 0, 3)
    store(e, work.place, e.times(i, 48), 0, [a + b for a, b in zip(place, way)])


@block
def start_energy(e: Any, i: Any, work: Any) -> None:
    e.store(work.energy, e.at(e.times(i, 16)), e.splat(0.0))


@block
def damp(e: Any, i: Any, work: Any, damping: Any, adaptive: Any) -> None:
    """The damping of this step: more while residuals are large (Sugihara 2011)."""
    at = e.times(i, 32)
    energy = least(e, e.load(work.energy, at), e.splat(1.0))
    e.store(work.energy, e.at(at, 16), e.fma(e.splat(adaptive), energy, e.splat(damping)))


@block
def clear(e: Any, i: Any, work: Any) -> None:
    """Nothing is known of a subtree yet."""
    store(e, work.moments, e.times(i, 16 * MOMENTS), 0, [e.splat(0.0)] * MOMENTS)


class Moments:
    """The quadratic form of a node's twist: `turns` (turn by turn) and `moves` symmetric, `mixed` (turn by move)
    whole, by rows; `pull` and `push` its gradient."""

    def __init__(self, e: Any, work: Any, i: Any) -> None:
        self.e, self.work, self.at = e, work, e.times(i, 16 * MOMENTS)
        m = load(e, work.moments, self.at, 0, FORM)
        self.turns = [[m[k] for k in row] for row in SYMMETRIC]
        self.mixed = [m[6 + 3 * r : 9 + 3 * r] for r in range(3)]
        self.moves = [[m[15 + k] for k in row] for row in SYMMETRIC]
        self.pull, self.push = m[21:24], m[24:27]

    def store_less(self, columns: list[list[Any]], scaled: list[list[Any]], solved: list[Any]) -> None:
        """The form without what some unknowns explain: minus `columns scaled'`, six numbers each, and the gradient minus
        `columns solved`."""
        e = self.e

        def reduced(value: Any, r: int, c: int) -> Any:
            for column, other in zip(columns, scaled):
                value = e.fnma(column[r], other[c], value)
            return value

        out = [reduced(self.turns[r][c], r, c) for r in range(3) for c in range(r, 3)]
        out += [reduced(self.mixed[r][c], r, 3 + c) for r in range(3) for c in range(3)]
        out += [reduced(self.moves[r][c], 3 + r, 3 + c) for r in range(3) for c in range(r, 3)]
        for r, value in enumerate((*self.pull, *self.push)):
            for column, s in zip(columns, solved):
                value = e.fnma(column[r], s, value)
            out.append(value)
        store(e, self.work.moments, self.at, 0, out)


def _factor(e: Any, s: list[list[Any]], smallest: Any) -> tuple[list[Any], list[Any]]:
    """`L D L'` of a symmetric matrix of three rows: `1 / D`, and `L` below its diagonal. No pivot gets below
    `smallest`, however the numbers were rounded."""
    d0 = 1.0 / most(e, s[0][0], smallest)
    l10, l20 = s[0][1] * d0, s[0][2] * d0
    d1 = 1.0 / most(e, e.fnma(l10, s[0][1], s[1][1]), smallest)
    rest = e.fnma(l10, s[0][2], s[1][2])
    l21 = rest * d1
    d2 = 1.0 / most(e, e.fnma(l21, rest, e.fnma(l20, s[0][2], s[2][2])), smallest)
    return [d0, d1, d2], [l10, l20, l21]


def _eliminate(e: Any, form: Moments, u: list[list[Any]], s: list[list[Any]], right: list[Any], smallest: Any) -> list[Any]:  # fmt: skip
    """Solves for three unknowns with the columns `u` (each of six numbers), the matrix `s` and the right side
    `right`. What `update` needs to find them: 18 numbers of the columns, 3 of the right side, 3 of `L`."""
    inverse, (l10, l20, l21) = _factor(e, s, smallest)
    w0 = u[0]
    w1 = [e.fnma(l10, a, b) for a, b in zip(w0, u[1])]
    w2 = [e.fnma(l21, b, e.fnma(l20, a, c)) for a, b, c in zip(w0, w1, u[2])]
    z0 = right[0]
    z1 = e.fnma(l10, z0, right[1])
    z2 = e.fnma(l21, z1, e.fnma(l20, z0, right[2]))
    columns, solved = [w0, w1, w2], [z * d for z, d in zip((z0, z1, z2), inverse)]
    scaled = [[x * d for x in w] for w, d in zip(columns, inverse)]
    form.store_less(columns, scaled, solved)
    return [x for w in scaled for x in w] + solved + [l10, l20, l21]


@block
def eliminate_turn(e: Any, i: Any, work: Any, share: Any) -> None:
    """Takes the turn of a node out of its form."""
    form = Moments(e, work, i)
    p = load(e, work.place, e.times(i, 48), 0, 3)
    own = load(e, work.own, e.times(i, 144), 0, 9)
    # U = G X with X = (1, [p]x): rows of M [p]x are rows of M crossed with p.
    high = [[a + b for a, b in zip(form.turns[r], e.cross(form.mixed[r], p))] for r in range(3)]
    across = [[form.mixed[c][r] for c in range(3)] for r in range(3)]
    low = [[a + b for a, b in zip(across[r], e.cross(form.moves[r], p))] for r in range(3)]
    arm = cross_columns(e, p, low)
    # What pulls along the bones stiffens them, and all of them together, as a weight does a chain: without it, steps towards places
    # out of reach shake. The sum of a row of that stiffness is a bound for it, of which half is enough.
    force = load(e, work.moments, form.at, FORM, 5)
    pull = most(e, force[3] - e.dot(force[:3], p), e.splat(0.0))
    taut = e.fma(pull, e.broadcast(work.above, i), force[4]) * e.splat(share)
    e.store(work.moments, e.at(form.at, 16 * (FORM + 4)), force[4] + pull)
    s = [[high[r][c] - arm[r][c] + own[SYMMETRIC[r][c]] for c in range(3)] for r in range(3)]
    for r in range(3):
        s[r][r] = s[r][r] + taut
    turned = e.cross(p, form.push)
    right = [form.pull[k] - turned[k] + own[6 + k] for k in range(3)]
    u = [[*(high[r][c] for r in range(3)), *(low[r][c] for r in range(3))] for c in range(3)]
    found = _eliminate(
        e, form, u, s, right, e.load(work.energy, e.at(e.times(i, 0), 16)) * e.broadcast(work.stiffness, i)
    )
    store(e, work.factors, e.times(i, 16 * FACTORS), 0, found)


@block
def eliminate_move(e: Any, i: Any, parent: Any, K: Any, work: Any, stiff: Any) -> None:
    """Takes the move of a node out of its form; its place is pulled home by `stiff`."""
    form = Moments(e, work, i)
    here, home = (load(e, a, e.times(i, 48), 0, 3) for a in (work.offset, work.home_offset))
    way = rotate(e, load(e, work.frame, e.times(parent, 64), 0, 4), difference(home, here))
    smallest, weight = e.load(work.energy, e.at(e.times(i, 0), 16)), e.splat(stiff)
    diagonal = smallest + weight
    u = [[*(form.mixed[r][c] for r in range(3)), *form.moves[c]] for c in range(3)]
    s = [[form.moves[r][c] + diagonal if r == c else form.moves[r][c] for c in range(3)] for r in range(3)]
    right = [e.fma(weight, a, b) for a, b in zip(way, form.push)]
    store(e, work.factors, e.times(K, 16 * FACTORS), 0, _eliminate(e, form, u, s, right, smallest))


@block
def pass_up(e: Any, i: Any, parent: Any, work: Any) -> None:
    """Adds what is left of a node's form to its parent's."""
    at, to = e.times(i, 16 * MOMENTS), e.times(parent, 16 * MOMENTS)
    mine, its = load(e, work.moments, at, 0, MOMENTS), load(e, work.moments, to, 0, MOMENTS)
    store(e, work.moments, to, 0, [a + b for a, b in zip(its, mine)])


@block
def carry(e: Any, i: Any, parent: Any, work: Any) -> None:
    """A node is carried as its parent is."""
    store(e, work.twist, e.times(i, 96), 0, load(e, work.twist, e.times(parent, 96), 0, 6))


def _solved(e: Any, work: Any, row: Any, twist: list[Any]) -> list[Any]:
    """Three unknowns from the factors that the elimination kept, and the twist of what carries them."""
    f = load(e, work.factors, e.times(row, 16 * FACTORS), 0, FACTORS)
    t = []
    for k in range(3):
        value = f[18 + k]
        for r in range(6):
            value = e.fnma(f[6 * k + r], twist[r], value)
        t.append(value)
    l10, l20, l21 = f[21:24]
    second = e.fnma(l21, t[2], t[1])
    return [e.fnma(l20, t[2], e.fnma(l10, second, t[0])), second, t[2]]


def _limited(e: Any, v: list[Any], largest: Any) -> list[Any]:
    """A vector no longer than a step may be; what is no number becomes none."""
    square = e.dot(v, v)
    scale = least(e, e.splat(1.0), largest / e.sqrt(square))
    good = square.compare("<", 1e20)
    return [e.select(good, x * scale, e.splat(0.0)) for x in v]


@block
def move_node(e: Any, i: Any, parent: Any, K: Any, work: Any) -> None:
    """Moves a node and all below it."""
    at, to = e.times(i, 96), e.times(i, 48)
    twist = load(e, work.twist, at, 0, 6)
    move = _limited(e, _solved(e, work, K, twist), e.splat(MOST_MOVE))
    store(e, work.twist, at, 3, [a + b for a, b in zip(twist[3:], move)])
    inside = rotate(e, conjugate(load(e, work.frame, e.times(parent, 64), 0, 4)), move)
    store(e, work.offset, to, 0, [a + b for a, b in zip(load(e, work.offset, to, 0, 3), inside)])


@block
def turn_node(e: Any, i: Any, parent: Any, work: Any, most_turn: Any) -> None:
    """Turns a node and all below it, by `most_turn` at most."""
    at = e.times(i, 96)
    twist = load(e, work.twist, at, 0, 6)
    turn = _limited(e, _solved(e, work, i, twist), e.splat(most_turn))
    arm = e.cross(load(e, work.place, e.times(i, 48), 0, 3), turn)
    store(e, work.twist, at, 0, [a + b for a, b in zip(twist, (*turn, *arm))])
    inside = rotate(e, conjugate(load(e, work.frame, e.times(parent, 64), 0, 4)), turn)
    old = load(e, work.turn, e.times(i, 64), 0, 4)
    new = e.multiply_quaternions([*(x * 0.5 for x in inside), e.splat(1.0)], old)
    store(e, work.turn, e.times(i, 64), 0, e.unit(new))
