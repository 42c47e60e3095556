"""Carries 200,000 Gaussian splats with a character: their centres and how they turn.

python examples/torch_gaussians.py
"""

from __future__ import annotations

import time

import marrow as mw
import marrow.torch as mt
import torch


def main(count: int = 200_000) -> tuple[torch.Tensor, torch.Tensor]:
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
    return moved, turned


if __name__ == "__main__":
    main()
