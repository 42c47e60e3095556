"""Makes the pictures of lights and materials in docs/rendering.md.

python tools/docs/render_light.py

The half that three.js has drawn is tests/rendering/golden/three_studio.png (tests/rendering/three_pictures.py draws
it anew).
"""

from __future__ import annotations

import colorsys
import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

import marrow as mw

DOCS = Path(__file__).resolve().parents[2] / "docs"
FOLDER = DOCS / "rendering"
TESTS = DOCS.parent / "tests" / "rendering"


def lamps() -> Image.Image:
    """Thirty mannequins at night under two hundred lamps, by the deferred path."""
    rng = np.random.default_rng(2)
    lights: list[mw.scene.PointLight | mw.scene.SpotLight | mw.scene.DirectionalLight] = [
        mw.DirectionalLight(color=(0.7, 0.8, 1.0), intensity=0.5)
    ]
    for k in range(200):
        place = rng.uniform([-6, 0.15, -6], [6, 0.7, 6])
        color = colorsys.hsv_to_rgb(rng.random(), 0.7, 1.0)
        if k % 5:
            lights.append(mw.PointLight(tuple(place), color, 0.6, 1.5))
        else:
            way = (0.3 * rng.normal(), -1.0, 0.3 * rng.normal())
            lights.append(
                mw.SpotLight(tuple(place + np.array([0, 2.2, 0])), way, color, 25.0, 5.0, 0.15, 0.4)
            )
    places = np.tile(np.eye(3, 4), (30, 1, 1))
    places[:, 0, 3] = 1.7 * (np.arange(30) % 6 - 2.5)
    places[:, 2, 3] = 1.7 * (np.arange(30) // 6 - 2.0)
    walkers = mw.Actor(mw.samples.mannequin(), clip="walk", time=rng.random(30), transforms=places)
    scene = mw.Scene(walkers, lights=lights, environment=mw.Environment("dark", ambient=0.25), grid=False)
    size = (1200, 560)
    camera = mw.Camera.perspective((3.6, 3.0, 9.4), (0.4, 0.35, 0.4), fov=0.58, width=size[0], height=size[1])
    return mw.Renderer(size, render_path="deferred").render(scene, camera).image.convert("RGB")


def materials() -> Image.Image:
    """The swatches that the tests compare: ours on the left, three.js on the right."""
    sys.path.insert(0, str(TESTS))
    import swatches

    renderer = mw.Renderer(swatches.SIZE, contact=False)
    ours = renderer.render(swatches.scene(swatches.swatches(), ambient=1.0), swatches.camera())
    theirs = Image.open(TESTS / "golden" / "three_studio.png").convert("RGB")
    width, height = swatches.SIZE
    out = Image.new("RGB", (2 * width, height + 18))
    out.paste(ours.image.convert("RGB"), (0, 18))
    out.paste(theirs, (width, 18))
    pen = ImageDraw.Draw(out)
    for x, words in ((0, "marrow"), (width, "three.js")):
        pen.text((x + 8, 4), words, fill=(200, 200, 200))
    return out


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for make in (lamps, materials):
        made = make()
        # A photograph of night needs no more than this.
        path = FOLDER / f"{make.__name__}.{'jpg' if make is lamps else 'png'}"
        made.save(path, **({"quality": 88} if make is lamps else {"optimize": True}))
        print(path)
