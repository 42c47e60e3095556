"""Views in a picture: paints of a drawing on its actors, ghosts beside them, lines and words over the pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.gpu.device import Device
from marrow.model.character import Character
from marrow.rendering.passes.overlay import Depth, Overlay
from marrow.rendering.resources.uniforms import clip_projection
from marrow.rendering.text import Atlas
from marrow.scene.actor_state import ActorState, PaintData, actor_states
from marrow.scene.camera import Camera
from marrow.scene.colors import packed
from marrow.scene.identity_cache import IdentityCache
from marrow.scene.projection import project
from marrow.scene.scene import Actor, Scene
from marrow.scene.views.drawing import Drawing, Ghost, Paint
from marrow.scene.views.kind import View
from marrow.scene.views.parsing import draw_views
from marrow.scene.views.staging import stage_of

__all__ = ["ViewPass", "paint_data"]

Array = NDArray[Any]
MODES = {"vertices": 1, "checker": 2, "normals": 4}
UNLIT, OWN, SINGLE, TINT = 8, 16, 32, 64
"""Flags of paint.wgsl and vertex.wgsl: not lit; each instance has its own colours; all vertices have one; it is the
instance's tint."""


def paint_data(paint: Paint, instances: Array) -> PaintData:
    """A paint as shaders read it; `instances (n,)` are those it is for, in its order."""
    flags = MODES[paint.mode] | (0 if paint.lit else UNLIT)
    colors = np.ones((1, 3)) if paint.colors is None else np.asarray(paint.colors)
    if paint.colors is None or (colors.ndim == 2 and colors.strides[-2] == 0):
        flags |= SINGLE  # the same for all
        colors = colors[:1]
    elif colors.ndim == 3:
        flags |= OWN
    strength = np.full((*colors.shape[:-1], 1), paint.strength)
    codes = packed(np.concatenate([colors, strength], axis=-1))
    return PaintData(codes, flags, instances if flags & OWN else None)


class ViewPass:
    """Draws views for one renderer."""

    def __init__(self, device: Device) -> None:
        self.device, self.atlas = device, Atlas()
        self.drawing: Drawing | None = None
        self._overlays: dict[str, Overlay] = {}
        self._ghosts: IdentityCache[list[Actor]] = IdentityCache()

    def prepare(
        self, views: Sequence[View], there: list[ActorState], levels: list[Array], compare: Character | None
    ) -> list[ActorState]:
        """Draws the views of a scene's states, of which `levels (N,)` says which are seen and how finely. Paints them, and
        returns the states of ghosts."""
        stage = stage_of(there, levels, compare)
        self.drawing = drawing = draw_views(views, stage)
        for posed in stage.things:
            if posed.key in drawing.paints:
                made = paint_data(drawing.paints[posed.key], posed.instances)
                there[posed.actor].paints[posed.level] = made
        return self._ghost_states(drawing.ghosts, there)

    def _ghost_states(self, ghosts: list[Ghost], there: list[ActorState]) -> list[ActorState]:
        out = []
        used: dict[int, int] = {}
        for ghost in ghosts:
            state = there[ghost.actor]
            actor = state.actor
            known = self._ghosts.made(actor, list)
            at = used.get(ghost.actor, 0)
            used[ghost.actor] = at + 1
            if at == len(known):
                known.append(Actor(actor.character, skinning=actor.skinning, shadows=False))
            copy = known[at]
            copy.clip, copy.time, copy.tint, copy.levels = actor.clip, ghost.times, ghost.colors, 0
            copy.transforms = state.world[ghost.instance]
            out += actor_states(Scene(copy))
        for state in out:
            state.paints[0] = PaintData(packed(np.ones((1, 4))), MODES["vertices"] | SINGLE | TINT)
        return out

    def overlay(self, target_format: str) -> Overlay:
        """What draws onto targets of that format."""
        if target_format not in self._overlays:
            self._overlays[target_format] = Overlay(self.device, target_format, self.atlas)
        return self._overlays[target_format]

    def draw(
        self,
        encoder: Any,
        target: Any,
        target_format: str,
        size: tuple[int, int],
        camera: Camera,
        depth: Depth,
    ) -> None:
        """Lines, labels, legends and notes over the finished picture."""
        drawing = self.drawing
        if drawing is None:
            return
        overlay = self.overlay(target_format)
        canvas = overlay.canvas(size)
        canvas.drawing(drawing, lambda points: project(camera, size, points))
        lines, origin = drawing.all_lines, camera.eye
        # As everything in shaders, relative to the eye.
        moved = lines._replace(start=lines.start - origin, end=lines.end - origin)
        turn = np.column_stack([camera.view[:, :3], camera.view[:, :3] @ origin + camera.view[:, 3]])
        overlay.draw(
            encoder,
            target,
            size,
            canvas=canvas,
            lines=moved,
            view=turn,
            projection=clip_projection(camera),
            depth=depth,
        )
