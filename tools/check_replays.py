"""Recorded replays of random graphs: solvers, feet, overrides, springs around random motion, in Python, libmarrow, node
(both modules) and wasmtime (both): how many of their answers differ.

PYTHONPATH=tests python tools/check_replays.py [GRAPHS] [UPDATES] [SEED]
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import marrow as mw
from marrow.graph import (
    Additive,
    BlendSpace1D,
    ChainIK,
    FootPlacement,
    FullBodyIK,
    Graph,
    IKEffector,
    IKFloor,
    JointOverride,
    LayerBlend,
    LimitJoints,
    LookAt,
    RootMotion,
    Slot,
    Speed,
    SpringChain,
    Springs,
    State,
    StateMachine,
    Transition,
    TwoBoneIK,
)
from marrow.runtime import baked
from marrow.runtime.build import BUILT, built
from marrow.runtime.native import NativeRuntime

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "graph"), str(ROOT / "tests" / "runtime")]

from runtime_replays import play_native, play_python, recording  # noqa: E402
from runtime_worlds import PLACED, placed  # noqa: E402

LIMBS = {"hand_l": "upperarm_l", "hand_r": "upperarm_r", "foot_l": "thigh_l", "foot_r": "thigh_r"}
CLIPS = ("walk", "run", "idle", "wave", "attack")


def motion(rng: np.random.Generator) -> Any:
    """Clips under some of the nodes that blend them."""
    one, two, three = (str(c) for c in rng.permutation(CLIPS)[:3])
    kind = int(rng.integers(4))
    if kind == 0:
        return Speed(one, "speed")
    if kind == 1:
        return BlendSpace1D.of("x", {0.0: one, 0.7: two, 1.5: three})
    if kind == 2:
        return LayerBlend(one, two, joints=("spine_01",), weight="y")
    blend = "inertia" if rng.random() < 0.5 else "fade"
    moves = (
        Transition("a", "b", ("go",), seconds=0.3),
        Transition("b", "a", ("go",), seconds=0.2, blend=blend),
    )
    return StateMachine({"a": State(Speed(one, "speed")), "b": State(two)}, moves)


def effector(rng: np.random.Generator, joint: str) -> IKEffector:
    """What a joint is drawn to, in some space, with or without more."""
    more: dict[str, Any] = {"space": str(rng.choice(["character", "world", "root", "pelvis"]))}
    if rng.random() < 0.3:
        more["rotation"] = (0.1, 0.2, float(rng.normal(0, 0.3)))
    if rng.random() < 0.3:
        more["soft"] = 0.1
    return IKEffector(joint, target=str(rng.choice(["v", "w"])), weight=str(rng.choice(["x", "y"])), **more)


def random_graph(rng: np.random.Generator) -> tuple[Graph, dict[str, Any]]:
    """A graph of the mannequin, and what `recording` steers of it."""
    tree: Any = Slot("s", motion(rng))
    steered = {**PLACED, "overrides": (), "grounds": False, "slots": (("s", "wave"), ("s", "attack"))}
    kinds = ["override", "body", "chain", "limits", "feet", "hand", "look", "springs", "more"]
    for kind in rng.permutation(kinds)[: int(rng.integers(2, 7))].tolist():
        end = str(rng.choice(list(LIMBS)))
        if kind == "override":
            space, mode = str(rng.choice(["local", "model"])), str(rng.choice(["set", "offset"]))
            tree = JointOverride(tree, ("head", "spine_01"), name="told", space=space, mode=mode)
            steered["overrides"] = (("told", 2),)
        elif kind == "body":
            ends = rng.permutation(["hand_l", "hand_r", "foot_l", "foot_r", "head"])[
                : int(rng.integers(1, 4))
            ]
            floor = (IKFloor(("hand_l", "hand_r"), normal="n", height="y", space="world"),)
            given = floor if rng.random() < 0.3 else ()
            tree = FullBodyIK(tree, tuple(effector(rng, str(e)) for e in ends), floor=given, weight="y")
        elif kind == "chain":
            space = str(rng.choice(["character", "world", "pelvis"]))
            tree = ChainIK(tree, LIMBS[end], end, target="w", space=space, weight="x")
        elif kind == "limits":
            tree = LimitJoints(tree, limits="clips")
        elif kind == "feet":
            tree = FootPlacement(tree)
            steered["grounds"] = True
        elif kind == "hand":
            tree = TwoBoneIK(tree, end, "v", weight="x")
        elif kind == "look":
            tree = LookAt(tree, {"neck": 0.5, "head": 1.0}, "w", weight="y")
        elif kind == "springs":
            tree = Springs(tree, (SpringChain("lowerarm_l", stiffness=0.6, gravity=0.3),))
            steered["springs"] = ("lowerarm_l",)
        else:
            tree = Additive(tree, "breath", weight="x")
    return Graph(RootMotion(tree), placed().parameters, "random"), steered


def differing(found: list[str], wanted: list[str]) -> int:
    return sum(a != b for a, b in zip(found, wanted, strict=True))


def main(graphs: int, updates: int, seed: int) -> None:
    from wasmtime_player import WasmCharacter

    hero, runtime, rng = mw.samples.mannequin(), NativeRuntime(), np.random.default_rng(seed)
    clips = [hero.clips[name] for name in CLIPS]
    additive = [clip for clip in hero.clips.values() if clip.additive]
    hero = hero.replace(clips=[*clips, additive[0].replace(name="breath")])
    wrong = dict.fromkeys(("libmarrow", "node", "node, strict", "wasmtime", "wasmtime, strict"), 0)
    looks, nodes, recordings, answers = 0, dict[str, int](), list[dict[str, Any]](), list[list[str]]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for k in range(graphs):
            graph, steered = random_graph(rng)
            data = baked(hero, graph)[0]
            for crowd in (True, False):
                steps = recording(rng, 2, updates, crowd=crowd, looks=0.3, **steered)
                answer = play_python(hero, graph, 2, steps)
                looks += len(answer)
                character = runtime.load(data)
                native = character.create(2)
                wrong["libmarrow"] += differing(play_native(native, steps), answer)
                native.destroy()
                character.free()
                (folder / f"{k}.mrt").write_bytes(data)
                recordings.append({"file": f"{k}.mrt", "count": 2, "steps": steps})
                answers.append(answer)
            plain = [s for s in steps if s[0] in WasmCharacter.PLAYS]
            short = WasmCharacter.short(play_python(hero, graph, 2, plain))
            for how, called in (("wasm", "wasmtime"), ("strict", "wasmtime, strict")):
                found = WasmCharacter(built(how).read_bytes(), data).play(2, plain)
                wrong[called] += differing(found, short)
            for kind in set(re.findall(r"\b([A-Z]\w+)\(", repr(graph.root))) & set(vars(mw.graph)):
                nodes[kind] = nodes.get(kind, 0) + 1
            print(f"{k + 1} graphs, {looks} moments: {wrong}", flush=True)
        (folder / "recordings.json").write_text(json.dumps(recordings))
        for how, called in (("relaxed", "node"), ("strict", "node, strict")):
            script = str(ROOT / "tests" / "runtime" / "node_player.mjs")
            command = ["node", "--experimental-wasm-relaxed-simd", script, str(folder), str(BUILT), how]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            for got, answer in zip(json.loads(done.stdout)["answers"], answers, strict=True):
                wrong[called] += differing(got, answer)
    print(f"{graphs} graphs ({nodes}), {looks} moments; moments that differ: {wrong}")
    sys.exit(any(wrong.values()))


if __name__ == "__main__":
    main(*(int(given) for given in (*sys.argv[1:], *("20", "600", "1")[len(sys.argv) - 1 :])))
