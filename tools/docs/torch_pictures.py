"""Makes the pictures of docs/torch.md: what the four examples find.

OMP_NUM_THREADS=1 python tools/docs/torch_pictures.py
"""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw

import marrow as mw
import marrow.torch as mt
import torch
from marrow.graph import BlendSpace1D, ClipNode
from pictures import DOCS, camera, render, sheet


def labelled(picture, text):
    ImageDraw.Draw(picture).text((10, 8), text, fill=(30, 30, 30))
    return picture


def fitted_pose(steps=(0, 10, 30, 120)):
    """A pose found from the skin: after some steps, and what was to be found."""
    who = mw.samples.mannequin(4)
    hero = mt.CharacterModule(who, clips=["run"])
    with torch.no_grad():
        target = hero.skin(hero.sample("run", 0.25))
    rest = hero.rest()
    turns = mt.matrix_to_rotation_6d(mt.quaternion_to_matrix(rest.rotation)).clone().requires_grad_()
    place = rest.translation[0].clone().requires_grad_()
    descent, row = torch.optim.Adam([turns, place], lr=0.05), []

    def show(pose, text):
        shown = mw.Pose(*(part.detach().numpy() for part in pose))
        middle = mw.skin(who, shown).positions.mean(axis=0)
        center = (middle[0], 0.95, middle[2])
        row.append(labelled(render(who, shown, yaw=-0.8, center=center, height=2.2, size=(210, 300)), text))

    for step in range(max(steps) + 1):
        rotation = mt.matrix_to_quaternion(mt.rotation_6d_to_matrix(turns))
        pose = rest._replace(rotation=rotation, translation=torch.cat([place[None], rest.translation[1:]]))
        loss = (hero.skin(pose) - target).square().sum(-1).mean()
        if step in steps:
            show(pose, f"step {step}: {float(loss.detach()) ** 0.5 * 1000:.0f} mm")
        descent.zero_grad()
        loss.backward()
        descent.step()
    show(hero.sample("run", 0.25), "target")
    sheet([row], DOCS / "torch" / "fit_pose.png")


def learned_weights():
    """Error of the skin in a pose that was not shown, before and after: black is none, yellow 5 mm."""
    hero = mt.CharacterModule(mw.samples.lizard())
    shown = [
        hero.matrices(hero.sample(k, torch.linspace(0, 0.9, 6) * hero.clips[k].duration))
        for k in range(len(hero.clips))
    ]
    held_out = hero.matrices(hero.sample(0, 0.43 * hero.clips[0].duration))
    joints, weights = hero.vertex_joints, hero.vertex_weights
    guess = torch.where(weights > 0, 0.0, -20.0).requires_grad_()
    wanted = mt.skin(hero.points, joints, weights, held_out)

    def picture(text):
        with torch.no_grad():
            found = mt.skin(hero.points, joints, torch.softmax(guess, 1), held_out)
        error = ((found - wanted).norm(dim=-1) / 0.005).clamp(0, 1).numpy()
        color = np.stack([error, error * 0.8, 0.25 * (1 - error)], -1) ** 0.6
        return labelled(
            dots(found.numpy(), color, (420, 240), 0.75, (0.6, 0.5)),
            f"{text}, mean {float((found - wanted).norm(dim=-1).mean()) * 1000:.2f} mm",
        )

    row, descent = [picture("before")], torch.optim.Adam([guess], lr=0.1)
    for step in range(120):
        m = shown[step % len(shown)]
        loss = (
            (
                mt.skin(hero.points, joints, torch.softmax(guess, 1), m)
                - mt.skin(hero.points, joints, weights, m)
            )
            .square()
            .sum()
        )
        descent.zero_grad()
        loss.backward()
        descent.step()
    sheet([[*row, picture("after 120 steps")]], DOCS / "torch" / "learn_weights.png")


