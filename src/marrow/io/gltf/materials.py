"""Materials, textures and images, kept as the file has them; images stay encoded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import msgspec

from marrow.errors import FormatError, ResourceLimitError
from marrow.io.gltf import limits, notes
from marrow.io.gltf.accessors import data_uri
from marrow.io.gltf.context import Context
from marrow.io.gltf.material_extensions import read_material_extensions
from marrow.io.gltf.notes import ImageNotes, MaterialNotes
from marrow.io.gltf.schema import (
    EmissiveStrength,
    ImageDef,
    MaterialDef,
    MetallicRoughness,
    SamplerDef,
    SpecularGlossiness,
    TextureDef,
    TextureInfoDef,
    TextureSource,
    TextureTransform,
)
from marrow.io.images import media_type, why_not_shown
from marrow.model import Image, Material, Texture

__all__ = ["FILTERS", "IMAGE_EXTENSIONS", "WRAPS", "image_of", "read_images", "read_materials"]

Wrap = Literal["repeat", "clamp", "mirror"]
WRAPS: dict[int, Wrap] = {10497: "repeat", 33071: "clamp", 33648: "mirror"}
FILTERS = {
    9728: "nearest",
    9729: "linear",
    9984: "nearest_mipmap_nearest",
    9985: "linear_mipmap_nearest",
    9986: "nearest_mipmap_linear",
    9987: "linear_mipmap_linear",
}
# Texture extensions whose images marrow keeps, the one it prefers first.
IMAGE_EXTENSIONS = {"EXT_texture_avif": "image/avif", "EXT_texture_webp": "image/webp"}
# A plain image beside it is preferred: it is the original.
BASIS = "KHR_texture_basisu"


def read_images(ctx: Context) -> tuple[Image, ...]:
    """Every image of the file, in order, so that indices stay the file's."""
    return tuple(_image(ctx, i, image) for i, image in enumerate(ctx.document.images))


def _image(ctx: Context, index: int, image: ImageDef) -> Image:
    """A picture; an empty one where it cannot be had: a character without one of its pictures is still one."""
    place = f"images[{index}]"
    noted = notes.read(image.extras, ImageNotes, ctx.report, place)
    if noted.missing:
        ctx.report.add(
            "dropped", place, "its picture was missing when the file was saved; its textures stay empty"
        )
        return Image(image.name or "", noted.media_type or "", b"")
    try:
        name, said, data = _picture(ctx, image, place)
    except ResourceLimitError:
        raise
    except FormatError as error:
        ctx.report.add("dropped", place, f"{error.message}; its textures stay empty")
        name, said, data = image.name or "", image.mimeType, b""
    limits.limit(len(data), limits.MAX_IMAGE_BYTES, f"bytes in {place}", ctx.source.path)
    return Image(name, noted.media_type or media_type(data, said), data)


def _picture(ctx: Context, image: ImageDef, place: str) -> tuple[str, str | None, bytes]:
    name, said = image.name or "", image.mimeType
    if image.bufferView is not None:
        data = bytes(ctx.accessors.view(image.bufferView, place)[0])
        ctx.budget.charge(len(data), place)
        return name, said, data
    if image.uri is None:
        raise ctx.refuse("has neither a URI nor a buffer view", place)
    if image.uri[:5].lower() == "data:":
        kind, data = data_uri(image.uri, ctx.source.path, place)
        return name, said or kind, data
    found, reason = ctx.source.picture(image.uri)
    if found is None:
        raise ctx.refuse(f"texture {image.uri!r}: {reason}", place)
    return name or image.uri, said, found


def read_materials(ctx: Context, images: Sequence[Image]) -> tuple[Material, ...]:
    """Every material of the file, in order."""
    return tuple(_material(ctx, images, i, m) for i, m in enumerate(ctx.document.materials))


