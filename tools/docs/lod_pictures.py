"""Makes the pictures of levels of detail in docs/lod: each sample's levels side by side, smooth and with their triangles.

python tools/docs/lod_pictures.py
"""

from __future__ import annotations

import numpy as np
from PIL import ImageDraw

import marrow as mw
from pictures import DOCS, camera, render, sheet


def with_wires(level, pose, picture, *, yaw, pitch, center, height):
    """A picture with the edges of the triangles that face the viewer drawn over it."""
    surface = mw.skin(level, pose)
    triangles = np.concatenate([m.triangles + o for m, o in zip(level.meshes, level.vertex_offsets)])
    W, H = picture.size
    moved = (surface.positions - np.asarray(center)) @ camera(yaw, pitch).T
    screen = np.stack([W / 2 + moved[:, 0] * H / height, H / 2 - moved[:, 1] * H / height], axis=1)
    draw = ImageDraw.Draw(picture, "RGBA")
    a, b, c = (screen[triangles[:, k]] for k in range(3))
    facing = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0]) < 0
    for corners in screen[triangles[facing]]:
        draw.polygon([tuple(p) for p in corners], outline=(20, 30, 60, 120))
    return picture


def levels(character, clip, time, *, yaw, pitch=0.16, center, height, size):
    """Two rows of all levels in one moment of a clip."""
    smooth, wires = [], []
    view = {"yaw": yaw, "pitch": pitch, "center": center, "height": height}
    for level in character.levels:
        pose = level.clips[clip].sample(time)
        smooth.append(render(level, pose, size=size, **view))
        wires.append(with_wires(level, pose, render(level, pose, size=size, **view), **view))
        ImageDraw.Draw(smooth[-1]).text(
            (8, 6), f"{level.lod.triangles:,} triangles, {level.lod.joints} joints", (30, 30, 30)
        )
    return [smooth, wires]


def shrunk(character, clip, time, *, yaw, center, height, size):
    """The levels at the size on screen at which each is off by a pixel: whole, and next to the finest."""
    row = []
    for level in character.levels[1:]:
        pixels = max(24, min(size[1], round(height / level.lod.error)))
        for other in (character, level):
            pose = other.clips[clip].sample(time)
            small = render(
                other, pose, yaw=yaw, center=center, height=height, size=(pixels * size[0] // size[1], pixels)
            )
            row.append(small.resize(size))
    return [row]


def main():
    hero, lizard = mw.samples.mannequin(), mw.samples.lizard()
    at = hero.skeleton.to_model(hero.clips["run"].sample(0.27))[0, :, 3]
    body = {"yaw": -0.9, "center": (at[0], 0.92, at[2]), "height": 2.05}
    sheet(levels(hero, "run", 0.27, size=(250, 380), **body), DOCS / "lod" / "mannequin.png")
    at = lizard.skeleton.to_model(lizard.clips[0].sample(0.3))[0, :, 3]
    low = {
        "yaw": -0.8,
        "pitch": 0.45,
        "center": (at[0], 0.06, at[2] - 0.2),
        "height": 0.62,
        "size": (300, 190),
    }
    sheet(levels(lizard, 0, 0.3, **low), DOCS / "lod" / "lizard.png")
    sheet(shrunk(hero, "run", 0.27, size=(130, 190), **body), DOCS / "lod" / "one_pixel.png")


if __name__ == "__main__":
    main()
