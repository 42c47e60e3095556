"""Materials on the GPU: bind group 1. A uniform of factors and five textures, each with its sampler."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from marrow.gpu.buffers import Buffer, usage
from marrow.gpu.device import Device
from marrow.model import Character, Material, Mesh, Texture
from marrow.rendering.resources.material_layers import LAYER_SLOTS, MaterialLayers, layers_of
from marrow.rendering.resources.textures import GpuTexture, TextureLibrary
from marrow.rendering.resources.wgsl import Struct
from marrow.report import Report
from marrow.scene.identity_cache import IdentityCache

__all__ = ["MATERIAL", "PLAIN", "MaterialBinding", "Materials"]

UV_SETS = 2
"""How many sets of UVs vertices bring along."""
# The order of the bindings: slot of the material, override of surface.wgsl, whether its numbers are sRGB.
_SLOTS = (
    ("base_color", "HAS_BASE_TEXTURE", True),
    ("metallic_roughness", "HAS_SURFACE_TEXTURE", False),
    ("normal", "HAS_NORMAL_TEXTURE", False),
    ("occlusion", "HAS_OCCLUSION_TEXTURE", False),
    ("emissive", "HAS_EMISSIVE_TEXTURE", True),
)
MATERIAL = Struct(
    "Material",
    [
        ("base_color", "vec4f", 0),
        ("emissive", "vec4f", 0),  # w: alpha below which nothing is drawn
        ("factors", "vec4f", 0),  # metallic, roughness, scale of the normal texture, strength of occlusion
        (
            "places",
            "vec4f",
            2 * len(_SLOTS),
        ),  # rows that bring (u, v, 1) to each texture; w of the first: the set of UVs
        ("layers", "vec4f", 7),  # what extensions add (material_layers.py)
        ("layer_places", "vec4f", 2 * len(LAYER_SLOTS)),
    ],
)
PLAIN = Material(
    "plain", base_color=(0.485, 0.521, 0.584, 1.0), metallic=0.0, roughness=0.65, double_sided=True
)
"""What is drawn where a section names no material; white where vertices have colours."""


@dataclass(frozen=True, eq=False)
class MaterialBinding:
    """A material that is ready to be drawn: its bind group and what decides the pipeline. `constants` are overrides
    of the fragment shader; `textures` are kept alive by it."""

    material: Material
    group: Any
    needs_tangents: bool = False
    constants: tuple[tuple[str, float], ...] = ()
    textures: tuple[GpuTexture, ...] = ()
    layered: bool = False
    """Whether it has lobes that the G-buffer has no room for."""
    transmits: bool = False
    """Whether what is behind it is seen through it."""
    glows: bool = False
    """Whether it sends out more light than a screen can show."""
    toon: bool = False
    outlined: bool = False
    """Whether it is VRM's MToon, and has an outline."""


