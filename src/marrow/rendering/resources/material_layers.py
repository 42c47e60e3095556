"""What glTF's extensions add to a surface: clear coat, sheen, transmission, iridescence, anisotropy, specular, index of
refraction. `material.extensions` is read here, checked, and brought into the order in which shaders read it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from marrow.errors import MarrowError
from marrow.model import Material, Texture
from marrow.rendering.resources.toon import MTOON, TOON_TEXTURES, toon_numbers

__all__ = ["LAYER_SLOTS", "MaterialLayers", "layers_of"]

LAYER_SLOTS = (
    ("clearcoat", "HAS_COAT_TEXTURE", False),
    ("clearcoat_roughness", "HAS_COAT_ROUGHNESS_TEXTURE", False),
    ("sheen_color", "HAS_SHEEN_TEXTURE", True),
    ("specular_color", "HAS_SPECULAR_TEXTURE", True),
    ("transmission", "HAS_TRANSMISSION_TEXTURE", False),
    ("anisotropy", "HAS_ANISOTROPY_TEXTURE", False),
)
"""Textures of layers: the slot, the override of layers.wgsl, whether its numbers are sRGB."""
_SHOWN_TEXTURES = {
    ("KHR_materials_clearcoat", "clearcoatTexture"): "clearcoat",
    ("KHR_materials_clearcoat", "clearcoatRoughnessTexture"): "clearcoat_roughness",
    ("KHR_materials_sheen", "sheenColorTexture"): "sheen_color",
    ("KHR_materials_specular", "specularColorTexture"): "specular_color",
    ("KHR_materials_transmission", "transmissionTexture"): "transmission",
    ("KHR_materials_anisotropy", "anisotropyTexture"): "anisotropy",
}
_SHOWN = (
    "KHR_materials_clearcoat",
    "KHR_materials_sheen",
    "KHR_materials_specular",
    "KHR_materials_ior",
    "KHR_materials_transmission",
    "KHR_materials_volume",
    "KHR_materials_dispersion",
    "KHR_materials_iridescence",
    "KHR_materials_anisotropy",
    "KHR_materials_diffuse_transmission",
)
_ELSEWHERE = (
    "KHR_materials_emissive_strength",
    "KHR_materials_unlit",
    "KHR_materials_pbrSpecularGlossiness",
    "KHR_materials_variants",
    MTOON,
)
"""Read by others."""
Note = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class MaterialLayers:
    """`numbers (7, 4)` as layers.wgsl reads them, `textures` by slot. `shown`: whether any of it can be seen;
    `transmits`: whether one looks through it; `anisotropic`: whether it needs tangents."""

    numbers: list[tuple[float, float, float, float]]
    textures: dict[str, Texture] = field(default_factory=dict)
    shown: bool = False
    transmits: bool = False
    anisotropic: bool = False
    toon: bool = False
    """Whether it is VRM's MToon, which toon.wgsl shades; it has none of the layers."""
    outlined: bool = False


