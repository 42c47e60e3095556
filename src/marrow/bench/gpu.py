"""`marrow bench gpu`: what skinning costs on this machine's GPU, pass by pass, next to the CPU's kernels."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow import samples
from marrow.bench.graph import mixed_crowd
from marrow.bench.harness import Contest
from marrow.bench.ik import reaching_crowd
from marrow.errors import GpuMemoryError
from marrow.gpu import Buffer, Clock, Crowd, Device, Later, Skinner
from marrow.gpu.evaluator import GpuEvaluator
from marrow.graph import Animator
from marrow.kernels.jobs import thread_count
from marrow.model import Character
from marrow.skinning import skin, skinning_matrices

__all__ = ["contests", "measurements"]

Array = NDArray[Any]
SOFTWARE_RATIO = 1.5
"""On a software adapter, skinning may take this many times what the CPU's kernel takes."""
PYTHON_SECONDS = 1e-3
GOALS = {"positions": 1.2 * 0.24e-3, "positions, normals and tangents packed": 1.2 * 0.33e-3}
"""Seconds for 1,000 mannequins on an NVIDIA H200."""


def contests() -> list[Contest]:
    """One mannequin from its matrices to finished vertices, on the GPU and on the CPU."""
    device, found = Device.best(), []
    for title, vectors in (("positions", False), ("positions, normals, tangents", True)):
        who = plain(samples.mannequin(4))
        matrices = walking(who, 8)
        contest = Contest(f"one mannequin, {title}", "mannequin", 1)
        contest.entries["marrow"] = turning(matrices, _on_the_gpu(Skinner(who, device, normals=vectors)))
        contest.entries["marrow, CPU kernel"] = turning(matrices, _on_the_cpu(who, matrices[0], vectors))
        if device.adapter.is_software:
            contest.goals["marrow, CPU kernel"] = SOFTWARE_RATIO
        found.append(contest)
    return found


def measurements() -> dict[str, Any]:
    """Passes by the GPU's own clock, what Python takes, and crowds."""
    device = Device.best()
    count = 20 if device.adapter.is_software else 1000
    out: dict[str, Any] = {"measured on": {"adapter": str(device.adapter)}}
    title = (
        f"skinning {count:,} x {samples.mannequin(4).vertex_count:,} vertices, 4 influences, pass on the GPU"
    )
    out[title] = {
        "positions": passes(device, plain(samples.mannequin(4)), count, normals=False),
        "positions, normals and tangents packed": passes(
            device, plain(samples.mannequin(4)), count, vectors="octahedral", weights=8
        ),
        "positions, normals and tangents as floats": passes(device, plain(samples.mannequin(4)), count),
        "the same with 8 influences": passes(device, plain(samples.mannequin(8)), count),
        "the same with morph targets": passes(device, samples.mannequin(8), count),
        "dual quaternions, packed": passes(
            device,
            plain(samples.mannequin(4)),
            count,
            skinning="dual_quaternion",
            vectors="octahedral",
            weights=8,
        ),
    }
    if not device.adapter.is_software:
        out[title].update({f"at most, {name}": goal for name, goal in GOALS.items()})
    many = 50 if device.adapter.is_software else 10_000
    for title, mixed, goal in (
        ("10 % near, 30 % middle, 60 % far", True, 8e-3),
        ("all at level 0", False, 16e-3),
    ):
        out[f"{many:,} mannequins under a graph, vertices packed, {title}"] = {
            **frame(device, many, mixed),
            **({} if device.adapter.is_software else {"at most": goal}),
        }
    out.update(posing(device, many))
    out.update(solving(device, many))
    out["Python's part of one update"] = {
        "one mannequin": python_part(device, 1),
        "at most": PYTHON_SECONDS,
        f"{count:,} mannequins": python_part(device, count),
    }
    return out


POSE_SECONDS = 0.5e-3
"""For the pose pass of 10,000 mannequins on an NVIDIA H200."""
POSING_SECONDS, UPDATE_SECONDS = 0.5e-3, 2e-3
"""For Python's part of posing 10,000, and for all of an update of theirs with eight cores."""


