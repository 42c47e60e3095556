"""Runs kernels compiled for aarch64 under emulation: a frame goes in as a file, and comes out as one."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from compiling import arrays_of
from marrow.kernels.language.kernel import CallFrame, Kernel

TRIPLE = "aarch64-unknown-linux-gnu"
COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"

DRIVER = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
%(declared)s
static struct { const char *name; void (*run)(int64_t *); } kernels[] = { %(listed)s };
static int64_t number(FILE *f) { int64_t n = 0; if (fread(&n, 8, 1, f) != 1) exit(2); return n; }
/* name, words of the frame, arrays (which word holds the address, bytes) with what they contain */
int main(int argc, char **argv) {
  FILE *in = fopen(argv[2], "rb"), *out = fopen(argv[3], "wb");
  int64_t words = number(in), *frame = malloc(8 * words + 8);
  if (fread(frame, 8, words, in) != (size_t)words) return 3;
  int64_t count = number(in), sizes[256];
  if (count > 256) return 6;
  char *arrays[256];
  for (int64_t k = 0; k < count; k++) {
    int64_t at = number(in);
    sizes[k] = number(in);
    arrays[k] = aligned_alloc(64, (sizes[k] / 64 + 2) * 64);
    if (sizes[k] && fread(arrays[k], 1, sizes[k], in) != (size_t)sizes[k]) return 4;
    frame[at] = (int64_t)arrays[k];
  }
  for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
    if (!strcmp(kernels[k].name, argv[1])) {
      kernels[k].run(frame);
      fwrite(frame, 8, words, out);
      for (int64_t a = 0; a < count; a++) fwrite(arrays[a], 1, sizes[a], out);
      fclose(out);
      return 0;
    }
  return 5;
}
"""


def build(kernels: list[Kernel], folder: Path) -> Path:
    """A program that runs any of the kernels."""
    from marrow.kernels.language.machine import LEVELS, object_code, target_machine, written

    machine = target_machine(LEVELS["arm64"], triple=TRIPLE)
    (folder / "kernels.o").write_bytes(object_code(written(kernels, machine), machine))
    names = [k.name for k in kernels]
    text = DRIVER % {
        "declared": "".join(f"void {n}(int64_t *);\n" for n in names),
        "listed": ", ".join(f'{{"{n}", {n}}}' for n in names),
    }
    (folder / "driver.c").write_text(text)
    program = folder / "driver"
    subprocess.run(
        [
            COMPILER,
            "-O1",
            "-static",
            "-o",
            str(program),
            str(folder / "driver.c"),
            str(folder / "kernels.o"),
            "-lm",
        ],
        check=True,
    )
    return program


@dataclass
class Call:
    """One run of a kernel: its frame before and after."""

    kernel: Kernel
    words: bytes
    before: dict[str, Any]
    after: dict[str, Any]
    returned: list[int]


class Recorder:
    """Keeps the first few runs of every kernel (see `compiling.watch`)."""

    def __init__(self, each: int) -> None:
        self.each, self.calls = each, list[Call]()

    def __call__(self, frame: CallFrame, run: Callable[[], None]) -> None:
        kernel, arrays = frame.kernel, arrays_of(frame)
        if sum(c.kernel is kernel for c in self.calls) >= self.each:
            run()
            return
        words, before = bytes(frame.bytes), {n: np.copy(a) for n, a in arrays.items()}
        run()
        after = {n: np.copy(a) for n, a in arrays.items()}
        returned = list(frame.words[kernel.results : kernel.size])
        self.calls.append(Call(kernel, words, before, after, returned))


def emulated(program: Path, call: Call, folder: Path) -> tuple[dict[str, Any], list[int]]:
    """The arrays and results of a call as the emulated processor leaves them."""
    parts = [struct.pack("<q", len(call.words) // 8), call.words, struct.pack("<q", len(call.before))]
    for name, array in call.before.items():
        parts += [struct.pack("<qq", call.kernel.offsets[name], array.nbytes), array.tobytes()]
    (folder / "in").write_bytes(b"".join(parts))
    subprocess.run(
        [EMULATOR, str(program), call.kernel.name, str(folder / "in"), str(folder / "out")], check=True
    )
    raw = (folder / "out").read_bytes()
    words = np.frombuffer(raw[: len(call.words)], np.int64)
    arrays, at = {}, len(call.words)
    for name, array in call.before.items():
        arrays[name] = np.frombuffer(raw[at : at + array.nbytes], array.dtype).reshape(array.shape)
        at += array.nbytes
    return arrays, words[call.kernel.results : call.kernel.size].tolist()
