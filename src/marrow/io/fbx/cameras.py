"""Cameras, lights and the properties that artists gave to nodes, out of the plain scene.

Cameras of FBX look along +X of their node, lights along -Y. An intensity of 100 in the file is 1 here."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.io.fbx.keyed_properties import APPLICATION, EXTRAS, PLACED
from marrow.io.fbx.keys import FbxKeys, cut
from marrow.io.fbx.plain_scene import PlainCamera, PlainLight, PlainNode, PlainScene, PlainStack
from marrow.math import quaternion
from marrow.model import Curve, JointCamera, JointLight
from marrow.model.joint_camera import curve_name
from marrow.report import ReportBuilder

__all__ = ["CAMERA_TURN", "LIGHT_TURN", "Attributes", "attribute_curves", "is_placed", "read_attributes"]

Array = NDArray[Any]
_HALF = math.sqrt(0.5)
CAMERA_TURN, LIGHT_TURN = (0.0, -_HALF, 0.0, _HALF), (-_HALF, 0.0, 0.0, _HALF)
"""How a camera and a light of FBX are turned on their node."""
MM_PER_INCH = 25.4
_KINDS = {"point": "point", "directional": "directional", "spot": "spot", "area": "area", "volume": "point"}


class Attributes:
    """The cameras and lights of a file, whose are the elements (by ufbx's number), and the extras of joints by name."""

    def __init__(self) -> None:
        self.cameras: list[JointCamera] = []
        self.lights: list[JointLight] = []
        self.extras: dict[str, Any] = {}
        self.owners: dict[int, list[tuple[str, str, Any]]] = {}
        """For an element: `camera` or `light`, the name of ours, and what the file says of it."""


def is_placed(node: PlainNode) -> bool:
    """Whether marrow wrote a node only to carry a camera or a light."""
    return (
        PLACED in node.own
        and node.mesh < 0
        and (node.camera is not None or node.light is not None)
        and not _noted(node.own[PLACED]).get("joint")
    )


def read_attributes(
    scene: PlainScene, joint_of: dict[int, int], names: tuple[str, ...], report: ReportBuilder
) -> Attributes:
    """What the nodes of a scene carry beside meshes."""
    out = Attributes()
    taken: dict[str, set[str]] = {"camera": set(), "light": set()}
    ours = scene.document.application == APPLICATION
    extras: list[dict[str, Any]] = [{} for _ in names]
    rest = scene.reals(scene.document.rest, 10)[:, 3:7]
    keyed = {key for stack in scene.document.stacks for key in stack.keyed}
    order: dict[str, int] = {}
    for i, node in enumerate(scene.document.nodes):
        placed = is_placed(node)
        joint = joint_of.get(node.parent if placed else i)
        if joint is None:
            continue
        own = _noted(node.own.get(PLACED, ""))
        if not placed:
            still = {n: v for n, v in node.own.items() if (node.element, n) not in keyed}
            extras[joint] |= _extras(still, ours)
        for kind, plain in (("camera", node.camera), ("light", node.light)):
            if plain is None:
                continue
            noted_name = own.get("name")
            name = _free(noted_name if isinstance(noted_name, str) else node.name, taken[kind])
            turn = _turn(np.array(CAMERA_TURN if kind == "camera" else LIGHT_TURN), rest[i], own, placed)
            fields = _camera(plain) if isinstance(plain, PlainCamera) else _light(plain)
            noted = own.get("fields", {}) if isinstance(own.get("fields"), dict) else {}
            if isinstance(plain, PlainLight):
                fields["visible"] = bool(plain.shines and node.visible)
            made = _made(
                JointCamera if kind == "camera" else JointLight, name, joint, turn, fields, noted, report
            )
            if made is not None:
                (out.cameras if kind == "camera" else out.lights).append(made)
                out.owners.setdefault(plain.element, []).append((kind, name, plain))
                order[f"{kind}:{name}"] = own["order"] if isinstance(own.get("order"), int) else 1 << 30
    out.cameras.sort(key=lambda c: order[f"camera:{c.name}"])
    out.lights.sort(key=lambda c: order[f"light:{c.name}"])
    out.extras = _by_name(names, extras)
    return out


def _camera(c: PlainCamera) -> dict[str, Any]:
    lens: dict[str, Any] = {}
    if c.focal is not None and None not in c.film:
        lens = {"focal_length_mm": c.focal, "film_inches": list(c.film)}
    near = c.near if c.near is not None and c.near > 0 else 0.001
    far = c.far if c.far is not None and c.far > near else None
    aspect = c.aspect if c.aspect is not None and c.aspect > 0 else None
    fields: dict[str, Any] = {"aspect": aspect, "near": near, "far": far, "extras": lens}
    if c.orthographic:
        return fields | {"kind": "orthographic", "size": c.size[1] or None}
    return fields | {"fov": math.radians(c.fov[1]) if c.fov[1] is not None and 0 < c.fov[1] < 180 else None}


def _light(c: PlainLight) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "kind": _KINDS.get(c.kind, "point"),
        "color": tuple(max(v or 0.0, 0.0) for v in c.color),
        "intensity": c.intensity,
        "shadows": c.shadows,
        "extras": {
            k: v for k, v in (("decay", c.decay), ("kind", c.kind if c.kind == "volume" else "")) if v
        },
    }
    if c.kind == "spot":
        outer = math.radians(c.outer or 0.0) / 2 or math.pi / 8
        fields |= {"inner": min(math.radians(c.inner or 0.0) / 2, outer), "outer": outer}
    return fields


