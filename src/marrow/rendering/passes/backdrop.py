"""`Backdrop`: the picture of all that is opaque, which is seen through glass, in sizes from the whole to a few pixels."""

from __future__ import annotations

from typing import Any

from marrow.gpu.device import Device
from marrow.rendering.passes.forward import COMMON
from marrow.rendering.resources.frame_uniforms import FrameData
from marrow.rendering.resources.pipelines import Pipelines
from marrow.rendering.resources.targets import BINDING, HDR, RENDER, Targets
from marrow.rendering.resources.wgsl import source

__all__ = ["Backdrop"]

LEVELS = 7


class Backdrop:
    """`encode` draws it from the light that is there; `group` is what shaders of glass bind, of `layout`."""

    def __init__(self, device: Device, frame: FrameData, pipelines: Pipelines) -> None:
        self.device, self.frame, self.pipelines = device, frame, pipelines
        self.layout = device.raw.create_bind_group_layout(
            label="backdrop", entries=[{"binding": 0, "visibility": 2, "texture": {}}]
        )
        self.group: Any = None
        self._made: Targets | None = None
        self._steps: list[tuple[Any, Any]] = []

    def _make(self, targets: Targets) -> None:
        raw, (width, height) = self.device.raw, targets.size
        levels = max(1, min(LEVELS, min(width, height).bit_length() - 1))
        self.device.check_room(width * height * 11, "what is seen through glass")
        with self.device.guard("making room for what is seen through glass"):
            texture = raw.create_texture(
                label="backdrop",
                size=(width, height, 1),
                format=HDR,
                mip_level_count=levels,
                usage=RENDER | BINDING,
            )
            views = [texture.create_view(base_mip_level=i, mip_level_count=1) for i in range(levels)]
            self._steps = [
                (view, self._group(from_)) for view, from_ in zip(views, [targets.light_view, *views])
            ]
            self.group = self._group(texture.create_view())
        self._made = targets

    def _group(self, view: Any) -> Any:
        return self.device.raw.create_bind_group(
            layout=self.layout, entries=[{"binding": 0, "resource": view}]
        )

    def encode(self, encoder: Any, targets: Targets, timer: Any = None) -> None:
        if self._made is not targets:
            self._make(targets)
        for i, (view, group) in enumerate(self._steps):
            step = encoder.begin_render_pass(
                color_attachments=[
                    {"view": view, "load_op": "clear", "store_op": "store", "clear_value": (0, 0, 0, 0)}
                ],
                **({} if timer is None else timer.writes("backdrop")),
            )
            step.set_pipeline(self._pipeline("backdrop_half" if i else "backdrop_whole"))
            step.set_bind_group(0, self.frame.group)
            step.set_bind_group(1, group)
            step.draw(3)
            step.end()

    def _pipeline(self, entry: str) -> Any:
        return self.pipelines.find((entry,)) or self.pipelines.make(
            (entry,),
            source(*COMMON, "screen", "tone_curve", "sky", "backdrop"),
            [self.frame.layout, self.layout],
            vertex={"entry_point": "screen_vertex"},
            fragment={"entry_point": entry, "targets": [{"format": HDR}]},
            primitive={"topology": "triangle-list"},
        )
