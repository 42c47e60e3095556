"""`KHR_animation_pointer`: what a clip animates beside joints and morphs, as curves of the clip.

- whether a node is shown: `visibility:NAME`, 1 or 0, for the joint of that name and all below it
- a number of a material: the pointer itself, `/materials/0/pbrMetallicRoughness/roughnessFactor`, with `[0]`, `[1]`, ...
  behind it for the components of a colour or an offset
- a number of a camera or a light: `camera:NAME:fov`, `light:NAME:color[0]`

The same curves are written as channels again.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.visibility import VISIBILITY, switches
from marrow.io.gltf.builder import GltfBuilder
from marrow.io.gltf.cameras import LIGHTS, CamerasAndLights
from marrow.io.gltf.context import Context
from marrow.io.gltf.curves import CUBIC, FLATTENING_RATE
from marrow.io.gltf.curves import ScalarCurve as Spline
from marrow.io.gltf.extensions import PointerChannel
from marrow.io.gltf.scene import Tree
from marrow.io.gltf.schema import Animation
from marrow.model import Clip, Curve
from marrow.model.joint_camera import curve_name, curve_parts

__all__ = ["POINTER", "pointer_curves", "write_pointers"]

Array = NDArray[Any]
POINTER, NODE_VISIBILITY = "KHR_animation_pointer", "KHR_node_visibility"
MAX_FLAT_KEYS = 1_000_000
_VISIBLE = re.compile(rf"/nodes/(\d{{1,9}})/extensions/{NODE_VISIBILITY}/visible")
_COMPONENT = re.compile(r"(/materials/(\d{1,9})(?:/\w+)+)(?:\[([0-3])\])?")
_CAMERA = re.compile(
    r"/cameras/(\d{1,9})/(perspective/yfov|perspective/aspectRatio|(?:perspective|orthographic)/z(?:near|far)|orthographic/ymag)"
)
_LIGHT = re.compile(
    rf"/extensions/{LIGHTS}/lights/(\d{{1,9}})/(color|intensity|range|spot/innerConeAngle|spot/outerConeAngle)"
)
_CAMERA_WORDS = {"yfov": "fov", "aspectRatio": "aspect", "znear": "near", "zfar": "far", "ymag": "size"}
_LIGHT_WORDS = {"innerConeAngle": "inner", "outerConeAngle": "outer"}
_INTERPOLATIONS = {"STEP": 0, "LINEAR": 1, "CUBICSPLINE": 2}


def pointer_curves(
    ctx: Context, tree: Tree, animation: Animation, channels: list[PointerChannel], placed: CamerasAndLights
) -> list[Curve]:
    """The curves of an animation; what points at anything else is reported."""
    names = tree.names
    out: list[Curve] = []
    for channel in channels:
        visible = _VISIBLE.fullmatch(channel.pointer)
        joint = tree.joint_of.get(int(visible[1])) if visible else None
        owners, factor = _of_camera_or_light(channel.pointer, placed)
        if joint is None and not owners and not _COMPONENT.fullmatch(channel.pointer):
            what = "/".join(w for w in channel.pointer.split("/")[1:] if not w.isdigit())[:80]
            ctx.report.add("dropped", "animations", f"channels animate {what}, which is not kept")
            continue
        sampler = ctx.pick(animation.samplers, channel.sampler, "samplers", "animations")
        kind = ctx.accessors.definition(sampler.output).type
        times = ctx.accessors.floats(sampler.input, "SCALAR")[:, 0]
        values = ctx.accessors.floats(sampler.output, kind)
        how = _INTERPOLATIONS.get(sampler.interpolation, 1)
        per_key = 3 if how == CUBIC else 1
        rising = len(times) and np.isfinite(times).all() and (np.diff(times) > 0).all()
        if not rising or len(values) != len(times) * per_key or not np.isfinite(values).all():
            ctx.report.add("dropped", "animations", f"the keys of {channel.pointer} are damaged")
            continue
        ctx.budget.charge(8 * values.nbytes, "animations")
        columns = values.reshape(len(times), per_key, -1)
        for k in range(columns.shape[2]):
            name = channel.pointer if columns.shape[2] == 1 else f"{channel.pointer}[{k}]"
            if visible and joint is not None:
                name, how = VISIBILITY + names[joint], 0
            mine = [f"{owner}[{k}]" if columns.shape[2] > 1 else owner for owner in owners] or [name]
            straight = _straight(times, columns[:, :, k] * np.float32(factor), how)
            out += [Curve(one, *straight) for one in mine]
            if visible:
                break
    return out


def _of_camera_or_light(pointer: str, placed: CamerasAndLights) -> tuple[list[str], float]:
    """The curves that a pointer to a number of a camera or a light stands for, and what it is multiplied by."""
    found = _CAMERA.fullmatch(pointer)
    if found:
        word = found[2].rpartition("/")[2]
        names = placed.of_camera.get(int(found[1]), ())
        return [curve_name("camera", n, _CAMERA_WORDS[word]) for n in names], 2.0 if word == "ymag" else 1.0
    found = _LIGHT.fullmatch(pointer)
    if found is None:
        return [], 1.0
    word = found[2].rpartition("/")[2]
    return [
        curve_name("light", n, _LIGHT_WORDS.get(word, word)) for n in placed.of_light.get(int(found[1]), ())
    ], 1.0


def _pointer_to(builder: GltfBuilder, curve: str) -> tuple[str, int, float] | None:
    """The pointer of a curve of a camera or a light, its component, and what its values are multiplied by."""
    parts = curve_parts(curve)
    if parts is None:
        return None
    kind, name, number = parts
    if kind == "camera":
        for i, camera in enumerate(builder.objects.get("cameras", [])):
            words = {mine: theirs for theirs, mine in _CAMERA_WORDS.items()}
            word = words[number]
            allowed = ("yfov", "aspectRatio") if camera["type"] == "perspective" else ("ymag",)
            if (
                camera["name"] == name
                and word in (*allowed, "znear", "zfar")
                and word in camera[camera["type"]]
            ):
                return f"/cameras/{i}/{camera['type']}/{word}", -1, 0.5 if word == "ymag" else 1.0
        return None
    word, _, component = number.partition("[")
    for i, light in enumerate(builder.lights):
        if light["name"] == name:
            spot = {"inner": "spot/innerConeAngle", "outer": "spot/outerConeAngle"}
            if (word in spot and light["type"] != "spot") or (word == "range" and "range" not in light):
                return None
            at = int(component[0]) if component else -1
            return f"/extensions/{LIGHTS}/lights/{i}/{spot.get(word, word)}", at, 1.0
    return None


def _straight(times: Array, values: Array, how: int) -> tuple[Array, Array]:
    """Keys with straight lines between them: a step is two keys at one time, a spline many."""
    if how == 0:
        return np.repeat(times, 2)[1:], np.repeat(values[:, 0], 2)[:-1]
    if how != CUBIC:
        return times, values[:, 0]
    count = min(int((times[-1] - times[0]) * FLATTENING_RATE) + 2, MAX_FLAT_KEYS)
    flat = np.union1d(times, np.linspace(times[0], times[-1], count, dtype=np.float32))
    return flat, Spline(times, values, CUBIC).at(flat)


def write_pointers(builder: GltfBuilder, clip: Clip, animation: dict[str, Any], place: str) -> set[str]:
    """Channels for the curves that other programs understand; the names of those curves."""
    written: set[str] = set()
    nodes = builder.objects.get("nodes", [])
    groups: dict[str, dict[int, Curve]] = {}
    for curve in clip.curves:
        if curve.times[0] < 0:
            continue
        joint = curve.name.removeprefix(VISIBILITY)
        if curve.name.startswith(VISIBILITY) and joint in clip.skeleton:
            j = clip.skeleton.index(joint)
            times, on = switches(curve)
            own = nodes[j].setdefault("extensions", {})
            own.setdefault(builder.extension(NODE_VISIBILITY), {"visible": True})
            pointer = f"/nodes/{j}/extensions/{NODE_VISIBILITY}/visible"
            _channel(builder, animation, pointer, times, on.astype(np.uint8)[:, None], "STEP", place)
            written.add(curve.name)
            continue
        pointed = _pointer_to(builder, curve.name)
        if pointed is not None:
            pointer, k, factor = pointed
            scaled = curve if factor == 1 else curve.replace(values=curve.values * np.float32(factor))
            groups.setdefault(pointer, {})[k] = scaled
            continue
        found = _COMPONENT.fullmatch(curve.name)
        if found and _exists(builder, found[1]):
            groups.setdefault(found[1], {})[-1 if found[3] is None else int(found[3])] = curve
    for pointer, parts in groups.items():
        one = next(iter(parts.values()))
        whole = sorted(parts) in ([-1], list(range(len(parts))))
        if not whole or any(not np.array_equal(c.times, one.times) for c in parts.values()):
            continue
        values = np.stack([parts[k].values for k in sorted(parts)], axis=1)
        times, rows = _apart(one.times, values)
        _channel(builder, animation, pointer, times, rows, "LINEAR", place)
        written |= {c.name for c in parts.values()}
    return written


def _apart(times: Array, values: Array) -> tuple[Array, Array]:
    """Of two keys at one time the first moves to the instant before."""
    before = np.append(times[1:] == times[:-1], False)
    moved = np.where(before, np.nextafter(times, np.float32(-np.inf), dtype=np.float32), times)
    kept = np.append(True, np.diff(moved) > 0) & (moved >= 0)
    return moved[kept], values[kept]


def _exists(builder: GltfBuilder, pointer: str) -> bool:
    """Whether the file has the object that holds the number; plain factors may be left to their defaults."""
    words = pointer.split("/")[1:]
    value: Any = builder.objects
    for i, word in enumerate(words[:-1]):
        if i == 1:
            value = value[int(word)] if int(word) < len(value) else None
        elif not isinstance(value, dict):
            return False
        else:
            value = value.get(word, {} if word == "pbrMetallicRoughness" else None)
        if value is None:
            return False
    return True


def _channel(
    builder: GltfBuilder,
    animation: dict[str, Any],
    pointer: str,
    times: Array,
    values: Array,
    interpolation: str,
    place: str,
) -> None:
    sampler: dict[str, Any] = {
        "input": builder.accessor(np.asarray(times, np.float32)[:, None], place, bounds=True),
        "output": builder.accessor(values if values.dtype == np.uint8 else values.astype(np.float32), place),
        "interpolation": interpolation,
    }
    animation["samplers"].append(sampler)
    target = {"path": "pointer", "extensions": {builder.extension(POINTER): {"pointer": pointer}}}
    animation["channels"].append({"sampler": len(animation["samplers"]) - 1, "target": target})
