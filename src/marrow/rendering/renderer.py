"""`Renderer`: draws scenes into pictures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import GpuError, ValidationError
from marrow.gpu.device import Device
from marrow.gpu.drivers import load_wgpu
from marrow.model import _validate
from marrow.model.character import Character
from marrow.rendering.drawlist import DrawList
from marrow.rendering.frame import Frame
from marrow.rendering.passes.ambient_occlusion import ContactShading
from marrow.rendering.passes.antialias import EdgeSmoothing
from marrow.rendering.passes.deferred import DeferredPath
from marrow.rendering.passes.forward import ForwardPath
from marrow.rendering.passes.glow import Glow
from marrow.rendering.passes.outputs import OutputPass, check_outputs
from marrow.rendering.passes.overlay import Depth
from marrow.rendering.passes.shadows import ShadowMap
from marrow.rendering.passes.tonemap import ToneMapping
from marrow.rendering.passes.view_pass import ViewPass
from marrow.rendering.resources.frame_uniforms import FrameData
from marrow.rendering.resources.materials import Materials
from marrow.rendering.resources.pipelines import Pipelines
from marrow.rendering.resources.targets import PICTURE, Targets, picture_size, read_pixels
from marrow.scene.actor_state import ActorState, actor_states
from marrow.scene.camera import Camera
from marrow.scene.frustum_culling import Detail, view_planes
from marrow.scene.scene import Scene
from marrow.scene.views import View, parse_views

__all__ = ["Renderer"]

Array = NDArray[Any]
RENDER_PATHS = ("forward", "deferred")
SOFTWARE_TRIANGLES = 500_000


class Renderer:
    """Draws scenes, on the GPU or in software.

        renderer = mw.Renderer(size=(1280, 720))
        frame = renderer.render(mw.Scene(hero), camera)                     # a Frame: pixels
        renderer.draw(scene, camera, texture_view, format="bgra8unorm")     # or into a texture of a window

    Keep it: what it has uploaded stays for the next picture.

    - `render_path`: "forward", or "deferred" for hundreds of lamps. Both look alike.
    - `samples` a pixel (1 or 4) smooth edges; with one, as the deferred path has, the finished picture is smoothed.
    - `contact`: whether what is close together shades each other. `glow`: whether light is seen around what sends out more
      than a screen can show.
    - `pixels`: how far off the worst point of a level of detail may look. Where that takes more than so many `triangles`
      (500,000 in software, any number on a GPU), all of a crowd become coarser alike.
    - `shadow_size`: texels of the map of shadows, on each side.
    """

    def __init__(
        self,
        size: tuple[int, int] = (1280, 720),
        *,
        device: Device | None = None,
        render_path: str = "forward",
        samples: int = 4,
        pixels: float = 1.0,
        triangles: float | None = None,
        shadow_size: int | None = None,
        contact: bool = True,
        glow: bool = True,
    ) -> None:
        who = "Renderer"
        load_wgpu("render", "drawing pictures")
        self.device = Device.best() if device is None else _validate.instance(who, "device", device, Device)
        _validate.one_of(who, "render_path", render_path, RENDER_PATHS)
        if samples not in (1, 4):
            raise ValidationError(f"{who}: samples: expected 1 or 4, got {_validate.shown(samples)}")
        if self.device.adapter.backend.startswith("OpenGL"):
            raise GpuError(
                f"{who}: {self.device.adapter} cannot draw shadows: pictures need Vulkan, Metal or Direct3D 12 (on Linux "
                "apt-get install mesa-vulkan-drivers; MARROW_GPU=vulkan chooses it)"
            )
        software = self.device.adapter.is_software
        if shadow_size is None:
            shadow_size = 1024 if software else 2048
        shadow_size = _validate.integer(who, "shadow_size", shadow_size, low=64)
        picture_size(self.device, (shadow_size, shadow_size))
        self.render_path, self.samples = render_path, 1 if render_path == "deferred" else samples
        self.contact = _validate.flag(who, "contact", contact)
        self.glow = _validate.flag(who, "glow", glow)
        if triangles is None:
            triangles = SOFTWARE_TRIANGLES if software else math.inf
        self.detail = Detail(
            _validate.number(who, "pixels", pixels, low=0, above=True),
            _validate.number(who, "triangles", triangles, low=0, finite=False),
        )
        self._size = picture_size(self.device, size)
        self._targets: Targets | None = None
        with self.device.guard("making a renderer"):
            self.pipelines = Pipelines(self.device)
            self.materials = Materials(self.device)
            self.list = DrawList(self.device, self.materials)
            self.shadows = ShadowMap(
                self.device, self.pipelines, resolution=shadow_size, most=2 if software else 4
            )
            self.frame = FrameData(self.device, self.shadows)
            self.forward = ForwardPath(self.frame, self.list, self.pipelines)
            self.deferred = DeferredPath(self.device, self.forward)
            self.contact_shading = ContactShading(self.device, self.frame, self.pipelines)
            self.glow_pass = Glow(self.device, self.frame, self.pipelines)
            self.smoothing = EdgeSmoothing(self.device, self.pipelines)
            self.tone_mapping = ToneMapping(self.device, self.frame, self.pipelines)
            self.views = ViewPass(self.device)
            self.outputs = OutputPass(self.frame, self.list, self.pipelines)

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
        self,
        scene: Scene,
        camera: Camera,
        *,
        size: tuple[int, int] | None = None,
        view: Any = None,
        compare: Character | None = None,
        outputs: Sequence[str] = ("color",),
    ) -> Frame:
        """Draws a scene and brings the picture back. `view` names what else it shows: "skeleton" (docs/rendering.md);
        `compare` is the character that the view "difference" compares with. `outputs` asks for more than colours: "depth",
        "normals", "ids", "parts", "joint_ids", "joints"."""
        wanted = check_outputs(outputs)
        if size is not None:
            self.size = size
        # Labels must not depend on how large something is in the picture: coarser levels have fewer joints.
        finest = wanted != ("color",)
        target = self.targets.picture_view
        there = self.draw(scene, camera, target, view=view, compare=compare, finest=finest)
        found = self.outputs.render(wanted, there, camera, self._size)
        return Frame(read_pixels(self.device, self.targets.picture), found, camera)

    def draw(
        self,
        scene: Scene,
        camera: Camera,
        target: Any,
        *,
        size: tuple[int, int] | None = None,
        format: str = "rgba8unorm",
        view: Any = None,
        compare: Character | None = None,
        finest: bool = False,
        timer: Any = None,
    ) -> list[ActorState]:
        """Draws a scene into a texture view of `size` and `format`, without waiting. `finest` draws at level 0 what chooses
        its level of detail by itself. `timer` is a `gpu.Clock`. Returns the actors as they were drawn."""
        _validate.instance("draw", "scene", scene, Scene)
        _validate.instance("draw", "camera", camera, Camera)
        if compare is not None:
            _validate.instance("draw", "compare", compare, Character)
        if size is not None:
            self.size = size
        with self.device.guard("drawing"):
            there, views = actor_states(scene), parse_views(view)
            # What is compared is whole characters, not levels of detail.
            finest = finest or any(v.name == "difference" for v in views)
            self._arrange(scene, camera, there, views, compare, finest, timer)
            encoder = self.device.raw.create_command_encoder()
            self.shadows.encode(encoder, self.list, self.frame.uniform.raw, timer)
            self.frame.lamps.encode(encoder)
            path = self.deferred if self.render_path == "deferred" else self.forward
            path.encode(encoder, self.targets, scene.ground is not None, timer)
            self._finish(encoder, target, format, timer)
            if views:
                depth = Depth(self.targets.depth_view, self.samples > 1, reversed=True)
                self.views.draw(encoder, target, format, self._size, camera, depth)
            if timer is not None:
                timer.finish(encoder)
            self.device.raw.queue.submit([encoder.finish()])
        return there

    def _finish(self, encoder: Any, target: Any, format: str, timer: Any) -> None:
        """Contact shading, tone mapping, and smooth edges where the path has left them rough."""
        # Colours of a view, and of what is not lit, stay as they are.
        draws = self.list.opaque + self.list.blended
        lit = any(not d.material.material.unlit for d in draws) and not any(d.painted for d in draws)
        contact = self.contact_shading.none
        if self.contact and lit:
            contact = self.contact_shading.encode(encoder, self.targets, timer)
        shaded = contact is not self.contact_shading.none
        glow = self.glow_pass.none
        glows = self.glow and any(d.material.glows and not d.painted for d in draws)
        if glows:
            glow = self.glow_pass.encode(encoder, self.targets, timer)
        if self.samples > 1:
            self.tone_mapping.encode(
                encoder, self.targets, contact, shaded, glow, glows, target, format, timer
            )
            return
        rough = self.smoothing.source(self._size)
        self.tone_mapping.encode(encoder, self.targets, contact, shaded, glow, glows, rough, PICTURE, timer)
        self.smoothing.encode(encoder, target, format, timer)

    def _arrange(
        self,
        scene: Scene,
        camera: Camera,
        there: list[ActorState],
        views: Sequence[View],
        compare: Character | None,
        finest: bool,
        timer: Any,
    ) -> None:
        """Chooses what is drawn, where and how finely, and skins it."""
        self.frame.origin = origin = camera.eye
        planes = view_planes(camera)
        casters = self.shadows.fit(scene, camera, there, origin)
        texels = [f.texel for f in self.shadows.views]
        self.shadows.slack = [0.0] * len(texels)
        seen = [m.boxes.touching(planes) for m in there]
        chosen = self.detail.levels(there, seen, camera, finest=finest)
        levels = [np.where(on, own, -1) for on, own in zip(seen, chosen)]
        shadow_levels = []
        for state, cast, own in zip(there, casters, chosen):
            any_cast = np.logical_or.reduce(cast) & (own >= 0) if cast else np.zeros(state.count, bool)
            coarse = own
            if not self.list.gpu_skinning and state.crowd is None and len(state.actor.character.levels) > 1:
                coarse, slack = Detail.for_shadows(state, own, cast, texels)
                self.shadows.slack = np.maximum(self.shadows.slack, slack).tolist()
            shadow_levels.append(np.where(any_cast, coarse, -1))
        everything = list(there)
        for ghost in self.views.prepare(views, there, levels, compare) if views else ():
            everything.append(ghost)
            levels.append(np.zeros(ghost.count, np.int64))
            shadow_levels.append(np.full(ghost.count, -1))
            casters.append([np.zeros(ghost.count, bool) for _ in self.shadows.views])
        self.list.build(everything, levels, shadow_levels, casters, origin, -camera.view[2, :3], timer)
        self.frame.put(scene, camera, there, self._size, self.samples)
