"""What surfaces of each roughness see of an environment: lobes of light, filtered once.

`sphere_harmonics` tells what a matt surface gathers; `filtered_layers` what is seen in mirrors of growing roughness, as
squares that an octahedron unfolds to.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.scene.environment_maps import EnvironmentMap, directions

__all__ = ["LAYERS", "SIDE", "filtered_layers", "sphere_harmonics"]

Array = NDArray[Any]
LAYERS, SIDE = 8, 256
"""Roughnesses, from 0 to 1 in even steps; pixels on a side of each, of which the outermost repeat what lies beyond."""
_MADE = (256, 96, 64, 48, 32, 24, 24, 24)
"""Pixels on a side that each is worked out at: what is rough is smooth."""
SAMPLES = 64


def sphere_harmonics(around: EnvironmentMap) -> Array:
    """Nine colours `(9, 3)`: the light a matt surface gathers (irradiance over pi) is their sum with the harmonics of its
    normal, in the order 1, y, z, x, xy, yz, 3z2-1, xz, x2-y2, factors of the harmonics included."""
    pixels = _halved(around.pixels, 64)
    d = directions(*pixels.shape[:2]).reshape(-1, 3)
    x, y, z = d.T
    share = np.repeat(np.sin((np.arange(pixels.shape[0]) + 0.5) / pixels.shape[0] * np.pi), pixels.shape[1])
    share *= 4 * np.pi / share.sum()
    basis = np.stack([np.ones_like(x), y, z, x, x * y, y * z, 3 * z * z - 1, x * z, x * x - y * y])
    factor = np.array([0.282095, *[0.488603] * 3, *[1.092548] * 2, 0.315392, 1.092548, 0.546274])
    band = np.array([1.0, *[2 / 3] * 3, *[0.25] * 5])  # of a cosine, over pi
    sums = (basis * share) @ pixels.reshape(-1, 3).astype(np.float64)
    return np.asarray(sums * (factor**2 * band)[:, None])


def _halved(pixels: Array, most: int) -> Array:
    """Pixels in boxes, no more than `most` rows."""
    while pixels.shape[0] > most and min(pixels.shape[:2]) >= 4:
        h, w = pixels.shape[0] // 2, pixels.shape[1] // 2
        pixels = pixels[: 2 * h, : 2 * w].reshape(h, 2, w, 2, 3).mean((1, 3))
    return pixels


def filtered_layers(around: EnvironmentMap) -> Array:
    """The layers `(LAYERS, SIDE, SIDE, 4)` float16."""
    levels = [around.pixels]
    while min(levels[-1].shape[:2]) >= 4:
        p = levels[-1]
        h, w = p.shape[0] // 2, p.shape[1] // 2
        levels.append(p[: 2 * h, : 2 * w].reshape(h, 2, w, 2, 3).mean((1, 3)))
    out = np.ones((LAYERS, SIDE, SIDE, 4), np.float16)
    for k, made in enumerate(_MADE):
        inner = _filtered(levels, k / (LAYERS - 1), made)
        out[k, ..., :3] = np.clip(_spread_out(inner), 0, 60000)
    return out


def _filtered(levels: list[Array], roughness: float, side: int) -> Array:
    """One layer `(side, side, 3)`: mirrors seen from straight above (split sums, Karis), by samples of GGX facets, each of
    which looks at a level as coarse as it stands for (Krivanek)."""
    at = (np.arange(side) + 0.5) / side * 2 - 1
    n = _unfolded(*np.meshgrid(at, at)).reshape(-1, 3)
    texel = 4 * np.pi / (levels[0].shape[0] * levels[0].shape[1])
    own = 4 * np.pi / side**2
    if roughness == 0:
        return _looked_up(levels, n, np.full(len(n), 0.5 * np.log2(max(own / texel, 1.0)))).reshape(
            side, side, 3
        )
    alpha = roughness**2
    k = np.arange(SAMPLES)
    u, phi = (k + 0.5) / SAMPLES, k * 2.399963229728653
    cos2 = (1 - u) / (1 + (alpha * alpha - 1) * u)
    cos, sin = np.sqrt(cos2), np.sqrt(1 - cos2)
    density = alpha**2 / (np.pi * (cos2 * (alpha**2 - 1) + 1) ** 2)
    coarse = 0.5 * np.log2(np.maximum(4.0 / (SAMPLES * density) / texel, max(own / texel, 1.0)))
    # Light directions around +Z: the view mirrored at each facet.
    lz = 2 * cos2 - 1
    lx, ly = 2 * cos * sin * np.cos(phi), 2 * cos * sin * np.sin(phi)
    side_axis = np.where(np.abs(n[:, 1:2]) < 0.9, [[0.0, 1.0, 0.0]], [[1.0, 0.0, 0.0]])
    t = np.cross(side_axis, n)
    t /= np.linalg.norm(t, axis=1, keepdims=True)
    b = np.cross(n, t)
    total, weight = np.zeros((len(n), 3)), 0.0
    for i in np.flatnonzero(lz > 0):
        way = lx[i] * t + ly[i] * b + lz[i] * n
        total += lz[i] * _looked_up(levels, way, np.full(len(n), coarse[i]))
        weight += lz[i]
    return (total / weight).reshape(side, side, 3)


def _looked_up(levels: list[Array], d: Array, level: Array) -> Array:
    """Light from directions `(N, 3)`, each between two levels that are looked up smoothly."""
    level = np.clip(level, 0, len(levels) - 1)
    low = int(level[0])  # all of one call are alike
    share = float(level[0]) - low
    found = _bilinear(levels[low], d)
    if share > 0:
        found = (1 - share) * found + share * _bilinear(levels[min(low + 1, len(levels) - 1)], d)
    return found


def _bilinear(pixels: Array, d: Array) -> Array:
    h, w = pixels.shape[:2]
    u = (np.arctan2(d[:, 2], d[:, 0]) / (2 * np.pi) + 0.5) * w - 0.5
    v = np.clip((0.5 - np.arcsin(np.clip(d[:, 1], -1, 1)) / np.pi) * h - 0.5, 0, h - 1)
    x, y = np.floor(u).astype(np.int64), np.minimum(np.floor(v).astype(np.int64), max(h - 2, 0))
    fx, fy = (u - x)[:, None], (v - y)[:, None]
    flat, x0, x1, y1 = pixels.reshape(-1, 3), x % w, (x + 1) % w, np.minimum(y + 1, h - 1)
    top = flat.take(y * w + x0, 0) * (1 - fx) + flat.take(y * w + x1, 0) * fx
    low = flat.take(y1 * w + x0, 0) * (1 - fx) + flat.take(y1 * w + x1, 0) * fx
    return np.asarray(top * (1 - fy) + low * fy)


def _unfolded(x: Array, y: Array) -> Array:
    """Directions of places in the square of an unfolded octahedron, -1 to 1; +Y is in its middle. Places beyond its edge
    fold back in, as they do on the octahedron."""
    over_x, over_y = np.abs(x) > 1, np.abs(y) > 1
    fx = np.where(over_x, np.sign(x) * 2 - x, x)
    fy = np.where(over_y, np.sign(y) * 2 - y, y)
    x, y = np.where(over_y, -fx, fx), np.where(over_x, -fy, fy)
    z = 1 - np.abs(x) - np.abs(y)
    fold = np.maximum(-z, 0)
    px, py = x - np.sign(x) * fold, y - np.sign(y) * fold
    d = np.stack([px, z, py], -1)
    return np.asarray(d / np.linalg.norm(d, axis=-1, keepdims=True))


def _spread_out(inner: Array) -> Array:
    """A layer at its full size, with what lies beyond its edge in the outermost pixels."""
    side = inner.shape[0]
    at = ((np.arange(SIDE) - 0.5) / (SIDE - 2)) * 2 - 1  # the outermost half a pixel beyond the edge
    x, y = np.meshgrid(at, at)
    d = _unfolded(x, y)
    size = np.abs(d).sum(-1)
    px, py = d[..., 0] / size, d[..., 2] / size
    below = d[..., 1] < 0
    qx = np.where(below, (1 - np.abs(py)) * np.where(px >= 0, 1, -1), px)
    qy = np.where(below, (1 - np.abs(px)) * np.where(py >= 0, 1, -1), py)
    # Bilinear among the pixels that were worked out, which know their neighbours beyond the edge too.
    ring = ((np.arange(-1, side + 1) + 0.5) / side) * 2 - 1
    rx, ry = np.meshgrid(ring, ring)
    e = _unfolded(rx, ry)
    es = np.abs(e).sum(-1)
    ex, ey = e[..., 0] / es, e[..., 2] / es
    eb = e[..., 1] < 0
    ix = np.where(eb, (1 - np.abs(ey)) * np.where(ex >= 0, 1, -1), ex)
    iy = np.where(eb, (1 - np.abs(ex)) * np.where(ey >= 0, 1, -1), ey)

    def cell(v: Array) -> Array:
        return np.clip(np.floor((v * 0.5 + 0.5) * side), 0, side - 1).astype(np.int64)

    padded = inner[cell(iy), cell(ix)]
    u, v = (qx * 0.5 + 0.5) * side + 0.5, (qy * 0.5 + 0.5) * side + 0.5
    x0, y0 = np.clip(np.floor(u).astype(int), 0, side), np.clip(np.floor(v).astype(int), 0, side)
    fx, fy = (u - x0)[..., None], (v - y0)[..., None]
    top = padded[y0, x0] * (1 - fx) + padded[y0, x0 + 1] * fx
    low = padded[y0 + 1, x0] * (1 - fx) + padded[y0 + 1, x0 + 1] * fx
    return np.asarray(top * (1 - fy) + low * fy)
