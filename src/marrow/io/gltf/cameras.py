"""Cameras and lights (`KHR_lights_punctual`): read from the nodes that carry them, and written again.

A node may carry one camera and one light; where a joint has more of them, or they are turned on it, they hang on nodes of
their own, which marrow reads as no joints. Numbers that glTF has no place for, or does not allow, are noted beside.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import Raw, Struct

from marrow.errors import ValidationError
from marrow.io.gltf import limits
from marrow.io.gltf.builder import GltfBuilder
from marrow.io.gltf.context import Context
from marrow.io.gltf.extensions import hidden_nodes
from marrow.io.gltf.naming import UniqueNames
from marrow.io.gltf.notes import KEY
from marrow.io.gltf.plain import MAX_BYTES, check_depth
from marrow.io.gltf.scene import Tree
from marrow.io.gltf.schema import NOTHING, CameraDef, Extensions, Index
from marrow.model import JointCamera, JointLight
from marrow.model.joint_camera import resized

__all__ = [
    "LIGHTS",
    "CamerasAndLights",
    "camera_definition",
    "light_definition",
    "read_cameras",
    "read_lights",
]

LIGHTS = "KHR_lights_punctual"
FAR = 10_000.0
"""How far an orthographic camera without an end sees, in glTF."""
_ELSEWHERE = {"name", "joint", "rotation", "extras", "visible"}
"""Fields that the node says."""
_KINDS = ("directional", "point", "spot")


class _Spot(Struct, gc=False):
    innerConeAngle: float = 0.0
    outerConeAngle: float = math.pi / 4


class _Light(Struct, gc=False):
    type: str
    name: str | None = None
    color: tuple[float, float, float] = (1.0, 1.0, 1.0)
    intensity: float = 1.0
    range: float | None = None
    spot: _Spot | None = None
    extensions: Extensions | None = None
    extras: Raw = NOTHING


class _Lights(Struct, gc=False):
    lights: list[_Light] = []


class _LightOf(Struct, gc=False):
    light: Index


@dataclass(slots=True)
class CamerasAndLights:
    """The cameras and lights of a file, and which number each of glTF's has: `of_camera[2]` are the names of those that
    show camera 2 of the file."""

    cameras: tuple[JointCamera, ...] = ()
    lights: tuple[JointLight, ...] = ()
    of_camera: dict[int, list[str]] = field(default_factory=dict)
    of_light: dict[int, list[str]] = field(default_factory=dict)


def read_cameras(ctx: Context, tree: Tree, out: CamerasAndLights) -> None:
    """The cameras that nodes of the scene carry, in the order of the file's."""
    found: list[tuple[int, int]] = []
    for n in tree.notes:
        camera = ctx.document.nodes[n].camera
        if camera is not None and n in tree.joint_of:
            ctx.pick(ctx.document.cameras, camera, "cameras", f"nodes[{n}]")
            found.append((camera, n))
    limits.limit(len(found), limits.MAX_LISTED, "cameras", ctx.source.path)
    names = UniqueNames()
    made: list[JointCamera] = []
    for index, n in sorted(found, key=lambda pair: pair[0]):
        d, place = ctx.document.cameras[index], f"cameras[{index}]"
        fields = _camera_fields(d, lambda what: ctx.report.add("dropped", place, what))  # noqa: B023
        if fields is None:
            continue
        joint, turn = _on(ctx, tree, n)
        name = d.name if d.name is not None else tree.names[joint]
        one = _made(ctx, JointCamera, place, d.extras, joint=joint, rotation=turn, name=name, **fields)
        if one is not None:
            one = one.replace(name=names.claim(one.name))
            made.append(one)
            out.of_camera.setdefault(index, []).append(one.name)
            if d.extensions:
                ctx.report.add("dropped", place, f"{', '.join(d.extensions)}: not kept")
    out.cameras = tuple(made) if ctx.scale == 1 else resized(made, ctx.scale)


