"""A tour of the engine: the built-in mannequin animated, skinned, multiplied and exported, with what it took."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

import marrow as mw


def timed(what, call, times=1):
    start = time.perf_counter()
    for _ in range(times):
        result = call()
    return result, (time.perf_counter() - start) / times


hero, seconds = timed("load", mw.samples.mannequin)
print(f"The mannequin: {hero}")
print(f"  ready in {seconds * 1e3:.0f} ms; clips: {', '.join(hero.clips)}\n")

solo = mw.Animator(hero)
solo.play("walk")
solo.update(0)
solo.skin()  # the first call compiles the kernels, or loads them from the cache

print("One character: two seconds of walk, cross-fading to run, 60 frames a second")
vertices = solo.skin()


def frame():
    solo.update(1 / 60)
    return solo.skin(out=vertices)


_, walking = timed("frames", frame, 60)
solo.cross_fade("run", 0.3)
surface, running = timed("frames", frame, 60)
print(
    f"  {(walking + running) / 2 * 1e6:.0f} us a frame for {len(surface.positions):,} vertices with normals and tangents"
)
print(
    f"  it now plays {solo.playback.clip!r} at {solo.playback.time:.2f} s "
    f"and stands {np.ptp(surface.positions[:, 1]):.2f} m tall\n"
)

crowd = mw.Animator(hero, count=1000)
crowd.play("walk", instances=np.arange(0, 1000, 2))
crowd.play("run", instances=np.arange(1, 1000, 2))
crowd.update(np.random.default_rng(0).uniform(0, 1, 1000))


def crowd_frame():
    crowd.update(1 / 60)
    return crowd.matrices


matrices, seconds = timed("crowd", crowd_frame, 30)
print("A thousand characters, each at its own moment")
print(
    f"  {seconds * 1e3:.2f} ms an update, {seconds * 1e3:.2f} us a character, skinning matrices {matrices.shape}\n"
)

target = Path(tempfile.gettempdir()) / "mannequin.glb"
mw.save(hero, target)
print(f"Saved with all its clips to {target}: any glTF viewer opens it.")

mw.render(hero, clip="run", crowd=60, size=(960, 480)).save("tour.png")
print("tour.png: sixty of them, each at its own moment of the run.")
