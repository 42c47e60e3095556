"""Cameras, lights and the properties that artists gave to nodes, of a ufbx scene as plain data.

This runs in the reader's process, without NumPy."""

from __future__ import annotations

from typing import Any

import ufbx

from marrow.io.fbx.ufbx_binding import elements, hold, number

__all__ = ["walk_attributes"]

_OWN = int(ufbx.PropFlags.USER_DEFINED)
_MOST_PROPERTIES, _LONGEST = 256, 1 << 16


def walk_attributes(node: Any) -> dict[str, Any]:
    """The `camera`, `light` and `own` properties of a node; what it does not have is left out."""
    found: dict[str, Any] = {}
    camera, light = hold(node.camera), hold(node.light)
    if camera is not None:
        found["camera"] = _camera(camera)
    if light is not None:
        found["light"] = _light(light)
    if own := _own(node):
        found["own"] = own
    return found


def _camera(camera: Any) -> dict[str, Any]:
    width, height = hold(camera.orthographic_size)
    film = hold(camera.film_size_inch)
    return {
        "element": int(camera.element_id),
        "name": str(hold(camera.name)),
        "orthographic": int(hold(camera.projection_mode)) == 1,
        "fov": [number(v) for v in hold(camera.field_of_view_deg)],
        "size": [number(width), number(height)],
        "aspect": number(camera.aspect_ratio),
        "near": number(camera.near_plane),
        "far": number(camera.far_plane),
        "focal": number(camera.focal_length_mm),
        "film": [number(v) for v in film],
    }


def _light(light: Any) -> dict[str, Any]:
    return {
        "element": int(light.element_id),
        "name": str(hold(light.name)),
        "kind": hold(light.type).name.lower(),
        "color": [number(v) for v in hold(light.color)],
        "intensity": number(light.intensity),
        "inner": number(light.inner_angle),
        "outer": number(light.outer_angle),
        "decay": hold(light.decay).name.lower(),
        "shines": bool(hold(light.cast_light)),
        "shadows": bool(hold(light.cast_shadows)),
    }


def _own(node: Any) -> dict[str, Any]:
    """Texts, numbers and vectors that an artist gave to a node, by name."""
    found: dict[str, Any] = {}
    for prop in elements(hold(node.props).props):
        flags = int(hold(prop.flags))
        if not flags & _OWN or len(found) >= _MOST_PROPERTIES:
            continue
        name, kind = str(hold(prop.name)), hold(prop.type).name
        value: Any = None
        if kind in ("STRING", "DATE_TIME"):
            value = str(hold(prop.value_str))[:_LONGEST]
        elif kind == "BOOLEAN":
            value = bool(hold(prop.value_int))
        elif kind == "INTEGER":
            value = int(hold(prop.value_int))
        elif kind in ("VECTOR", "COLOR", "COLOR_WITH_ALPHA", "TRANSLATION", "ROTATION", "SCALING"):
            value = [number(v) for v in hold(prop.value_vec4)[: 4 if kind == "COLOR_WITH_ALPHA" else 3]]
        elif kind in ("NUMBER", "DISTANCE"):
            value = number(hold(prop.value_vec4)[0])
        if value is not None and name and (not isinstance(value, list) or None not in value):
            found[name] = value
    return found
