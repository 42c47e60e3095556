"""The forward path: every section is lit as it is drawn, with several samples a pixel."""

from __future__ import annotations

from typing import Any, NamedTuple

from marrow.rendering.drawlist import Draw, DrawList
from marrow.rendering.passes.clustered_lights import LAMP, LAMP_GRID
from marrow.rendering.recorder import Recorder
from marrow.rendering.resources.frame_uniforms import FrameData
from marrow.rendering.resources.materials import MATERIAL
from marrow.rendering.resources.pipelines import PREMULTIPLIED, Pipelines, vertex_buffers
from marrow.rendering.resources.targets import DEPTH, HDR, Targets
from marrow.rendering.resources.uniforms import CASCADE, FRAME
from marrow.rendering.resources.wgsl import source

__all__ = ["COMMON", "LIGHTING", "LIT", "ForwardPath", "FragmentStage"]

COMMON = (CASCADE.wgsl, FRAME.wgsl, "common", "shadow", "environment")
"""Pieces of every shader that looks at shadows."""
LIGHTING = (LAMP.wgsl, LAMP_GRID.wgsl, "ambient", "around", "lamps", "lamp_shadow", "lamp_light", "lighting")
"""Pieces of every shader that lights a surface."""


class FragmentStage(NamedTuple):
    """What fragments of sections end in: pieces of shader, the entry among them, formats of the targets."""

    pieces: tuple[str, ...]
    entry: str
    formats: tuple[str, ...]


LIT = FragmentStage(("brdf", *LIGHTING, "forward"), "fragment_main", (HDR,))
LAYERED = FragmentStage(("brdf", *LIGHTING, "layers", "no_glass"), "fragment_layered", (HDR,))
GLASS = FragmentStage(("brdf", *LIGHTING, "layers", "glass"), "fragment_layered", (HDR,))
"""Materials with more lobes than the G-buffer has room for, and those that are looked through."""
TOON = FragmentStage(("brdf", *LIGHTING, "toon"), "fragment_toon", (HDR,))
OUTLINE = TOON._replace(entry="fragment_outline")
"""VRM's MToon, and the back faces around it."""
COVERED = LIT._replace(entry="fragment_masked")
"""Masks with several samples a pixel."""


