"""`Renderer`: draws scenes into pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.gpu.buffers import Buffer, usage
from marrow.gpu.device import Device
from marrow.lod.camera import Camera
from marrow.model import _validate
from marrow.rendering.drawlist import Draw, DrawList
from marrow.rendering.frame import Frame
from marrow.rendering.lights import DirectionalLight, PointLight, SpotLight
from marrow.rendering.materials import Materials
from marrow.rendering.moment import Moment, moments
from marrow.rendering.scene import Scene
from marrow.rendering.surroundings import surroundings
from marrow.rendering.targets import DEPTH, HDR, Targets, picture_size, read_pixels
from marrow.rendering.uniforms import CASCADE, CASCADES, FRAME, LIGHT, clip_matrix
from marrow.rendering.wgsl import source

__all__ = ["Renderer"]

Array = NDArray[Any]
PATHS = ("forward", "deferred")
_COMMON = (CASCADE.wgsl, LIGHT.wgsl, FRAME.wgsl, "common", "shadow")
_PREMULTIPLIED = {
    "color": {"src_factor": "one", "dst_factor": "one-minus-src-alpha", "operation": "add"},
    "alpha": {"src_factor": "one", "dst_factor": "one-minus-src-alpha", "operation": "add"},
}


class Renderer:
    """Draws scenes, on the GPU or in software.

        renderer = mw.Renderer(size=(1280, 720))
        frame = renderer.render(mw.Scene(hero), camera)      # a Frame: pixels
        renderer.draw(scene, camera, texture_view, format)   # or into a texture of a window

    Keep it: what it has uploaded stays for the next picture. `samples` a pixel (1 or 4) smooth edges.
    """

    def __init__(
        self,
        size: tuple[int, int] = (1280, 720),
        *,
        device: Device | None = None,
        path: str = "forward",
        samples: int = 4,
    ) -> None:
        self.device = (
            Device.best() if device is None else _validate.instance("Renderer", "device", device, Device)
        )
        _validate.one_of("Renderer", "path", path, PATHS)
        if samples not in (1, 4):
            raise ValidationError(f"Renderer: samples: expected 1 or 4, got {_validate.shown(samples)}")
        self.path, self.samples = path, samples
        self.materials = Materials(self.device)
        self.list = DrawList(self.device, self.materials)
        self._targets: Targets | None = None
        self._size = picture_size(self.device, size)
        self._pipelines: dict[Any, Any] = {}
        self._frame = np.zeros((), FRAME.dtype)
        self._uniform = Buffer(self.device, FRAME.dtype.itemsize, label="frame", flags=usage("uniform"))
        self._lights = Buffer(self.device, LIGHT.dtype.itemsize, label="lights")
        raw = self.device.raw
        self.frame_layout = raw.create_bind_group_layout(
            entries=[
                {"binding": 0, "visibility": 7, "buffer": {"type": "uniform"}},
                {
                    "binding": 1,
                    "visibility": 2,
                    "texture": {"sample_type": "depth", "view_dimension": "2d-array"},
                },
                {"binding": 2, "visibility": 2, "sampler": {"type": "comparison"}},
                {"binding": 3, "visibility": 2, "buffer": {"type": "read-only-storage"}},
            ]
        )
        self._screen_layout = raw.create_bind_group_layout(
            entries=[{"binding": 0, "visibility": 2, "texture": {"sample_type": "unfilterable-float"}}]
        )
        self._shadow_map = raw.create_texture(size=(1, 1, CASCADES), format=DEPTH, usage=0x10 | 0x04)
        self._shadow_sampler = raw.create_sampler(
            mag_filter="linear", min_filter="linear", compare="less-equal"
        )

    # -- pictures ---------------------------------------------------------------------------------------------------
    @property
    def size(self) -> tuple[int, int]:
        """Width and height of pictures; may be set."""
        return self._size

    @size.setter
    def size(self, size: tuple[int, int]) -> None:
        self._size = picture_size(self.device, size)

    @property
    def targets(self) -> Targets:
        """The textures of the present size."""
        if self._targets is None or self._targets.size != self._size:
            self._targets = Targets(self.device, self._size, self.samples)
        return self._targets

    def render(
        self, scene: Scene, camera: Camera, *, view: Any = None, outputs: Sequence[str] = ("color",)
    ) -> Frame:
        """Draws a scene and brings the picture back."""
        self.draw(scene, camera, self.targets.picture_view, "rgba8unorm")
        return Frame(read_pixels(self.device, self.targets.picture), camera=camera)

    def draw(self, scene: Scene, camera: Camera, target: Any, format: str = "rgba8unorm") -> None:
        """Draws a scene into a texture view of the renderer's `size`, without waiting for the GPU."""
        _validate.instance("draw", "scene", scene, Scene)
        _validate.instance("draw", "camera", camera, Camera)
        with self.device.guard("drawing"):
            there = moments(scene)
            origin = camera.eye
            self._prepare(scene, camera, there, origin)
            self.list.build(there, [np.zeros(m.count, np.int64) for m in there], origin)
            encoder = self.device.raw.create_command_encoder()
            group = self._frame_group()
            self._forward(encoder, group, scene)
            self._tonemap(encoder, group, target, format)
            self.device.raw.queue.submit([encoder.finish()])

    # -- what all shaders share -------------------------------------------------------------------------------------
    def _prepare(self, scene: Scene, camera: Camera, there: list[Moment], origin: Array) -> None:
        whole = clip_matrix(camera, origin)
        around, sun = surroundings(scene.environment), scene.sun
        low, high = _extent(there)
        center, radius = (low + high) / 2 - origin, float(np.linalg.norm(high - low)) / 2
        unit = 10.0 ** np.floor(np.log10(max(radius, 1e-30)))
        lights = [light for light in scene.lights if light is not sun]
        ground = 0.0 if scene.ground is None else scene.ground
        view = np.vstack([camera.view, [0, 0, 0, 1]])
        view[:3, 3] += view[:3, :3] @ origin
        perspective = camera.projection[3, 3] == 0
        FRAME.put(
            self._frame,
            view_projection=whole,
            inverse_view_projection=np.linalg.inv(whole),
            view=view,
            origin=origin,
            eye=(*(camera.eye - origin), 1.0 if perspective else 0.0),
            forward=-camera.view[2, :3],
            size=(*self._size, 1 / self._size[0], 1 / self._size[1]),
            scene=(*center, radius),
            sun_direction=(0, 1, 0, 0) if sun is None else (*(-np.array(sun.direction)), 0.0),
            sun_color=(0, 0, 0, 0) if sun is None else (*(np.array(sun.color) * sun.intensity), sun.softness),
            ambient=(*([scene.environment.ambient] * 3), scene.environment.exposure),
            ground=(ground - origin[1], max(7 * radius, 12 * unit), unit, float(scene.ground is not None)),
            floor_color=(*around.floor, around.floor_cover),
            line_color=(*around.line, around.line_cover if scene.grid else 0.0),
            grid=(origin[0] % (5 * unit), origin[2] % (5 * unit), around.darkness),
            background_top=(*around.top, around.kind),
            background_bottom=around.bottom,
            counts=(len(lights), 0, self.samples, 0),
        )
        self.device.write(self._uniform.raw, self._frame)
        records = np.zeros(max(1, len(lights)), LIGHT.dtype)
        for record, light in zip(records, lights):
            _put_light(record, light, origin)
        self._lights.write(records, keep=False)

    def _frame_group(self) -> Any:
        resources = [
            {"buffer": self._uniform.raw, "offset": 0, "size": self._uniform.size},
            self._shadow_map.create_view(dimension="2d-array"),
            self._shadow_sampler,
            {"buffer": self._lights.raw, "offset": 0, "size": self._lights.size},
        ]
        return self.device.raw.create_bind_group(
            layout=self.frame_layout,
            entries=[{"binding": i, "resource": r} for i, r in enumerate(resources)],
        )

    # -- passes -----------------------------------------------------------------------------------------------------
    def _forward(self, encoder: Any, group: Any, scene: Scene) -> None:
        targets = self.targets
        color: dict[str, Any] = {"load_op": "clear", "clear_value": (0, 0, 0, 0)}
        if targets.many_view is None:
            color.update(view=targets.light_view, store_op="store")
        else:
            color.update(view=targets.many_view, resolve_target=targets.light_view, store_op="discard")
        step = encoder.begin_render_pass(
            color_attachments=[color],
            depth_stencil_attachment={
                "view": targets.depth_view,
                "depth_load_op": "clear",
                "depth_store_op": "store",
                "depth_clear_value": 0.0,
            },
        )
        step.set_bind_group(0, group)
        for draw in self.list.draws:
            self._draw(step, self._forward_pipeline(draw), draw)
        if scene.ground is not None:
            step.set_pipeline(self._ground_pipeline())
            step.draw(4)
        step.end()

    def _draw(self, step: Any, pipeline: Any, draw: Draw) -> None:
        step.set_pipeline(pipeline)
        step.set_bind_group(1, draw.material.group)
        step.set_bind_group(2, draw.group)
        step.set_vertex_buffer(0, draw.geometry.uvs.raw)
        step.set_vertex_buffer(1, draw.geometry.colors.raw)
        step.set_index_buffer(draw.geometry.indices.raw, "uint32")
        step.draw_indexed(draw.section.count, draw.count, draw.section.first, 0, draw.first)

    def _tonemap(self, encoder: Any, group: Any, target: Any, format: str) -> None:
        key = ("tonemap", format)
        if key not in self._pipelines:
            code = source(*_COMMON, "sky", "tonemap")
            self._pipelines[key] = self._pipeline(
                code,
                "tonemap",
                [self.frame_layout, self._screen_layout],
                vertex={"entry_point": "screen_vertex"},
                fragment={
                    "entry_point": "tonemap",
                    "constants": {"ENCODE": float(not format.endswith("srgb"))},
                    "targets": [{"format": format}],
                },
                primitive={"topology": "triangle-list"},
            )
        step = encoder.begin_render_pass(
            color_attachments=[
                {"view": target, "load_op": "clear", "store_op": "store", "clear_value": (0, 0, 0, 0)}
            ]
        )
        step.set_pipeline(self._pipelines[key])
        step.set_bind_group(0, group)
        step.set_bind_group(
            1,
            self.device.raw.create_bind_group(
                layout=self._screen_layout, entries=[{"binding": 0, "resource": self.targets.light_view}]
            ),
        )
        step.draw(3)
        step.end()

    # -- pipelines --------------------------------------------------------------------------------------------------
    def _pipeline(self, code: str, label: str, layouts: list[Any], **parts: Any) -> Any:
        module = self.device.raw.create_shader_module(label=label, code=code)
        for stage in ("vertex", "fragment"):
            if stage in parts:
                parts[stage] = {"module": module, **parts[stage]}
        layout = self.device.raw.create_pipeline_layout(bind_group_layouts=layouts)
        return self.device.raw.create_render_pipeline(label=label, layout=layout, **parts)

    def _forward_pipeline(self, draw: Draw) -> Any:
        geometry, material = draw.geometry, draw.material
        key = (
            "forward",
            geometry.uv_stride,
            geometry.color_stride,
            draw.has_normals,
            draw.has_tangents,
            draw.mirrored,
            material.material.double_sided,
            material.constants,
        )
        if key not in self._pipelines:
            self._pipelines[key] = self._pipeline(
                source(*_COMMON, "vertex", "surface", "lighting", "forward"),
                "forward",
                [self.frame_layout, self.materials.layout, self.list.layout],
                vertex={
                    "entry_point": "vertex_main",
                    "constants": {
                        "HAS_NORMALS": float(draw.has_normals),
                        "HAS_TANGENTS": float(draw.has_tangents),
                    },
                    "buffers": vertex_buffers(geometry.uv_stride, geometry.color_stride),
                },
                fragment={
                    "entry_point": "fragment_main",
                    "constants": dict(material.constants),
                    "targets": [{"format": HDR, "blend": _PREMULTIPLIED}],
                },
                primitive={
                    "topology": "triangle-list",
                    "front_face": "cw" if draw.mirrored else "ccw",
                    "cull_mode": "none" if material.material.double_sided else "back",
                },
                depth_stencil={"format": DEPTH, "depth_write_enabled": True, "depth_compare": "greater"},
                multisample={"count": self.samples},
            )
        return self._pipelines[key]

    def _ground_pipeline(self) -> Any:
        if "ground" not in self._pipelines:
            self._pipelines["ground"] = self._pipeline(
                source(*_COMMON, "ground"),
                "ground",
                [self.frame_layout],
                vertex={"entry_point": "ground_vertex"},
                fragment={
                    "entry_point": "ground_fragment",
                    "targets": [{"format": HDR, "blend": _PREMULTIPLIED}],
                },
                primitive={"topology": "triangle-strip"},
                depth_stencil={"format": DEPTH, "depth_write_enabled": False, "depth_compare": "greater"},
                multisample={"count": self.samples},
            )
        return self._pipelines["ground"]


