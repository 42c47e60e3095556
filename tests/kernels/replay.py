"""What must be the same on every machine, as hashes: characters skinned, clips sampled, a crowd of 600 updates.

    python tests/kernels/replay.py PART ...     prints the hashes as JSON
    python tests/kernels/replay.py --write      keeps those of all parts as the goldens of the tests

The parts of `OWN` need nothing but marrow, those of `REAL` the corpus of real files (`make corpus`).

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
from marrow.kernels import jobs

sys.path.append(str(Path(__file__).parents[1]))

from surroundings import corpus_folder

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


def spread(*shape: int, seed: int = 0) -> np.ndarray:
    """Numbers between -0.5 and 0.5 that no library has a hand in."""
    return ((np.arange(np.prod(shape)) + seed) * 7919 % 10007 / 10007 - 0.5).reshape(shape)


def patchwork() -> mw.Character:
    """A character with one to eight influences, dual quaternions in parts, in-betweens and keys of all kinds."""
    J, V, K = 20, 400, 8
    bones = mw.Skeleton(
        tuple(f"joint_{j}" for j in range(J)),
        [-1, *(j * 3 // 4 for j in range(J - 1))],
        mw.Pose(spread(J, 3), np.tile([0.0, 0, 0, 1], (J, 1)), np.ones((J, 3)), np.zeros(2)),
        morph_names=("puff", "flat"),
    )
    weights = (spread(V, K, seed=11) + 0.5) * (np.arange(K) <= np.arange(V)[:, None] % K)
    weights[:, 0] += 0.1
    targets = [
        mw.MorphTarget("puff", 0, spread(V, 3, seed=k), full_weight=w) for k, w in ((5, 0.4), (7, 1.0))
    ]
    targets.append(mw.MorphTarget("flat", 1, spread(9, 3), vertices=np.arange(9) * 40))
    frames = spread(V, 2, 3, seed=3)
    body = mw.Mesh(
        "body",
        spread(V, 3, seed=1) * 2,
        np.arange(V - V % 3).reshape(-1, 3),
        joints=np.arange(V * K).reshape(V, K) * 31 % J,
        weights=mw.normalize_weights(weights)[0],
        joint_list=np.arange(J),
        inverse_bind=bones.rest_model[:, :, :] * [[1, 1, 1, -1]],
        normals=frames[:, 0] / np.sqrt((frames[:, 0] ** 2).sum(1, keepdims=True)),
        tangents=np.append(
            frames[:, 1] / np.sqrt((frames[:, 1] ** 2).sum(1, keepdims=True)), np.ones((V, 1)), 1
        ),
        morph_targets=tuple(targets),
        dual_quaternion_weights=spread(V, seed=2) + 0.5,
    )
    tracks = []
    for j in range(J):
        kind = ("step", "linear", "cubic")[j % 3]
        times = np.arange(6) * 0.25 + 0.1 * (j % 2)
        for path, width in (("translation", 3), ("rotation", 4), ("scale", 3)):
            values = spread(6, 3 if kind == "cubic" else 1, width, seed=97 * j + width) + (path == "scale")
            if path == "rotation":
                values = values / np.sqrt((values**2).sum(-1, keepdims=True))
            tracks.append(mw.Track(j, path, times, values if kind == "cubic" else values[:, 0], kind))
    tracks += [mw.Track(m, "morph", np.arange(5) * 0.3, spread(5, 1, seed=m) + 0.5) for m in range(2)]
    return mw.Character(bones, [body], [mw.Clip("all", bones, tracks)], name="patchwork")


def own() -> dict[str, mw.Character]:
    lizard, mannequin = mw.samples.lizard(), mw.samples.mannequin()
    coarse = mannequin.replace(meshes=mannequin.levels[2].meshes, reduced=())
    return {"patchwork": patchwork(), "lizard": lizard, "coarse mannequin": coarse}


def real(names: tuple[str, ...]) -> dict[str, mw.Character]:
    return {name: mw.load(corpus_folder() / name) for name in names}


def skinned(characters: dict[str, mw.Character]) -> dict[str, str]:
    """Every skinning; what else is asked for, batches and threads must not matter."""
    out = {}
    for name, character in characters.items():
        hashed = Hash()
        poses = posed(character, 7)
        for pose in (poses, stretched(poses)):
            hashed.add(pose.translation, pose.rotation, pose.scale, pose.morphs)
            for skinning in METHODS:
                whole = mw.skin(character, pose, skinning=skinning)
                hashed.add(whole.positions, whole.normals, whole.tangents)
                check_independence(character, pose, skinning, whole)
        out[f"skin {name}"] = str(hashed)
    return out


def check_independence(character: mw.Character, pose: mw.Pose, skinning: str, whole: mw.Surface) -> None:
    """The same numbers from fewer outputs, other batches, several threads and a mesh by itself."""

    def same(a: Any, b: Any, what: str) -> None:
        if a is not None and b is not None and not np.array_equal(a, b, equal_nan=True):
            raise AssertionError(f"{character.name}: {skinning}: {what} changes the result")

    for normals, tangents in ((False, False), (True, False)):
        part = mw.skin(character, pose, skinning=skinning, normals=normals, tangents=tangents)
        same(part.positions, whole.positions, "which outputs are asked for")
        same(part.normals, whole.normals, "which outputs are asked for")
    for k in (0, len(pose) - 1):
        one = mw.skin(character, pose[k], skinning=skinning)
        for field in ("positions", "normals", "tangents"):
            if getattr(one, field) is not None:
                same(getattr(one, field), getattr(whole, field)[k], "the size of the batch")
    worth, jobs.WORTH_SECONDS = jobs.WORTH_SECONDS, 1e-9
    try:
        same(mw.skin(character, pose, skinning=skinning, threads=3).positions, whole.positions, "threads")
        same(
            mw.skin(character, pose[1], skinning=skinning, threads=3).positions, whole.positions[1], "threads"
        )
    finally:
        jobs.WORTH_SECONDS = worth


def sampled(characters: dict[str, mw.Character]) -> dict[str, str]:
    """Clips at times of all kinds, exact and resampled."""
    out = {}
    for name, character in characters.items():
        hashed = Hash()
        for clip in list(character.clips.values())[:9]:
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
    animator.instances.update_every = 1 + (n % 3 == 2)
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
            animator.slots["action"].play("attack", instances=n[n % 3 == 0])
        animator.update((1 / 60, 1 / 30, 1 / 144, 0.25)[k % 11 % 4])
        events, motion = animator.events.all, animator.root.motion
        hashed.add(events.instance, events.time, events.weight, motion.translation, motion.rotation)
        if k % 12 == 0 or k == updates - 1:
            hashed.add(animator.matrices, animator.pose.morphs)
    return str(hashed)


def few() -> dict[str, str]:
    """Enough for backends that are slow, or that compile what they run."""
    character, hashed = patchwork(), Hash()
    poses = posed(character, 3)
    clip = character.clips[0]
    resampled = clip.resampled().sample(np.linspace(0, clip.duration, 5))
    hashed.add(resampled.translation, resampled.rotation, resampled.scale)
    for pose in (poses, stretched(poses)):
        for skinning in METHODS:
            surface = mw.skin(character, pose, skinning=skinning)
            hashed.add(surface.positions, surface.normals, surface.tangents)
    return {"a few skins": str(hashed), "a few updates": lizards()}


def lizards() -> str:
    """Three lizards that change between their clips, by fades and by inertia, and look about."""
    states = {name: mw.graph.State(name) for name in ("bask", "walk")} | {"back": mw.graph.State("bask")}
    ways = (
        mw.graph.Transition("bask", "walk", ("speed > 0.5",), seconds=0.2),
        mw.graph.Transition("walk", "back", ("speed > 1.5",), seconds=0.2, blend="inertia"),
        mw.graph.Transition("*", "bask", ("elapsed >= 0.3",), seconds=0.1),
    )
    machine = mw.graph.StateMachine(states, ways)
    look = mw.graph.LookAt(machine, {"neck": 0.5, "head": 1.0}, "place")
    parameters = {
        "speed": mw.graph.Parameter(smoothing=0.1),
        "place": mw.graph.Parameter("vector", (0.5, 1.0, 2.0)),
    }
    animator = mw.Animator(mw.samples.lizard(), mw.graph.Graph(look, parameters), count=3)
    hashed = Hash()
    for k in range(20):
        animator["speed"] = np.arange(3) * 0.2 * k
        animator.update(1 / 30)
        hashed.add(animator.matrices, animator.events.all.time)
    return str(hashed)


OWN = {
    "skin": lambda: skinned(own()),
    "sample": lambda: sampled(own()),
    "graph": lambda: {"600 updates of the mannequin": crowd(600, 14)},
    "few": few,
}
REAL = {
    "real skin": lambda: skinned(real(CHARACTERS)),
    # Clips of every interpolation, and a BVH file, full of angles.
    "real sample": lambda: sampled(real(("InterpolationTest.glb", "Fox.glb", "pirouette.bvh"))),
}


def main(arguments: list[str]) -> None:
    parts = OWN | REAL
    found: dict[str, str] = {}
    for part in [a for a in arguments if not a.startswith("--")] or parts:
        found |= parts[part]()
    text = json.dumps(found, indent=1) + "\n"
    if "--write" in arguments:
        GOLDENS.write_text(text, encoding="utf-8")
        print(
            f"{GOLDENS} was written: commit it together with the reason why results changed", file=sys.stderr
        )
    else:
        print(text)


if __name__ == "__main__":
    main(sys.argv[1:])
