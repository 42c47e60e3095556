"""Random cameras, lights and moments for data sets of pictures, the same for the same seed on every machine."""

from __future__ import annotations

import copy
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.model import _validate
from marrow.scene.actor_state import actor_states
from marrow.scene.camera import Camera
from marrow.scene.lights import DirectionalLight, Environment, PointLight
from marrow.scene.scene import Actor, Scene

__all__ = ["RandomView", "random_view"]

Array = NDArray[Any]
LEAST_FOV = 1e-3
SUN_COLORS = ((1.0, 0.85, 0.7), (1.0, 1.0, 1.0), (0.8, 0.9, 1.0))
"""Warm, white, cold: light is mixed of two that follow each other."""


class RandomView(NamedTuple):
    """What was drawn by lot: a scene with other lights and moments, and a camera that sees it."""

    scene: Scene
    camera: Camera


def random_view(
    scene: Scene,
    *,
    seed: int,
    size: tuple[int, int] = (640, 480),
    elevation: tuple[float, float] = (math.radians(-5), math.radians(45)),
    fill: tuple[float, float] = (0.5, 1.2),
    fov: tuple[float, float] = (math.radians(25), math.radians(60)),
    lights: bool = True,
    times: bool = True,
) -> RandomView:
    """A camera around a scene, and the scene in another light and at other moments, by the seed alone.

    The camera looks from any side, `elevation` radians above the horizon, with an angle `fov` from top to bottom, so that
    what is there fills the part `fill` of the picture's height (above 1 it is cut). `lights` draws a sun and up to two
    lamps, `times` a moment of the clip of each actor that plays one. The scene stays as it is; actors are copied.
    """
    _validate.instance("random_view", "scene", scene, Scene)
    chance = np.random.default_rng(_validate.integer("random_view", "seed", seed, low=0))
    ranges = {"elevation": elevation, "fill": fill, "fov": fov}
    low_high = {name: _range(name, value) for name, value in ranges.items()}
    for end in range(2):
        _validate.angle("random_view.fov", low_high["fov"][end], LEAST_FOV, math.pi - LEAST_FOV)
        _validate.angle("random_view.elevation", low_high["elevation"][end], -math.pi / 2, math.pi / 2)
    if not low_high["fill"][0] > 0:
        raise ValidationError("random_view: fill lies above 0")
    # Numbers are drawn in this order whatever is asked for, so that a seed's camera does not depend on the rest.
    turn, share_up, share_fill, share_fov = chance.random(4)
    moment_shares, light_shares = chance.random(len(scene.actors)), chance.random(24)
    actors = _copied(scene.actors)
    if times:
        for actor, share in zip(actors, moment_shares):
            if actor.clip is not None:
                shape = np.shape(actor.time)
                more = np.random.default_rng([seed, int(share * 2**32)]).random(shape) if shape else share
                actor.time = np.asarray(more) * actor.clip.duration
    made = Scene(
        *actors, lights=scene.lights, ground=_ground(scene), grid=scene.grid, environment=scene.environment
    )
    low, high = _box(made)
    center, radius = (low + high) / 2, max(float(np.linalg.norm(high - low)) / 2, 1e-9)
    if lights:
        made.lights = _lights(light_shares, center, radius)
        made.environment = Environment(scene.environment.background, ambient=0.5 + light_shares[23])
    up = _between(low_high["elevation"], share_up)
    angle = _between(low_high["fov"], share_fov)
    distance = radius / (math.tan(angle / 2) * _between(low_high["fill"], share_fill))
    away = np.array(
        [
            math.cos(up) * math.sin(2 * math.pi * turn),
            math.sin(up),
            math.cos(up) * math.cos(2 * math.pi * turn),
        ]
    )
    camera = Camera.perspective(
        center + distance * away,
        center,
        fov=angle,
        width=size[0],
        height=size[1],
        near=max(distance - 2 * radius, 0.01 * distance),
        far=distance + 100 * radius,
    )
    return RandomView(made, camera)


def _range(name: str, value: Any) -> tuple[float, float]:
    try:
        low, high = value
    except (TypeError, ValueError):
        raise ValidationError(
            f"random_view: {name}: expected (least, most), got {_validate.shown(value)}"
        ) from None
    low, high = _validate.number("random_view", name, low), _validate.number("random_view", name, high)
    if low > high:
        raise ValidationError(f"random_view: {name}: expected (least, most), got ({low:g}, {high:g})")
    return low, high


def _between(ends: tuple[float, float], share: float) -> float:
    return ends[0] + (ends[1] - ends[0]) * float(share)


def _copied(actors: list[Actor]) -> list[Actor]:
    """Copies that hang on each other as the actors do."""
    made = {id(actor): copy.copy(actor) for actor in actors}
    for actor in made.values():
        if actor.parent is not None:
            actor.parent = made.get(id(actor.parent), actor.parent)
    return list(made.values())


def _ground(scene: Scene) -> float | bool:
    return False if scene.ground is None else scene.ground


def _box(scene: Scene) -> tuple[Array, Array]:
    """The box around all that is there; a metre where that is nothing."""
    found = [(m.low[(m.low <= m.high).all(1)], m.high[(m.low <= m.high).all(1)]) for m in actor_states(scene)]
    low = np.concatenate([np.zeros((0, 3)), *(a for a, _ in found)])
    if not len(low):
        return np.full(3, -0.5), np.full(3, 0.5)
    return low.min(axis=0), np.concatenate([b for _, b in found]).max(axis=0)


def _lights(shares: Array, center: Array, radius: float) -> list[Any]:
    around, height = 2 * math.pi * shares[0], math.radians(15 + 65 * shares[1])
    sun = DirectionalLight(
        (
            -math.cos(height) * math.sin(around),
            -math.sin(height),
            -math.cos(height) * math.cos(around),
        ),
        color=_color(shares[2]),
        intensity=1.0 + 2.0 * shares[3],
        softness=0.5 + 2.0 * shares[4],
    )
    out: list[Any] = [sun]
    for k in range(int(3 * shares[5])):
        turn, up, far, color, strength = shares[6 + 5 * k : 11 + 5 * k]
        away = np.array([math.sin(2 * math.pi * turn), 0.2 + up, math.cos(2 * math.pi * turn)])
        reach = radius * (1.2 + far)
        place = center + away * reach
        lamp = PointLight(
            (float(place[0]), float(place[1]), float(place[2])),
            color=_color(color),
            intensity=float(strength) * reach**2,
        )
        out.append(lamp)
    return out


def _color(share: float) -> tuple[float, float, float]:
    at = 2 * float(share)
    low = min(int(at), 1)
    r, g, b = (float(x + (at - low) * (y - x)) for x, y in zip(SUN_COLORS[low], SUN_COLORS[low + 1]))
    return r, g, b
