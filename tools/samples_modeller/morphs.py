"""The mannequin's morph targets: breathe, fist_l, fist_r, smile and blink."""

from __future__ import annotations

import numpy as np

from marrow.math import affine, quaternion, transform
from marrow.model import Mesh, MorphTarget
from samples_modeller import rig
from samples_modeller.grid import on_grid
from samples_modeller.puppet import FINGER_CURL, THUMB_CURL
from samples_modeller.sdf import Array
from samples_modeller.weights import step

__all__ = ["morph_targets"]

SMALLEST = 2e-5  # metres; what moves less is left out


def morph_targets(mesh: Mesh) -> tuple[MorphTarget, ...]:
    """The targets of the body, each with only the vertices it moves."""
    positions, normals = mesh.positions.astype(float), np.asarray(mesh.normals, float)
    joints, weights = mesh.joints, mesh.weights
    moved = {
        "breathe": _breathe(positions, normals),
        "fist_l": _fist("l", positions, normals, joints, weights),
        "fist_r": _fist("r", positions, normals, joints, weights),
        "smile": (_smile(positions), None),
        "blink": (_blink(positions), None),
    }
    out = []
    for channel, name in enumerate(rig.MORPHS):
        target, turned = moved[name]
        delta = on_grid(target - positions)
        rows = np.flatnonzero(np.abs(delta).max(1) > SMALLEST)
        normal_delta = np.zeros_like(delta) if turned is None else on_grid(turned - normals)
        out.append(
            MorphTarget(
                name,
                channel,
                delta[rows].astype(np.float32),
                normals=normal_delta[rows].astype(np.float32),
                vertices=rows.astype(np.uint32),
            )
        )
    return tuple(out)


def _breathe(p: Array, n: Array) -> tuple[Array, Array]:
    """A full breath: the chest widens and lifts, the belly follows a little."""
    folded = np.abs(p[:, 0])
    trunk = 1 - step(0.12, 0.19, folded)
    chest = np.exp(-(((p[:, 1] - 1.33) / 0.10) ** 2)) * trunk
    belly = np.exp(-(((p[:, 1] - 1.15) / 0.07) ** 2)) * trunk * step(-0.02, 0.05, p[:, 2])
    front = step(-0.08, 0.06, p[:, 2])
    delta = n * (chest * (0.006 + 0.012 * front) + 0.007 * belly)[:, None]
    delta[:, 1] += 0.006 * chest
    tilt = n.copy()
    tilt[:, 1] += chest * front * (p[:, 1] - 1.33) * 1.2
    return p + delta, tilt / np.linalg.norm(tilt, axis=1, keepdims=True)


def _fist(side: str, p: Array, n: Array, joints: Array, weights: Array) -> tuple[Array, Array]:
    """A closed hand: what the finger joints do to the skin, frozen into a shape."""
    names, parents, bind = rig.bind_frames()
    model = bind.copy()
    for j, name in enumerate(names):
        finger = name.split("_")[0]
        if finger in rig.FINGERS and name.endswith(side):
            curl = (THUMB_CURL if finger == "thumb" else FINGER_CURL)[int(name.split("_")[1]) - 1]
            bend = transform.compose(
                np.zeros(3), quaternion.from_axis_angle(np.eye(3)[0], np.radians(curl)), np.ones(3)
            )
            local = affine.multiply(affine.invert(bind[parents[j]]), bind[j])
            model[j] = affine.multiply(affine.multiply(model[parents[j]], local), bend)
    matrices = affine.multiply(model, affine.invert(bind))
    blended = np.einsum("vk,vkij->vij", weights.astype(float), matrices[joints])
    turned = np.einsum("vij,vj->vi", affine.normal_matrix(blended), n)
    position = np.einsum("vij,vj->vi", blended[..., :3], p) + blended[..., 3]
    return position, turned / np.linalg.norm(turned, axis=1, keepdims=True)


def _visor_height(p: Array) -> tuple[Array, Array]:
    """Height above the visor's middle, and how much a vertex belongs to the front of the face."""
    face = step(0.015, 0.05, p[:, 2]) * step(1.55, 1.60, p[:, 1])
    return p[:, 1] - 1.691, face


def _smile(p: Array) -> Array:
    """The visor narrows into an arch, as eyes do in a smile, and the cheeks lift."""
    out = p.copy()
    height, face = _visor_height(p)
    across = np.abs(p[:, 0])
    lower = np.exp(-(((height + 0.024) / 0.022) ** 2)) * face
    out[:, 1] += 0.026 * lower * np.exp(-((across / 0.045) ** 2))
    out[:, 1] -= 0.006 * face * np.exp(-((height / 0.03) ** 2) - ((across - 0.062) / 0.018) ** 2)
    cheek = np.exp(-(((height + 0.048) / 0.022) ** 2) - ((across - 0.040) / 0.022) ** 2) * face
    out[:, 1] += 0.008 * cheek
    out[:, 2] += 0.006 * cheek
    return out


def _blink(p: Array) -> Array:
    """The visor closes to a slit."""
    out = p.copy()
    height, face = _visor_height(p)
    near = np.exp(-((np.abs(height) / 0.034) ** 4)) * face
    out[:, 1] -= 0.82 * height * near
    return out
