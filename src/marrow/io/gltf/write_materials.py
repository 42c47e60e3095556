"""Materials, textures and images into a `GltfBuilder`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from marrow.io.gltf.builder import GltfBuilder
from marrow.io.gltf.material_extensions import written
from marrow.io.gltf.materials import BASIS, FILTERS, IMAGE_EXTENSIONS, WRAPS
from marrow.io.gltf.notes import ImageNotes, MaterialNotes, to_extras
from marrow.io.images import Undecodable, as_png, media_type
from marrow.model import Image, Material, Texture

__all__ = ["write_images", "write_materials"]

_WRAP_CODES = {name: code for code, name in WRAPS.items()}
_FILTER_CODES = {name: code for code, name in FILTERS.items()}
_EXTENSION_OF = {kind: name for name, kind in IMAGE_EXTENSIONS.items()} | {"image/ktx2": BASIS}
_CORE_TYPES = ("image/png", "image/jpeg")
# One clear pixel, for images that are not there.
NO_PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c020000000b4944415478da636060000000030001"
    "2b094d840000000049454e44ae426082"
)


def write_images(builder: GltfBuilder, images: Sequence[Image]) -> set[int]:
    """Every image in order, byte for byte where glTF knows its format; those that a texture can show. One that holds
    nothing, or nothing that can be converted, keeps its place as an empty picture."""
    shown: set[int] = set()
    for i, image in enumerate(images):
        kind, data = media_type(image.data, image.media_type), image.data
        noted = ImageNotes(
            missing=not data, media_type=None if kind == image.media_type else image.media_type
        )
        if data and kind not in _CORE_TYPES and kind not in _EXTENSION_OF:
            try:
                data, kind, noted = as_png(data), "image/png", ImageNotes()
                builder.warn(
                    f"image {image.name!r} is {image.media_type}, which glTF cannot hold; it was converted to PNG"
                )
            except Undecodable as error:
                builder.warn(
                    f"image {image.name!r} is {kind}, which glTF cannot hold, and cannot be converted ({error}); "
                    "it and its textures were left out"
                )
                data, noted = b"", ImageNotes(missing=True)
        if data:
            shown.add(i)
        else:
            noted.media_type, kind, data = image.media_type, "image/png", NO_PICTURE
        definition: dict[str, Any] = {"mimeType": kind, "bufferView": builder.view(data)}
        if image.name:
            definition["name"] = image.name
        extras = to_extras(noted)
        if extras:
            definition["extras"] = extras
        builder.extras.put(definition, "images", i, image.name)
        builder.add("images", definition)
    return shown


def write_materials(builder: GltfBuilder, materials: Sequence[Material], images: set[int]) -> None:
    """Every material, in order, so that indices stay the character's."""
    for i, material in enumerate(materials):
        definition = _material(builder, material, images)
        builder.extras.put(definition, "materials", i, material.name)
        builder.add("materials", definition)


def _unit(value: float) -> float:
    return min(max(float(value), 0.0), 1.0)


