"""Small files that ask for much: every command ends in time and in little memory, with a result or with words.

Each file is worked on in a process of its own that may take 2 GiB of addresses, of which the interpreter and its libraries
need a third. What it took at most is measured there too. The cheap cases are run by default, all of them with
`MARROW_FUZZ_SECONDS` (`make fuzz`).
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="limits on memory are set another way on Windows")

LIMIT, MOST = 2 << 30, 600 << 20
PROGRAM = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
from marrow.cli.app import run
codes = [run(call) for call in json.loads(sys.argv[2])]
if sys.platform == "linux":  # `ru_maxrss` begins with what the process had that started this one
    (line,) = (line for line in open("/proc/self/status") if line.startswith("VmHWM:"))
    peak = int(line.split()[1]) * 1024
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
print("\\n" + json.dumps({"codes": codes, "peak": peak}))
"""


class Glb:
    """A glTF file, piece by piece."""

    def __init__(self, nodes: list[dict[str, Any]]) -> None:
        self.blob = b""
        self.json: dict[str, Any] = {
            "asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": nodes, "accessors": [], "bufferViews": [],
        }  # fmt: skip

    def array(self, values: np.ndarray, kind: str, component: int = 5126) -> int:
        data = np.ascontiguousarray(values)
        flat = data.reshape(len(data), -1)
        self.json["bufferViews"].append(
            {"buffer": 0, "byteOffset": len(self.blob), "byteLength": data.nbytes}
        )
        self.json["accessors"].append(
            {"bufferView": len(self.json["bufferViews"]) - 1, "componentType": component, "type": kind, "count": len(data),
             "min": flat.min(0).tolist(), "max": flat.max(0).tolist()}
        )  # fmt: skip
        self.blob += data.tobytes()
        return len(self.json["accessors"]) - 1

    def grid(self, side: int) -> Glb:
        """A mesh of `side` x `side` vertices."""
        x, y = np.meshgrid(np.linspace(0, 1, side), np.linspace(0, 1, side))
        points = np.stack([x, y, 0 * x], -1).reshape(-1, 3).astype("<f4")
        at = np.arange(side * side, dtype="<u4").reshape(side, side)
        corners = np.stack([at[:-1, :-1], at[:-1, 1:], at[1:, :-1]], -1).reshape(-1)
        attributes = {"POSITION": self.array(points, "VEC3"), "NORMAL": self.array(0 * points + 1, "VEC3")}
        primitive = {"attributes": attributes, "indices": self.array(corners, "SCALAR", 5125)}
        self.json["meshes"] = [{"primitives": [primitive]}]
        return self

    def turning(self, nodes: range, seconds: float, clips: int = 1) -> Glb:
        """Two keys for each of the nodes, the same arrays for all."""
        keys = self.array(np.array([0, seconds], "<f4"), "SCALAR")
        turn = self.array(np.array([[0, 0, 0, 1], [0, 0.6, 0, 0.8]], "<f4"), "VEC4")
        channels = [{"sampler": 0, "target": {"node": n, "path": "rotation"}} for n in nodes]
        clip = {"samplers": [{"input": keys, "output": turn}], "channels": channels}
        self.json["animations"] = [clip] * clips
        return self

    def bytes(self) -> bytes:
        self.json["buffers"] = [{"byteLength": len(self.blob)}] if self.blob else []
        text = json.dumps({k: v for k, v in self.json.items() if v != []}, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        blob = self.blob + b"\0" * (-len(self.blob) % 4)
        body = struct.pack("<I4s", len(text), b"JSON") + text
        body += struct.pack("<I4s", len(blob), b"BIN\0") + blob if blob else b""
        return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body


def chain(count: int) -> list[dict[str, Any]]:
    return [{"name": f"n{k}", "children": [k + 1]} for k in range(count - 1)] + [{"name": "end"}]


def nested() -> bytes:
    nodes = chain(20_000)
    nodes[-1]["mesh"] = 0
    return Glb(nodes).grid(2).turning(range(1), 1.0).bytes()


def one_mesh_on_many_nodes() -> bytes:
    file = Glb([{"mesh": 0, "translation": [k, 0, 0]} for k in range(2500)]).grid(170)
    file.json["scenes"][0]["nodes"] = list(range(2500))
    return file.bytes()


def two_keys_for_days() -> bytes:
    nodes = chain(200)
    nodes[-1]["mesh"] = 0
    return Glb(nodes).grid(2).turning(range(200), 16_000.0).bytes()


def long_clips_of_many_joints() -> bytes:
    file = Glb([{"name": f"n{k}"} for k in range(2000)]).turning(range(1), 1000.0, clips=50)
    file.json["scenes"][0]["nodes"] = list(range(2000))
    return file.bytes()


def one_array_for_many_morphs() -> bytes:
    file = Glb([{"mesh": 0}]).grid(120)
    primitive = file.json["meshes"][0]["primitives"][0]
    primitive["targets"] = [{"POSITION": primitive["attributes"]["POSITION"]}] * 5000
    return file.bytes()


def an_array_of_nothing() -> bytes:
    file = Glb([{"mesh": 0}]).grid(2)
    file.json["accessors"][0] |= {"count": 50_000_000}
    del file.json["accessors"][0]["bufferView"]
    return file.bytes()


def channels_of_a_bvh() -> bytes:
    channels = "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation"
    joints = f"JOINT a {{ OFFSET 0 1 0 {channels} }}\n" * 16_000
    numbers = "0 " * (6 * 16_001) + "\n"
    head = f"HIERARCHY ROOT r {{ OFFSET 0 0 0 {channels}\n{joints}}}\nMOTION\nFrames: 2\nFrame Time: 0.03\n"
    return (head + 2 * numbers).encode()


MANY = ["check", "bvh", "obj", "unreal", "in-place", "retarget"]
CASES: dict[str, tuple[Callable[[], bytes], str, list[str]]] = {
    "nested": (nested, "glb", MANY),
    "one mesh on many nodes": (one_mesh_on_many_nodes, "glb", ["check", "obj", "ply", "unreal"]),
    "two keys for days": (two_keys_for_days, "glb", [*MANY, "data set"]),
    "long clips of many joints": (long_clips_of_many_joints, "glb", ["check", "in-place", "lod"]),
    "one array for many morphs": (one_array_for_many_morphs, "glb", ["obj"]),
    "an array of nothing": (an_array_of_nothing, "glb", ["check"]),
    "channels of a BVH": (channels_of_a_bvh, "bvh", ["check", "in-place"]),
}
CHEAP = {
    "one mesh on many nodes, as OBJ": (one_mesh_on_many_nodes, "glb", ["obj"]),
    "an array of nothing": CASES["an array of nothing"],
}
RUN = CASES if float(os.environ.get("MARROW_FUZZ_SECONDS", "0")) else CHEAP


def call(what: str, file: str, folder: Path) -> list[str]:
    out = str(folder / "out")
    return {
        "check": ["check", file],
        "unreal": ["convert", file, f"{out}.glb", "--axes", "unreal"],
        "in-place": ["clip", "in-place", file, f"{out}.marrow", "-f"],
        "retarget": ["retarget", file, file, "-o", f"{out}_self.glb"],
        "lod": ["lod", file, "-o", f"{out}_lod.glb"],
        "data set": ["dataset", "build", file, "-o", f"{out}_data", "--workers", "0"],
    }.get(what, ["convert", file, f"{out}.{what}"])


@pytest.mark.parametrize("name", RUN)
def test_a_small_file_costs_little_whatever_it_asks_for(name: str, tmp_path: Path) -> None:
    make, suffix, commands = RUN[name]
    file = tmp_path / f"hostile.{suffix}"
    file.write_bytes(make())
    assert file.stat().st_size < 5_000_000
    calls = [call(what, str(file), tmp_path) for what in commands]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(LIMIT), json.dumps(calls)],
        capture_output=True, text=True, env={**os.environ, "MARROW_CACHE": "off", "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    result = json.loads(done.stdout.splitlines()[-1])
    assert set(result["codes"]) <= {0, 1, 2}, done.stderr
    assert "a fault inside marrow" not in done.stderr and "more memory than there is" not in done.stderr
    assert result["peak"] < MOST
