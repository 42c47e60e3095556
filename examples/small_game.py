"""A small game: catch the lizards before they are gone.

    python examples/small_game.py [HERO.glb]
    python examples/small_game.py --headless 240      # no screen: it plays by itself

W A S D or the left stick walk where the camera looks, Shift or the right trigger run, Space or A jump, Esc ends. Any rigged
file will do as the hero: `mw.Controller` finds its clips and makes a graph of them, the window steers it.
"""

import argparse

import numpy as np

import marrow as mw
from marrow.graph import ClipNode, Graph, RootMotion

PICTURE = 50
"""The frame that is drawn to a file, where nobody looks on."""

arguments = argparse.ArgumentParser(description="Catch the lizards.")
arguments.add_argument("hero", nargs="?", default="mannequin", help="a rigged file, or a sample")
arguments.add_argument(
    "--headless", type=int, metavar="FRAMES", help="no window: so many frames, played by itself"
)
wanted = arguments.parse_args()

# The one who plays, and those who run away: one animator for all of them.
player = mw.Controller(mw.load(wanted.hero))
print(player.report)
herd = mw.Animator(mw.samples.lizard(), Graph(RootMotion(ClipNode("walk", speed=2.0))), count=7)
around = np.linspace(-1.2, 1.2, herd.count)
herd.root.set(np.stack([4 * np.sin(around), 0 * around, 4 * np.cos(around)], axis=1))


def play(inputs, camera):
    """The keys of one who has no hands: after the nearest lizard."""
    away = herd.root.translation - player.place
    nearest = away[np.argmin(np.linalg.norm(away, axis=1))] if len(away) else np.zeros(3)
    across, ahead = nearest @ camera.right, nearest @ camera.heading
    held = {"w": ahead > 0.2, "s": ahead < -0.2, "d": across > 0.2, "a": across < -0.2, "shift": True}
    for key, down in held.items():
        inputs.key(key, down)


options = {"capture": True}
if wanted.headless:
    options = {"offscreen": True, "frames": wanted.headless, "size": (480, 270)}
window = mw.window(player, herd, title="Catch the lizards", **options)  # steers the player, and its camera
total, seconds = herd.count, 0.0
for frame in window:
    if wanted.headless:
        play(window.inputs, frame.camera)
    if herd.count:
        seconds = frame.time
        herd.update(frame.dt)
        away = (herd.root.translation - player.place) * [1, 0, 1]
        home = -herd.root.translation
        strayed = np.linalg.norm(home, axis=1, keepdims=True) > 6
        herd.root.set(facing=np.where(strayed, home, away))  # they see you coming
        herd.instances.remove(np.flatnonzero(np.linalg.norm(away, axis=1) < 0.6))
    frame.print(f"{total - herd.count} of {total} in {seconds:.1f} s   W A S D, Shift, Space")
    if wanted.headless and frame.index == PICTURE:
        frame.picture().save("small_game.png")
        print("small_game.png: the hunt has begun")
print(f"{total - herd.count} of {total} lizards caught in {seconds:.1f} s")
