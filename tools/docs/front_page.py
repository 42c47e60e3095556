"""Makes the moving picture of the front page, docs/front_page.webp: five bodies that share one graph.

    python tools/docs/front_page.py [FILE]

The bodies are the mannequin with other proportions and colours, so its clips are retargeted to each of them. All are
told the same speed in metres a second: what is a walk for long legs is a run for short ones.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import marrow as mw
from marrow.graph import (
    BlendSpace1D,
    ClipNode,
    FootLock,
    Graph,
    LayerBlend,
    Parameter,
    RootMotion,
    State,
    StateMachine,
    Transition,
)
from marrow.math import affine, transform

FILE = Path(__file__).resolve().parents[2] / "docs" / "front_page.webp"
SIZE, RATE, SECONDS = (720, 336), 14, 6.0
PACES = {"walk_slow": 0.42, "walk_easy": 0.84, "walk": 1.25, "walk_fast": 1.7, "jog_slow": 2.15, "jog": 2.6}
PACES |= {"run_slow": 3.1, "run": 3.6}
"""Metres a second of the mannequin's clips."""
CLIPS = ("idle", "jump", "wave", *PACES)
GROUPS = {
    "legs": ("thigh", "calf"),
    "arms": ("upperarm", "lowerarm"),
    "trunk": ("pelvis", "spine", "clavicle"),
    "head": ("neck", "head"),
    "hands": ("hand", "thumb", "index", "middle", "ring", "pinky"),
    "feet": ("foot", "ball"),
}
Sizes = dict[str, tuple[float, float]]
BODIES: dict[str, tuple[Sizes, tuple[float, float, float], tuple[float, float, float]]] = {
    # Thickness and length of the parts, colours of the shell and of the bands.
    "tall": (
        {"legs": (0.95, 1.16), "arms": (0.92, 1.12), "trunk": (0.98, 1.08), "head": (0.95, 1.0)},
        (0.10, 0.22, 0.42),
        (0.95, 0.62, 0.10),
    ),
    "child": (
        {
            "legs": (0.66, 0.58), "arms": (0.62, 0.58), "trunk": (0.68, 0.66), "head": (0.88, 0.88),
            "hands": (0.66, 0.66), "feet": (0.66, 0.66),
        },
        (0.85, 0.50, 0.12),
        (0.10, 0.30, 0.36),
    ),
    "mannequin": ({}, (0.80, 0.765, 0.70), (0.86, 0.205, 0.115)),
    "stout": (
        {
            "legs": (1.22, 0.86), "arms": (1.25, 0.92), "trunk": (1.28, 0.98), "head": (1.05, 0.98),
            "hands": (1.1, 1.05), "feet": (1.12, 1.05),
        },
        (0.16, 0.34, 0.22),
        (0.86, 0.80, 0.62),
    ),
    "young": (
        {
            "legs": (0.80, 0.84), "arms": (0.76, 0.82), "trunk": (0.80, 0.84), "head": (0.92, 0.94),
            "hands": (0.84, 0.84), "feet": (0.86, 0.86),
        },
        (0.42, 0.10, 0.16),
        (0.75, 0.78, 0.80),
    ),
}  # fmt: skip


def reshaped(name: str, hero: mw.Character, sizes: Sizes) -> mw.Character:
    """A body whose parts are thicker and longer by `sizes`; joints point along +Y, as the mannequin's do."""
    old = hero.skeleton
    grow = np.ones((len(old), 3))
    for part, (thick, long) in sizes.items():
        for j, joint in enumerate(old.names):
            if joint.startswith(GROUPS[part]):
                grow[j] = thick, long, thick
    local = transform.compose(
        *(np.float64(a) for a in (old.rest.translation, old.rest.rotation, old.rest.scale))
    )
    for j, parent in enumerate(old.parents):
        local[j, :, 3] *= grow[parent] if parent >= 0 else 1.0
    model = local.copy()
    for j, parent in enumerate(old.parents):
        model[j] = affine.multiply(model[parent], local[j]) if parent >= 0 else local[j]
    palette = affine.invert(np.float64(old.rest_model))
    stretched = affine.multiply(model, transform.compose(np.zeros(3), np.array([0, 0, 0, 1.0]), grow))
    skin = mw.skin(hero, np.float32(affine.multiply(stretched, palette)))
    sole = float(skin.positions[:, 1].min())
    model[1:, 1, 3] -= sole
    local[old.index("pelvis"), 1, 3] -= sole
    rest = mw.Pose(*(np.float32(a) for a in transform.decompose(local)))
    ends = [*hero.vertex_offsets[: len(hero.meshes)], len(skin.positions)]
    bind = np.float32(affine.invert(model))
    meshes = [
        mesh.replace(
            positions=skin.positions[a:b] - np.float32([0, sole, 0]),
            normals=skin.normals[a:b],
            inverse_bind=bind[mesh.joint_list],
            morph_targets=(),
        )
        for mesh, a, b in zip(hero.meshes, ends[:-1], ends[1:], strict=True)
    ]
    skeleton = mw.Skeleton(old.names, old.parents, rest)
    body = mw.Character(skeleton, tuple(m for m in meshes if m.name == "body"), (), hero.materials, name=name)
    tool = mw.Retargeter(hero, body)
    return body.replace(clips=tuple(tool.retarget(hero.clips[clip]) for clip in CLIPS))


