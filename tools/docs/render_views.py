"""Makes the pictures of views and outputs in docs/rendering.md.

python tools/docs/render_views.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

import marrow as mw
from marrow.scene.colors import color_map

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "rendering"
CELL = (440, 440)


def save(name, tiles, columns=3):
    """Writes pictures side by side."""
    rows = [np.concatenate(tiles[i : i + columns], axis=1) for i in range(0, len(tiles), columns)]
    Image.fromarray(np.concatenate(rows)).save(FOLDER / f"{name}.webp", quality=90, method=6)


def seen(**options):
    options = {"clip": "walk", "time": 0.3, "size": CELL, **options}
    return np.asarray(mw.render(mw.samples.mannequin(), **options))[..., :3]


def views_surface() -> None:
    """Skeleton, weights, normals, tangents, wireframe, texture coordinates."""
    views = ("skeleton", "weights:spine_02", "normals", "tangents", "wireframe", "uv")
    save("views_surface", [seen(view=view) for view in views])


def crowd():
    hero, count = mw.samples.mannequin(), 60
    places = np.tile(np.eye(3, 4), (count, 1, 1))
    rows, columns = np.divmod(np.arange(count), 6)
    places[:, 0, 3], places[:, 2, 3] = 1.3 * (columns - 2.5), -2.2 * rows
    times = np.random.default_rng(1).random(count) * hero.clips["walk"].duration
    scene = mw.Scene(mw.Actor(hero, clip="walk", time=times, transforms=places))
    camera = mw.Camera.perspective((3.0, 2.6, 6.5), (0, 0.5, -4.5), width=CELL[0], height=CELL[1])
    return np.asarray(mw.Renderer(CELL).render(scene, camera, view="levels"))[..., :3]


def views_motion() -> None:
    """Ghosts, trails, contacts, bounds, levels of a crowd, the difference of two skinnings."""
    wide = {"camera": "side", "time": 0.4}
    save(
        "views_motion",
        [
            seen(view="ghosts:4", **wide),
            seen(view="trails", **wide),
            seen(view="contacts", camera="60,20", time=0.2),
            seen(view="bounds"),
            crowd(),
            seen(view="difference", clip="run", time=0.15),
        ],
    )


def outputs() -> None:
    """Colour, depth, normals, instances, parts, joints, and joints in pixels."""
    hero = mw.samples.mannequin()
    places = np.tile(np.eye(3, 4), (2, 1, 1))
    places[1, :, 3] = 0.55, 0, -0.5
    scene = mw.Scene(mw.Actor(hero, clip="walk", time=np.array([0.3, 0.6]), transforms=places))
    size = (300, 380)
    camera = mw.Camera.perspective((1.4, 1.3, 2.7), (0.25, 0.9, 0), width=size[0], height=size[1])
    names = ("color", "depth", "normals", "ids", "parts", "joint_ids", "joints")
    f = mw.Renderer(size).render(scene, camera, outputs=names)
    there, chance = f.ids >= 0, np.random.default_rng(4)
    near, far = f.depth[there].min(), f.depth[there].max()
    depth = np.where(there[..., None], color_map(1 - np.where(there, f.depth - near, 0) / (far - near)), 0)
    colors = 0.25 + 0.75 * chance.random((256, 3))
    named = [np.where((f[n] >= 0)[..., None], colors[f[n]], 0) for n in ("ids", "parts", "joint_ids")]
    dots = Image.fromarray(f.pixels[..., :3])
    pen = ImageDraw.Draw(dots)
    for n in range(2):
        for (x, y), v in zip(f.joints[0].pixels[n], f.joints[0].visibility[n]):
            pen.ellipse([x - 3, y - 3, x + 3, y + 3], fill=("#888888", "#d55e00", "#00c07a")[v])
    tiles = [f.pixels[..., :3] / 255, depth, 0.5 + 0.5 * f.normals, *named, np.asarray(dots) / 255]
    save("outputs", [(255 * t).astype(np.uint8) for t in tiles], columns=7)
