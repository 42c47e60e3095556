"""`marrow bench`: skinning and poses on one thread, against C++ twins, NumPy, SciPy and Torch."""

from __future__ import annotations

import subprocess
import sys
import time
import tracemalloc
from functools import partial
from typing import Any

import numpy as np

from marrow.animation.bank import ClipBank
from marrow.animation.kinematics import skinning_matrices, to_model
from marrow.bench import rivals
from marrow.bench.body import corpus_folder, random_pose, subdivided, synthetic_body
from marrow.bench.harness import Contest
from marrow.bench.twins import Twins, load_twins
from marrow.graph.pose_program import PoseEvaluator, PoseProgram, PoseProgramBuilder
from marrow.io import load
from marrow.kernels import reference
from marrow.kernels.backend import backend
from marrow.kernels.operations import ReferenceWorld, run_reference
from marrow.kernels.operations import codes as kernel
from marrow.model.character import Character
from marrow.samples import mannequin
from marrow.skinning import Surface, skin
from marrow.skinning.layout import Layout, layout_of

__all__ = ["contests", "measurements"]

TWIN, NAIVE = "C++ twin", "C++ plain loop"
LEAST_GOAL = {"v3": 1.2}
"""By processor level, the ratio to a twin that no goal goes below."""


def contests(*, vertices: int = 26_000, frames: int = 256) -> list[Contest]:
    """What the engine promises, with its goals."""
    body = synthetic_body(vertices)
    matrices = skinning_matrices(body, to_model(body.skeleton, random_pose(body)))
    twins = load_twins()
    return [
        *_skinning(body, matrices, twins),
        *(_real(who, twins) for who in _real_bodies()),
        _frames(body, frames, twins),
        *_poses(body, twins),
    ]


def _arrays(layout: Layout) -> tuple[Any, ...]:
    return (
        layout.ranges, layout.joint_start, layout.joints, layout.weights, layout.rows,
        layout.positions, layout.normals, layout.tangents,
    )  # fmt: skip


def _skinning(body: Character, matrices: np.ndarray, twins: Twins | None) -> list[Contest]:
    V, P = body.vertex_count, len(matrices)
    mesh = body.meshes[0]
    p, n, t = (np.empty((V, w), np.float32) for w in (3, 3, 4))
    out, full = Surface(p.copy()), Surface(p.copy(), n.copy(), t.copy())
    linear = Contest("linear blend, positions", "vertex", V)
    linear.entries["marrow"] = lambda: skin(body, matrices, normals=False, out=out, threads=1)
    vectors = Contest("linear blend, positions + normals + tangents", "vertex", V)
    vectors.entries["marrow"] = lambda: skin(body, matrices, out=full, threads=1)
    dual = Contest("dual quaternion, positions", "vertex", V)
    dual.entries["marrow"] = lambda: skin(
        body, matrices, skinning="dual_quaternion", normals=False, out=out, threads=1
    )
    larger = matrices.copy()
    larger[1::7, :, :3] *= 1.3
    scaled = Contest("dual quaternion, some joints scaled alike in all ways, positions", "vertex", V)
    scaled.entries["marrow"] = lambda: skin(
        body, larger, skinning="dual_quaternion", normals=False, out=out, threads=1
    )
    tidy = body.replace(meshes=(mesh.reordered(),))
    linear.entries["marrow, mesh.reordered()"] = lambda: skin(
        tidy, matrices, normals=False, out=out, threads=1
    )
    if twins is not None:
        straight, led = _arrays(layout_of(body)), _arrays(layout_of(body, lead_first=True))
        linear.entries[TWIN] = twins.prepared("twin_linear", 0, 1, P, V, *straight, matrices, p, n, t)
        linear.entries[NAIVE] = twins.prepared(
            "naive_linear", V, 4, mesh.positions, mesh.joints, mesh.weights, matrices, p
        )
        vectors.entries[TWIN] = twins.prepared("twin_linear", 1, 1, P, V, *straight, matrices, p, n, t)
        scratch = np.empty((P, 8), np.float32)
        dual.entries[TWIN] = twins.prepared("twin_dual", 0, 1, P, V, *led, matrices, scratch, p, n, t)
        scaled.entries[TWIN] = dual.entries[TWIN]
        scaled.notes.append("the twin knows no scale: it runs on the same joints without it")
        for contest, goal in ((linear, 1.12), (vectors, 1.12), (dual, 1.1), (scaled, 1.1)):
            contest.goals[TWIN] = max(goal, LEAST_GOAL.get(backend().name, 0.0))
    linear.entries["NumPy, dense weights (BLAS)"] = rivals.numpy_dense(mesh, matrices)
    linear.entries["NumPy, gather"] = rivals.numpy_gather(mesh, matrices)
    linear.goals["NumPy, dense weights (BLAS)"] = linear.goals["NumPy, gather"] = 1 / 30
    sparse = rivals.scipy_sparse(mesh, matrices)
    if sparse is not None:
        linear.entries["SciPy, sparse weights"] = sparse
    return [linear, vectors, dual, scaled]


