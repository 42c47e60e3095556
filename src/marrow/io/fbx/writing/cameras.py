"""Cameras, lights and the extras of joints, as nodes' attributes and properties.

A camera of FBX looks along +X of its node and a light along -Y. One that does so on its joint is the joint's own
attribute, where that has no other; any other has a node of its own below the joint, which marrow reads as none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from marrow.io.fbx.cameras import CAMERA_TURN, LIGHT_TURN, MM_PER_INCH
from marrow.io.fbx.keyed_properties import EXTRAS, PLACED
from marrow.io.fbx.writing.document import FbxDocument
from marrow.io.fbx.writing.nodes import Names, put_place, write_model
from marrow.io.fbx.writing.properties import Properties
from marrow.io.gltf.extras import ExtrasWriter
from marrow.io.losses import Losses
from marrow.math import quaternion, transform
from marrow.model import Character, Curve, JointCamera, JointLight
from marrow.model.joint_camera import curve_parts

__all__ = ["AttributeWriter", "carried_kinds", "write_extras"]

Array = NDArray[Any]
FILM_HEIGHT = 24 / MM_PER_INCH
FAR = 10_000.0
ORTHO_UNITS = 30.0
"""File units that an orthographic camera of zoom 1 shows across."""
_LIGHTS = {"point": 0, "directional": 1, "spot": 2, "area": 3, "ambient": 4}
_DECAYS = ("none", "linear", "quadratic", "cubic")
_RESERVED = frozenset(
    {"Visibility", "Lcl Translation", "Lcl Rotation", "Lcl Scaling", "PreRotation", "RotationOrder", "RotationActive",
     "InheritType", "DefaultAttributeIndex", "Size", "Show", EXTRAS, PLACED}
)  # fmt: skip
_RATE = 30.0


def carried_kinds(character: Character, free: Mapping[int, bool]) -> dict[int, str]:
    """Joints whose node is a camera or a light itself: it is turned as FBX has it, called as the joint, and alone there."""
    found: dict[int, str] = {}
    both: list[tuple[JointCamera | JointLight, str, Any]] = []
    both += [(c, "Camera", CAMERA_TURN) for c in character.cameras]
    both += [(light, "Light", LIGHT_TURN) for light in character.lights]
    for placed, kind, turn in both:
        fits = abs(abs(float(np.dot(placed.rotation, turn))) - 1) < 1e-12
        alike = placed.name == character.skeleton.names[placed.joint]
        shown = getattr(placed, "visible", True)
        if fits and alike and shown and free.get(placed.joint, False) and placed.joint not in found:
            found[placed.joint] = kind
    return found


class AttributeWriter:
    """Writes cameras and lights. `nodes` are the numbers of the joints' nodes, `props` their properties."""

    def __init__(
        self,
        document: FbxDocument,
        character: Character,
        nodes: list[int],
        props: list[Properties | None],
        carried: dict[int, str],
        names: Names,
        losses: Losses,
    ) -> None:
        self._document, self._character, self._nodes, self._props = document, character, nodes, props
        self._carried, self._names, self._losses = dict(carried), names, losses
        self.numbers: dict[tuple[str, str], int] = {}
        """The attribute of each camera and light, by kind and name."""

    def write(self) -> None:
        """Writes all of them."""
        for order, camera in enumerate(self._character.cameras):
            self._camera(camera, self._attribute(camera, "Camera", CAMERA_TURN, order))
        for order, light in enumerate(self._character.lights):
            self._light(light, self._attribute(light, "Light", LIGHT_TURN, order))

    def _attribute(self, placed: JointCamera | JointLight, kind: str, turn: Any, order: int) -> Properties:
        """The properties of an attribute, on the joint's node or on one of its own."""
        document, joint = self._document, placed.joint
        note: dict[str, Any] = {"order": order, "fields": {}}
        for name in placed.__dataclass_fields__:
            if name not in ("name", "joint", "rotation"):
                note["fields"][name] = getattr(placed, name)
        alike = placed.name == self._character.skeleton.names[joint]
        if self._carried.get(joint) == kind and alike:
            del self._carried[joint]  # the next one has its own
            model, props = self._nodes[joint], self._props[joint]
            note["joint"] = True
        else:
            unique = self._names.of(placed.name)
            model, _, props = write_model(document, unique, kind, visible=getattr(placed, "visible", True))
            before = quaternion.multiply(np.array(placed.rotation), quaternion.conjugate(np.array(turn)))
            put_place(
                props, document, transform.compose(np.zeros(3), quaternion.normalize(before), np.ones(3))
            )
            document.connect(model, self._nodes[joint])
            note |= {"name": placed.name, "rotation": list(placed.rotation)}
        assert props is not None
        props.text(PLACED, msgspec.json.encode(note).decode(), own=True)
        number, record = document.object("NodeAttribute", placed.name, kind)
        record.add("TypeFlags", kind)
        record.add("GeometryVersion", np.int32(124))
        document.connect(number, model)
        self.numbers[kind.lower(), placed.name] = number
        return Properties(record)

    def _camera(self, camera: JointCamera, props: Properties) -> None:
        scale = self._document.space.scale
        aspect = 16 / 9 if camera.aspect is None else camera.aspect
        height = FILM_HEIGHT
        film = camera.extras.get("film_inches")
        if isinstance(film, list) and len(film) == 2 and all(isinstance(v, float) and v > 0 for v in film):
            height = film[1]
        props.number("AspectWidth", aspect)
        props.number("AspectHeight", 1.0)
        props.number("FilmWidth", height * aspect)
        props.number("FilmHeight", height)
        props.number("FilmAspectRatio", aspect)
        props.enum("ApertureMode", 3)  # by the focal length
        props.enum("GateFit", 1)  # the film's height is the picture's
        props.number("FocalLength", focal_length(camera.fov, height), animated=True)
        props.number(
            "FieldOfView", math.degrees(2 * math.atan(math.tan(camera.fov / 2) * aspect)), animated=True
        )
        near = camera.near * scale
        props.number("NearPlane", near)
        props.number("FarPlane", (FAR if camera.far is None else camera.far) * scale)
        if camera.kind == "orthographic":
            props.enum("CameraProjectionType", 1)
            props.number("OrthoZoom", camera.size * scale / ORTHO_UNITS)

    def _light(self, light: JointLight, props: Properties) -> None:
        scale = self._document.space.scale
        props.enum("LightType", _LIGHTS[light.kind])
        props.color("Color", light.color)
        props.number("Intensity", light.intensity * 100, animated=True)
        props.flag("CastLight", True)
        props.flag("CastShadows", light.shadows)
        decay = light.extras.get("decay")
        props.enum(
            "DecayType", _DECAYS.index(decay) if decay in _DECAYS else 0 if light.kind == "directional" else 2
        )
        if light.kind == "spot":
            props.number("InnerAngle", math.degrees(2 * light.inner), animated=True)
            props.number("OuterAngle", math.degrees(2 * light.outer), animated=True)
        if light.range is not None:
            props.flag("EnableFarAttenuation", True)
            props.number("FarAttenuationEnd", light.range * scale)
        if light.kind == "ambient":
            self._losses.add(
                f"light {light.name!r}", "FBX has no light from all sides; other programs find a volume light"
            )

    def animated(self, curve: Curve) -> tuple[int, str, tuple[str, ...], int, Array, Array] | None:
        """For a curve of a camera or light: the attribute, its property with its parts, which of them the curve is, and
        times and values in FBX's words; None for other curves and for numbers that FBX does not animate."""
        parts = curve_parts(curve.name)
        if parts is None or parts[:2] not in self.numbers:
            return None
        kind, name, word = parts
        number, times, values = self.numbers[kind, name], curve.times, curve.values.astype(np.float64)
        if kind == "light":
            if word == "intensity":
                return number, "Intensity", ("Intensity",), 0, times, values * 100
            if word.startswith("color["):
                return number, "Color", ("X", "Y", "Z"), int(word[6]), times, values
            if word in ("inner", "outer"):
                prop = f"{word.title()}Angle"
                return number, prop, (prop,), 0, times, np.degrees(2 * values)
        elif word == "fov":
            camera = self._character.camera(name)
            film = camera.extras.get("film_inches", [0.0, FILM_HEIGHT])
            height = film[1] if isinstance(film, list) and len(film) == 2 and film[1] else FILM_HEIGHT
            # A focal length is no straight line where an angle is.
            more = np.arange(float(times[0]), float(times[-1]), 1 / _RATE, dtype=np.float32)
            whole = np.union1d(times, more) if len(more) < 1_000_000 else times
            return (
                number,
                "FocalLength",
                ("FocalLength",),
                0,
                whole,
                focal_length(curve.sample(whole), height),
            )
        return None


