"""The textures of an FBX file that lie outside it, or that several of its images are packed into.

This runs in the process of the caller, which alone may open files (`Source.picture`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import msgspec

from marrow.io.images import Undecodable, media_type, with_alpha, with_metallic_roughness
from marrow.io.source import Source
from marrow.model import Character, Image, Material
from marrow.report import ReportBuilder

__all__ = ["FbxImageNotes", "with_images"]


class FbxImageNotes(msgspec.Struct):
    """What the child says of the images, see `marrow.io.fbx.materials.Materials`."""

    wanted: list[list[str]] = []
    packed: dict[int, tuple[Literal["metallic_roughness", "alpha"], int | None, int | None]] = {}
    factors: dict[int, tuple[float, float]] = {}


def with_images(character: Character, notes: FbxImageNotes, source: Source) -> Character:
    """The character with all its textures; those that cannot be had are left out and reported."""
    report = ReportBuilder()
    report.extend(character.report)
    data: list[bytes] = []
    for i, image in enumerate(character.images):
        found = image.data
        names = notes.wanted[i] if i < len(notes.wanted) else []
        if not found and names:
            # FBX names are paths, not URIs.
            picture, reason = source.picture(*(name.replace("%", "%25") for name in names))
            found = picture or b""
            if picture is None:
                report.add("dropped", f"texture {names[0]!r}", f"{reason}; left out")
        data.append(found)
    for i, (how, first, second) in notes.packed.items():
        if i < len(data):
            data[i] = _packed(
                how, *(data[k] if k is not None and k < len(data) else b"" for k in (first, second))
            )
            if not data[i] and any(data[k] for k in (first, second) if k is not None and k < len(data)):
                report.add(
                    "dropped", f"texture {character.images[i].name!r}", "could not be packed; left out"
                )
    used = {t.image for m in character.materials for t in m.textures.values() if data[t.image]}
    number = {old: new for new, old in enumerate(sorted(used))}
    images = []
    for old in number:
        image, names = character.images[old], notes.wanted[old] if old < len(notes.wanted) else []
        kind = media_type(data[old], image.media_type, name=names[0] if names else "")
        images.append(Image(image.name, kind, data[old]))
    materials = tuple(_renumbered(m, number, notes.factors.get(i)) for i, m in enumerate(character.materials))
    return character.replace(images=tuple(images), materials=materials, report=report.build())


def _packed(how: str, first: bytes, second: bytes) -> bytes:
    try:
        if how == "metallic_roughness":
            rough, metal = ((d, "r") if d else None for d in (first, second))
            return with_metallic_roughness(rough, metal) if rough or metal else b""
        return with_alpha(first or None, (second, "o")) if second else first
    except Undecodable:
        return first if how == "alpha" else b""


def _renumbered(material: Material, number: dict[int, int], factors: tuple[float, float] | None) -> Material:
    changes: dict[str, object] = {}
    for slot, texture in material.textures.items():
        to = number.get(texture.image)
        changes[f"{slot}_texture"] = None if to is None else replace(texture, image=to)
    if factors is not None and changes.get("metallic_roughness_texture") is None:
        changes["metallic"], changes["roughness"] = factors
    return replace(material, **changes) if changes else material  # type: ignore[arg-type]
