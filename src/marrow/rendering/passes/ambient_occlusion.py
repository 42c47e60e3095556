"""Contact shading: what is close together keeps light away from each other, found from the depths of the picture.

Both paths share it, so that they look alike: it needs nothing but depth. The ground leaves none; where it is follows
from its height. Shaded at half the size, in two passes.
"""

from __future__ import annotations

import math
from typing import Any

from marrow.gpu.device import Device
from marrow.rendering.passes.forward import COMMON
from marrow.rendering.resources.frame_uniforms import FrameData
from marrow.rendering.resources.pipelines import Pipelines
from marrow.rendering.resources.targets import BINDING, RENDER, Targets
from marrow.rendering.resources.wgsl import piece, source

__all__ = ["ContactShading", "place_source"]

# How open a place is, and its depth.
_ROUGH = _SMOOTH = "rg16float"


def place_source(many: bool) -> str:
    """WGSL that finds where pixels lie; with `many` samples a pixel the first of them counts."""
    kind = "texture_depth_multisampled_2d" if many else "texture_depth_2d"
    return piece("place").replace("DEPTH_TEXTURE", kind)


class _Textures:
    """Those of one size, and the bind groups that read them."""

    def __init__(self, device: Device, targets: Targets, layouts: tuple[Any, Any]) -> None:
        self.targets = targets
        self.size = size = (-(-targets.size[0] // 2), -(-targets.size[1] // 2), 1)
        raw = device.raw
        with device.guard("making room for contact shading"):
            self.textures = [
                raw.create_texture(label="contact shading", size=size, format=f, usage=RENDER | BINDING)
                for f in (_ROUGH, _SMOOTH)
            ]
            self.rough, self.smooth = (t.create_view() for t in self.textures)
            self.groups = [
                raw.create_bind_group(layout=layout, entries=[{"binding": 0, "resource": view}])
                for layout, view in zip(layouts, (targets.depth_view, self.rough))
            ]


class ContactShading:
    """`encode` draws it for a picture whose depths are there, and returns the view of a texture of half the size: 1 where
    all light arrives. `none` is such a texture for pictures without."""

    def __init__(self, device: Device, frame: FrameData, pipelines: Pipelines) -> None:
        self.device, self.frame, self.pipelines = device, frame, pipelines
        raw = device.raw

        def layout(texture: dict[str, Any]) -> Any:
            return raw.create_bind_group_layout(
                label="contact shading", entries=[{"binding": 0, "visibility": 2, "texture": texture}]
            )

        self._depths = {
            many: layout({"sample_type": "depth", "multisampled": many}) for many in (False, True)
        }
        self._plain = layout({"sample_type": "unfilterable-float"})
        self._textures: _Textures | None = None
        white = raw.create_texture(size=(1, 1, 1), format=_SMOOTH, usage=BINDING | 0x02)
        raw.queue.write_texture(
            {"texture": white}, b"\x00\x3c\x00\x00", {"bytes_per_row": 4, "rows_per_image": 1}, (1, 1, 1)
        )
        self.none = white.create_view()

    def encode(self, encoder: Any, targets: Targets, timer: Any = None) -> Any:
        many = targets.samples > 1
        if self._textures is None or self._textures.targets is not targets:
            self._textures = _Textures(self.device, targets, (self._depths[many], self._plain))
        kept = self._textures
        passes = (
            (kept.rough, self._pipeline(many), kept.groups[0], "contact shading"),
            (kept.smooth, self._smoothing(), kept.groups[1], "contact shading"),
        )
        left, top, right, bottom = self.frame.box
        x, y = int(left * kept.size[0]), int(top * kept.size[1])
        width, height = math.ceil(right * kept.size[0]) - x, math.ceil(bottom * kept.size[1]) - y
        if width <= 0 or height <= 0:
            return self.none
        for target, pipeline, group, name in passes:
            step = encoder.begin_render_pass(
                color_attachments=[
                    {"view": target, "load_op": "clear", "store_op": "store", "clear_value": (1, 0, 0, 0)}
                ],
                **({} if timer is None else timer.writes(name)),
            )
            step.set_scissor_rect(x, y, width, height)
            step.set_pipeline(pipeline)
            step.set_bind_group(0, self.frame.group)
            step.set_bind_group(1, group)
            step.draw(3)
            step.end()
        return kept.smooth

    def _pipeline(self, many: bool) -> Any:
        key = ("contact shading", many)
        return self.pipelines.find(key) or self._screen(
            key,
            place_source(many) + piece("contact"),
            self._depths[many],
            "contact",
            _ROUGH,
        )

    def _smoothing(self) -> Any:
        key = ("smoothing",)
        return self.pipelines.find(key) or self._screen(
            key, "contact_smooth", self._plain, "smoothed", _SMOOTH
        )

    def _screen(self, key: Any, shader: str, layout: Any, entry: str, format: str) -> Any:
        return self.pipelines.make(
            key,
            source(*COMMON, "screen", shader),
            [self.frame.layout, layout],
            vertex={"entry_point": "screen_vertex"},
            fragment={"entry_point": entry, "targets": [{"format": format}]},
            primitive={"topology": "triangle-list"},
        )
