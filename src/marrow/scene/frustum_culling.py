"""Which instances a camera or a part of the map of shadows sees, and at which level of detail."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.lod.selector import Selector
from marrow.math.counting import bincount
from marrow.model._derived import derived
from marrow.model.character import Character
from marrow.scene.actor_state import ActorState
from marrow.scene.camera import Camera
from marrow.scene.identity_cache import IdentityCache

__all__ = ["Detail", "view_planes"]

Array = NDArray[Any]
STEPS = 12
"""How often, at most, a picture is made coarser; each time as if all were 1.4 times farther away."""


def view_planes(camera: Camera) -> Array:
    """The six sides of what a camera sees, `(6, 4)`: a point is inside where `plane . (x, y, z, 1) >= 0`."""

    def build() -> Array:
        x, y, z, w = camera.projection @ np.vstack([camera.view, [0.0, 0.0, 0.0, 1.0]])
        return np.stack([w + x, w - x, w + y, w - y, w + z, w - z])

    planes: Array = derived(camera, "planes", build)
    return planes


class Detail:
    """Chooses the level of detail of every instance: the coarsest that is off by at most `pixels` where it is seen. Where
    a picture would have more than so many `triangles` all become coarser alike, as if farther away; `farther` is how
    many times, in the present picture."""

    def __init__(self, pixels: float, triangles: float) -> None:
        self.pixels, self.triangles, self.farther = pixels, triangles, 1.0
        self._selectors: IdentityCache[Selector] = IdentityCache()

    def levels(
        self, states: list[ActorState], seen: list[Array], camera: Camera, *, finest: bool = False
    ) -> list[Array]:
        """The level of each actor's instances, `(N,)`; -1 for those an animator hides. `seen (N,)` are those that count.
        `finest` takes level 0 where none is said."""
        self.farther = 1.0
        said = [self._said(m) for m in states]
        if finest:
            return [np.zeros(m.count, np.int64) if own is None else own for m, own in zip(states, said)]
        free = {k: self._farther(m, camera) for k, m in enumerate(states) if said[k] is None}
        for step in range(STEPS):
            self.farther = 2.0 ** (step / 2)
            levels = [next(free[k]) if own is None else own for k, own in enumerate(said)]
            if not free or self.triangles == math.inf:
                break
            total = sum(_triangles(m, k[on]) for m, k, on in zip(states, levels, seen))
            if total <= self.triangles:
                break
        return levels

    def _farther(self, state: ActorState, camera: Camera) -> Iterator[Array]:
        """Levels for one step after the other. A picture must not depend on the one before: nothing is kept in mind."""
        character = state.actor.character
        selector = self._selectors.made(character, lambda: self._selector(character))
        return selector.select_farther(
            camera, state.world, (step / 2 for step in range(STEPS)), bounds=state.box
        )

    def _said(self, state: ActorState) -> Array | None:
        """Levels that actor or animator say; None where they are to be chosen."""
        actor, character = state.actor, state.actor.character
        if actor.animator is not None and actor.animator.levels is not None:
            return np.broadcast_to(np.asarray(actor.animator.levels, np.int64), (state.count,))
        if state.crowd is not None:  # posed for these joints and no others
            return np.zeros(state.count, np.int64)
        if isinstance(actor.levels, str):
            if actor.levels != "auto":
                raise ValidationError(
                    f"Actor.levels: expected 'auto', a level or one each, got {actor.levels!r}"
                )
            return np.zeros(state.count, np.int64) if len(character.levels) == 1 else None
        given = np.asarray(actor.levels)
        if given.dtype.kind not in "iu" or given.shape not in ((), (state.count,)):
            raise ValidationError(
                f"Actor.levels: expected a whole number or ({state.count},) of them, got {given.dtype} {given.shape}"
            )
        if given.size and not -1 <= given.min() <= given.max() < len(character.levels):
            raise ValidationError(
                f"Actor.levels: expected -1 (not drawn) to {len(character.levels) - 1}, got {given.min()} to {given.max()}"
            )
        return np.broadcast_to(given.astype(np.int64), (state.count,))

    def _selector(self, character: Character) -> Selector:
        return Selector(character, pixels=self.pixels)

    @staticmethod
    def for_shadows(
        state: ActorState, own: Array, casts: list[Array], texels: list[float]
    ) -> tuple[Array, list[float]]:
        """The levels that cast shadows, `(N,)`: coarser than an instance's `own` where the map of shadows can hardly tell.
        `casts` are the instances in each cascade, with `texels` of so many metres. Also returns how far off, in metres, the
        casters of each cascade are on the whole: what they must not shade of themselves."""
        levels, slack = own.copy(), [0.0] * len(texels)
        if not texels:
            return levels, slack
        finest = np.full(state.count, np.inf)
        for some, texel in zip(casts, texels):
            finest[some] = np.minimum(finest[some], texel)
        scale = np.linalg.norm(state.world[:, :, :3], axis=1).max(1)
        for number, level in enumerate(state.actor.character.levels):
            mean, worst = level.lod.mean_error, level.lod.error
            if not number or mean is None or worst is None:
                continue
            coarser = (
                (mean * scale <= 0.5 * finest) & (worst * scale <= 4 * finest) & (own < number) & (own >= 0)
            )
            levels[coarser & np.isfinite(finest)] = number
        for i, some in enumerate(casts):
            for number in np.unique(levels[some & (levels > own)]).tolist():
                off = state.actor.character.levels[number].lod.mean_error or 0.0
                slack[i] = max(slack[i], 2 * off * float(scale[some & (levels == number)].max()))
        return levels, slack


def _triangles(state: ActorState, levels: Array) -> int:
    """Triangles of instances at these levels."""
    counts = bincount(levels[levels >= 0], minlength=1).tolist()
    return sum(n * level.triangle_count for n, level in zip(counts, state.actor.character.levels))
