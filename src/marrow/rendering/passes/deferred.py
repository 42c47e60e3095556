"""The deferred path: sections leave what they are made of in a G-buffer, and every pixel is lit once, by the same `shade`.

What it costs goes by pixels, not by how many surfaces lie behind each other: worth it where there are many lamps. What is
blended is drawn by the forward path afterwards. Edges are smoothed in the finished picture (`antialias.py`).
"""

from __future__ import annotations

from typing import Any

from marrow.gpu.device import Device
from marrow.rendering.passes.forward import COMMON, LIGHTING, ForwardPath, FragmentStage
from marrow.rendering.recorder import Recorder
from marrow.rendering.resources.targets import BINDING, DEPTH, HDR, RENDER, Targets
from marrow.rendering.resources.wgsl import source

__all__ = ["DeferredPath"]

# Light that a surface sends out itself, base colour and occlusion, two normals, metallic and roughness.
GBUFFER = FragmentStage(
    ("brdf", "gbuffer"), "gbuffer_main", (HDR, "rgba8unorm-srgb", "rgba16float", "rgba8unorm")
)
_ADDED = {
    "color": {"src_factor": "one", "dst_factor": "one", "operation": "add"},
    "alpha": {"src_factor": "zero", "dst_factor": "one", "operation": "add"},
}


class _GBuffer:
    """The textures of one size, and the bind group that reads them."""

    def __init__(self, device: Device, targets: Targets, layout: Any) -> None:
        self.targets = targets
        width, height = targets.size
        device.check_room(width * height * 16, "the G-buffer")
        with device.guard(f"making the G-buffer of {width} x {height} pixels"):
            self.textures = [
                device.raw.create_texture(
                    label="G-buffer", size=(width, height, 1), format=f, usage=RENDER | BINDING
                )
                for f in GBUFFER.formats[1:]
            ]
            self.views = [t.create_view() for t in self.textures]
            entries = [{"binding": i, "resource": v} for i, v in enumerate([*self.views, targets.depth_view])]
            self.group = device.raw.create_bind_group(layout=layout, entries=entries)


class DeferredPath:
    """Draws a list into the targets, which have one sample a pixel."""

    def __init__(self, device: Device, forward: ForwardPath) -> None:
        self.device, self.forward = device, forward
        self.frame, self.pipelines = forward.frame, forward.pipelines
        kinds = ["unfilterable-float"] * (len(GBUFFER.formats) - 1) + ["depth"]
        self._layout = device.raw.create_bind_group_layout(
            label="G-buffer",
            entries=[
                {"binding": i, "visibility": 2, "texture": {"sample_type": k}} for i, k in enumerate(kinds)
            ],
        )
        self._gbuffer: _GBuffer | None = None

    def encode(self, encoder: Any, targets: Targets, ground: bool, timer: Any = None) -> None:
        if self._gbuffer is None or self._gbuffer.targets is not targets:
            self._gbuffer = _GBuffer(self.device, targets, self._layout)
        self._draw_sections(encoder, targets, timer)
        self._light(encoder, targets, timer)
        forward = self.forward
        layered = [d for d in forward.list.opaque if d.layered and not d.glass]
        if ground or layered:
            step = self._begin(encoder, [targets.light_view], targets, timer, "over", load=True)
            recorder = Recorder(step)
            forward.draw_solid(recorder, layered, 1)
            forward.draw_ground(step, 1, ground)
            step.end()
        if forward.glass:
            forward.backdrop.encode(encoder, targets, timer)
        if forward.glass or forward.list.blended:
            step = self._begin(encoder, [targets.light_view], targets, timer, "over", load=True)
            forward.draw_over(step, 1)
            step.end()

    def _begin(
        self, encoder: Any, views: list[Any], targets: Targets, timer: Any, name: str, *, load: bool
    ) -> Any:
        step = encoder.begin_render_pass(
            color_attachments=[
                {
                    "view": v,
                    "load_op": "load" if load else "clear",
                    "clear_value": (0, 0, 0, 0),
                    "store_op": "store",
                }
                for v in views
            ],
            depth_stencil_attachment={
                "view": targets.depth_view,
                "depth_load_op": "load" if load else "clear",
                "depth_store_op": "store",
                "depth_clear_value": 0.0,
            },
            **({} if timer is None else timer.writes(name)),
        )
        step.set_bind_group(0, self.frame.group)
        return step

    def _draw_sections(self, encoder: Any, targets: Targets, timer: Any) -> None:
        assert self._gbuffer is not None
        views = [targets.light_view, *self._gbuffer.views]
        step = self._begin(encoder, views, targets, timer, "G-buffer", load=False)
        recorder = Recorder(step)
        for draw in self.forward.list.opaque:
            if not draw.layered:  # those are drawn by the forward path, over what is lit
                recorder.draw(self.forward.pipeline(draw, 1, None, GBUFFER), draw)
        step.end()

    def _light(self, encoder: Any, targets: Targets, timer: Any) -> None:
        assert self._gbuffer is not None
        step = encoder.begin_render_pass(
            color_attachments=[{"view": targets.light_view, "load_op": "load", "store_op": "store"}],
            depth_stencil_attachment={"view": targets.depth_view, "depth_read_only": True},
            **({} if timer is None else timer.writes("lighting")),
        )
        step.set_pipeline(self._lighting_pipeline())
        step.set_bind_group(0, self.frame.group)
        step.set_bind_group(1, self._gbuffer.group)
        step.draw(3)
        step.end()

    def _lighting_pipeline(self) -> Any:
        lamps = self.frame.lamps.count > 0
        key = ("lighting", lamps)
        return self.pipelines.find(key) or self.pipelines.make(
            key,
            source(*COMMON, "brdf", *LIGHTING, "screen", "deferred"),
            [self.frame.layout, self._layout],
            vertex={"entry_point": "screen_vertex"},
            fragment={
                "entry_point": "deferred_main",
                "constants": {"LAMPS": float(lamps)},
                "targets": [{"format": HDR, "blend": _ADDED}],
            },
            primitive={"topology": "triangle-list"},
            # The triangle lies at the far end: where something is before it, a pixel is lit; elsewhere not even asked.
            depth_stencil={"format": DEPTH, "depth_write_enabled": False, "depth_compare": "less"},
        )
