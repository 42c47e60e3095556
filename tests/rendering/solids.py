"""Small bodies to draw: boxes, balls and plates of one joint."""

from __future__ import annotations

import numpy as np

import marrow as mw


def body(name, positions, triangles, normals=None, material=None, **mesh):
    """A character of one rigid mesh with one material."""
    material = material or mw.Material("paint", base_color=(0.6, 0.6, 0.6, 1.0), metallic=0.0, roughness=1.0)
    triangles = np.asarray(triangles, np.uint32).reshape(-1, 3)
    made = mw.Mesh.rigid(
        name,
        np.asarray(positions, np.float32),
        triangles,
        0,
        normals=None if normals is None else np.asarray(normals, np.float32),
        sections=(mw.Section(0, len(triangles), 0),),
        **mesh,
    )
    return mw.Character(mw.Skeleton(("root",), [-1]), [made], materials=[material], name=name)


def ball(radius=1.0, material=None, rings=24):
    """A ball around the origin with smooth normals."""
    u, v = np.meshgrid(
        np.linspace(0, np.pi, rings + 1), np.linspace(0, 2 * np.pi, 2 * rings + 1), indexing="ij"
    )
    points = np.stack([np.sin(u) * np.sin(v), np.cos(u), np.sin(u) * np.cos(v)], -1).reshape(-1, 3)
    row = 2 * rings + 1
    a = (np.arange(rings)[:, None] * row + np.arange(2 * rings)).reshape(-1)
    triangles = np.concatenate([np.stack([a, a + row, a + 1], 1), np.stack([a + 1, a + row, a + row + 1], 1)])
    return body("ball", radius * points, triangles, points, material)


def box(size=(1.0, 1.0, 1.0), material=None, **mesh):
    """A box that stands on the ground, without normals."""
    x, y, z = np.array(size) / 2
    points = [(sx * x, y + sy * y, sz * z) for sx in (-1, 1) for sy in (-1, 1) for sz in (-1, 1)]
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    return body("box", points, triangles, None, material, **mesh)


def plate(width, height, material=None, z=0.0, **mesh):
    """An upright rectangle that faces +Z, its middle at the origin."""
    x, y = width / 2, height / 2
    points = [(-x, -y, z), (x, -y, z), (x, y, z), (-x, y, z)]
    return body("plate", points, [(0, 1, 2), (0, 2, 3)], [(0, 0, 1)] * 4, material, **mesh)


def flat(color, alpha=1.0, **options):
    """A material that is not lit."""
    return mw.Material("flat", base_color=(*color, alpha), unlit=True, **options)


def at(*places, scale=1.0):
    """Transforms `(N, 3, 4)` that move to places."""
    out = np.tile(np.eye(3, 4), (len(places), 1, 1))
    out[:, :, :3] *= scale
    out[:, :, 3] = places
    return out


def front(width=4.0, distance=10.0, size=(128, 128), **options):
    """A camera that looks along -Z and sees so many metres, without perspective."""
    return mw.Camera.orthographic(
        (0, 0, distance), (0, 0, 0), size=width, width=size[0], height=size[1], **options
    )


def difference(a, b):
    """How far apart two pictures are, as the mean over all pixels of 0 to 255."""
    return float(np.abs(np.asarray(a).astype(float) - np.asarray(b).astype(float)).mean())
