"""Materials as UsdPreviewSurface, their textures as files in a folder beside the stage, or in its package."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from marrow.io.images import Undecodable, as_png, media_type
from marrow.io.losses import Losses
from marrow.io.usd.notes import put
from marrow.io.usd.writing.meshes import uv_name
from marrow.model import Image, Material, Texture

__all__ = ["WrittenPictures", "expected", "write_material"]

_SUFFIX = {"image/png": ".png", "image/jpeg": ".jpg"}
_OTHERS = {"image/webp": ".webp", "image/avif": ".avif", "image/ktx2": ".ktx2"}


@dataclass(frozen=True)
class WrittenPictures:
    """The images of a character as files: `files` for shaders by the number of the image, `kept` with the bytes of each by
    name, and all images for the notes."""

    files: dict[int, str]
    kept: dict[str, bytes]
    notes: list[tuple[str, str, str, str]]

    @classmethod
    def of(cls, images: Sequence[Image], folder: str, losses: Losses, *, package: bool) -> WrittenPictures:
        """Files that every program which reads USD can read. Where the original is of another kind it lies beside them, but
        not in packages, which hold PNG and JPEG alone."""
        out = cls({}, {}, [])
        for i, image in enumerate(images):
            kind, data = media_type(image.data, image.media_type, name=image.name), image.data
            if not data:
                out.notes.append((image.name, image.media_type, "", ""))
                continue
            stem = re.sub(r"[^A-Za-z0-9.-]+", "_", Path(image.name.replace("\\", "/")).stem).strip("_")[:80]
            stem, original, said = f"{folder}/{i}_{stem or 'image'}", "", image.media_type
            if kind not in _SUFFIX:
                if not package:
                    original = f"{stem}{_OTHERS.get(kind, '.bin')}"
                    out.kept[original] = data
                try:
                    kind, data, was = "image/png", as_png(data), kind
                except Undecodable:
                    fate = "left out" if package else "not seen by other programs"
                    losses.add(f"image {image.name!r}", f"{kind} that cannot be made PNG is {fate}")
                    out.notes.append((image.name, said, original, ""))
                    continue
                fate = "was made PNG" if package else "is PNG for other programs"
                losses.add(f"image {image.name!r}", f"{was}, which few programs read from USD, {fate}")
                said = "image/png" if package else said
            name = f"{stem}{_SUFFIX[kind]}"
            out.kept[name] = data
            out.files[i] = f"./{name}"
            out.notes.append((image.name, said, original or name, name))
        return out


def expected(m: Material, files: Container[int]) -> Material:
    """The part of a material that the shaders tell, as a reader finds it there; `files`: the images they can show."""
    found = {f"{slot}_texture": t for slot, t in m.textures.items() if t.image in files}
    base = found.get("base_color_texture")
    red, green, blue, alpha = m.base_color
    mode = m.alpha_mode
    if mode == "blend" or (mode == "mask" and m.alpha_cutoff <= 0):
        mode = "blend" if alpha < 1 or base is not None else "opaque"
    return Material(
        m.name,
        (red, green, blue, alpha if m.alpha_mode != "opaque" else 1.0),
        m.metallic,
        m.roughness,
        m.emissive,
        occlusion_strength=m.occlusion_strength if "occlusion_texture" in found else 1.0,
        alpha_mode=mode,
        alpha_cutoff=m.alpha_cutoff if mode == "mask" else 0.5,
        **found,  # type: ignore[arg-type]
    )


def write_material(prim: Any, m: Material, files: dict[int, str], path: object, losses: Losses) -> Any:
    """The shaders of a material, below its prim."""
    from pxr import Sdf, UsdShade

    stage, material = prim.GetStage(), UsdShade.Material(prim)
    where, kinds = str(prim.GetPath()), Sdf.ValueTypeNames
    surface = UsdShade.Shader.Define(stage, f"{where}/Surface")
    surface.CreateIdAttr("UsdPreviewSurface")
    material.CreateSurfaceOutput().ConnectToSource(surface.ConnectableAPI(), "surface")
    network = _Network(stage, where, surface, files)
    red, green, blue, alpha = m.base_color
    base = network.texture(m.base_color_texture, "BaseColor", (red, green, blue, alpha), color=True)
    network.put("diffuseColor", kinds.Color3f, (red, green, blue), base)
    shine = network.texture(
        m.metallic_roughness_texture, "MetallicRoughness", (1.0, m.roughness, m.metallic, 1.0)
    )
    network.put("metallic", kinds.Float, m.metallic, shine, "b")
    network.put("roughness", kinds.Float, m.roughness, shine, "g")
    if m.alpha_mode == "opaque":
        network.put("opacity", kinds.Float, 1.0)
    else:
        network.put("opacity", kinds.Float, alpha, base, "a")
        if m.alpha_mode == "mask":
            surface.CreateInput("opacityThreshold", kinds.Float).Set(float(m.alpha_cutoff))
    glow = network.texture(m.emissive_texture, "Emissive", (*m.emissive, 1.0), color=True)
    network.put("emissiveColor", kinds.Color3f, tuple(m.emissive), glow)
    normal = network.texture(m.normal_texture, "Normal", (2.0, 2.0, 2.0, 1.0), (-1.0, -1.0, -1.0, 0.0))
    if normal is not None:
        network.put("normal", kinds.Normal3f, None, normal)
    s = m.occlusion_strength  # 1 + s (value - 1)
    shade = network.texture(m.occlusion_texture, "Occlusion", (s, 1.0, 1.0, 1.0), (1 - s, 0.0, 0.0, 0.0))
    if shade is not None:
        network.put("occlusion", kinds.Float, None, shade, "r")
    default = Material()
    unsaid = [
        field.name
        for field in fields(m)
        if field.name in ("normal_scale", "unlit", "extensions")
        and getattr(m, field.name) != getattr(default, field.name)
    ]
    if unsaid:
        losses.add(f"material {m.name!r}", f"other programs do not see its {', '.join(unsaid)}")
    put(prim, {"material": _differing(m, default)}, path)
    if prim.GetName() != m.name and m.name:
        prim.SetDisplayName(m.name)
    return material


def _differing(value: Material | Texture, default: Material | Texture) -> dict[str, Any]:
    """The fields that are not as a reader would assume anyway."""
    found: dict[str, Any] = {}
    for field in fields(value):
        mine = getattr(value, field.name)
        if mine != getattr(default, field.name):
            found[field.name] = _differing(mine, Texture(-1)) if isinstance(mine, Texture) else mine
    return found


class _Network:
    """The shaders of one material."""

    def __init__(self, stage: Any, where: str, surface: Any, files: dict[int, str]) -> None:
        self.stage, self.where, self.surface, self.files = stage, where, surface, files

    def texture(
        self,
        t: Texture | None,
        name: str,
        scale: tuple[float, ...],
        bias: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0),
        *,
        color: bool = False,
    ) -> Any:
        """What reads a texture and makes `value * scale + bias` of it; None where it has no file."""
        from pxr import Gf, Sdf, UsdShade

        if t is None or t.image not in self.files:
            return None
        kinds = Sdf.ValueTypeNames
        place = UsdShade.Shader.Define(self.stage, f"{self.where}/{name}Coordinates")
        place.CreateIdAttr("UsdPrimvarReader_float2")
        place.CreateInput("varname", kinds.String).Set(uv_name(t.uv_set))
        if t.offset != (0.0, 0.0) or t.rotation or t.scale != (1.0, 1.0):
            moved = UsdShade.Shader.Define(self.stage, f"{self.where}/{name}Transform")
            moved.CreateIdAttr("UsdTransform2d")
            moved.CreateInput("in", kinds.Float2).ConnectToSource(place.ConnectableAPI(), "result")
            # The reader's rule (`flipped_transform`) turned round: V points the other way here.
            c, s = math.cos(t.rotation), math.sin(t.rotation)
            move = (t.offset[0] + s * t.scale[1], 1 - t.offset[1] - c * t.scale[1])
            moved.CreateInput("translation", kinds.Float2).Set(Gf.Vec2f(*move))
            moved.CreateInput("rotation", kinds.Float).Set(math.degrees(t.rotation))
            moved.CreateInput("scale", kinds.Float2).Set(Gf.Vec2f(*t.scale))
            place = moved
        shader = UsdShade.Shader.Define(self.stage, f"{self.where}/{name}Texture")
        shader.CreateIdAttr("UsdUVTexture")
        shader.CreateInput("file", kinds.Asset).Set(self.files[t.image])
        shader.CreateInput("st", kinds.Float2).ConnectToSource(place.ConnectableAPI(), "result")
        shader.CreateInput("sourceColorSpace", kinds.Token).Set("sRGB" if color else "raw")
        for side, wrap in (("wrapS", t.wrap_u), ("wrapT", t.wrap_v)):
            shader.CreateInput(side, kinds.Token).Set(wrap)
        if scale != (1.0, 1.0, 1.0, 1.0):
            shader.CreateInput("scale", kinds.Float4).Set(Gf.Vec4f(*scale))
        if any(bias):
            shader.CreateInput("bias", kinds.Float4).Set(Gf.Vec4f(*bias))
        return shader

    def put(self, name: str, kind: Any, value: Any, shader: Any = None, channel: str = "rgb") -> None:
        """An input of the surface: a value, or a channel of a texture."""
        from pxr import Gf, Sdf

        made = self.surface.CreateInput(name, kind)
        if shader is None:
            made.Set(Gf.Vec3f(*value) if isinstance(value, tuple) else value)
        else:
            kinds = Sdf.ValueTypeNames
            shader.CreateOutput(channel, kinds.Float3 if channel == "rgb" else kinds.Float)
            made.ConnectToSource(shader.ConnectableAPI(), channel)