def _real_bodies() -> list[Character]:
    """The mannequin, and the corpus's Soldier cut finer, where it is there (`make corpus`)."""
    bodies = [mannequin()]
    soldier = corpus_folder() / "Soldier.glb"
    if soldier.is_file():
        bodies.append(subdivided(load(soldier)))
    return bodies


def _real(body: Character, twins: Twins | None) -> Contest:
    clip = next((c for c in body.clips.values() if c.name.lower() == "run"), body.clips[0])
    matrices = skinning_matrices(body, to_model(body.skeleton, clip.sample(0.3)))
    V, P = body.vertex_count, len(matrices)
    contest = Contest(f"linear blend, positions: {body.name}, {V:,} vertices", "vertex", V)
    out = Surface(np.empty((V, 3), np.float32))
    contest.entries["marrow"] = lambda: skin(body, matrices, normals=False, out=out, threads=1)
    if twins is not None:
        p, none = np.empty((V, 3), np.float32), np.empty(0, np.float32)
        contest.entries[TWIN] = twins.prepared(
            "twin_linear", 0, 1, P, V, *_arrays(layout_of(body)), matrices, p, none, none
        )
        contest.goals[TWIN] = max(1.12, LEAST_GOAL.get(backend().name, 0.0))
    return contest


def _frames(body: Character, frames: int, twins: Twins | None) -> Contest:
    matrices = skinning_matrices(body, to_model(body.skeleton, random_pose(body, (frames,))))
    V, P = body.vertex_count, len(body.palette)
    contest = Contest(f"{frames} frames of one mesh, positions", "vertex-frame", V * frames, goal=2e-9)
    out = Surface(np.empty((frames, V, 3), np.float32))
    contest.entries["marrow"] = lambda: skin(body, matrices, normals=False, out=out, threads=1)
    if twins is not None:
        p, none = np.empty((frames, V, 3), np.float32), np.empty(0, np.float32)
        contest.entries[TWIN] = twins.prepared(
            "twin_linear", 0, frames, P, V, *_arrays(layout_of(body)), matrices, p, none, none
        )
        contest.goals[TWIN] = max(1.1, LEAST_GOAL.get(backend().name, 0.0))
    torch = rivals.torch_smplx(body.meshes[0], matrices)
    if torch is not None:
        contest.entries["Torch, smplx formulation"] = torch
        contest.goals["Torch, smplx formulation"] = 1 / 30
    else:
        contest.notes.append("torch is not installed: its row is missing")
    return contest


