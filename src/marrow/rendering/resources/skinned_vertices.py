"""Skinned vertices of an actor's instances in GPU memory: by the GPU itself, or by the CPU's kernels where the adapter
computes in software, which is thirty times slower at it."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from marrow.gpu.buffers import Pages, usage
from marrow.gpu.device import Device
from marrow.gpu.skinner import Skinner
from marrow.model.character import Character
from marrow.scene.actor_state import ActorState, palette_entries
from marrow.skinning import skin

__all__ = ["CpuSkin", "GpuSkin", "SkinnedLevel"]

Array = NDArray[Any]


class SkinnedLevel(Protocol):
    """Rows of vertices, one for each of `instances`, in this order."""

    instances: Array
    positions: Pages
    normals: Pages | None
    tangents: Pages | None


class GpuSkin:
    """`gpu.Skinner`, in the shape the renderer draws."""

    def __init__(self, device: Device, character: Character, skinning: str | None, tangents: bool) -> None:
        self.has_tangents = tangents
        self._skinner = Skinner(character, device, skinning=skinning, tangents=tangents)
        self.levels: list[SkinnedLevel] = list(self._skinner.levels)
        self._still: Array | None = None

    def update(self, state: ActorState, levels: Array, shadows: Array, timer: Any = None) -> None:
        """Skins each instance at its level, those that only cast shadows at that of the shadow; -1 not at all."""
        if state.crowd is not None:
            self._skinner.update(state.crowd, timer=timer)
        else:
            chosen = np.where(levels >= 0, levels, shadows)
            if state.still and self._still is not None and np.array_equal(self._still, chosen):
                return
            self._still = chosen if state.still else None
            self._skinner.update(state.matrices, morphs=state.morphs, levels=chosen, timer=timer)


class _CpuLevel:
    def __init__(self, device: Device, character: Character, level: Character, tangents: bool) -> None:
        self.character, V = level, max(1, level.vertex_count)
        self.instances: Array = np.zeros(0, np.int64)
        self.slots = None if level is character else palette_entries(character, level)
        per_page = max(1, device.max_binding // (16 * V))

        def pages(label: str, width: int) -> Pages:
            return Pages(device, 4 * width * V, label=label, flags=usage("vertex"), per_page=per_page)

        self.positions = pages("positions", 3)
        has_normals = any(m.normals is not None for m in level.meshes)
        self.normals = pages("normals", 3) if has_normals else None
        has_tangents = tangents and has_normals and any(m.tangents is not None for m in level.meshes)
        self.tangents = pages("tangents", 4) if has_tangents else None
        self._drawn: tuple[Array, Array | None] | None = None
        self.still = False

    def update(self, matrices: Array, morphs: Array | None, members: Array, skinning: str | None) -> None:
        self.instances = members
        if not len(members) or not self.character.vertex_count:
            return
        chosen = self._chosen(matrices, members)
        weights = None if morphs is None else morphs[members]
        if self._drawn is not None and _same(self._drawn, (chosen, weights)):
            return
        for pages in (self.positions, self.normals, self.tangents):
            if pages is not None:
                pages.resize(len(members))
        for first, last, _ in list(self.positions):
            page = first // self.positions.per_page
            made = skin(
                self.character,
                np.ascontiguousarray(chosen[first:last]),
                morphs=None if weights is None else weights[first:last],
                skinning=skinning,
                normals=self.normals is not None,
                tangents=self.tangents is not None,
                threads=None,
            )
            for pages, array in (
                (self.positions, made.positions),
                (self.normals, made.normals),
                (self.tangents, made.tangents),
            ):
                if pages is not None and array is not None:
                    pages.buffers[page].write(array)
        self._drawn = chosen, weights

    def _chosen(self, matrices: Array, members: Array) -> Array:
        """The matrices of some instances, for the joints of this level."""
        if self.slots is None:
            return matrices[members]
        N, P = matrices.shape[:2]
        rows = np.ascontiguousarray(matrices).reshape(N * P, 12)
        places = members[:, None] * P + self.slots
        return rows.take(places, 0).reshape(len(members), len(self.slots), 3, 4)


class CpuSkin:
    """Vertices by `mw.skin`, uploaded; those of the last picture stay where nothing moved."""

    def __init__(self, device: Device, character: Character, skinning: str | None, tangents: bool) -> None:
        self.skinning, self.has_tangents = skinning, tangents
        self._levels = [_CpuLevel(device, character, level, tangents) for level in character.levels]
        self.levels: list[SkinnedLevel] = list(self._levels)

    def update(self, state: ActorState, levels: Array, shadows: Array, timer: Any = None) -> None:
        """Skins each instance at its level and at that of its shadow, which may be another; -1 not at all."""
        assert state.matrices is not None
        for number, level in enumerate(self._levels):
            members = np.flatnonzero((levels == number) | (shadows == number))
            if not (state.still and level.still and np.array_equal(level.instances, members)):
                level.update(state.matrices, state.morphs, members, self.skinning)
            level.still = state.still


def _same(a: tuple[Array, Array | None], b: tuple[Array, Array | None]) -> bool:
    if len(a[0]) != len(b[0]) or not np.array_equal(a[0][0], b[0][0]):
        return False  # what moves is told by the first: the rest need not be looked at
    return np.array_equal(a[0], b[0]) and (
        (a[1] is None and b[1] is None)
        or (a[1] is not None and b[1] is not None and np.array_equal(a[1], b[1]))
    )
