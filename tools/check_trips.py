"""Takes public files through marrow, there and back, and has other programs look at what it wrote.

    python tools/check_trips.py FOLDER... [--page docs/round_trips.md] [--limit SECONDS] > rows.txt
    python tools/check_trips.py --rows rows.txt --page docs/round_trips.md

Each file is loaded and saved as GLB: the GLB must be the same character, and to be saved again the same bytes; the Khronos
validator counts errors in it, three.js shows it. Then it is saved as FBX, which ufbx and three.js show. A figure is the
farthest that a corner of a triangle is from where marrow has it, as a part of the size, at rest or at three moments of up
to four clips. Needs Node with the packages of tests/node.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import marrow as mw

sys.path.insert(0, str(Path(__file__).resolve().parent))
import check_fbx

HERE = Path(__file__).resolve().parent
NODE = HERE.parent / "tests/node"
COPIES = {"glTF-Draco", "glTF-Embedded", "glTF-Quantized", "glTF-KTX-BasisU", "fuzz", "cache_fuzz"}
"""Folders with other encodings of a model, and with files that are damaged on purpose."""
MOST_CORNERS, MOST_CLIPS, MOMENTS = 400_000, 4, 3
COLUMNS = ("again", "validator", "three", "ufbx", "three_fbx")
TITLES = (
    "file",
    "glTF, again",
    "Khronos validator",
    "glTF in three.js",
    "FBX in ufbx",
    "FBX in three.js",
    "lines",
)
BEGIN = "<!-- trips -->\n"


def files_below(folders: list[str]) -> list[Path]:
    """One file for each model: a GLB rather than the same as glTF; no copies in other encodings."""
    found: dict[tuple[str, str], Path] = {}
    for folder in folders:
        top = Path(folder)
        for file in sorted(top.rglob("*")) if top.is_dir() else [top]:
            kind = file.suffix.lower()
            if kind not in (".glb", ".gltf", ".fbx", ".vrm"):
                continue
            if COPIES & set(file.parts):
                continue
            key = (file.stem, "fbx" if kind == ".fbx" else "gltf")
            if key not in found or (kind == ".glb" and found[key].suffix != ".glb"):
                found[key] = file
    return sorted(found.values(), key=lambda f: (f.suffix == ".fbx", f.name.lower()))


def shots_of(character: mw.Character) -> list[check_fbx.Shot]:
    """Moments to look at."""
    clips = list(character.clips.items())[:MOST_CLIPS]
    if not clips:
        return [(None, 0.0, 0.0)]
    return [
        (name, float(t), float(t) + clip.start)
        for name, clip in clips
        for t in np.linspace(0, clip.duration, MOMENTS)
    ]


def section_corners(character: mw.Character, pose: mw.Pose | None) -> list[np.ndarray]:
    """The corners of each part of each mesh, as three.js has them."""
    surface = mw.skin(character, pose if pose is not None else character.skeleton.rest).positions
    found = []
    for k, mesh in enumerate(character.meshes):
        part = surface[character.vertex_offsets[k] : character.vertex_offsets[k + 1]]
        for s in mesh.sections:
            if s.count:
                found.append(part[mesh.triangles[s.first : s.first + s.count].ravel()].astype(np.float64))
    return found


def looked_at(script: str, file: Path, shots: list[check_fbx.Shot], own_time: bool) -> list[list[np.ndarray]]:
    """What three.js shows of a GLB."""
    with tempfile.TemporaryDirectory() as room:
        wishes, out = Path(room) / "wishes.json", str(Path(room) / "out")
        wishes.write_text(
            json.dumps({"file": str(file), "shots": [(c, t if own_time else at) for c, t, at in shots]})
        )
        command = ["node", str(HERE / "fbx_readers" / script), str(wishes), out, str(NODE)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if not Path(f"{out}.json").exists():
            told = [line.strip() for line in done.stderr.splitlines() if "Error" in line]
            raise RuntimeError(told[0][-80:] if told else "no answer")
        numbers = np.fromfile(f"{out}.bin").reshape(-1, 3)
        found: list[list[np.ndarray]] = [[] for _ in shots]
        at = 0
        for shot, _, count in json.loads(Path(f"{out}.json").read_text()):
            found[shot].append(numbers[at : at + count])
            at += count
        return found


def figure(wanted: list[list[np.ndarray]], found: list[list[np.ndarray]], size: float) -> float:
    """The farthest that anything is off, as a part of the size; NaN where meshes are missing."""
    offs = [check_fbx.worst(w, f) / size for w, f in zip(wanted, found)]
    return float(np.max(offs)) if offs and np.isfinite(offs).all() else math.nan


def check(path: Path) -> dict[str, Any]:
    """One row."""
    row: dict[str, Any] = {"file": path.name}
    try:
        character = mw.load(path, cache=False)
    except mw.MarrowError as error:
        return row | {"refused": str(error).rpartition(": ")[2][:80]}
    row["lines"] = sum(line.kind == "dropped" for line in character.report)
    shots = shots_of(character)
    corners = 3 * sum(s.count for m in character.meshes for s in m.sections)
    large = corners * len(shots) > 20 * MOST_CORNERS or corners > MOST_CORNERS
    with tempfile.TemporaryDirectory() as room, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        glb, twice, fbx = (Path(room) / name for name in ("a.glb", "b.glb", "a.fbx"))
        try:
            mw.save(character, glb)
            back = mw.load(glb, cache=False)
            mw.save(back, twice)
            row["again"] = "same" if back == character else "differs"
            if glb.read_bytes() != twice.read_bytes():
                row["again"] += ", other bytes the second time"
            row["validator"] = errors_in(glb)
        except mw.MarrowError as error:
            row["again"] = str(error).rpartition(": ")[2][:60]
        if large or not corners:
            return row
        poses = [character.clips[c].sample(t) if c is not None else None for c, t, _ in shots]
        truth = [section_corners(character, pose) for pose in poses]
        size = max((float(np.ptp(np.concatenate(t), axis=0).max()) for t in truth if t), default=0.0) or 1.0
        whole = [check_fbx.corner_positions(character, pose) for pose in poses]
        try:
            row["three"] = figure(truth, looked_at("by_three_gltf.mjs", glb, shots, True), size)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            row["three"] = str(error)[:60]
        try:
            mw.save(character, fbx)
            for name, reader in (("ufbx", "ufbx"), ("three_fbx", "three")):
                found = check_fbx.by_program(reader, fbx, shots, home=NODE)
                row[name] = figure(whole, found, size)
        except (RuntimeError, mw.MarrowError, ValueError) as error:
            row.setdefault("ufbx", str(error).strip().splitlines()[-1][-60:])
    return row


def errors_in(glb: Path) -> int:
    """How many errors the Khronos validator finds; pictures are the file's own."""
    command = ["node", str(NODE / "validate-gltf.cjs"), str(glb)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (report,) = json.loads(done.stdout)
    wrong = [
        m for m in report["issues"]["messages"] if m["severity"] == 0 and not m["code"].startswith("IMAGE_")
    ]
    return len(wrong)


def cell(value: Any) -> str:
    """What a row says, short."""
    if isinstance(value, float):
        return "other meshes" if math.isnan(value) else f"{value:.0e}" if value else "0"
    return "" if value is None else str(value).replace("|", "/")


def table(rows: list[dict[str, Any]]) -> str:
    """The rows for a page."""
    lines = ["| " + " | ".join(TITLES) + " |", "| --- |" + " --- |" * (len(TITLES) - 1)]
    for row in rows:
        if "refused" in row:
            lines.append(f"| {row['file']} | refused: {cell(row['refused'])} | | | | | |")
            continue
        cells = [row["file"], *(cell(row.get(c)) for c in COLUMNS), str(row.get("lines") or "")]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def summary(rows: list[dict[str, Any]]) -> str:
    """What the table says in all."""
    read = [r for r in rows if "refused" not in r]
    same = sum(r.get("again") == "same" for r in read)
    tried = sum("again" in r for r in read)
    clean = sum(r.get("validator") == 0 for r in read)
    told = [
        f"{len(rows)} files: {len(rows) - len(read)} refused; {same} of {tried} are the same after two trips as GLB, "
    ]
    told.append(
        f"{clean} of {sum('validator' in r for r in read)} without an error of the Khronos validator. "
    )
    for column, words in (
        ("three", "three.js (glTF)"),
        ("ufbx", "ufbx (FBX)"),
        ("three_fbx", "three.js (FBX)"),
    ):
        found = [r[column] for r in read if isinstance(r.get(column), float)]
        good = sum(v <= 1e-5 for v in found)
        told.append(f"{words}: {good} of {len(found)} within 1e-5. ")
    return "".join(told).strip()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--rows", type=Path, nargs="+", help="rows of earlier runs, instead of files")
    parser.add_argument("--page", type=Path)
    parser.add_argument(
        "--limit", type=float, default=math.inf, help="seconds after which no further file is begun"
    )
    parser.add_argument("--kinds", nargs="+", default=[".glb", ".gltf", ".vrm", ".fbx"])
    given = parser.parse_args()
    began, rows = time.monotonic(), []
    for file in given.rows or ():
        rows += [json.loads(line) for line in file.read_text().splitlines() if line.startswith("{")]
    for path in files_below(given.folders):
        if path.suffix.lower() in given.kinds and time.monotonic() - began < given.limit:
            rows.append(check(path))
            print(json.dumps(rows[-1]), flush=True)
    rows = [row for row in rows if "no such file" not in row.get("refused", "")]  # parts of it are not here
    text = f"{summary(rows)}\n\n{table(rows)}"
    if given.page is None:
        print(text)
    else:
        page = given.page.read_text()
        given.page.write_text(page.partition(BEGIN)[0] + BEGIN + text)


if __name__ == "__main__":
    main()
