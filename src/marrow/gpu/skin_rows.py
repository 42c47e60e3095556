"""`PoseRows`: what moves the instances, in GPU memory: a row of matrices, dual quaternions and morph weights for each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import check_pose, skinning_matrices, to_model
from marrow.errors import ValidationError
from marrow.gpu.bindings import Bindings
from marrow.gpu.buffers import Buffer, Pages, chunks
from marrow.gpu.device import Device
from marrow.gpu.passes import MORPH_WEIGHTS, split_source, target_table
from marrow.graph.animator import Animator
from marrow.model import _validate
from marrow.model.character import Character
from marrow.model.pose import Pose
from marrow.skinning.arguments import matrices_of, morph_weights
from marrow.skinning.deform import bind_positions

__all__ = ["PoseRows", "mask_of", "runs"]

Array = NDArray[Any]


class PoseRows:
    """Takes poses as callers have them. `matrices`, `duals` and `weights` are `Pages`, a record for every instance."""

    def __init__(
        self,
        device: Device,
        character: Character,
        levels: Sequence[Character],
        *,
        skinning: str | None,
    ) -> None:
        dual = [(skinning or m.skinning) != "linear" for m in character.meshes]
        needs_duals = any((skinning or m.skinning) != "linear" for level in levels for m in level.meshes)
        self.device, self.character, self.needs_duals = device, character, needs_duals
        self.count = 0
        self.palette = len(character.palette)
        self.channels = len(character.skeleton.morph_names)
        self._own = Pages(
            device, 48 * self.palette, label="matrices", dtype=np.float32, shape=(self.palette, 3, 4)
        )
        self.matrices: Pages = self._own
        # Every level has targets of its own: one row has those of all levels.
        self.targets = sum(len(m.morph_targets) for level in levels for m in level.meshes)
        self.duals = Pages(device, 16 * (1 + 5 * self.palette), label="duals") if needs_duals else None
        self._kept: Array | None = None
        self._kept_morphs: Array | None = None
        self.weights: Pages | None = None
        if self.targets:
            self._channels = Pages(device, 4 * self.channels, label="morph channels")
            self.weights = Pages(device, 4 * self.targets, label="morph weights")
            self._table = Buffer.of(
                device, np.concatenate([target_table(x) for x in levels]), label="morph targets"
            )
        self._given_channels: Pages | None = None
        if needs_duals:
            pivots = np.zeros((self.palette, 4), np.float32)
            pivots[:, :3] = bind_positions(character.palette)
            used = np.unique(
                np.concatenate(
                    [
                        slot[m.joints[m.weights > 0]]
                        for m, slot, needed in zip(character.meshes, character.palette.mesh_slots, dual)
                        if needed
                    ]
                    or [np.zeros(0, np.int64)]
                )
            )
            pivots[used, 3] = 1
            self._first_used = int(used[0]) if len(used) else 0
            self._pivots = Buffer.of(device, pivots, label="pivots")
            self._which = Buffer(device, 8, label="rows to split")
        self._bindings = Bindings(device)

    # -- taking -----------------------------------------------------------------------------------------------------
    def take(self, poses: Any, morphs: Any, changed: Any) -> Array:
        """Uploads what is new. Returns which instances changed, `(N,)`."""
        if isinstance(poses, Pages):
            return self.take_pages(poses, morphs, changed)
        matrices, weights = self._arrays(poses, morphs)
        self.matrices, self._given_channels = self._own, None
        N = len(matrices)
        dirty = mask_of(changed, N)
        same_size = self._kept is not None and len(self._kept) == N
        if dirty is None:
            dirty = np.ones(N, bool)
            if same_size:
                width = self.palette * 12
                rows, kept = matrices.reshape(N, width), self._kept.reshape(N, width)  # type: ignore[union-attr]
                # Bits are compared: a NaN that stays is no change.
                dirty = (rows.view(np.uint32) != kept.view(np.uint32)).any(axis=1)
                if weights is not None and self._kept_morphs is not None:
                    dirty |= (weights.view(np.uint32) != self._kept_morphs.view(np.uint32)).any(axis=1)
                elif weights is not self._kept_morphs:
                    dirty[:] = True
            self._kept = matrices.copy()
            self._kept_morphs = None if weights is None else weights.copy()
        else:
            self._kept = self._kept_morphs = None
        self.count = N
        if self._own.resize(N):
            dirty[:] = True
        self._upload(self._own, matrices.reshape(N, self.palette * 12), dirty)
        if self.weights is not None:
            if weights is None:
                weights = np.zeros((N, self.channels), np.float32)
            if self._channels.resize(N) | self.weights.resize(N):
                dirty[:] = True
            self._upload(self._channels, weights, dirty)
        self._resize_duals(N, dirty)
        return dirty

    def take_pages(self, palettes: Pages, channels: Any, changed: Any) -> Array:
        """Palettes, and weights of morph channels, that are on the GPU already."""
        if palettes.device is not self.device:
            raise ValidationError(
                "Skinner.update: the crowd lives on another device; pass device=crowd.device"
            )
        if palettes.stride != 48 * self.palette:
            raise ValidationError(
                f"Skinner.update: the crowd's palettes have {palettes.stride // 48} entries, those of "
                f"{self.character.name!r} {self.palette}"
            )
        N = palettes.count
        dirty = mask_of(changed, N)
        if dirty is None:
            dirty = np.ones(N, bool)
        self.matrices, self._kept = palettes, None
        if self.weights is not None:
            if channels is not None and not (
                isinstance(channels, Pages) and channels.stride == 4 * self.channels
            ):
                raise ValidationError(
                    f"Skinner.update: morphs: beside palettes on the GPU expected Pages of {self.channels} weights each"
                )
            self._given_channels = channels
            if self.weights.resize(N) | (channels is None and self._channels.resize(N)):
                dirty[:] = True
        if self.count != N:
            dirty[:] = True
        self.count = N
        self._resize_duals(N, dirty)
        return dirty

    def _arrays(self, poses: Any, morphs: Any) -> tuple[Array, Array | None]:
        """Matrices `(N, P, 3, 4)` and morph weights `(N, M)` of what a caller may pass."""
        who = self.character
        if isinstance(poses, Pose):
            check_pose(who.skeleton, poses)
            matrices = skinning_matrices(who.palette, to_model(who.skeleton, poses))
            if morphs is None and poses.morph_count:
                morphs = poses.morphs
        elif isinstance(poses, Animator):
            if morphs is None and self.targets:
                matrices, morphs = poses.evaluation.matrices_and_morphs()
            else:
                matrices = poses.matrices
            matrices = matrices_of(matrices, self.palette)
        else:
            matrices = matrices_of(poses, self.palette)
        matrices = np.ascontiguousarray(matrices, np.float32)
        batch = matrices.shape[:-3]
        if len(batch) > 1:
            raise ValidationError(
                f"Skinner.update: expected matrices (N, {self.palette}, 3, 4) or ({self.palette}, 3, 4), got shape "
                f"{matrices.shape}"
            )
        N = batch[0] if batch else 1
        weights = None
        if morphs is not None:
            found = morph_weights(who, morphs, batch, self.channels)
            weights = found.reshape(N, found.shape[-1])
            weights = np.ascontiguousarray(weights, np.float32)
        return matrices.reshape(N, self.palette, 3, 4), weights

    def _upload(self, pages: Pages, rows: Array, dirty: Array) -> None:
        for first, last, buffer in pages:
            part = dirty[first:last]
            if not part.any():
                continue
            # One write from the first changed row to the last: cheaper than many small ones.
            a, b = int(np.argmax(part)), len(part) - int(np.argmax(part[::-1]))
            self.device.write(buffer.raw, rows[first + a : first + b], a * pages.stride)

    def _resize_duals(self, count: int, dirty: Array) -> None:
        if self.duals is not None and self.duals.resize(count):
            dirty[:] = True

    # -- passes -----------------------------------------------------------------------------------------------------
    def encode(self, encoder: Any, dirty: Array | None, timer: Any) -> None:
        """The passes that make target weights and dual quaternions of the changed instances; None means all."""
        if not self.count or (dirty is not None and not dirty.any()):
            return
        if self.weights is not None:
            self._encode_weights(encoder, timer)
        if self.duals is not None:
            changed = np.arange(self.count) if dirty is None else np.flatnonzero(dirty)
            self._encode_duals(encoder, changed, timer)

    def _encode_weights(self, encoder: Any, timer: Any) -> None:
        channels = self._given_channels or self._channels
        assert self.weights is not None
        pipeline = self.device.compute_pipeline(MORPH_WEIGHTS, label="morph weights")
        step = encoder.begin_compute_pass(**_timed(timer, "morph weights"))
        step.set_pipeline(pipeline)
        if self.count <= min(channels.per_page, self.weights.per_page):
            found = [(0, 0, self.count)]
        else:
            everybody = np.arange(self.count)
            found = runs(everybody // channels.per_page * (1 << 32) + everybody // self.weights.per_page)
        for number, start, stop in found:
            source, out = channels.buffers[number >> 32], self.weights.buffers[number & 0xFFFFFFFF]
            for a, b in chunks(stop - start, self.device.max_workgroups):
                rows = (start + a) % channels.per_page, (start + a) % self.weights.per_page
                sizes = np.array([b - a, self.channels, self.targets, *rows, 0, 0, 0], np.uint32)
                raw = [self._table.raw, source.raw, out.raw]
                step.set_bind_group(0, self._bindings.group(("weights", number, a), pipeline, sizes, raw))
                step.dispatch_workgroups(-(-self.targets // 64), b - a)
        step.end()

    def _encode_duals(self, encoder: Any, instances: Array, timer: Any) -> None:
        assert self.duals is not None
        pipeline = self.device.compute_pipeline(split_source(), label="dual quaternions")
        page = instances // self.matrices.per_page * (1 << 32) + instances // self.duals.per_page
        rows = np.stack([instances % self.matrices.per_page, instances % self.duals.per_page], 1)
        self._which.write(rows.astype(np.uint32))
        step = encoder.begin_compute_pass(**_timed(timer, "dual quaternions"))
        step.set_pipeline(pipeline)
        for number, start, stop in runs(page):
            source = self.matrices.buffers[number >> 32]
            out = self.duals.buffers[number & 0xFFFFFFFF]
            for a, b in chunks(stop - start, self.device.max_workgroups):
                sizes = np.array([b - a, self.palette, self._first_used, start + a, 0, 0, 0, 0], np.uint32)
                raw = [source.raw, self._pivots.raw, self._which.raw, out.raw]
                step.set_bind_group(0, self._bindings.group(("duals", number, a), pipeline, sizes, raw))
                step.dispatch_workgroups(b - a)
        step.end()


def runs(values: Array) -> list[tuple[int, int, int]]:
    """`(value, first, last + 1)` of runs of equal values."""
    if not len(values):
        return []
    edges = [0, *(np.flatnonzero(np.diff(values)) + 1).tolist(), len(values)]
    return [(int(values[a]), a, b) for a, b in pairwise(edges)]


def _timed(timer: Any, name: str) -> dict[str, Any]:
    return {} if timer is None else timer.writes(name)


def mask_of(changed: Any, count: int) -> Array | None:
    """`changed` as a mask `(N,)`; None for None."""
    if changed is None:
        return None
    if isinstance(changed, (bool, np.bool_)):
        return np.full(count, bool(changed))
    mask = _validate.numbers("Skinner.update: changed", changed)
    if mask.dtype != bool or mask.shape != (count,):
        raise ValidationError(
            f"Skinner.update: changed: expected {count} truth values, got {_validate.shown(changed)}"
        )
    return mask.copy()
