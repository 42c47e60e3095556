"""Plays characters without a screen and measures them: `python tools/check_players.py FILES... [--table out.md]`.

Each stands, walks in eight directions, runs and turns. Measured on the skin, in the world: whether it stands where it is
told to, goes where it is told to, looks where it goes, and how far what stands on the ground slides in a step. Lengths are
those of a body of 1.75 m.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from pathlib import Path

import numpy as np

import marrow as mw
from marrow.controller.gait import PERSON, TOUCHING, body_height, ground_points
from marrow.errors import MarrowError
from marrow.motion.rig import find_rig

STEP = 1 / 60
MOST_POINTS = 500


class Feet:
    """What touches the ground: points of the skin, by the joint that they hang on most."""

    def __init__(self, player: mw.Controller) -> None:
        points = ground_points(player.character)
        model = player.animator.model_matrices[None]
        height = points.places(model)[0, :, 1]
        near = np.flatnonzero(height < height.min() + 0.2 * player.height)
        self.points = points.only(near[:: max(len(near) // MOST_POINTS, 1)])
        self.size = player.height / PERSON
        heaviest = self.points.joints[np.arange(len(self.points.joints)), self.points.weights.argmax(axis=1)]
        self.groups = [np.flatnonzero(heaviest == j) for j in np.unique(heaviest)]

    def slides(self, model: np.ndarray, world: np.ndarray) -> list[float]:
        """How far each stance slid, from matrices of joints `(T, J, 3, 4)` and root matrices `(T, 3, 4)`."""
        place = self.points.places(model)
        place = np.einsum("tij,tpj->tpi", world[..., :3], place) + world[:, None, :, 3]
        low = np.stack([place[:, g, 1].min(axis=1) for g in self.groups], axis=1)
        level = float(np.median(low.min(axis=1)))
        band = TOUCHING * self.size
        out: list[float] = []
        for group in self.groups:
            at = place[:, group]
            touching = np.abs(at[..., 1] - level) < band
            both = touching[1:] & touching[:-1]
            moved = np.diff(at, axis=0)
            step = np.array(
                [np.median(m[b], axis=0) if b.any() else np.full(3, np.nan) for m, b in zip(moved, both)]
            )
            # On the ground, neither going down nor up, and no foot on its way forward: that is faster than the body.
            body = np.linalg.norm(np.diff(world[:, [0, 2], 3], axis=0), axis=1).mean()
            slow = np.linalg.norm(np.nan_to_num(step[:, [0, 2]]), axis=1) < 0.6 * body
            stands = np.isfinite(step[:, 0]) & (np.abs(step[:, 1]) / STEP < 0.2 * self.size) & slow
            edges = np.flatnonzero(np.diff(np.concatenate([[False], stands, [False]]).astype(int)))
            for a, b in zip(edges[::2], edges[1::2]):
                if b - a >= 6 and a > 0 and b < len(stands):
                    way = np.cumsum(step[a:b, [0, 2]], axis=0)
                    out.append(float(np.linalg.norm(way, axis=1).max()) / self.size)
        return out


def looks(player: mw.Controller) -> np.ndarray:
    """Where the body looks in the world by its hips; where these are not known, as the controller says."""
    rig = find_rig(player.character.skeleton)
    if not rig.complete:
        return player.facing
    left, right = (player.animator.model_matrices[rig.chains[f"{s}_leg"][0], :, 3] for s in ("left", "right"))
    ahead = np.cross(player.animator.root.matrices[:, :3] @ (left - right), [0.0, 1.0, 0.0])
    return ahead / max(np.linalg.norm(ahead), 1e-9)


def angle(a: np.ndarray, b: np.ndarray) -> float:
    size = np.linalg.norm(a) * np.linalg.norm(b)
    return 180.0 if size < 1e-9 else math.degrees(math.acos(np.clip(a @ b / size, -1, 1)))


def go(player, feet, way, run, seconds=2.4, measured=1.4):
    """Goes one way; over the last part: how far off it went, how far off it looked, how fast, and the slides."""
    frames, first = round(seconds / STEP), round((seconds - measured) / STEP)
    model, world, faces, places = [], [], [], []
    for k in range(frames):
        player.move(way, STEP, run=run)
        if k >= first:
            model.append(player.animator.model_matrices.copy())
            world.append(player.animator.root.matrices.copy())
            faces.append(looks(player))
            places.append(player.place)
    gone = places[-1] - places[0]
    return (
        angle(gone, np.asarray(way, float)),
        angle(np.mean(faces, axis=0), gone),
        float(np.linalg.norm(gone)) / measured,
        feet.slides(np.array(model), np.array(world)),
    )


def play(path: Path) -> dict:
    started = time.time()
    hero = mw.load(path)
    player = mw.Controller(hero)
    size = body_height(hero) / PERSON
    for _ in range(60):
        player.move((0, 0, 0), STEP)
    feet = Feet(player)
    before = player.place
    for _ in range(60):
        player.move((0, 0, 0), STEP)
    drift = float(np.linalg.norm(player.place - before)) / size
    off, faces, slides, runs = [], [], [], []
    for k in range(8):
        way = (math.sin(k * math.pi / 4), 0.0, math.cos(k * math.pi / 4))
        a, b, speed, slid = go(player, feet, way, False)
        off.append(a), faces.append(b), slides.extend(slid)
    a, b, fast, slid = go(player, feet, (0, 0, 1), True)
    off.append(a), faces.append(b), runs.extend(slid)
    for _ in range(120):
        player.move((0, 0, 0), STEP, look=(1, 0, 0))
    turned = angle(player.facing, np.array([1.0, 0.0, 0.0]))
    return {
        "stands": drift, "off": max(off), "faces": max(faces), "walk": speed / size, "run": fast / size, "turned": turned,
        "slides": slides, "runs": runs, "seconds": time.time() - started,
        "from": "mannequin" if any("mannequin's" in str(line) for line in player.report) else "file",
    }  # fmt: skip


def line(name: str, r: dict) -> tuple[str, bool]:
    worst = float(np.percentile(r["slides"], 90)) if r["slides"] else 0.0
    fast = float(np.percentile(r["runs"], 90)) if r["runs"] else 0.0
    seen = bool(r["slides"])  # what is never seen to stand was not measured
    good = seen and (
        r["stands"] < 0.03
        and r["off"] < 10
        and r["faces"] < 10
        and worst < 0.02
        and fast < 0.02
        and r["turned"] < 15
    )
    mean = float(np.mean(r["slides"])) if r["slides"] else 0.0
    cells = [
        name, r["from"], f"{r['walk']:.2f}", f"{r['run']:.2f}", f"{100 * r['stands']:.1f}", f"{r['off']:.1f}",
        f"{r['faces']:.1f}", f"{r['turned']:.0f}", str(len(r["slides"])), f"{100 * mean:.1f}", f"{100 * worst:.1f}",
        f"{100 * fast:.1f}", "yes" if good else "NO",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |", good


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("files", nargs="+", type=Path)
    arguments.add_argument("--table", type=Path)
    wanted = arguments.parse_args()
    head = "character, clips, walk m/s, run m/s, stands cm, off deg, looks deg, turn deg, "
    head += "steps, slide cm, 90% cm, run 90% cm, ok"
    names = head.split(", ")
    rows = [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
    print("\n".join(rows))
    good, played = 0, 0
    for path in wanted.files:
        try:
            row, fine = line(path.stem, play(path))
            played, good = played + 1, good + fine
        except MarrowError as error:
            row = f"| {path.stem} | refused: {str(error)[:110]} |"
        rows.append(row)
        print(row, flush=True)
    rows.append(f"{good} of {played} are fine; {len(wanted.files) - played} were refused.")
    print(rows[-1])
    if wanted.table:
        wanted.table.write_text("\n".join(rows) + "\n")
    return 0 if good == played else 1


if __name__ == "__main__":
    sys.exit(main())
