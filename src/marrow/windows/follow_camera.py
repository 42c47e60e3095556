"""`FollowCamera`: a camera that keeps up with a character that walks away."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import MarrowError
from marrow.scene.actor_state import actor_states, model_matrices
from marrow.scene.scene import Actor, Scene
from marrow.windows.camera_controls import CameraControls

__all__ = ["FollowCamera", "middle"]

Array = NDArray[Any]
HASTE = 8.0
"""How quickly the camera keeps up: of a way it has not gone yet, exp(-HASTE) is left after a second."""
JUMP = 0.4
"""Who goes farther than this part of its size in one frame has jumped: a clip that begins again."""


def middle(actor: Actor) -> Array | None:
    """The mean of an actor's joints in the world, of its first instance, `(3,)`; None where that is nowhere."""
    try:
        state = actor_states(Scene(actor) if actor.parent is None else Scene(actor.parent, actor))[-1]
    except MarrowError:  # whoever draws it will say so
        return None
    if not len(state.world) or not len(actor.character.skeleton):
        return None
    at = np.append(np.asarray(model_matrices(state), np.float64)[0, :, :, 3].mean(0), 1.0)
    place = state.world[0] @ at
    return place if np.isfinite(place).all() else None


class FollowCamera:
    """Moves the target of a camera along with a character, over the ground; the player turns it as before."""

    def __init__(self) -> None:
        self.on = True
        self._actor: Actor | None = None
        self._last: Array | None = None
        self._owed = np.zeros(3)

    def step(self, camera: CameraControls, actor: Actor, seconds: float) -> None:
        """The actor is where it is after a frame of `seconds`."""
        if not self.on or (actor.animator is not None and actor.animator.count != 1):
            self._last = None  # of a crowd everybody is looked at
            return
        now = middle(actor)
        if self._actor is actor and self._last is not None and now is not None:
            went = (now - self._last) * (1.0, 0.0, 1.0)
            if np.linalg.norm(went) > JUMP * camera.size:
                camera.target = camera.target + went
            else:
                self._owed += went
            gone = self._owed * (1 - math.exp(-HASTE * seconds))
            camera.target = camera.target + gone
            self._owed -= gone
        else:
            self._owed[:] = 0
        self._actor, self._last = actor, now
