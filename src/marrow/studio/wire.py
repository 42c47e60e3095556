"""What crowds look like on the wire: joints in 12 bytes, and only what a page does not have yet.

`Wire` encodes the joints of an actor's pictures, once for all pages. `Sent` remembers what one page was sent: an
instance whose joints are the same is left out, and one that is seen from afar, at a coarse level of detail, is sent
every second or third picture only, for as long as things move.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.cached import cached_property
from marrow.model import Character
from marrow.skinning.deform import bind_positions
from marrow.studio import compact
from marrow.studio.frames import CompactGroup
from marrow.studio.levels import SentGroup

__all__ = ["COMPACT_FROM", "Sent", "Wire", "turns"]

Array = NDArray[Any]
COMPACT_FROM = 9
"""So many instances and more are sent compact; fewer cost little, and are exact."""
PERIODS = (1, 1, 2, 3)
"""Of how many pictures one is sent, by level of detail."""
MOST_JOINTS = 75_000
"""Joints that one picture has; where there are more, instances take turns. At 60 pictures a second these are 54 MB."""
ROOM = 1.25


class Wire:
    """Encodes the joints of one character. The cube that places are told in grows with what is shown, and never
    shrinks."""

    def __init__(self, character: Character) -> None:
        self.character = character
        self.pivots = bind_positions(character.palette).astype(np.float32)
        self.reach = 0.0

    def encode(self, group: SentGroup, rows: Array, targets: Array) -> CompactGroup | None:
        """Some instances of a group, by their places in it. None where a joint is mirrored or scaled unevenly: such a
        picture is sent as matrices. `targets (N, M)` are weights of morph targets."""
        whole = len(rows) == len(group.instances)
        parts = compact.rigid(group.matrices if whole else group.matrices[rows], self.pivots)
        if parts is None:
            return None
        low, high = parts.place.min(axis=2), parts.place.max(axis=2)
        center = np.ascontiguousarray(((low + high) / 2).T)
        need = float((high - low).max(initial=0.0)) / 2
        if need > self.reach:
            self.reach = max(ROOM * need, 1e-6)
        who = group.instances[rows]
        words = compact.encode(parts, center, self.reach)
        return CompactGroup(group.level, who, center, words, parts.scale, targets[who])

    @property
    def error(self) -> float:
        """How far a vertex may be off, in metres: by its joint's place, and by its turn at the distance it has from
        it."""
        return float(np.sqrt(3) * self.reach / compact.PLACES + compact.turn_error() * self._lever)

    @cached_property
    def _lever(self) -> float:
        """The longest way from a joint to a vertex that follows it."""
        longest = 0.0
        for mesh, slots in zip(self.character.meshes, self.character.palette.mesh_slots):
            if not mesh.vertex_count or not len(slots):
                continue
            for k in range(mesh.influences):
                away = np.linalg.norm(mesh.positions - self.pivots[slots[mesh.joints[:, k]]], axis=1)
                longest = max(longest, float(away[mesh.weights[:, k] > 0].max(initial=0.0)))
        return longest


def turns(groups: list[SentGroup]) -> int:
    """Of how many pictures one has each instance, where there are too many joints for every one."""
    joints = sum(len(g.instances) * g.matrices.shape[1] for g in groups)
    return -(-joints // MOST_JOINTS)


class Sent:
    """What a page was sent of an actor: the joints of each instance, at which level, and in which picture."""

    def __init__(self, count: int, palette: int, reach: float) -> None:
        self.reach = reach
        self.level = np.full(count, -1, np.int64)
        self.frame = np.zeros(count, np.int64)
        self.words = np.zeros((count, palette, 3), np.uint32)
        self.center = np.zeros((count, 3), np.float32)
        self.morphs: Array | None = None

    def fits(self, count: int, palette: int, reach: float) -> bool:
        return self.words.shape[:2] == (count, palette) and self.reach == reach

    def due(self, group: SentGroup, frame: int, *, moving: bool, least: int = 1) -> Array:
        """The places in a group of those whose turn it is. While things move, coarse levels may wait, and all where there
        are too many (`least`): a third of them at each picture, whoever they are, rather than all at every third."""
        period = max(PERIODS[min(group.level, len(PERIODS) - 1)], least)
        who = group.instances
        if not moving or period == 1:
            return np.arange(len(who))
        new = self.level[who] != group.level
        return np.flatnonzero(new | ((who + frame) % period == 0) | (frame - self.frame[who] > period))

    def take(self, group: CompactGroup, frame: int) -> CompactGroup | None:
        """What the page does not have of a group; from now on it has. None where it has all."""
        who, entries = group.instances, group.words.shape[1]
        same = (self.level[who] == group.level) & (self.center[who] == group.center).all(axis=1)
        if group.scales is not None:
            same[:] = False
        same[same] = (self.words[who[same], :entries] == group.words[same]).all(axis=(1, 2))
        if group.morphs.shape[1]:
            if self.morphs is None:
                self.morphs = np.full((len(self.level), group.morphs.shape[1]), np.nan, np.float32)
            same &= (self.morphs[who] == group.morphs).all(axis=1)
        self.frame[who] = frame
        rows = np.flatnonzero(~same)
        if not len(rows):
            return None
        if len(rows) < len(who):
            scales = None if group.scales is None else group.scales[rows]
            group = CompactGroup(
                group.level, who[rows], group.center[rows], group.words[rows], scales, group.morphs[rows]
            )
            who = group.instances
        self.level[who] = group.level
        self.words[who, :entries], self.center[who] = group.words, group.center
        if self.morphs is not None:
            self.morphs[who] = group.morphs
        return group
