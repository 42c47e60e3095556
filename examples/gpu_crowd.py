"""A crowd posed on the GPU: the graph decides on the CPU, the GPU interprets the pose programs and writes the palettes.
What it looks like is drawn to gpu_crowd.png."""

import numpy as np

import marrow as mw
from marrow import gpu

hero = mw.samples.mannequin()
people = mw.Animator(hero, mw.samples.mannequin_graph(), count=24)
people["speed"] = np.linspace(0, 3.6, 24)
rows = np.stack([np.arange(24) % 8 - 3.5, np.zeros(24), np.arange(24) // 8 - 1.0], axis=1)
people.root.set(1.3 * rows)  # eight in a row

crowd = gpu.Crowd(people)
print(crowd)
skinner = gpu.Skinner(hero, crowd.device)
for step in range(20):
    if step == 10:
        people.trigger("jump", instances=people["speed"] > 2)
    crowd.update(1 / 60)  # hands over programs: the GPU does the rest
    skinner.update(crowd)  # from palettes to vertices, all in GPU memory
program = people.evaluation.program
print(f"handed over: {16 * (program.start[-1] - program.start[0]) / crowd.count:.0f} bytes for each")
print(f"palettes: {crowd.palettes}")

crowd.release()  # on the CPU again, in the middle of the jump
before = skinner.surface().positions
after = people.skin().positions
print(f"the CPU has the vertices elsewhere by up to {1e3 * np.abs(before - after).max():.4f} mm")
mw.render(people, size=(960, 480)).save("gpu_crowd.png")
print("gpu_crowd.png: the slow ones behind, those who run and jump in front")
