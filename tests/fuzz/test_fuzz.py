"""Damaged files of every format: a `Character` or a `MarrowError`, never another exception, a crash or a
hang.

A bounded run by default. `MARROW_FUZZ_SECONDS` runs each format for that long (`make fuzz`);
`MARROW_FUZZ_SEED` starts elsewhere. A failure names the seed that brings it back.
"""

from __future__ import annotations

import faulthandler
import json
import os
import random
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from mutator import mutate, mutate_json, mutate_numbers
from seeds import avatars, everything, flag

import marrow as mw
from marrow.errors import MarrowError
from marrow.io.container import checksum
from surroundings import corpus_folder, needed

SECONDS = float(os.environ.get("MARROW_FUZZ_SECONDS", "0"))
FIRST = int(os.environ.get("MARROW_FUZZ_SEED", "0"))
LIMIT_SECONDS = 30.0
HANG_SECONDS = 1800.0
LIMIT_BYTES = 2 << 30
COUNTS = {"fbx": 10}
BVH = b"""HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Spine
  {
    OFFSET 0 10 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 5 0
    }
  }
}
MOTION
Frames: 3
Frame Time: 0.0333
0 90 0 0 0 0 10 0 0
1 90 0 5 0 0 20 0 0
2 90 0 9 0 0 30 0 0
"""


def written(folder: Path, suffix: str) -> bytes:
    """A character with a bit of everything in marrow's own writing of a format."""
    path = folder / f"seed{suffix}"
    mw.save(everything(), path)
    return path.read_bytes()


def packed(folder: Path, method: str) -> bytes:
    """The same, made small."""
    needed("DracoPy" if method == "draco" else "meshoptimizer")
    path = folder / f"{method}.glb"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mw.save(everything(), path, compress=method)
    return path.read_bytes()


def embedded_gltf(folder: Path) -> bytes:
    """A `.gltf` whose buffer is inside, so that a mutant needs no neighbour."""
    import base64

    glb = written(folder, ".glb")
    length = int.from_bytes(glb[12:16], "little")
    document = json.loads(glb[20 : 20 + length])
    binary = glb[20 + length + 8 :]
    document["buffers"][0]["uri"] = (
        "data:application/octet-stream;base64," + base64.b64encode(binary).decode()
    )
    return json.dumps(document).encode()


def whole_files(format_name: str, folder: Path) -> list[tuple[str, bytes]]:
    """Whole files to start from, by the suffix they are tried under."""
    if format_name == "fbx":
        found = [(".fbx", flag().text())]
        found += [
            (".fbx", data)
            for data in corpus_files("morph_test.fbx", "maya_game_sausage_7500_binary_spin.fbx")
        ]
        return found
    if format_name == "bvh":
        return [(".bvh", BVH)]
    if format_name == "vrm":
        return [(".glb", data) for data in avatars()]
    if format_name == "packed":
        return [(".glb", packed(folder, method)) for method in ("meshopt", "quantized+meshopt", "draco")]
    if format_name == "gltf":
        return [(".gltf", embedded_gltf(folder))]
    if format_name == "glb":
        files = corpus_files(
            "SimpleSkin.glb", "AnimatedMorphCube.glb", "RiggedSimple.glb", "InterpolationTest.glb"
        )
        return [(".glb", written(folder, ".glb")), *((".glb", data) for data in files)]
    return [(".marrow", written(folder, ".marrow"))]


def corpus_files(*names: str) -> Iterator[bytes]:
    """Real files, where they are there."""
    folder = corpus_folder()
    for name in names:
        if (folder / name).is_file():
            yield (folder / name).read_bytes()


def sealed(data: bytes) -> bytes:
    """A damaged `.marrow` file with a checksum that fits again, to get past it to what is checked behind."""
    at = data.find(b'"checksum":"') + 12
    size = int.from_bytes(data[:8], "little")
    if at < 12 or not at + 8 < 8 + size <= len(data):
        return data
    body = at + 8
    parts = data[:8], data[8:at], data[body : 8 + size], data[8 + size :]
    return data[:at] + checksum(*parts) + data[body:]


