"""Materials as UsdPreviewSurface, their textures as files in a folder beside the stage."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from marrow.io.atomic import replacing
from marrow.model import Character, Material, Texture

__all__ = ["write_materials"]

_SUFFIX = {"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp", "image/avif": ".avif"}


def write_materials(stage: Any, top: str, character: Character, folder: Path, names: Any) -> list[Any]:
    """A material prim for each of the character's, in order."""
    files: dict[int, str] = {}
    used = {t.image for m in character.materials for t in m.textures.values()}
    for i in sorted(used):
        image = character.images[i]
        if not image.data:
            continue
        folder.mkdir(exist_ok=True)
        stem = re.sub(r"[^\w.-]+", "_", Path(image.name.replace("\\", "/")).stem)[:80] or "image"
        name = f"{i}_{stem}{_SUFFIX.get(image.media_type, '.bin')}"
        with replacing(folder / name) as file:
            file.write(image.data)
        files[i] = f"./{folder.name}/{name}"
    return [_material(stage, top, m, files, names) for m in character.materials]


def _material(stage: Any, top: str, m: Material, files: dict[int, str], names: Any) -> Any:
    from pxr import Gf, Sdf, UsdShade

    material = UsdShade.Material.Define(stage, f"{top}/{names.of(m.name or 'material', top)}")
    where = str(material.GetPath())
    surface = UsdShade.Shader.Define(stage, f"{where}/Surface")
    surface.CreateIdAttr("UsdPreviewSurface")
    material.CreateSurfaceOutput().ConnectToSource(surface.ConnectableAPI(), "surface")
    kinds = Sdf.ValueTypeNames

    def texture(t: Texture | None, name: str) -> Any:
        if t is None or t.image not in files:
            return None
        reader = UsdShade.Shader.Define(stage, f"{where}/{name}Coordinates")
        reader.CreateIdAttr("UsdPrimvarReader_float2")
        reader.CreateInput("varname", kinds.String).Set("st" if t.uv_set == 0 else f"st{t.uv_set}")
        shader = UsdShade.Shader.Define(stage, f"{where}/{name}Texture")
        shader.CreateIdAttr("UsdUVTexture")
        shader.CreateInput("file", kinds.Asset).Set(files[t.image])
        shader.CreateInput("st", kinds.Float2).ConnectToSource(reader.ConnectableAPI(), "result")
        for side, wrap in (("wrapS", t.wrap_u), ("wrapT", t.wrap_v)):
            shader.CreateInput(side, kinds.Token).Set(wrap)
        return shader

    def put(name: str, kind: Any, value: Any, shader: Any = None, channel: str = "rgb") -> None:
        made = surface.CreateInput(name, kind)
        if shader is None:
            made.Set(value)
        else:
            shader.CreateOutput(channel, kinds.Float3 if channel == "rgb" else kinds.Float)
            made.ConnectToSource(shader.ConnectableAPI(), channel)

    r, g, b, alpha = m.base_color
    base = texture(m.base_color_texture, "BaseColor")
    put("diffuseColor", kinds.Color3f, Gf.Vec3f(r, g, b), base)
    shine = texture(m.metallic_roughness_texture, "MetallicRoughness")
    put("metallic", kinds.Float, m.metallic, shine, "b")
    put("roughness", kinds.Float, m.roughness, shine, "g")
    if m.alpha_mode == "opaque":
        put("opacity", kinds.Float, 1.0)
    else:
        put("opacity", kinds.Float, alpha, base, "a")
        if m.alpha_mode == "mask":
            surface.CreateInput("opacityThreshold", kinds.Float).Set(m.alpha_cutoff)
    put("emissiveColor", kinds.Color3f, Gf.Vec3f(*m.emissive), texture(m.emissive_texture, "Emissive"))
    normal = texture(m.normal_texture, "Normal")
    if normal is not None:
        normal.CreateInput("scale", kinds.Float4).Set(Gf.Vec4f(2, 2, 2, 1))
        normal.CreateInput("bias", kinds.Float4).Set(Gf.Vec4f(-1, -1, -1, 0))
        put("normal", kinds.Normal3f, None, normal)
    occlusion = texture(m.occlusion_texture, "Occlusion")
    if occlusion is not None:
        put("occlusion", kinds.Float, None, occlusion, "r")
    return material