def _material(builder: GltfBuilder, m: Material, images: set[int]) -> dict[str, Any]:
    pbr: dict[str, Any] = {}
    read: dict[str, Any] = {"normal_scale": 1.0, "occlusion_strength": 1.0, "alpha_cutoff": 0.5}
    read["base_color"] = tuple(map(_unit, m.base_color))
    if m.base_color != (1.0, 1.0, 1.0, 1.0):
        pbr["baseColorFactor"] = list(read["base_color"])
    for field in ("metallic", "roughness"):
        read[field] = _unit(getattr(m, field))
        if getattr(m, field) != 1.0:
            pbr[f"{field}Factor"] = read[field]
    out: dict[str, Any] = {"name": m.name} if m.name else {}
    extensions: dict[str, Any] = {}

    def place(into: dict[str, Any], key: str, texture: Texture | None, **more: float) -> bool:
        if texture is None or texture.image not in images:
            return False
        into[key] = _texture_info(builder, texture) | {k: v for k, v in more.items() if v != 1.0}
        return True

    place(pbr, "baseColorTexture", m.base_color_texture)
    place(pbr, "metallicRoughnessTexture", m.metallic_roughness_texture)
    if pbr:
        out["pbrMetallicRoughness"] = pbr
    if place(out, "normalTexture", m.normal_texture, scale=float(m.normal_scale)):
        read["normal_scale"] = m.normal_scale
    if place(out, "occlusionTexture", m.occlusion_texture, strength=_unit(m.occlusion_strength)):
        read["occlusion_strength"] = _unit(m.occlusion_strength)
    place(out, "emissiveTexture", m.emissive_texture)
    read["emissive"] = _write_emissive(builder, m, out, extensions)
    if m.alpha_mode != "opaque":
        out["alphaMode"] = m.alpha_mode.upper()
    if m.alpha_mode == "mask":
        read["alpha_cutoff"] = max(float(m.alpha_cutoff), 0.0)
        if m.alpha_cutoff != 0.5:
            out["alphaCutoff"] = read["alpha_cutoff"]
    if m.double_sided:
        out["doubleSided"] = True
    if m.unlit:
        extensions[builder.extension("KHR_materials_unlit")] = {}
    if m.extensions:
        others = written(m.extensions, lambda t: _texture(builder, t) if t.image in images else None)
        extensions |= {
            builder.extension(name): body for name, body in others.items() if name not in extensions
        }
    if extensions:
        out["extensions"] = extensions
    own = {field: getattr(m, field) for field, value in read.items() if getattr(m, field) != value}
    clamped = [f for f in own if f in ("base_color", "metallic", "roughness", "emissive")]
    if clamped:
        builder.warn(
            f"material {m.name!r}: {', '.join(clamped)} must be from 0 to 1 in glTF; others were clamped"
        )
    extras = to_extras(MaterialNotes(**own))
    if extras:
        out["extras"] = extras
    return out


def _write_emissive(
    builder: GltfBuilder, m: Material, out: dict[str, Any], extensions: dict[str, Any]
) -> tuple[float, ...]:
    """The colour a material shines in, as a factor and a strength; what they are once multiplied."""
    if not any(m.emissive):
        return (0.0, 0.0, 0.0)
    strength = max(1.0, *m.emissive)
    if any(c / strength * strength != c for c in m.emissive) and math.isfinite(strength):
        strength = 2.0 ** math.ceil(math.log2(strength))  # divides without rounding
    factor = [_unit(c / strength) for c in m.emissive]
    out["emissiveFactor"] = factor
    if strength > 1.0:
        extensions[builder.extension("KHR_materials_emissive_strength")] = {"emissiveStrength": strength}
    return tuple(c * strength for c in factor)


def _texture_info(builder: GltfBuilder, texture: Texture) -> dict[str, Any]:
    info: dict[str, Any] = {"index": _texture(builder, texture)}
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


def _texture(builder: GltfBuilder, texture: Texture) -> int:
    image = builder.objects["images"][texture.image]
    definition = builder.extras.record("textures", texture.image, image.get("name", ""))
    sampler: dict[str, Any] = dict(definition.pop("sampler", {}))
    for key, name in (("magFilter", texture.mag_filter), ("minFilter", texture.min_filter)):
        if name in _FILTER_CODES:
            sampler[key] = _FILTER_CODES[name]
    for key, wrap in (("wrapS", texture.wrap_u), ("wrapT", texture.wrap_v)):
        if wrap != "repeat":
            sampler[key] = _WRAP_CODES[wrap]
    if image["mimeType"] in _EXTENSION_OF:
        name = builder.extension(_EXTENSION_OF[image["mimeType"]], required=True)
        definition["extensions"] = {name: {"source": texture.image}}
    else:
        definition["source"] = texture.image
    if sampler:
        definition["sampler"] = builder.add_once("samplers", sampler)
    return builder.add_once("textures", definition)
