"""`Camera`: what a level of detail is chosen for. Nothing but matrices and the size of the picture."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.cached import cached_property
from marrow.errors import ValidationError
from marrow.kernels.lod import CAMERA_NUMBERS
from marrow.model import _validate
from marrow.model._asset import Replaceable

__all__ = ["Camera"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Camera(Replaceable):
    """A camera: `view (3, 4)` brings the world in front of it (it looks along -Z), `projection (4, 4)` to the picture,
    where points that are seen have `-w <= x, y <= w`. `height` is that of the picture, in pixels."""

    view: Array
    projection: Array
    height: int = 1080

    def __post_init__(self) -> None:
        height = _validate.number("Camera", "height", self.height, low=0, above=True)
        made = {}
        for name, shape in (("view", (3, 4)), ("projection", (4, 4))):
            matrix = np.array(_validate.numbers(f"Camera.{name}", getattr(self, name)), np.float64)
            if name == "view" and matrix.shape == (4, 4):
                matrix = matrix[:3]
            if matrix.shape != shape or not np.isfinite(matrix).all():
                raise ValidationError(f"Camera.{name}: expected {shape} finite numbers, got {matrix.shape}")
            if not _turns_back(matrix if name == "projection" else matrix[:, :3]):
                raise ValidationError(
                    f"Camera.{name}: cannot be inverted: it flattens what it sees; Camera.perspective makes one"
                )
            made[name] = _validate.owned(matrix)
        _validate.set_fields(self, height=height, **made)

    @classmethod
    def perspective(
        cls,
        eye: ArrayLike,
        target: ArrayLike,
        *,
        fov: float = math.radians(50),
        up: ArrayLike = (0.0, 1.0, 0.0),
        width: float = 1920,
        height: float = 1080,
        near: float = 0.05,
        far: float = 10_000.0,
    ) -> Camera:
        """One that stands at `eye` and looks at `target`; `fov` is the angle it sees from top to bottom, in radians."""
        fov = _validate.angle("perspective.fov", fov, 0.0, math.pi)
        if fov in (0.0, math.pi):
            raise ValidationError(
                f"perspective.fov: expected more than 0 and less than half a turn, got {fov:g}"
            )
        f, aspect = 1 / math.tan(fov / 2), _aspect(width, height)
        near, far = _range("perspective", near, far, least=0.0)
        projection = np.zeros((4, 4))
        projection[0, 0], projection[1, 1], projection[3, 2] = f / aspect, f, -1.0
        projection[2, 2], projection[2, 3] = (far + near) / (near - far), 2 * far * near / (near - far)
        return cls(_look_at(eye, target, up), projection, height)  # type: ignore[arg-type]

    @classmethod
    def orthographic(
        cls,
        eye: ArrayLike,
        target: ArrayLike,
        *,
        size: float,
        up: ArrayLike = (0.0, 1.0, 0.0),
        width: float = 1920,
        height: float = 1080,
        near: float = 0.0,
        far: float = 10_000.0,
    ) -> Camera:
        """One whose picture shows `size` metres from top to bottom, however far they are."""
        size = _validate.number("orthographic", "size", size, low=0, above=True)
        near, far = _range("orthographic", near, far, least=-math.inf)
        projection = np.eye(4)
        projection[0, 0], projection[1, 1] = 2 / (size * _aspect(width, height)), 2 / size
        projection[2, 2], projection[2, 3] = 2 / (near - far), (far + near) / (near - far)
        return cls(_look_at(eye, target, up), projection, height)  # type: ignore[arg-type]

    @property
    def eye(self) -> Array:
        """Where it stands, `(3,)`."""
        turn = self.view[:, :3]
        return np.linalg.solve(turn, -self.view[:, 3]) if abs(np.linalg.det(turn)) > 1e-12 else np.zeros(3)

    @cached_property
    def numbers(self) -> Array:
        """What the kernel wants of it (`kernels.lod.CAMERA_NUMBERS`)."""
        whole = self.projection @ np.vstack([self.view, [0.0, 0.0, 0.0, 1.0]])
        w = whole[3]
        out = np.zeros(CAMERA_NUMBERS)
        for k, plane in enumerate(
            (w + whole[0], w - whole[0], w + whole[1], w - whole[1], w + whole[2], w - whole[2])
        ):
            length = np.linalg.norm(plane[:3])
            if length > 1e-12:
                out[4 * k : 4 * k + 4] = plane / length
            else:
                out[4 * k + 3] = np.inf  # a plane that is nowhere keeps nobody out
        gain = float(np.linalg.norm(whole[1, :3]))
        out[24:28], out[28], out[29], out[33] = w, np.linalg.norm(w[:3]), gain / 2, gain * self.height / 2
        out[30:33] = self.eye
        return out

    def __repr__(self) -> str:
        kind = "perspective" if self.projection[3, 3] == 0 else "orthographic"
        return f"Camera({kind}, at {self.eye.round(3).tolist()}, {self.height:g} pixels high)"


def _turns_back(matrix: Array) -> bool:
    """Whether a square matrix has an inverse, whatever the lengths of its rows."""
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return bool((lengths > 0).all() and np.linalg.matrix_rank(matrix / lengths) == len(matrix))


def _aspect(width: float, height: float) -> float:
    width = _validate.number("Camera", "width", width, low=0, above=True)
    return width / _validate.number("Camera", "height", height, low=0, above=True)


def _range(who: str, near: float, far: float, *, least: float) -> tuple[float, float]:
    near, far = _validate.number(who, "near", near), _validate.number(who, "far", far)
    if not (near > least and far > near):
        raise ValidationError(
            f"{who}: expected near below far{' and above 0' if least == 0 else ''}, got {near:g}, {far:g}"
        )
    return near, far


def _look_at(eye: ArrayLike, target: ArrayLike, up: ArrayLike) -> Array:
    e, t, u = (
        np.asarray(_validate.numbers(f"Camera: {n}", v), np.float64)
        for n, v in (("eye", eye), ("target", target), ("up", up))
    )
    if not (e.shape == t.shape == u.shape == (3,) and np.isfinite(np.concatenate([e, t, u])).all()):
        raise ValidationError("Camera: eye, target and up are three numbers each")
    back = e - t
    if np.linalg.norm(back) < 1e-12:
        raise ValidationError("Camera: eye and target are the same place: where should it look?")
    back /= np.linalg.norm(back)
    right = np.cross(u, back)
    if not np.linalg.norm(right) > 1e-9 * float(np.linalg.norm(u)):  # it looks along `up`: any side will do
        right = np.cross((0.0, 0.0, -1.0) if abs(back[2]) < 0.9 else (1.0, 0.0, 0.0), back)
    right /= np.linalg.norm(right)
    turn = np.stack([right, np.cross(back, right), back])
    return np.column_stack([turn, -turn @ e])
