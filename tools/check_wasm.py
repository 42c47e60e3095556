"""Every kernel in WebAssembly: calls that tests make are recorded and run again in wasmtime, node and Chromium.

PYTHONPATH=tests:tests/kernels:tests/studio python tools/check_wasm.py [wasmtime] [node] [chromium]
"""

from __future__ import annotations

import base64
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

os.environ.setdefault("MARROW_KERNELS", "jit")  # there jobs for threads are calls like others

import marrow as mw
from marrow.kernels import catalogue
from marrow.skinning.joint_boxes import joined_boxes

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / name) for name in ("", "kernels", "studio")]

import replay  # noqa: E402
from arm64 import Call, Recorder  # noqa: E402
from wasm_calls import WasmtimeKernels, compared, wasm_module, write_calls  # noqa: E402

from compiling import arrays_of, watch  # noqa: E402

EACH, MOST_BYTES = 3, 64 << 20
FILES = (
    "kernels/test_joint_overrides.py",
    "kernels/test_rotation_kernels.py",
    "kernels/test_program_steps.py",
    "animation/test_packed_clips.py",
    "motion/test_planting.py",
    "motion/test_transfer.py",
    "motion/test_two_bone.py",
    "io/fbx/test_fbx_polygons.py",
    "io/test_fbx_writer.py",
    "io/test_bvh_numbers.py",
    "lod/test_select.py",
    "lod/test_lod_measuring.py",
    "torch/test_skinning.py",
    "dataset/test_building.py",
    "dataset/test_features.py",
    "gpu/test_crowd_poses.py",
    "gpu/test_gpu_ik.py",
    "skinning/test_skin.py",
    "graph/test_ik_nodes.py",
    "graph/test_ground.py",
    "graph/test_ground_mesh.py",
    "graph/test_feet.py",
    "graph/test_animator_parts.py",
    "runtime/test_runtime_files.py",
    "graph/test_springs.py",
    "io/test_ktx2.py",
    "matching/test_frame_search.py",
    "animation/test_archives.py",
)
"""Tests whose work calls every kernel."""


class Recording(Recorder):
    """Keeps the first calls of every kernel that the tests make, those of jobs for threads too."""

    def __init__(self) -> None:
        super().__init__(EACH)
        self.known = {id(kernel) for kernel in catalogue.kernels()}

    def __call__(self, frame: Any, run: Any) -> None:
        size = sum(a.nbytes for a in arrays_of(frame).values() if a is not None)
        if id(frame.kernel) in self.known and size <= MOST_BYTES:
            super().__call__(frame, run)
        else:
            run()

    @pytest.fixture(autouse=True)
    def recorded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        watch(monkeypatch, self)


def others() -> None:
    """What no test of those calls."""
    hero = mw.samples.mannequin()
    some = hero.clips["walk"].sample([0.0, 0.3])
    boxes = np.random.default_rng(1).normal(size=6 * 8).astype(np.float32)
    joined_boxes(mw.skinning_matrices(hero, hero.skeleton.to_model(some)), np.arange(8), boxes)
    mw.ik.Solver(hero, ["hand_l"]).solve(some, {"hand_l": hero.skeleton.to_model(some)[:, 20]})
    patchwork = replay.patchwork()
    poses = replay.posed(patchwork, 2)
    for factor in ([1.0, 1.0, 1.0], [1.2, 1.2, 1.2], [1.1, 0.9, 1.0]):
        scaled = poses.replace(scale=np.ones_like(poses.scale) * np.array(factor, np.float32))
        for skinning in ("linear", "dual_quaternion", "blended"):
            mw.skin(patchwork, scaled, skinning=skinning, tangents=False)


def in_chromium(module: bytes, calls: bytes) -> bytes:
    """What a page answers."""
    from browser import chromium

    script = (ROOT / "tests" / "kernels" / "wasm_calls.mjs").read_text().partition("\nif (typeof process")[0]
    script = script.replace("export async function run", "window.run = async function")
    body = """async ([module, calls]) => {
      const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
      const parts = await window.run(bytes(module), bytes(calls));
      const whole = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
      let at = 0;
      for (const p of parts) { whole.set(p, at); at += p.length; }
      let text = "";
      for (let k = 0; k < whole.length; k += 32768) text += String.fromCharCode(...whole.subarray(k, k + 32768));
      return btoa(text);
    }"""
    with chromium() as browser:
        page = browser.new_page()
        page.goto("about:blank")
        page.add_script_tag(content=script)  # evaluate() would call the function
        found = page.evaluate(body, [base64.b64encode(part).decode() for part in (module, calls)])
        return base64.b64decode(found)


def check(engine: str, module: bytes, calls: Sequence[Call]) -> list[str]:
    """What an engine does otherwise."""
    if engine == "wasmtime":
        kernels = WasmtimeKernels(module)
        return [line for call in calls for line in kernels.wrong(call)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_calls(folder / "calls", calls)
        if engine == "chromium":
            return compared(in_chromium(module, (folder / "calls").read_bytes()), calls)
        (folder / "module.wasm").write_bytes(module)
        script = str(ROOT / "tests" / "kernels" / "wasm_calls.mjs")
        files = [str(folder / part) for part in ("module.wasm", "calls", "out")]
        subprocess.run(["node", "--experimental-wasm-relaxed-simd", script, *files], check=True)
        return compared((folder / "out").read_bytes(), calls)


def main(engines: Sequence[str]) -> None:
    recording = Recording()
    there = [str(ROOT / "tests" / name) for name in FILES if (ROOT / "tests" / name).exists()]
    pytest.main([*there, "-q", "-n", "0", "-p", "no:cacheprovider"], plugins=[recording])
    patch = pytest.MonkeyPatch()
    watch(patch, recording)
    others()
    patch.undo()
    calls, kernels = recording.calls, catalogue.kernels()
    counted = Counter(call.kernel.name for call in calls)
    missing = [kernel.name for kernel in kernels if not counted[kernel.name]]
    size = sum(a.nbytes for call in calls for a in call.before.values())
    print(
        f"{len(calls)} calls of {len(counted)} of {len(kernels)} kernels, {size / 1e6:.1f} MB; without: {missing}"
    )
    failed = bool(missing)
    for strict in (False, True):
        module = wasm_module(kernels, strict=strict)
        for engine in engines:
            wrong = check(engine, module, calls)
            failed |= bool(wrong)
            said = "strict" if strict else "relaxed"
            print(f"{engine}, {said}: {len(wrong)} arrays differ {sorted(set(wrong))[:5]}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main(sys.argv[1:] or ["wasmtime", "node", "chromium"])
