"""The modules of Linux' wheels on musl, the C library of Alpine: by a driver that loads them as Python does there.

There is no Python for musl to fetch. The driver (`musl.c`) is loaded by musl's own loader, has the functions of Python
that a module asks for, and runs calls that were recorded here: kernels as they are called, and jobs for the pool of
threads.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from marrow.kernels import build, jobs
from marrow.kernels.language.pool_code import HEAD
from marrow.kernels.targets import TARGETS
from platforms.debian import unpack
from platforms.foreign import LAB, ROOT, called, unpacked, zig
from platforms.linux_arm import emulator

sys.path.append(str(ROOT / "tests"))
sys.path.append(str(ROOT / "tests" / "kernels"))

import replay
from arm64 import Call, Recorder

from compiling import arrays_of, bits, watch

__all__ = ["check"]

ARCHITECTURES = {"linux-x86_64": "amd64", "linux-aarch64": "arm64"}
WORKERS = 4


def recorded() -> Iterator[tuple[Call, bytes]]:
    """Calls, each with its job for the pool (empty where it is none)."""
    patch = pytest.MonkeyPatch()
    recorder, made = Recorder(each=3), []
    watch(patch, recorder)
    replay.few()
    replay.crowd(6, 2)
    replay.sampled({"patchwork": replay.patchwork()})
    patch.undo()
    run = jobs.Job.run

    def kept(job: Any, begin: int, end: int, *, step: int, workers: int) -> None:
        frame, kernel = job.frame, job.frame.kernel
        arrays = arrays_of(frame)  # now: what was lent is forgotten after the run
        before = {n: np.copy(a) for n, a in arrays.items()}
        words, alone = bytes(frame.bytes), job._own == {}
        run(job, begin, end, step=step, workers=workers)
        after = {n: np.copy(a) for n, a in arrays.items()}
        if alone and sum(c.kernel is kernel for c, _ in made) < 4:
            job.set(begin, end, max(1, step // 4), WORKERS)
            made.append((Call(kernel, words, before, after, []), bytes(8 * HEAD) + bytes(job.words)))

    patch.setattr(jobs.Job, "run", kept)
    patch.setattr(jobs, "WORTH_SECONDS", 1e-9)
    replay.skinned({"patchwork": replay.patchwork()})
    patch.undo()
    yield from ((call, b"") for call in recorder.calls)
    for call, job in made:
        yield call, struct.pack("<q", 1) + job[8 * HEAD :]


def check(name: str) -> str:
    """Runs the modules of a target; what was compared, in words."""
    target, root = TARGETS[name], unpack(ARCHITECTURES[name], "musl") / "root"
    (loader,) = root.glob("**/ld-musl-*.so.1")
    folder = LAB / f"musl-{name}"
    folder.mkdir(parents=True, exist_ok=True)
    driver, source = folder / "driver", str(Path(__file__).with_name("musl.c"))
    triple = target.zig.partition("-")[0] + "-linux-musl"
    zig("cc", "-target", triple, "-O1", "-fPIC", "-c", source, "-o", "driver.o", folder=folder)
    # musl's loader is its C library too, for whoever asks for libc.so: so the driver does, by a file of that name.
    named = {"libc.c": b"int __libc_start_main(void) { return 0; }"}
    build.link(target, named, folder / "libc.so", flags=["-Wl,-soname,libc.so"])
    parts = {name: (folder / name).read_bytes() for name in ("driver.o", "libc.so")}
    build.link(target, parts, driver, flags=["-Wl,-e,_start"])
    calls = list(recorded())
    _write(folder / "calls", calls)
    said = []
    for level in target.levels:
        module = unpacked(name) / "marrow" / "kernels" / target.module_name(level)
        files = [driver, module, f"PyInit__{level}", folder / "calls", folder / "out"]
        foreign = name == "linux-aarch64"
        # Threads that spin cost most where they are emulated.
        command = [
            *(emulator() if foreign else []),
            str(loader),
            *map(str, files),
            "20" if foreign else "300",
        ]
        printed = called(command)
        arrays, wrong = _compare(folder / "out", calls)
        threads = printed.split()[1]
        many = sum(bool(job) for _, job in calls)
        said.append(
            f"{level}: {len(calls)} calls, {many} of them jobs of {WORKERS} workers ({threads} threads), "
        )
        said[-1] += f"{arrays} arrays, {len(wrong)} differ"
        if wrong or int(threads) != WORKERS - 1:
            raise RuntimeError("\n".join([*said, *wrong]))
    return "; ".join(said)


def _write(file: Path, calls: list[tuple[Call, bytes]]) -> None:
    def blob(data: bytes) -> bytes:
        return struct.pack("<q", len(data)) + data

    parts = [struct.pack("<q", len(calls))]
    for call, job in calls:
        parts += [blob(call.kernel.name.encode() + b"\0"), blob(call.words), blob(job)]
        parts.append(struct.pack("<q", len(call.before)))
        for name, array in call.before.items():
            parts += [struct.pack("<q", call.kernel.offsets[name]), blob(array.tobytes())]
    file.write_bytes(b"".join(parts))


def _compare(file: Path, calls: list[tuple[Call, bytes]]) -> tuple[int, list[str]]:
    """How many arrays there were, and those that are not as here."""
    raw, at, count, wrong = file.read_bytes(), 0, 0, []
    for call, job in calls:
        kernel = call.kernel
        words = np.frombuffer(raw, np.int64, len(call.words) // 8, at)
        at += len(call.words)
        if not job and words[kernel.results : kernel.size].tolist() != call.returned:
            wrong.append(f"{kernel.name}: what it returns")
        for name, array in call.before.items():
            got = np.frombuffer(raw[at : at + array.nbytes], array.dtype).reshape(array.shape)
            at += array.nbytes
            count += 1
            want, fields = call.after[name], array.dtype.names or (...,)
            wrong += [f"{kernel.name}: {name}" for f in fields if bits(got[f]) != bits(want[f])]
    return count, wrong if at == len(raw) else [*wrong, "there is more, or less, than was asked for"]