def painted(body: mw.Character, shell: tuple[float, ...], bands: tuple[float, ...]) -> mw.Character:
    colors = {"shell": (*shell, 1.0), "accent": (*bands, 1.0)}
    paint = [m.replace(base_color=colors.get(m.name, m.base_color)) for m in body.materials]
    return body.replace(materials=tuple(paint))


def graph() -> Graph:
    """Stands, walks and runs by `speed`, jumps, and waves from the spine up. The graph of all of them."""
    points = {0.0: ClipNode("idle", sync=False)} | {speed: clip for clip, speed in PACES.items()}
    moves = StateMachine(
        {
            "move": State(FootLock(BlendSpace1D.of("speed", points))),
            "jump": State(ClipNode("jump", loop=False, speed=1.5, start=0.3)),
        },
        (
            Transition("move", "jump", ("jump",), seconds=0.12),
            Transition("jump", "move", ("remaining <= 0.35",), seconds=0.25),
        ),
    )
    wave = LayerBlend(
        moves, "wave", joints=("@spine",), depth_falloff=2, weight="wave", channels=("rotation",)
    )
    steered = {
        "speed": Parameter(range=(0.0, 3.6)),
        "wave": Parameter(range=(0.0, 1.0), smoothing=0.15),
        "jump": Parameter("trigger", hold=0.2),
    }
    return Graph(RootMotion(wave), steered, "front page")


def speed_at(time: float) -> float:
    """Metres a second, of all: stand, walk, run, stand."""
    return float(np.interp(time, [0.3, 0.9, 1.7, 2.4, 4.0, 4.8], [0.0, 1.2, 1.2, 2.35, 2.35, 0.0]))


def main() -> None:
    hero = mw.samples.mannequin()
    shared = graph()
    players, legs = [], []
    for name, (sizes, shell, bands) in BODIES.items():
        body = painted(reshaped(name, hero, sizes), shell, bands)
        players.append(mw.Animator(body, shared))
        legs.append(body.skeleton.rest_model[body.skeleton.index("thigh_l"), 1, 3])
    reach = np.array(legs) / hero.skeleton.rest_model[hero.skeleton.index("thigh_l"), 1, 3]
    lanes = 0.95 * (np.arange(len(players)) - 2.0)
    way, steps = 0.0, 4
    jumps = {2.8 + 0.16 * k: player for k, player in enumerate(players)}
    renderer = mw.Renderer(size=SIZE)
    scene = mw.Scene(players, environment=mw.Environment("studio"))
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    frames = []
    for frame in range(round(SECONDS * RATE)):
        for step in range(steps):
            time = (frame + step / steps) / RATE
            speed = speed_at(time)
            way += speed / RATE / steps
            for player, lane, long in zip(players, lanes, reach, strict=True):
                player["speed"] = min(speed / long, 3.6)
                player["wave"] = float(4.5 < time < 5.7) if player is players[1] else 0.0
                if any(who is player and at <= time < at + 1 / RATE / steps for at, who in jumps.items()):
                    player.trigger("jump")
                player.update(1 / RATE / steps)
                player.root.set((lane, 0.0, way))
        eye, target = (1.7, 1.3, way + 6.9), (0.06, 1.04, way)
        camera = mw.Camera.perspective(eye, target, fov=0.36, width=SIZE[0], height=SIZE[1])
        frames.append(renderer.render(scene, camera).image.convert("RGB"))
    # Pillow keeps what did not change from one picture to the next: half the size of a picture each.
    made = file.with_name(f".{file.name}")
    frames[0].save(
        made,
        "WEBP",
        save_all=True,
        append_images=frames[1:],
        duration=round(1000 / RATE),
        loop=0,
        quality=66,
        method=6,
    )
    made.replace(file)
    print(f"{file.name}: {len(players)} bodies, one graph, {file.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
