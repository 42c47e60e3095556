"""Baked files that were changed on purpose: each is refused in words, or plays; nothing is read outside of it.

python tests/runtime_hostile.py LIBRARY FILE FIRST LAST     # mutants by number; who started it sees a crash
"""

from __future__ import annotations

import signal
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np

from marrow.errors import MarrowError
from marrow.runtime.container import read_sections, sealed
from marrow.runtime.native import NativeRuntime

SPECIAL = (
    0,
    1,
    -1,
    2,
    -2,
    3,
    7,
    15,
    16,
    17,
    31,
    64,
    255,
    1 << 15,
    1 << 30,
    -(1 << 30),
    1 << 31,
    -(1 << 31),
    1 << 40,
    (1 << 63) - 1,
    -(1 << 63),
)
FLOATS = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    1e-300,
    1e300,
    -1e300,
    1e9,
    -1e9,
    1e-9,
    float("nan"),
    float("inf"),
    -float("inf"),
)


def mutant(data: bytes, number: int) -> bytes:
    """The file with one to three places changed."""
    rng = np.random.default_rng(number)
    sections = {name: place for name, place in read_sections(data).items() if place[1] * place[3] * place[4]}
    names = [
        n
        for n in sections
        if not n.startswith("names.") and n not in ("pose.bank", "graph.roots", "pose.inverse_bind")
    ]
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        if rng.random() < 0.03:  # the table of sections itself
            at = 64 + 8 * int(rng.integers(0, 8 * len(sections)))
        else:
            begin, item, _, rows, columns = sections[names[int(rng.integers(len(names)))]]
            size = item * rows * columns
            width = 4 if item == 4 else 8
            at = begin + width * int(rng.integers(0, max(size // width, 1)))
        wide = at + 8 <= len(out)
        old = struct.unpack_from("<q" if wide else "<i", out, at)[0]
        kind = rng.random()
        if kind < 0.4:
            new = old + int(rng.choice([-2, -1, 1, 2, 16]))
        elif kind < 0.7:
            new = int(SPECIAL[int(rng.integers(len(SPECIAL)))])
        elif kind < 0.85:
            new = int(rng.integers(-3, 200))
        else:
            new = struct.unpack("<q", struct.pack("<d", FLOATS[int(rng.integers(len(FLOATS)))]))[0]
        if wide and rng.random() < 0.8:
            struct.pack_into("<Q", out, at, new & (1 << 64) - 1)
        else:
            struct.pack_into("<I", out, at, new & 0xFFFFFFFF)
    return sealed(out)


def exercise(runtime: NativeRuntime, data: bytes, number: int) -> str:
    """Loads a file, and plays it where it is taken. Returns what was said, or `plays`."""
    rng = np.random.default_rng(number)
    try:
        character = runtime.load(data)
    except MarrowError as error:
        return str(error)
    said = "plays"
    try:
        crowd = character.create(2)
    except MarrowError as error:
        character.free()
        return str(error)
    try:
        for step in range(8):
            steer(crowd, rng)
            crowd.update(float(rng.choice([0.0, 1 / 60, 0.1, 0.7])))
            _ = crowd.matrices, crowd.model_matrices, crowd.events
            if step == 3:
                moment = crowd.snapshot()
                crowd.set_interval([2, 1])
            if step == 5:
                crowd.add(1)
                crowd.reset([0])
        crowd.inspect(0)
        if character.sizes["vertices"]:
            crowd.skin([0])
        crowd.restore(moment)
        crowd.restore(moment[:-8] + b"\0" * 8 if number % 2 else moment)
    except MarrowError as error:
        said = f"plays, then {error}"
    crowd.destroy()
    character.free()
    return said


def steer(crowd: Any, rng: np.random.Generator) -> None:
    """Whatever there is to be steered."""
    names = crowd.character.names
    for name in names["parameters"]:
        for call in (
            lambda n: crowd.set(n, rng.normal(0, 2)),
            lambda n: crowd.set(n, rng.normal(0, 2, 3)),
            crowd.trigger,
        ):
            try:
                call(name)
                break
            except MarrowError:
                continue
    for name in names["overrides"]:
        k = int(crowd.library.mrw_override_joints(crowd.character.pointer, crowd._index("overrides", name)))
        turns = np.tile([0.0, 0.6, 0.0, 0.8], (max(k, 0), 1))
        try:
            crowd.override(name, rotation=turns, weight=float(rng.choice([0.0, 0.5, 1.0])))
        except MarrowError:
            continue
    if names["overrides"]:
        heights = rng.normal(0, 0.1, (3, 3))
        crowd.set_ground(
            rng.choice([None, 0.1], 1)[0]
            if rng.random() < 0.5
            else lambda places: places[:, 0] * heights[0, 0]
        )
    for chain in names["springs"]:
        crowd.set_spring(chain, stiffness=rng.uniform(0, 3), limit=rng.uniform(0, 3), radius=0.1)
        try:
            crowd.set_wind(rng.normal(0, 1, 3))
        except MarrowError:
            continue
    for slot in names["slots"]:
        clip = names["clips"][int(rng.integers(1, len(names["clips"])))] if len(names["clips"]) > 1 else ""
        try:
            crowd.slot_play(slot, clip, how=int(rng.integers(3)), queue=bool(rng.random() < 0.5))
        except MarrowError:
            continue


if __name__ == "__main__":
    library, file, first, last = sys.argv[1:]
    runtime, data = NativeRuntime(library), Path(file).read_bytes()
    found: dict[str, int] = {}
    for number in range(int(first), int(last)):
        print(number, flush=True)
        signal.alarm(60)  # whoever takes so long is ended
        said = exercise(runtime, mutant(data, number), number)
        found[said] = found.get(said, 0) + 1
    print(sorted(found.items(), key=lambda item: -item[1]), flush=True)
