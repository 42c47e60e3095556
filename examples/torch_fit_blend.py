"""Finds how fast somebody walks: the parameter of a blend space, fitted to the poses it gave.

python examples/torch_fit_blend.py
"""

from __future__ import annotations

import marrow as mw
import marrow.torch as mt
import torch
from marrow.graph import BlendSpace1D, ClipNode


def main(speed: float = 2.2, steps: int = 120) -> float:
    """Returns the speed that was found."""
    hero = mt.CharacterModule(mw.samples.mannequin(), clips=["idle", "walk", "run"])
    space = mt.BlendSpace(BlendSpace1D.of("speed", {0.0: ClipNode("idle"), 1.25: "walk", 3.6: "run"}))
    phase = torch.linspace(0, 1, 12)
    motions = [hero.sample(k, phase * hero.clips[k].duration) for k in range(3)]

    def joints(at: torch.Tensor) -> torch.Tensor:
        w = space(at)
        rotation = torch.stack([w[k] * motions[k].rotation for k in range(3)]).sum(0)
        translation = torch.stack([w[k] * motions[k].translation for k in range(3)]).sum(0)
        return hero.joints(motions[0]._replace(rotation=rotation, translation=translation))

    target = joints(torch.tensor(speed)).detach()
    guess = torch.tensor(1.4, requires_grad=True)
    descent = torch.optim.Adam([guess], lr=0.05)
    for step in range(steps):
        descent.zero_grad()
        loss = (joints(guess) - target).square().sum(-1).mean()
        loss.backward()
        descent.step()
        if step % 40 == 0:
            print(
                f"step {step:3d}: speed {float(guess.detach()):.3f}, error {float(loss.detach()) ** 0.5 * 1000:.1f} mm"
            )
    print(f"found {float(guess.detach()):.3f}, was {speed}")
    return float(guess.detach())


if __name__ == "__main__":
    main()
