"""Learns skinning weights from posed meshes: where the skin was in some poses says how much each joint moves it.

python examples/torch_learn_weights.py
"""

from __future__ import annotations

import marrow as mw
import marrow.torch as mt
import torch


def main(steps: int = 120, picture: str = "") -> tuple[float, float]:
    """Returns the error before and after, in metres, on poses that were not shown."""
    hero = mt.CharacterModule(mw.samples.lizard())
    clips = range(len(hero.clips))
    shown = [hero.matrices(hero.sample(k, torch.linspace(0, 0.9, 6) * hero.clips[k].duration)) for k in clips]
    kept = [hero.matrices(hero.sample(k, torch.tensor([0.43]) * hero.clips[k].duration)) for k in clips]
    joints, weights = hero.vertex_joints, hero.vertex_weights

    def skin(w: torch.Tensor, m: torch.Tensor) -> torch.Tensor:
        out = mt.skin(hero.points, joints, w, m)
        assert isinstance(out, torch.Tensor)
        return out

    def error(w: torch.Tensor) -> float:
        with torch.no_grad():
            return float(torch.cat([skin(w, m) - skin(weights, m) for m in kept]).norm(dim=-1).mean())

    # The joints are known, the weights are not: all alike at first, and never negative.
    guess = torch.where(weights > 0, 0.0, -20.0).requires_grad_()
    before = error(torch.softmax(guess, 1))
    descent = torch.optim.Adam([guess], lr=0.1)
    for step in range(steps):
        descent.zero_grad()
        learned = torch.softmax(guess, 1)
        m = shown[step % len(shown)]
        loss = (skin(learned, m) - skin(weights, m)).square().sum(-1).mean()
        loss.backward()
        descent.step()
    after = error(torch.softmax(guess, 1).detach())
    print(f"poses that were not shown: {before * 1000:.3f} mm before, {after * 1000:.3f} mm after")
    if picture:
        with torch.no_grad():
            even = torch.softmax(torch.where(weights > 0, 0.0, -20.0), 1)
            drawn([skin(w, kept[0][0]) for w in (even, torch.softmax(guess, 1), weights)], picture)
    return before, after


def drawn(skins: list[torch.Tensor], picture: str) -> None:
    """A picture of skins side by side."""
    lizard = mw.samples.lizard()
    shapes = []
    for points in skins:
        parts, at = [], 0
        for mesh in lizard.meshes:
            posed = points[at : at + mesh.vertex_count].numpy()
            parts.append(mw.Mesh.rigid(mesh.name, posed, mesh.triangles, 0, sections=mesh.sections))
            at += mesh.vertex_count
        bones = mw.Skeleton(("root",), [-1])
        shapes.append(mw.Character(bones, parts, materials=lizard.materials, images=lizard.images))
    mw.render(shapes, camera="50,25", size=(1200, 400)).save(picture)
    print(f"{picture}: with even weights, with those it learned, with those of the model")


if __name__ == "__main__":
    main(picture="learn_weights.png")