def posing(device: Device, count: int) -> dict[str, Any]:
    """The pose pass of crowds under the mannequin's graph, palettes included, and what Python takes to hand it over."""
    found: dict[str, Any] = {}
    title = f"{count:,} mannequins under a graph: pose programs to palettes, pass on the GPU"
    crowd = Crowd(mixed_crowd(count), device=device)
    found[title] = {"mixed states, some reach and look": pose_pass(crowd)}
    for share, name in ((1.0, "all reach and look"), (0.0, "none reach or look")):
        crowd.animator["reach"] = crowd.animator["look"] = share
        for _ in range(60):
            crowd.animator.update(1 / 20)
        found[title][name] = pose_pass(crowd)
    if not device.adapter.is_software:
        found[title]["at most"] = POSE_SECONDS
    one = Crowd(mixed_crowd(1), device=device)
    found["Python's part of one posing"] = {
        "one mannequin": pose_pass(one, python=True),
        f"{count:,} mannequins": pose_pass(crowd, python=True),
        "at most": POSING_SECONDS,
    }
    found[f"Crowd.update of {count:,} mannequins under a graph, until it returns"] = {
        **update_parts(Crowd(mixed_crowd(count, threads=thread_count(None)), device=device)),
        "at most": UPDATE_SECONDS,
    }
    return found


def solving(device: Device, count: int) -> dict[str, Any]:
    """`FullBodyIK` with eight effectors, rotations and limits, three steps from where it was: on the GPU, and by the CPU's
    kernels on all threads with poses fetched and put back; and for one."""
    hero = samples.mannequin()
    clip, found = hero.clips["run"], {}
    for many in (count, 1):
        times = np.linspace(0, clip.duration, many)
        later = hero.skeleton.to_model(clip.sample(times + 1 / 30))
        crowd = Crowd(reaching_crowd(times, later, threads=thread_count(None)), device=device)
        assert isinstance(crowd.animator.evaluation.evaluator, GpuEvaluator)
        solvers = crowd.animator.evaluation.evaluator.shared.solvers
        rows: dict[str, Any] = {}
        for title, enabled in (("solved on the GPU", True), ("solved by the CPU's kernels", False)):
            if enabled and device.adapter.is_software:
                continue
            solvers.enabled = enabled
            if enabled and device.has_timestamps:
                rows["passes of the solver, by the GPU's clock"] = _solver_pass(crowd)
            rows[f"whole update, {title}"] = _whole_update(crowd)
        who = f"{many:,} mannequins" if many > 1 else "one mannequin"
        found[f"FullBodyIK with 8 effectors, 3 steps, {who} under gpu.Crowd"] = rows
        crowd.release()
    return found


def _solver_pass(crowd: Crowd) -> float:
    """The typical time of the passes that solve."""
    clock, times = Clock(crowd.device), []
    for _ in range(36):
        crowd.update(1 / 6000, timer=clock)
        times.append(clock.seconds()["ik"])
    return float(np.median(times[12:]))


def _whole_update(crowd: Crowd) -> float:
    """The typical time of an update until the palettes are there."""
    times = []
    for _ in range(36):
        start = time.perf_counter()
        crowd.update(1 / 6000)
        crowd.device.wait()
        times.append(time.perf_counter() - start)
    return float(np.median(times[12:]))


def update_parts(crowd: Crowd) -> dict[str, float]:
    """The whole of a typical update, the GPU being idle before: control on the pool, and what Python hands over."""
    times = []
    for _ in range(36):
        crowd.device.wait()
        start = time.perf_counter()
        crowd.animator.update(1 / 60)
        control = time.perf_counter() - start
        crowd.evaluate()
        times.append((time.perf_counter() - start, control))
    whole, control = np.median(times[12:], axis=0).tolist()
    return {"whole": whole, "control": control, "Python's part": whole - control}


def pose_pass(crowd: Crowd, *, python: bool = False) -> float:
    """The time of a typical update, since what a crowd does changes from one to the next: of the pass, by the GPU's clock
    where it has one, or until Python goes on."""
    device, times = crowd.device, []
    clock = Clock(device) if device.has_timestamps and not python else None
    for _ in range(36):
        crowd.animator.update(1 / 60)
        device.wait()
        start = time.perf_counter()
        crowd.evaluate(timer=clock)
        if not python and clock is None:
            device.wait()
        passed = time.perf_counter() - start
        times.append(passed if clock is None else sum(clock.seconds().values()))
    return float(np.median(times[12:]))


def plain(character: Character) -> Character:
    """The character without morph targets."""
    return character.replace(meshes=tuple(m.replace(morph_targets=()) for m in character.meshes))


def walking(character: Character, count: int) -> Array:
    """Skinning matrices `(N, P, 3, 4)` of so many moments of a walk."""
    clip = character.clips["walk"]
    poses = clip.sample(np.linspace(0, clip.duration, count, endpoint=False))
    matrices: Array = skinning_matrices(character.palette, character.skeleton.to_model(poses))
    return matrices


