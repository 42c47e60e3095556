"""Edges smoothed in a finished picture (FXAA): for the deferred path, which has one sample a pixel."""

from __future__ import annotations

from typing import Any

from marrow.gpu.device import Device
from marrow.rendering.resources.pipelines import Pipelines
from marrow.rendering.resources.targets import BINDING, PICTURE, RENDER
from marrow.rendering.resources.wgsl import source

__all__ = ["EdgeSmoothing"]


class EdgeSmoothing:
    """`source(size)` is the texture view to draw a picture into, in sRGB; `encode` smooths it into a target."""

    def __init__(self, device: Device, pipelines: Pipelines) -> None:
        self.device, self.pipelines = device, pipelines
        raw = device.raw
        self._layout = raw.create_bind_group_layout(
            label="smoothing",
            entries=[
                {"binding": 0, "visibility": 2, "texture": {}},
                {"binding": 1, "visibility": 2, "sampler": {}},
            ],
        )
        self._sampler = raw.create_sampler(mag_filter="linear", min_filter="linear")
        self._kept: tuple[tuple[int, int], Any, Any] | None = None

    def source(self, size: tuple[int, int]) -> Any:
        if self._kept is None or self._kept[0] != size:
            with self.device.guard("making room for smoothing edges"):
                texture = self.device.raw.create_texture(
                    label="unsmoothed", size=(*size, 1), format=PICTURE, usage=RENDER | BINDING
                )
                view = texture.create_view()
                entries = [{"binding": 0, "resource": view}, {"binding": 1, "resource": self._sampler}]
                group = self.device.raw.create_bind_group(layout=self._layout, entries=entries)
            self._kept = size, view, group
        return self._kept[1]

    def encode(self, encoder: Any, target: Any, format: str, timer: Any = None) -> None:
        assert self._kept is not None
        step = encoder.begin_render_pass(
            color_attachments=[{"view": target, "load_op": "clear", "store_op": "store"}],
            **({} if timer is None else timer.writes("smoothing edges")),
        )
        step.set_pipeline(self._pipeline(format))
        step.set_bind_group(0, self._kept[2])
        step.draw(3)
        step.end()

    def _pipeline(self, format: str) -> Any:
        key = ("smoothing edges", format)
        return self.pipelines.find(key) or self.pipelines.make(
            key,
            source("screen", "fxaa"),
            [self._layout],
            vertex={"entry_point": "screen_vertex"},
            fragment={
                "entry_point": "fxaa",
                "constants": {"DECODE": float(format.endswith("srgb"))},
                "targets": [{"format": format}],
            },
            primitive={"topology": "triangle-list"},
        )
