"""Cameras as numbers: where points of the world are in a picture, and the matrices that others use for that."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError
from marrow.model import _validate
from marrow.scene.camera import Camera

__all__ = ["CameraMatrices", "camera_matrices", "project", "view_depth"]

Array = NDArray[Any]


class CameraMatrices(NamedTuple):
    """A camera in two conventions. `view (3, 4)` and `projection (4, 4)` are marrow's and OpenGL's: it looks along -Z, Y is
    up. `K (3, 3)` and `extrinsics (3, 4)` are OpenCV's: Z is the depth and Y goes down; `K @ (extrinsics @ point)`, divided
    by its last number, is the place in pixels (`orthographic`: with that number set to one first instead)."""

    K: Array
    extrinsics: Array
    view: Array
    projection: Array
    size: tuple[int, int]
    orthographic: bool


def camera_matrices(camera: Camera, size: tuple[int, int]) -> CameraMatrices:
    """The matrices of a camera for a picture of `size` (width, height)."""
    W, H = _checked(camera, size)
    P = camera.projection
    orthographic = not abs(P[3, 2]) > 0
    flip = np.diag([1.0, -1.0, -1.0])
    if not orthographic and not np.allclose(P[3], [0, 0, -1, 0]):
        raise ValidationError("camera: only plain perspective and orthographic projections have intrinsics K")
    column = P[:, 3] if orthographic else -P[:, 2]
    K = np.array(
        [
            [P[0, 0] * W / 2, -P[0, 1] * W / 2, (1 + column[0]) * W / 2],
            [-P[1, 0] * H / 2, P[1, 1] * H / 2, (1 - column[1]) * H / 2],
            [0.0, 0.0, 1.0],
        ]
    )
    return CameraMatrices(K, flip @ camera.view, camera.view.copy(), P.copy(), (W, H), orthographic)


def view_depth(camera: Camera, points: ArrayLike) -> Array:
    """How far points `(..., 3)` are in front of the camera, along the way it looks, in metres."""
    _validate.instance("view_depth", "camera", camera, Camera)
    p = _points("view_depth", points)
    return -(p @ camera.view[2, :3] + camera.view[2, 3])


def project(camera: Camera, size: tuple[int, int], points: ArrayLike) -> tuple[Array, Array]:
    """Where points `(..., 3)` of the world are in the picture, `(..., 2)` in pixels from its upper left corner (the middle
    of the first pixel is 0.5, 0.5), and whether they are in front of the camera `(...)`; NaN where they are not."""
    size = _checked(camera, size)
    p = _points("project", points)
    seen = p @ camera.view[:, :3].T + camera.view[:, 3]
    clip = seen @ camera.projection[:, :3].T + camera.projection[:, 3]
    w = clip[..., 3]
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        front = (w > 0) & np.isfinite(clip).all(axis=-1)
        ndc = clip[..., :2] / np.where(front, w, np.nan)[..., None]
    out = (ndc * [0.5, -0.5] + 0.5) * np.array(size, np.float64)
    return out, front


def _checked(camera: Any, size: Any) -> tuple[int, int]:
    """The width and height of a picture."""
    _validate.instance("project", "camera", camera, Camera)
    if not isinstance(size, (tuple, list)) or len(size) != 2:
        raise ValidationError(f"project: size: expected (width, height), got {_validate.shown(size)}")
    width, height = (_validate.integer("project", "size", side, low=1) for side in size)
    return width, height


def _points(who: str, points: Any) -> Array:
    p = np.asarray(_validate.numbers(f"{who}: points", points), np.float64)
    if p.shape[-1:] != (3,):
        raise ValidationError(f"{who}: points: expected (..., 3), got shape {p.shape}")
    return p
