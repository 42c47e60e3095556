"""What extensions say of a material that marrow does not show (clear coat, transmission, MToon, ...): kept as plain data in
`material.extensions`, and written again.

A reference to a texture there has `texture` in place of its `index`: the image by its number, and how it repeats.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from marrow.io.gltf.context import Context
from marrow.io.gltf.plain import MAX_BYTES, check_depth
from marrow.io.gltf.schema import MaterialDef, TextureInfoDef
from marrow.model import Texture

__all__ = ["read_material_extensions", "written"]

# Read into the fields of a material.
_UNDERSTOOD = (
    "KHR_materials_emissive_strength",
    "KHR_materials_pbrSpecularGlossiness",
    "KHR_materials_unlit",
)
_FIELDS = ("wrap_u", "wrap_v", "mag_filter", "min_filter")


def read_material_extensions(
    ctx: Context, m: MaterialDef, place: str, texture: Callable[[TextureInfoDef | None], Texture | None]
) -> dict[str, Any]:
    """The extensions of a material as plain data; damaged ones are left out and reported."""
    out: dict[str, Any] = {}
    for name, raw in (m.extensions or {}).items():
        if name in _UNDERSTOOD:
            continue
        try:
            if len(bytes(raw)) > MAX_BYTES // 16:
                raise ValueError("it is too large")
            value = msgspec.json.decode(raw)
            check_depth(value)
        except (msgspec.MsgspecError, RecursionError, ValueError) as error:
            ctx.report.add("dropped", place, f"{name} could not be read: {error}")
            continue
        ctx.budget.charge(8 * len(bytes(raw)), place)
        out[name] = _each_texture(value, lambda info: _by_image(info, texture))
    return out


def _each_texture(value: Any, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> Any:
    """`value` with every reference to a texture changed; one that becomes None is left out."""
    if isinstance(value, list):
        return [_each_texture(item, change) for item in value]
    if not isinstance(value, dict):
        return value
    out = {}
    for key, inner in value.items():
        if key.endswith("Texture") and isinstance(inner, dict):
            made = change(inner)
            if made is not None:
                out[key] = made
        else:
            out[key] = _each_texture(inner, change)
    return out


def _by_image(
    info: dict[str, Any], texture: Callable[[TextureInfoDef | None], Texture | None]
) -> dict[str, Any] | None:
    index = info.get("index")
    found = texture(TextureInfoDef(index)) if isinstance(index, int) and 0 <= index < 1 << 31 else None
    if found is None:
        return None
    how = {key: getattr(found, key) for key in _FIELDS if getattr(found, key) != getattr(Texture(0), key)}
    rest = {key: value for key, value in info.items() if key != "index"}
    return rest | {"texture": {"image": found.image} | how}


def written(extensions: dict[str, Any], place: Callable[[Texture], int | None]) -> dict[str, Any]:
    """The extensions with indices of textures again; `place` gives them, None for one that is not in the file."""

    def by_index(info: dict[str, Any]) -> dict[str, Any] | None:
        given = info.get("texture")
        if not isinstance(given, dict) or not isinstance(given.get("image"), int):
            return None
        known = {key: value for key, value in given.items() if key in ("image", *_FIELDS)}
        index = place(Texture(**known))
        return None if index is None else {k: v for k, v in info.items() if k != "texture"} | {"index": index}

    return {name: _each_texture(body, by_index) for name, body in extensions.items()}
