"""Steers a motion database and measures feet on the skin and how fast it goes another way.

    python tools/check_matching.py [hero.motion] [--seconds 60] [--rate 60] [--lock]

Without a file: the mannequin's own moves. Some characters, each of which wants another velocity about every two seconds:
walks, runs, turns by any angle, stops. Soles are those vertices of the skin that lie lowest at rest and hang on the feet.
They are planted where the clips have them low and slow; as long as that lasts, their way over the ground is what they
slide, in the clips and in what is made of them. Then: how long it takes until somebody who walks goes elsewhere, against a
controller that steers a blend space of the same body.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import marrow as mw
from marrow.graph import FootLock, Graph, MotionMatch, RootMotion
from marrow.math import quaternion
from marrow.motion.rig import find_rig
from marrow.samples.moves import _scripts

DOWN, SLOW = 0.025, 0.15
"""A vertex stands within so many metres of the lowest at rest, and as long as it goes slower, in metres a second."""
RECORDED = {script[0] for script in _scripts()}
"""What only the mannequin's database has."""
SHORTEST = 0.1
"""Seconds that a plant lasts at least."""


class Soles:
    """The lowest vertices of both feet, skinned here by the sum of weights and matrices."""

    def __init__(self, hero: mw.Character) -> None:
        skeleton, parents = hero.skeleton, hero.skeleton.parents.tolist()
        chains = find_rig(skeleton).chains
        mesh = max((m for m in hero.meshes if m.weights is not None), key=lambda m: m.vertex_count)
        joints = np.asarray(mesh.joint_list)[np.asarray(mesh.joints)]
        weights = np.asarray(mesh.weights, np.float64)
        bind = np.asarray(mesh.inverse_bind, np.float64)[np.asarray(mesh.joints)]
        at = np.concatenate([mesh.positions.astype(np.float64), np.ones((mesh.vertex_count, 1))], axis=1)
        rest = self._skin(np.asarray(skeleton.rest_model, np.float64)[None], joints, weights, bind, at)[0]
        self.parts, self.feet = [], []
        for side in ("left_leg", "right_leg"):
            below = {chains[side][2]}
            for j, parent in enumerate(parents):
                if parent in below:
                    below.add(j)
            share = (np.isin(joints, list(below)) * weights).sum(axis=1)
            own = np.flatnonzero(share > 0.9)
            low = own[rest[own, 1] < rest[own, 1].min() + 0.015]
            low = low[:: max(1, len(low) // 60)]
            self.parts.append((joints[low], weights[low], bind[low], at[low]))
        self.floor = float(min(rest[:, 1].min(), 1.0))

    @staticmethod
    def _skin(model: Any, joints: Any, weights: Any, bind: Any, at: Any) -> Any:
        """Vertices `(T, v, 3)` of model matrices `(T, J, 3, 4)`."""
        local = np.einsum("vkrc,vc->vkr", bind, at)
        local = (
            np.concatenate([local, np.ones((*local.shape[:2], 1))], axis=-1) if bind.shape[-2] == 3 else local
        )
        return np.einsum("tvkrc,vkc,vk->tvr", model[:, joints][..., :3, :], local, weights)

    def places(self, model: Any) -> list[Any]:
        """Of both feet `(T, v, 3)`."""
        return [self._skin(np.asarray(model, np.float64), *part) for part in self.parts]


def planted(places: Any, floor: float, rate: float) -> Any:
    """Which vertices of a sole `(T, v, 3)` stand: low, and slower than `SLOW`, until the next frame; `(T, v)`."""
    speed = np.linalg.norm(np.diff(places[..., [0, 2]], axis=0), axis=-1) * rate
    speed = np.concatenate([speed, speed[-1:]])
    return (places[..., 1] < floor + DOWN) & (speed < SLOW)


def slides(places: Any, stands: Any, rate: float) -> list[float]:
    """The way over the ground of every plant of a sole: from one frame to the next that of the vertex that moves
    least, of those that stand `(T, v)`."""
    ways, way, time = [], 0.0, 0.0
    for k in range(1, len(places)):
        both = stands[k] & stands[k - 1]
        if both.any():
            step = np.linalg.norm(places[k][:, [0, 2]] - places[k - 1][:, [0, 2]], axis=1)
            way, time = way + step[both].min(), time + 1 / rate
            continue
        if time >= SHORTEST:
            ways.append(way)
        way, time = 0.0, 0.0
    return [*ways, way] if time >= SHORTEST else ways


def told(name: str, found: list[list[float]]) -> None:
    ways = 1e3 * np.array([w for several in found for w in several])
    if len(ways):
        middle, many = np.percentile(ways, [50, 95])
        print(
            f"{name}: {len(ways)} plants, slide mm: median {middle:.1f}, 95th {many:.1f}, most {ways.max():.1f}"
        )
    else:
        print(f"{name}: no plant")


def graph_of(lock: bool) -> Graph:
    node = MotionMatch("moves")
    return Graph(RootMotion(FootLock(node) if lock else node))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("database", nargs="?")
    parser.add_argument("--seconds", type=float, default=40.0)
    parser.add_argument("--rate", type=float, default=60.0)
    parser.add_argument("--count", type=int, default=6)
    parser.add_argument("--lock", action="store_true", help="with FootLock over it")
    given = parser.parse_args()
    db = mw.samples.mannequin_moves() if given.database is None else mw.matching.load(given.database)
    hero, rng = db.character, np.random.default_rng(0)
    soles = Soles(hero)
    floor = soles.floor
    # The clips as they are, at the frames of the database.
    source, stands = [], [[], []]
    for clip in db.clips:
        times = np.arange(clip.end - clip.begin) / db.rate
        feet = soles.places(hero.skeleton.to_model(hero.clips[clip.name].sample(times)))
        for foot, several in zip(feet, stands):
            several.append(planted(foot, floor, db.rate))
            source.append(slides(foot, several[-1], db.rate))
    told("source", source)
    crowd = mw.Animator(hero, graph_of(given.lock), count=given.count, databases={"moves": db})
    frames = []
    seen = ([], [])
    changes = np.zeros(given.count)
    for step in range(round(given.seconds * given.rate)):
        due = changes <= 0
        if due.any():
            angle, pace = (
                rng.uniform(-np.pi, np.pi, due.sum()),
                rng.choice([0.0, 1.2, 1.2, 2.2, 3.2], due.sum()),
            )
            crowd.matching["moves"].steer(
                np.stack([np.sin(angle), np.cos(angle)], axis=1) * pace[:, None],
                instances=np.flatnonzero(due),
            )
            changes[due] = rng.uniform(1.0, 3.0, due.sum())
        changes -= 1 / given.rate
        crowd.update(1 / given.rate)
        if step * 2 < given.rate:
            continue
        frames.append(crowd.matching["moves"].frame)
        place, turn = crowd.root.translation[:, None], crowd.root.rotation[:, None]
        for foot, several in zip(soles.places(hero.skeleton.to_model(crowd.pose)), seen):
            several.append(place + quaternion.rotate(turn, foot))
    frames = np.stack(frames)
    found = []
    for places, several in zip(seen, stands):
        places, down = np.stack(places), np.concatenate(several)
        found += [slides(places[:, n], down[frames[:, n]], given.rate) for n in range(given.count)]
    told("matched, locked" if given.lock else "matched", found)
    response(db, given.rate, given.lock)


def response(db: mw.matching.MotionDatabase, rate: float, lock: bool) -> None:
    """Seconds until 9 tenths of the velocity that is wanted are there, for those who walk and want to go elsewhere."""
    own = db.character.replace(clips=[c for c in db.character.clips.values() if c.name not in RECORDED])
    pace, waits = mw.Controller(own).walk_speed, np.linspace(2.0, 3.1, 8)
    for angle in (45, 90, 180):
        wish = pace * np.array([np.sin(np.radians(angle)), np.cos(np.radians(angle))])
        who = mw.Animator(db.character, graph_of(lock), count=len(waits), databases={"moves": db})
        players = [mw.Controller(own) for _ in waits]
        ways: tuple[list[Any], list[Any]] = ([], [])
        for step in range(round((waits[-1] + 3.0) * rate)):
            goals = np.where((step >= waits * rate)[:, None], wish, [0.0, pace])
            who.matching["moves"].steer(goals)
            who.update(1 / rate)
            ways[0].append(who.root.translation[:, [0, 2]])
            for play, goal in zip(players, goals):
                play.move((goal[0] / pace, 0, goal[1] / pace), 1 / rate)
            ways[1].append(np.stack([play.place[[0, 2]] for play in players]))
        times = []
        for kind, way in zip(("matching", "blend space"), ways):
            width = round(0.2 * rate)
            speed = (np.array(way)[width:] - np.array(way)[:-width]) / (width / rate)
            along = speed @ wish / pace**2
            found = []
            for n, wait in enumerate(waits):
                there = np.flatnonzero(along[round(wait * rate) - width :, n] > 0.9)
                found.append(there[0] / rate if len(there) else np.inf)
            times.append(f"{kind} {np.mean(found):.2f} s (most {max(found):.2f})")
        print(f"{angle} degrees elsewhere: {', '.join(times)}")


if __name__ == "__main__":
    main()