def locomotion(
    body: Character, count: int, seed: int = 3
) -> tuple[PoseProgram, PoseEvaluator, np.ndarray, np.ndarray]:
    """Three clips blended and a fourth laid over the upper body, for `count` characters at random moments."""
    rng = np.random.default_rng(seed)
    times, weights = rng.random((count, 4), np.float32), rng.random((count, 4), np.float32)
    weights[:, :3] /= weights[:, :3].sum(axis=1, keepdims=True)
    builder = PoseProgramBuilder(count)
    builder.add(kernel.SAMPLE, argument=1, time=times[:, 0], weight=weights[:, 0])
    builder.add(kernel.ACCUMULATE, argument=2, time=times[:, 1], weight=weights[:, 1])
    builder.add(kernel.ACCUMULATE, argument=3, time=times[:, 2], weight=weights[:, 2])
    builder.add(kernel.SAMPLE, argument=4, time=times[:, 3])
    builder.add(kernel.LAYER, argument=0, weight=weights[:, 3])
    mask = body.skeleton.mask(len(body.skeleton) // 3)
    return builder.build(), PoseEvaluator(ClipBank.of(body), body.palette, mask[None]), times, weights


def twin_locomotion(twins: Twins, body: Character, times: np.ndarray, weights: np.ndarray) -> Any:
    """The twin's call for the same frame."""
    bank, J, count = ClipBank.of(body), len(body.skeleton), len(times)
    mask = np.zeros(bank.layout.joints, np.float32)
    mask[:J] = body.skeleton.mask(J // 3)
    return twins.prepared(
        "twin_locomotion", count, J, bank.layout.joints, bank.rows, bank.start[1:].copy(), bank.frames[1:].copy(),
        bank.rate[1:].copy(), times, weights, mask, body.skeleton.parents, np.empty((count, J, 3, 4), np.float32),
    )  # fmt: skip


def _poses(body: Character, twins: Twins | None) -> list[Contest]:
    J = len(body.skeleton)
    made = []
    for count, goal in ((1000, 1.0e-6), (1, 6e-6)):
        program, evaluator, times, weights = locomotion(body, count)
        model = np.empty((count, J, 3, 4), np.float32)
        who = "1,000 characters" if count > 1 else "one character, from Python"
        contest = Contest(
            f"sample 3, blend, masked overlay, model matrices: {who}", "character", count, goal=goal
        )
        contest.entries["marrow"] = partial(evaluator.run, program, model=model)
        if twins is not None:
            contest.entries[TWIN] = twin_locomotion(twins, body, times, weights)
        if count > 1:
            contest.entries["NumPy (float64 reference)"] = _reference_poses(body, program, 20, count)
            contest.notes.append("the NumPy row runs 20 characters and is scaled to all")
        made.append(contest)
    return made


class _Scaled:
    """A call that does a part of the work: `scale` times its time is the whole."""

    def __init__(self, call: Any, scale: float) -> None:
        self.call, self.scale = call, scale

    def __call__(self) -> None:
        self.call()


def _reference_poses(body: Character, program: PoseProgram, some: int, count: int) -> _Scaled:
    bank = ClipBank.of(body)
    mask = body.skeleton.mask(len(body.skeleton) // 3)[None]

    def sample(clip: int, at: float) -> Any:
        pose = bank.sampled[clip - 1].sample(at)
        return pose.translation, pose.rotation, pose.scale, pose.morphs

    def run() -> None:
        for n in range(some):
            t, q, s, _ = run_reference(program.operations(n), ReferenceWorld(sample, mask))
            reference.to_model(body.skeleton.parents, t[None], q[None], s[None])

    return _Scaled(run, count / some)


# -- how it grows, how it starts, what it holds -------------------------------------------------------------------


def measurements(*, largest: int = 1_000_000) -> dict[str, Any]:
    """Time per unit over sizes, memory beside the output, and the first result of a second process."""
    return {
        "one frame, time per vertex by vertices": {
            f"{v:,}": _per_vertex(v) for v in (1_000, 10_000, 100_000, 1_000_000) if v <= largest
        },
        "10,000 vertices, time per vertex-frame by frames": {f: _per_frame(f) for f in (1, 10, 100, 1000)},
        "locomotion, time per character by characters": {
            f"{n:,}": _per_character(n) for n in (1, 10, 100, 1_000, 10_000)
        },
        "skinning by frames, memory beside matrices and output in bytes": {
            f: _extra_memory(f) for f in (1, 64, 512)
        },
        "import to first skinned result by process": _second_process(),
    }


def _best(call: Any, seconds: float = 0.3) -> float:
    call()
    best, until = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < until:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def _per_vertex(vertices: int) -> float:
    body = synthetic_body(vertices, clips=0)
    matrices = skinning_matrices(body, to_model(body.skeleton, random_pose(body)))
    out = Surface(np.empty((vertices, 3), np.float32))
    return _best(lambda: skin(body, matrices, normals=False, out=out, threads=1)) / vertices


def _per_frame(frames: int, vertices: int = 10_000) -> float:
    body = synthetic_body(vertices, clips=0)
    matrices = skinning_matrices(body, to_model(body.skeleton, random_pose(body, (frames,))))
    out = Surface(np.empty((frames, vertices, 3), np.float32))
    return _best(lambda: skin(body, matrices, normals=False, out=out, threads=1)) / frames / vertices


def _per_character(count: int) -> float:
    body = synthetic_body(1_000)
    program, evaluator, *_ = locomotion(body, count)
    model = np.empty((count, len(body.skeleton), 3, 4), np.float32)
    return _best(lambda: evaluator.run(program, model=model)) / count


def _extra_memory(frames: int) -> int:
    """The most that skinning a batch allocates beyond its matrices and its output."""
    body = synthetic_body(10_000, clips=0)
    matrices = skinning_matrices(body, to_model(body.skeleton, random_pose(body, (frames,))))
    out = Surface(np.empty((frames, 10_000, 3), np.float32))
    skin(body, matrices, normals=False, out=out, threads=1)
    tracemalloc.start()
    skin(body, matrices, normals=False, out=out, threads=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


_FIRST_RESULT = """
import time
start = time.perf_counter()
import marrow as mw
from marrow.bench.body import random_pose, synthetic_body
body = synthetic_body(2000, clips=1)
pose = body.clips[0].sample(0.3)
mw.skin(body, pose, threads=1)
print(time.perf_counter() - start)
"""


def _second_process() -> dict[str, float]:
    """Seconds from `import marrow` to the first skinned result, in processes of their own."""

    def run() -> float:
        command = [sys.executable, "-c", _FIRST_RESULT]
        return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    return {"first": run(), "best of 3": min(run() for _ in range(3))}
