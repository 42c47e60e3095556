"""`LevelSurfaces`: a crowd skinned at levels of detail, each instance with the vertices of its level."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError, WrongTypeError
from marrow.graph.levels import HIDDEN, LevelGroup
from marrow.model import _validate
from marrow.skinning import Surface, skin

__all__ = ["LevelSurfaces", "skin_levels"]

Array = NDArray[Any]
_FIELDS = ("positions", "normals", "tangents")


@dataclass(frozen=True, eq=False, repr=False)
class LevelSurfaces:
    """The surfaces of N instances. `surfaces[n]` is that of instance n, None where nobody sees it; iterating gives the
    `LevelGroup`s with their surfaces: `for group, surface in surfaces`, where `surface.positions` is `(n, V, 3)` for
    `group.instances (n,)`."""

    parts: tuple[tuple[LevelGroup, Surface], ...]
    count: int
    _places: Array
    _memory: dict[int, Surface] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[tuple[LevelGroup, Surface]]:
        return iter(self.parts)

    def __getitem__(self, instance: int) -> Surface | None:
        part, row = self._places[_validate.position("instance", instance, self.count)]
        if part == HIDDEN:
            return None
        surface = self.parts[part][1]
        return Surface(*(None if a is None else a[row] for a in _arrays(surface)))  # type: ignore[arg-type]

    @property
    def triangles(self) -> int:
        """Triangles of all that is seen."""
        return sum(len(group.instances) * group.character.triangle_count for group, _ in self.parts)

    @property
    def vertices(self) -> int:
        """Vertices of all that is seen."""
        return sum(len(group.instances) * group.character.vertex_count for group, _ in self.parts)

    def __repr__(self) -> str:
        shown = ", ".join(f"{len(group.instances)} at level {group.level}" for group, _ in self.parts)
        return f"LevelSurfaces({shown or 'nothing is seen'}; {self.triangles:,} triangles)"


def _arrays(surface: Surface) -> tuple[Array | None, ...]:
    return surface.positions, surface.normals, surface.tangents


def skin_levels(groups: tuple[LevelGroup, ...], count: int, options: dict[str, Any]) -> LevelSurfaces:
    """Skins each group with its level's meshes. `out`, what an earlier call returned, lends its memory."""
    out = options.pop("out", None)
    if out is not None and not isinstance(out, LevelSurfaces):
        raise WrongTypeError(
            "skin: out: where levels are set, expected what skin() returned before (LevelSurfaces), got "
            f"{_validate.shown(out)}"
        )
    if "morphs" in options:
        raise ValidationError("skin: where levels are set, morphs are those of the graph")
    memory = {} if out is None else dict(out._memory)
    places = np.full((count, 2), HIDDEN, np.int64)
    parts = []
    for k, group in enumerate(groups):
        n, before = len(group.instances), memory.get(group.level)
        lent = None
        if before is not None and len(before.positions) >= n and _fits(before, group):
            lent = Surface(*(None if a is None else a[:n] for a in _arrays(before)))  # type: ignore[arg-type]
        morphs = group.morphs if group.morphs.shape[-1] else None
        surface = skin(group.character, group.matrices, out=lent, morphs=morphs, **options)
        if lent is None or any(a is not b for a, b in zip(_arrays(surface), _arrays(lent))):
            memory[group.level] = surface
        places[group.instances, 0], places[group.instances, 1] = k, np.arange(n)
        parts.append((group, surface))
    return LevelSurfaces(tuple(parts), count, places, memory)


def _fits(surface: Surface, group: LevelGroup) -> bool:
    return surface.positions.shape[1] == group.character.vertex_count
