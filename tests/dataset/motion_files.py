"""Small worlds for tests of data sets: bodies that move, in several formats, with broken files among them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

import marrow as mw

SIDES = (("left", 1.0), ("right", -1.0))


def body(scale: float = 1.0) -> mw.Skeleton:
    """A person of 21 joints in a T pose, facing +Z."""
    joints = [("hips", "", (0, 0.95, 0)), ("spine", "hips", (0, 0.25, 0)), ("head", "spine", (0, 0.35, 0))]
    for side, x in SIDES:
        joints += [
            (f"{side}_shoulder", "spine", (0.06 * x, 0.2, 0)),
            (f"{side}_upper_arm", f"{side}_shoulder", (0.12 * x, 0, 0)),
            (f"{side}_lower_arm", f"{side}_upper_arm", (0.27 * x, 0, 0)),
            (f"{side}_hand", f"{side}_lower_arm", (0.25 * x, 0, 0)),
            (f"{side}_upper_leg", "hips", (0.1 * x, -0.05, 0)),
            (f"{side}_lower_leg", f"{side}_upper_leg", (0, -0.42, 0)),
            (f"{side}_foot", f"{side}_lower_leg", (0, -0.4, 0)),
            (f"{side}_toes", f"{side}_foot", (0, -0.06, 0.14)),
        ]
    names = [name for name, _, _ in joints]
    parents = [names.index(above) if above else -1 for _, above, _ in joints]
    rest = mw.Pose.identity(len(names)).replace(
        translation=np.array([at for _, _, at in joints], np.float32) * np.float32(scale)
    )
    return mw.Skeleton(tuple(names), np.array(parents, np.int32), rest)


def motion(skeleton: mw.Skeleton, seed: int, frames: int, rate: float = 60.0, name: str = "move") -> mw.Clip:
    """Smooth turns of all joints while the hips travel."""
    rng = np.random.default_rng(seed)
    t = np.arange(frames) / rate
    J = len(skeleton)
    phase, speed = rng.uniform(0, 6, (J, 3)), rng.uniform(1, 5, (J, 3))
    angles = 0.3 * np.sin(phase + speed * t[:, None, None])
    angles[:, 0, 0] += t * rng.uniform(-1, 1)
    from marrow.math import quaternion

    rotation = quaternion.from_euler(angles, "yxz").astype(np.float32)
    translation = np.repeat(skeleton.rest.translation[None], frames, 0)
    translation[:, 0] += np.stack([0.3 * t, 0.02 * np.sin(7 * t), 0.8 * t], axis=-1).astype(np.float32)
    pose = mw.Pose(translation, rotation, np.ones((frames, J, 3), np.float32))
    clip = mw.Clip.from_poses(name, skeleton, pose, rate)
    return clip.replace(events=(mw.Event(0.1, "foot_l"), mw.Event(clip.duration / 2, "clap", 0.05, "loud")))


def write_corpus(folder: Path, count: int, *, formats: tuple[str, ...] = ("bvh", "glb", "marrow")) -> int:
    """So many files in sub-folders, every tenth of them broken; returns how many are."""
    skeleton = body()
    broken = 0
    for k in range(count):
        path = folder / f"actor{k % 4}" / f"take_{k:04d}"
        path.parent.mkdir(parents=True, exist_ok=True)
        clip = motion(skeleton, k, 20 + 7 * (k % 11), rate=(60.0, 30.0, 120.0)[k % 3])
        suffix = formats[k % len(formats)]
        mw.save(mw.Character(skeleton, clips=[clip], name="person"), path.with_suffix(f".{suffix}"))
        path.with_suffix(".txt").write_text(f"a person raises the left arm\ntake {k}\n")
        if k % 10 == 7:
            broken += 1
            file = path.with_suffix(f".{suffix}")
            data = file.read_bytes()
            file.write_bytes(data[: len(data) // 2] if k % 20 == 7 else b"")
    return broken


def bytes_of(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file of a data set, but for the journal, which knows times and places."""
    return {
        p.relative_to(folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(folder.rglob("*"))
        if p.is_file() and "_build" not in p.parts
    }
