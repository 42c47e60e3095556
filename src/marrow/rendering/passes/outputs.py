"""Outputs for data sets of pictures: for every pixel its depth, normal, instance, part and joint; joints in pixels.

They are drawn in a pass of their own, one sample a pixel (numbers cannot be mixed as colours can), from the same list of
draws as the picture. The ground and the background count as nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import UnknownNameError, WrongTypeError
from marrow.gpu.buffers import Buffer, usage
from marrow.model import _validate
from marrow.model.character import Character
from marrow.rendering.drawlist import Draw, DrawList
from marrow.rendering.passes.forward import COMMON
from marrow.rendering.recorder import Recorder
from marrow.rendering.resources.frame_uniforms import FrameData
from marrow.rendering.resources.geometry import LevelGeometry
from marrow.rendering.resources.materials import MATERIAL
from marrow.rendering.resources.pipelines import Pipelines, vertex_buffers
from marrow.rendering.resources.targets import DEPTH, read_pixels
from marrow.rendering.resources.wgsl import source
from marrow.scene.actor_state import ActorState, model_matrices
from marrow.scene.camera import Camera
from marrow.scene.identity_cache import IdentityCache
from marrow.scene.joint_pixels import JointPixels, joint_pixels
from marrow.scene.projection import camera_matrices

__all__ = ["OUTPUTS", "OutputPass", "check_outputs", "dominant_joints", "part_names"]

Array = NDArray[Any]
OUTPUTS = ("color", "depth", "normals", "ids", "parts", "materials", "joint_ids", "joints")
SHAPE, NAMES = "rgba32float", "rgba32uint"
STEP = 256
"""Bytes from one part's uniform to the next: what every device allows."""


def check_outputs(outputs: Any) -> tuple[str, ...]:
    """The names of outputs, each once."""
    if isinstance(outputs, str):
        outputs = (outputs,)
    if not isinstance(outputs, Iterable):
        raise WrongTypeError(
            f"outputs: expected names such as ('color', 'depth'), got {_validate.shown(outputs)}"
        )
    found = tuple(outputs)
    for name in found:
        if not isinstance(name, str) or name not in OUTPUTS:
            raise UnknownNameError("output", name, OUTPUTS)
    return tuple(dict.fromkeys(found))


def dominant_joints(character: Character) -> Array:
    """The joint of the skeleton that moves each vertex most, `(V,)` uint32."""
    parts = [np.zeros(0, np.uint32)]
    for mesh in character.meshes:
        lead = (
            mesh.joints[np.arange(mesh.vertex_count), mesh.weights.argmax(axis=1)]
            if mesh.vertex_count
            else []
        )
        parts.append(mesh.joint_list[np.asarray(lead, np.int64)].astype(np.uint32))
    return np.concatenate(parts)


def part_names(
    characters: Sequence[Character], names: Sequence[str]
) -> tuple[list[int], list[tuple[str, str, str]]]:
    """What the numbers of the output "parts" mean: where those of each actor begin, and for each part the actor, the mesh
    and the material."""
    starts: list[int] = []
    out: list[tuple[str, str, str]] = []
    for character, actor in zip(characters, names):
        starts.append(len(out))
        for mesh in character.meshes:
            for section in mesh.sections:
                known = section.material is not None and section.material < len(character.materials)
                material = character.materials[section.material].name if known else ""  # type: ignore[index]
                out.append((actor, mesh.name, section.name or material))
    return starts, out


