"""Clips as tensors: a pose at any times, differentiable in the times too."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import torch
from marrow.model.clip import Clip
from marrow.torch.rotations import normalized
from torch import Tensor, nn

__all__ = ["ClipSampler", "PoseTensors"]

PATHS = ("translation", "rotation", "scale", "morphs")
WIDTHS = (3, 4, 3, 1)
STEP, LINEAR, CUBIC = 0, 1, 2


class PoseTensors(NamedTuple):
    """Local transforms of all joints as tensors: `translation (..., J, 3)`, `rotation (..., J, 4)` quaternions xyzw,
    `scale (..., J, 3)`, `morphs (..., M)`."""

    translation: Tensor
    rotation: Tensor
    scale: Tensor
    morphs: Tensor


class ClipSampler(nn.Module):
    """One clip: its keys as buffers, tracks that share their times and their kind side by side."""

    def __init__(self, clip: Clip) -> None:
        super().__init__()
        self.duration = float(clip.duration)
        rest, skeleton = clip.skeleton.rest, clip.skeleton
        J, M = len(skeleton.names), len(skeleton.morph_names)
        bases: list[Any] = [rest.translation, rest.rotation, rest.scale, rest.morphs]
        if clip.additive:
            # An additive clip is a difference: what it does not key changes nothing.
            bases = [np.zeros((J, 3)), np.tile([0.0, 0, 0, 1], (J, 1)), np.ones((J, 3)), np.zeros(M)]
        for name, base in zip(PATHS, bases):
            self.register_buffer(f"rest_{name}", torch.tensor(np.array(base), dtype=torch.float32))
        groups: dict[tuple[int, int, bytes], list[tuple[int, Any, Any]]] = {}
        tracks = clip.tracks
        for row in tracks.table:
            path, kind, keys = int(row["path"]), int(row["interpolation"]), int(row["keys"])
            times = tracks.times[row["time_start"] : row["time_start"] + keys]
            each = 3 if kind == CUBIC else 1
            size = keys * WIDTHS[path] * each
            values = tracks.values[row["value_start"] : row["value_start"] + size]
            entry = (int(row["target"]), times, values.reshape(keys, each, WIDTHS[path]))
            groups.setdefault((path, kind, times.tobytes()), []).append(entry)
        self.groups: list[tuple[int, int]] = []
        for i, ((path, kind, _), members) in enumerate(groups.items()):
            self.groups.append((path, kind))
            self.register_buffer(f"targets_{i}", torch.tensor([m[0] for m in members]))
            self.register_buffer(f"times_{i}", torch.tensor(np.array(members[0][1]), dtype=torch.float32))
            # (T, tracks, in-tangent / value / out-tangent, width)
            self.register_buffer(
                f"keys_{i}", torch.tensor(np.stack([m[2] for m in members], 1), dtype=torch.float32)
            )

    def forward(self, time: Tensor, *, loop: bool = False) -> PoseTensors:
        """The pose at `time (...)` in seconds; outside the clip it holds, or wraps around with `loop`."""
        if loop and self.duration > 0:
            time = time - self.duration * torch.floor(time.detach() / self.duration)
        out = []
        for path, name in enumerate(PATHS):
            base: Tensor = getattr(self, f"rest_{name}")
            base = base if path < 3 else base[..., None]
            stored = torch.promote_types(time.dtype, base.dtype)
            dtype = torch.promote_types(stored, torch.float32)  # half precision is a way to store
            value = base.to(dtype).expand(*time.shape, *base.shape)
            for i, (own, kind) in enumerate(self.groups):
                if own == path:
                    targets = getattr(self, f"targets_{i}")
                    value = value.index_copy(
                        time.ndim, targets, self._sampled(i, kind, path == 1, time.to(dtype))
                    )
            out.append((value if path < 3 else value[..., 0]).to(stored))
        return PoseTensors(*out)

    def _sampled(self, i: int, kind: int, rotation: bool, time: Tensor) -> Tensor:
        times, keys = getattr(self, f"times_{i}").to(time.dtype), getattr(self, f"keys_{i}").to(time.dtype)
        T = len(times)
        at = (torch.searchsorted(times, time.detach().contiguous(), right=True) - 1).clamp(0, T - 1)
        after = (at + 1).clamp(max=T - 1)
        span = _taken(times, after) - _taken(times, at)
        inside = (time >= times[0]) & (at < T - 1) & (span > 0)
        safe = torch.where(span > 0, span, torch.ones_like(span))
        u = torch.where(inside, (time - _taken(times, at)) / safe, 0.0 * time)[..., None, None]
        low, high = _taken(keys, at), _taken(keys, after)
        middle = 1 if kind == CUBIC else 0
        a, b = low[..., middle, :], high[..., middle, :]
        if kind == STEP:
            value = a + 0.0 * u
        elif kind == CUBIC:
            u2 = u * u
            u3 = u2 * u
            s = span[..., None, None]
            value = (
                (2 * u3 - 3 * u2 + 1) * a
                + (u3 - 2 * u2 + u) * s * low[..., 2, :]
                + (3 * u2 - 2 * u3) * b
                + (u3 - u2) * s * high[..., 0, :]
            )
        elif rotation:
            value = slerp(normalized(a), normalized(b), u)
        else:
            value = a + u * (b - a)
        return normalized(value) if rotation else value


def _taken(rows: Tensor, at: Tensor) -> Tensor:
    """`rows[at]`, also for a single number under `vmap`, which must not look at it."""
    return rows.index_select(0, at.reshape(-1)).reshape(tuple(at.shape) + tuple(rows.shape[1:]))


def slerp(a: Tensor, b: Tensor, u: Tensor) -> Tensor:
    """From `a` to `b` at constant speed, the short way; safe where they are the same or opposite."""
    cosine = (a * b).sum(-1, keepdim=True)
    b = torch.where(cosine < 0, -b, b)
    cosine = cosine.abs()
    near = cosine > 1 - 1e-6
    angle = torch.acos(torch.where(near, torch.full_like(cosine, 0.5), cosine.clamp(max=1)))
    sine = torch.sin(angle)
    first = torch.where(near, 1 - u, torch.sin((1 - u) * angle) / sine)
    second = torch.where(near, u.expand_as(first), torch.sin(u * angle) / sine)
    return normalized(first * a + second * b)
