"""`marrow bench dataset`: text to numbers, frames to features, and what workers, memory and a cluster cost."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from marrow.bench.harness import Contest
from marrow.dataset.builder import build
from marrow.dataset.features import Frames
from marrow.dataset.pool import run_tasks
from marrow.dataset.recipe import Recipe
from marrow.dataset.rows import _made
from marrow.io.bvh import read, write
from marrow.io.source import LoadOptions, Source
from marrow.math import quaternion
from marrow.model import Character, Clip, Pose, Skeleton

__all__ = ["contests", "measurements"]

JOINTS, FRAMES = 30, 3000
PARSED, MADE = 1 / 100.0, 1 / 50_000.0
"""Seconds a megabyte of BVH text and a frame of features may take."""
STARTED, FASTER, OVERHEAD = 1.5, 1.8, 5e-3
FEATURES = ("rotations_6d", "root_trajectory", "positions", "velocities", "angular_velocities", "contacts")
SMALL_FILES = (1000, 10_000)


def contests() -> list[Contest]:
    """One core: reading BVH, and features of 30 joints."""
    folder = Path(tempfile.mkdtemp(prefix="marrow-bench-"))
    character = _person()
    file = folder / "take.bvh"
    write(character, file)
    data = file.read_bytes()
    numbers = data[data.index(b"Frame Time") :].split(b"\n", 1)[1]
    source = Source.of_bytes(data, "take.bvh")
    text = Contest(f"BVH, {JOINTS} joints, text to Character", "MB", len(data) / 1e6, goal=PARSED)
    text.entries["marrow"] = lambda: read(source, LoadOptions())
    text.entries["NumPy, its numbers alone (as marrow did before)"] = lambda: np.fromstring(numbers, sep=" ")
    text.entries["Python, its numbers alone"] = lambda: [float(word) for word in numbers.split()]
    recipe = Recipe(features=FEATURES, rate=60.0)
    times, kept = np.arange(FRAMES) / 60.0, np.arange(JOINTS)
    clip = character.clips[0]

    def features() -> None:
        frames = Frames(character, clip, times, recipe, kept)
        for name in FEATURES:
            _made(name, frames)

    made = Contest(f"{', '.join(FEATURES)}: {JOINTS} joints", "frame", FRAMES, goal=MADE)
    made.entries["marrow"] = features
    return [text, made]


def measurements() -> dict[str, Any]:
    """What needs processes: start-up, two workers, memory, a cluster."""
    with tempfile.TemporaryDirectory(prefix="marrow-bench-") as name:
        folder = Path(name)
        found: dict[str, Any] = {"start of a local pool of two": {"first answers": _goal(_start(), STARTED)}}
        files = 576  # long enough that starting the workers does not count
        _takes(folder / "takes", files, 600)
        walls = {n: min(_built(folder / "takes", folder / f"out{n}{k}", n) for k in range(2)) for n in (1, 2)}
        ratio = walls[1] / walls[2]
        found[f"{files} takes of 600 frames"] = {
            "one worker": walls[1],
            "two workers": walls[2],
            "ratio": f"{ratio:.2f} (at least {FASTER}: {'met' if ratio >= FASTER else 'missed'})",
        }
        found |= _memory(folder)
        found |= _cluster(folder / "takes", folder / "ray", files, walls[2])
        return found


def _goal(seconds: float, most: float) -> str:
    return f"{seconds:.3g} s (at most {most:g} s: {'met' if seconds <= most else 'missed'})"


def _person() -> Character:
    """A body with fingers to spare that walks and sways."""
    joints = [("hips", -1, (0.0, 0.95, 0.0)), ("spine", 0, (0.0, 0.25, 0.0)), ("head", 1, (0.0, 0.35, 0.0))]
    for side, x in (("left", 1.0), ("right", -1.0)):
        first = len(joints)
        joints += [
            (f"{side}_shoulder", 1, (0.06 * x, 0.2, 0.0)),
            (f"{side}_upper_arm", first, (0.12 * x, 0.0, 0.0)),
            (f"{side}_lower_arm", first + 1, (0.27 * x, 0.0, 0.0)),
            (f"{side}_hand", first + 2, (0.25 * x, 0.0, 0.0)),
            (f"{side}_upper_leg", 0, (0.1 * x, -0.05, 0.0)),
            (f"{side}_lower_leg", first + 4, (0.0, -0.42, 0.0)),
            (f"{side}_foot", first + 5, (0.0, -0.4, 0.0)),
            (f"{side}_toes", first + 6, (0.0, -0.06, 0.14)),
        ]
    while len(joints) < JOINTS:
        joints.append((f"finger_{len(joints)}", 6, (0.05, 0.0, 0.01)))
    rest = Pose.identity(JOINTS).replace(translation=np.array([at for _, _, at in joints], np.float32))
    skeleton = Skeleton(tuple(n for n, _, _ in joints), np.array([p for _, p, _ in joints], np.int32), rest)
    rng = np.random.default_rng(1)
    t = np.arange(FRAMES) / 60.0
    angles = 0.3 * np.sin(rng.uniform(0, 6, (JOINTS, 3)) + rng.uniform(1, 5, (JOINTS, 3)) * t[:, None, None])
    translation = np.repeat(rest.translation[None], FRAMES, 0)
    translation[:, 0, 2] += (0.8 * t).astype(np.float32)
    pose = Pose(
        translation,
        quaternion.from_euler(angles, "yxz").astype(np.float32),
        np.ones((FRAMES, JOINTS, 3), np.float32),
    )
    return Character(skeleton, clips=[Clip.from_poses("walk", skeleton, pose, 60.0)], name="person")  # type: ignore[arg-type]


def _takes(folder: Path, count: int, frames: int) -> None:
    """So many BVH files: pieces of one long take."""
    folder.mkdir(parents=True)
    write(_person(), folder / "whole.bvh")
    lines = (folder / "whole.bvh").read_bytes().split(b"\n")
    (folder / "whole.bvh").unlink()
    at = next(k for k, line in enumerate(lines) if line.startswith(b"Frames"))
    head, rate, body = b"\n".join(lines[:at]), lines[at + 1], lines[at + 2 :]
    for k in range(count):
        first = (37 * k) % (FRAMES - frames)
        part = b"\n".join(body[first : first + frames])
        (folder / f"take_{k:05d}.bvh").write_bytes(
            head + b"\nFrames: %d\n" % frames + rate + b"\n" + part + b"\n"
        )


def _built(takes: Path, out: Path, workers: int) -> float:
    began = time.perf_counter()
    build(takes, out, features=FEATURES, rate=60, window=64, shard_mb=1, workers=workers)
    return time.perf_counter() - began


def nothing(argument: dict[str, Any], tell: Any) -> int:
    """A task that costs nothing."""
    return 0


def _start() -> float:
    began = time.perf_counter()
    for _ in run_tasks("marrow.bench.dataset:nothing", [{}, {}], workers=2):
        pass
    return time.perf_counter() - began


_MEASURE = """
import json, resource, sys, time
from marrow.dataset.builder import build
began = time.perf_counter()
build(sys.argv[1], sys.argv[2], features=["rotations_6d", "positions"], rate=60, window=4, workers=2)
seconds = time.perf_counter() - began
most = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(json.dumps([seconds, *most]))
"""


def _memory(folder: Path) -> dict[str, Any]:
    """The most memory of the driver and of a worker, for a thousand small files and for ten thousand."""
    told, times = {}, {}
    for count in SMALL_FILES:
        _takes(folder / f"small{count}", count, 8)
        command = [
            sys.executable,
            "-c",
            _MEASURE,
            str(folder / f"small{count}"),
            str(folder / f"memory{count}"),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds, driver, worker = json.loads(done.stdout.splitlines()[-1])
        told[f"{count:,} files"] = f"driver {driver / 1e3:.0f} MB, worker {worker / 1e3:.0f} MB"
        times[f"{count:,} files"] = seconds / count
    return {"most memory by files": told, "small files, two workers, time per file": times}


_RAY = """
import sys, time, ray
from ray.cluster_utils import Cluster
from marrow.dataset.builder import build
options = dict(features=sys.argv[3].split(), rate=60, window=64, shard_mb=1, on="ray")
small = {"num_cpus": 1, "object_store_memory": 80 << 20}
cluster = Cluster(initialize_head=True, head_node_args={**small, "include_dashboard": False})
cluster.add_node(**small)
ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
build(sys.argv[1], sys.argv[2] + "/first", **options)  # the workers of the cluster start
began = time.perf_counter()
build(sys.argv[1], sys.argv[2] + "/second", **options)
print("seconds", time.perf_counter() - began)
"""


def _cluster(takes: Path, out: Path, files: int, local: float) -> dict[str, Any]:
    """Two raylets of one processor each, against two local workers."""
    title = "the same takes on Ray, two raylets of this machine"
    if importlib.util.find_spec("ray") is None:
        return {title: {"": "Ray is not installed"}}
    command = [sys.executable, "-c", _RAY, str(takes), str(out), " ".join(FEATURES)]
    done = subprocess.run(command, capture_output=True, text=True)
    line = next((line for line in done.stdout.splitlines() if line.startswith("seconds")), None)
    if line is None:
        return {title: {"": f"failed: {done.stderr.strip()[-200:]}"}}
    seconds = float(line.split()[1])
    extra = max(2 * (seconds - local) / files, 0.0)
    return {title: {"wall": seconds, "more than local workers, per file": _goal(extra, OVERHEAD)}}
