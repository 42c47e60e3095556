"""A small game: catch the lizards before they are gone.

    python examples/small_game.py [HERO.glb]
    python examples/small_game.py --headless 240      # no screen: it plays by itself

W A S D or the left stick walk where the camera looks, Shift or the right trigger run, Space or A jump. Any rigged file will
do as the hero: `mw.Controller` finds its clips, makes a graph of them and goes where it is told.
"""

import argparse

import numpy as np

import marrow as mw
from marrow.graph import ClipNode, Graph, RootMotion

UP = np.array([0.0, 1.0, 0.0])
PICTURE = 50
"""The frame that is drawn to a file, where nobody looks on."""

arguments = argparse.ArgumentParser(description="Catch the lizards.")
arguments.add_argument("hero", nargs="?", default="mannequin", help="a rigged file, or a sample")
arguments.add_argument(
    "--headless", type=int, metavar="FRAMES", help="no window: so many frames, played by itself"
)
wanted = arguments.parse_args()

# The one who plays, and those who run away: one animator for all of them.
hero = mw.samples.load(wanted.hero) if wanted.hero in mw.samples.NAMES else mw.load(wanted.hero)
player = mw.Controller(hero)
print(player.report)
herd = mw.Animator(mw.samples.lizard(), Graph(RootMotion(ClipNode("walk", speed=2.0))), count=6)
around = np.linspace(-1.2, 1.2, herd.count)
herd.root.set(np.stack([4 * np.sin(around), 0 * around, 4 * np.cos(around)], axis=1))


def keys(frame):
    """Where the player wants to go in the world, whether running, whether jumping."""
    pad = frame.gamepad
    right = frame.axis("a", "d") + pad.left[0]
    ahead = frame.axis("s", "w") + pad.left[1]
    run = frame.down("shift") or pad.right_trigger > 0.3
    return right * frame.camera.right + ahead * frame.camera.heading, run, frame.pressed("space")


def by_itself(frame):
    """The same, for those who have no hands: after the nearest lizard."""
    away = herd.root.translation - player.place if herd.count else np.zeros((1, 3))
    return away[np.argmin(np.linalg.norm(away, axis=1))], True, frame.index == 100


camera = mw.windows.CameraControls((0, 1, 0), 5.0, yaw=np.pi, pitch=0.3)
options = (
    {"offscreen": True, "frames": wanted.headless, "size": (480, 270)}
    if wanted.headless
    else {"capture": True}
)
total, seconds = herd.count, 0.0
for frame in mw.window(
    player.animator, herd, camera=camera, controls="orbit", title="Catch the lizards", **options
):
    wish, run, jump = (by_itself if wanted.headless else keys)(frame)
    if jump:
        player.jump()
    player.move(wish / max(np.linalg.norm(wish), 1.0), frame.dt, run=run)
    if herd.count:
        seconds = frame.time
        herd.update(frame.dt)
        away = (herd.root.translation - player.place) * [1, 0, 1]
        home = -herd.root.translation
        strayed = np.linalg.norm(home, axis=1, keepdims=True) > 6
        herd.root.set(facing=np.where(strayed, home, away))  # they see you coming
        caught = np.linalg.norm(away, axis=1) < 0.6
        herd.instances.remove(np.flatnonzero(caught))
    camera.target = player.place + UP
    frame.print(f"{total - herd.count} of {total} in {seconds:.1f} s   W A S D, Shift, Space")
    if frame.index == PICTURE and wanted.headless:
        frame.picture().save("small_game.png")
        print("small_game.png: the hunt has begun")
    if frame.pressed("escape"):
        break
print(f"{total - herd.count} of {total} lizards caught in {seconds:.1f} s")
