"""The specification: every numeric operation once, readable, in NumPy, float64 in and float64 out.

The fast kernels are held to these functions by tests. They are also what to read to know what marrow computes.
Shapes use the letters of the design: F poses (the batch, flattened), J joints, P palette entries, V vertices,
K influences, M morphs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import affine, dual_quaternion, quaternion, transform

Array = NDArray[Any]

__all__ = [
    "blended_matrices",
    "common_scale",
    "dual_quaternion_matrices",
    "interpolate_track",
    "linear_matrices",
    "morph",
    "rigid_and_stretch",
    "sample_tracks",
    "skin",
    "skinning_matrices",
    "to_model",
    "transfer_motion",
]


# -- sampling -----------------------------------------------------------------------------------------------------


def interpolate_track(times: Array, values: Array, interpolation: int, rotation: bool, query: Array) -> Array:
    """Values `(Q, C)` of one track at `query (Q,)`, held at the first and last key outside.

    `interpolation` 0 step, 1 linear (slerp with sign flip for rotations), 2 cubic: glTF's Hermite spline over
    `values (T, 3, C)` (in-tangent, value, out-tangent), whose tangents are scaled by the length of the interval.
    """
    times = times.astype(np.float64)
    values = values.astype(np.float64)
    T = len(times)
    keys = values[:, 1] if interpolation == 2 else values
    at = np.clip(np.searchsorted(times, query, side="right") - 1, 0, T - 1)
    after = np.minimum(at + 1, T - 1)
    span = times[after] - times[at]
    inside = (query > times[0]) & (at < T - 1) & (span > 0)
    # NaN times say nothing about which key is meant: the answer is NaN.
    u = np.where(
        inside, (query - times[at]) / np.where(span > 0, span, 1), np.where(np.isnan(query), np.nan, 0.0)
    )
    if interpolation == 0:
        out = keys[at] + 0 * u[:, None]
    elif interpolation == 2:
        u1 = u[:, None]
        u2, u3 = u1 * u1, u1 * u1 * u1
        out = (
            (2 * u3 - 3 * u2 + 1) * keys[at]
            + (u3 - 2 * u2 + u1) * span[:, None] * values[at, 2]
            + (3 * u2 - 2 * u3) * keys[after]
            + (u3 - u2) * span[:, None] * values[after, 0]
        )
    elif rotation:
        out = quaternion.slerp(quaternion.normalize(keys[at]), quaternion.normalize(keys[after]), u)
    else:
        out = keys[at] + u[:, None] * (keys[after] - keys[at])
    return quaternion.normalize(out) if rotation else out


def sample_tracks(
    table: Array, times: Array, values: Array, rest: tuple[Array, Array, Array, Array], query: Array
) -> tuple[Array, Array, Array, Array]:
    """Poses `(Q, J, ...)` of all tracks of a clip at `query (Q,)`; what has no track stays at `rest`."""
    out = tuple(np.repeat(np.asarray(r, np.float64)[None], len(query), axis=0) for r in rest)
    for row in table:
        path, keys = int(row["path"]), int(row["keys"])
        width = (3, 4, 3, 1)[path]
        cubic = row["interpolation"] == 2
        t = times[row["time_start"] : row["time_start"] + keys]
        size = keys * width * (3 if cubic else 1)
        v = values[row["value_start"] : row["value_start"] + size].reshape(
            (keys, 3, width) if cubic else (keys, width)
        )
        sampled = interpolate_track(t, v, int(row["interpolation"]), path == 1, query)
        if path == 3:
            out[3][:, row["target"]] = sampled[:, 0]
        else:
            out[path][:, row["target"]] = sampled
    return out  # type: ignore[return-value]


# -- kinematics ---------------------------------------------------------------------------------------------------


def to_model(parents: Array, translation: Array, rotation: Array, scale: Array) -> Array:
    """Model-space matrices `(F, J, 3, 4)`: `world = parent @ local`, full affine products, so shear comes out exactly."""
    local = transform.compose(translation, rotation, scale)
    model = np.empty_like(local)
    for j, p in enumerate(parents.tolist()):
        model[:, j] = local[:, j] if p < 0 else affine.multiply(model[:, p], local[:, j])
    return model


def skinning_matrices(model: Array, joints: Array, inverse_bind: Array) -> Array:
    """The palette `(F, P, 3, 4)`: from the mesh at bind to where each joint carries it."""
    return affine.multiply(model[:, joints], inverse_bind)


# -- retargeting ---------------------------------------------------------------------------------------------------


def transfer_motion(slots: dict[int, Array], work: dict[str, Array], lift: float, tracks: int) -> list[Array]:
    """The tracks `(T, C)` that the steps and places of `work` (see `motion_transfer`) make of `slots`: values `(T, C)` by where
    their slot begins, read from a clip or resting. Places over the ground are higher by `lift`."""
    slots, constants, numbers = dict(slots), work["constants"].astype(np.float64), work["numbers"]
    out: list[Array] = [np.zeros(0)] * tracks
    for step, to, a, b, c in work["steps"].reshape(-1, 5).tolist():
        if step == 0:
            slots[to] = quaternion.multiply(slots[a], slots[b])
        elif step == 1:
            slots[to] = quaternion.multiply(quaternion.conjugate(slots[a]), slots[b])
        elif step == 2:
            slots[to] = quaternion.multiply(slots[a], constants[b : b + 4])
        elif step == 3:
            slots[to] = quaternion.slerp(slots[a], slots[b], np.full(len(slots[a]), constants[c]))
        elif step == 4:
            out[c] = slots[to] = slots[a] @ constants[b : b + 16].reshape(4, 4).T
        else:
            matrix = constants[b + 3 : b + 12].reshape(3, 3)
            out[c] = (slots[a] - constants[b : b + 3]) @ matrix.T + constants[b + 12 : b + 15]
    links, made = work["links"].reshape(-1, 4), list[Array]()
    for track, at, first, n, first_aside, n_aside, first_above, n_above, grounded in (
        work["places"].reshape(-1, 9).tolist()
    ):
        place = numbers[None, at : at + 3]
        for t, r, s, _ in links[first : first + n].tolist():  # the innermost joint first
            own = transform.compose(slots[t], slots[r], slots[s])
            place = affine.apply(own, place[:, None])[:, 0]
        place = affine.apply(numbers[at + 6 : at + 18].reshape(3, 4), place)
        place = place + np.array([0.0, lift * grounded, 0.0])
        aside = numbers[at + 3 : at + 6]
        for _, r, _, _ in links[first_aside : first_aside + n_aside].tolist():
            aside = quaternion.rotate(slots[r], aside)
        place = affine.apply(numbers[at + 18 : at + 30].reshape(3, 4), place - aside if n_aside else place)
        for t, r, s, known in links[first_above : first_above + n_above].tolist():  # the outermost first
            own = transform.compose(slots[t] if known < 0 else made[known], slots[r], slots[s])
            place = affine.apply(affine.invert(own), place[:, None])[:, 0]
        made.append(place)
        out[track] = place
    return out


# -- skinning -----------------------------------------------------------------------------------------------------


def morph(base: Array, deltas: Array, weights: Array) -> Array:
    """`base (V, 3)` plus `weights (F, M) @ deltas (M, V, 3)`, as `(F, V, 3)`."""
    return base + np.einsum("fm,mvc->fvc", weights, deltas)


def linear_matrices(matrices: Array, joints: Array, weights: Array) -> Array:
    """The blended matrix of every vertex, `(F, V, 3, 4)`: `sum_k w_k M_k`. A weight of zero is no influence at all,
    whatever its joint's matrix holds."""
    out = np.zeros((len(matrices), len(joints), 3, 4))
    for k in range(joints.shape[1]):
        w = weights[None, :, k, None, None]
        out += np.where(w == 0, 0.0, w * matrices[:, joints[:, k]])
    return out


