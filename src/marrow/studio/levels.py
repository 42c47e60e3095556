"""Levels of detail in the studio: which level each instance of a crowd is sent and drawn at, as the pages look at it.

The page knows one palette, that of the character. A level has the first joints, so an instance at that level is sent the
matrices of those, as the character's own palette has them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.cached import cached_property
from marrow.errors import ValidationError
from marrow.lod.selector import Selector
from marrow.lod.thresholds import with_screen_sizes
from marrow.math import affine
from marrow.model import Character
from marrow.model.level import joint_map
from marrow.scene.camera import Camera

__all__ = ["LevelPlan", "SentGroup", "SentLevel"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class SentGroup:
    """The instances that are sent at one level: their numbers `(n,)`, and matrices `(n, E, 3, 4)` of the first E
    entries."""

    level: int
    instances: Array
    matrices: Array


@dataclass(frozen=True, eq=False)
class SentLevel:
    """What is sent of a level: matrices of the first `entries` entries of the palette. `stand_in (P,)`: for each
    entry, which of those to take."""

    entries: int
    stand_in: Array
    turned: Array
    turns: Array
    """Entries whose bind pose the level has otherwise, and what brings them to the character's."""


def _sent(character: Character, level: Character) -> SentLevel | None:
    """None where a mesh of the level has a bind pose that the character does not know, or there are more palette entries
    than joints."""
    palette, own = character.palette, level.palette
    J, n = len(character.skeleton), len(level.skeleton)
    if len(palette) != J or len(own) != n:
        return None
    used = np.unique(np.concatenate([m.joint_list for m in level.meshes] or [np.zeros(0, np.int64)])).astype(
        int
    )
    if not np.array_equal(own.inverse_bind[used], palette.inverse_bind[used]):
        return None
    turned = np.flatnonzero((own.inverse_bind != palette.inverse_bind[:n]).any(axis=(1, 2)))
    back = affine.invert(own.inverse_bind[turned].astype(np.float64))
    turns = affine.multiply(back, palette.inverse_bind[turned].astype(np.float64)).astype(np.float32)
    stand_in = np.maximum(joint_map(character.skeleton.parents, n), 0).astype(np.uint32)
    return SentLevel(n, stand_in, turned, turns)


class LevelPlan:
    """The levels of a character that a page can draw, and who is shown at which."""

    def __init__(self, character: Character) -> None:
        found: list[SentLevel] = []
        for level in character.levels:
            sent = _sent(character, level)
            if sent is None:
                break
            found.append(sent)
        self.character, self.sent = character, found

    def __len__(self) -> int:
        return len(self.sent)

    @property
    def usable(self) -> bool:
        return len(self.sent) > 1

    @cached_property
    def selector(self) -> Selector | None:
        """By errors in pixels, or by screen sizes where nobody measured; None where neither is known."""
        shown = self.character
        if len(self.sent) < len(shown.levels):
            shown = shown.replace(reduced=shown.reduced[: len(self.sent) - 1])
        lods = [level.lod for level in shown.levels[1:]]
        if all(lod.mean_error is not None for lod in lods):
            return Selector(with_screen_sizes(shown, None), error="mean")
        try:
            return Selector(shown)
        except ValidationError:
            return None

    def select(
        self, cameras: list[Camera], pixels: float, placements: Array, forced: int, watched: int
    ) -> Array | None:
        """The level of each instance `(N,)`; the instance that is `watched` is shown in full. None: all in full."""
        if not self.usable:
            return None
        if forced >= 0:
            levels = np.full(len(placements), min(forced, len(self) - 1), np.int64)
        elif self.selector is None or not cameras:
            return None
        else:
            self.selector.pixels = max(pixels, 1e-3)
            levels = self.selector.select(cameras, placements).levels.copy()
        if forced < 0 and 0 <= watched < len(levels):
            levels[watched] = 0
        return levels

    def group(self, level: int, instances: Array, matrices: Array) -> SentGroup:
        """What is sent of instances at a level."""
        sent = self.sent[level]
        out = np.array(matrices[:, : sent.entries], np.float32)
        if len(sent.turned):
            out[:, sent.turned] = affine.multiply(out[:, sent.turned], sent.turns)
        return SentGroup(level, instances, out)
