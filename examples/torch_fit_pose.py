"""Finds the pose of a character from where its skin is, by gradient descent.

python examples/torch_fit_pose.py
"""

from __future__ import annotations

import marrow as mw
import marrow.torch as mt
import torch


def main(steps: int = 120) -> float:
    """Returns the error that remains, in metres."""
    hero = mt.CharacterModule(mw.samples.mannequin(4), clips=["run"])
    with torch.no_grad():
        target = hero.skin(hero.sample("run", 0.25))
    rest = hero.rest()
    # Six numbers a joint: no jumps, no unit length to keep.
    turns = mt.matrix_to_rotation_6d(mt.quaternion_to_matrix(rest.rotation)).clone().requires_grad_()
    place = rest.translation[0].clone().requires_grad_()
    descent = torch.optim.Adam([turns, place], lr=0.05)
    for step in range(steps):
        descent.zero_grad()
        rotation = mt.matrix_to_quaternion(mt.rotation_6d_to_matrix(turns))
        translation = torch.cat([place[None], rest.translation[1:]])
        skin = hero.skin(rest._replace(rotation=rotation, translation=translation))
        loss = (skin - target).square().sum(-1).mean()
        loss.backward()
        descent.step()
        if step % 50 == 0 or step == steps - 1:
            print(f"step {step:3d}: {loss.detach().sqrt() * 1000:.2f} mm")
    return float(loss.detach().sqrt())


if __name__ == "__main__":
    main()
