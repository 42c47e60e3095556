"""Saves characters as FBX and compares what other programs make of them with what marrow has, vertex by vertex.

    python tools/check_fbx.py FILE... [--readers marrow ufbx three blender blender_old assimp] [--python PYTHON]

Blender and Assimp run in a Python of their own (`pip install bpy assimp-py`). A figure is the farthest that a corner of a
triangle is from where it should be, as a part of the character's size, at ten moments of every clip.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import marrow as mw
from marrow.io.fbx.writing.clips import moved_properties
from marrow.io.fbx.writing.geometry import surface_of
from marrow.io.fbx.writing.rig import plan
from marrow.io.losses import Losses
from marrow.math import affine

HERE = Path(__file__).resolve().parent
READERS = ("marrow", "ufbx", "three", "blender", "blender_old", "assimp")
MOMENTS = 10
Shot = tuple[str | None, float, float]
"""A clip (None: at rest), a time in it, and that time in the file."""


def corner_positions(character: mw.Character, pose: mw.Pose | None) -> list[np.ndarray]:
    """The corners of every mesh that a file can hold, in the order of its parts."""
    surface = mw.skin(character, pose if pose is not None else character.skeleton.rest).positions
    found, at = [], 0
    for mesh in character.meshes:
        part = surface[at : at + mesh.vertex_count]
        at += mesh.vertex_count
        rows = np.concatenate([np.arange(s.first, s.first + s.count) for s in mesh.sections])
        if len(rows):
            found.append(part[mesh.triangles[rows].ravel()].astype(np.float64))
    return found


def shots_of(character: mw.Character, moments: int = MOMENTS) -> list[Shot]:
    """Clip, time in the clip, time in the file."""
    shots: list[Shot] = []
    for name, clip in character.clips.items():
        for t in np.linspace(0, clip.duration, moments):
            shots.append((name, float(t), float(t) + clip.start))
    return shots or [(None, 0.0, 0.0)]


def unposed_corners(character: mw.Character) -> list[np.ndarray]:
    """Where the file has the meshes before any skin moves them: all that Assimp's package shows."""
    rig = plan(character, moved_properties(character), Losses())
    found = []
    for one in rig.placed:
        above = rig.rest[one.parent] if one.parent >= 0 else affine.identity((), np.float64)
        place = rig.rest[one.own] if one.own >= 0 else affine.multiply(above, one.local)
        surface = surface_of(one.mesh, one.moved)
        points = affine.apply(place, surface.positions(1.0))
        found += [
            points[surface.point_of[surface.triangles[surface.slots == s]].ravel()]
            for s in range(len(surface.materials))
        ]
    return found


def worst(wanted: list[np.ndarray], found: list[np.ndarray]) -> float:
    """The farthest a corner is from where it should be; meshes are told by their corners."""
    left = list(wanted)
    most = 0.0
    for mesh in found:
        fits = [(float(np.abs(mesh - w).max()), i) for i, w in enumerate(left) if w.shape == mesh.shape]
        # Some programs leave out triangles that lie on others: then every corner must be one of the mesh.
        fits = fits or [
            (_nearest(mesh, w), i) for i, w in enumerate(left) if 0.9 * len(w) <= len(mesh) < len(w)
        ]
        if not fits:
            return float("nan")
        off, at = min(fits)
        most = max(most, off)
        left.pop(at)
    return float("nan") if left else most


def _nearest(found: np.ndarray, wanted: np.ndarray) -> float:
    return max(float(np.abs(wanted - point).max(axis=1).min()) for point in np.unique(found, axis=0))


def by_marrow(file: Path, shots: list[Shot]) -> list[list[np.ndarray]]:
    again = mw.load(file, cache=False)
    return [corner_positions(again, again.clips[c].sample(t) if c is not None else None) for c, t, _ in shots]


