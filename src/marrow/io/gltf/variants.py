"""`KHR_materials_variants`: the names of variants, and the material each section has in them."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from marrow.io.gltf import limits
from marrow.io.gltf.context import Context
from marrow.io.gltf.naming import UniqueNames
from marrow.io.gltf.schema import Primitive
from marrow.model import Section

__all__ = ["VARIANTS", "read_mappings", "read_variants", "write_mappings"]

VARIANTS = "KHR_materials_variants"


class _Variant(Struct, gc=False):
    name: str = ""


class _Variants(Struct, gc=False):
    variants: list[_Variant] = []


class _Mapping(Struct, gc=False):
    material: int
    variants: list[int]


class _Mappings(Struct, gc=False):
    mappings: list[_Mapping] = []


def read_variants(ctx: Context) -> None:
    """Finds the names of the variants, each once."""
    found = ctx.extension(ctx.document.extensions, VARIANTS, _Variants, "extensions")
    if found is None:
        return
    limits.limit(len(found.variants), limits.MAX_LISTED, "material variants", ctx.source.path)
    names = UniqueNames()
    ctx.variants.extend(names.claim(v.name or f"variant_{i}") for i, v in enumerate(found.variants))


def read_mappings(ctx: Context, primitive: Primitive, place: str) -> tuple[int | None, ...]:
    """The material of a primitive in each variant; empty where none changes it."""
    found = ctx.extension(primitive.extensions, VARIANTS, _Mappings, place)
    count = len(ctx.variants)
    if found is None or not count:
        return ()
    out: list[int | None] = [None] * count
    for mapping in found.mappings:
        if not 0 <= mapping.material < len(ctx.document.materials):
            raise ctx.refuse(f"materials[{mapping.material}] does not exist", place)
        for variant in mapping.variants:
            if 0 <= variant < count:
                out[variant] = mapping.material
    ctx.budget.charge(8 * count, place)
    return tuple(out) if any(m is not None for m in out) else ()


def write_mappings(section: Section) -> dict[str, Any]:
    """The mappings of a section; empty where it has none."""
    materials: dict[int, list[int]] = {}
    for variant, material in enumerate(section.variants):
        if material is not None:
            materials.setdefault(material, []).append(variant)
    return {"mappings": [{"material": m, "variants": v} for m, v in materials.items()]} if materials else {}
