"""`Glow`: light around what is brighter than a screen can show."""

from __future__ import annotations

from typing import Any

from marrow.gpu.device import Device
from marrow.rendering.passes.forward import COMMON
from marrow.rendering.resources.frame_uniforms import FrameData
from marrow.rendering.resources.pipelines import Pipelines
from marrow.rendering.resources.targets import BINDING, HDR, RENDER, Targets
from marrow.rendering.resources.wgsl import source

__all__ = ["Glow"]

LEVELS = 6
_ADDED = {part: {"src_factor": "one", "dst_factor": "one", "operation": "add"} for part in ("color", "alpha")}


class Glow:
    """`encode` draws it from the light that is there, and returns the view of a texture of half the size. `none` is one
    without any."""

    def __init__(self, device: Device, frame: FrameData, pipelines: Pipelines) -> None:
        self.device, self.frame, self.pipelines = device, frame, pipelines
        raw = device.raw
        self._layout = raw.create_bind_group_layout(
            label="glow", entries=[{"binding": 0, "visibility": 2, "texture": {}}]
        )
        self.none = raw.create_texture(size=(1, 1, 1), format=HDR, usage=BINDING).create_view()
        self._made: Targets | None = None
        self._levels: list[tuple[Any, Any]] = []
        self._light: Any = None

    def _make(self, targets: Targets) -> None:
        raw, (width, height) = self.device.raw, targets.size

        def group(view: Any) -> Any:
            return raw.create_bind_group(layout=self._layout, entries=[{"binding": 0, "resource": view}])

        self._levels, self._made = [], targets
        with self.device.guard("making room for glow"):
            for k in range(1, LEVELS + 1):
                size = (max(width >> k, 1), max(height >> k, 1), 1)
                view = raw.create_texture(
                    label="glow", size=size, format=HDR, usage=RENDER | BINDING
                ).create_view()
                self._levels.append((view, group(view)))
                if min(size[:2]) <= 4:
                    break
            self._light = group(targets.light_view)

    def encode(self, encoder: Any, targets: Targets, timer: Any = None) -> Any:
        if self._made is not targets:
            self._make(targets)
        from_ = self._light
        for k, (view, group) in enumerate(self._levels):
            self._draw(encoder, view, from_, "glow_down" if k else "glow_bright", timer)
            from_ = group
        for k in range(len(self._levels) - 2, -1, -1):
            self._draw(encoder, self._levels[k][0], self._levels[k + 1][1], "glow_up", timer)
        return self._levels[0][0]

    def _draw(self, encoder: Any, target: Any, group: Any, entry: str, timer: Any) -> None:
        load = "load" if entry == "glow_up" else "clear"
        step = encoder.begin_render_pass(
            color_attachments=[
                {"view": target, "load_op": load, "store_op": "store", "clear_value": (0, 0, 0, 0)}
            ],
            **({} if timer is None else timer.writes("glow")),
        )
        step.set_pipeline(self._pipeline(entry))
        step.set_bind_group(0, self.frame.group)
        step.set_bind_group(1, group)
        step.draw(3)
        step.end()

    def _pipeline(self, entry: str) -> Any:
        blend = {"blend": _ADDED} if entry == "glow_up" else {}
        return self.pipelines.find((entry,)) or self.pipelines.make(
            (entry,),
            source(*COMMON, "screen", "glow"),
            [self.frame.layout, self._layout],
            vertex={"entry_point": "screen_vertex"},
            fragment={"entry_point": entry, "targets": [{"format": HDR, **blend}]},
            primitive={"topology": "triangle-list"},
        )
