"""Makes the plots of docs/graph.md: a blend space, a transition, feet on a slope, and the mannequin's graph.

python tools/docs/graph_plots.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import marrow as mw
from marrow.graph import (
    BlendSpace2D,
    FootLock,
    FootPlacement,
    Graph,
    Parameter,
    RootMotion,
    State,
    StateMachine,
    Transition,
)
from marrow.graph.diagrams import to_svg
from marrow.graph.triangulation import triangulate

OUT = Path(__file__).resolve().parents[2] / "docs" / "graph"
COLOURS = ("#3b6fb6", "#d9722e", "#4a9a55", "#b04a72", "#7a62b3", "#8a7a3a")


def frame(width: int, height: int, body: list[str]) -> str:
    size = f'width="{width}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">'
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *body, "</svg>"]) + "\n"


def blend_space() -> str:
    """The mannequin's locomotion: its points, its triangles, and how much of `walk` is seen where."""
    root = mw.samples.locomotion_graph().root.source
    assert isinstance(root, BlendSpace2D)
    points = sorted(root.points, key=lambda p: p.at)
    places = np.array([p.at for p in points])
    names = [p.source if isinstance(p.source, str) else p.source.clip for p in points]
    low, high, cells = np.array([-1.3, -1.4]), np.array([1.3, 4.0]), (26, 54)
    x, y = (
        np.linspace(low[k], high[k], cells[k], endpoint=False) + (high - low)[k] / cells[k] / 2
        for k in (0, 1)
    )
    grid = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)
    free = {name: Parameter() for name in ("speed", "strafe")}
    crowd = mw.Animator(mw.samples.mannequin(), Graph(root, free), count=len(grid))
    crowd["strafe"], crowd["speed"] = grid[:, 0], grid[:, 1]
    crowd.update(0)
    index = list(mw.samples.mannequin().clips).index("walk") + 1
    share = [
        sum(w for _, c, _, w in crowd.evaluation.program.operations(n) if c == index)
        for n in range(len(grid))
    ]

    def at(p: np.ndarray) -> tuple[float, float]:
        return 40 + (p[0] - low[0]) * 120, 30 + (high[1] - p[1]) * 120

    step = (high - low) / cells * 120
    body = []
    for place, s in zip(grid, share):
        if s < 0.01:
            continue
        cx, cy = at(place)
        body.append(
            f'<rect x="{cx - step[0] / 2:.1f}" y="{cy - step[1] / 2:.1f}" width="{step[0] + 0.3:.1f}" '
            f'height="{step[1] + 0.3:.1f}" fill="{COLOURS[0]}" fill-opacity="{0.85 * s:.2f}"/>'
        )
    for t in triangulate(places).triangles:
        corners = " ".join(f"{u:.1f},{v:.1f}" for u, v in (at(places[k]) for k in t))
        body.append(f'<polygon points="{corners}" fill="none" stroke="#555"/>')
    for place, name in zip(places, names):
        u, v = at(place)
        body.append(
            f'<circle cx="{u:.1f}" cy="{v:.1f}" r="4" fill="#222"/><text x="{u + 7:.1f}" y="{v - 6:.1f}">{name}</text>'
        )
    body.append(
        '<text x="40" y="20">how much of "walk" is seen, over strafe (x) and speed (y), in m/s</text>'
    )
    return frame(470, 680, body)


