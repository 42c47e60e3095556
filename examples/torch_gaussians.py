"""Carries 200,000 Gaussian splats with a character: their centres and how they turn.

python examples/torch_gaussians.py
"""

from __future__ import annotations

import time

from PIL import Image

import marrow as mw
import marrow.torch as mt
import torch


def main(count: int = 200_000, picture: str = "") -> tuple[torch.Tensor, torch.Tensor]:
    """Returns centres `(count, 3)` and rotations `(count, 4)` of the splats in a pose."""
    hero = mt.CharacterModule(mw.samples.mannequin(4), clips=["run"])
    # Splats lie on the skin: each takes the joints and weights of the vertex it is next to.
    near = torch.randint(0, len(hero.points), (count,))
    centres = hero.points[near] + 0.004 * torch.randn(count, 3)
    own = torch.nn.functional.normalize(torch.randn(count, 4), dim=-1)
    joints, weights = hero.vertex_joints[near], hero.vertex_weights[near]

    matrices = hero.matrices(hero.sample("run", 0.3))
    for _ in range(2):  # the first call looks at which splats share joints
        start = time.perf_counter()
        moved = mt.skin(centres, joints, weights, matrices)
        turned = mt.rotations.multiply(mt.point_rotations(joints, weights, matrices), own)
        seconds = time.perf_counter() - start
    assert isinstance(moved, torch.Tensor)
    print(f"{count:,} splats in {seconds * 1000:.1f} ms")
    if picture:
        drawn(moved, picture)
    return moved, turned


def drawn(centres: torch.Tensor, picture: str) -> None:
    """The splats as dots, seen from the front: near ones over far ones, and warmer."""
    x, y, z = (centres - centres.mean(0)).T
    order = z.argsort()
    across, down = ((420 + 380 * side).long().clamp(0, 839) for side in (x, -y))
    near = ((z - z.min()) / (z.max() - z.min()))[:, None]
    shade = near * torch.tensor([250.0, 140, 40]) + (1 - near) * torch.tensor([30.0, 60, 120])
    pixels = torch.full((840, 840, 3), 250.0)
    pixels[down[order], across[order]] = shade[order]
    Image.fromarray(pixels.byte().numpy()).save(picture)
    print(f"{picture}: every splat a dot, the nearer the warmer")


if __name__ == "__main__":
    main(picture="gaussians.png")
