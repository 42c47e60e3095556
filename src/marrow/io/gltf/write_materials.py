"""Materials, textures and images into a `Builder`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from marrow.io.gltf.builder import Builder
from marrow.io.gltf.material_extensions import written
from marrow.io.gltf.materials import BASIS, FILTERS, IMAGE_EXTENSIONS, WRAPS
from marrow.io.images import Undecodable, as_png, media_type
from marrow.model import Image, Material, Texture
from marrow.printing import warn

__all__ = ["write_images", "write_materials"]

_WRAP_CODES = {name: code for code, name in WRAPS.items()}
_FILTER_CODES = {name: code for code, name in FILTERS.items()}
_EXTENSION_OF = {kind: name for name, kind in IMAGE_EXTENSIONS.items()} | {"image/ktx2": BASIS}
_CORE_TYPES = ("image/png", "image/jpeg")


def write_images(builder: Builder, images: Sequence[Image]) -> dict[int, int]:
    """Every image that holds data, byte for byte where glTF knows its format; their indices by those of the
    character."""
    out: dict[int, int] = {}
    for i, image in enumerate(images):
        if not image.data:
            continue
        kind, data = media_type(image.data, image.media_type), image.data
        if kind not in _CORE_TYPES and kind not in _EXTENSION_OF:
            try:
                data = as_png(data)
            except Undecodable as error:
                warn(
                    f"image {image.name!r} is {kind}, which glTF cannot hold, and cannot be converted ({error}); "
                    "its textures were left out",
                    stacklevel=5,
                )
                continue
            warn(
                f"image {image.name!r} is {kind}, which glTF cannot hold; it was converted to PNG",
                stacklevel=5,
            )
            kind = "image/png"
        definition: dict[str, Any] = {"mimeType": kind, "bufferView": builder.view(data)}
        if image.name:
            definition["name"] = image.name
        out[i] = builder.add("images", definition)
    return out


def write_materials(builder: Builder, materials: Sequence[Material], images: dict[int, int]) -> None:
    """Every material, in order, so that indices stay the character's."""
    for material in materials:
        builder.add("materials", _material(builder, material, images))


def _unit(value: float) -> float:
    return min(max(float(value), 0.0), 1.0)


def _material(builder: Builder, m: Material, images: dict[int, int]) -> dict[str, Any]:
    pbr: dict[str, Any] = {}
    if m.base_color != (1.0, 1.0, 1.0, 1.0):
        pbr["baseColorFactor"] = [_unit(c) for c in m.base_color]
    if m.metallic != 1.0:
        pbr["metallicFactor"] = _unit(m.metallic)
    if m.roughness != 1.0:
        pbr["roughnessFactor"] = _unit(m.roughness)
    out: dict[str, Any] = {"name": m.name} if m.name else {}
    extensions: dict[str, Any] = {}

    def place(into: dict[str, Any], key: str, texture: Texture | None, **more: float) -> None:
        if texture is not None and texture.image in images:
            into[key] = _texture_info(builder, texture, images) | {k: v for k, v in more.items() if v != 1.0}

    place(pbr, "baseColorTexture", m.base_color_texture)
    place(pbr, "metallicRoughnessTexture", m.metallic_roughness_texture)
    if pbr:
        out["pbrMetallicRoughness"] = pbr
    place(out, "normalTexture", m.normal_texture, scale=float(m.normal_scale))
    place(out, "occlusionTexture", m.occlusion_texture, strength=_unit(m.occlusion_strength))
    place(out, "emissiveTexture", m.emissive_texture)
    if any(m.emissive):
        strength = max(1.0, *m.emissive)
        out["emissiveFactor"] = [_unit(c / strength) for c in m.emissive]
        if strength > 1.0:
            extensions[builder.extension("KHR_materials_emissive_strength")] = {"emissiveStrength": strength}
    if m.alpha_mode != "opaque":
        out["alphaMode"] = m.alpha_mode.upper()
    if m.alpha_mode == "mask" and m.alpha_cutoff != 0.5:
        out["alphaCutoff"] = max(float(m.alpha_cutoff), 0.0)
    if m.double_sided:
        out["doubleSided"] = True
    if m.unlit:
        extensions[builder.extension("KHR_materials_unlit")] = {}
    if m.extensions:
        others = written(
            m.extensions,
            lambda t: _texture(builder, t, images[t.image]) if t.image in images else None,
        )
        extensions |= {
            builder.extension(name): body for name, body in others.items() if name not in extensions
        }
    if extensions:
        out["extensions"] = extensions
    return out


def _texture_info(builder: Builder, texture: Texture, images: dict[int, int]) -> dict[str, Any]:
    info: dict[str, Any] = {"index": _texture(builder, texture, images[texture.image])}
    if texture.uv_set:
        info["texCoord"] = texture.uv_set
    moved: dict[str, Any] = {}
    if tuple(texture.offset) != (0.0, 0.0):
        moved["offset"] = [float(c) for c in texture.offset]
    if texture.rotation:
        moved["rotation"] = float(texture.rotation)
    if tuple(texture.scale) != (1.0, 1.0):
        moved["scale"] = [float(c) for c in texture.scale]
    if moved:
        info["extensions"] = {builder.extension("KHR_texture_transform"): moved}
    return info


def _texture(builder: Builder, texture: Texture, image: int) -> int:
    sampler: dict[str, Any] = {}
    for key, name in (("magFilter", texture.mag_filter), ("minFilter", texture.min_filter)):
        if name in _FILTER_CODES:
            sampler[key] = _FILTER_CODES[name]
    for key, wrap in (("wrapS", texture.wrap_u), ("wrapT", texture.wrap_v)):
        if wrap != "repeat":
            sampler[key] = _WRAP_CODES[wrap]
    definition: dict[str, Any] = {}
    kind = builder.objects["images"][image]["mimeType"]
    if kind in _EXTENSION_OF:
        name = builder.extension(_EXTENSION_OF[kind], required=True)
        definition["extensions"] = {name: {"source": image}}
    else:
        definition["source"] = image
    if sampler:
        definition["sampler"] = builder.add_once("samplers", sampler)
    return builder.add_once("textures", definition)