def turning(values: Array, call: Callable[[Array], Any]) -> Callable[[], Any]:
    """Calls with the next of some values each time, so that nothing is left out for being the same as before."""
    at = 0

    def run() -> Any:
        nonlocal at
        at = (at + 1) % len(values)
        return call(values[at])

    return run


def _on_the_gpu(skinner: Skinner) -> Callable[[Array], None]:
    def run(matrices: Array) -> None:
        skinner.update(matrices)
        skinner.device.wait()

    return run


def _on_the_cpu(character: Character, matrices: Array, vectors: bool) -> Callable[[Array], Any]:
    out = skin(character, matrices, normals=vectors, threads=1)
    return lambda m: skin(character, m, normals=vectors, threads=1, out=out)


def warm_up(device: Device, call: Callable[[], Any]) -> None:
    """Keeps a GPU busy until it runs at full clock: one that had nothing to do takes five times as long."""
    until = time.perf_counter() + (0.0 if device.adapter.is_software else 0.6)
    while time.perf_counter() < until:
        for _ in range(8):
            call()
        device.wait()


def passes(device: Device, character: Character, count: int, **options: Any) -> float | str:
    """The best of several times for the skinning pass of so many instances; by the GPU's clock where it has one."""
    matrices = walking(character, count)
    try:
        skinner = Skinner(character, device, **options)
        skinner.update(matrices)
    except GpuMemoryError as error:
        return f"not measured: {error}"
    warm_up(device, lambda: skinner.update(matrices, changed=True))
    best = np.inf
    clock = Clock(device) if device.has_timestamps else None
    for _ in range(12):
        if clock is not None:
            skinner.update(matrices, changed=True, timer=clock)
            best = min(best, sum(clock.seconds().values()))
        else:
            start = time.perf_counter()
            skinner.update(matrices, changed=True)
            device.wait()
            best = min(best, time.perf_counter() - start)
    return float(best)


def frame(device: Device, count: int, mixed: bool) -> dict[str, float | str]:
    """A frame of a crowd: control on the CPU, poses and skinning on the GPU. Two frames may be under way at once, as in a
    program that draws; the median of half a second, after as long to warm up (a GPU that had nothing to do is slow)."""
    hero = samples.mannequin()
    if mixed and len(hero.levels) < 3:
        return {"not measured": "the mannequin has no levels of detail"}
    animator = Animator(hero, samples.mannequin_graph(), count=count, threads=None)
    animator["speed"] = np.linspace(0, 3.6, count)
    if mixed:
        shares = np.arange(count) % 10
        animator.levels = np.where(shares < 1, 0, np.where(shares < 4, 1, len(hero.levels) - 1))
    try:
        crowd = Crowd(animator, device=device)
        skinner = Skinner(hero, device, influences=4, weights=8, vectors="octahedral")
        skinner.update(crowd)
    except GpuMemoryError as error:
        return {"not measured": str(error)}
    mark, under_way = Buffer(device, 4), deque[Later]()
    times: list[tuple[float, float, float]] = []
    until = time.perf_counter() + 1.0
    while time.perf_counter() < until or len(times) < 6:
        start = time.perf_counter()
        animator.update(1 / 60)
        control = time.perf_counter() - start
        crowd.evaluate()
        skinner.update(crowd)
        under_way.append(mark.later())
        python = time.perf_counter() - start - control
        if len(under_way) == 2:
            under_way.popleft().numpy()
        times.append((time.perf_counter() - start, control, python))
    whole, control, python = np.median(times[len(times) // 2 :], axis=0).tolist()
    out: dict[str, float | str] = {"whole": whole, "control": control, "Python besides": python}
    if device.has_timestamps:
        poses, skinning = Clock(device), Clock(device)
        crowd.evaluate(timer=poses)
        skinner.update(crowd, timer=skinning)
        out["poses on the GPU"] = sum(poses.seconds().values())
        out["skinning on the GPU"] = sum(skinning.seconds().values())
    crowd.release()
    return out


def python_part(device: Device, count: int) -> float:
    """Seconds until `update` returns, the GPU being idle before."""
    character = samples.mannequin(4)
    skinner, best = Skinner(character, device), np.inf
    matrices = walking(character, 2 * count)
    for i in range(40):
        part = matrices[(i % 2) * count :][:count]
        device.wait()
        start = time.perf_counter()
        skinner.update(part if count > 1 else part[0], changed=True if count > 1 else None)
        best = min(best, time.perf_counter() - start)
    return float(best)
