"""Feet on uneven ground, measured on the skin: sole vertices against heights that are known, by code that shares nothing
with the nodes that put feet there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import marrow as mw
from marrow.graph import FootLock, FootPlacement, Graph, RootMotion

Height = Callable[[np.ndarray], np.ndarray]
RISER, GOING = 0.17, 0.28
PUSHES = 20.0


def slope(degrees: float, across: bool = False) -> Height:
    rise = np.tan(np.radians(degrees))
    return lambda p: rise * p[:, 0 if across else 1]


def stairs(rise: float = RISER, going: float = GOING, first: float = 1.0) -> Height:
    """Level up to z = `first`, then steps for ever."""
    return lambda p: rise * np.maximum(np.floor((p[:, 1] - first) / going) + 1, 0)


def kerbs(height: float = 0.12, width: float = 1.3) -> Height:
    """Pavements and streets in turn."""
    return lambda p: height * (np.floor(p[:, 1] / width) % 2)


def bumps(size: float = 0.05) -> Height:
    return lambda p: size * (np.sin(3.1 * p[:, 0] + 1) * np.cos(2.3 * p[:, 1]) + 0.4 * np.sin(7.7 * p[:, 1]))


def stones(height: float = 0.15, spacing: float = 0.45) -> Height:
    """Round stepping stones with flat tops, on a level."""

    def heights(p: np.ndarray) -> np.ndarray:
        away = np.remainder(p + np.array([0.0, 0.1]), spacing) - spacing / 2
        return np.where((away * away).sum(-1) < (0.42 * spacing) ** 2, height, 0.0)

    return heights


GROUNDS: dict[str, Height] = {
    "stairs up": stairs(),
    "stairs down": stairs(-RISER),
    "kerbs": kerbs(),
    "slope up": slope(20),
    "slope down": slope(-20),
    "slope across": slope(20, across=True),
    "bumps": bumps(),
    "stepping stones": stones(),
}


class Soles:
    """The vertices below the feet of a character that stands at rest on the plane y = 0, and how they are skinned."""

    def __init__(
        self, character: mw.Character, feet: tuple[str, ...] = ("foot_l", "foot_r"), thick: float = 0.02
    ) -> None:
        bones = character.skeleton
        mesh = max(character.meshes, key=lambda m: m.vertex_count)
        self.feet = []
        for foot in feet:
            tip = bones.index(foot)
            mine = np.isin(mesh.joint_list[mesh.joints], [tip, *bones.descendants(tip)])
            owned = (mesh.weights * mine).sum(1) > 0.5
            low = np.flatnonzero(owned & (mesh.positions[:, 1] < thick))
            rest = mesh.positions[low].astype(float)
            z = rest[:, 2]
            heel, ball = z < z.min() + 0.05, np.abs(z - bones.rest_model[bones.children(tip)[0], 2, 3]) < 0.03
            self.feet.append(
                (
                    np.concatenate([rest, np.ones((len(rest), 1))], 1),
                    mesh.joint_list[mesh.joints[low]],
                    mesh.weights[low].astype(float),
                    mesh.inverse_bind[mesh.joints[low]].astype(float),
                    heel,
                    ball,
                )
            )

    def places(self, animator: mw.Animator) -> list[np.ndarray]:
        """Where the sole vertices of each foot are in the world."""
        root, model = animator.root.matrices, animator.model_matrices.astype(float)
        out = []
        for rest, joints, weights, binds, _, _ in self.feet:
            bound = np.einsum("vkij,vj->vki", binds, rest)
            moved = np.einsum("vkij,vkj->vki", model[joints][..., :3], bound) + model[joints][..., 3]
            out.append((weights[..., None] * moved).sum(1) @ root[:, :3].T + root[:, 3])
        return out


@dataclass
class Walk:
    """What was seen in a walk over a ground: metres, degrees, metres a second squared. `off` is how far a foot is off what
    it stands on while it bears weight; `early`, while its heel is up by more than `PUSHES` degrees: then it only pushes the
    body off, and on stairs a leg is at its full length before the clip of a plane says that the foot leaves."""

    stance_inside: float = 0.0
    swing_inside: float = 0.0
    pitch: float = 0.0
    off: float = 0.0
    early: float = 0.0
    slide: float = 0.0
    pelvis: float = 0.0
    heights: list[float] = field(default_factory=list)
    stances: int = 0
    frames: list[dict[str, Any]] = field(default_factory=list)


def down_at(clip: mw.Clip, foot: str, time: float) -> bool:
    """Whether a foot is down at a moment of a clip that goes round, by its events."""
    touch = [e.time for e in clip.events if e.name == foot]
    lift = [e.time for e in clip.events if e.name == f"{foot}_lift"]
    if not touch or not lift:
        return True
    since = min((time - t) % clip.duration for t in touch)
    return since < min((time - t) % clip.duration for t in lift)


def walk(
    character: mw.Character,
    clip: str,
    ground: Height,
    *,
    seconds: float = 4.0,
    rate: float = 60.0,
    graph: Graph | None = None,
    warm_up: float = 0.5,
    heading: float = 0.0,
    start: tuple[float, float] = (0.0, 0.0),
    each: Callable[[mw.Animator], None] | None = None,
) -> Walk:
    """A character walks over a ground, its root at the height below it, beside one that walks the same on a plane."""
    soles, seen = Soles(character), Walk()
    placed = mw.Animator(character, graph or Graph(RootMotion(FootPlacement(FootLock(clip)))))
    flat = mw.Animator(character, Graph(RootMotion(FootLock(clip))))
    placed.ground = ground
    turn = [0.0, np.sin(heading / 2), 0.0, np.cos(heading / 2)]
    for animator in (placed, flat):
        animator.root.set([start[0], 0.0, start[1]], turn)
    pelvis, heights, before = character.skeleton.index("pelvis"), [], [None, None]
    source = character.clips[clip]
    for k in range(round(seconds * rate)):
        for animator in (placed, flat):
            animator.update(1 / rate)
        at = flat.root.translation
        placed.root.set([at[0], float(ground(at[None, [0, 2]])[0]), at[2]], flat.root.rotation)
        heights.append(float(placed.root.translation[1] + placed.model_matrices[pelvis, 1, 3]))
        if each is not None:
            each(placed)
        if k < warm_up * rate:
            continue
        time = (k + 1) / rate % source.duration
        for i, (mine, plain, foot) in enumerate(
            zip(soles.places(placed), soles.places(flat), ("foot_l", "foot_r"))
        ):
            heel, ball = soles.feet[i][4:6]
            above = mine[:, 1] - ground(mine[:, [0, 2]])
            down = down_at(source, foot, time)
            one = {"foot": i, "time": (k + 1) / rate, "down": down, "inside": float(-above.min())}
            line, level = (p[ball].mean(0) - p[heel].mean(0) for p in (mine, plain))
            along, was = (float(np.hypot(v[0], v[2])) for v in (line, level))
            one["flat"] = np.degrees(np.arctan2(level[1], was))
            if down:
                ends = np.stack([mine[heel].mean(0), mine[ball].mean(0)])
                below = ground(ends[:, [0, 2]])
                steep = (below[1] - below[0]) / along
                tread = 0.0 if abs(steep) > 0.45 else np.arctan(steep)
                # As on a plane, or flat on the tread, or in between: a heel that has nothing below it strikes not first.
                angle = np.degrees(np.arctan2(line[1], along) - tread)
                one["pitch"] = angle - np.clip(angle, min(one["flat"], 0.0), max(one["flat"], 0.0))
                seen.pitch = max(seen.pitch, abs(one["pitch"]))
                seen.stance_inside = max(seen.stance_inside, one["inside"])
                one["off"] = float(above.min() - plain[:, 1].min())
                if one["flat"] > -PUSHES:
                    seen.off = max(seen.off, one["off"])
                else:
                    seen.early = max(seen.early, one["off"])
                middle = mine[ball].mean(0)
                if before[i] is not None and abs(one["flat"]) < 6:
                    one["slide"] = float(np.linalg.norm((middle - before[i])[[0, 2]]))
                    seen.slide = max(seen.slide, one["slide"])
                before[i] = middle
            else:
                seen.swing_inside = max(seen.swing_inside, one["inside"])
                before[i] = None
            seen.frames.append(one)
    seen.heights = heights
    rises = np.diff(heights[int(warm_up * rate) :], 2) * rate * rate
    seen.pelvis = float(np.abs(rises).max())
    return seen
