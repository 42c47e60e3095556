"""Finds the pose of a character from where its skin is, by gradients, and draws what it began with, found and looked for.

python examples/torch_fit_pose.py
"""

from __future__ import annotations

import marrow as mw
import marrow.torch as mt
import torch


def main(steps: int = 300, picture: str = "") -> float:
    """Returns the error that remains, in metres."""
    hero = mt.CharacterModule(mw.samples.mannequin(4), clips=["run"])
    with torch.no_grad():
        target = hero.skin(hero.sample("run", 0.25))
        away = target.mean(0) - hero.points.mean(0)
    rest = hero.rest()
    # Six numbers a joint: no jumps, no unit length to keep.
    turns = mt.matrix_to_rotation_6d(mt.quaternion_to_matrix(rest.rotation)).clone().requires_grad_()
    place = (rest.translation[0] + away).requires_grad_()

    def posed() -> mt.PoseTensors:
        rotation = mt.matrix_to_quaternion(mt.rotation_6d_to_matrix(turns))
        return rest._replace(rotation=rotation, translation=torch.cat([place[None], rest.translation[1:]]))

    def error() -> torch.Tensor:
        descent.zero_grad()
        loss = (hero.skin(posed()) - target).square().sum(-1).mean()
        loss.backward()
        errors.append(float(loss.detach().sqrt()))
        return loss

    # Fingers move little skin and shoulders much: a method that learns how steep each direction is gets there.
    errors: list[float] = []
    descent = torch.optim.LBFGS(
        [turns, place], max_iter=steps, history_size=50, line_search_fn="strong_wolfe", tolerance_change=0.0
    )
    descent.step(error)
    for k in range(0, len(errors), 60):
        print(f"step {k:3d}: {errors[k] * 1000:.2f} mm")
    print(f"the end : {errors[-1] * 1000:.2f} mm")
    if picture:
        with torch.no_grad():
            found = posed()
        drawn(hero, [rest, found, hero.sample("run", 0.25)], picture)
    return errors[-1]


def drawn(hero: mt.CharacterModule, poses: list[mt.PoseTensors], picture: str) -> None:
    """A picture of poses, from left to right."""
    scene = mw.Scene()
    for k, pose in enumerate(poses):
        here = mw.Pose(pose.translation.numpy(), pose.rotation.numpy(), pose.scale.numpy())
        here.translation[0, [0, 2]] = 1.3 * (k - 1), 0.0
        scene.add(mw.Actor(mw.samples.mannequin(4), here))
    mw.render(scene, camera="front", size=(960, 480)).save(picture)
    print(f"{picture}: the pose it began with, the one it found, the one it looked for")


if __name__ == "__main__":
    main(picture="fit_pose.png")
