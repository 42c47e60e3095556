"""Random rigs with VRM's node constraints, in marrow and in @pixiv/three-vrm-node-constraint: how far joints are apart.

python tools/check_constraints.py FOLDER [--cases 1000] [--record tests/graph/vrm_constraints.json]

FOLDER has `node_modules` with three and @pixiv/three-vrm-node-constraint (`npm install` them there); needs node."""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import marrow as mw
from marrow.io.vrm_constraints import constraints_from_vrm

RECORDED = 12


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--record", type=Path)
    options = parser.parse_args()
    cases = [random_case(np.random.default_rng(seed)) for seed in range(options.cases)]
    with tempfile.TemporaryDirectory() as room:
        given, made = Path(room, "cases.json"), Path(room, "results.json")
        given.write_text(json.dumps(cases))
        script = Path(__file__).with_suffix(".mjs").resolve()
        subprocess.run(["node", str(script), str(given), str(made)], cwd=options.folder, check=True)
        expected = json.loads(made.read_text())
    worst = [angle(solved(case), np.array(want)) for case, want in zip(cases, expected)]
    print(f"{len(cases)} cases: {max(worst):.2e} radians apart at most, {np.mean(worst):.2e} on average")
    if options.record:
        kept = [case | {"expected": np.round(want, 6).tolist()} for case, want in zip(cases, expected)]
        options.record.write_text(json.dumps(kept[:RECORDED], separators=(",", ":")) + "\n")


def random_case(rng: np.random.Generator) -> dict[str, Any]:
    """A tree of joints, its rest pose, another pose, and constraints that are no circle: sources come before joints."""
    J = int(rng.integers(4, 9))
    parents = [-1, *(int(rng.integers(-1 if rng.random() < 0.2 else 0, j)) for j in range(1, J))]
    rest, pose = ({**random_pose(rng, J)} for _ in range(2))
    pose["scale"] = rest["scale"]
    joints = sorted(rng.choice(np.arange(1, J), size=int(rng.integers(1, min(4, J))), replace=False).tolist())
    constraints = []
    for joint in joints:
        kind = str(rng.choice(["roll", "aim", "rotation"]))
        body: dict[str, Any] = {
            "source": int(rng.integers(0, joint)),
            "weight": float(np.round(rng.choice([1.0, rng.random()]), 2)),
        }
        if kind == "roll":
            body["rollAxis"] = str(rng.choice(list("XYZ")))
        if kind == "aim":
            body["aimAxis"] = f"{rng.choice(['Positive', 'Negative'])}{rng.choice(list('XYZ'))}"
        constraints.append({"joint": joint, "constraint": {kind: body}})
    rng.shuffle(constraints)
    return {"parents": parents, "rest": rest, "pose": pose, "constraints": constraints}


def random_pose(rng: np.random.Generator, J: int) -> dict[str, Any]:
    q = rng.normal(size=(J, 4))
    q = q / np.linalg.norm(q, axis=1, keepdims=True)
    scale = np.repeat(np.exp(0.3 * rng.normal(size=(J, 1))), 3, axis=1)
    numbers = {"translation": rng.normal(size=(J, 3)), "rotation": q, "scale": scale}
    return {name: np.round(value, 8).tolist() for name, value in numbers.items()}


def solved(case: dict[str, Any]) -> Any:
    """The local rotations that marrow gives, `(J, 4)`."""

    def pose(numbers: dict[str, Any]) -> mw.Pose:
        t, q, s = (np.array(numbers[n], np.float32) for n in ("translation", "rotation", "scale"))
        return mw.Pose(t, q / np.linalg.norm(q, axis=1, keepdims=True), s)

    names = tuple(f"n{j}" for j in range(len(case["parents"])))
    bones = mw.Skeleton(names, case["parents"], pose(case["rest"]))
    data = {names[one["joint"]]: one["constraint"] for one in case["constraints"]}
    now = pose(case["pose"])
    clip = mw.Clip.from_poses(
        "pose", bones, mw.Pose(*(np.stack([a] * 2) for a in (now.translation, now.rotation, now.scale))), 30.0
    )
    who = mw.Animator(mw.Character(bones, clips=[clip], constraints=constraints_from_vrm(data, print)))
    who.play("pose")
    who.update(0.01)
    return who.pose.rotation


def angle(a: Any, b: Any) -> float:
    a, b = (np.asarray(v, np.float64) / np.linalg.norm(v, axis=-1, keepdims=True) for v in (a, b))
    return float(
        2
        * np.arcsin(
            np.clip(np.minimum(np.linalg.norm(a - b, axis=1), np.linalg.norm(a + b, axis=1)) / 2, 0, 1)
        ).max()
    )


if __name__ == "__main__":
    main()
