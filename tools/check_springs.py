"""Holds springs to the reference implementation of VRM's spring bones: random chains, scales, centers, colliders and
motions, ten seconds of each at 60 updates a second, in `@pixiv/three-vrm-springbone` and in marrow; and rates of
updates against each other.

    npm install three @pixiv/three-vrm-springbone        (in a folder of its own)
    python tools/check_springs.py FOLDER --count 1000
    python tools/check_springs.py FOLDER --first 393 --count 1 --float64      what rounding to float32 does
    python tools/check_springs.py FOLDER --record tests/graph/vrm_springs.json
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import marrow as mw
from marrow.graph import Graph
from marrow.graph.spring_plan import plan_springs
from marrow.graph.spring_sets import own_springs
from marrow.kernels.operations.record import ReferenceWorld
from marrow.kernels.operations.springs_reference import SpringUpdate, reference_springs
from marrow.math import affine, quaternion, transform

SECONDS, RATE, EVERY = 10, 60, 6
RECORDED = (9, 11, 14, 35)
"""Worlds that a test has, a second of each: with and without centers, colliders of all kinds."""


def world(seed: int) -> dict[str, Any]:
    """A body that moves, chains on it, and colliders."""
    rng = np.random.default_rng(seed)
    body = int(rng.integers(2, 6))
    parents = [-1, *(int(rng.integers(0, j)) for j in range(1, body))]
    places = [rng.normal(size=3) * 0.3 for _ in range(body)]
    scales = [1.0 if rng.random() < 0.6 else float(rng.uniform(0.5, 1.6)) for _ in range(body)]
    turns = [quaternion.normalize(rng.normal(size=4)) for _ in range(body)]
    springs = []
    for _ in range(int(rng.integers(1, 4))):
        above, chain = int(rng.integers(0, body)), []
        direction = direction_of(rng)
        groups = [g for g in range(3) if rng.random() < 0.6]
        # Without stiffness there is gravity: who is drawn nowhere wanders, in the reference as well.
        stiff = rng.random() < 0.8
        settings = {
            "stiffness": float(rng.uniform(0.05, 4) if stiff else 0), "dragForce": float(rng.uniform(0.05, 1)),
            "gravityPower": float(rng.uniform(0.2, 1.5) if rng.random() < 0.6 or not stiff else 0),
            "gravityDir": direction.tolist(), "hitRadius": float(rng.uniform(0, 0.05)),
        }  # fmt: skip
        for _ in range(int(rng.integers(2, 8))):
            parents.append(above)
            places.append(direction_of(rng) * rng.uniform(0.03, 0.25))
            turns.append(quaternion.normalize(rng.normal(size=4)))
            scales.append(1.0 if rng.random() < 0.9 else float(rng.uniform(0.7, 1.3)))
            above = len(parents) - 1
            chain.append({"node": above, **settings})
        spring: dict[str, Any] = {"joints": chain, "colliderGroups": groups}
        if rng.random() < 0.3:
            spring["center"] = int(rng.integers(0, body))
        springs.append(spring)
    colliders = [collider(rng, body) for _ in range(int(rng.integers(0, 7)))]
    groups = [{"colliders": [c for c in range(len(colliders)) if c % 3 == g]} for g in range(3)]
    return {
        "parents": parents,
        "translation": np.float32(places).tolist(),
        "rotation": np.float32(turns).tolist(),
        "scale": np.repeat(np.float32(scales)[:, None], 3, 1).tolist(),
        "springBone": {"springs": springs, "colliders": colliders, "colliderGroups": groups},
        "every": EVERY,
        **motion(rng, body, np.float32(turns)),
    }


def direction_of(rng: np.random.Generator) -> Any:
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def collider(rng: np.random.Generator, body: int) -> dict[str, Any]:
    offset, radius = (rng.normal(size=3) * 0.15).tolist(), float(rng.uniform(0, 0.2))
    kind = rng.random()
    if kind < 0.4:
        shape: dict[str, Any] = {"sphere": {"offset": offset, "radius": radius}}
    elif kind < 0.7:
        shape = {"capsule": {"offset": offset, "radius": radius, "tail": (rng.normal(size=3) * 0.3).tolist()}}
    elif kind < 0.85:
        shape = {"sphere": {"offset": offset, "radius": float(rng.uniform(0.5, 1.5)), "inside": True}}
    else:
        shape = {"plane": {"offset": offset, "normal": direction_of(rng).tolist()}}
    extension = {"VRMC_springBone_extended_collider": {"specVersion": "1.0", "shape": shape}}
    return {"node": int(rng.integers(0, body)), "shape": {}, "extensions": extension}


def rotation_of(v: Any) -> Any:
    """Quaternions of rotation vectors."""
    angle = np.linalg.norm(v, axis=-1)
    return quaternion.from_axis_angle(v / np.maximum(angle, 1e-12)[..., None], angle)


def motion(rng: np.random.Generator, body: int, rest: Any) -> dict[str, Any]:
    """Root transforms and rotations of the body, smooth, at 60 Hz."""
    t = np.arange(SECONDS * RATE + 1)[:, None] / RATE

    def waves(width: int, size: float) -> Any:
        speed, phase, much = (
            rng.uniform(0.3, 7, (3, width)),
            rng.uniform(0, 6.3, (3, width)),
            rng.normal(size=(3, width)),
        )
        return size * sum(m / (1 + s) * np.sin(s * t + p) for s, p, m in zip(speed, phase, much))

    turn = rotation_of(waves(3, 0.8))
    turns = [quaternion.multiply(rest[j].astype(float), rotation_of(waves(3, 0.6))) for j in range(body)]
    return {
        "places": np.concatenate([waves(3, 1.0), turn], axis=1).tolist(),
        "moved": list(range(body)),
        "turns": np.float32(np.stack(turns, axis=1)).tolist(),
    }


def character(made: dict[str, Any]) -> mw.Character:
    """The same as a character whose file has springs."""
    J = len(made["parents"])
    rest = mw.Pose.identity(J)
    rest.translation[:], rest.rotation[:], rest.scale[:] = (
        made["translation"],
        made["rotation"],
        made["scale"],
    )
    skeleton = mw.Skeleton(tuple(f"j{k}" for k in range(J)), made["parents"], rest)
    times = np.arange(len(made["places"])) / RATE
    tracks = [
        mw.Track(j, "rotation", times, np.float32([turn[k] for turn in made["turns"]]))
        for k, j in enumerate(made["moved"])
    ]
    clip = mw.Clip("motion", skeleton, tracks)
    return mw.Character(skeleton, clips=[clip], vrm={"version": "1.0", "springBone": made["springBone"]})


def played(made: dict[str, Any], times: Any) -> Any:
    """World positions of joints `(len(times), J, 3)` in marrow, updated at these times; places of the root between
    those of the motion are on a curve through them."""
    from scipy.interpolate import CubicSpline

    who = character(made)
    places = np.array(made["places"])
    curve = CubicSpline(np.arange(len(places)) / RATE, places)
    animator = mw.Animator(who, Graph(mw.graph.ClipNode("motion", loop=False)))
    out, before = [], 0.0
    at = places[0]
    animator.root.set(at[:3], quaternion.normalize(at[3:]))
    for t in times:
        animator.update(float(t - before))
        k = round(t * RATE)
        at = places[k] if abs(t * RATE - k) < 1e-9 and k < len(places) else curve(t)
        animator.root.set(at[:3], quaternion.normalize(at[3:]))
        before = t
        model = animator.model_matrices
        root = animator.root.matrices
        out.append(model[:, :, 3] @ root[:, :3].T + root[:, 3])
    return np.array(out)


def unit_inputs(made: dict[str, Any]) -> dict[str, Any]:
    """The same world with rotations that are unit quaternions in float64, too: those of float32 scale by a little."""
    places = np.array(made["places"], np.float64)
    places[:, 3:] = quaternion.normalize(places[:, 3:])
    turns = {n: quaternion.normalize(np.array(made[n], np.float64)).tolist() for n in ("rotation", "turns")}
    return {**made, **turns, "places": places.tolist()}


def specified(made: dict[str, Any]) -> Any:
    """World positions of joints by the specification of `SPRINGS`, in float64, as the reference tells them."""
    skeleton, found = character(made).skeleton, own_springs(character(made))
    plan, made = plan_springs(skeleton, found.joints, found.colliders), unit_inputs(made)
    parents, places = np.array(made["parents"]), np.array(made["places"])
    rest = [np.array(made[name], np.float64) for name in ("translation", "rotation", "scale")]
    world, out = ReferenceWorld(lambda clip, time: None, np.zeros((0, 0)), parents), []
    for k, (place, root) in enumerate(zip(places[:, :3], places[:, 3:])):
        rows = [part.copy() for part in rest]
        rows[1][made["moved"]] = made["turns"][k]
        back = quaternion.conjugate(root)
        update = SpringUpdate(
            list(plan.joints), list(plan.colliders), axes=quaternion.rotate(back, np.eye(3))
        )
        if k:
            update.dt, update.steps = 1 / RATE, 1
            update.shift = quaternion.rotate(back, places[k - 1, :3] - place)
            update.turn = quaternion.multiply(back, places[k - 1, 3:])
        world.constants[0] = update
        reference_springs([rows], world, 0, 0.0, 1.0)
        kept = world.memory["springs", 0]
        kept["old"] = kept["new"]
        if k and k % EVERY == 0:
            model = transform.compose(*rows)
            for j, p in enumerate(parents.tolist()):
                model[j] = affine.multiply(model[p], model[j]) if p >= 0 else model[j]
            out.append(place + quaternion.rotate(root, model[:, :, 3]))
    return np.array(out)


def bones(made: dict[str, Any]) -> Any:
    """Pairs of joints with their length at rest `(n, 2)`."""
    return np.array([
        (a["node"], b["node"]) for s in made["springBone"]["springs"] for a, b in zip(s["joints"], s["joints"][1:])
    ])  # fmt: skip


def reference(worlds: list[dict[str, Any]], folder: Path, *options: str) -> list[Any]:
    script = folder / "check_springs.mjs"
    shutil.copy(Path(__file__).with_suffix(".mjs"), script)
    done = subprocess.run(
        ["node", str(script), *options], input=json.dumps(worlds), capture_output=True, text=True, check=True
    )
    return [np.array(w) for w in json.loads(done.stdout)]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where three and @pixiv/three-vrm-springbone are installed")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--rates", action="store_true", help="rates of updates against each other instead")
    parser.add_argument(
        "--float64",
        action="store_true",
        help="the specification in float64 instead of the kernels, on unit quaternions",
    )
    parser.add_argument(
        "--as-published", action="store_true", help="lengths as the published package measures them"
    )
    parser.add_argument(
        "--record", type=Path, help="write a second of a few worlds and what the reference makes of them"
    )
    options = parser.parse_args()
    if options.record:
        record(options.folder, options.record)
        return 0
    errors = []
    for first in range(options.first, options.first + options.count, 20):
        worlds = [world(seed) for seed in range(first, min(first + 20, options.first + options.count))]
        if options.rates:
            errors += [worst_rate(w) for w in worlds]
            continue
        given = [unit_inputs(made) for made in worlds] if options.float64 else worlds
        flags = ["--as-published"] * options.as_published
        for made, theirs in zip(worlds, reference(given, options.folder, *flags)):
            if options.float64:
                ours = specified(made)
            else:
                ours = played(made, np.arange(1, SECONDS * RATE + 1) / RATE)[EVERY - 1 :: EVERY]
            a, b = bones(made).T
            length = np.linalg.norm(theirs[:, b] - theirs[:, a], axis=-1)
            off = np.linalg.norm((ours[:, b] - ours[:, a]) - (theirs[:, b] - theirs[:, a]), axis=-1) / length
            errors.append(float(off.max()))
    found = np.array(errors)
    unit = "m" if options.rates else "of a bone"
    order = np.argsort(found)[::-1][:8]
    print(
        f"{len(found)} worlds: median {np.median(found):.2g}, 99 % {np.quantile(found, 0.99):.2g}, "
        f"worst {found.max():.2g} {unit}"
    )
    print("worst:", ", ".join(f"{options.first + k}: {found[k]:.2g}" for k in order))
    return int(found.max() > (1e-3 if options.rates else 1e-4))


def record(folder: Path, path: Path) -> None:
    """Writes worlds with what the reference makes of them, in few digits."""

    def rounded(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: rounded(v) for key, v in value.items()}
        if isinstance(value, list):
            return [rounded(v) for v in value]
        return round(value, 6) if isinstance(value, float) else value

    worlds = [rounded(world(seed)) for seed in RECORDED]
    for made in worlds:
        made["places"], made["turns"] = made["places"][: RATE + 1], made["turns"][: RATE + 1]
    for made, theirs in zip(worlds, reference(worlds, folder)):
        made["seen"] = rounded(theirs.tolist())
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(worlds, separators=(",", ":")) + "\n")
    temporary.replace(path)


def worst_rate(made: dict[str, Any]) -> float:
    """Metres between places of joints at whole sixths of a second, at 24, 30, 144, 240 updates a second and jitter,
    from those at 60; but for the first half second: roots start at full speed, and how fast is not known then."""
    shared = np.arange(1, 6 * SECONDS + 1) / 6
    found = {}
    for rate in (60, 24, 30, 144, 240, 0):
        if rate:
            times = np.arange(1, SECONDS * rate + 1) / rate
        else:
            gaps = np.random.default_rng(1).uniform(0.003, 0.05, 1000)
            times = np.unique(np.concatenate([np.cumsum(gaps)[np.cumsum(gaps) < SECONDS], shared]))
        at = np.searchsorted(times, shared - 1e-9)
        found[rate] = played(made, times)[at]
    return max(float(np.linalg.norm(found[r] - found[60], axis=-1)[3:].max()) for r in found)


if __name__ == "__main__":
    sys.exit(main())
