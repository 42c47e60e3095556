"""Materials and textures of a ufbx scene as plain data."""

from __future__ import annotations

from typing import Any

from marrow.io.fbx.blocks import Blocks
from marrow.io.fbx.keyed_properties import NOTE
from marrow.io.fbx.ufbx_binding import elements, hold, number

__all__ = ["MaterialWalk"]

_PBR = (
    "base_factor",
    "base_color",
    "opacity",
    "roughness",
    "metalness",
    "emission_color",
    "emission_factor",
    "normal_map",
    "ambient_occlusion",
)
_FBX = ("transparency_color", "transparency_factor", "normal_map", "bump")


class MaterialWalk:
    """The materials as they are met, each once, and the textures they use."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self.materials: list[dict[str, Any]] = []
        self.textures: list[dict[str, Any]] = []
        self._material_of: dict[int, int] = {}
        self._texture_of: dict[int, int] = {}

    def number(self, material: Any) -> int:
        """The index of a material."""
        element = int(material.element_id)
        known = self._material_of.get(element)
        if known is None:
            known = self._material_of[element] = len(self.materials)
            self.materials.append({})
            self.materials[known] = {
                "name": str(hold(material.name)),
                "pbr": self._slots(hold(material.pbr), _PBR),
                "fbx": self._slots(hold(material.fbx), _FBX),
                "double_sided": bool(hold(hold(material.features).double_sided).enabled),
            }
            self._noted(material, self.materials[known])
        return known

    def _noted(self, material: Any, found: dict[str, Any]) -> None:
        """What marrow noted beside a material (`material_notes`), and its textures by the properties they are put to."""
        prop = hold(hold(hold(material.props).find_prop)(NOTE))
        note = "" if prop is None else str(hold(prop.value_str))
        if note:
            found["note"] = note
            found["by_property"] = {
                str(hold(one.material_prop)): self._texture(hold(one.texture))
                for one in elements(material.textures)
            }

    def _slots(self, maps: Any, names: tuple[str, ...]) -> dict[str, Any]:
        """Value and texture of each slot that has one: `(value or None, texture or -1, whether it is enabled)`."""
        found = {}
        for name in names:
            slot = hold(getattr(maps, name))
            texture = hold(slot.texture)
            value = [number(x) for x in hold(slot.value_vec4)[:3]] if hold(slot.has_value) else None
            if value is not None or texture is not None:
                at = -1 if texture is None else self._texture(texture)
                found[name] = (value, at, bool(hold(slot.texture_enabled)))
        return found

    def _texture(self, texture: Any) -> int:
        element = int(texture.element_id)
        known = self._texture_of.get(element)
        if known is None:
            known = self._texture_of[element] = len(self.textures)
            self.textures.append({})
            found: dict[str, Any] = {
                "element": element,
                "name": str(hold(texture.name)),
                "has_file": bool(hold(texture.has_file)),
                "file": int(texture.file_index),
                "wrap_u": int(hold(texture.wrap_u)),
                "wrap_v": int(hold(texture.wrap_v)),
            }
            names = ("relative_filename", "filename", "absolute_filename")
            found["names"] = [name for name in (str(hold(getattr(texture, n))) for n in names) if name]
            content = bytes(hold(texture.content) or b"")
            if content:
                found["content"] = self._blocks.put_once(content)
            if hold(texture.has_uv_transform):
                matrix = hold(texture.uv_to_texture)
                found["uv_transform"] = self._blocks.doubles(*[x for column in matrix for x in column])
            files = elements(texture.file_textures)
            found["layers"] = [self._texture(f) for f in files] if not found["has_file"] else []
            self.textures[known] = found
        return known
