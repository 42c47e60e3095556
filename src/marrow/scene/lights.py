"""Lights and surroundings of a scene: plain frozen data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from marrow.errors import ValidationError
from marrow.model import _validate
from marrow.model._asset import Replaceable
from marrow.scene.css_colors import css_color
from marrow.scene.environment_maps import EnvironmentMap, environment_map

__all__ = ["SUN", "DirectionalLight", "Environment", "Light", "PointLight", "SpotLight"]

Vector = tuple[float, float, float]
BACKGROUNDS = ("studio", "dark", "sky", "transparent", "environment")


def vector(who: str, field: str, value: Any, *, low: float = -math.inf) -> Vector:
    """Three finite numbers."""
    found = np.asarray(_validate.numbers(f"{who}.{field}", value), np.float64)
    if found.shape != (3,) or not np.isfinite(found).all() or found.min() < low:
        least = "" if low == -math.inf else f" of at least {low:g}"
        raise ValidationError(f"{who}.{field}: expected three numbers{least}, got {_validate.shown(value)}")
    return float(found[0]), float(found[1]), float(found[2])


def direction(who: str, field: str, value: Any) -> Vector:
    """A direction of length one."""
    x, y, z = vector(who, field, value)
    length = math.sqrt(x * x + y * y + z * z)
    if not length > 1e-12:
        raise ValidationError(f"{who}.{field}: a direction needs a length, got {_validate.shown(value)}")
    if abs(length - 1.0) < 1e-12:  # as it was made before, to the last bit
        return x, y, z
    return x / length, y / length, z / length


@dataclass(frozen=True)
class DirectionalLight(Replaceable):
    """A light that comes from far away, like the sun's: `direction` is the way its rays go. Colours are linear. `softness`
    is how wide the edges of its shadows are (1 is the default, 0 as sharp as the map of shadows)."""

    direction: Vector = (-0.55, -1.25, -0.75)
    color: Vector = (1.0, 0.8963, 0.7758)
    intensity: float = 1.9
    shadows: bool = True
    softness: float = 1.0

    def __post_init__(self) -> None:
        who = "DirectionalLight"
        _validate.set_fields(
            self,
            direction=direction(who, "direction", self.direction),
            color=vector(who, "color", self.color, low=0),
            intensity=_validate.number(who, "intensity", self.intensity, low=0),
            shadows=_validate.flag(who, "shadows", self.shadows),
            softness=_validate.number(who, "softness", self.softness, low=0, high=16),
        )


@dataclass(frozen=True)
class PointLight(Replaceable):
    """A light that shines all around from `position`: `intensity` in candela, nothing beyond `range` metres (None: as far
    as it counts). `shadows`: whether it casts any."""

    position: Vector
    color: Vector = (1.0, 1.0, 1.0)
    intensity: float = 1.0
    range: float | None = None
    shadows: bool = False

    def __post_init__(self) -> None:
        _check_lamp(self, "PointLight")


@dataclass(frozen=True)
class SpotLight(Replaceable):
    """A light that shines along `direction` from `position`, in full inside `inner` and fading to `outer` radians from its
    axis. `shadows`: whether it casts any."""

    position: Vector
    direction: Vector
    color: Vector = (1.0, 1.0, 1.0)
    intensity: float = 1.0
    range: float | None = None
    inner: float = 0.0
    outer: float = math.pi / 4
    shadows: bool = False

    def __post_init__(self) -> None:
        who = "SpotLight"
        _check_lamp(self, who)
        inner = _validate.angle("SpotLight.inner", self.inner, 0.0, math.pi / 2)
        outer = _validate.angle("SpotLight.outer", self.outer, 0.0, math.pi / 2)
        if not inner <= outer > 0:
            raise ValidationError(f"{who}: inner must not be wider than outer, got {inner:g} and {outer:g}")
        _validate.set_fields(
            self, direction=direction(who, "direction", self.direction), inner=inner, outer=outer
        )


Light = DirectionalLight | PointLight | SpotLight
SUN = DirectionalLight()
"""The sun of a scene that names no light: the studio's."""


def _check_lamp(light: PointLight | SpotLight, who: str) -> None:
    reach = light.range
    _validate.set_fields(
        light,
        position=vector(who, "position", light.position),
        color=vector(who, "color", light.color, low=0),
        intensity=_validate.number(who, "intensity", light.intensity, low=0),
        range=None if reach is None else _validate.number(who, "range", reach, low=0, above=True),
        shadows=_validate.flag(who, "shadows", light.shadows),
    )


@dataclass(frozen=True)
class Environment(Replaceable):
    """What surrounds a scene. `background` is `studio` (a light backdrop), `dark`, `sky`, `transparent`, or a colour:
    `(r, g, b)` as on a screen, 0 to 1, or as in CSS (`"white"`, `"#aabbcc"`, `"rgb(30 40 50)"`). `ambient`
    multiplies the light from all sides, `exposure` all.

    `light` is where that light comes from: `studio`, `softboxes`, `outdoors`, a file (`.hdr`, `.exr`, any equirectangular
    picture) or an `EnvironmentMap`; `rotation` turns it about the vertical, in radians; `background="environment"` shows
    it."""

    background: str | Vector = "studio"
    ambient: float = 1.0
    exposure: float = 1.0
    light: Any = "studio"
    rotation: float = 0.0

    def __post_init__(self) -> None:
        who = "Environment"
        _validate.set_fields(
            self,
            background=background(self.background),
            ambient=_validate.number(who, "ambient", self.ambient, low=0),
            exposure=_validate.number(who, "exposure", self.exposure, low=0),
            light="studio"
            if isinstance(self.light, str) and self.light == "studio"
            else environment_map(self.light),
            rotation=_validate.angle("Environment.rotation", self.rotation, -math.tau, math.tau),
        )
        if self.background == "environment" and self.map is None:
            raise ValidationError(
                "Environment.background: 'environment' shows the light around, and that of the studio is a formula: name "
                "another one, as in light='outdoors' or light='room.hdr'"
            )

    @property
    def map(self) -> EnvironmentMap | None:
        """The picture that the light comes from; None for the studio's, which is a formula."""
        return self.light if isinstance(self.light, EnvironmentMap) else None


def background(value: Any) -> Literal["studio", "dark", "sky", "transparent", "environment"] | Vector:
    """A background by name, or a colour as on a screen."""
    if isinstance(value, str):
        if value in BACKGROUNDS:
            return value  # type: ignore[return-value]
        found = css_color(value)
        if found is not None:
            return found
        raise ValidationError(
            f"Environment.background: expected {', '.join(BACKGROUNDS)}, a colour (r, g, b) or one as in CSS ('white', "
            f"'#rrggbb', 'rgb(30 40 50)'), got {value!r}"
        )
    return vector("Environment", "background", value, low=0)
