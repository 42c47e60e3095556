"""`CameraControls`: a camera that circles what it looks at, and flies. Plain numbers; no window, no GPU.

Left drag turns around the target, right drag looks around, middle drag (or shift and left drag) moves, the wheel goes
nearer, W A S D, Q and E fly. A gamepad flies with its left stick and turns with its right one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError
from marrow.model import _validate
from marrow.scene.camera import Camera
from marrow.windows.inputs import InputState

__all__ = ["CameraControls"]

Array = NDArray[Any]
TURN = math.radians(0.35)
"""Radians a pixel of dragging turns."""
STICK_TURN = math.radians(120)
"""Radians a second a stick turns that is pushed all the way."""
STEEPEST = math.radians(89)
ZOOM = 1.15
"""How much nearer a click of the wheel goes, as a factor."""
MARGIN = 1.12
"""How much farther away it goes than what it frames needs."""
FASTER = 4.0
"""How much faster it flies with shift held."""


class CameraControls:
    """A camera `distance` metres from `target`, at `yaw` around it (0: in front of what faces +Z, growing
    towards +X) and `pitch` above it; radians. Set any of them at any time.

    `size` is how large the things are that it looks at, in metres: how fast it flies, how near it goes and how far it sees.
    """

    def __init__(
        self,
        target: ArrayLike = (0.0, 1.0, 0.0),
        distance: float = 3.0,
        *,
        yaw: float = 0.0,
        pitch: float = 0.15,
        fov: float = math.radians(40),
        size: float = 2.0,
    ) -> None:
        self.size = _validate.number("CameraControls", "size", size, low=0, above=True)
        self.fov = _validate.angle("CameraControls.fov", fov, 0.001, 3.0)
        self.target = target
        self.distance, self.pitch = distance, pitch
        self.yaw = _validate.angle("CameraControls.yaw", yaw, -math.tau, math.tau)
        self._start: tuple[Array, float, float, float] = (self.target, self.distance, self.yaw, self.pitch)

    # -- what it is -------------------------------------------------------------------------------------------------
    @property
    def target(self) -> Array:
        """What it turns around, `(3,)`."""
        return self._target.copy()

    @target.setter
    def target(self, value: ArrayLike) -> None:
        point = np.asarray(_validate.numbers("CameraControls.target", value), np.float64)
        if point.shape != (3,) or not np.isfinite(point).all():
            raise ValidationError(f"CameraControls.target: expected three finite numbers, got {value!r}")
        self._target = point.copy()

    @property
    def distance(self) -> float:
        return self._distance

    @distance.setter
    def distance(self, value: float) -> None:
        wanted = _validate.number("CameraControls", "distance", value, low=0)
        self._distance = min(max(wanted, 1e-3 * self.size), 1e4 * self.size)

    @property
    def yaw(self) -> float:
        return self._yaw

    @yaw.setter
    def yaw(self, value: float) -> None:
        self._yaw = math.remainder(_validate.number("CameraControls", "yaw", value), math.tau)

    @property
    def pitch(self) -> float:
        return self._pitch

    @pitch.setter
    def pitch(self, value: float) -> None:
        wanted = _validate.angle("CameraControls.pitch", value, -math.tau, math.tau)
        self._pitch = min(max(wanted, -STEEPEST), STEEPEST)

    @property
    def forward(self) -> Array:
        """Where it looks, of length 1."""
        level = math.cos(self._pitch)
        return np.array([-math.sin(self._yaw) * level, -math.sin(self._pitch), -math.cos(self._yaw) * level])

    @property
    def right(self) -> Array:
        """Where the right side of its picture points, level."""
        return np.array([math.cos(self._yaw), 0.0, -math.sin(self._yaw)])

    @property
    def up(self) -> Array:
        """Where the top of its picture points."""
        return np.cross(self.right, self.forward)

    @property
    def heading(self) -> Array:
        """Where it looks, level: the way `up` on a stick goes in a third-person game."""
        return np.array([-math.sin(self._yaw), 0.0, -math.cos(self._yaw)])

    @property
    def eye(self) -> Array:
        return self._target - self._distance * self.forward

    def camera(self, size: tuple[int, int]) -> Camera:
        """The camera for a picture of `size` (width, height) in pixels."""
        if not isinstance(size, (tuple, list)) or len(size) != 2:
            raise ValidationError(
                f"CameraControls.camera: size is (width, height), got {_validate.shown(size)}"
            )
        reach = max(self._distance, self.size)
        near = min(0.01 * reach, 0.5 * self._distance)
        return Camera.perspective(
            self.eye,
            self._target,
            fov=self.fov,
            width=size[0],
            height=size[1],
            near=near,
            far=1e3 * reach,
        )

    # -- moving it --------------------------------------------------------------------------------------------------
    def frame(self, points: ArrayLike, aspect: float = 16 / 9) -> None:
        """Goes where it sees all of `points (n, 3)`, without turning, and remembers that as the place to `reset` to."""
        p = np.asarray(_validate.numbers("CameraControls.frame: points", points), np.float64)
        if p.ndim == 0 or p.shape[-1] != 3:
            raise ValidationError(f"CameraControls.frame: expected points (n, 3), got shape {p.shape}")
        aspect = _validate.number("CameraControls.frame", "aspect", aspect, low=0, above=True)
        p = p.reshape(-1, 3)
        p = p[np.isfinite(p).all(1)]
        if not len(p):
            return
        low, high = p.min(0), p.max(0)
        self.target = (low + high) / 2
        self.size = max(float(np.linalg.norm(high - low)), 1e-9)
        # At a distance d a point is in the picture while |across| <= tangent * (d + ahead).
        away, tangent = p - self._target, math.tan(self.fov / 2)
        ahead = away @ self.forward
        wide = np.abs(away @ self.right) / (tangent * aspect) - ahead
        tall = np.abs(away @ self.up) / tangent - ahead
        self.distance = MARGIN * max(float(wide.max()), float(tall.max()), 0.1 * self.size)
        self._start = (self.target, self.distance, self.yaw, self.pitch)

    def reset(self) -> None:
        """Back to where it was framed."""
        self.target, self.distance, self.yaw, self.pitch = self._start

    def orbit(self, right: float, up: float) -> None:
        """Goes around the target by radians: to the right of it, and over it."""
        right, up = _angles("orbit", right=right, up=up)
        self.yaw += right
        self.pitch += up

    def look(self, right: float, up: float) -> None:
        """Turns where it stands, by radians."""
        eye = self.eye
        right, up = _angles("look", right=right, up=up)
        self.yaw -= right
        self.pitch -= up
        self._target = eye + self._distance * self.forward

    def pan(self, right: float, up: float) -> None:
        """Moves across the picture, in metres."""
        right, up = _numbers("pan", right=right, up=up)
        self._target = self._target + right * self.right + up * self.up

    def zoom(self, clicks: float) -> None:
        """Goes nearer by a wheel's clicks."""
        (clicks,) = _numbers("zoom", clicks=clicks)
        self.distance = self._distance / ZOOM ** min(max(clicks, -50.0), 50.0)

    def fly(self, right: float, up: float, ahead: float) -> None:
        """Moves with its target, in metres: across, straight up, and where it looks."""
        right, up, ahead = _numbers("fly", right=right, up=up, ahead=ahead)
        self._target = self._target + right * self.right + ahead * self.forward + (0.0, up, 0.0)

    def step(
        self, inputs: InputState, seconds: float, height: float, *, fly: bool = True, captured: bool = False
    ) -> None:
        """What a player does in a frame of `seconds`, in a window `height` logical pixels high. `fly=False` leaves the keys
        and the left stick to the program; a mouse that is `captured` turns the camera without a button."""
        mouse, pad = inputs.mouse, inputs.gamepad
        shift = inputs.down("shift")
        if "middle" in mouse.buttons or ("left" in mouse.buttons and shift):
            scale = 2 * self._distance * math.tan(self.fov / 2) / max(height, 1.0)
            self.pan(-mouse.dx * scale, mouse.dy * scale)
        elif "left" in mouse.buttons or captured:
            self.orbit(_turn(-mouse.dx), _turn(mouse.dy))
        elif "right" in mouse.buttons:
            self.look(_turn(mouse.dx), _turn(-mouse.dy))
        if mouse.wheel:
            self.zoom(mouse.wheel)
        x, y = pad.right
        if x or y:
            turn = STICK_TURN * min(seconds, 1.0)
            self.orbit(-x * turn, -y * turn)
        if not fly or inputs.down("control", "alt", "super"):
            return
        across = inputs.axis("a", "d") + pad.left[0]
        ahead = inputs.axis("s", "w") + pad.left[1]
        up = inputs.axis("q", "e") + pad.right_trigger - pad.left_trigger
        if across or ahead or up:
            way = self.size * seconds * (FASTER if shift else 1.0)
            self.fly(across * way, up * way, ahead * way)

    def __repr__(self) -> str:
        at, degrees = (
            self.target.round(3).tolist(),
            [round(math.degrees(a), 1) for a in (self.yaw, self.pitch)],
        )
        return f"CameraControls({at}, {self._distance:.3g} m away, yaw {degrees[0]:g}, pitch {degrees[1]:g} degrees)"


def _numbers(who: str, **values: float) -> list[float]:
    return [_validate.number(f"CameraControls.{who}", name, value) for name, value in values.items()]


def _angles(who: str, **values: float) -> list[float]:
    return [
        _validate.angle(f"CameraControls.{who}.{name}", v, -math.tau, math.tau) for name, v in values.items()
    ]


def _turn(pixels: float) -> float:
    """How far dragging turns; a mouse that jumps turns once round at most."""
    return min(max(pixels * TURN, -math.tau), math.tau)