class Materials:
    """Bind groups of materials, made once for each character and forgotten with it. `layout` is that of group 1;
    `report` says what of materials cannot be shown."""

    def __init__(self, device: Device) -> None:
        self.device, self.library = device, TextureLibrary(device)
        entries: list[dict[str, Any]] = [{"binding": 0, "visibility": 3, "buffer": {"type": "uniform"}}]
        for i in range(len(_SLOTS) + len(LAYER_SLOTS)):
            entries.append({"binding": 1 + 2 * i, "visibility": 2, "texture": {}})
            entries.append({"binding": 2 + 2 * i, "visibility": 2, "sampler": {}})
        with device.guard("making the layout of materials"):
            self.layout = device.raw.create_bind_group_layout(label="material", entries=entries)
        self._made: IdentityCache[dict[Any, MaterialBinding]] = IdentityCache()

    @property
    def report(self) -> Report:
        """What of the materials that were drawn could not be shown, and why."""
        return self.library.report

    def of(self, character: Character, material: int | None, mesh: Mesh) -> MaterialBinding:
        """The binding of one of the character's materials, or of the plain one, for sections of a mesh."""
        made = self._made.made(character, dict)
        colored = material is None and mesh.colors is not None
        key = (material, min(len(mesh.uvs), UV_SETS), colored)
        if key not in made:
            chosen = PLAIN if material is None else character.materials[material]
            if colored:
                chosen = PLAIN.replace(base_color=(1.0, 1.0, 1.0, 1.0))
            made[key] = self._bind(character, chosen, mesh)
        return made[key]

    def _bind(self, character: Character, material: Material, mesh: Mesh) -> MaterialBinding:
        place = f"material {material.name!r}"
        found: dict[str, tuple[Texture, GpuTexture]] = {}
        layers = layers_of(material, lambda words: self.library.note("warning", place, words))
        if layers.toon:  # files say "unlit" for those who do not know MToon
            material = material.replace(unlit=False)
        wanted = [(slot, getattr(material, f"{slot}_texture"), color) for slot, _, color in _SLOTS]
        if layers.shown:
            wanted += [(slot, layers.textures.get(slot), color) for slot, _, color in LAYER_SLOTS]
        for slot, texture, color in wanted:
            if texture is None or (material.unlit and slot != "base_color"):
                continue
            if texture.uv_set >= min(len(mesh.uvs), UV_SETS):
                which = "no UVs" if not mesh.uvs else f"no UV set {texture.uv_set}"
                if texture.uv_set >= UV_SETS:
                    which = f"textures of the UV sets 0 to {UV_SETS - 1} only"
                self.library.note(
                    "warning", place, f"mesh {mesh.name!r} has {which}: its {slot} texture is not shown"
                )
                continue
            if not 0 <= texture.image < len(character.images):
                self.library.note("warning", place, f"its {slot} texture names an image that is not there")
                continue
            shown = self.library.get(character.images[texture.image], color=color)
            if shown is not None:
                found[slot] = (texture, shown)
        lost = set(material.textures) - set(found)
        constants = [(override, 1.0) for slot, override, _ in (*_SLOTS, *LAYER_SLOTS) if slot in found]
        for override, holds in (
            ("IS_UNLIT", material.unlit),
            ("IS_MASKED", material.alpha_mode == "mask"),
            ("IS_BLENDED", material.alpha_mode == "blend"),
        ):
            if holds:
                constants.append((override, 1.0))
        entries: list[dict[str, Any]] = []
        buffer = Buffer.of(
            self.device, self._record(material, layers, lost, place), label="material", flags=usage("uniform")
        )
        entries.append({"binding": 0, "resource": {"buffer": buffer.raw, "offset": 0, "size": buffer.size}})
        for i, (slot, _, _) in enumerate((*_SLOTS, *LAYER_SLOTS)):
            texture, shown = found.get(slot, (None, self.library.white))
            entries.append({"binding": 1 + 2 * i, "resource": shown.view})
            entries.append({"binding": 2 + 2 * i, "resource": self.library.sampler(texture)})
        with self.device.guard(f"binding {place}"):
            group = self.device.raw.create_bind_group(layout=self.layout, entries=entries)
        return MaterialBinding(
            material, group, "normal" in found or layers.anisotropic, tuple(constants),
            tuple(t for _, t in found.values()), layers.shown, layers.transmits,
            not material.unlit and "emissive" not in lost and max(_sent(material)) > 1,
            layers.toon, layers.outlined,
        )  # fmt: skip

    def _record(self, material: Material, layers: MaterialLayers, lost: set[str], place: str) -> Any:
        """The uniform. Where a texture is lost its factor alone would lie: all metal, all glowing."""
        glow = _sent(material)
        factors = (
            0.0 if "metallic_roughness" in lost and not material.unlit else material.metallic,
            material.roughness,
            material.normal_scale,
            material.occlusion_strength,
        )
        record = np.zeros((), MATERIAL.dtype)
        MATERIAL.put(
            record,
            base_color=material.base_color,
            emissive=(
                *(np.zeros(3) if "emissive" in lost or material.unlit else glow),
                material.alpha_cutoff,
            ),
            factors=factors,
            places=np.concatenate([_place(getattr(material, f"{s}_texture")) for s, _, _ in _SLOTS]),
            layers=layers.numbers,
            layer_places=np.concatenate([_place(layers.textures.get(s)) for s, _, _ in LAYER_SLOTS]),
        )
        numbers = record.reshape(1).view(np.float32)
        if not np.isfinite(numbers).all():
            self.library.note("warning", place, "has numbers that are not finite: shown as 0")
            numbers[~np.isfinite(numbers)] = 0.0
        return record


def _sent(material: Material) -> Any:
    """The light a material sends out by itself, `(3,)`, before its texture."""
    strength = material.extensions.get("KHR_materials_emissive_strength")
    strength = strength.get("emissiveStrength", 1.0) if isinstance(strength, dict) else 1.0
    return np.multiply(material.emissive, strength if isinstance(strength, int | float) else 1.0)


def _place(texture: Texture | None) -> Any:
    """The rows `(2, 4)` of a UV transform, as KHR_texture_transform has it: scaled, turned, moved."""
    if texture is None:
        return np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    c, s = math.cos(texture.rotation), math.sin(texture.rotation)
    (su, sv), (u, v) = texture.scale, texture.offset
    return np.array([[c * su, s * sv, u, float(texture.uv_set)], [-s * su, c * sv, v, 0.0]])