def common_scale(linear: Array) -> Array:
    """The uniform scale `(F,)` that all linear maps `(F, P, 3, 3)` of a pose share, as where a mesh is in other units than its
    joints or the whole character is scaled; 1 where they share none."""
    if not linear.shape[1]:
        return np.ones(len(linear))
    with np.errstate(invalid="ignore"):
        size = np.cbrt(np.abs(np.linalg.det(linear[:, 0])))
        squared = (size * size)[:, None, None, None]
        off = np.abs(np.swapaxes(linear, -1, -2) @ linear - squared * np.eye(3)).max(axis=(1, 2, 3))
        shared = (off <= 1e-4 * size * size) & (size > 0) & (np.abs(size - 1) > 1e-5)
        shared &= (np.linalg.det(linear) > 0).all(axis=1)
    return np.where(shared, size, 1.0)


def rigid_and_stretch(matrices: Array, pivots: Array, used: Array | None = None) -> tuple[Array, Array]:
    """Splits palette matrices `(F, P, 3, 4)` into a rigid motion and what it cannot express.

    `M p = rigid(stretch p)` with `rigid` a unit dual quaternion `(F, P, 8)` and `stretch (F, P, 3, 4)` the symmetric
    scale and shear about the joint's own bind position `pivots (P, 3)`, so that the rigid part is the motion of the
    joint itself wherever the origin lies. A scale that the `used` entries share comes first: that of a mesh in other units is
    no stretch of any joint.
    """
    linear = matrices[..., :3]
    sigma = common_scale(linear if used is None else linear[:, used])[:, None, None]
    rotation, stretch = transform.polar(linear / sigma[..., None])
    centers = sigma * pivots
    offset = centers - np.einsum("fpij,fpj->fpi", stretch, centers)
    translation = matrices[..., 3] - np.einsum("fpij,fpj->fpi", rotation, offset)
    dq = dual_quaternion.from_rigid(quaternion.from_matrix(rotation), translation)
    return dq, np.concatenate([sigma[..., None] * stretch, offset[..., None]], axis=-1)


