"""Gradients of linear blend skinning, over the same blocks of 16 vertices as `marrow.kernels.skinning`.

With `y = sum_k w_k (A_k p + t_k)` and a gradient `g` for every `y`: points get `(sum_k w_k A_k)^T g`, a matrix the sum of
`w_k g (p, 1)^T` over its vertices, a weight the sum of `g . (A_k p + t_k)` over the poses.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from marrow.kernels.language.annotations import ANY, Out, f4, i4
from marrow.kernels.language.kernel import Kernel
from marrow.kernels.language.lanes import block
from marrow.kernels.skinning import InfluenceBlend

__all__ = ["GradientWork", "skin_gradient_matrices", "skin_gradient_points", "skin_gradient_weights"]


class GradientWork(NamedTuple):
    """What the kernels read and write, all flat. Points, their gradients and `g` lie in blocks: 16 x, 16 y, 16 z.

    `point_stride` and `out_stride` are how far the points of the next pose are: zero where poses share them. Gradients of
    matrices are kept per lane, `(F, P, 12, 16)`; of weights as the weights are, summed over the poses.
    """

    joint_start: i4[ANY]
    joints: i4[ANY]
    weights: f4[ANY]
    points: f4[ANY]
    matrices: f4[ANY]
    g: f4[ANY]
    out: Out[f4[ANY]]
    P: int
    blocks: int
    point_stride: int
    out_stride: int


class _Block:
    """One block in pose `f`: its joints, points and incoming gradients."""

    def __init__(self, e: Any, b: Any, work: Any, f: Any) -> None:
        self.e, self.work, self.f, self.at = e, work, f, e.times(b, 48)
        self.first = e.index(work.joint_start, b)
        self.count = e.minus(e.index(work.joint_start, e.at(b, 1)), self.first)
        self.pose = e.times(e.product(f, work.P), 12)

    def rows(self, array: Any, stride: Any) -> list[Any]:
        """x, y, z of the lanes, in an array whose poses are `stride` apart."""
        at = self.e.plus(self.e.product(self.f, stride), self.at)
        return [self.e.load(array, self.e.at(at, 16 * c)) for c in range(3)]

    @property
    def g(self) -> list[Any]:
        return self.rows(self.work.g, self.e.times(self.work.blocks, 48))

    @property
    def points(self) -> list[Any]:
        return self.rows(self.work.points, self.work.point_stride)

    def entry(self, k: Any) -> tuple[Any, Any]:
        """Where the weights of a block's joint are, and where its matrix is."""
        at = self.e.plus(self.first, k)
        matrix = self.e.plus(self.pose, self.e.times(self.e.index(self.work.joints, at), 12))
        return self.e.times(at, 16), matrix


@block
def _points(e: Any, b: Any, work: Any, f: Any) -> None:
    own = _Block(e, b, work, f)
    blend = InfluenceBlend(e, work.joints, work.weights, own.first, own.count, 0)
    m = blend.sum(work.matrices, own.pose, 12, (0, 1, 2, 4, 5, 6, 8, 9, 10))
    g, at = own.g, e.plus(e.product(f, work.out_stride), own.at)
    for c in range(3):
        place = e.at(at, 16 * c)
        e.store(work.out, place, e.dot([m[c], m[3 + c], m[6 + c]], g, e.load(work.out, place)))


@block
def _matrices(e: Any, b: Any, work: Any, f: Any) -> None:
    own = _Block(e, b, work, f)
    g, p = own.g, own.points

    def add(k: Any, none: list[Any]) -> list[Any]:
        weights, matrix = own.entry(k)
        w, at = e.load(work.weights, weights), e.times(matrix, 16)
        for i in range(3):
            wg = w * g[i]
            for j in range(4):
                place = e.at(at, 16 * (4 * i + j))
                old = e.load(work.out, place)
                e.store(work.out, place, old + wg if j == 3 else e.fma(wg, p[j], old))
        return none

    e.accumulate([e.splat(0.0)], own.count, add)


@block
def _weights(e: Any, b: Any, work: Any, f: Any) -> None:
    own = _Block(e, b, work, f)
    g, p = own.g, own.points

    def add(k: Any, none: list[Any]) -> list[Any]:
        weights, at = own.entry(k)
        total = e.load(work.out, weights)
        for i in range(3):
            row = [e.broadcast(work.matrices, e.at(at, 4 * i + j)) for j in range(4)]
            total = e.fma(g[i], e.dot(row[:3], p, row[3]), total)
        e.store(work.out, weights, total)
        return none

    e.accumulate([e.splat(0.0)], own.count, add)


def _make(name: str, one: Any) -> Kernel:
    # Block by block: neighbours add to the same places.
    def run(work: GradientWork, f0: int, f1: int, b0: int, b1: int) -> None:
        for f in range(f0, f1):
            for b in range(b0, b1):
                one(b, work, f)

    return Kernel(name, run)


skin_gradient_points = _make("skin_gradient_points", _points)
skin_gradient_matrices = _make("skin_gradient_matrices", _matrices)
skin_gradient_weights = _make("skin_gradient_weights", _weights)
