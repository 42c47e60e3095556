"""Materials and textures: what FBX shaders say, in metallic-roughness terms, as far as it carries over."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from marrow.io.fbx.material_notes import SLOTS, apply_note
from marrow.io.fbx.plain_scene import PlainMaterial, PlainScene, PlainTexture, Slot
from marrow.io.images import media_type
from marrow.model import Image, Material, Texture
from marrow.report import ReportBuilder

__all__ = ["FbxMaterials"]

_WRAP = ("repeat", "clamp")
Packing = tuple[Literal["metallic_roughness", "alpha"], int | None, int | None]


@dataclass
class FbxMaterials:
    """The materials of the scene in the order they are met, and the images they use.

    `wanted[i]` are the names under which image `i` may lie outside the file; empty for an embedded one. The
    reader does not open them: `with_images` does, by the rules of `Source.picture`. Then it packs: image `i` of
    `packed` is made of the images whose numbers stand there (None: there is none). `factors` are the metalness
    and roughness of materials whose texture may turn out not to be had.
    """

    scene: PlainScene
    report: ReportBuilder
    materials: list[Material] = field(default_factory=list)
    images: list[Image] = field(default_factory=list)
    wanted: list[list[str]] = field(default_factory=list)
    packed: dict[int, Packing] = field(default_factory=dict)
    factors: dict[int, tuple[float, float]] = field(default_factory=dict)
    _numbers: dict[int, int] = field(default_factory=dict)
    _image_of: dict[Any, int] = field(default_factory=dict)

    def number(self, index: int) -> int:
        """The index in the character of a material of the scene."""
        known = self._numbers.get(index)
        if known is None:
            known = self._numbers[index] = len(self.materials)
            made, factors = self._converted(self.scene.document.materials[index])
            self.materials.append(made)
            if factors is not None:
                self.factors[known] = factors
        return known

    def _converted(self, material: PlainMaterial) -> tuple[Material, tuple[float, float] | None]:
        """The material, and its metalness and roughness should its texture be missing."""
        if material.note:
            noted = self._noted(material)
            if noted is not None:
                return noted, None
        pbr, fbx = _Slots(material.pbr), _Slots(material.fbx)
        place = f"material {material.name!r}"
        factor = _number(pbr.base_factor, 1.0)
        color = _color(pbr.base_color, (1.0, 1.0, 1.0))
        opacity = _number(pbr.opacity, 1.0)
        if opacity <= 0:
            self.report.add(
                "repaired", place, "is wholly transparent, as exporters write by mistake; made opaque"
            )
            opacity = 1.0
        base = self._texture(pbr.base_color, place)
        rough, metal = self._texture(pbr.roughness, place), self._texture(pbr.metalness, place)
        glowing = self._texture(pbr.emission_color, place)
        # In FBX a texture takes the place of a value, in glTF they are multiplied.
        if base is not None:
            color = (1.0, 1.0, 1.0)
        glow = _number(pbr.emission_factor, 1.0)
        emission = _color(pbr.emission_color, (0.0, 0.0, 0.0)) if glowing is None else (1.0, 1.0, 1.0)
        see_through = opacity < 1
        slots = (pbr.opacity, fbx.transparency_color, fbx.transparency_factor)
        clear = next((t for t in (self._texture(slot, place) for slot in slots) if t is not None), None)
        if clear is not None:
            see_through = True
            base = self._with_alpha(base, clear)
        normal = self._texture(pbr.normal_map, place) or self._texture(fbx.normal_map, place)
        if normal is None and fbx.bump[1] >= 0:
            self.report.add("dropped", place, "its bump map is not a normal map and was left out")
        metalness = _share(_number(pbr.metalness, 0.0))
        roughness = _share(_number(pbr.roughness, 1.0))
        made = Material(
            material.name,
            (*(_share(c * factor) for c in color), opacity),  # type: ignore[arg-type]
            metallic=metalness if metal is None else 1.0,
            roughness=roughness if rough is None else 1.0,
            emissive=tuple(_share(c * glow) for c in emission),  # type: ignore[arg-type]
            base_color_texture=base,
            metallic_roughness_texture=self._with_metallic_roughness(rough, metal),
            normal_texture=normal,
            occlusion_texture=self._texture(pbr.ambient_occlusion, place),
            emissive_texture=glowing,
            alpha_mode="blend" if see_through else "opaque",
            double_sided=material.double_sided,
        )
        return made, None if rough is None and metal is None else (metalness, roughness)

    def _noted(self, material: PlainMaterial) -> Material | None:
        """A material that marrow wrote, as it was."""
        place = f"material {material.name!r}"
        found = {}
        for slot, properties in SLOTS.items():
            at = material.by_property.get(properties[0], -1)
            texture = self._texture((None, at, True), place) if at >= 0 else None
            if texture is not None:
                found[slot] = texture
        return apply_note(Material(material.name), material.note, found)

    def _with_metallic_roughness(self, rough: Texture | None, metal: Texture | None) -> Texture | None:
        """glTF keeps roughness and metalness in one image."""
        one = rough or metal
        if one is None or (rough is not None and metal is not None and rough.image == metal.image):
            return one
        first, second = (None if t is None else t.image for t in (rough, metal))
        return self._packing("metallic_roughness", one, first, second)

    def _with_alpha(self, base: Texture | None, clear: Texture) -> Texture:
        """glTF keeps opacity in the alpha of the base colour."""
        if base is not None and base.image == clear.image:
            return base
        return self._packing("alpha", base or clear, None if base is None else base.image, clear.image)

    def _packing(
        self,
        how: Literal["metallic_roughness", "alpha"],
        like: Texture,
        first: int | None,
        second: int | None,
    ) -> Texture:
        key = (how, first, second)
        known = self._image_of.get(key)
        if known is None:
            known = self._image_of[key] = len(self.images)
            self.images.append(Image(f"{self.images[like.image].name}_{how}", "image/png", b""))
            self.wanted.append([])
            self.packed[known] = key
        return replace(like, image=known)

    def _texture(self, slot: Slot, place: str) -> Texture | None:
        _, at, enabled = slot
        if at < 0 or not enabled:
            return None
        textures = self.scene.document.textures
        texture = textures[at]
        if not texture.has_file and texture.layers:
            if len(texture.layers) > 1:
                self.report.add("dropped", place, "of a layered texture only the first layer was kept")
            texture = textures[texture.layers[0]]
        image = self._image(texture)
        if image is None:
            return None
        offset, scale = (0.0, 0.0), (1.0, 1.0)
        if texture.uv_transform >= 0:
            columns = self.scene.reals(texture.uv_transform, 3).tolist()
            (a, c), (b, d), _, (x, y) = (column[:2] for column in columns)
            if abs(b) > 1e-6 or abs(c) > 1e-6:
                self.report.add("dropped", place, "the rotation of a texture was left out")
            elif np.isfinite([a, d, x, y]).all():
                # FBX counts v from the bottom: v' = d v + y becomes (1 - v') = d (1 - v) + (1 - d - y).
                offset, scale = (x, 1 - d - y), (a, d)
        return Texture(
            image,
            wrap_u=_WRAP[texture.wrap_u],  # type: ignore[arg-type]
            wrap_v=_WRAP[texture.wrap_v],  # type: ignore[arg-type]
            offset=offset,
            scale=scale,
        )

    def _image(self, texture: PlainTexture) -> int | None:
        content, names = bytes(self.scene.bytes_at(texture.content)), texture.names
        if not content and not names:
            return None
        key = texture.file if texture.has_file else texture.element
        known = self._image_of.get(key)
        if known is None:
            known = self._image_of[key] = len(self.images)
            base = names[0].replace("\\", "/").rpartition("/")[2] if names else texture.name
            stem = base.rpartition(".")[0] or base
            self.images.append(Image(stem, media_type(content, name=base), content))
            self.wanted.append([] if content else list(dict.fromkeys(names)))
        return known


class _Slots:
    """The slots of a material by their names; one that is not there is empty."""

    def __init__(self, slots: dict[str, Slot]) -> None:
        self._slots = slots

    def __getattr__(self, name: str) -> Slot:
        return self._slots.get(name, (None, -1, False))


def _share(value: float) -> float:
    return min(max(float(value), 0.0), 1.0)


def _number(slot: Slot, default: float) -> float:
    value = slot[0][0] if slot[0] else None
    return default if value is None else value


def _color(slot: Slot, default: tuple[float, float, float]) -> tuple[float, float, float]:
    if slot[0] is None:
        return default
    r, g, b = (c or 0.0 for c in slot[0])
    return r, g, b
