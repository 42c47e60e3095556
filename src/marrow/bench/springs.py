"""`marrow bench springs`: joints that swing, and the reference implementation of VRM's spring bones in node where it is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from marrow.bench.harness import Contest
from marrow.graph import Animator, ClipNode, Graph, SpringChain, SpringCollider, Springs
from marrow.model import Character, Clip, Pose, Skeleton, Track

__all__ = ["contests"]

CROWD, CHAINS, LENGTH = 1000, 20, 5
GOAL = 30e-9
PACKAGE = "@pixiv/three-vrm-springbone"
SCRIPT = """
import * as THREE from "three";
import * as S from "@pixiv/three-vrm-springbone";
const root = new THREE.Object3D(), manager = new S.VRMSpringBoneManager();
const balls = [[0.1, -0.1], [0.05, -0.2], [0.1, -0.3]].map(([radius, y]) => {
  const made = new S.VRMSpringBoneCollider(new S.VRMSpringBoneColliderShapeSphere({ radius }));
  made.position.set(0, y, 0); root.add(made); return made; });
for (let c = 0; c < 20; c++) { let above = root, before = null; const a = (c / 20) * 6.283;
  for (let k = 0; k <= 5; k++) { const b = new THREE.Object3D();
    b.position.set(k ? 0 : 0.1 * Math.cos(a), k ? -0.08 : 0.1, k ? 0 : 0.1 * Math.sin(a)); above.add(b);
    if (before) manager.addJoint(new S.VRMSpringBoneJoint(before, b,
      { hitRadius: 0.02, stiffness: 1, gravityPower: 0.2, dragForce: 0.4 }, [{ name: "g", colliders: balls }]));
    before = b; above = b; } }
root.updateMatrixWorld(true); manager.setInitState();
let best = 1e9;
for (let r = 0; r < 20; r++) { const t = performance.now();
  for (let f = 0; f < 50; f++) {
    root.position.x = 0.3 * Math.sin(f / 10); root.updateMatrixWorld(true); manager.update(1 / 60); }
  best = Math.min(best, (performance.now() - t) / 50); }
console.log(JSON.stringify(best / 1000));
"""


def head_of_hair() -> tuple[Character, tuple[SpringChain, ...], tuple[SpringCollider, ...]]:
    """A body that sways, twenty chains of five joints that swing, three colliders."""
    names, parents = ["hips", "spine", "neck", "head"], [-1, 0, 1, 2]
    places = [[0.0, 1.0, 0.0], [0.0, 0.2, 0.0], [0.0, 0.2, 0.0], [0.0, 0.1, 0.0]]
    chains = []
    for c in range(CHAINS):
        angle, above, chain = 2 * np.pi * c / CHAINS, 3, []
        for k in range(LENGTH + 1):
            places.append(
                [0.0, -0.08, 0.0] if k else [0.1 * float(np.cos(angle)), 0.1, 0.1 * float(np.sin(angle))]
            )
            names.append(f"hair {c} {k}")
            parents.append(above)
            above = len(parents) - 1
            chain.append(names[-1])
        chains.append(SpringChain(tuple(chain)))
    rest = Pose.identity(len(parents))
    rest.translation[:] = places
    skeleton = Skeleton(tuple(names), np.array(parents, np.int32), rest)
    times = np.arange(61) / 60
    sway = np.stack([0.2 * np.sin(2 * np.pi * times), 1 + 0 * times, 0 * times], axis=1)
    clip = Clip("sway", skeleton, [Track(0, "translation", times, sway)])  # type: ignore[arg-type]
    colliders = (
        SpringCollider("head", 0.1, (0, -0.1, 0)),
        SpringCollider("neck", 0.05),
        SpringCollider("spine", 0.1, tail=(0, 0.2, 0)),
    )
    return Character(skeleton, clips=(clip,)), tuple(chains), colliders  # type: ignore[arg-type]


def contests() -> list[Contest]:
    """A thousand heads of hair: what springs add to an update and its skinning matrices, on one thread."""
    who, chains, colliders = head_of_hair()
    sway = ClipNode("sway")
    swinging = Graph(
        Springs(sway, chains, stiffness=1.0, drag=0.4, gravity=0.2, radius=0.02, colliders=colliders)
    )
    contest = Contest(
        f"{CHAINS * LENGTH} joints with {len(colliders)} colliders, an update and matrices", "joint",
        CROWD * CHAINS * LENGTH, goal=GOAL,
    )  # fmt: skip
    contest.entries["marrow"] = updates(who, swinging)
    contest.entries["without springs"] = updates(who, Graph(sway))
    contest.notes.append("what springs cost is the difference of the first two")
    seconds = reference_seconds()
    if seconds is None:
        contest.notes.append(
            f"{PACKAGE} was not measured: install node, and it with three in the folder that MARROW_NODE names"
        )
    else:
        contest.notes.append(
            f"{PACKAGE} in node, in this run: {seconds / (CHAINS * LENGTH) * 1e9:,.0f} ns a joint, springs alone"
        )
    return [contest]


def updates(who: Character, graph: Graph) -> Callable[[], object]:
    crowd = Animator(who, graph, count=CROWD, threads=1)

    def run() -> object:
        crowd.update(1 / 60)
        return crowd.matrices

    run()
    return run


def reference_seconds() -> float | None:
    """Seconds of one avatar's frame in the reference implementation; None where it is not there."""
    node, folder = shutil.which("node"), os.environ.get("MARROW_NODE", ".")
    if node is None or not (Path(folder) / "node_modules" / PACKAGE).is_dir():
        return None
    with tempfile.NamedTemporaryFile("w", suffix=".mjs", dir=folder) as file:
        file.write(SCRIPT)
        file.flush()
        done = subprocess.run([node, file.name], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        return None
    return float(json.loads(done.stdout))
