"""`marrow bench io`: loading characters, next to every other Python-installable reader that is here."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from marrow.bench.body import corpus_folder
from marrow.bench.harness import Contest
from marrow.io import load, save
from marrow.io.reader_process import end_all
from marrow.samples import mannequin

__all__ = ["contests"]

TRIMESH = "trimesh (no skins, no clips)"
# How much of trimesh's time marrow may take from file to Character, without the cache.
AGAINST_TRIMESH = 0.5
# Seconds with the start of the process an FBX file is read in.
COLD_FBX = {"Samba_Dancing.fbx": 250e-3}
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
    return [*(contest for file in files for contest in _loading(file)), _info(small)]


def _loading(file: Path) -> list[Contest]:
    found: list[Contest] = []
    of_corpus = file.parent == corpus_folder()
    if file.suffix == ".fbx":
        start = Contest(f"{file.name}, with the start of its reader", "file", 1, goal=COLD_FBX.get(file.name))
        start.entries["marrow"] = lambda: _cold(file)
        found.append(start)
    cold = Contest(f"{file.name}, file to Character", "file", 1)
    cold.entries["marrow"] = lambda: load(file, cache=False)
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