def focal_length(fov: Any, film_height: float) -> Any:
    """In millimetres, of a lens that sees `fov` radians on a film that is so many inches high."""
    return film_height * MM_PER_INCH / 2 / np.tan(np.clip(fov, 1e-4, math.pi - 1e-4) / 2)


def write_extras(character: Character, props: list[Properties | None], losses: Losses) -> None:
    """The extras of joints as properties of their nodes; a line for all others."""
    found = ExtrasWriter(character.extras)
    as_text = 0
    for j, name in enumerate(character.skeleton.names):
        extras, own = found.kept("joints", j, name), props[j]
        if extras in (None, {}):
            continue
        if own is None:
            losses.add(f"node {name!r}", "its extras are left out with it")
            continue
        others: dict[str, Any] = {}
        for key, value in extras.items() if isinstance(extras, dict) else (("", extras),):
            if not _put(own, key, value):
                others[key] = value
        if others:
            as_text += 1
            own.text(EXTRAS, msgspec.json.encode(others).decode(), own=True)
    if as_text:
        losses.add(
            "extras", f"those of {as_text} nodes have values that FBX has not; they are in a text, as JSON"
        )
    left = [kind for kind, value in character.extras.items() if kind != "joints" and value]
    if left:
        losses.add("extras", f"FBX has no place for those of {', '.join(sorted(left))}: left out")


def _put(props: Properties, name: str, value: Any) -> bool:
    """Writes a value as a property of its own; False where FBX has none such, or the name is taken."""
    if not name or name in _RESERVED or "\0" in name or len(name) > 200:
        return False
    if isinstance(value, str) and "\0" not in value:
        props.text(name, value, own=True)
    elif isinstance(value, bool):
        props.own_flag(name, value)
    elif isinstance(value, int) and -(2**31) <= value < 2**31:
        props.own_integer(name, value)
    elif isinstance(value, float):
        props.number(name, value, own=True)
    elif isinstance(value, list) and len(value) == 3 and all(type(v) in (int, float) for v in value):
        props.own_vector(name, value)
    else:
        return False
    return True