def _camera_fields(d: CameraDef, dropped: Callable[[str], None]) -> dict[str, Any] | None:
    """What a definition says in glTF's own words; None where that is nothing."""
    if d.type == "orthographic" and d.orthographic is not None:
        o = d.orthographic
        x, y = abs(o.xmag), abs(o.ymag)
        if not (x > 0 and y > 0):
            dropped("an orthographic camera that shows nothing is not kept")
            return None
        return {"kind": "orthographic", "size": 2 * y, "aspect": x / y, "near": o.znear, "far": o.zfar}
    if d.type == "perspective" and d.perspective is not None:
        p = d.perspective
        return {"fov": p.yfov, "aspect": p.aspectRatio, "near": p.znear, "far": p.zfar}
    dropped(f"a camera of type {d.type!r} is not kept")
    return None


def read_lights(ctx: Context, tree: Tree, out: CamerasAndLights) -> None:
    """The lights that nodes of the scene carry, in the order of the file's."""
    if LIGHTS not in (ctx.document.extensions or {}):
        return
    whole = ctx.extension(ctx.document.extensions, LIGHTS, _Lights, "extensions")
    lights = [] if whole is None else whole.lights
    limits.limit(len(lights), limits.MAX_LISTED, "lights", ctx.source.path)
    found: list[tuple[int, int]] = []
    for n in tree.notes:
        carried = ctx.extension(ctx.document.nodes[n].extensions, LIGHTS, _LightOf, f"nodes[{n}]")
        if carried is not None and n in tree.joint_of:
            ctx.pick(lights, carried.light, "lights", f"nodes[{n}]")
            found.append((carried.light, n))
    limits.limit(len(found), limits.MAX_LISTED, "lights", ctx.source.path)
    names, hidden = UniqueNames(), hidden_nodes(ctx)
    made: list[JointLight] = []
    for index, n in sorted(found, key=lambda pair: pair[0]):
        d, place = lights[index], f"lights[{index}]"
        if d.type not in _KINDS:
            ctx.report.add("dropped", place, f"a light of type {d.type!r} is not kept")
            continue
        joint, turn = _on(ctx, tree, n)
        name = d.name if d.name is not None else tree.names[joint]
        fields = _light_fields(d) | {"visible": n not in hidden}
        one = _made(ctx, JointLight, place, d.extras, joint=joint, rotation=turn, name=name, **fields)
        if one is not None:
            one = one.replace(name=names.claim(one.name))
            made.append(one)
            out.of_light.setdefault(index, []).append(one.name)
            if d.extensions:
                ctx.report.add("dropped", place, f"{', '.join(d.extensions)}: not kept")
    out.lights = tuple(made) if ctx.scale == 1 else resized(made, ctx.scale)


def _light_fields(d: _Light) -> dict[str, Any]:
    fields = {"kind": d.type, "color": d.color, "intensity": d.intensity, "range": d.range}
    if d.type == "spot":
        spot = d.spot or _Spot()
        fields |= {"inner": spot.innerConeAngle, "outer": spot.outerConeAngle}
    return fields


def _on(ctx: Context, tree: Tree, n: int) -> tuple[int, tuple[float, float, float, float]]:
    """The joint that a node is or hangs on, and how what it carries is turned there."""
    joint = tree.joint_of[n]
    turn = ctx.document.nodes[n].rotation if tree.nodes[joint] != n else None
    return joint, turn or (0.0, 0.0, 0.0, 1.0)