def dots(points, colors, size, height, turn, center=None):
    """Points from back to front."""
    page = np.full((size[1], size[0], 3), 0.92)
    middle = (points.min(0) + points.max(0)) / 2 if center is None else np.asarray(center)
    moved = (points - middle) @ camera(-turn[0], turn[1]).T
    scale = size[1] / height
    order = np.argsort(moved[:, 2])
    x = (size[0] / 2 + moved[order, 0] * scale).astype(int)
    y = (size[1] / 2 - moved[order, 1] * scale).astype(int)
    for dx, dy in ((0, 0), (1, 0), (0, 1), (1, 1)):
        inside = (x + dx >= 0) & (x + dx < size[0]) & (y + dy >= 0) & (y + dy < size[1])
        page[y[inside] + dy, x[inside] + dx] = colors[order][inside]
    return Image.fromarray((np.clip(page, 0, 1) * 255).astype(np.uint8))


def splats(count=200_000):
    """Splats coloured by where their own x axis points: the colours turn with the limbs."""
    hero = mt.CharacterModule(mw.samples.mannequin(4), clips=["run"])
    near = torch.randint(0, len(hero.points), (count,), generator=torch.Generator().manual_seed(0))
    joints, weights, row = hero.vertex_joints[near], hero.vertex_weights[near], []
    normals = hero.normals[near]
    for pose in (hero.rest(), hero.sample("run", 0.1), hero.sample("run", 0.3), hero.sample("run", 0.45)):
        matrices = hero.matrices(pose)
        moved = mt.skin(hero.points[near], joints, weights, matrices)
        turned = mt.rotations.rotate(mt.point_rotations(joints, weights, matrices), normals)
        at = hero.joints(pose)[0]
        color = (0.5 + 0.5 * turned.numpy()) ** 0.8
        row.append(
            dots(moved.numpy(), color, (200, 300), 2.1, (0.8, 0.1), (float(at[0]), 0.95, float(at[2])))
        )
    sheet([row], DOCS / "torch" / "splats.png")


def fitted_blend(size=(640, 220)):
    """The speed that descent finds from poses, step by step, from three beginnings."""
    hero = mt.CharacterModule(mw.samples.mannequin(), clips=["idle", "walk", "run"])
    space = mt.BlendSpace(BlendSpace1D.of("speed", {0.0: ClipNode("idle"), 1.25: "walk", 3.6: "run"}))
    phase = torch.linspace(0, 1, 12)
    motions = [hero.sample(k, phase * hero.clips[k].duration) for k in range(3)]

    def joints(at):
        w = space(at)
        mixed = {
            f: torch.stack([w[k] * getattr(motions[k], f) for k in range(3)]).sum(0)
            for f in ("rotation", "translation")
        }
        return hero.joints(motions[0]._replace(**mixed))

    target = joints(torch.tensor(2.2)).detach()
    page = Image.new("RGB", size, (248, 248, 248))
    draw = ImageDraw.Draw(page)

    def place(step, speed):
        return 50 + step * (size[0] - 70) / 100, size[1] - 25 - speed * (size[1] - 45) / 3.6

    for speed in (0, 1.25, 2.2, 3.6):
        draw.line(
            [place(0, speed), place(100, speed)], fill=(200, 90, 70) if speed == 2.2 else (215, 215, 215)
        )
        draw.text((8, place(0, speed)[1] - 6), f"{speed:g}", fill=(60, 60, 60))
    for start, color in ((0.4, (60, 100, 190)), (1.4, (40, 150, 110)), (3.4, (150, 80, 160))):
        guess = torch.tensor(start, requires_grad=True)
        descent, path = torch.optim.Adam([guess], lr=0.08), []
        for step in range(101):
            path.append(place(step, float(guess.detach())))
            descent.zero_grad()
            (joints(guess) - target).square().sum(-1).mean().backward()
            descent.step()
        draw.line(path, fill=color, width=3)
    draw.text((size[0] - 210, 6), "speed found, by step; 2.2 was asked", fill=(60, 60, 60))
    path = DOCS / "torch" / "fit_blend.png"
    page.save(path, optimize=True)


if __name__ == "__main__":
    (DOCS / "torch").mkdir(exist_ok=True)
    for make in (fitted_pose, learned_weights, splats, fitted_blend):
        make()
