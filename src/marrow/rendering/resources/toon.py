"""VRM's MToon (`VRMC_materials_mtoon`), in the order in which toon.wgsl reads it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from marrow.model import Material

__all__ = ["MTOON", "TOON_TEXTURES", "toon_numbers"]

MTOON = "VRMC_materials_mtoon"
TOON_TEXTURES = {"shadeMultiplyTexture": "sheen_color"}
"""Textures that are shown, and the slot of a layer that each takes: toon materials have no layers."""
_NOT_SHOWN = {
    "matcapFactor": ([0, 0, 0], [1, 1, 1]),
    "uvAnimationScrollXSpeedFactor": (0,),
    "uvAnimationScrollYSpeedFactor": (0,),
    "uvAnimationRotationSpeedFactor": (0,),
}
"""Numbers that are not shown, and those of their values that change nothing without a texture."""


def toon_numbers(
    material: Material, note: Callable[[str], None]
) -> list[tuple[float, float, float, float]] | None:
    """The numbers `(7, 4)` of a toon material; None for any other. `note` is told what cannot be shown."""
    body = material.extensions.get(MTOON)
    if not isinstance(body, dict):
        return None

    def number(name: str, default: float, low: float = -math.inf, high: float = math.inf) -> float:
        value = body.get(name, default)
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not low <= value <= high:
            note(f"{MTOON}: {name} is out of range, and shown as {default:g}")
            return default
        return float(value)

    def color(name: str, default: float) -> tuple[float, float, float]:
        value: Any = body.get(name, (default,) * 3)
        try:
            r, g, b = (max(float(v), 0.0) for v in value)
        except (TypeError, ValueError):
            r = g = b = math.nan
        if not all(map(math.isfinite, (r, g, b))):
            note(f"{MTOON}: {name} is no colour, and shown as {default:g}")
            return default, default, default
        return r, g, b

    mode = body.get("outlineWidthMode", "none")
    if mode not in ("none", "worldCoordinates", "screenCoordinates"):
        note(f"{MTOON}: outlineWidthMode {mode!r} is not known: no outline")
        mode = "none"
    width = 0.0 if mode == "none" else number("outlineWidthFactor", 0.0, 0.0)
    for name in body:
        plain = _NOT_SHOWN.get(name)
        lost = name not in TOON_TEXTURES if name.endswith("Texture") else plain is not None
        if lost and (plain is None or body[name] not in plain):
            note(f"{MTOON}: its {name} is not shown")
    rim = number("parametricRimFresnelPowerFactor", 5.0, 0.0), number("parametricRimLiftFactor", 0.0)
    return [
        (*color("shadeColorFactor", 0.0), number("shadingToonyFactor", 0.9, 0.0, 1.0)),
        (
            number("shadingShiftFactor", 0.0, -1.0, 1.0),
            number("giEqualizationFactor", 0.9, 0.0, 1.0),
            width,
            float(mode == "screenCoordinates"),
        ),
        (*color("outlineColorFactor", 0.0), number("outlineLightingMixFactor", 1.0, 0.0, 1.0)),
        (*rim, number("rimLightingMixFactor", 1.0, 0.0, 1.0), 0.0),
        (*color("parametricRimColorFactor", 0.0), 0.0),
        (0.0, 0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0, 0.0),
    ]
