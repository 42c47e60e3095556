"""What must be the same on every machine, as hashes: real characters skinned, clips sampled, a crowd of 600 updates.

    python tests/kernels/replay.py CORPUS [PART ...]    prints the hashes as JSON
    python tests/kernels/replay.py CORPUS --write       keeps them as the goldens of the tests

Write new goldens only where results were meant to change; say so in the changelog, since recorded games and data sets
change with them. NaN counts as one number, whatever its bits.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import marrow as mw

GOLDENS = Path(__file__).with_name("replay.json")
CHARACTERS = (
    "CesiumMan.glb",
    "Fox.glb",
    "Soldier.glb",
    "RecursiveSkeletons.glb",
    "AnimatedMorphCube.glb",
    "maya_dq_weights_7500_binary.fbx",
)
METHODS = ("linear", "dual_quaternion")


class Hash:
    """A running hash of arrays."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, *arrays: Any) -> None:
        for array in arrays:
            if array is None:
                continue
            array = np.array(array)
            if array.dtype.kind == "f":
                array[np.isnan(array)] = np.nan
            self._hash.update(f"{array.dtype.str}{array.shape}".encode() + array.tobytes())

    def __str__(self) -> str:
        return self._hash.hexdigest()[:24]


def posed(character: mw.Character, count: int) -> mw.Pose:
    """Poses of all its clips."""
    clip = character.clips[0]
    return clip.sample(np.linspace(0, clip.duration, count))


def stretched(pose: mw.Pose) -> mw.Pose:
    """Joints that scale, all ways alike and in any way, so that every kind of dual quaternion is met."""
    grown = (np.arange(pose.scale.size) * 7919 % 101 / 101 - 0.5).reshape(pose.scale.shape)
    scale = pose.scale * (1 + 0.5 * grown)
    return mw.Pose(pose.translation, pose.rotation, scale.astype(np.float32), pose.morphs)


def skinned(corpus: Path) -> dict[str, str]:
    """Real characters, every method; what else is asked for, batches and threads must not matter."""
    out = {}
    for name in CHARACTERS:
        character = mw.load(corpus / name)
        hashed = Hash()
        poses = posed(character, 7)
        for pose in (poses, stretched(poses)):
            hashed.add(pose.translation, pose.rotation, pose.scale, pose.morphs)
            for method in METHODS:
                whole = mw.skin(character, pose, method=method)
                hashed.add(whole.positions, whole.normals, whole.tangents)
                check_independence(character, pose, method, whole)
        out[f"skin {name}"] = str(hashed)
    return out


def check_independence(character: mw.Character, pose: mw.Pose, method: str, whole: mw.Surface) -> None:
    """The same numbers from fewer outputs, other batches, several threads and a mesh by itself."""

    def same(a: Any, b: Any, what: str) -> None:
        if a is not None and b is not None and not np.array_equal(a, b, equal_nan=True):
            raise AssertionError(f"{character.name}: {method}: {what} changes the result")

    for normals, tangents in ((False, False), (True, False)):
        part = mw.skin(character, pose, method=method, normals=normals, tangents=tangents)
        same(part.positions, whole.positions, "which outputs are asked for")
        same(part.normals, whole.normals, "which outputs are asked for")
    for k in (0, len(pose) - 1):
        one = mw.skin(character, pose[k], method=method)
        for field in ("positions", "normals", "tangents"):
            if getattr(one, field) is not None:
                same(getattr(one, field), getattr(whole, field)[k], "the size of the batch")
    import marrow.skinning.threads as threads

    worth, threads.WORTH_SECONDS = threads.WORTH_SECONDS, 1e-9
    import marrow.skinning.deform as deform

    kept, deform.WORTH_SECONDS = deform.WORTH_SECONDS, 1e-9
    try:
        same(mw.skin(character, pose, method=method, threads=3).positions, whole.positions, "threads")
        same(mw.skin(character, pose[1], method=method, threads=3).positions, whole.positions[1], "threads")
    finally:
        threads.WORTH_SECONDS, deform.WORTH_SECONDS = worth, kept


def sampled(corpus: Path) -> dict[str, str]:
    """Clips of every interpolation at times of all kinds, exact and resampled; a BVH file, full of angles."""
    out = {}
    for name in ("InterpolationTest.glb", "Fox.glb", "pirouette.bvh"):
        character = mw.load(corpus / name)
        hashed = Hash()
        clips = (
            list(character.clips.values()) if hasattr(character.clips, "values") else list(character.clips)
        )
        for clip in clips[:9]:
            times = np.concatenate([np.linspace(-0.1, clip.duration + 0.1, 23), [np.nan, np.inf, -np.inf]])
            pose, resampled = clip.sample(times), clip.resampled().sample(times[:-3])
            for p in (pose, resampled):
                hashed.add(p.translation, p.rotation, p.scale, p.morphs)
        out[f"sample {name}"] = str(hashed)
    return out


