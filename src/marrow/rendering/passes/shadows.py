"""`ShadowMap`: what the sun sees of a scene, drawn from the skinned vertices."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.gpu.device import Device
from marrow.rendering.drawlist import Draw, DrawList
from marrow.rendering.passes.lamp_shadows import LampView, lamp_views
from marrow.rendering.passes.shadow_cascades import CascadeFit, fit_cascades
from marrow.rendering.recorder import Recorder
from marrow.rendering.resources.materials import MATERIAL, Materials
from marrow.rendering.resources.pipelines import Pipelines, vertex_buffers
from marrow.rendering.resources.targets import DEPTH, HDR
from marrow.rendering.resources.uniforms import CASCADE, CASCADES, FRAME
from marrow.rendering.resources.wgsl import source
from marrow.scene.actor_state import ActorState
from marrow.scene.bounding_boxes import BoundingBoxes
from marrow.scene.camera import Camera
from marrow.scene.lights import Light
from marrow.scene.scene import Scene

__all__ = ["ShadowMap"]

Array = NDArray[Any]
BLOCK = 4
"""Texels on a side that wide edges of shadows are filtered by at once."""
LEAST = "r32float"
_PLAIN = (bool, int, float, tuple)


class ShadowMap:
    """The map of shadows: `resolution` texels wide, in up to `most` cascades. `fits` are those of the present picture;
    `slack` is how far, in metres, the casters of each may be off what is lit: coarser levels of it."""

    def __init__(self, device: Device, pipelines: Pipelines, *, resolution: int, most: int) -> None:
        self.device, self.pipelines = device, pipelines
        self.resolution, self.most, self.version = resolution, min(most, CASCADES), 0
        self.taps = 12 if device.adapter.is_software else 24
        self.fits: list[CascadeFit] = []
        self.lamps: list[LampView] = []
        self.slack = [0.0] * CASCADES
        raw = device.raw
        self.sampler = raw.create_sampler(mag_filter="linear", min_filter="linear", compare="less-equal")
        self.smooth = raw.create_sampler(mag_filter="linear", min_filter="linear", mipmap_filter="linear")
        self._sum_layouts = [
            raw.create_bind_group_layout(
                label="blocks of shadows",
                entries=[{"binding": i, "visibility": 2, "texture": {"sample_type": kind}}],
            )
            for i, kind in enumerate(("depth", "unfilterable-float"))
        ]
        self._resize(1, 1)
        self._layout = raw.create_bind_group_layout(
            label="sun", entries=[{"binding": 0, "visibility": 3, "buffer": {"type": "uniform"}}]
        )
        self._group: Any = None
        # What the present fits were made from: a picture in which nothing of it changed keeps them.
        self._fitted: tuple[Any, ...] | None = None
        self._casters: list[list[Array]] = []

    def _resize(self, resolution: int, layers: int) -> None:
        # A view of several layers must have them all, so one more than is asked for costs nothing but memory.
        self._texture = self.device.raw.create_texture(
            label="shadows", size=(resolution, resolution, max(2, layers)), format=DEPTH, usage=0x10 | 0x04
        )
        self._size = (resolution, layers)
        self.view = self._texture.create_view(dimension="2d-array")
        self._layers, self._sums = [], []
        raw, views = self.device.raw, {"dimension": "2d", "array_layer_count": 1}
        blocks, least = (
            raw.create_texture(
                label="blocks of shadows",
                size=(max(resolution // side, 1), max(resolution // side, 1), max(2, layers)),
                format=kind,
                usage=0x10 | 0x04,
            )
            for side, kind in ((BLOCK, HDR), (8 * BLOCK, LEAST))
        )
        self.blocks, self.least = (t.create_view(dimension="2d-array") for t in (blocks, least))
        for i in range(layers):
            map_, small, smallest = (
                t.create_view(base_array_layer=i, **views) for t in (self._texture, blocks, least)
            )
            self._layers.append(map_)
            for target, from_, layout in ((small, map_, 0), (smallest, small, 1)):
                group = raw.create_bind_group(
                    layout=self._sum_layouts[layout], entries=[{"binding": layout, "resource": from_}]
                )
                self._sums.append((target, group))
        self.version += 1

    def fit(self, scene: Scene, camera: Camera, there: list[ActorState], origin: Array) -> list[list[Array]]:
        """Finds the cascades of a picture. Returns which instances each has to draw: `[actor][cascade] (N,)` bool."""
        sun = scene.sun
        key = (
            camera,
            sun,
            scene.ground,
            tuple(scene.lights),
            self.resolution,
            self.most,
            tuple(origin.tolist()),
            *(x for m in there for x in (m.actor.shadows, m.boxes)),
        )
        if self._fitted is not None and _same(key, self._fitted):
            return [list(cast) for cast in self._casters]
        self.fits, self.lamps, self._fitted = [], [], None
        if sun is not None and sun.shadows and sun.intensity > 0 and there:
            self.fits = fit_cascades(
                np.array(sun.direction),
                camera,
                BoundingBoxes.joined([m.boxes for m in there]),
                None
                if all(m.actor.shadows for m in there)
                else np.repeat([m.actor.shadows for m in there], [m.count for m in there]),
                ground=scene.ground,
                resolution=self.resolution,
                most=self.most,
                origin=origin,
                softness=sun.softness,
            )
        if there and any(light is not sun and getattr(light, "shadows", False) for light in scene.lights):
            boxes, casts = BoundingBoxes.joined([m.boxes for m in there]), [m.actor.shadows for m in there]
            self.lamps = lamp_views(
                [light for light in scene.lights if light is not sun],
                boxes,
                None if all(casts) else np.repeat(casts, [m.count for m in there]),
                origin,
                self.resolution,
            )
        if self.views and (self._size[0] != self.resolution or self._size[1] < len(self.views)):
            self._resize(self.resolution, len(self.views))
        at = np.cumsum([0, *(m.count for m in there)])
        self._casters = [[f.casters[a:b] for f in self.views] for a, b in itertools.pairwise(at)]
        self._fitted = key
        return [list(cast) for cast in self._casters]

    @property
    def views(self) -> list[CascadeFit | LampView]:
        """All that is drawn into the map: layers of the sun, then those of lamps."""
        return [*self.fits, *self.lamps]

    def lamp_rows(self) -> dict[Light, tuple[float, float, float, float]]:
        """Of each lamp that casts shadows: its first view, how many it has, a texel of the map, and that a metre away."""
        out: dict[Light, tuple[float, float, float, float]] = {}
        for i, view in enumerate(self.lamps):
            first, count, *_ = out.get(view.light, (float(i), 0.0))
            out[view.light] = (first, count + 1, 1 / self.resolution, 2 * view.slope / self.resolution)
        return out

    def put(self, record: Any) -> None:
        """Writes the cascades into the frame's uniform."""
        for i, view in enumerate(self.lamps):
            record["lamp_views"][i] = view.matrix.T
        for i, fit in enumerate(self.fits):
            CASCADE.put(
                record["cascades"][i],
                matrix=fit.matrix,
                texel=(fit.texel, 1 / self.resolution, fit.depth, self.slack[i]),
            )

    def encode(self, encoder: Any, draws: DrawList, uniform: Any, timer: Any = None) -> None:
        """Draws the casters of every cascade and of every lamp's view."""
        if self._group is None:
            self._group = self.device.raw.create_bind_group(
                layout=self._layout,
                entries=[{"binding": 0, "resource": {"buffer": uniform, "offset": 0, "size": uniform.size}}],
            )
        for i in range(len(self.views)):
            step = encoder.begin_render_pass(
                color_attachments=[],
                depth_stencil_attachment={
                    "view": self._layers[i],
                    "depth_load_op": "clear",
                    "depth_store_op": "store",
                    "depth_clear_value": 1.0,
                },
                **({} if timer is None else timer.writes("shadows")),
            )
            step.set_bind_group(0, self._group)
            recorder = Recorder(step)
            for draw in draws.casters[i]:
                masked = draw.material.material.alpha_mode != "opaque"
                pipeline = self._pipeline(draw, draws.materials, draws.layout, masked)
                recorder.draw(pipeline, draw, attributes=masked)
            step.end()
            for k in (0, 1) if i < len(self.fits) else ():
                self._sum_up(encoder, k, *self._sums[2 * i + k], timer)

    def _sum_up(self, encoder: Any, which: int, target: Any, group: Any, timer: Any) -> None:
        """Draws the blocks of a cascade, or the least depths of these."""
        step = encoder.begin_render_pass(
            color_attachments=[
                {"view": target, "load_op": "clear", "store_op": "store", "clear_value": (0, 0, 1, 0)}
            ],
            **({} if timer is None else timer.writes("shadows")),
        )
        key = ("blocks of shadows", which)
        step.set_pipeline(
            self.pipelines.find(key)
            or self.pipelines.make(
                key,
                source("screen", "shadow_blocks"),
                [self._sum_layouts[which]],
                vertex={"entry_point": "screen_vertex"},
                fragment={
                    "entry_point": ("blocks", "least_depth")[which],
                    "targets": [{"format": (HDR, LEAST)[which]}],
                },
                primitive={"topology": "triangle-list"},
            )
        )
        step.set_bind_group(0, group)
        step.draw(3)
        step.end()

    def _pipeline(self, draw: Draw, materials: Materials, layout: Any, masked: bool) -> Any:
        geometry, constants = draw.geometry, draw.material.constants
        key: Any = (
            (
                "caster",
                geometry.uv_stride,
                geometry.color_stride,
                draw.has_normals,
                draw.has_tangents,
                constants,
            )
            if masked
            else "caster"
        )
        found = self.pipelines.find(key)
        if found is not None:
            return found
        head = (CASCADE.wgsl, FRAME.wgsl, "common", "vertex", "caster")
        common: dict[str, Any] = {
            "primitive": {"topology": "triangle-list", "cull_mode": "none"},
            "depth_stencil": {"format": DEPTH, "depth_write_enabled": True, "depth_compare": "less"},
        }
        layouts = [self._layout, materials.layout, layout]
        if not masked:
            return self.pipelines.make(
                key, source(*head), layouts, vertex={"entry_point": "caster_vertex"}, **common
            )
        has = {"HAS_NORMALS": float(draw.has_normals), "HAS_TANGENTS": float(draw.has_tangents)}
        return self.pipelines.make(
            key,
            source(*head, MATERIAL.wgsl, "brdf", "surface", "caster_masked"),
            layouts,
            vertex={
                "entry_point": "masked_vertex",
                "constants": has,
                "buffers": vertex_buffers(geometry.uv_stride, geometry.color_stride),
            },
            fragment={
                "entry_point": "masked_fragment",
                "constants": {**dict(constants), **has},
                "targets": [],
            },
            **common,
        )


def _same(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    """Whether a picture needs the same cascades. Cameras, lights and boxes are frozen: the same object, the same value."""
    return len(a) == len(b) and all(x is y or (isinstance(x, _PLAIN) and x == y) for x, y in zip(a, b))
