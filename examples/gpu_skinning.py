"""A crowd skinned on the GPU: vertex buffers for whoever draws, boxes to cull with, and the same figures as the CPU's."""

import numpy as np

import marrow as mw
from marrow import gpu

device = gpu.Device.best()
print(device.adapter)  # "in software" where there is no GPU: slow, but right

hero = mw.samples.mannequin()
crowd = mw.Animator(hero, mw.samples.mannequin_graph(), count=20)
crowd["speed"] = np.linspace(0, 3.6, 20)

skinner = gpu.Skinner(hero, device, weights=8, vectors="octahedral")  # packed: 20 bytes a vertex written
for _ in range(3):
    crowd.update(1 / 60)
    skinner.update(crowd)  # only those whose pose changed are skinned again
    boxes = skinner.bounds().later(32 * skinner.count)  # on its way; read when it is needed
print(skinner, skinner.positions)

low, high = boxes.numpy(np.float32, (skinner.count, 2, 4))[..., :3].transpose(1, 0, 2)
print(f"they are up to {(high - low)[:, 1].max():.2f} m high")

surface = skinner.surface()  # back on the CPU, for once
exact = mw.skin(hero, crowd.matrices)
print(f"packing moved vertices by up to {1e3 * np.abs(surface.positions - exact.positions).max():.2f} mm")

row = np.tile(np.eye(3, 4), (20, 1, 1))
row[:, 0, 3] = 0.8 * (np.arange(20) - 9.5)
mw.render(mw.Scene(mw.Actor(crowd, transforms=row)), camera="30,12", size=(1200, 320)).save(
    "gpu_skinning.png"
)
print("gpu_skinning.png: from standing to running")
