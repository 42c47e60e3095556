"""`PoseLayout`: how a pose lies in memory as a *pose row*, the form in which programs sample, mix and keep poses.

Ten rows of `joints` numbers each (translation xyz, rotation xyzw, scale xyz; the number of joints rounded up to 16, so that
lanes run over joints), then `morphs` morph weights (rounded up likewise).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["PoseLayout", "padded"]

ROTATION, SCALE, ROWS = 3, 7, 10
"""Where rotations and scales begin among the rows, and how many rows there are."""


def padded(count: int) -> int:
    """Rounded up to whole vectors of 16."""
    return -(-count // 16) * 16


@dataclass(frozen=True)
class PoseLayout:
    """The layout for `J` joints and `M` morph channels."""

    J: int
    M: int = 0

    @property
    def joints(self) -> int:
        """Jp: the numbers in each row."""
        return padded(self.J)

    @property
    def morphs(self) -> int:
        """Mp."""
        return padded(self.M)

    @property
    def size(self) -> int:
        """The numbers in a pose row."""
        return ROWS * self.joints + self.morphs

    @property
    def mask_size(self) -> int:
        """The numbers in a mask: a weight for each joint and each morph channel."""
        return self.joints + self.morphs

    @property
    def inertia_size(self) -> int:
        """The numbers in a kept difference: nine rows and the morphs, and as much for its rates."""
        return 2 * ((ROWS - 1) * self.joints + self.morphs)

    def pack(
        self, translation: NDArray[Any], rotation: NDArray[Any], scale: NDArray[Any], morphs: NDArray[Any]
    ) -> NDArray[Any]:
        """Poses `(T, J, 3)`, `(T, J, 4)`, `(T, J, 3)`, `(T, M)` as pose rows; joints that only fill up are identities."""
        T = len(translation)
        rows = np.zeros((T, self.size), np.float32)
        joints = rows[:, : ROWS * self.joints].reshape(T, ROWS, self.joints)
        joints[:, SCALE - 1 :] = 1
        joints[:, :ROTATION, : self.J] = np.swapaxes(translation, 1, 2)
        joints[:, ROTATION:SCALE, : self.J] = np.swapaxes(rotation, 1, 2)
        joints[:, SCALE:, : self.J] = np.swapaxes(scale, 1, 2)
        rows[:, ROWS * self.joints : ROWS * self.joints + self.M] = morphs
        return rows

    def unpack(self, rows: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Translation, rotation (of any length), scale and morphs of pose rows `(T, size)`."""
        T = len(rows)
        joints = np.swapaxes(rows[:, : ROWS * self.joints].reshape(T, ROWS, self.joints), 1, 2)[:, : self.J]
        return (
            np.ascontiguousarray(joints[..., :ROTATION]),
            np.ascontiguousarray(joints[..., ROTATION:SCALE]),
            np.ascontiguousarray(joints[..., SCALE:]),
            rows[:, ROWS * self.joints : ROWS * self.joints + self.M].copy(),
        )
