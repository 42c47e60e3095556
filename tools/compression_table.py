"""Packs a named list of clips, measures what came of it, and writes the tables of docs/compression.md.

    python tools/compression_table.py CMU_FOLDER [--lists cmu30 cmu120 mannequin mannequin22] [--clips N] [--write]

`CMU_FOLDER` is a checkout of `una-dinosauria/cmu-mocap` on GitHub. Of its 2,245 files with at most 3,000,000 bytes,
sorted by path, every 56th from the 29th on is taken: 40 clips of 31 joints (end sites are left out, and the first frame,
in which the actor stands as in the rest pose), at 30 frames a second and at the 120 they were captured with, a unit being
0.0254 / 0.45 m. `mannequin` is all clips of `mw.samples.mannequin()`. Errors are measured by the decoder of the tests, in
float64, at frames and between, over the whole of spheres of 3 cm around joints.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import marrow as mw
from marrow.animation.packed import base_row, with_spare
from marrow.animation.resampling import unpack_rows
from marrow.kernels.packing import sample_packed
from marrow.kernels.pose_layout import PoseLayout
from marrow.model import Clip, Pose, Skeleton

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))
from packed_reference import Record, mixed, model  # noqa: E402

PAGE = HERE.parent / "docs" / "compression.md"
BEGIN, END = "<!-- tools/compression_table.py writes this -->", "<!-- until here -->"
LISTS = {
    "cmu30": "captured motion (CMU), 30 frames a second",
    "cmu120": "captured motion (CMU), 120 frames a second",
    "mannequin": "all clips of the mannequin, 60 frames a second",
    "mannequin22": "22 clips of the mannequin: gaits, turns, jump, gestures, aims",
}
GAITS_AND_AIMS = [
    "idle",
    "walk",
    "run",
    "walk_back",
    "strafe_left",
    "strafe_right",
    "turn_left",
    "turn_right",
    "jump",
    "wave",
    "attack",
    "crouch",
    "aim_up_left",
    "aim_up",
    "aim_up_right",
    "aim_left",
    "aim_center",
    "aim_right",
    "aim_down_left",
    "aim_down",
    "aim_down_right",
    "breathe",
]
"""The clips that the mannequin had first."""
LIMIT, RADIUS = 1e-4, 0.03
SCALE = np.float32(0.0254 / 0.45)
"""Metres in a unit of these files."""
MOMENTS = 8
"""Times of each clip at which errors are measured."""


@dataclass
class Sums:
    """What a list of clips came to."""

    clips: int = 0
    raw: int = 0
    packed: int = 0
    archived: int = 0
    packing: float = 0.0
    expanding: float = 0.0
    decoding: float = 0.0
    poses: int = 0
    worst: float = 0.0
    over: int = 0


def cmu_files(folder: Path) -> list[Path]:
    """The named list."""
    files = sorted(
        str(path.relative_to(folder)) for path in folder.rglob("*.bvh") if path.stat().st_size <= 3_000_000
    )
    if len(files) != 2245 and len(files) != 40:
        print(f"{folder} has {len(files)} such files, 2245 were expected", file=sys.stderr)
    return [folder / name for name in (files if len(files) == 40 else files[28::56])]


def without_ends(character: mw.Character, stride: int = 1) -> Clip:
    """The motion of a BVH file without its end sites and its first frame: every frame, or one of some."""
    clip = next(iter(character.clips.values()))
    skeleton = character.skeleton
    kept = [j for j, name in enumerate(skeleton.names) if "_end" not in name]
    place = {j: k for k, j in enumerate(kept)}
    rest = Pose(
        SCALE * skeleton.rest.translation[kept], skeleton.rest.rotation[kept], skeleton.rest.scale[kept]
    )
    parents = [place.get(int(skeleton.parents[j]), -1) for j in kept]
    bare = Skeleton([skeleton.names[j] for j in kept], parents, rest)
    sampled = clip.resampled()
    poses = unpack_rows(np.array(sampled.rows), len(skeleton), 0)
    fields = [field[1::stride, kept] for field in (SCALE * poses.translation, poses.rotation, poses.scale)]
    return Clip.from_poses(
        character.name, bare, Pose(*(np.ascontiguousarray(f) for f in fields)), sampled.rate / stride
    )


def clips_of(name: str, folder: Path | None) -> Iterator[Clip]:
    """The clips of a list."""
    if name == "mannequin":
        yield from mw.samples.mannequin().clips.values()
        return
    if name == "mannequin22":
        yield from (mw.samples.mannequin().clips[clip] for clip in GAITS_AND_AIMS)
        return
    if folder is None:
        raise SystemExit("lists of CMU want its folder")
    for path in cmu_files(folder):
        yield without_ends(mw.load(path), 4 if name == "cmu30" else 1)


def _fields(pose: Pose) -> tuple[Any, ...]:
    return tuple(
        np.asarray(x, np.float64) for x in (pose.translation, pose.rotation, pose.scale, pose.morphs)
    )


def worst_error(clip: Clip, packed: Clip) -> float:
    """The largest error of any point on spheres around joints at a few times: the sphere's farthest point, exactly."""
    motion, skeleton = packed.packed, clip.skeleton
    assert motion is not None
    J, M = len(skeleton), len(skeleton.morph_names)
    rows = np.array(clip.resampled().rows)
    record = Record(motion.words, J, M)
    base = _fields(unpack_rows(base_row(skeleton, motion.additive)[None], J, M)[0])
    rng = np.random.default_rng(len(rows))
    T, parents, worst = len(rows), skeleton.parents.tolist(), 0.0
    for at in [*rng.uniform(0, T - 1, MOMENTS // 2), *rng.integers(0, T, MOMENTS - MOMENTS // 2)]:
        f = min(int(at), max(T - 2, 0))
        pair = [f, min(f + 1, T - 1)]
        true = [_fields(unpack_rows(rows[k : k + 1], J, M)[0]) for k in pair]
        mine = [record.frame(k, base) for k in pair]
        apart = model(parents, mixed(*true, at - f)) - model(parents, mixed(*mine, at - f))
        # How far a sphere may be off: its middle, and what the matrix does to its radius at most.
        far = np.linalg.norm(apart[:, :, 3], axis=1)
        directions = rng.normal(size=(200, 3))
        points = RADIUS * directions / np.linalg.norm(directions, axis=1, keepdims=True)
        moved = np.einsum("jab,pb->jpa", apart[:, :, :3], points) + apart[:, None, :, 3]
        worst = max(worst, float(far.max()), float(np.linalg.norm(moved, axis=-1).max()))
    return worst


def decoded_pose(packed: Clip, at: float) -> Pose:
    """The pose at a time counted in frames, by the decoder of the tests."""
    motion, skeleton = packed.packed, packed.skeleton
    assert motion is not None
    J, M = len(skeleton), len(skeleton.morph_names)
    record = Record(motion.words, J, M)
    base = _fields(unpack_rows(base_row(skeleton, motion.additive)[None], J, M)[0])
    f = min(int(at), max(motion.frame_count - 2, 0))
    pair = [record.frame(k, base) for k in (f, min(f + 1, motion.frame_count - 1))]
    return Pose(*(x.astype(np.float32) for x in mixed(*pair, at - f)))


def decoding_time(packed: Clip) -> tuple[float, int]:
    """Seconds for poses at random times, one thread, the best of some."""
    motion = packed.packed
    assert motion is not None
    layout, count = PoseLayout(motion.joint_count, motion.morph_count), 1024
    words, base = with_spare([motion.words]), base_row(packed.skeleton, motion.additive)
    rows = np.zeros(count * layout.size, np.float32)
    query = np.random.default_rng(1).uniform(0, motion.frame_count - 1, count)
    best = 1e9
    for _ in range(20):
        begun = time.perf_counter()
        sample_packed(words, base, query, rows, 0, 0, motion.frame_count, layout.joints, layout.morphs)
        best = min(best, time.perf_counter() - begun)
    return best, count * motion.joint_count


def measured(name: str, folder: Path | None, most: int | None) -> Sums:
    sums = Sums()
    for clip in clips_of(name, folder):
        if most is not None and sums.clips >= most:
            break
        begun = time.process_time()
        packed = clip.compressed(error=LIMIT)
        sums.packing += time.process_time() - begun
        motion = packed.packed
        assert motion is not None
        archived = motion.archived()
        begun = time.process_time()
        expanded = type(motion).from_archive(archived)
        sums.expanding += time.process_time() - begun
        if not np.array_equal(expanded.words, motion.words):
            raise SystemExit(f"{clip.name}: the archive does not give back what was put in")
        error = worst_error(clip, packed)
        best, poses = decoding_time(packed)
        sums.decoding, sums.poses = sums.decoding + best, sums.poses + poses
        sums.clips, sums.raw, sums.packed = (
            sums.clips + 1,
            sums.raw + motion.raw_bytes,
            sums.packed + motion.nbytes,
        )
        sums.archived += len(archived)
        sums.worst, sums.over = max(sums.worst, error), sums.over + (error > LIMIT)
        print(
            f"{name} {clip.name}: {motion.ratio:.1f}, archive {motion.raw_bytes / len(archived):.1f}, error {error:.3g}",
            file=sys.stderr,
        )
    return sums


def table(sums: dict[str, Sums]) -> str:
    lines = [
        "| list | clips | packed | archive | largest error | decoding, a joint | packing | expanding |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, s in sums.items():
        lines.append(
            f"| {LISTS[name]} | {s.clips} | {s.raw / s.packed:.1f} : 1 | {s.raw / s.archived:.1f} : 1 "
            f"| {1e6 * s.worst:.0f} um, {s.over} clips over the limit | {1e9 * s.decoding / s.poses:.1f} ns "
            f"| {1e-6 * s.raw / s.packing:.1f} MB/s | {1e-6 * s.raw / s.expanding:.0f} MB/s |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--lists", nargs="+", choices=list(LISTS), default=list(LISTS))
    parser.add_argument("--clips", type=int, help="only so many of each list")
    parser.add_argument("--write", action="store_true", help="write the table into docs/compression.md")
    options = parser.parse_args()
    text = table({name: measured(name, options.folder, options.clips) for name in options.lists})
    print(text)
    if options.write:
        page = PAGE.read_text(encoding="utf-8")
        before, rest = page.split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