def transition() -> str:
    """A joint's place through a cross-fade and through an inertialised transition between two motions."""
    bones = mw.Skeleton(("root",), [-1])
    t = np.linspace(0, 2, 481)

    def clip(name: str, values: np.ndarray) -> mw.Clip:
        return mw.Clip(name, bones, [mw.Track(0, "translation", t, np.stack([values, 0 * t, 0 * t], axis=1))])

    stick = mw.Character(
        bones, (), [clip("a", np.sin(np.pi * t)), clip("b", 1.6 + 0.4 * np.cos(2 * np.pi * t))]
    )
    curves, dt, start = {}, 1 / 240, 0.9
    for blend in ("fade", "inertia"):
        machine = StateMachine(
            {"a": State("a"), "b": State("b")},
            (Transition("a", "b", (f"elapsed >= {start}",), seconds=0.5, ease="linear", blend=blend),),
        )
        animator = mw.Animator(stick, Graph(machine))
        xs = []
        for _ in range(round(2 / dt)):
            animator.update(dt)
            xs.append(float(animator.pose.translation[0, 0]))
        curves[blend] = np.array(xs)
    time = (np.arange(len(xs)) + 1) * dt
    source, target = np.sin(np.pi * time), 1.6 + 0.4 * np.cos(2 * np.pi * (time - start))

    def line(
        values: np.ndarray, colour: str, top: float, scale: float, dash: str = "", keep: slice = slice(None)
    ) -> str:
        points = " ".join(
            f"{40 + 260 * u:.1f},{top - scale * v:.1f}" for u, v in zip(time[keep][::2], values[keep][::2])
        )
        return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.6" stroke-dasharray="{dash}"/>'

    k = round(start / dt)
    body = [
        '<text x="40" y="20">place of a joint: from motion a (dashed) to motion b (dashed), starting at 0.9 s</text>'
    ]
    body += [line(source, "#999", 200, 70, "3 3"), line(target, "#999", 200, 70, "3 3", slice(k, None))]
    body += [line(curves[b], c, 200, 70) for b, c in zip(curves, COLOURS)]
    body.append(
        '<text x="40" y="300">its speed: a linear fade kinks where it starts and ends, inertia does not</text>'
    )
    for b, c in zip(curves, COLOURS):
        body.append(line(np.gradient(curves[b], dt), c, 400, 12))
    for j, (b, c) in enumerate(zip(curves, COLOURS)):
        body.append(f'<text x="{480}" y="{240 + 16 * j}" fill="{c}">{b}</text>')
    for u in (start, start + 0.5):
        body.append(f'<line x1="{40 + 260 * u}" x2="{40 + 260 * u}" y1="40" y2="470" stroke="#ccc"/>')
    return frame(600, 490, body)


def feet() -> str:
    """A walk up a slope from the side, every quarter of a second: legs as animated, and with feet locked and placed."""
    hero = mw.samples.mannequin()
    bones, slope = hero.skeleton, 0.32
    names = ("pelvis", "thigh", "calf", "foot", "ball")
    chains = [[bones.index(n if n == "pelvis" else f"{n}_{side}") for n in names] for side in "lr"]

    def ground(places: np.ndarray) -> np.ndarray:
        return slope * places[:, 1]

    def at(panel: int, z: float, y: float) -> str:
        return f"{30 + 350 * panel + 140 * z:.1f},{265 - 140 * y:.1f}"

    body = []
    nodes = {"as animated": "walk", "locked and placed": FootPlacement(FootLock("walk"))}
    for panel, (name, node) in enumerate(nodes.items()):
        animator = mw.Animator(hero, Graph(RootMotion(node)))
        animator.ground = ground
        for tick in range(1, 97):
            animator.update(1 / 60)
            z = animator.root.translation[2]
            animator.root.set([0.0, slope * z, z])
            if tick % 24:
                continue
            m, world = animator.model_matrices, animator.root.matrices
            for chain, colour in zip(chains, COLOURS):
                places = m[chain, :, 3] @ world[:, :3].T + world[:, 3]
                points = " ".join(at(panel, p[2], p[1]) for p in places)
                body.append(
                    f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2" stroke-linejoin="round"/>'
                )
        line = f"{at(panel, -0.1, -0.1 * slope)} {at(panel, 2.2, 2.2 * slope)}"
        body.append(f'<polyline points="{line}" fill="none" stroke="#444" stroke-width="1.5"/>')
        body.append(f'<text x="{30 + 350 * panel}" y="20">{name}</text>')
    return frame(710, 290, body)


if __name__ == "__main__":
    OUT.mkdir(exist_ok=True)
    (OUT / "blend_space.svg").write_text(blend_space())
    (OUT / "transition.svg").write_text(transition())
    (OUT / "feet.svg").write_text(feet())
    (OUT / "mannequin.svg").write_text(to_svg(mw.samples.mannequin_graph()))
