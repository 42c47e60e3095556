"""Blend spaces as functions with gradients: from the place of a parameter to the weights of the motions around it."""

from __future__ import annotations

import numpy as np

import torch
from marrow.errors import ValidationError, WrongTypeError
from marrow.graph import BlendSpace1D, BlendSpace2D
from marrow.graph.triangulation import triangulate
from marrow.torch.tensor_checks import shape_error
from torch import Tensor, nn

__all__ = ["BlendSpace"]


class BlendSpace(nn.Module):
    """The weights of the points of a `BlendSpace1D` or `BlendSpace2D`, as the graph mixes them: `(...)` or `(..., 2)` in,
    `(..., points)` out, in the order the node lists them. Axes that wrap are not supported."""

    places: Tensor

    def __init__(self, node: BlendSpace1D | BlendSpace2D) -> None:
        super().__init__()
        if not isinstance(node, (BlendSpace1D, BlendSpace2D)):
            raise WrongTypeError(f"BlendSpace: expected a blend space of a graph, got {type(node).__name__}")
        self.axes = 1 if isinstance(node, BlendSpace1D) else 2
        wraps = (node.wrap,) if isinstance(node, BlendSpace1D) else (node.wrap_x, node.wrap_y)
        if any(wrap is not None for wrap in wraps):
            raise ValidationError("BlendSpace: an axis that wraps is not supported")
        places = np.array([p.at for p in node.points], np.float64).reshape(len(node.points), self.axes)
        self.register_buffer("places", torch.tensor(places), persistent=False)
        if self.axes == 2:
            # The graph triangulates the points in the order of their places.
            order = sorted(range(len(places)), key=lambda k: tuple(places[k]))
            made = triangulate(places[order])
            self.cells = [tuple(order[k] for k in cell) for cell in made.cells]
            self.edges = [(order[a], order[b]) for a, b in made.edges.tolist()]

    def forward(self, value: Tensor) -> Tensor:
        """Weights that sum to one; beyond the outermost points those of the nearest place."""
        if (
            not isinstance(value, Tensor)
            or not torch.is_floating_point(value)
            or (self.axes == 2 and value.shape[-1:] != (2,))
        ):
            raise shape_error(
                "BlendSpace",
                "value",
                value,
                "a floating tensor (...)" if self.axes == 1 else "a floating tensor (..., 2)",
            )
        places = self.places.to(value.dtype)
        if len(places) == 1:
            return torch.ones_like(value[..., None] if self.axes == 1 else value[..., :1])
        return self._line(value, places[:, 0]) if self.axes == 1 else self._plane(value, places)

    def _line(self, value: Tensor, places: Tensor) -> Tensor:
        order = torch.argsort(places, stable=True)
        at = places[order]
        k = (torch.searchsorted(at, value.detach().contiguous(), right=True) - 1).clamp(0, len(at) - 2)
        share = ((value - at[k]) / (at[k + 1] - at[k])).clamp(0, 1)[..., None]
        first = torch.nn.functional.one_hot(order[k], len(at)).to(value.dtype)
        second = torch.nn.functional.one_hot(order[k + 1], len(at)).to(value.dtype)
        return first * (1 - share) + second * share

    def _plane(self, value: Tensor, places: Tensor) -> Tensor:
        out = torch.zeros(*value.shape[:-1], len(places), dtype=value.dtype, device=value.device)
        done = torch.zeros(value.shape[:-1], dtype=torch.bool, device=value.device)
        for cell in self.cells:
            corners = places[list(cell)]
            after = corners.roll(-1, 0)
            areas = _area(corners, after, value[..., None, :])
            inside = (areas.detach() >= 0).all(-1) & ~done
            weights = self._wachspress(corners, areas)
            row = torch.zeros_like(out).index_copy(-1, torch.tensor(cell, device=value.device), weights)
            out = torch.where(inside[..., None], row, out)
            done = done | inside
        return torch.where(done[..., None], out, self._nearest(value, places))

    @staticmethod
    def _wachspress(corners: Tensor, areas: Tensor) -> Tensor:
        """In a triangle the barycentric weights, in a rectangle the bilinear ones."""
        n = len(corners)
        before, after = corners.roll(1, 0), corners.roll(-1, 0)
        own = _area(before, corners, after)
        terms = []
        for k in range(n):
            term = own[k].expand(areas.shape[:-1])
            for e in range(n):
                if e not in (k, (k - 1) % n):
                    term = term * areas[..., e].clamp(min=0)
            terms.append(term)
        total = torch.stack(terms, -1)
        whole = total.sum(-1, keepdim=True)
        return total / torch.where(whole > 0, whole, torch.ones_like(whole))

    def _nearest(self, value: Tensor, places: Tensor) -> Tensor:
        """The weights at the nearest place of the outline."""
        a = places[[edge[0] for edge in self.edges]]
        b = places[[edge[1] for edge in self.edges]]
        along = b - a
        share = (((value[..., None, :] - a) * along).sum(-1) / (along * along).sum(-1)).clamp(0, 1)
        gap = value[..., None, :] - (a + share[..., None] * along)
        best = (gap.detach() ** 2).sum(-1).argmin(-1)
        s = share.gather(-1, best[..., None])
        ends = torch.tensor(self.edges, device=value.device)[best]
        first = torch.nn.functional.one_hot(ends[..., 0], len(places)).to(value.dtype)
        second = torch.nn.functional.one_hot(ends[..., 1], len(places)).to(value.dtype)
        return first * (1 - s) + second * s


def _area(a: Tensor, b: Tensor, p: Tensor) -> Tensor:
    """Twice the signed area of triangles."""
    return (b[..., 0] - a[..., 0]) * (p[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (
        p[..., 0] - a[..., 0]
    )
