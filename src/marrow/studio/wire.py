"""What crowds look like on the wire: joints in 12 bytes, and only what a page does not have yet.

`Wire` encodes the joints of an actor's pictures, once for all pages. `Sent` remembers what one page was sent: an
instance whose joints are the same is left out, and one that is seen from afar, at a coarse level of detail, is sent
every second or third picture only, for as long as things move.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.model import Character
from marrow.skinning.deform import bind_positions
from marrow.studio import compact
from marrow.studio.frames import CompactGroup
from marrow.studio.levels import LevelGroup

__all__ = ["COMPACT_FROM", "Encoded", "Sent", "Wire"]

Array = NDArray[Any]
COMPACT_FROM = 9
"""So many instances and more are sent compact; fewer cost little, and are exact."""
PERIODS = (1, 1, 2, 3)
"""Of how many pictures one is sent, by level of detail."""
ROOM = 1.25


@dataclass(frozen=True, eq=False)
class Encoded:
    """A picture's joints by level, encoded within `reach`."""

    reach: float
    groups: list[CompactGroup]


class Wire:
    """Encodes the joints of one character. The cube that places are told in grows with what is shown, and never
    shrinks."""

    def __init__(self, character: Character) -> None:
        self.character = character
        self.pivots = bind_positions(character.palette).astype(np.float32)
        self.reach = 0.0

    def encode(self, groups: list[LevelGroup], targets: Array) -> Encoded | None:
        """None where a joint is mirrored or scaled unevenly: such a picture is sent as matrices. `targets (N, M)` are
        weights of morph targets."""
        found, centers, need = [], [], 0.0
        for group in groups:
            parts = compact.rigid(group.matrices, self.pivots)
            if parts is None:
                return None
            low, high = parts.place.min(axis=1), parts.place.max(axis=1)
            centers.append((low + high) / 2)
            need = max(need, float((high - low).max(initial=0.0)) / 2)
            found.append(parts)
        if need > self.reach:
            self.reach = max(ROOM * need, 1e-6)
        out = [
            CompactGroup(
                g.level,
                g.instances,
                center,
                compact.encode(parts, center, self.reach),
                parts.scale,
                targets[g.instances],
            )
            for g, parts, center in zip(groups, found, centers)
        ]
        return Encoded(self.reach, out)

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

    def news(self, encoded: Encoded, frame: int, *, moving: bool) -> list[CompactGroup]:
        """What the page does not have of a picture; from now on it has. While things move, coarse levels may wait."""
        out = []
        for group in encoded.groups:
            who, entries = group.instances, group.words.shape[1]
            same_level = self.level[who] == group.level
            wanted = np.ones(len(who), bool)
            period = PERIODS[min(group.level, len(PERIODS) - 1)]
            if moving and period > 1:
                # A third of them at each picture, whoever they are, rather than all at every third.
                wanted &= ~same_level | ((who + frame) % period == 0) | (frame - self.frame[who] > period)
            if group.scales is None:
                same = same_level & (self.center[who] == group.center).all(axis=1)
                same &= (self.words[who, :entries] == group.words).all(axis=(1, 2))
                if self.morphs is not None and group.morphs.shape[1]:
                    same &= (self.morphs[who] == group.morphs).all(axis=1)
                wanted &= ~same
            rows = np.flatnonzero(wanted)
            if len(rows):
                chosen = who[rows]
                picked = CompactGroup(
                    group.level, chosen, group.center[rows], group.words[rows],
                    None if group.scales is None else group.scales[rows], group.morphs[rows],
                )  # fmt: skip
                self._note(picked, frame, entries)
                out.append(picked)
        return out

    def _note(self, group: CompactGroup, frame: int, entries: int) -> None:
        who = group.instances
        self.level[who], self.frame[who] = group.level, frame
        self.words[who, :entries], self.center[who] = group.words, group.center
        if group.morphs.shape[1]:
            if self.morphs is None:
                self.morphs = np.full((len(self.level), group.morphs.shape[1]), np.nan, np.float32)
            self.morphs[who] = group.morphs
