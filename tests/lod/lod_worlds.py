"""A small character with all that a reduction may spoil, and distances measured another way than marrow does."""

from __future__ import annotations

from collections import Counter

import numpy as np

import marrow as mw
from marrow.math import affine

JOINTS = ("root", "shoulder", "elbow", "twist", "wrist", "finger")


def arm(rings: int = 32, sides: int = 16, *, influences: int = 3) -> mw.Character:
    """A closed arm of 1 m along x: a texture seam along it, two materials, colours, morphs (dense and sparse), sockets, and
    clips that bend it. Its last rings follow a finger, and a joint in the middle twists a little."""
    x = np.linspace(0, 1, rings)
    angle = np.linspace(0, 2 * np.pi, sides + 1)
    radius = 0.06 + 0.02 * np.sin(9 * x) * (1 - x)
    ring = np.stack([np.zeros_like(angle), np.cos(angle), np.sin(angle)], axis=1)
    ring[-1] = ring[0]
    side = (x[:, None, None] * [1, 0, 0] + radius[:, None, None] * ring).reshape(-1, 3)
    ends = np.array([[0, 0, 0], [1, 0, 0]], float)
    positions = np.concatenate([side, ends])
    uv = np.stack(np.meshgrid(x, angle / (2 * np.pi), indexing="ij"), axis=-1).reshape(-1, 2)
    uv = np.concatenate([uv, [[0, 0.5], [1, 0.5]]])
    normals = np.concatenate([np.tile(ring, (rings, 1)), [[-1, 0, 0], [1, 0, 0]]])
    i, j = (g.ravel() for g in np.meshgrid(np.arange(rings - 1), np.arange(sides), indexing="ij"))
    a, w = i * (sides + 1) + j, sides + 1
    triangles = np.concatenate([np.stack([a, a + 1, a + w], 1), np.stack([a + 1, a + w + 1, a + w], 1)])
    k, last = np.arange(sides), (rings - 1) * w
    start = np.stack([np.full(sides, len(side)), k + 1, k], 1)
    end = np.stack([np.full(sides, len(side) + 1), last + k, last + k + 1], 1)
    triangles = np.concatenate([triangles, start, end])
    far = positions[triangles].mean(axis=1)[:, 0] > 0.7
    triangles = triangles[np.argsort(far, kind="stable")]
    skeleton = mw.Skeleton(
        JOINTS,
        [-1, 0, 1, 2, 2, 4],
        mw.Pose(
            [[0, 0, 0], [0, 0, 0], [0.45, 0, 0], [0.2, 0, 0], [0.4, 0, 0], [0.1, 0, 0]],
            [[0, 0, 0, 1]] * 6,
            [[1, 1, 1]] * 6,
        ),
        morph_names=("flex", "dent"),
        sockets=(mw.Socket("tip", 5, [0.05, 0.01, 0]), mw.Socket("hold", 2)),
    )
    at = skeleton.rest_model[:, 0, 3]
    reach = np.array([0.2, 0.25, 0.12, 0.1, 0.08, 0.05])
    pull = np.exp(-(((positions[:, :1] - at - [0, 0.2, 0.2, 0, 0.05, 0.03]) / reach) ** 2))
    order = np.argsort(-pull, axis=1)[:, :influences]
    weights = mw.normalize_weights(np.take_along_axis(pull, order, 1))[0]
    rng = np.random.default_rng(1)
    dense = np.where(normals[:, :1] < 2, normals, 0) * 0.02 * np.sin(7 * positions[:, :1])
    some = np.sort(rng.choice(len(positions), len(positions) // 5, replace=False))
    mesh = mw.Mesh(
        "arm", positions, triangles, order, weights, np.arange(6), affine.invert(skeleton.rest_model),
        normals=normals, tangents=np.tile([1, 0, 0, 1], (len(positions), 1)), uvs=(uv,),
        colors=np.concatenate([positions.clip(0, 1), np.ones((len(positions), 1))], axis=1),
        sections=(mw.Section(0, int((~far).sum()), 0, "skin"), mw.Section(int((~far).sum()), int(far.sum()), 1, "hand")),
        morph_targets=(
            mw.MorphTarget("flex", 0, dense, dense),
            mw.MorphTarget("dent", 1, -0.01 * normals[some], vertices=some),
        ),
        node=0,
    )  # fmt: skip
    turn = [mw.Track(2, "rotation", [0, 0.5, 1], [_z(0), _z(1.9), _z(0)]),
            mw.Track(4, "rotation", [0, 0.6, 1], [_z(0), _z(-1.0), _z(0.3)]),
            mw.Track(3, "rotation", [0, 0.5, 1], [[0, 0, 0, 1], [0.15, 0, 0, 0.99], [0, 0, 0, 1]]),
            mw.Track(5, "rotation", [0, 1], [_z(0), _z(0.8)])]  # fmt: skip
    wave = [mw.Track(1, "rotation", [0, 1], [_z(-0.5), _z(0.5)]), mw.Track(0, "morph", [0, 1], [0.0, 1.0])]
    clips = [
        mw.Clip("bend", skeleton, turn, events=(mw.Event(0.5, "bent"),)),
        mw.Clip("wave", skeleton, wave),
    ]
    return mw.Character(skeleton, (mesh,), clips, (mw.Material("skin"), mw.Material("glove")), name="arm")  # type: ignore[arg-type]


def _z(angle: float) -> list[float]:
    return [0.0, 0.0, float(np.sin(angle / 2)), float(np.cos(angle / 2))]


def surface_points(positions: np.ndarray, triangles: np.ndarray, count: int, seed: int = 0) -> np.ndarray:
    """Points at random on a surface, even by area."""
    rng = np.random.default_rng(seed)
    a, b, c = (positions[triangles[:, k]].astype(np.float64) for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    which = rng.choice(len(triangles), count, p=area / area.sum())
    u, v = np.sqrt(rng.random(count)), rng.random(count)
    share = np.stack([1 - u, u * (1 - v), u * v], axis=1)
    return np.einsum("nk,nkc->nc", share, positions[triangles[which]])


def distances(points: np.ndarray, positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """How far points are from a surface, by trying every triangle: its plane where a point is above it, or its edges."""
    corners = positions[triangles].astype(np.float64)
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    n = np.cross(b - a, c - a)
    with np.errstate(invalid="ignore", divide="ignore"):
        n /= np.linalg.norm(n, axis=1, keepdims=True)
    out = []
    for p in np.array_split(points.astype(np.float64)[:, None], max(1, len(points) * len(a) // 100_000)):
        height = ((p - a) * n).sum(-1)
        foot = p - height[..., None] * n
        inside = np.ones(height.shape, bool)
        best = np.full(height.shape, np.inf)
        for u, v in ((a, b), (b, c), (c, a)):
            edge = v - u
            inside &= (np.cross(edge, foot - u) * n).sum(-1) >= 0
            t = np.clip(((p - u) * edge).sum(-1) / np.maximum((edge * edge).sum(-1), 1e-30), 0, 1)
            best = np.minimum(best, np.linalg.norm(p - u - t[..., None] * edge, axis=-1))
        out.append(np.where(inside, np.abs(height), best).min(axis=1))
    return np.concatenate(out)


def boundary_edges(character: mw.Character) -> int:
    """Edges that are run along more often one way than the other, vertices at one place taken as one: 0 where closed."""
    places, triangles = [], []
    for mesh in character.meshes:
        triangles.append(mesh.triangles.astype(np.int64) + sum(len(p) for p in places))
        places.append(mesh.positions)
    _, one = np.unique(np.concatenate(places), axis=0, return_inverse=True)
    t = one.ravel()[np.concatenate(triangles)]
    t = t[(t[:, 0] != t[:, 1]) & (t[:, 1] != t[:, 2]) & (t[:, 2] != t[:, 0])]
    edges = np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]])
    run = Counter(map(tuple, edges.tolist()))
    return sum(n != run[b, a] for (a, b), n in list(run.items()))