class ForwardPath:
    """Draws a list into the targets: opaque sections, the ground, then what is translucent, far things first."""

    def __init__(self, frame: FrameData, draws: DrawList, pipelines: Pipelines) -> None:
        self.frame, self.list, self.pipelines = frame, draws, pipelines
        from marrow.rendering.passes.backdrop import Backdrop  # which needs pieces of this module

        self.backdrop = Backdrop(draws.device, frame, pipelines)

    def encode(self, encoder: Any, targets: Targets, ground: bool, timer: Any = None) -> None:
        step = self._begin(encoder, targets, timer, load=False, last=not self.glass)
        recorder = Recorder(step)
        self.draw_solid(recorder, [d for d in self.list.opaque if not d.glass], targets.samples)
        self.draw_ground(step, targets.samples, ground)
        if self.glass:
            step.end()
            self.backdrop.encode(encoder, targets, timer)
            step = self._begin(encoder, targets, timer, load=True, last=True)
        self.draw_over(step, targets.samples)
        step.end()

    @property
    def glass(self) -> bool:
        """Whether something is looked through."""
        return any(draw.glass for draw in self.list.opaque)

    def _begin(self, encoder: Any, targets: Targets, timer: Any, *, load: bool, last: bool) -> Any:
        """`last`: samples are not asked for again."""
        color: dict[str, Any] = {"load_op": "load" if load else "clear", "clear_value": (0, 0, 0, 0)}
        if targets.many_view is None:
            color.update(view=targets.light_view, store_op="store")
        else:
            color.update(view=targets.many_view, resolve_target=targets.light_view)
            color.update(store_op="discard" if last else "store")
        step = encoder.begin_render_pass(
            color_attachments=[color],
            depth_stencil_attachment={
                "view": targets.depth_view,
                "depth_load_op": "load" if load else "clear",
                "depth_store_op": "store",
                "depth_clear_value": 0.0,
            },
            **({} if timer is None else timer.writes("forward")),
        )
        step.set_bind_group(0, self.frame.group)
        return step

    def draw_solid(self, recorder: Recorder, draws: list[Draw], samples: int) -> None:
        """Records opaque sections, and outlines of those that have one."""
        for draw in draws:
            recorder.draw(self.pipeline(draw, samples, None), draw)
            if draw.outlined:
                recorder.draw(self.pipeline(draw, samples, None, OUTLINE), draw)

    def draw_ground(self, step: Any, samples: int, ground: bool) -> None:
        if ground:
            step.set_pipeline(self.ground_pipeline(samples))
            step.draw(4)

    def draw_over(self, step: Any, samples: int) -> None:
        """Records what is seen through: glass, then blended sections, far ones first."""
        if self.glass:
            step.set_bind_group(3, self.backdrop.group)
        recorder = Recorder(step)
        for draw in self.list.opaque:
            if draw.glass:
                recorder.draw(self.pipeline(draw, samples, None), draw)
        for draw in self.list.blended:
            # Cards of hair hide each other where they are solid, whatever the order of their triangles.
            if ("HAS_BASE_TEXTURE", 1.0) in draw.material.constants:
                recorder.draw(self.pipeline(draw, samples, "solid"), draw)
        for draw in self.list.blended:
            # Back faces first: they are behind the front ones.
            sides = ("front", "back") if draw.material.material.double_sided else ("back",)
            for cull in sides:
                recorder.draw(self.pipeline(draw, samples, cull), draw)

    def pipeline(self, draw: Draw, samples: int, blended: str | None, stage: FragmentStage = LIT) -> Any:
        """`blended` names the side that is left out, None for opaque sections, "solid" for what of a blended one is
        opaque. `stage` is what fragments end in."""
        geometry, material = draw.geometry, draw.material
        if stage is LIT and draw.layered:
            stage = TOON if material.toon else GLASS if draw.glass else LAYERED
        if stage is LIT and samples > 1 and not blended and material.material.alpha_mode == "mask":
            stage = COVERED
        lit = stage in (LIT, COVERED, LAYERED, GLASS, TOON, OUTLINE)
        lamps = lit and self.frame.lamps.count > 0
        two_sided = material.material.double_sided
        key = (
            stage.entry, samples, blended, geometry.uv_stride, geometry.color_stride, draw.has_normals,
            draw.has_tangents, draw.mirrored, two_sided, material.constants, lamps, draw.painted, stage is GLASS,
        )  # fmt: skip
        found = self.pipelines.find(key)
        if found is not None:
            return found
        has = {
            "HAS_NORMALS": float(draw.has_normals),
            "HAS_TANGENTS": float(draw.has_tangents),
            "IS_PAINTED": float(draw.painted),
        }
        constants = {**dict(material.constants), **has}
        if lit:
            constants |= {"LAMPS": float(lamps), "COVERAGE": float(stage is COVERED)}
        layouts = [self.frame.layout, self.list.materials.layout, self.list.layout]
        if stage is GLASS:
            layouts.append(self.backdrop.layout)
        if blended:
            constants["IS_BLENDED"] = 1.0
        solid = blended == "solid"
        if solid:
            constants["SOLID_ONLY"] = 1.0
        return self.pipelines.make(
            key,
            source(*COMMON, MATERIAL.wgsl, "vertex", "surface", "paint", *stage.pieces),
            layouts,
            vertex={
                "entry_point": "vertex_outline" if stage is OUTLINE else "vertex_main",
                "constants": has,
                "buffers": vertex_buffers(geometry.uv_stride, geometry.color_stride),
            },
            fragment={
                "entry_point": stage.entry,
                "constants": constants,
                "targets": [
                    {"format": f, **({"blend": PREMULTIPLIED} if blended and not solid else {})}
                    for f in stage.formats
                ],
            },
            primitive={
                "topology": "triangle-list",
                "front_face": "cw" if draw.mirrored else "ccw",
                "cull_mode": (blended if blended and not solid else None)
                or ("front" if stage is OUTLINE else "none" if two_sided else "back"),
            },
            depth_stencil={
                "format": DEPTH,
                "depth_write_enabled": solid or not blended,
                "depth_compare": "greater-equal" if blended else "greater",
            },
            multisample={"count": samples},
        )

    def ground_pipeline(self, samples: int) -> Any:
        lamps = self.frame.lamps.count > 0
        key = ("ground", samples, lamps)
        found = self.pipelines.find(key)
        return found or self.pipelines.make(
            key,
            source(*COMMON, "brdf", *LIGHTING, "ground"),
            [self.frame.layout],
            vertex={"entry_point": "ground_vertex"},
            fragment={
                "entry_point": "ground_fragment",
                "constants": {"LAMPS": float(lamps), "LAMPS_MATT": 1.0},
                "targets": [{"format": HDR, "blend": PREMULTIPLIED}],
            },
            primitive={"topology": "triangle-strip"},
            depth_stencil={"format": DEPTH, "depth_write_enabled": False, "depth_compare": "greater"},
            multisample={"count": samples},
        )