def layers_of(material: Material, note: Note) -> MaterialLayers:
    """The layers of a material. `note` is told what cannot be shown."""
    toon = toon_numbers(material, note)
    if toon is not None:
        found = {slot: _texture(material.extensions[MTOON].get(name)) for name, slot in TOON_TEXTURES.items()}
        textures = {slot: texture for slot, texture in found.items() if texture is not None}
        return MaterialLayers(toon, textures, shown=True, toon=True, outlined=toon[1][2] > 0)
    read = _Reader(material, note)
    coat, coat_rough = (read.number("clearcoat", f"clearcoat{n}Factor", 0.0, 0, 1) for n in ("", "Roughness"))
    sheen = read.color("sheen", "sheenColorFactor", 0.0)
    sheen_rough = read.number("sheen", "sheenRoughnessFactor", 0.0, 0, 1)
    ior = read.number("ior", "ior", 1.5, 0, math.inf)
    specular = read.number("specular", "specularFactor", 1.0, 0, 1)
    specular_color = read.color("specular", "specularColorFactor", 1.0)
    transmission = read.number("transmission", "transmissionFactor", 0.0, 0, 1)
    thickness = read.number("volume", "thicknessFactor", 0.0, 0, math.inf)
    reach = read.number("volume", "attenuationDistance", 0.0, 0, math.inf)
    tint = read.color("volume", "attenuationColor", 1.0)
    dispersion = read.number("dispersion", "dispersion", 0.0, 0, math.inf)
    film = read.number("iridescence", "iridescenceFactor", 0.0, 0, 1)
    film_ior = read.number("iridescence", "iridescenceIor", 1.3, 1, math.inf)
    thin = read.number("iridescence", "iridescenceThicknessMinimum", 100.0, 0, math.inf)
    thick = read.number("iridescence", "iridescenceThicknessMaximum", 400.0, 0, math.inf)
    brushed = read.number("anisotropy", "anisotropyStrength", 0.0, 0, 1)
    turn = read.number("anisotropy", "anisotropyRotation", 0.0, -math.inf, math.inf)
    through = read.number("diffuse_transmission", "diffuseTransmissionFactor", 0.0, 0, 1)
    through_color = read.color("diffuse_transmission", "diffuseTransmissionColorFactor", 1.0)
    # An index of 0 stands for a perfect mirror at the edges, as in materials that were made of specular and glossiness.
    ior = ior if ior >= 1 else (1e3 if ior == 0 else 1.0)
    read.rest()
    shown = not material.unlit and bool(
        coat > 0
        or max(sheen) > 0
        or ior != 1.5
        or specular != 1
        or specular_color != (1.0, 1.0, 1.0)
        or transmission > 0
        or film > 0
        or brushed > 0
        or through > 0
    )
    numbers = [
        (coat, coat_rough, ior, specular),
        (*specular_color, brushed),
        (*sheen, sheen_rough),
        (transmission, thickness, reach if math.isfinite(reach) else 0.0, dispersion),
        (*tint, turn),
        (film, film_ior, thin, thick),
        (*through_color, through),
    ]
    return MaterialLayers(numbers, read.textures, shown, shown and transmission > 0, shown and brushed > 0)


class _Reader:
    """Numbers of extensions, each checked; what is wrong counts as left out, and is told."""

    def __init__(self, material: Material, note: Note) -> None:
        self.extensions, self.note, self.textures = material.extensions, note, {}
        for (extension, name), slot in _SHOWN_TEXTURES.items():
            body = self.extensions.get(extension)
            if isinstance(body, dict) and name in body:
                found = _texture(body[name])
                if found is None:
                    note(f"{extension}: its {name} is not understood, and not shown")
                else:
                    self.textures[slot] = found

    def _found(self, extension: str, name: str) -> Any:
        body = self.extensions.get(f"KHR_materials_{extension}")
        return body.get(name) if isinstance(body, dict) else None

    def number(self, extension: str, name: str, default: float, low: float, high: float) -> float:
        value = self._found(extension, name)
        if value is None:
            return default
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not low <= value <= high:
            self.note(f"KHR_materials_{extension}: {name} is out of range, and shown as {default:g}")
            return default
        return float(value)

    def color(self, extension: str, name: str, default: float) -> tuple[float, float, float]:
        value = self._found(extension, name)
        if value is None:
            return default, default, default
        try:
            r, g, b = (max(float(v), 0.0) for v in value)
        except (TypeError, ValueError):
            r = g = b = math.nan
        if not all(map(math.isfinite, (r, g, b))):
            self.note(f"KHR_materials_{extension}: {name} is no colour, and shown as {default:g}")
            return default, default, default
        return r, g, b

    def rest(self) -> None:
        """Tells what of the extensions is not shown."""
        for extension, body in self.extensions.items():
            if extension in _ELSEWHERE or not isinstance(body, dict):
                continue
            if extension not in _SHOWN:
                self.note(f"{extension} is kept, and not shown")
                continue
            for name in body:
                if name.endswith("Texture") and (extension, name) not in _SHOWN_TEXTURES:
                    self.note(f"{extension}: its {name} is not shown, its factors are")


def _texture(info: Any) -> Texture | None:
    """A reference of an extension as a `Texture`."""
    if not isinstance(info, dict) or not isinstance(info.get("texture"), dict):
        return None
    known: dict[str, Any] = info
    more = known.get("extensions")
    moved: Any = more.get("KHR_texture_transform") if isinstance(more, dict) else None
    moved = moved if isinstance(moved, dict) else {}
    try:
        return Texture(
            **known["texture"],
            uv_set=moved.get("texCoord", known.get("texCoord", 0)),
            offset=tuple(moved.get("offset", (0.0, 0.0))),
            rotation=moved.get("rotation", 0.0),
            scale=tuple(moved.get("scale", (1.0, 1.0))),
        )
    except (MarrowError, TypeError, ValueError):
        return None
