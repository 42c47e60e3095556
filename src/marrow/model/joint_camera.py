"""`JointCamera` and `JointLight`: the cameras and lights of a file, each on a joint, as plain data.

Both look along -Z of their joint with +Y up, as glTF and USD have it, turned by `rotation` where a file means another
axis (cameras of FBX look along +X, its lights along -Y). They go where the joint goes; what else a clip changes about
them is a curve of the clip: `camera:NAME:fov`, `light:NAME:intensity`, `light:NAME:color[0]`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

from marrow.errors import ValidationError
from marrow.model import _validate
from marrow.model._asset import Comparable

__all__ = [
    "CAMERA_CURVES", "LIGHT_CURVES", "JointCamera", "JointLight", "curve_name", "curve_parts", "moved_to", "resized",
]  # fmt: skip

Quaternion = tuple[float, float, float, float]
CAMERA_CURVES = ("fov", "aspect", "near", "far", "size")
"""What a clip may change about a camera: `camera:NAME:fov`."""
LIGHT_CURVES = ("intensity", "color[0]", "color[1]", "color[2]", "range", "inner", "outer")
"""What a clip may change about a light: `light:NAME:intensity`."""
CAMERA_LENGTHS, LIGHT_LENGTHS = ("near", "far", "size"), ("range",)
LIGHT_KINDS = ("directional", "point", "spot", "area", "ambient")


@dataclass(frozen=True, slots=True, eq=False)
class JointCamera(Comparable):
    """A camera of a file, on `joint`. `mw.render(hero, camera=NAME)` looks through it.

    - `kind`: `perspective` with its `fov` (from bottom to top, radians), or `orthographic` with its `size` (from bottom
      to top, metres)
    - `aspect`: width by height of what it was made for; None: that of the picture
    - `near`, `far`: what it sees, in metres; None: without an end
    - `rotation`: how it is turned on its joint, a quaternion (x, y, z, w)
    - `extras`: what else its file says of it (lens, focus, notes), as plain data
    """

    name: str
    joint: int
    kind: Literal["perspective", "orthographic"] = "perspective"
    fov: float = math.radians(45)
    size: float = 2.0
    aspect: float | None = None
    near: float = 0.1
    far: float | None = None
    rotation: Quaternion = (0.0, 0.0, 0.0, 1.0)
    extras: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        who = f"JointCamera({_validate.name('JointCamera', 'name', self.name)!r})"
        _validate.one_of(who, "kind", self.kind, ("perspective", "orthographic"))
        fov = _validate.angle(f"{who}.fov", self.fov, 0.0, math.pi)
        if not 0 < fov < math.pi:
            raise ValidationError(f"{who}.fov: expected an angle between 0 and pi radians, got {fov:g}")
        least = 0.0 if self.kind == "perspective" else -math.inf
        near = _validate.number(who, "near", self.near, low=least, above=self.kind == "perspective")
        far = None if self.far is None else _validate.number(who, "far", self.far)
        if far is not None and not far > near:
            raise ValidationError(f"{who}: expected near below far, got {near:g} and {far:g}")
        _validate.set_fields(
            self,
            joint=_validate.integer(who, "joint", self.joint, low=0, hint="use skeleton.index(name)"),
            fov=fov,
            size=_validate.number(who, "size", self.size, low=0, above=True),
            aspect=_positive(who, "aspect", self.aspect),
            near=near,
            far=far,
            rotation=_turn(who, self.rotation),
            extras=_validate.document(who, "extras", self.extras),
        )


@dataclass(frozen=True, slots=True, eq=False)
class JointLight(Comparable):
    """A light of a file, on `joint`. `mw.render(hero, lights="file")` shows by them.

    - `kind`: `directional`, `point`, `spot`, `area` (a rectangle of `size`, width and height in metres), `ambient` (from
      all sides, as a dome)
    - `color` is linear, `intensity` in lux (directional), candela (point, spot), nits (area) or a factor (ambient)
    - `range`: nothing beyond so many metres; None: as far as it counts
    - `inner`, `outer`: a spot is full inside and dark outside, radians from its axis
    - `rotation`: how it is turned on its joint, a quaternion (x, y, z, w)
    - `extras`: what else its file says of it, as plain data
    - `visible`: whether it shines; a clip's curve `visibility:JOINT` says otherwise
    """

    name: str
    joint: int
    kind: Literal["directional", "point", "spot", "area", "ambient"] = "point"
    color: tuple[float, float, float] = (1.0, 1.0, 1.0)
    intensity: float = 1.0
    range: float | None = None
    inner: float = 0.0
    outer: float = math.pi / 4
    size: tuple[float, float] = (1.0, 1.0)
    shadows: bool = True
    rotation: Quaternion = (0.0, 0.0, 0.0, 1.0)
    extras: dict[str, Any] = field(default_factory=dict)
    visible: bool = True

    def __post_init__(self) -> None:
        who = f"JointLight({_validate.name('JointLight', 'name', self.name)!r})"
        _validate.one_of(who, "kind", self.kind, LIGHT_KINDS)
        inner = _validate.angle(f"{who}.inner", self.inner, 0.0, math.pi)
        outer = _validate.angle(f"{who}.outer", self.outer, 0.0, math.pi)
        if not inner <= outer > 0:
            raise ValidationError(f"{who}: inner must not be wider than outer, got {inner:g} and {outer:g}")
        _validate.set_fields(
            self,
            joint=_validate.integer(who, "joint", self.joint, low=0, hint="use skeleton.index(name)"),
            color=_numbers(who, "color", self.color, 3, low=0.0),
            intensity=_validate.number(who, "intensity", self.intensity, low=0),
            range=_positive(who, "range", self.range),
            inner=inner,
            outer=outer,
            size=_numbers(who, "size", self.size, 2, low=0.0),
            shadows=_validate.flag(who, "shadows", self.shadows),
            visible=_validate.flag(who, "visible", self.visible),
            rotation=_turn(who, self.rotation),
            extras=_validate.document(who, "extras", self.extras),
        )


Placed = TypeVar("Placed", JointCamera, JointLight)


def curve_name(kind: Literal["camera", "light"], name: str, number: str) -> str:
    """The curve of a clip that changes a number of a camera or a light."""
    return f"{kind}:{name}:{number}"


def curve_parts(curve: str) -> tuple[str, str, str] | None:
    """`("camera", NAME, "fov")` of the curve `camera:NAME:fov`; None for curves of other things."""
    kind, _, rest = curve.partition(":")
    name, _, number = rest.rpartition(":")
    known = {"camera": CAMERA_CURVES, "light": LIGHT_CURVES}.get(kind, ())
    return (kind, name, number) if number in known else None


def moved_to(placed: Iterable[Placed], old: tuple[str, ...], new: tuple[str, ...]) -> tuple[Placed, ...]:
    """Cameras or lights for a skeleton of other joints, found by their names; without those that are not there."""
    if old == new:
        return tuple(placed)
    known: dict[str, list[int]] = {}
    for j, name in enumerate(new):
        known.setdefault(name, []).append(j)
    out = []
    for one in placed:
        there = known.get(old[one.joint], [])
        number = old[: one.joint].count(old[one.joint])  # of those that share the name
        if number < len(there):
            out.append(replace(one, joint=there[number]))
    return tuple(out)


def resized(placed: Iterable[Placed], factor: float) -> tuple[Placed, ...]:
    """Cameras or lights with all lengths multiplied."""
    out = []
    for one in placed:
        lengths = CAMERA_LENGTHS if isinstance(one, JointCamera) else LIGHT_LENGTHS
        changes: dict[str, Any] = {
            n: getattr(one, n) * factor for n in lengths if getattr(one, n) is not None
        }
        if isinstance(one, JointLight):
            changes["size"] = tuple(s * factor for s in one.size)
        out.append(replace(one, **changes))
    return tuple(out)


def _positive(who: str, name: str, value: Any) -> float | None:
    return None if value is None else _validate.number(who, name, value, low=0, above=True)


def _numbers(who: str, name: str, value: Any, count: int, low: float = -math.inf) -> tuple[float, ...]:
    found = _validate.items(who, name, value, object)
    if len(found) != count:
        raise ValidationError(f"{who}.{name}: expected {count} numbers, got {len(found)}")
    return tuple(_validate.number(who, name, v, low=low) for v in found)


def _turn(who: str, value: Any) -> Quaternion:
    x, y, z, w = _numbers(who, "rotation", value, 4)
    length = math.sqrt(x * x + y * y + z * z + w * w)
    if not length > 1e-9:
        raise ValidationError(f"{who}.rotation: a quaternion needs a length, got {value}")
    if abs(length - 1) < 1e-12:  # as it was made before, to the last bit
        return x, y, z, w
    return x / length, y / length, z / length, w / length
