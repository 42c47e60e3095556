"""Finds how fast somebody walks: the parameter of a blend space, fitted to the poses it gave.

python examples/torch_fit_blend.py
"""

from __future__ import annotations

import marrow as mw
import marrow.torch as mt
import torch
from marrow.graph import BlendSpace1D, ClipNode, Graph, Parameter


def main(speed: float = 2.2, steps: int = 120, picture: str = "") -> float:
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
    if picture:
        drawn([0.0, 1.25, float(guess.detach()), 3.6], picture)
    return float(guess.detach())


def drawn(speeds: list[float], picture: str) -> None:
    """A picture of somebody at several speeds, from left to right."""
    graph = Graph(
        BlendSpace1D.of("speed", {0.0: ClipNode("idle"), 1.25: "walk", 3.6: "run"}), {"speed": Parameter()}
    )
    walkers = mw.Animator(mw.samples.mannequin(), graph, count=len(speeds))
    walkers["speed"] = speeds
    walkers.update(0.45)
    walkers.root.set([[1.3 * k, 0.0, 0.0] for k in range(len(speeds))])
    mw.render(walkers, camera="30,8", size=(960, 420)).save(picture)
    print(f"{picture}: {', '.join(f'{speed:.2f}' for speed in speeds)} m/s")


if __name__ == "__main__":
    main(picture="fit_blend.png")
