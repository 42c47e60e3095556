"""Materials of OBJ files (.mtl): colours, opacity, shininess or roughness and metalness, textures."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

import numpy as np

from marrow.errors import FormatError
from marrow.io.images import Undecodable, media_type, with_metallic_roughness
from marrow.io.source import Source
from marrow.model import Image, Material, Texture
from marrow.report import ReportBuilder

__all__ = ["read_materials"]

_COLORS = ("kd", "ke")
_NUMBERS = ("d", "tr", "ns", "pr", "pm")
_MAPS = {
    "map_kd": "base_color", "map_ke": "emissive", "map_bump": "bump", "bump": "bump", "norm": "normal", "map_d": "alpha",
    "map_pr": "roughness", "map_pm": "metallic", "map_ka": "", "map_ks": "", "map_ns": "", "disp": "", "refl": "",
}  # fmt: skip
_OPTIONS = {"-o": 3, "-s": 3, "-t": 3, "-mm": 2}
"""How many numbers follow an option of a texture at most; others have one word."""


def read_materials(
    source: Source, libraries: list[tuple[int, str]], report: ReportBuilder
) -> tuple[list[Material], list[Image], dict[str, int]]:
    """The materials of all libraries, their images, and the number of each by its name."""
    found: dict[str, dict[str, Any]] = {}
    for _, name in libraries:
        try:
            text = source.neighbour(name).decode("utf-8", "replace")
        except FormatError as error:
            report.add("dropped", f"materials {name!r}", f"{error.message}; plain colours instead")
            continue
        _parse(text, found)
    images: list[Image] = []
    numbers: dict[str, int] = {}

    def image(reference: str, place: str) -> int | None:
        if reference not in numbers:
            data, reason = source.picture(reference)
            if data is None:
                report.add("dropped", place, f"texture {reference!r}: {reason}")
                return None
            numbers[reference] = len(images)
            images.append(Image(reference, media_type(data, name=reference), data))
        return numbers[reference]

    materials = [_material(name, said, image, images, report) for name, said in found.items()]
    return materials, images, {name: k for k, name in enumerate(found)}


def _parse(text: str, found: dict[str, dict[str, Any]]) -> None:
    current: dict[str, Any] | None = None
    for line in text.splitlines():
        word, _, rest = line.strip().partition(" ")
        key, rest = word.lower(), rest.strip()
        if key == "newmtl":
            current = found.setdefault(rest, {})
        elif current is None:
            continue
        elif key in _COLORS or key in _NUMBERS:
            with contextlib.suppress(ValueError):
                values = [float(v) for v in rest.split()[: 3 if key in _COLORS else 1]]
                if values and np.isfinite(values).all():
                    current[key] = values if key in _COLORS else values[0]
        elif key in _MAPS:
            current[key] = _file_name(rest)


def _file_name(rest: str) -> str:
    """What is left of a texture's line without its options."""
    words = rest.split(" ")
    while words and words[0].startswith("-") and len(words) > 1:
        most = _OPTIONS.get(words.pop(0).lower(), 1)
        if most == 1:
            words.pop(0)
            continue
        while words and most and _is_number(words[0]):
            words.pop(0)
            most -= 1
    return " ".join(words).strip()


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _unit(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def _material(
    name: str, said: dict[str, Any], image: Any, images: list[Image], report: ReportBuilder
) -> Material:
    place = f"material {name!r}"
    textures: dict[str, int] = {}
    for key, slot in _MAPS.items():
        if said.get(key) and slot:
            number = image(said[key], place)
            if number is not None:
                textures.setdefault(slot, number)
    if "bump" in textures:
        # Most programs write normal maps as bump; a height field has one channel.
        textures.setdefault("normal", textures.pop("bump"))
    color = (said.get("kd") or [0.8, 0.8, 0.8]) + [0.0, 0.0]
    if "base_color" in textures and not any(color[:3]):
        color = [1.0, 1.0, 1.0]
    alpha = _unit(said["d"] if "d" in said else 1.0 - said.get("tr", 0.0))
    rough = said["pr"] if "pr" in said else (2.0 / (max(said.get("ns", 0.0), 0.0) + 2.0)) ** 0.5
    glow = (said.get("ke") or [0.0]) + [0.0, 0.0]
    material = Material(
        name,
        base_color=(_unit(color[0]), _unit(color[1]), _unit(color[2]), alpha),
        metallic=_unit(said.get("pm", 0.0)),
        roughness=_unit(rough),
        emissive=(max(glow[0], 0.0), max(glow[1], 0.0), max(glow[2], 0.0)),
        alpha_mode="blend" if alpha < 1 or "alpha" in textures else "opaque",
    )
    for slot in ("base_color", "emissive", "normal"):
        if slot in textures:
            own: dict[str, Any] = {f"{slot}_texture": Texture(textures[slot])}
            material = replace(material, **own)
    packed = [
        None if s not in textures else (images[textures[s]].data, "r") for s in ("roughness", "metallic")
    ]
    if any(packed):
        try:
            data = with_metallic_roughness(*packed)
        except Undecodable as error:
            report.add("dropped", place, f"its roughness and metalness cannot be decoded: {error}")
        else:
            images.append(Image(f"{name}_metallic_roughness", "image/png", data))
            full: dict[str, Any] = {"roughness": 1.0, "metallic": 1.0 if packed[1] else material.metallic}
            material = replace(material, metallic_roughness_texture=Texture(len(images) - 1), **full)
    return material