def by_program(
    reader: str, file: Path, shots: list[Shot], python: str = sys.executable, home: Path | None = None
) -> list[list[np.ndarray]]:
    """What another program shows; `home` is the folder with three.js in its node_modules."""
    with tempfile.TemporaryDirectory() as room:
        wishes, out = Path(room) / "wishes.json", str(Path(room) / "out")
        wishes.write_text(
            json.dumps({"file": str(file), "shots": [(c, at) for c, _, at in shots], "reader": reader})
        )
        if reader == "three":
            command = [
                "node",
                str(HERE / "fbx_readers/by_three.mjs"),
                str(wishes),
                out,
                str(home or HERE.parent / "web"),
            ]
        else:
            who = {"ufbx": sys.executable}.get(reader, python)
            command = [who, str(HERE / f"fbx_readers/by_{reader.removesuffix('_old')}.py"), str(wishes), out]
        done = subprocess.run(command, capture_output=True, text=True)
        if not Path(f"{out}.json").exists():
            raise RuntimeError(f"{reader}: {(done.stderr or done.stdout).strip()[-600:]}")
        numbers = np.fromfile(f"{out}.bin").reshape(-1, 3)
        found: list[list[np.ndarray]] = [[] for _ in shots]
        at = 0
        for shot, _, count in json.loads(Path(f"{out}.json").read_text()):
            found[shot].append(numbers[at : at + count])
            at += count
        return found


def truth_of(character: mw.Character, shots: list[Shot]) -> list[list[np.ndarray]]:
    return [
        corner_positions(character, character.clips[c].sample(t) if c is not None else None)
        for c, t, _ in shots
    ]


def shots_on_keys(character: mw.Character, shots: list[Shot]) -> list[Shot]:
    """The nearest moments with keys: between those Blender blends quaternions number by number."""
    moved = []
    for clip, t, _ in shots:
        if clip is not None and len(character.clips[clip].tracks.times):
            keys = character.clips[clip].tracks.times
            t = float(keys[np.argmin(np.abs(keys - t))])
        moved.append((clip, t, t + (character.clips[clip].start if clip is not None else 0.0)))
    return moved


def check(path: str, readers: list[str], python: str, **options: Any) -> dict[str, Any]:
    """What each reader makes of one character."""
    character = mw.load(path)
    with tempfile.TemporaryDirectory() as room:
        file = Path(room) / "x.fbx"
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mw.save(character, file, **options)
        row: dict[str, Any] = {"seconds": time.perf_counter() - began, "bytes": file.stat().st_size}
        shots = shots_of(character)
        truth = truth_of(character, shots)
        size = max((float(np.ptp(np.concatenate(t), axis=0).max()) for t in truth if t), default=1.0)
        for reader in readers:
            try:
                looked, wanted = shots, truth
                if reader == "assimp":
                    looked, wanted = [(None, 0.0, 0.0)], [unposed_corners(character)]
                elif reader.startswith("blender"):
                    looked = shots_on_keys(character, shots)
                    wanted = truth_of(character, looked)
                found = (
                    by_marrow(file, looked)
                    if reader == "marrow"
                    else by_program(reader, file, looked, python)
                )
                offs = [worst(w, f) / size for w, f in zip(wanted, found)]
                row[reader] = float(np.max(offs)) if np.isfinite(offs).all() else float("nan")
            except (RuntimeError, mw.MarrowError, ValueError) as error:
                row[reader] = str(error)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+")
    parser.add_argument("--readers", nargs="+", default=["marrow", "ufbx", "three"], choices=READERS)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--up", default=None)
    parser.add_argument("--units", default=None)
    given = parser.parse_args()
    print("| character | " + " | ".join(given.readers) + " | MB | s |")
    print("| --- |" + " --- |" * (len(given.readers) + 2))
    for path in given.files:
        row = check(path, given.readers, given.python, up=given.up, units=given.units)
        cells = [f"{row[r]:.1e}" if isinstance(row[r], float) else str(row[r]) for r in given.readers]
        print(
            f"| {Path(path).name} | {' | '.join(cells)} | {row['bytes'] / 1e6:.2f} | {row['seconds']:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
