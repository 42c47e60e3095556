"""Materials on the GPU: bind group 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from marrow.gpu.buffers import Buffer, usage
from marrow.gpu.device import Device
from marrow.model import Character, Material, Mesh
from marrow.rendering.wgsl import Struct

__all__ = ["MATERIAL", "MaterialBinding", "Materials"]

MATERIAL = Struct("Material", [("base_color", "vec4f", 0), ("emissive", "vec4f", 0), ("factors", "vec4f", 0)])
PLAIN = Material(
    "plain", base_color=(0.485, 0.52, 0.584, 1.0), metallic=0.0, roughness=0.65, double_sided=True
)
"""What is drawn where a section names no material."""


@dataclass(frozen=True, eq=False)
class MaterialBinding:
    """A material that is ready to be drawn: its bind group and what decides the pipeline. `constants` are overrides of the
    fragment shader."""

    material: Material
    group: Any
    needs_tangents: bool = False
    constants: tuple[tuple[str, float], ...] = ()


class Materials:
    """Bind groups of materials, made once for each. `layout` is that of group 1."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.layout = device.raw.create_bind_group_layout(
            entries=[{"binding": 0, "visibility": 2, "buffer": {"type": "uniform"}}]
        )
        self._made: dict[Any, MaterialBinding] = {}

    def of(self, character: Character, material: int | None, mesh: Mesh) -> MaterialBinding:
        """The binding of one of the character's materials, or of the plain one, for sections of a mesh."""
        chosen = PLAIN if material is None else character.materials[material]
        key = (id(character), material)
        if key not in self._made:
            record = np.zeros((), MATERIAL.dtype)
            MATERIAL.put(
                record,
                base_color=chosen.base_color,
                emissive=(*chosen.emissive, float(chosen.unlit)),
                factors=(chosen.metallic, chosen.roughness),
            )
            buffer = Buffer.of(self.device, record, label="material", flags=usage("uniform"))
            group = self.device.raw.create_bind_group(
                layout=self.layout,
                entries=[
                    {"binding": 0, "resource": {"buffer": buffer.raw, "offset": 0, "size": buffer.size}}
                ],
            )
            self._made[key] = MaterialBinding(chosen, group)
        return self._made[key]
