"""How the vertices of a skin are grouped by the joints they follow: worked out once for a `joints` tensor and kept."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

import numpy as np
from numpy.typing import NDArray

import torch
from marrow.cached import cached_property
from marrow.errors import ValidationError
from marrow.skinning.layout import LANES, bucket
from torch import Tensor

__all__ = ["Plan", "plan_of"]

Array = NDArray[Any]
KEPT = 64


class Plan:
    """Vertices in blocks of 16 that share joints, for any weights that are zero wherever `counted` is False.

    `points_at (B * 48,)`: where x, y, z of each lane are in points laid flat; `points_from (V * 3,)` the way back.
    `weights_at (E, 16)`: which of the weights laid flat each lane of each block's joint has (the last, V * K, is zero);
    `weights_from (V * K,)` the way back (the last slot, E * 16, is for what does not count). `copies` are the lanes that
    fill up the last block.
    """

    def __init__(self, joints: Array, counted: Array) -> None:
        V, K = joints.shape
        self.vertices, self.influences, self.counted, self._table = V, K, counted, joints
        self.most = int(joints.max(initial=0))
        self.ranges, self.joint_start, self.joints, _, order = bucket(
            joints, counted.astype(np.float32), False
        )
        self.rows = order.astype(np.int32)
        self.blocks = len(self.joint_start) - 1
        lanes = order.reshape(-1, LANES)
        self.points_at = (lanes[:, None, :] * 3 + np.arange(3)[:, None]).reshape(-1)
        _, first = np.unique(order, return_index=True)
        block, lane = np.divmod(first, LANES)
        self.copies = np.setdiff1d(np.arange(len(order)), first)
        self.points_from = ((block * 48 + lane)[:, None] + LANES * np.arange(3)).reshape(-1)

        entries = len(self.joints)
        of_block = np.repeat(np.arange(self.blocks), np.diff(self.joint_start))
        rows = lanes[of_block]
        self.weights_at = np.full((entries, LANES), V * K, np.int64)
        way_back = np.full((V, K), entries * LANES, np.int64)
        doubles: list[tuple[Array, Array]] = []
        slots = np.arange(entries * LANES).reshape(entries, LANES)
        for k in range(K):
            hit = (joints[rows, k] == self.joints[:, None]) & counted[rows, k]
            again = hit & (self.weights_at != V * K)
            self.weights_at[hit & ~again] = rows[hit & ~again] * K + k
            if again.any():
                doubles.append((slots[again], rows[again] * K + k))
            primary = hit & (first[rows] == of_block[:, None] * LANES + np.arange(LANES))
            way_back[rows[primary], k] = slots[primary]
        self.weights_from = way_back.reshape(-1)
        self.doubles = tuple(np.concatenate(part) for part in zip(*doubles)) if doubles else None
        """Joints that a vertex lists twice: their slot, and the further weight that is added there."""

    @cached_property
    def set_count(self) -> int:
        """How many different sets of joints there are."""
        table = np.sort(np.where(self.counted, self._table, -1), axis=1)
        return len(np.unique(table, axis=0))

    @cached_property
    def runs(self) -> Array:
        """The first row of blocks whose rows lie one behind the other, else -1."""
        rows = self.rows.reshape(-1, LANES)
        in_a_row = (rows == rows[:, :1] + np.arange(LANES)).all(axis=1)
        return np.where(in_a_row, rows[:, 0], -1).astype(np.int32)

    @cached_property
    def tensors(self) -> dict[str, Tensor]:
        """The index arrays as tensors."""
        names = ("points_at", "points_from", "weights_at", "weights_from")
        return {
            name: torch.from_numpy(np.ascontiguousarray(getattr(self, name)).reshape(-1)) for name in names
        }

    def block_weights(self, weights: Tensor) -> Tensor:
        """Weights `(V, K)` as the blocks have them, flat."""
        flat = torch.cat([weights.reshape(-1), weights.new_zeros(1)])
        out = flat.index_select(0, self.tensors["weights_at"])
        if self.doubles is not None:
            at, source = (torch.from_numpy(d) for d in self.doubles)
            out.index_add_(0, at, flat.index_select(0, source))
        return out

    def vertex_weights(self, blocks: Tensor) -> Tensor:
        """Gradients of weights, from how the blocks have them to `(V, K)`."""
        flat = torch.cat([blocks, blocks.new_zeros(1)])
        return flat.index_select(0, self.tensors["weights_from"]).reshape(self.vertices, self.influences)

    def block_points(self, points: Tensor) -> Tensor:
        """Points `(B, V, 3)` as the blocks have them, `(B, blocks * 48)`."""
        return points.flatten(1).index_select(1, self.tensors["points_at"])

    def vertex_points(self, blocks: Tensor) -> Tensor:
        """The way back, `(B, V, 3)`."""
        return blocks.index_select(1, self.tensors["points_from"]).reshape(len(blocks), self.vertices, 3)


class _Entry:
    def __init__(self, joints: Tensor) -> None:
        self.joints = joints  # kept alive, so that its address stays its own
        self.version = joints._version
        self.plan: Plan | None = None
        self.covered: tuple[Tensor, int] | None = None


_entries: OrderedDict[tuple[Any, ...], _Entry] = OrderedDict()
_lock = threading.Lock()


def plan_of(joints: Tensor, weights: Tensor, learned: bool) -> Plan:
    """The plan for a `joints` tensor, made on its first use and kept while it is not written to.

    Influences without weight are left out, until weights come that give them one, or are to be learned.
    """
    key = (
        joints.data_ptr(),
        joints._version,
        tuple(joints.shape),
        joints.stride(),
        joints.dtype,
        joints.device,
    )
    with _lock:
        entry = _entries.get(key)
        if entry is None:
            entry = _entries[key] = _Entry(joints)
            while len(_entries) > KEPT:
                _entries.popitem(last=False)
        _entries.move_to_end(key)
    seen = entry.covered
    if entry.plan is not None and seen is not None and not learned:
        known, version = seen
        if (
            known.data_ptr() == weights.data_ptr()
            and version == weights._version
            and known.shape == weights.shape
        ):
            return entry.plan
    used = np.ones(tuple(joints.shape), bool) if learned else (weights != 0).cpu().numpy()
    if entry.plan is None or (used & ~entry.plan.counted).any():
        table = joints.cpu().numpy().astype(np.int64)
        if table.size and (table.min() < 0 or table.max() > 2**31 - 1):
            wrong = table.min() if table.min() < 0 else table.max()
            raise ValidationError(f"skin: joints has index {wrong}: expected numbers of joints, from 0 on")
        if entry.plan is not None or not used.any(axis=1).all():
            used = np.ones_like(used)
        entry.plan = Plan(table.astype(np.int32), used)
    entry.covered = (weights.detach(), weights._version)
    return entry.plan