def _made(
    kind: Any,
    name: str,
    joint: int,
    turn: Any,
    fields: dict[str, Any],
    noted: dict[str, Any],
    report: ReportBuilder,
) -> Any:
    """A camera or light; without what makes no sense, and None where nothing does."""
    given = {k: v for k, v in fields.items() if v is not None}
    known = kind.__dataclass_fields__.keys() - {"name", "joint", "rotation"}
    believed = {k: v for k, v in noted.items() if k in known and _agrees(v, given.get(k), k)}
    for numbers in (given | believed, given):
        try:
            return kind(name, joint, rotation=turn, **numbers)
        except ValidationError as error:
            wrong = error
    report.add(
        "dropped", f"{'camera' if kind is JointCamera else 'light'} {name!r}", f"it is not kept: {wrong}"
    )
    return None


def _agrees(noted: Any, read: Any, name: str) -> bool:
    """Whether a note still says what the file says: another program may have changed that since."""
    if name in ("fov", "inner", "outer", "size", "aspect", "near", "far", "intensity") and read is not None:
        if name in ("aspect", "far") and noted is None:
            return True
        if isinstance(noted, (int, float)) and isinstance(read, (int, float)):
            return abs(noted - read) <= 1e-4 * max(abs(noted), abs(read), 1e-3)
        return name == "size" and isinstance(noted, list)
    if name == "color" and read is not None:
        fits = isinstance(noted, list) and len(noted) == 3 and all(isinstance(v, (int, float)) for v in noted)
        return fits and max(abs(a - b) for a, b in zip(noted, read)) < 1e-4
    return True


def _turn(turn: Array, rest: Array, own: dict[str, Any], placed: bool) -> Any:
    """How a camera is turned on its joint: by the node that carries it, to the last digit where the note still fits."""
    found = quaternion.multiply(rest, turn) if placed else turn
    noted: Any = own.get("rotation")
    whole = isinstance(noted, list) and len(noted) == 4 and all(isinstance(v, (int, float)) for v in noted)
    if placed and whole and abs(abs(float(np.dot(noted, found))) - 1) < 1e-6:
        return noted
    return [float(v) for v in found]


def _noted(text: Any) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(text) if isinstance(text, str) and len(text) < 1 << 16 else {}
    except (msgspec.MsgspecError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _extras(own: dict[str, Any], ours: bool) -> dict[str, Any]:
    """Properties of a node as extras; what marrow wrote as text because FBX has no such values is those again."""
    out = {name: value for name, value in own.items() if name not in (EXTRAS, PLACED)}
    if ours and EXTRAS in own:
        out |= _noted(own[EXTRAS])
    return out


def _by_name(names: tuple[str, ...], values: list[dict[str, Any]]) -> dict[str, Any]:
    """By the name of the joint; `[3]` is the fourth of all where several of one name have some."""
    out: dict[str, Any] = {}
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    for j, (name, value) in enumerate(zip(names, values)):
        if value:
            out[name if counts[name] == 1 else f"[{j}]"] = value
    return {"joints": out} if out else {}


def _free(name: str, taken: set[str]) -> str:
    wanted, k = name or "camera", 1
    name = wanted
    while name in taken:
        k += 1
        name = f"{wanted}_{k}"
    taken.add(name)
    return name


def attribute_curves(scene: PlainScene, stack: PlainStack, found: Attributes) -> tuple[Curve, ...]:
    """What a stack changes about cameras and lights."""
    out: dict[str, Curve] = {}
    for element, prop, block, _ in stack.properties:
        for kind, name, plain in found.owners.get(element, ()):
            table = scene.keys(block, 3)
            keys = cut([FbxKeys(table["time"], table["value"])], stack.begin, stack.end, False, None).split()[
                0
            ]
            if not len(keys.times):
                continue
            for number, values in _numbers(kind, prop, np.asarray(keys.values, np.float64), plain):
                if np.isfinite(values).all() and (values != values[0]).any():
                    called = curve_name(kind, name, number)  # type: ignore[arg-type]
                    out.setdefault(called, Curve(called, keys.times, values))
    return tuple(out.values())


def _numbers(kind: str, prop: str, values: Array, plain: Any) -> list[tuple[str, Array]]:
    """The numbers of ours that a property of FBX changes."""
    v = values[:, 0]
    if kind == "light":
        angles = {"InnerAngle": "inner", "OuterAngle": "outer", "Cone angle": "outer"}
        if prop == "Intensity":
            return [("intensity", np.maximum(v / 100, 0))]
        if prop == "Color":
            return [(f"color[{k}]", np.maximum(values[:, k], 0)) for k in range(3)]
        return [(angles[prop], np.radians(v) / 2)] if prop in angles else []
    aspect, (_, film) = plain.aspect or 1.0, plain.film
    with np.errstate(all="ignore"):
        if prop == "FocalLength" and film and plain.focal and plain.fov[1]:
            # As far from the film as it was, however the film is fitted to the picture.
            height = math.tan(math.radians(plain.fov[1]) / 2) * plain.focal
            return [("fov", 2 * np.arctan2(height, v))]
        if prop in ("FieldOfView", "FieldOfViewX"):
            return [("fov", 2 * np.arctan(np.tan(np.radians(v) / 2) / aspect))]
        if prop == "FieldOfViewY":
            return [("fov", np.radians(v))]
    return []