def damaged(suffix: str, data: bytes, rng: random.Random) -> bytes:
    """A mutant: bytes changed anywhere, or a JSON description that is still JSON and fits no longer."""
    if suffix in (".fbx", ".bvh") and b"\0" not in data and rng.random() < 0.7:
        return mutate_numbers(data, rng)
    if suffix in (".fbx", ".bvh") or rng.random() < 0.3:
        mutant = mutate(data, rng)
        return sealed(mutant) if suffix == ".marrow" and rng.random() < 0.7 else mutant
    if suffix == ".gltf":
        document = json.loads(data)
        mutate_json(document, rng)
        return json.dumps(document).encode()
    if suffix == ".glb":
        length = int.from_bytes(data[12:16], "little")
        document = json.loads(data[20 : 20 + length])
        mutate_json(document, rng)
        text = json.dumps(document).encode()
        text += b" " * (-len(text) % 4)
        rest = data[20 + length :]
        head = b"glTF\x02\0\0\0" + (20 + len(text) + len(rest)).to_bytes(4, "little")
        return head + len(text).to_bytes(4, "little") + b"JSON" + text + rest
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    if rng.random() < 0.5:
        document = json.loads(header["__metadata__"]["character"])
        mutate_json(document, rng)
        header["__metadata__"]["character"] = json.dumps(document)
    else:
        mutate_json(header, rng)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return sealed(len(text).to_bytes(8, "little") + text + data[8 + length :])


def peak_bytes() -> int:
    try:
        import resource
    except ImportError:
        return 0
    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale


def try_one(path: Path) -> str:
    """What is wrong with what `load` made of a file; empty when nothing is."""
    # CPU time, not the clock: the machine may be busy with other things.
    begin = time.process_time()
    faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
    try:
        character = mw.load(path, cache=False)
        if not isinstance(character, mw.Character):
            return f"load returned {type(character)}"
        for mesh in character.meshes:
            if len(mesh.triangles) and int(mesh.triangles.max()) >= mesh.vertex_count:
                return "a triangle points outside its mesh"
        if character.meshes:
            mw.skin(character, character.skeleton.rest)
        if character.vrm or character.skeleton.humanoid:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                mw.save(character, path.with_name("again.glb"))
            mw.load(path.with_name("again.glb"), cache=False)
    except MarrowError:
        pass
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        faulthandler.cancel_dump_traceback_later()
    if time.process_time() - begin > LIMIT_SECONDS:
        return f"took {time.process_time() - begin:.1f} s of CPU time"
    return "took more than 2 GiB" if peak_bytes() > LIMIT_BYTES + (1 << 30) else ""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("format_name", ["marrow", "gltf", "glb", "vrm", "packed", "fbx", "bvh"])
def test_damaged_files_give_a_character_or_an_error(format_name: str, tmp_path: Path) -> None:
    whole = whole_files(format_name, tmp_path)
    end = time.monotonic() + SECONDS
    count, seed, failures = COUNTS.get(format_name, 150), FIRST, []
    while (time.monotonic() < end if SECONDS else seed < FIRST + count) and len(failures) < 10:
        rng = random.Random(f"{format_name} {seed}")
        suffix, data = whole[seed % len(whole)]
        path = tmp_path / f"mutant{suffix}"
        mutant = damaged(suffix, data, rng)
        path.write_bytes(mutant)
        with np.errstate(all="ignore"):
            wrong = try_one(path)
        if wrong:
            keep = os.environ.get("MARROW_FUZZ_KEEP")
            if keep:
                (Path(keep) / f"{format_name}-{seed}{suffix}").write_bytes(mutant)
            failures.append(f"MARROW_FUZZ_SEED={seed}: {wrong}")
        seed += 1
    assert not failures, "\n".join(failures)
