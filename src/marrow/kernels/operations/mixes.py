"""Mixes of two poses: `BLEND` over all joints, `LAYER` under a mask, `LAYER_CHANNELS` under a mask for each channel, and
`LAYER_MODEL`, whose rotations are mixed as they are in model space. Where a mask is zero the top keeps its bits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from marrow.kernels.language.hierarchy import parents_first
from marrow.kernels.language.lanes import block
from marrow.kernels.operations.adding import STRAIGHT
from marrow.kernels.operations.record import Array, Operation, ReferenceWorld, Rows, row_size
from marrow.kernels.operations.spatial import local_rotation, multiplied
from marrow.math import quaternion

__all__ = ["BLEND", "LAYER", "LAYER_CHANNELS", "LAYER_MODEL", "model_rotations", "nlerp"]


def mixed_rotation(e: Any, a: list[Any], b: list[Any], w: Any) -> list[Any]:
    """Unit quaternions mixed straight, the second on the side of the first; of any length."""
    wa, wb = (1.0 - w) * e.inverse_length(e.dot(a, a)), w * e.inverse_length(e.dot(b, b))
    wb = e.select(e.dot(a, b).compare("<", 0.0), -wb, wb)
    return [e.fma(wb, y, wa * x) for x, y in zip(a, b)]


def emit_mix(masked: bool, e: Any, i: Any, Jp: Any, stack: Any, top: Any, other: Any, w: Any, masks: Any, mask: Any) -> None:  # fmt: skip
    """16 joints of the two poses at `top` and `other`, mixed into `top`."""
    w = e.splat(w)
    if masked:
        w = w * e.load(masks, e.plus(mask, i))
    rest, idle = 1.0 - w, w.compare("==", 0.0)

    def at(base: Any, r: int) -> Any:
        return e.plus(base, e.row(i, r, Jp))

    def put(r: int, kept: Any, value: Any) -> None:
        e.store(stack, at(top, r), e.select(idle, kept, value) if masked else value)

    for r in STRAIGHT:
        a, b = e.load(stack, at(top, r)), e.load(stack, at(other, r))
        put(r, a, e.fma(w, b, rest * a))
    a = [e.load(stack, at(top, 3 + c)) for c in range(4)]
    b = [e.load(stack, at(other, 3 + c)) for c in range(4)]
    for c, value in enumerate(mixed_rotation(e, a, b, w)):
        put(3 + c, a[c], value)


def emit_channels(e: Any, i: Any, Jp: Any, stack: Any, top: Any, other: Any, w: Any, masks: Any, mask: Any, size: Any) -> None:  # fmt: skip
    """As `emit_mix`, with three masks `size` apart: translation, rotation, scale."""

    def at(base: Any, r: int) -> Any:
        return e.plus(base, e.row(i, r, Jp))

    def share(k: int) -> Any:
        return e.splat(w) * e.load(masks, e.row(e.plus(mask, i), k, size))

    for k, rows in ((0, (0, 1, 2)), (2, (7, 8, 9))):
        v = share(k)
        idle = v.compare("==", 0.0)
        for r in rows:
            a = e.load(stack, at(top, r))
            mixed = e.fma(v, e.load(stack, at(other, r)), (1.0 - v) * a)
            e.store(stack, at(top, r), e.select(idle, a, mixed))
    v = share(1)
    idle = v.compare("==", 0.0)
    a = [e.load(stack, at(top, 3 + c)) for c in range(4)]
    b = [e.load(stack, at(other, 3 + c)) for c in range(4)]
    for c, value in enumerate(mixed_rotation(e, a, b, v)):
        e.store(stack, at(top, 3 + c), e.select(idle, a[c], value))


def emit_mix_morphs(
    masked: bool, e: Any, m: Any, stack: Any, top: Any, other: Any, w: Any, masks: Any, mask: Any
) -> None:
    """16 morph weights."""
    w, at = e.splat(w), e.plus(top, m)
    if masked:
        w = w * e.load(masks, e.plus(mask, m))
    a = e.load(stack, at)
    value = e.fma(w, e.load(stack, e.plus(other, m)), (1.0 - w) * a)
    e.store(stack, at, e.select(w.compare("==", 0.0), a, value) if masked else value)


mix, mix_masked = block(emit_mix, False), block(emit_mix, True)
mix_morphs, mix_morphs_masked = block(emit_mix_morphs, False), block(emit_mix_morphs, True)
mix_channels = block(emit_channels)


def run_blend(work, n, top, argument, time, weight):
    other = top + row_size(work)
    mix.each(0, work.lanes, 16, work.Jp, work.stack, top, other, weight, work.masks, 0)
    mix_morphs.each(10 * work.Jp, row_size(work), 16, work.stack, top, other, weight, work.masks, 0)


def layer_morphs(work, top, other, mask, weight):
    at = 10 * work.Jp
    mix_morphs_masked.each(
        0, work.Mp, 16, work.stack, top + at, other + at, weight, work.masks, mask + work.Jp
    )


def run_layer(work, n, top, argument, time, weight):
    other, mask = top + row_size(work), argument * (work.Jp + work.Mp)
    mix_masked.each(0, work.lanes, 16, work.Jp, work.stack, top, other, weight, work.masks, mask)
    layer_morphs(work, top, other, mask, weight)


def run_layer_channels(work, n, top, argument, time, weight):
    other, size = top + row_size(work), work.Jp + work.Mp
    mix_channels.each(
        0, work.lanes, 16, work.Jp, work.stack, top, other, weight, work.masks, argument * size, size
    )
    layer_morphs(work, top, other, argument * size, weight)


def run_layer_model(work, n, top, argument, time, weight):
    """Joint after joint, parents first: how both face in model space, mixed there and brought back under the mixed parent.
    Scratch: 16 floats per joint (base, overlay and result in model space)."""
    rows, Jp, masks, scratch = work.stack, work.Jp, work.masks, work.model
    other, size = top + row_size(work), work.Jp + work.Mp
    mask = argument * size
    for j in parents_first(work.parents):
        p = work.parents[j]
        mine, theirs = local_rotation(rows, top, Jp, j), local_rotation(rows, other, Jp, j)
        base, over, out, parent = mine, theirs, mine, (0.0, 0.0, 0.0, 1.0)
        if p >= 0:
            s = 16 * p
            base = multiplied((scratch[s], scratch[s + 1], scratch[s + 2], scratch[s + 3]), mine)
            over = multiplied((scratch[s + 4], scratch[s + 5], scratch[s + 6], scratch[s + 7]), theirs)
            parent = (scratch[s + 8], scratch[s + 9], scratch[s + 10], scratch[s + 11])
            out = multiplied(parent, mine)
        k = weight * masks[mask + size + j]
        if k != 0.0:
            cosine = base[0] * over[0] + base[1] * over[1] + base[2] * over[2] + base[3] * over[3]
            side = k if cosine >= 0.0 else -k
            rest = 1.0 - k
            x, y = rest * base[0] + side * over[0], rest * base[1] + side * over[1]
            z, w = rest * base[2] + side * over[2], rest * base[3] + side * over[3]
            length = math.sqrt(x * x + y * y + z * z + w * w)
            if length > 0.0:
                out = (x / length, y / length, z / length, w / length)
            q = multiplied((-parent[0], -parent[1], -parent[2], parent[3]), out)
            rows[top + 3 * Jp + j], rows[top + 4 * Jp + j] = q[0], q[1]
            rows[top + 5 * Jp + j], rows[top + 6 * Jp + j] = q[2], q[3]
        s = 16 * j
        scratch[s], scratch[s + 1], scratch[s + 2], scratch[s + 3] = base
        scratch[s + 4], scratch[s + 5], scratch[s + 6], scratch[s + 7] = over
        scratch[s + 8], scratch[s + 9], scratch[s + 10], scratch[s + 11] = out
        mix_straight(rows, top + j, other + j, Jp, weight * masks[mask + j])
        mix_straight(rows, top + 7 * Jp + j, other + 7 * Jp + j, Jp, weight * masks[mask + 2 * size + j])
    layer_morphs(work, top, other, mask, weight)


def mix_straight(rows, at, other, Jp, k):
    """Three numbers, `Jp` apart, mixed by `k`."""
    if k != 0.0:
        for c in range(3):
            rows[at + c * Jp] = k * rows[other + c * Jp] + (1.0 - k) * rows[at + c * Jp]


# -- the specification --------------------------------------------------------------------------------------------


def nlerp(a: Array, b: Array, w: Array) -> Array:
    """Straight mix of unit quaternions on the same side, not made unit."""
    b = np.where((a * b).sum(-1, keepdims=True) < 0, -b, b)
    return a * (1 - w) + b * w


def model_rotations(parents: Array, local: Array) -> Array:
    out = local.copy()
    for j, p in enumerate(parents.tolist()):
        if p >= 0:
            out[j] = quaternion.multiply(out[p], local[j])
    return out


def mixed(top: Rows, other: Rows, w: Array, wm: Array, parents: Array | None = None) -> Rows:
    """Translation, rotation and scale by three masks; rotations as they are in model space where `parents` are given."""
    a, b = quaternion.normalize(top[1]), quaternion.normalize(other[1])
    if parents is None:
        rotation = nlerp(a, b, w[1])
    else:
        base, over = model_rotations(parents, a), model_rotations(parents, b)
        out, rotation = np.empty_like(a), a.copy()
        for j, p in enumerate(parents.tolist()):
            above = quaternion.identity(dtype=np.float64) if p < 0 else out[p]
            if w[1, j] == 0:
                out[j] = quaternion.multiply(above, a[j])
                continue
            out[j] = quaternion.normalize(nlerp(base[j], over[j], w[1, j]))
            rotation[j] = quaternion.multiply(quaternion.conjugate(above), out[j])
    return [
        top[0] + w[0] * (other[0] - top[0]),
        rotation,
        top[2] + w[2] * (other[2] - top[2]),
        top[3] + wm * (other[3] - top[3]),
    ]


def _layered(stack: list[Rows], rows: Array, weight: float, parents: Array | None = None) -> None:
    other = stack.pop()
    J = len(other[0])
    rows = np.asarray(rows, np.float64)
    stack[-1] = mixed(stack[-1], other, weight * rows[:, :J, None], weight * rows[0, J:], parents)


def reference_blend(
    stack: list[Rows], world: ReferenceWorld, argument: int, time: float, weight: float
) -> None:
    _layered(stack, np.ones((3, len(stack[-1][0]) + len(stack[-1][3]))), weight)


def reference_layer(
    stack: list[Rows], world: ReferenceWorld, argument: int, time: float, weight: float
) -> None:
    _layered(stack, np.repeat(world.masks[argument][None], 3, axis=0), weight)


def reference_layer_channels(
    stack: list[Rows], world: ReferenceWorld, argument: int, time: float, weight: float
) -> None:
    _layered(stack, world.masks[argument : argument + 3], weight)


def reference_layer_model(
    stack: list[Rows], world: ReferenceWorld, argument: int, time: float, weight: float
) -> None:
    _layered(stack, world.masks[argument : argument + 3], weight, world.parents)


BLEND = Operation(
    "BLEND", 2, "top = top and b mixed by `weight`", 2, 1, "none", "", "b's share", run_blend, reference_blend, (mix, mix_morphs)
)  # fmt: skip
LAYER = Operation(
    "LAYER", 3, "the same joint by joint, by `weight *` the mask; where that is zero the top keeps its bits", 2, 1, "mask", "",
    "b's share under the mask", run_layer, reference_layer, (mix_masked, mix_morphs_masked),
)  # fmt: skip
LAYER_CHANNELS = Operation(
    "LAYER_CHANNELS", 5, "as `LAYER`, with masks of their own for translation, rotation, scale", 2, 1, "channel masks", "",
    "b's share under the masks", run_layer_channels, reference_layer_channels, (mix_channels, mix_morphs_masked),
)  # fmt: skip
LAYER_MODEL = Operation(
    "LAYER_MODEL", 6, "the same, with rotations mixed as they are in model space", 2, 1, "channel masks", "",
    "b's share under the masks", run_layer_model, reference_layer_model, (mix_morphs_masked,),
)  # fmt: skip
