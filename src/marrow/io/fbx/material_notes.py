"""What an FBX material has no words for, noted beside it: reading the file back gives the material that was saved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import msgspec

from marrow.model import Material, Texture

__all__ = ["SLOTS", "MaterialNote", "apply_note", "note_of"]

SLOTS = {
    "base_color": ("DiffuseColor",),
    "metallic_roughness": ("ShininessExponent", "ReflectionFactor"),
    "normal": ("NormalMap",),
    "occlusion": ("Maya|TEX_ao_map",),
    "emissive": ("EmissiveColor",),
}
"""The properties of an FBX material that the textures of marrow's are put to."""
Wrap = Literal["repeat", "clamp", "mirror"]


class TextureNote(msgspec.Struct, omit_defaults=True):
    uv_set: int = 0
    wrap_u: Wrap = "repeat"
    wrap_v: Wrap = "repeat"
    mag_filter: Literal["nearest", "linear"] | None = None
    min_filter: str | None = None
    offset: tuple[float, float] = (0.0, 0.0)
    rotation: float = 0.0
    scale: tuple[float, float] = (1.0, 1.0)


class MaterialNote(msgspec.Struct, omit_defaults=True):
    """The fields of a material but its name, its textures by their slots."""

    base_color: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    metallic: float = 1.0
    roughness: float = 1.0
    emissive: tuple[float, float, float] = (0.0, 0.0, 0.0)
    normal_scale: float = 1.0
    occlusion_strength: float = 1.0
    alpha_mode: Literal["opaque", "mask", "blend"] = "opaque"
    alpha_cutoff: float = 0.5
    double_sided: bool = False
    unlit: bool = False
    textures: dict[str, TextureNote] = {}


_FIELDS = [name for name in MaterialNote.__struct_fields__ if name != "textures"]


def note_of(material: Material) -> str:
    """The note of a material."""
    textures = {
        slot: TextureNote(**{name: getattr(texture, name) for name in TextureNote.__struct_fields__})
        for slot, texture in material.textures.items()
    }
    fields: dict[str, Any] = {name: getattr(material, name) for name in _FIELDS}
    return msgspec.json.encode(MaterialNote(**fields, textures=textures)).decode()


def apply_note(material: Material, note: str, found: dict[str, Texture]) -> Material | None:
    """The material as its note has it, with the textures `found` by their slots; None where the note is damaged."""
    try:
        noted = msgspec.json.decode(note, type=MaterialNote)
    except msgspec.MsgspecError:
        return None
    changes: dict[str, Any] = {name: getattr(noted, name) for name in _FIELDS}
    for slot, texture in found.items():
        said = noted.textures.get(slot)
        kept = {} if said is None else msgspec.structs.asdict(said)
        changes[f"{slot}_texture"] = replace(texture, **kept) if said is not None else None
    return replace(material, **changes)
