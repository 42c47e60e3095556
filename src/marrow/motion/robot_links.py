"""Chains of hinges through the tree of a robot's links."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marrow.model import Skeleton
from marrow.motion.hinge_chain import HingeChain, walk

__all__ = ["LinkChain", "LinkTree", "Links", "single"]

Array = NDArray[Any]
Links = dict[int, tuple[Array, Array]]
"""Where links are: rotations `(3, 3, T)` and places `(3, T)`, by joint."""


class LinkChain(NamedTuple):
    """The hinges on the way from a link to another: for the solver, the joints they are on, and where each of their frames
    is in model space at rest."""

    chain: HingeChain
    joints: list[int]
    turns: list[Array]
    moves: list[Array]


class LinkTree:
    """The links of a robot at rest in model space, and its hinges by joint."""

    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton = skeleton
        self.model = skeleton.rest_model.astype(np.float64)
        self.hinge = {h.joint: h for h in skeleton.hinges if not h.slides}
        self.number = {h.joint: k for k, h in enumerate(skeleton.hinges)}
        self._chains: dict[tuple[int, int], LinkChain] = {}

    def path(self, base: int, end: int) -> tuple[list[int], list[int]]:
        """Joints from a link up to where it meets the way to another, and from there down to that."""
        mine = [base, *self.skeleton.ancestors(base)]
        theirs = [end, *self.skeleton.ancestors(end)]
        meet = next(j for j in mine if j in theirs)
        return mine[: mine.index(meet)], theirs[: theirs.index(meet)][::-1]

    def chain(self, base: int, end: int) -> LinkChain:
        """The hinges from a link to another. One that is passed upwards turns the other way."""
        if (base, end) not in self._chains:
            self._chains[base, end] = self._made(base, end)
        return self._chains[base, end]

    def _made(self, base: int, end: int) -> LinkChain:
        up, down = self.path(base, end)
        passed = [(j, -1.0) for j in up if j in self.hinge] + [(j, 1.0) for j in down if j in self.hinge]
        turns, moves, fixed_turn, fixed_move = [], [], [], []
        before_turn, before_move = self.model[base, :, :3], self.model[base, :, 3]
        for joint, sign in passed:
            # A hinge passed upwards turns what is above it the other way: about the opposite axis.
            turn = _frame_of(sign * (self.model[joint, :, :3] @ np.array(self.hinge[joint].axis)))
            move = self.model[joint, :, 3]
            fixed_turn.append(before_turn.T @ turn)
            fixed_move.append(before_turn.T @ (move - before_move))
            turns.append(turn)
            moves.append(move)
            before_turn, before_move = turn, move
        H = len(passed)
        joints = [j for j, _ in passed]
        lower, upper = ([getattr(self.hinge[j], side) for j in joints] for side in ("lower", "upper"))
        chain = HingeChain(
            single(np.array(fixed_turn).reshape(H, 3, 3)),
            single(np.array(fixed_move).reshape(H, 3)),
            single(np.array(lower)),
            single(np.array(upper)),
        )
        return LinkChain(chain, joints, turns, moves)

    def carried(self, angles: Array, links: Links, base: int, link: int) -> tuple[Array, Array]:
        """Where a link is, by the angles `(H, T)` on the way to it from one whose place is known."""
        chain, joints, turns, moves = self.chain(base, link)
        turn, move = links[base]
        last_turn, last_move = self.model[base, :, :3], self.model[base, :, 3]
        if joints:
            walked = walk(chain, angles[[self.number[j] for j in joints]], turn, move)
            turn, move = walked[0][-1], walked[1][-1]
            last_turn, last_move = turns[-1], moves[-1]
        offset = single(last_turn.T @ (self.model[link, :, 3] - last_move))
        return np.matmul(single(last_turn.T @ self.model[link, :, :3]).T, turn), move + np.matmul(
            offset, turn
        )


def single(values: Array) -> Array:
    return np.ascontiguousarray(values, np.float32)


def _frame_of(axis: Array) -> Array:
    """A rotation whose z is an axis."""
    axis = axis / np.linalg.norm(axis)
    x = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = x - axis * float(x @ axis)
    x = x / np.linalg.norm(x)
    return np.stack([x, np.cross(axis, x), axis], axis=-1)