def _material(ctx: Context, images: Sequence[Image], index: int, m: MaterialDef) -> Material:
    def texture(info: TextureInfoDef | None) -> Texture | None:
        found = _texture(ctx, info, place)
        if found is None or not images[found.image].data:
            return None
        image = images[found.image]
        if reason := why_not_shown(image.data, image.media_type):
            ctx.report.add(
                "warning", f"images[{found.image}]", f"cannot be shown, only kept for export: {reason}"
            )
        return found

    place = f"materials[{index}]"
    pbr = m.pbrMetallicRoughness or MetallicRoughness()
    mode = m.alphaMode.lower()
    if mode not in ("opaque", "mask", "blend"):
        raise ctx.refuse(f"alpha mode {m.alphaMode!r} does not exist", place)
    glossy = ctx.extension(m.extensions, "KHR_materials_pbrSpecularGlossiness", SpecularGlossiness, place)
    if glossy is not None and m.pbrMetallicRoughness is None:
        ctx.report.add("repaired", "materials", "specular-glossiness was read as rough, coloured non-metal")
        pbr = MetallicRoughness(
            glossy.diffuseFactor, glossy.diffuseTexture, 0.0, 1.0 - glossy.glossinessFactor
        )
    emissive = m.emissiveFactor
    strength = ctx.extension(m.extensions, "KHR_materials_emissive_strength", EmissiveStrength, place)
    if strength is not None:
        r, g, b = (c * strength.emissiveStrength for c in emissive)
        emissive = (r, g, b)
    material = Material(
        name=m.name or "",
        base_color=pbr.baseColorFactor,
        metallic=pbr.metallicFactor,
        roughness=pbr.roughnessFactor,
        emissive=emissive,
        base_color_texture=texture(pbr.baseColorTexture),
        metallic_roughness_texture=texture(pbr.metallicRoughnessTexture),
        normal_texture=texture(m.normalTexture),
        normal_scale=m.normalTexture.scale if m.normalTexture else 1.0,
        occlusion_texture=texture(m.occlusionTexture),
        occlusion_strength=m.occlusionTexture.strength if m.occlusionTexture else 1.0,
        emissive_texture=texture(m.emissiveTexture),
        alpha_mode=mode,  # type: ignore[arg-type]
        alpha_cutoff=m.alphaCutoff,
        double_sided=m.doubleSided,
        unlit="KHR_materials_unlit" in (m.extensions or ()),
        extensions=read_material_extensions(ctx, m, place, texture),
    )
    noted = msgspec.structs.asdict(notes.read(m.extras, MaterialNotes, ctx.report, place))
    own = {field: value for field, value in noted.items() if value is not None}
    return replace(material, **own) if own else material


def image_of(ctx: Context, texture: TextureDef, place: str) -> int | None:
    """The image of a texture that marrow likes best; None where it has none in a format marrow keeps."""
    for extension in IMAGE_EXTENSIONS:
        better = ctx.extension(texture.extensions, extension, TextureSource, place)
        if better is not None:
            return better.source
    if texture.source is not None:
        return texture.source
    basis = ctx.extension(texture.extensions, BASIS, TextureSource, place)
    return None if basis is None else basis.source


def _texture(ctx: Context, info: TextureInfoDef | None, place: str) -> Texture | None:
    if info is None:
        return None
    document = ctx.document
    texture = ctx.pick(document.textures, info.index, "textures", place)
    where = f"textures[{info.index}]"
    source = image_of(ctx, texture, where)
    if source is None:
        ctx.report.add("dropped", where, "it has no image in a format marrow keeps")
        return None
    ctx.pick(document.images, source, "images", where)
    sampler = SamplerDef()
    if texture.sampler is not None:
        sampler = ctx.pick(document.samplers, texture.sampler, "samplers", where)
    moved = (
        ctx.extension(info.extensions, "KHR_texture_transform", TextureTransform, place) or TextureTransform()
    )
    mag: Any = FILTERS.get(sampler.magFilter or 0)
    return Texture(
        image=source,
        uv_set=info.texCoord if moved.texCoord is None else moved.texCoord,
        wrap_u=WRAPS.get(sampler.wrapS, "repeat"),
        wrap_v=WRAPS.get(sampler.wrapT, "repeat"),
        mag_filter=mag if mag in ("nearest", "linear") else None,
        min_filter=FILTERS.get(sampler.minFilter or 0),
        offset=moved.offset,
        rotation=moved.rotation,
        scale=moved.scale,
    )
