"""UsdPreviewSurface materials and their textures."""

from __future__ import annotations

import io
import math
import zipfile
from dataclasses import replace
from typing import Any, Literal

from marrow.errors import FormatError
from marrow.io.images import Undecodable, media_type, with_alpha, with_metallic_roughness
from marrow.io.source import Source
from marrow.io.usd.stage import beside
from marrow.model import Image, Material, Texture
from marrow.report import ReportBuilder

__all__ = ["Materials"]

MAX_IMAGE_BYTES = 512 << 20
Wrap = Literal["repeat", "clamp", "mirror"]
_WRAP: dict[str, Wrap] = {"repeat": "repeat", "clamp": "clamp", "black": "clamp", "mirror": "mirror"}


class Materials:
    """The materials and images met so far, each once."""

    def __init__(self, source: Source, report: ReportBuilder) -> None:
        self.source, self.report = source, report
        self.materials: list[Material] = []
        self.images: list[Image] = []
        self._material_index: dict[object, int] = {}
        self._image_index: dict[str, int | None] = {}

    def bound_to(self, prim: Any, uv_names: list[str]) -> int | None:
        """The material a prim is drawn with; `uv_names` are the UV sets of the mesh in order."""
        from pxr import UsdShade

        material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
        if not material:
            return None
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
        color, base = slots["diffuseColor"]
        alpha, alpha_texture = slots["opacity"]
        metallic, metal_texture = slots["metallic"]
        roughness, rough_texture = slots["roughness"]
        emissive, glow = slots["emissiveColor"]
        red, green, blue = _triple(color, 0.18) if base is None else (1.0, 1.0, 1.0)
        opacity = _single(alpha, 1.0) if alpha_texture is None else 1.0
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
            1.0 if packed and metal_texture else _single(metallic, 0.0),
            1.0 if packed and rough_texture else _single(roughness, 0.5),
            _triple(emissive, 0.0) if glow is None else (1.0, 1.0, 1.0),
            base_color_texture=base and base[0],
            metallic_roughness_texture=packed,
            normal_texture=slots["normal"][1] and slots["normal"][1][0],
            occlusion_texture=slots["occlusion"][1] and slots["occlusion"][1][0],
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
        return self._made(data, like, "metallic_roughness")

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
        return (self._made(data, (base or alpha)[0], "alpha"), "rgb"), "blend"

    def _picture(self, texture: tuple[Texture, str] | None) -> tuple[bytes, str] | None:
        if texture is None:
            return None
        return self.images[texture[0].image].data, texture[1] if texture[1] in ("r", "g", "b", "a") else "r"

    def _made(self, data: bytes, like: Texture, what: str) -> Texture:
        self.images.append(Image(f"{self.images[like.image].name}_{what}", "image/png", data))
        return replace(like, image=len(self.images) - 1)

    def _input(
        self, shader: Any, name: str, uv_names: list[str], where: str
    ) -> tuple[Any, tuple[Texture, str] | None]:
        """The value of an input, and the texture with the channel (`rgb`, `r`, ...) that drives it."""
        from pxr import UsdShade

        source = shader.GetInput(name)
        if not source:
            return None, None
        for producer in source.GetValueProducingAttributes():
            driver = UsdShade.Shader(producer.GetPrim())
            if not UsdShade.Output.IsOutput(producer) or not driver:
                return producer.Get(), None
            if driver.GetIdAttr().Get() == "UsdUVTexture":
                texture = self._texture(driver, uv_names, where)
                return source.Get(), None if texture is None else (texture, producer.GetBaseName())
            self.report.add("dropped", where, f"{name} is driven by a {driver.GetIdAttr().Get()}")
        return source.Get(), None

    def _texture(self, shader: Any, uv_names: list[str], where: str) -> Texture | None:
        from pxr import UsdShade

        file = _value(shader, "file")
        image = self._image(file, where) if file is not None and file.path else None
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

    def _image(self, file: Any, where: str) -> int | None:
        path = str(file.resolvedPath or file.path)
        if path not in self._image_index:
            self._image_index[path] = self._load_image(path, where)
        return self._image_index[path]

    def _load_image(self, path: str, where: str) -> int | None:
        name = path.rstrip("]").replace("\\", "/").replace("[", "/").rsplit("/", 1)[-1]
        data, reason = self._data(path)
        if data is None:
            self.report.add("dropped", where, f"texture {name!r}: {reason}; left out")
            return None
        self.images.append(Image(name, media_type(data, name=name), data))
        return len(self.images) - 1

    def _data(self, path: str) -> tuple[bytes | None, str]:
        if "[" not in path:
            own = self.source.path.resolve()
            return self.source.picture(beside((own.parent / path).resolve(), own))
        try:
            return self._packaged(path), ""
        except FormatError as error:
            return None, error.message

    def _packaged(self, path: str) -> bytes:
        """A file inside the .usdz package itself, which is a zip archive that stores and never packs."""
        inner = path.rstrip("]").split("[", 1)[1]
        try:
            with zipfile.ZipFile(io.BytesIO(self.source.data)) as package:
                if package.getinfo(inner).file_size > MAX_IMAGE_BYTES:
                    raise FormatError(
                        f"texture {inner!r} is larger than an image should be", path=self.source.path
                    )
                return package.read(inner)
        except (KeyError, zipfile.BadZipFile, NotImplementedError, OSError, RuntimeError) as error:
            raise FormatError(f"texture {inner!r} cannot be read: {error}", path=self.source.path) from None


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