class OutputPass:
    """Draws numbers instead of colours, for the draws of a list."""

    def __init__(self, frame: FrameData, draws: DrawList, pipelines: Pipelines) -> None:
        self.frame, self.list, self.pipelines, self.device = frame, draws, pipelines, draws.device
        raw = self.device.raw
        self._joints: IdentityCache[Buffer] = IdentityCache()
        self._parts = Buffer(self.device, STEP, label="parts", flags=usage("uniform"))
        self._part_layout = raw.create_bind_group_layout(
            entries=[
                {"binding": 0, "visibility": 2, "buffer": {"type": "uniform", "has_dynamic_offset": True}}
            ]
        )
        self._targets: tuple[Any, ...] = ()

    def render(
        self, outputs: Sequence[str], there: list[ActorState], camera: Camera, size: tuple[int, int]
    ) -> dict[str, Any]:
        """The outputs of the picture that was drawn last, of the actors `there`."""
        wanted = [name for name in outputs if name != "color"]
        if not wanted:
            return {}
        characters = [m.actor.character for m in there]
        starts, names = part_names(characters, [m.actor.name for m in there])
        draws = [d for d in self.list.draws if d.actor < len(there)]
        shape, numbers = self._drawn(draws, characters, starts, size)
        ids, parts, joint_ids = (numbers[..., k].astype(np.int64) - 1 for k in range(3))
        something = ids >= 0
        depth = np.where(something, shape[..., 3], np.float32(np.inf)).astype(np.float32)
        made: dict[str, Any] = {
            "depth": depth,
            "normals": np.where(something[..., None], shape[..., :3], np.float32(0)),
            "ids": ids.astype(np.int32),
            "parts": parts.astype(np.int32),
            "joint_ids": joint_ids.astype(np.int32),
        }
        out = {name: made[name] for name in wanted if name in made}
        if "parts" in wanted:
            out["part_names"] = names
        if "materials" in wanted:
            out["materials"], out["material_names"] = _materials(
                parts, characters, [m.actor.name for m in there]
            )
        if "joints" in wanted:
            out["joints"] = self._joint_pixels(there, camera, size, (depth, ids, joint_ids))
        out["camera_matrices"] = camera_matrices(camera, size)
        return out

    def _joint_pixels(
        self, there: list[ActorState], camera: Camera, size: tuple[int, int], seen: tuple[Array, Array, Array]
    ) -> tuple[JointPixels, ...]:
        out, first = [], 0
        for state in there:
            model = model_matrices(state).astype(np.float64)
            place = model[..., 3]
            world = place @ state.world[:, :, :3].swapaxes(1, 2) + state.world[:, None, :, 3]
            ids = np.arange(first, first + state.count)
            out.append(joint_pixels(state.actor.character.skeleton, world, ids, camera, size, seen))
            first += state.count
        return tuple(out)

    # -- drawing ----------------------------------------------------------------------------------------------------
    def _drawn(
        self, draws: list[Draw], characters: list[Character], starts: list[int], size: tuple[int, int]
    ) -> tuple[Array, Array]:
        """Normals and depth `(H, W, 4)`; instance, part and joint `(H, W, 4)`, one higher."""
        self._resize(size)
        records = np.zeros((max(1, len(draws)), STEP // 4), np.uint32)
        for record, draw in zip(records, draws):
            record[0] = starts[draw.actor] + _section_number(characters[draw.actor], draw)
        self._parts.write(records, keep=False)
        shape, names, depth = self._targets
        with self.device.guard("drawing outputs"):
            resource = {"buffer": self._parts.raw, "offset": 0, "size": 16}
            parts = self.device.raw.create_bind_group(
                layout=self._part_layout, entries=[{"binding": 0, "resource": resource}]
            )
            encoder = self.device.raw.create_command_encoder()
            step = encoder.begin_render_pass(
                label="outputs",
                color_attachments=[
                    {
                        "view": t.create_view(),
                        "load_op": "clear",
                        "store_op": "store",
                        "clear_value": (0, 0, 0, 0),
                    }
                    for t in (shape, names)
                ],
                depth_stencil_attachment={
                    "view": depth.create_view(),
                    "depth_load_op": "clear",
                    "depth_store_op": "store",
                    "depth_clear_value": 0.0,
                },
            )
            step.set_bind_group(0, self.frame.group)
            recorder = Recorder(step)
            for number, draw in enumerate(draws):
                step.set_bind_group(3, parts, [STEP * number])
                step.set_vertex_buffer(2, self._joint_buffer(draw.geometry).raw)
                recorder.draw(self._pipeline(draw), draw)
            step.end()
            self.device.raw.queue.submit([encoder.finish()])
        return read_pixels(self.device, shape, np.float32), read_pixels(self.device, names, np.uint32)

    def _resize(self, size: tuple[int, int]) -> None:
        if self._targets and tuple(self._targets[0].size[:2]) == tuple(size):
            return
        self.device.check_room(size[0] * size[1] * 36, "outputs")
        self._targets = tuple(
            self.device.raw.create_texture(label="outputs", size=(*size, 1), format=kind, usage=0x10 | 0x01)
            for kind in (SHAPE, NAMES, DEPTH)
        )

    def _joint_buffer(self, geometry: LevelGeometry) -> Buffer:
        def made() -> Buffer:
            joints = dominant_joints(geometry.character)
            return Buffer.of(self.device, joints, label="dominant joints", flags=usage("vertex"))

        return self._joints.made(geometry, made)

    def _pipeline(self, draw: Draw) -> Any:
        geometry, material = draw.geometry, draw.material
        key = (
            "outputs", geometry.uv_stride, geometry.color_stride, draw.has_normals, draw.has_tangents, draw.mirrored,
            material.material.double_sided, draw.blended, material.constants,
        )  # fmt: skip
        found = self.pipelines.find(key)
        if found is not None:
            return found
        has = {"HAS_NORMALS": float(draw.has_normals), "HAS_TANGENTS": float(draw.has_tangents)}
        joints = {"format": "uint32", "offset": 0, "shader_location": 2}
        return self.pipelines.make(
            key,
            source(*COMMON, MATERIAL.wgsl, "vertex", "brdf", "surface", "outputs"),
            [self.frame.layout, self.list.materials.layout, self.list.layout, self._part_layout],
            vertex={
                "entry_point": "output_vertex",
                "constants": has,
                "buffers": [
                    *vertex_buffers(geometry.uv_stride, geometry.color_stride),
                    {"array_stride": 4, "attributes": [joints]},
                ],
            },
            fragment={
                "entry_point": "output_fragment",
                "constants": {
                    **dict(material.constants),
                    **has,
                    **({"IS_BLENDED": 1.0} if draw.blended else {}),
                },
                "targets": [{"format": SHAPE}, {"format": NAMES}],
            },
            primitive={
                "topology": "triangle-list",
                "front_face": "cw" if draw.mirrored else "ccw",
                "cull_mode": "none" if material.material.double_sided else "back",
            },
            depth_stencil={"format": DEPTH, "depth_write_enabled": True, "depth_compare": "greater"},
        )


def _materials(
    parts: Array, characters: Sequence[Character], actors: Sequence[str]
) -> tuple[Array, list[tuple[str, str]]]:
    """Which material each pixel has, and what the numbers mean: actor and material, "" where it has none."""
    known: dict[Any, int] = {}
    table = [-1]
    for character, actor in zip(characters, actors):
        for section in (section for mesh in character.meshes for section in mesh.sections):
            number = section.material
            named = number is not None and number < len(character.materials)
            name = character.materials[number].name or f"#{number}" if named else ""  # type: ignore[index]
            table.append(known.setdefault((actor, name), len(known)))
    return np.array(table, np.int32)[parts + 1], list(known)


def _section_number(character: Character, draw: Draw) -> int:
    """The number of a draw's section among those of the whole character; levels have the same or fewer."""
    section = draw.section
    before = sum(len(m.sections) for m in character.meshes[: section.shown_as])
    return before + min(section.section, len(character.meshes[section.shown_as].sections) - 1)
