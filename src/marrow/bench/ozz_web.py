"""ozz-animation's runtime as an anchor for `marrow bench web`: compiled for WebAssembly by zig, from its sources.

    git clone https://github.com/guillaumeblanc/ozz-animation
    MARROW_OZZ=ozz-animation marrow bench web

It is built as its own project builds it for pages: with its portable maths (it has none for WebAssembly's
SIMD), of which the compiler may make vectors.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from marrow.model.character import Character
from marrow.runtime.build import BUILT

__all__ = ["MISSING", "OZZ_STEPS", "ozz_data", "ozz_module"]

SOURCE = Path(__file__).with_name("ozz_web.cpp")
MISSING = (
    "ozz was not measured: git clone https://github.com/guillaumeblanc/ozz-animation, "
    "and name the folder in MARROW_OZZ"
)
RATE = 30.0
OZZ_STEPS = """
export async function prepareOzz(module, numbers, count) {
  const wasi = new Proxy({}, { get: () => () => 0 });
  const { instance } = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi });
  const ozz = instance.exports;
  ozz._initialize?.();
  let at = 0;
  const one = () => numbers[at++];
  const lent = (length) => {
    const place = ozz.room(length);
    new Float32Array(ozz.memory.buffer, place, length).set(numbers.subarray(at, (at += length)));
    return place;
  };
  const joints = one();
  const known = ozz.set_skeleton(joints, lent(joints), lent(10 * joints));
  if (known !== joints) throw new Error("ozz takes no such skeleton");
  for (let k = 0; k < 2; k++) {
    const duration = one(), frames = one();
    const size = ozz.set_clip(k, duration, frames, joints, lent(10 * joints * frames));
    if (size < 0) throw new Error("ozz takes no such clip");
  }
  ozz.create(count);
  return ozz;
}
export function timedOzz(ozz) {
  let best = Infinity;
  for (let k = 0; k < 5; k++) {
    const begun = performance.now();
    if (!(ozz.update(1 / 60, 0.4) > -1e8)) throw new Error("ozz failed");
    best = Math.min(best, performance.now() - begun);
  }
  return best / 1000;
}
"""
"""In JavaScript: the module with its skeleton and two clips, and an update of all that it has."""


def ozz_data(character: Character, clips: tuple[str, str]) -> bytes:
    """A skeleton and two clips as float32: joints, parents, rest; then of each duration, frames, keys."""
    skeleton = character.skeleton
    rest = skeleton.rest
    parts = [
        [len(skeleton)],
        skeleton.parents,
        np.concatenate([rest.translation, rest.rotation, rest.scale], 1),
    ]
    for name in clips:
        clip = character.clips[name]
        frames = max(2, round(clip.duration * RATE) + 1)
        pose = clip.sample(np.linspace(0.0, clip.duration, frames))
        parts += [
            [clip.duration, frames],
            np.concatenate([pose.translation, pose.rotation, pose.scale], axis=2),
        ]
    return b"".join(np.asarray(part, "<f4").tobytes() for part in parts)


def ozz_module() -> Path | None:
    """The module, built once for the sources in the folder that MARROW_OZZ names; None where there are none."""
    given = os.environ.get("MARROW_OZZ")
    if not given or not (folder := Path(given).resolve()).joinpath("include", "ozz").is_dir():
        return None
    sources = [
        *folder.glob("src/base/*.cc"), *folder.glob("src/base/*/*.cc"), *folder.glob("src/animation/runtime/*.cc"),
        *folder.glob("src/animation/offline/*.cc"),
    ]  # fmt: skip
    digest = hashlib.sha256(SOURCE.read_bytes())
    for source in sorted(sources):
        digest.update(source.read_bytes())
    file = BUILT / f"ozz-{digest.hexdigest()[:16]}.wasm"
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        flags = [
            "-target",
            "wasm32-wasi",
            "-mexec-model=reactor",
            "-O3",
            "-DNDEBUG",
            "-msimd128",
            "-fno-exceptions",
        ]
        flags += ["-std=c++17", "-w", "-s", "-I", str(folder / "include"), "-I", str(folder / "src")]
        with tempfile.TemporaryDirectory(dir=file.parent) as room:
            made = Path(room) / "ozz.wasm"
            command = [
                sys.executable,
                "-m",
                "ziglang",
                "c++",
                *flags,
                str(SOURCE),
                *map(str, sorted(sources)),
            ]
            done = subprocess.run([*command, "-o", str(made)], capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(
                    f"marrow: building ozz failed (it takes PyPI's ziglang):\n{done.stderr[-2000:]}"
                )
            os.replace(made, file)
    return file
