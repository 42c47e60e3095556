"""`Overlay`: draws lines of the world, words and rectangles over a finished picture, on the GPU."""

from __future__ import annotations

from importlib import resources
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marrow.gpu.buffers import Buffer, chunks
from marrow.gpu.device import Device
from marrow.rendering.canvas import Canvas
from marrow.rendering.text import SIDE, Atlas
from marrow.scene.views.drawing import Lines

__all__ = ["Depth", "Overlay"]

Array = NDArray[Any]
NEARER = 0.002
"""Lines are taken to be nearer by this part of their distance, so that those on a surface are seen."""
UNIFORM_BYTES, LINE_BYTES = 2 * 64 + 32, 64
_BLEND = {
    "color": {"src_factor": "one", "dst_factor": "one-minus-src-alpha", "operation": "add"},
    "alpha": {"src_factor": "one", "dst_factor": "one-minus-src-alpha", "operation": "add"},
}


class Depth(NamedTuple):
    """A scene's depth that lines are compared with: its texture view, whether it has several samples a pixel, and whether
    larger numbers are nearer."""

    view: Any
    multisampled: bool = False
    reversed: bool = False


class Overlay:
    """Draws onto targets of one format; colours are blended as the target stores them (alpha premultiplied)."""

    def __init__(self, device: Device, target_format: str, atlas: Atlas | None = None) -> None:
        self.device, self.format = device, target_format
        self.atlas = Atlas() if atlas is None else atlas
        self._uniform = device.create_buffer(UNIFORM_BYTES, 0x40 | 0x08, label="overlay")
        self._lines: list[Buffer] = []
        self._quads = Buffer(device, 64, label="overlay quads")
        self._pipelines: dict[tuple[str, bool], Any] = {}
        self._texture: Any = None
        self._texture_version = -1
        self._no_depth: Any = None

    def canvas(self, size: tuple[int, int]) -> Canvas:
        """An empty canvas for a picture of that size."""
        return Canvas(size, self.atlas)

    def draw(
        self,
        encoder: Any,
        target: Any,
        size: tuple[int, int],
        *,
        canvas: Canvas | None = None,
        lines: Lines | None = None,
        view: Array | None = None,
        projection: Array | None = None,
        depth: Depth | None = None,
    ) -> None:
        """Encodes a pass that draws over `target`. Lines need the camera: `view (3, 4)` and the `projection (4, 4)` that
        the depth was made with, from 0 to 1. Once for each submission."""
        quads = np.zeros((0, 13), np.float32) if canvas is None else canvas.quads
        count = 0 if lines is None else len(lines.start)
        if not count and not len(quads):
            return
        with self.device.guard("drawing over a picture"):
            self._write_uniform(size, view, projection, depth)
            render = encoder.begin_render_pass(
                label="overlay",
                color_attachments=[{"view": target, "load_op": "load", "store_op": "store"}],
            )
            if count and lines is not None:
                self._draw_lines(render, lines, depth)
            if len(quads):
                self._draw_quads(render, quads)
            render.end()

    def _write_uniform(
        self, size: tuple[int, int], view: Array | None, projection: Array | None, depth: Depth | None
    ) -> None:
        data = np.zeros(40, np.float32)
        if view is not None and projection is not None:
            data[:16] = np.vstack([view, [0.0, 0.0, 0.0, 1.0]]).T.ravel()
            data[16:32] = np.asarray(projection).T.ravel()
            data[36] = abs(float(projection[3, 2])) > 0  # w depends on z: things shrink with distance
        data[32:34], data[34], data[35] = size, size[1] / 720, NEARER
        data[37], data[38] = depth is not None, depth is not None and depth.reversed
        data[39] = self.format.endswith("srgb")
        self.device.write(self._uniform, data)

    def _draw_lines(self, render: Any, lines: Lines, depth: Depth | None) -> None:
        records = np.zeros((len(lines.start), 16), np.float32)
        records[:, 0:3], records[:, 3] = lines.start, lines.widths[:, 0]
        records[:, 4:7], records[:, 7] = lines.end, lines.widths[:, 1]
        records[:, 8:12], records[:, 12] = lines.colors, lines.hidden
        several = depth is not None and depth.multisampled
        pipeline = self._pipeline("line", several)
        render.set_pipeline(pipeline)
        seen = depth.view if depth is not None else self._empty_depth()
        # As many at a time as the device lets a shader see.
        for number, (first, last) in enumerate(chunks(len(records), self.device.max_binding // LINE_BYTES)):
            if number == len(self._lines):
                self._lines.append(Buffer(self.device, LINE_BYTES, label="overlay lines"))
            buffer = self._lines[number]
            buffer.write(records[first:last], keep=False)
            entries = [
                _bound(0, self._uniform, UNIFORM_BYTES),
                _bound(1, buffer.raw, LINE_BYTES * (last - first)),
                {"binding": 2, "resource": seen},
            ]
            render.set_bind_group(0, self._group(pipeline, entries))
            render.draw(4, last - first)

    def _draw_quads(self, render: Any, quads: Array) -> None:
        records = np.zeros((len(quads), 16), np.float32)
        records[:, :13] = quads
        self._quads.write(records, keep=False)
        pipeline = self._pipeline("quad", False)
        render.set_pipeline(pipeline)
        atlas = {"binding": 4, "resource": self._atlas_view()}
        entries = [_bound(0, self._uniform, UNIFORM_BYTES), _bound(3, self._quads.raw, records.nbytes), atlas]
        render.set_bind_group(0, self._group(pipeline, entries))
        render.draw(4, len(records))

    def _group(self, pipeline: Any, entries: list[dict[str, Any]]) -> Any:
        return self.device.raw.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries)

    def _pipeline(self, kind: str, multisampled: bool) -> Any:
        key = (kind, multisampled)
        if key not in self._pipelines:
            source = resources.files("marrow.rendering").joinpath("shaders/overlay.wgsl").read_text("utf-8")
            texture = "texture_depth_multisampled_2d" if multisampled else "texture_depth_2d"
            module = self.device.raw.create_shader_module(
                label="overlay", code=source.replace("DEPTH_TEXTURE", texture)
            )
            self._pipelines[key] = self.device.raw.create_render_pipeline(
                label=f"overlay {kind}",
                layout="auto",
                vertex={"module": module, "entry_point": f"{kind}_vertex"},
                primitive={"topology": "triangle-strip"},
                fragment={
                    "module": module,
                    "entry_point": f"{kind}_fragment",
                    "targets": [{"format": self.format, "blend": _BLEND}],
                },
            )
        return self._pipelines[key]

    def _atlas_view(self) -> Any:
        pixels = self.atlas.pixels
        if self._texture is None or self._texture.size[1] != len(pixels):
            self._texture = self.device.raw.create_texture(
                label="letters", size=(SIDE, len(pixels), 1), format="rg8unorm", usage=0x04 | 0x02
            )
            self._texture_version = -1
        if self._texture_version != self.atlas.version:
            self.device.raw.queue.write_texture(
                {"texture": self._texture},
                pixels,
                {"bytes_per_row": 2 * SIDE, "rows_per_image": len(pixels)},
                (SIDE, len(pixels), 1),
            )
            self._texture_version = self.atlas.version
        return self._texture.create_view()

    def _empty_depth(self) -> Any:
        if self._no_depth is None:
            texture = self.device.raw.create_texture(size=(1, 1, 1), format="depth32float", usage=0x04 | 0x10)
            self._no_depth = texture.create_view()
        return self._no_depth


def _bound(binding: int, buffer: Any, size: int) -> dict[str, Any]:
    return {"binding": binding, "resource": {"buffer": buffer, "offset": 0, "size": size}}
