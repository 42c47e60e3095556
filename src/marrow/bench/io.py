"""`marrow bench io`: loading characters, next to every other Python-installable reader that is here."""

from __future__ import annotations

import importlib.util
import os
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from marrow.bench.body import corpus_folder
from marrow.bench.harness import Contest
from marrow.io import load, save
from marrow.io.reader_process import Reader, ask, end_all
from marrow.samples import mannequin

__all__ = ["contests"]

TRIMESH = "trimesh (no skins, no clips)"
# How much of trimesh's time marrow may take from file to Character, without the cache.
AGAINST_TRIMESH = 0.5
UFBX = "ufbx alone (the scene read, its motion baked)"
# Seconds for an FBX file, with the start of the process it is read in and without.
COLD_FBX = {"maya_kenney_character_7700_binary.fbx": 120e-3, "Samba_Dancing.fbx": 170e-3}
WARM_FBX = {"maya_kenney_character_7700_binary.fbx": 45e-3, "Samba_Dancing.fbx": 100e-3}
# How much of ufbx's own time marrow may take for many files at once.
MANY_FBX = 3.0
FROM_CACHE = 3e-3
INFO_PROCESS = 0.5


def contests() -> list[Contest]:
    """Every glTF file of the corpus where it is there (`make corpus`), an FBX, and the mannequin as a GLB."""
    folder = Path(tempfile.mkdtemp(prefix="marrow-bench-"))
    os.environ["MARROW_CACHE"] = str(folder / "cache")
    save(mannequin(), folder / "mannequin.glb")
    corpus = corpus_folder()
    files = [
        *sorted(corpus.glob("*.glb")),
        *(corpus / name for name in COLD_FBX if (corpus / name).is_file()),
    ]
    files.append(folder / "mannequin.glb")
    small = next((file for file in files if file.name == "Fox.glb"), files[-1])
    many = sorted(corpus_folder().glob("*.fbx"))
    return [
        *(contest for file in files for contest in _loading(file)),
        *([_many(many)] if many else []),
        _info(small),
    ]


def _loading(file: Path) -> list[Contest]:
    found: list[Contest] = []
    of_corpus = file.parent == corpus_folder()
    if file.suffix == ".fbx":
        start = Contest(f"{file.name}, with the start of its reader", "file", 1, goal=COLD_FBX.get(file.name))
        start.entries["marrow"] = lambda: _cold(file)
        start.entries[UFBX] = UfbxAlone([file])
        found.append(start)
    cold = Contest(f"{file.name}, file to Character", "file", 1, goal=WARM_FBX.get(file.name))
    cold.entries["marrow"] = lambda: load(file, cache=False)
    if file.suffix == ".fbx":
        cold.entries[UFBX] = UfbxAlone([file])
    for name, read in _readers(file.suffix).items():
        call = _tried(read, file)
        if call is None:
            cold.notes.append(f"{name} cannot read it")
        else:
            cold.entries[name] = call
            if name == TRIMESH and of_corpus:
                cold.goals[name] = AGAINST_TRIMESH
    load(file)
    warm = Contest(f"{file.name}, from the cache", "file", 1, goal=FROM_CACHE if of_corpus else None)
    warm.entries["marrow"] = lambda: load(file)
    return [*found, cold, warm]


class UfbxAlone:
    """Files by ufbx itself, one after the other, each in a process split off for it. `seconds` is what ufbx took of the
    last call: neither the process nor the way there counts."""

    def __init__(self, files: list[Path]) -> None:
        self._data = [file.read_bytes() for file in files]
        self.seconds = 0.0

    def __call__(self) -> None:
        reader = Reader("FBX", "marrow.io.fbx.ufbx_alone", "ufbx", "", library="ufbx")
        answers = (
            ask(reader, data, {"rate": 120.0}, size=len(data), path=Path("bench.fbx")) for data in self._data
        )
        self.seconds = sum(struct.unpack("<d", answer)[0] for answer in answers)


def _many(files: list[Path]) -> Contest:
    """All files at once, by as many threads as there are cores."""
    contest = Contest(f"{len(files)} FBX files at once, files to Characters", "file", len(files))
    pool = ThreadPoolExecutor(os.cpu_count())
    contest.entries["marrow"] = lambda: list(pool.map(lambda file: load(file, cache=False), files))
    contest.entries[UFBX] = UfbxAlone(files)
    contest.goals[UFBX] = MANY_FBX
    return contest


def _cold(file: Path) -> None:
    end_all()
    load(file, cache=False)


def _info(file: Path) -> Contest:
    contest = Contest(f"`marrow info {file.name}`, the whole process", "process", 1, goal=INFO_PROCESS)
    command = [sys.executable, "-m", "marrow", "info", str(file)]
    contest.entries["marrow"] = lambda: subprocess.run(command, capture_output=True, check=True)
    return contest


def _tried(read: Callable[[str], object], file: Path) -> Callable[[], object] | None:
    """The reader as a call, if it gets through the file at all."""
    try:
        read(str(file))
    except Exception:
        return None
    return lambda: read(str(file))


def _readers(suffix: str) -> dict[str, Callable[[str], object]]:
    """Other readers that are installed. They do less: none of them builds clips one can sample, some drop skins."""
    readers: dict[str, Callable[[str], object]] = {}

    def have(package: str) -> bool:
        return importlib.util.find_spec(package) is not None

    if suffix in (".glb", ".gltf") and have("pygltflib"):
        from pygltflib import GLTF2

        readers["pygltflib (JSON and bytes only)"] = lambda path: GLTF2().load(path)
    if suffix in (".glb", ".gltf") and have("trimesh"):
        import trimesh

        readers[TRIMESH] = lambda path: trimesh.load(path)
    if have("assimp_py"):
        import assimp_py

        readers["assimp-py (no skins, no clips)"] = lambda path: assimp_py.import_file(
            path, assimp_py.Process_Triangulate
        )
    if have("bpy"):
        import bpy

        def blender(path: str) -> None:
            bpy.ops.wm.read_factory_settings(use_empty=True)
            importer = bpy.ops.import_scene.fbx if path.endswith(".fbx") else bpy.ops.import_scene.gltf
            importer(filepath=path)

        readers["Blender (bpy)"] = blender
    return readers