def _made(ctx: Context, noun: Any, place: str, extras: Raw, **fields: Any) -> Any:
    """A camera or light, with what marrow noted of it and what others put into its extras; None for a damaged one."""
    kept: Any = {}
    if extras is not NOTHING:
        try:
            if len(bytes(extras)) > MAX_BYTES // 16:
                raise ValueError("they are too large")
            kept = msgspec.json.decode(extras)
            check_depth(kept)
        except (msgspec.MsgspecError, RecursionError, ValueError) as error:
            ctx.report.add("dropped", place, f"its extras: {error}")
            kept = {}
    if not isinstance(kept, dict):
        if kept is not None:
            ctx.report.add("dropped", place, "its extras, which are no object")
        kept = {}
    ctx.budget.charge(8 * len(bytes(extras)), place)
    noted = kept.pop(KEY, {})
    if isinstance(noted, dict) and noted:
        names = noun.__dataclass_fields__.keys() - _ELSEWHERE
        try:
            return noun(**fields | {k: v for k, v in noted.items() if k in names}, extras=kept)
        except ValidationError as error:
            ctx.report.add("dropped", place, f"marrow's notes on it: {error}")
    try:
        return noun(**fields, extras=kept)
    except ValidationError as error:
        ctx.report.add("dropped", place, f"it is not kept: {error}")
        return None


# -------------------- writing


def camera_definition(builder: GltfBuilder, camera: JointCamera) -> dict[str, Any]:
    """The camera in glTF's words, with notes of what these do not say."""
    place = f"camera {camera.name!r}"
    out: dict[str, Any] = {"name": camera.name, "type": camera.kind}
    if camera.kind == "perspective":
        lens: dict[str, Any] = {"yfov": camera.fov, "znear": camera.near}
        if camera.aspect is not None:
            lens["aspectRatio"] = camera.aspect
        if camera.far is not None:
            lens["zfar"] = camera.far
    else:
        near = max(camera.near, 0.0)
        if near != camera.near:
            builder.warn(f"{place}: glTF has none that see what is behind them; others see from 0 on")
        far = near + FAR if camera.far is None else max(camera.far, math.nextafter(near, math.inf))
        aspect = 1.0 if camera.aspect is None else camera.aspect
        lens = {"xmag": camera.size / 2 * aspect, "ymag": camera.size / 2, "znear": near, "zfar": far}
    out[camera.kind] = lens
    read = _camera_fields(msgspec.convert(out, CameraDef), lambda what: None)
    return _noted(out, JointCamera("", 0, **(read or {})), camera)


def light_definition(builder: GltfBuilder, light: JointLight) -> dict[str, Any]:
    """The light in the words of `KHR_lights_punctual`, with notes of what these do not say."""
    place, kind, intensity = f"light {light.name!r}", light.kind, light.intensity
    if kind == "area":
        kind, intensity = "point", intensity * light.size[0] * light.size[1]
        builder.warn(f"{place}: glTF has no lights with an area; other programs find a point light")
    elif kind == "ambient":
        kind, intensity = "point", 0.0
        builder.warn(f"{place}: glTF has no light from all sides; other programs find none")
    top = max(light.color)
    color = [c / top for c in light.color] if top > 1 else list(light.color)
    out: dict[str, Any] = {"name": light.name, "type": kind}
    if color != [1.0, 1.0, 1.0]:
        out["color"] = color
    if (intensity := intensity * max(top, 1.0)) != 1:
        out["intensity"] = intensity
    if light.range is not None and kind != "directional":
        out["range"] = light.range
    if kind == "spot":
        outer = min(light.outer, math.pi / 2)
        out["spot"] = {"innerConeAngle": min(light.inner, outer * (1 - 1e-6)), "outerConeAngle": outer}
    return _noted(out, JointLight("", 0, **_light_fields(msgspec.convert(out, _Light))), light)


def _noted(out: dict[str, Any], read: Any, own: Any) -> dict[str, Any]:
    """The definition with those fields noted that a reader would find otherwise."""
    extras = dict(own.extras)
    names = own.__dataclass_fields__.keys() - _ELSEWHERE
    different = {n: getattr(own, n) for n in sorted(names) if getattr(own, n) != getattr(read, n)}
    if different:
        extras[KEY] = different
    if extras:
        out["extras"] = extras
    return out
