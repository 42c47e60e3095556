"""The last pass: what was drawn, over the background, tone mapped, in sRGB."""

from __future__ import annotations

from typing import Any

from marrow.gpu.device import Device
from marrow.rendering.passes.ambient_occlusion import place_source
from marrow.rendering.passes.forward import COMMON
from marrow.rendering.resources.frame_uniforms import FrameData
from marrow.rendering.resources.pipelines import Pipelines
from marrow.rendering.resources.targets import Targets
from marrow.rendering.resources.wgsl import source

__all__ = ["ToneMapping"]


class ToneMapping:
    """`encode` draws a texture of linear light, with its contact shading, into a target of any format."""

    def __init__(self, device: Device, frame: FrameData, pipelines: Pipelines) -> None:
        self.device, self.frame, self.pipelines = device, frame, pipelines
        self._layouts = {
            many: device.raw.create_bind_group_layout(
                label="screen",
                entries=[
                    {
                        "binding": 0,
                        "visibility": 2,
                        "texture": {"sample_type": "depth", "multisampled": many},
                    },
                    {"binding": 1, "visibility": 2, "texture": {"sample_type": "unfilterable-float"}},
                    {"binding": 2, "visibility": 2, "texture": {"sample_type": "unfilterable-float"}},
                    {"binding": 3, "visibility": 2, "texture": {}},
                ],
            )
            for many in (False, True)
        }
        self._group: tuple[Any, Any, Any] | None = None

    def encode(
        self,
        encoder: Any,
        targets: Targets,
        contact: Any,
        shaded: bool,
        glow: Any,
        glows: bool,
        target: Any,
        format: str,
        timer: Any = None,
    ) -> None:
        """`shaded` and `glows`: whether `contact` and `glow` hold anything."""
        many = targets.samples > 1
        if self._group is None or self._group[0] is not targets or self._group[2] != (contact, glow):
            resources = (targets.depth_view, targets.light_view, contact, glow)
            entries = [{"binding": i, "resource": r} for i, r in enumerate(resources)]
            made = self.device.raw.create_bind_group(layout=self._layouts[many], entries=entries)
            self._group = targets, made, (contact, glow)
        step = encoder.begin_render_pass(
            color_attachments=[
                {"view": target, "load_op": "clear", "store_op": "store", "clear_value": (0, 0, 0, 0)}
            ],
            **({} if timer is None else timer.writes("tone mapping")),
        )
        step.set_pipeline(self._pipeline(format, many, shaded, glows))
        step.set_bind_group(0, self.frame.group)
        step.set_bind_group(1, self._group[1])
        step.draw(3)
        step.end()

    def _pipeline(self, format: str, many: bool, shaded: bool, glows: bool) -> Any:
        key = ("tone mapping", format, many, shaded, glows)
        return self.pipelines.find(key) or self.pipelines.make(
            key,
            source(*COMMON, "screen", "tone_curve", "sky", place_source(many), "tonemap"),
            [self.frame.layout, self._layouts[many]],
            vertex={"entry_point": "screen_vertex"},
            fragment={
                "entry_point": "tonemap",
                "constants": {
                    "ENCODE": float(not format.endswith("srgb")),
                    "CONTACT": float(shaded),
                    "GLOW": float(glows),
                },
                "targets": [{"format": format}],
            },
            primitive={"topology": "triangle-list"},
        )