def vertex_buffers(uv_stride: int, color_stride: int) -> list[dict[str, Any]]:
    """The vertex buffers of every pipeline that draws sections: UVs and colours."""
    return [
        {"array_stride": stride, "attributes": [{"format": "float32x4", "offset": 0, "shader_location": i}]}
        for i, stride in enumerate((uv_stride, color_stride))
    ]


def _extent(there: list[Moment]) -> tuple[Array, Array]:
    """The box around everything, in the world; a cube of one metre where there is nothing."""
    lows = [m.low[(m.low <= m.high).all(1)] for m in there]
    highs = [m.high[(m.low <= m.high).all(1)] for m in there]
    low = np.concatenate(lows) if lows else np.zeros((0, 3))
    if not len(low):
        return np.full(3, -0.5), np.full(3, 0.5)
    return low.min(0), np.concatenate(highs).max(0)


def _put_light(record: Any, light: Any, origin: Array) -> None:
    color = np.array(light.color) * light.intensity
    if isinstance(light, DirectionalLight):
        LIGHT.put(record, color=(*color, 2.0), direction=light.direction)
        return
    position = np.array(light.position) - origin
    LIGHT.put(record, position=(*position, light.range or 0.0), color=(*color, 0.0))
    if isinstance(light, SpotLight):
        LIGHT.put(
            record,
            color=(*color, 1.0),
            direction=light.direction,
            cone=(np.cos(light.inner), np.cos(light.outer)),
        )
    else:
        assert isinstance(light, PointLight)