def crowd(updates: int, count: int) -> str:
    """A crowd of the mannequin's full graph, everybody doing something else, at uneven steps."""
    character = mw.samples.mannequin()
    animator = mw.Animator(character, mw.samples.mannequin_graph(), count=count)
    n, hashed = np.arange(count), Hash()
    animator.update_every = 1 + (n % 3 == 2)
    for k in range(updates):
        phase = (k % 90) / 90
        if k % 30 == 0:
            animator["speed"] = (n % 5) * 0.9 * phase - 0.4 * (n % 7 == 3)
            animator["strafe"] = ((n + k) % 4 - 1.5) * 0.5
            animator["crouch"] = (n + k // 30) % 4 == 0
            animator["upper"] = (n % 2) * phase
            animator["gesture"] = (n + k // 60) % 2
            animator["aim_yaw"] = (n % 3 - 1) * 0.7
            animator["look"] = (n % 3) / 2
            animator["look_at"] = np.stack([n % 3 - 1.0, 1 + n % 2, 2.0 - n % 5], axis=1)
            animator["reach"] = (n % 4) / 3
            animator["reach_for"] = np.stack(
                [0.3 + 0.05 * (n % 3), 1.0 + 0.1 * (n % 4), 0.4 - 0.1 * (n % 2)], axis=1
            )
            animator.trigger(
                ("jump", "turn_left", "turn_right")[k // 30 % 3], instances=n[n % 2 == k // 30 % 2]
            )
        if k % 100 == 40:
            animator.play_slot("action", "attack", instances=n[n % 3 == 0])
        animator.update((1 / 60, 1 / 30, 1 / 144, 0.25)[k % 11 % 4])
        events, motion = animator.events.all, animator.root_motion
        hashed.add(events.instance, events.time, events.weight, motion.translation, motion.rotation)
        if k % 12 == 0 or k == updates - 1:
            hashed.add(animator.matrices, animator.pose.morphs)
    return str(hashed)


def graph(corpus: Path) -> dict[str, str]:
    return {"600 updates of the mannequin": crowd(600, 14)}


def few(corpus: Path) -> dict[str, str]:
    """Enough for backends that are slow, or that compile what they run."""
    character, hashed = mw.load(corpus / "RiggedFigure.glb"), Hash()
    poses = posed(character, 3)
    clip = character.clips[0]
    resampled = clip.resampled().sample(np.linspace(0, clip.duration, 5))
    hashed.add(resampled.translation, resampled.rotation, resampled.scale)
    for pose in (poses, stretched(poses)):
        for method in METHODS:
            surface = mw.skin(character, pose, method=method)
            hashed.add(surface.positions, surface.normals, surface.tangents)
    return {"a few skins": str(hashed), "a few updates": foxes(corpus)}


def foxes(corpus: Path) -> str:
    """Three foxes that change between their clips, by fades and by inertia, and look about."""
    states = {name: mw.graph.State(name) for name in ("Survey", "Walk", "Run")}
    ways = (
        mw.graph.Transition("Survey", "Walk", ("speed > 0.5",), seconds=0.2),
        mw.graph.Transition("Walk", "Run", ("speed > 1.5",), seconds=0.2, blend="inertia"),
        mw.graph.Transition("*", "Survey", ("elapsed >= 0.3",), seconds=0.1),
    )
    machine = mw.graph.StateMachine(states, ways)
    look = mw.graph.LookAt(machine, {"b_Neck_04": 0.5, "b_Head_05": 1.0}, "place")
    parameters = {
        "speed": mw.graph.Parameter(smoothing=0.1),
        "place": mw.graph.Parameter("vector", (0.5, 1.0, 2.0)),
    }
    animator = mw.Animator(mw.load(corpus / "Fox.glb"), mw.graph.Graph(look, parameters), count=3)
    hashed = Hash()
    for k in range(20):
        animator["speed"] = np.arange(3) * 0.2 * k
        animator.update(1 / 30)
        hashed.add(animator.matrices, animator.events.all.time)
    return str(hashed)


PARTS = {"skin": skinned, "sample": sampled, "graph": graph, "few": few}


def main(arguments: list[str]) -> None:
    write = "--write" in arguments
    corpus, *parts = [a for a in arguments if not a.startswith("--")]
    found: dict[str, str] = {}
    for part in parts or PARTS:
        found |= PARTS[part](Path(corpus))
    text = json.dumps(found, indent=1) + "\n"
    if write:
        GOLDENS.write_text(text, encoding="utf-8")
        print(
            f"{GOLDENS} was written: commit it together with the reason why results changed", file=sys.stderr
        )
    else:
        print(text)


if __name__ == "__main__":
    main(sys.argv[1:])
