"""UsdPreviewSurface materials and their textures."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from marrow.io.images import Undecodable, with_alpha, with_metallic_roughness
from marrow.io.source import Source
from marrow.io.usd.notes import RootNotes, UsdMaterialNotes, take
from marrow.io.usd.pictures import StagePictures
from marrow.io.usd.writing.materials import expected
from marrow.io.usd.writing.meshes import uv_name
from marrow.model import Material, Texture
from marrow.report import ReportBuilder

__all__ = ["UsdMaterials"]

_MOST_UV_SETS = 64
# What the shaders of a material tell.
_TOLD = (
    "base_color", "metallic", "roughness", "emissive", "occlusion_strength", "alpha_mode", "alpha_cutoff",
    "base_color_texture", "metallic_roughness_texture", "normal_texture", "occlusion_texture", "emissive_texture",
)  # fmt: skip
Wrap = Literal["repeat", "clamp", "mirror"]
_WRAP: dict[str, Wrap] = {"repeat": "repeat", "clamp": "clamp", "black": "clamp", "mirror": "mirror"}


class UsdMaterials:
    """The materials and images met so far, each once."""

    def __init__(self, source: Source, report: ReportBuilder) -> None:
        self.report = report
        self.materials: list[Material] = []
        self.pictures = StagePictures(source, report)
        self._material_index: dict[object, int] = {}
        self._own: dict[Any, int] = {}
        self.variant_count = 0

    def add_own(self, root: Any, notes: RootNotes) -> None:
        """All images and materials of a character that marrow wrote, in their order, used or not."""
        from pxr import UsdShade

        where = str(root.GetPath())
        self.pictures.add_own(notes, where)
        self.variant_count = len(notes.variants)
        names = [uv_name(i) for i in range(_MOST_UV_SETS)]
        inner = (p for child in root.GetChildren() for p in child.GetChildren())
        prims = {p.GetName(): p for p in inner if p.IsA(UsdShade.Material)}
        for number, name in enumerate(notes.materials):
            if name not in prims:
                self.report.add("dropped", where, f"material {name!r}: its prim is gone")
                self.materials.append(Material(name))
                continue
            self._own[prims[name].GetPath()] = number
            self.materials.append(self._read_own(prims[name], names))

    def own_number(self, prim: Any) -> int | None:
        """The number of the material that is bound to the prim itself, where it is one that marrow wrote."""
        from pxr import UsdShade

        bound = UsdShade.MaterialBindingAPI(prim).GetDirectBinding().GetMaterialPath()
        return self._own.get(bound)

    def _read_own(self, prim: Any, uv_names: list[str]) -> Material:
        """The material in its notes; what its shaders say otherwise now is taken from them."""
        from pxr import UsdShade

        found = self._read(UsdShade.Material(prim), uv_names)
        notes = take(prim, UsdMaterialNotes, self.report)
        if notes is None:
            return found
        noted, count = notes.material, len(self.pictures.images)
        if not all(0 <= t.image < count for t in noted.textures.values()):
            return found
        wanted = expected(noted, set(self.pictures.shown.values()))
        changed = {
            field: getattr(found, field)
            for field in _TOLD
            if not _alike(getattr(found, field), getattr(wanted, field))
        }
        return replace(noted, **changed)

    def bound_to(self, prim: Any, uv_names: list[str]) -> int | None:
        """The material a prim is drawn with; `uv_names` are the UV sets of the mesh in order."""
        from pxr import UsdShade

        material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
        if not material:
            return None
        if material.GetPath() in self._own:
            return self._own[material.GetPath()]
        key = (str(material.GetPath()), tuple(uv_names))
        if key not in self._material_index:
            self._material_index[key] = len(self.materials)
            self.materials.append(self._read(material, uv_names))
        return self._material_index[key]

    def plain(self, color: tuple[float, float, float, float]) -> int:
        """A material of one colour, for meshes that have a displayColor and no material."""
        if color not in self._material_index:
            self._material_index[color] = len(self.materials)
            mode: Literal["opaque", "blend"] = "opaque" if color[3] >= 1 else "blend"
            self.materials.append(Material("displayColor", color, 0.0, 0.5, alpha_mode=mode))
        return self._material_index[color]

    def _read(self, material: Any, uv_names: list[str]) -> Material:
        name, where = material.GetPrim().GetName(), str(material.GetPath())
        shader = material.ComputeSurfaceSource()[0]
        if not shader or shader.GetIdAttr().Get() != "UsdPreviewSurface":
            self.report.add("dropped", where, "is not a UsdPreviewSurface; a plain material takes its place")
            return Material(name, metallic=0.0, roughness=0.5)
        slots = {
            slot: self._input(shader, slot, uv_names, where)
            for slot in (
                "diffuseColor", "metallic", "roughness", "opacity", "emissiveColor", "normal", "occlusion",
            )
        }  # fmt: skip
        color, base, tint = slots["diffuseColor"]
        alpha, alpha_texture, veil = slots["opacity"]
        metallic, metal_texture, metal = slots["metallic"]
        roughness, rough_texture, rough = slots["roughness"]
        emissive, glow, glow_tint = slots["emissiveColor"]
        red, green, blue = _triple(color, 0.18) if base is None else tint[:3]
        opacity = _single(alpha, 1.0) if alpha_texture is None else _of(veil, alpha_texture)
        threshold = _single(_value(shader, "opacityThreshold"), 0.0)
        mode: Literal["opaque", "mask", "blend"] = "opaque"
        if threshold > 0:
            mode = "mask"
        elif opacity < 1 or alpha_texture is not None:
            mode = "blend"
        if alpha_texture is not None and (base is None or alpha_texture[0].image != base[0].image):
            base, mode = self._with_alpha(base, alpha_texture, where) or (base, "opaque")
        packed = self._packed(metal_texture, rough_texture, where)
        if _single(_value(shader, "useSpecularWorkflow"), 0.0):
            self.report.add("dropped", where, "the specular workflow is read as if it were metallic")
        return Material(
            name,
            (red, green, blue, opacity),
            _of(metal, metal_texture) if packed and metal_texture else _single(metallic, 0.0),
            _of(rough, rough_texture) if packed and rough_texture else _single(roughness, 0.5),
            _triple(emissive, 0.0) if glow is None else glow_tint[:3],
            base_color_texture=base and base[0],
            metallic_roughness_texture=packed,
            normal_texture=slots["normal"][1] and slots["normal"][1][0],
            occlusion_texture=slots["occlusion"][1] and slots["occlusion"][1][0],
            occlusion_strength=_of(slots["occlusion"][2], slots["occlusion"][1]),
            emissive_texture=glow and glow[0],
            alpha_mode=mode,
            alpha_cutoff=threshold or 0.5,
        )

    def _packed(
        self, metal: tuple[Texture, str] | None, rough: tuple[Texture, str] | None, where: str
    ) -> Texture | None:
        """glTF keeps roughness in green and metallic in blue of one image."""
        if metal is None and rough is None:
            return None
        fits = (metal is None or metal[1] == "b") and (rough is None or rough[1] == "g")
        if fits and metal is not None and rough is not None:
            fits = metal[0].image == rough[0].image
        like = (rough or metal)[0]  # type: ignore[index]
        if fits:
            return like
        try:
            data = with_metallic_roughness(self._picture(rough), self._picture(metal))
        except Undecodable as error:
            self.report.add("dropped", where, f"metallic and roughness textures cannot be packed: {error}")
            return None
        return self.pictures.add(data, like, "metallic_roughness")

    def _with_alpha(
        self, base: tuple[Texture, str] | None, alpha: tuple[Texture, str], where: str
    ) -> tuple[tuple[Texture, str], Literal["blend"]] | None:
        """glTF keeps opacity in the alpha of the base colour."""
        try:
            color = self._picture(base)
            data = with_alpha(color[0] if color else None, self._picture(alpha) or (b"", "r"))
        except Undecodable as error:
            self.report.add("dropped", where, f"its opacity texture cannot be packed: {error}")
            return None
        return (self.pictures.add(data, (base or alpha)[0], "alpha"), "rgb"), "blend"

    def _picture(self, texture: tuple[Texture, str] | None) -> tuple[bytes, str] | None:
        if texture is None:
            return None
        return self.pictures.images[texture[0].image].data, texture[1] if texture[1] in (
            "r",
            "g",
            "b",
            "a",
        ) else "r"

    def _input(
        self, shader: Any, name: str, uv_names: list[str], where: str
    ) -> tuple[Any, tuple[Texture, str] | None, tuple[float, float, float, float]]:
        """The value of an input, the texture with the channel (`rgb`, `r`, ...) that drives it, and its factor."""
        from pxr import UsdShade

        source, ones = shader.GetInput(name), (1.0, 1.0, 1.0, 1.0)
        if not source:
            return None, None, ones
        for producer in source.GetValueProducingAttributes():
            driver = UsdShade.Shader(producer.GetPrim())
            if not UsdShade.Output.IsOutput(producer) or not driver:
                return producer.Get(), None, ones
            if driver.GetIdAttr().Get() == "UsdUVTexture":
                texture = self._texture(driver, uv_names, where)
                found = None if texture is None else (texture, producer.GetBaseName())
                scale = _value(driver, "scale")
                return source.Get(), found, ones if scale is None else tuple(float(v) for v in scale)  # type: ignore[return-value]
            self.report.add("dropped", where, f"{name} is driven by a {driver.GetIdAttr().Get()}")
        return source.Get(), None, ones

    def _texture(self, shader: Any, uv_names: list[str], where: str) -> Texture | None:
        from pxr import UsdShade

        file = _value(shader, "file")
        image = self.pictures.number(file, where) if file is not None and file.path else None
        if image is None:
            return None
        uv_set, offset, rotation, scale = 0, (0.0, 0.0), 0.0, (1.0, 1.0)
        reader = _driver(shader, "st")
        if reader and reader.GetIdAttr().Get() == "UsdTransform2d":
            scale = tuple(_value(reader, "scale") or (1.0, 1.0))
            rotation = _single(_value(reader, "rotation"), 0.0)
            move = tuple(_value(reader, "translation") or (0.0, 0.0))
            offset, rotation = _flipped_transform(move, rotation, scale)
            reader = _driver(reader, "in")
        if reader and str(reader.GetIdAttr().Get()).startswith("UsdPrimvarReader"):
            wanted = str(_value(UsdShade.Shader(reader), "varname") or "")
            uv_set = uv_names.index(wanted) if wanted in uv_names else 0
        wraps = [_WRAP.get(str(_value(shader, side) or "repeat"), "repeat") for side in ("wrapS", "wrapT")]
        return Texture(image, uv_set, wraps[0], wraps[1], offset=offset, rotation=rotation, scale=scale)


def _value(shader: Any, name: str) -> Any:
    found = shader.GetInput(name)
    if not found:
        return None
    producers = found.GetValueProducingAttributes()
    return producers[0].Get() if producers else found.Get()


def _driver(shader: Any, name: str) -> Any:
    """The shader connected to an input."""
    from pxr import UsdShade

    found = shader.GetInput(name)
    for producer in found.GetValueProducingAttributes() if found else ():
        if UsdShade.Output.IsOutput(producer):
            return UsdShade.Shader(producer.GetPrim())
    return None


def _of(scale: tuple[float, float, float, float], texture: tuple[Texture, str] | None) -> float:
    """What a channel of a texture is multiplied with."""
    channel = texture[1] if texture is not None else ""
    return scale["rgba".index(channel)] if channel in ("r", "g", "b", "a") else 1.0


def _alike(a: Any, b: Any) -> bool:
    """Whether two fields of a material are the same but for rounding."""
    if isinstance(a, Texture) and isinstance(b, Texture):
        mine, yours = ((*t.offset, t.rotation, *t.scale) for t in (a, b))
        same = (a.image, a.uv_set, a.wrap_u, a.wrap_v) == (b.image, b.uv_set, b.wrap_u, b.wrap_v)
        return same and bool(np.allclose(mine, yours, rtol=1e-5, atol=1e-5))
    if isinstance(a, (tuple, float, int)) and isinstance(b, (tuple, float, int)):
        return bool(np.allclose(a, b, rtol=1e-6, atol=1e-7))
    return bool(a == b)


def _flipped_transform(
    move: tuple[float, ...], degrees: float, scale: tuple[float, ...]
) -> tuple[tuple[float, float], float]:
    """Offset and rotation of KHR_texture_transform for a UsdTransform2d, whose V axis points the other way.

    USD: `uv' = R(a) S uv + t`. With `v = 1 - w` on both sides, the same map of `(u, w)` turns as KHR's
    rotation does (its matrix is `[[c, s], [-s, c]]`) and moves what was at the old origin.
    """
    angle = math.radians(degrees)
    c, s = math.cos(angle), math.sin(angle)
    return (float(move[0] - s * scale[1]), float(1 - move[1] - c * scale[1])), angle


def _triple(value: Any, default: float) -> tuple[float, float, float]:
    if value is None:
        return default, default, default
    r, g, b = (float(v) for v in value)
    return r, g, b


def _single(value: Any, default: float) -> float:
    return default if value is None else float(value)
