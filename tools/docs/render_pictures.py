"""Makes the pictures that the renderer draws for the README and docs/rendering.md.

python tools/docs/render_pictures.py [NAME ...]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from render_views import outputs, views_motion, views_surface

import marrow as mw
from marrow.windows.open_window import open_window

DOCS = Path(__file__).resolve().parents[2] / "docs"
PICTURES = DOCS / "rendering"


def at(x: float, z: float = 0.0, turn: float = 0.0) -> np.ndarray:
    """A place on the ground `(3, 4)`, turned by radians."""
    c, s = np.cos(turn), np.sin(turn)
    return np.array([[c, 0, s, x], [0, 1, 0, 0], [-s, 0, c, z]])


def standing(character: mw.Character, clip: str, time: float, place: np.ndarray) -> mw.Actor:
    """An actor at a moment of a clip, brought back to where the clip began."""
    way = character.skeleton.to_model(character.clips[clip].sample(time))[0, :, 3] * [1, 0, 1]
    back = place.copy()
    back[:, 3] -= place[:, :3] @ way
    return mw.Actor(character, clip=clip, time=time, transforms=back)


def mannequin() -> None:
    """The built-in mannequin: idle, walking, running, striking, waving."""
    hero = mw.samples.mannequin()
    moments = [("idle", 0.4), ("walk", 0.52), ("run", 0.64), ("attack", 0.42), ("wave", 0.9)]
    actors = [
        standing(hero, clip, time, at(1.2 * (k - 2), -0.2 * abs(k - 2), 0.75 - 0.13 * k))
        for k, (clip, time) in enumerate(moments)
    ]
    mw.render(mw.Scene(actors), size=(1400, 560), camera="6,7,1.04").save(DOCS / "mannequin.png")


def crowd() -> None:
    """Five hundred, each in another moment and at the level of detail that its size asks for."""
    hero = mw.samples.mannequin()
    mw.render(hero, clip="walk", crowd=500, size=(1400, 560), camera="-28,14,2.1").save(
        PICTURES / "crowd.webp"
    )


def window() -> None:
    """What `marrow view --window` shows: the character, its clip, and the bar to scrub it."""
    made, viewer = open_window(
        "mannequin", clip="run", view="skeleton:plain", offscreen=True, size=(960, 540)
    )
    for frame in made:
        viewer.step(frame)
        if frame.index == 12:
            made.draw()
            Image.fromarray(made.display.pixels()).convert("RGB").save(PICTURES / "window.png")  # type: ignore[attr-defined]
            break


def third_person() -> None:
    """Moments of the third-person example."""
    example = DOCS.parent / "examples" / "third_person_game.py"
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(example), "--headless", "331", "--pictures", folder]
        subprocess.run(command, check=True)
        shots = [Image.open(Path(folder) / f"{i:05d}.png").convert("RGB") for i in (120, 150, 300)]
    whole = Image.new("RGB", (sum(s.width for s in shots), shots[0].height))
    for i, shot in enumerate(shots):
        whole.paste(shot, (i * shot.width, 0))
    whole.save(PICTURES / "third_person.png")


def lamps() -> None:
    """Two hundred lamps in the dark, each on its own."""
    hero, rng = mw.samples.mannequin(), np.random.default_rng(7)
    colors = np.array([[1, 0.35, 0.15], [0.2, 0.5, 1], [1, 0.8, 0.4], [0.5, 1, 0.7]])
    lights = [
        mw.PointLight(tuple(rng.uniform((-6, 0.15, -7), (6, 2.2, 3))), tuple(colors[k % 4]), 0.5, 2.5)
        for k in range(200)
    ]
    actors = [
        standing(hero, clip, time, at(x, z, turn))
        for (clip, time), x, z, turn in zip(
            [
                ("walk", 0.52),
                ("run", 0.2),
                ("idle", 0.3),
                ("attack", 0.42),
                ("walk", 0.07),
                ("wave", 0.9),
                ("run", 0.6),
            ],
            (-3.0, -1.7, -0.4, 0.9, 2.2, 3.4, -2.3),
            (0.0, -1.5, 0.3, -0.8, 0.2, -2.0, -3.5),
            (0.6, 0.4, 0.0, -0.3, -0.5, -0.7, 0.5),
        )
    ]
    moon = mw.DirectionalLight(color=(0.5, 0.6, 1.0), intensity=0.15)
    scene = mw.Scene(
        actors, lights=[moon, *lights], grid=False, environment=mw.Environment("dark", ambient=0.12)
    )
    camera = mw.Camera.perspective((0.6, 1.5, 7.5), (0.0, 0.75, 0), fov=0.4, width=1400, height=560)
    mw.render(scene, size=(1400, 560), camera=camera, render_path="deferred").save(PICTURES / "lamps.webp")


def sheet() -> None:
    """A contact sheet."""
    hero = mw.samples.mannequin()
    made = mw.contact_sheet(
        hero, clips=["walk", "run", "jump", "attack"], times=7, size=(150, 180), camera="side"
    )
    made.save(PICTURES / "sheet.png")


def run() -> None:
    """A video for a page."""
    mw.render_video(
        "mannequin", PICTURES / "run.webp", clip="run", rate=25, size=(320, 320), camera="-60,8", follow=True
    )


ALL = {
    f.__name__: f
    for f in (mannequin, crowd, lamps, sheet, run, window, third_person, views_surface, views_motion, outputs)
}


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    for name in sys.argv[1:] or ALL:
        ALL[name]()
        print(name)


if __name__ == "__main__":
    main()