def leading_joint(joints: Array, weights: Array) -> Array:
    """The joint `(V,)` with the largest weight; one that is listed twice counts with both."""
    same = joints[:, :, None] == joints[:, None, :]
    total = np.where(same, weights.astype(np.float32)[:, None, :], 0).sum(-1, dtype=np.float32)
    heaviest = total == total.max(axis=1, keepdims=True)
    return np.where(heaviest, joints, np.iinfo(joints.dtype).max).min(axis=1)


def dual_quaternion_matrices(matrices: Array, pivots: Array, joints: Array, weights: Array) -> Array:
    """The matrix of every vertex, `(F, V, 3, 4)`, under dual-quaternion blending.

    Scale and shear are blended linearly and applied first; the rigid parts are blended as dual quaternions, each with
    the sign that lies on the side of the joint with the largest weight (of equals, the lowest joint).
    """
    dq, stretch = rigid_and_stretch(matrices, pivots, np.unique(joints[weights > 0]))
    pivot = dq[:, leading_joint(joints, weights), :4]
    total = np.zeros((len(matrices), len(joints), 8))
    for k in range(joints.shape[1]):
        part = dq[:, joints[:, k]]
        w = weights[None, :, k, None]
        sign = np.where((part[..., :4] * pivot).sum(-1, keepdims=True) < 0, -1.0, 1.0)
        total += np.where(w == 0, 0.0, w * sign * part)
    rotation, translation = dual_quaternion.to_rigid(dual_quaternion.normalize(total))
    rigid = np.concatenate([quaternion.to_matrix(rotation), translation[..., None]], axis=-1)
    return affine.multiply(rigid, linear_matrices(stretch, joints, weights))


def blended_matrices(matrices: Array, pivots: Array, joints: Array, weights: Array, share: Array) -> Array:
    """The matrix of every vertex, `(F, V, 3, 4)`, where linear and dual-quaternion skinning are mixed by `share (V,)` (1 is
    all dual quaternion): positions are mixed, so matrices are, and normals go through the cofactor of the mixture."""
    s = share[:, None, None]
    rigid = dual_quaternion_matrices(matrices, pivots, joints, weights)
    return (1 - s) * linear_matrices(matrices, joints, weights) + s * rigid


def skin(
    blended: Array, positions: Array, normals: Array | None, tangents: Array | None
) -> tuple[Array, Array | None, Array | None]:
    """Carries vertices by their matrices `blended (F, V, 3, 4)`.

    Normals go through the cofactor of the matrix, turned round where it mirrors, so they stay perpendicular to the surface
    and outside what they were outside of, as glTF has it; the winding of triangles turns there. Tangents follow the surface,
    made perpendicular to the normal; where it is mirrored their handedness turns, so that `w cross(n, t)` follows it too.
    What has no direction (a zero normal) stays zero.
    """
    out_p = _carried(blended[..., :3], positions) + blended[..., 3]
    if normals is None:
        return out_p, None, None
    out_n = _unit(_carried(affine.normal_matrix(blended), normals))
    if tangents is None:
        return out_p, out_n, None
    t = _carried(blended[..., :3], tangents[..., :3])
    t = _unit(t - out_n * (out_n * t).sum(-1, keepdims=True))
    side = np.where(affine.mirrors(blended), -1.0, 1.0)[..., None]
    w = np.broadcast_to(side * tangents[..., 3:], (*t.shape[:-1], 1))
    return out_p, out_n, np.concatenate([t, w], axis=-1)


def _carried(linear: Array, vectors: Array) -> Array:
    return (linear @ vectors[..., None])[..., 0]


def _unit(v: Array) -> Array:
    length = np.linalg.norm(v, axis=-1, keepdims=True)
    return v / np.where(length == 0, 1, length)
