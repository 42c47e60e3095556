"""`PlayerControls`: keyboard, mouse and gamepad of a window steer a `Controller`; the camera is behind its shoulder."""

from __future__ import annotations

import math

import numpy as np

from marrow.controller import Controller
from marrow.windows.camera_controls import CameraControls
from marrow.windows.inputs import InputState

__all__ = ["KEYS", "PlayerControls"]

KEYS = (
    "W A S D or the left stick: walk    Shift or the right trigger: run    Space or A: jump    "
    "mouse or the right stick: look    right button or the left trigger: look ahead while walking    Esc: end"
)
EYES, SHOULDER, AWAY = 0.7, 0.14, 2.3
"""Where the camera looks, and how far it is away, in heights of the body."""
HASTE = 9.0
"""Of the way it has not gone yet, exp(-HASTE) is left after a second."""
BEHIND = 0.8
"""How quickly it comes round behind one who walks, while the player does not turn it; not for who comes towards it."""
PRESSED = 0.3


class PlayerControls:
    """Steers a `Controller` with what a player does in a frame; `camera` stays behind the shoulder."""

    def __init__(self, controller: Controller) -> None:
        self.controller = controller
        height = controller.height
        self.camera = CameraControls(
            (0.0, 0.0, 0.0), AWAY * height, yaw=self._behind(), pitch=0.18, size=height
        )
        self.camera.target = self._shoulder()

    def step(self, inputs: InputState, dt: float, height: float, *, captured: bool = False) -> None:
        """One frame of `dt` seconds, in a window `height` logical pixels high."""
        camera, player, pad = self.camera, self.controller, inputs.gamepad
        yaw = camera.yaw
        camera.step(inputs, dt, height, fly=False, captured=captured)
        turned = camera.yaw != yaw
        across = inputs.axis("a", "d") + inputs.axis("left", "right") + pad.left[0]
        ahead = inputs.axis("s", "w") + inputs.axis("down", "up") + pad.left[1]
        wish = across * camera.right + ahead * camera.heading
        wish = wish / max(float(np.linalg.norm(wish)), 1.0)
        if inputs.pressed("space") or "a" in pad.pressed:
            player.jump()
        looks = "right" in inputs.mouse.buttons or pad.left_trigger > PRESSED
        run = inputs.down("shift") or pad.right_trigger > PRESSED
        player.move(wish, dt, run=run, look=camera.heading if looks else None)
        if float(np.linalg.norm(wish)) > 0.1 and not turned and not looks:
            left = math.remainder(self._behind() - camera.yaw, math.tau)
            if abs(left) < math.radians(120):
                camera.yaw += left * (1 - math.exp(-BEHIND * dt))
        goal = self._shoulder()
        camera.target = goal + (camera.target - goal) * math.exp(-HASTE * dt)

    def _behind(self) -> float:
        facing = self.controller.facing
        return math.remainder(math.atan2(facing[0], facing[2]) + math.pi, math.tau)

    def _shoulder(self) -> np.ndarray:
        height = self.controller.height
        return self.controller.place + (0.0, EYES * height, 0.0) + SHOULDER * height * self.camera.right
