"""The positions that real files are compared with, packed small.

Other engines gave 700,000 positions: 173 arrays, each of one file at one moment. Of every array three things are kept:

- `points`: some of its positions, chosen so that no part of a character goes unseen: for each joint the vertex that it
  holds most firmly, for each morph target the one that it moves furthest, the first of each mesh; then, as long as there
  are fewer than `LIMIT`, the one that is furthest from all chosen so far. Coordinates are 16-bit parts of the array's
  bounding box: off by less than 1e-5 of its diagonal, where arrays are compared to 1e-4.
- `reach`: how far all positions reach in `DIRECTIONS`, so that nothing sticks out.
- `means`, of arrays in the order of the file: of every `RUN` positions, so that each vertex counts: one that is off by
  1e-3 of the diagonal is found.

glTF vertices and joints have an order; FBX vertices are clouds, as engines split them differently. A cloud of at most
`CLOUD_LIMIT` is kept whole and compared both ways (Hausdorff), of larger ones each kept position must be there.

What that costs was measured by moving things. Of the errors that whole arrays find, these find all of a whole character
(0.05 % larger, 2e-4 of its diagonal away), of a morph 1 % off and of 1 vertex 1e-3 off where there is an order; 98 % of the
joints turned by 5 milliradians and of clips 2 ms late, 95 % of joints turned by one milliradian.

`python tests/corpus/golden_numbers.py FOLDER` packs a folder of full arrays (`goldens.json`, `goldens/*.npz`).
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

import marrow as mw

__all__ = ["DIRECTIONS", "compare", "load", "pack", "pose_of", "positions"]

HERE = Path(__file__).resolve().parent
NUMBERS, NOTES = HERE / "goldens.npz", HERE / "goldens.json"
LIMIT, CLOUD_LIMIT, RUN = 160, 900, 128
Array = NDArray[Any]
_signs = np.array([d for d in itertools.product((0, 1, -1), repeat=3) if any(d)], np.float64)
DIRECTIONS: Array = _signs / np.linalg.norm(_signs, axis=1, keepdims=True)
"""To the faces, edges and corners of a cube, `(26, 3)`."""


def load() -> dict[str, dict[str, Any]]:
    """What is known of each file, by the name of the asset; `numbers` of each array are in it."""
    notes = {asset["asset"]: asset for asset in json.loads(NOTES.read_text(encoding="utf-8"))["assets"]}
    with np.load(NUMBERS) as numbers:
        kept = {name: numbers[name] for name in numbers.files}
    for name, asset in notes.items():
        fields = {key: kept[f"{name}.{key}"] for key in _FIELDS if f"{name}.{key}" in kept}
        for i, array in enumerate(asset["arrays"]):
            array["numbers"] = {key: value if key == "chosen" else value[i] for key, value in fields.items()}
    return notes


def pose_of(character: mw.Character, array: dict[str, Any]) -> mw.Pose:
    """The pose an array was taken in. A stack without curves is no clip: the character stands as its file rests."""
    if array["clip"] is None:
        return character.skeleton.rest
    for name in (array["clip_name"], f"clip_{array['clip']}"):
        if name in character.clips:
            return character.clips[name].sample(array["t"])
    if len(character.clips) == 1:
        return character.clips[0].sample(array["t"])
    assert array.get("static"), f"no clip {array['clip_name']!r} among {list(character.clips)}"
    return character.skeleton.rest


def positions(character: mw.Character, pose: mw.Pose, asset: dict[str, Any]) -> Array:
    """What an array has the positions of: all vertices, or the joints the asset names."""
    if asset["kind"] == "joints":
        matrices = character.skeleton.to_model(pose)
        return matrices[[character.skeleton.index(name) for name in asset["names"]], :, 3]
    return mw.skin(character, pose).positions


def compare(found: Array, array: dict[str, Any], *, ordered: bool) -> list[str]:
    """What is wrong with positions, in words; distances are parts of the golden diagonal."""
    numbers, tolerance = array["numbers"], array["tol"]
    found = np.asarray(found, np.float64).reshape(-1, 3)
    if not np.isfinite(found).all():
        return ["positions that are no numbers"]
    low, high = numbers["bounds"].astype(np.float64)
    diagonal = float(np.linalg.norm(high - low)) or 1.0
    golden = low + numbers["points"] / 65535 * (high - low)
    rounding = float(np.linalg.norm(high - low)) / 65535
    wrong = []

    def check(what: str, distance: float, allowed: float) -> None:
        if not distance <= allowed:
            wrong.append(f"{what}: {distance / diagonal:.2g} > {allowed / diagonal:.2g}")

    if not ordered:
        tree = cKDTree(found)
        check("positions", float(tree.query(golden)[0].max()), tolerance * diagonal + rounding)
        if len(golden) == array["P"]:
            back = cKDTree(golden).query(found)[0].max()
            check("positions that no engine has", float(back), tolerance * diagonal + rounding)
    elif len(found) != array["P"]:
        return [f"{len(found)} positions where there are {array['P']}"]
    else:
        off = np.linalg.norm(found[numbers["chosen"]] - golden, axis=1).max()
        check("positions", float(off), tolerance * diagonal + rounding)
        if "means" in numbers:
            off = np.linalg.norm(_means(found) - numbers["means"], axis=1).max()
            check("means", float(off), tolerance / 15 * diagonal)
    off = np.abs((found @ DIRECTIONS.T).max(0) - numbers["reach"]).max()
    check("reach", float(off), tolerance * diagonal)
    return wrong


def pack(arrays: list[Array], *, ordered: bool, first: Array) -> dict[str, Array]:
    """The numbers kept of an asset's arrays. `first` are vertices to keep in any case: their numbers `(n,)`, or for clouds
    their positions in each array `(A, n, 3)`."""
    arrays = [np.asarray(a, np.float64).reshape(-1, 3) for a in arrays]
    bounds = np.array([(a.min(0), a.max(0)) for a in arrays], np.float32)
    kept = {"bounds": bounds, "reach": np.array([(a @ DIRECTIONS.T).max(0) for a in arrays], np.float32)}
    if ordered:
        chosen = _spread(np.concatenate(arrays, 1), np.asarray(first, int), LIMIT)
        points = [a[chosen] for a in arrays]
        kept["chosen"] = chosen.astype(np.uint16)
        if len(chosen) < len(arrays[0]):
            kept["means"] = np.array([_means(a) for a in arrays], np.float32)
    else:
        near = [cKDTree(a).query(p)[1] if len(p) else [] for a, p in zip(arrays, first, strict=True)]
        points = [a[_spread(a, np.unique(n), CLOUD_LIMIT)] for a, n in zip(arrays, near, strict=True)]
        points = [p[np.lexsort(p.T)] for p in points]
    kept["points"] = np.array(
        [
            np.rint((p - low) / np.where(high > low, high - low, 1) * 65535)
            for p, (low, high) in zip(points, bounds.astype(np.float64), strict=True)
        ],
        np.uint16,
    )
    return kept


_FIELDS = ("chosen", "points", "bounds", "reach", "means")


def _means(points: Array) -> Array:
    """The mean of every `RUN` points; the last run may be shorter."""
    starts = np.arange(0, len(points), RUN)
    counts = np.diff(np.append(starts, len(points)))
    return np.add.reduceat(points, starts) / counts[:, None]


def _spread(points: Array, first: Array, limit: int) -> Array:
    """Numbers of `limit` points: those in `first`, then always the one furthest from the rest."""
    if len(points) <= limit:
        return np.arange(len(points))
    chosen = list(dict.fromkeys(int(i) for i in first)) or [0]
    distance = np.min([np.square(points - points[i]).sum(1) for i in chosen], 0)
    while len(chosen) < limit:
        chosen.append(int(distance.argmax()))
        distance = np.minimum(distance, np.square(points - points[chosen[-1]]).sum(1))
    return np.sort(chosen)


def _telling(character: mw.Character) -> Iterator[int]:
    """Vertices that tell of each mesh, joint and morph target, counted over all meshes."""
    start = 0
    for mesh in character.meshes:
        yield start
        heaviest: dict[int, tuple[float, int]] = {}
        for vertex, (joints, weights) in enumerate(zip(mesh.joints, mesh.weights, strict=True)):
            for joint, weight in zip(joints.tolist(), weights.tolist(), strict=True):
                heaviest[joint] = max(heaviest.get(joint, (0.0, -1)), (weight, vertex))
        yield from (start + vertex for weight, vertex in heaviest.values() if weight > 0)
        for target in mesh.morph_targets:
            if target.positions is not None and mesh.vertex_count:
                moved = np.linalg.norm(target.dense(mesh.vertex_count, "positions"), axis=1)
                yield start + int(moved.argmax())
        start += mesh.vertex_count


def main(folder: Path) -> None:
    """Packs the full arrays of a folder, and writes what the tests read."""
    full = json.loads((folder / "goldens.json").read_text(encoding="utf-8"))
    kept: dict[str, Array] = {}
    engines: dict[str, str] = {}
    assets = []
    for asset in sorted(full["assets"], key=lambda a: a["asset"]):
        name, ordered = asset["asset"], asset["ordered"]
        with np.load(folder / "goldens" / f"{name}.npz") as numbers:
            arrays = [numbers[key] for key in asset["arrays"]]
        notes = [
            {key: a[key] for key in ("clip", "clip_name", "t", "tol", "P")}
            | ({"static": True} if a.get("sample") == "static" else {})
            for a in asset["arrays"].values()
        ]
        character = mw.load(folder / asset["file"], cache=False)
        first: Array = np.array([], int)
        if asset["kind"] == "vertices":
            first = np.array(list(_telling(character)), int)
        if not ordered:
            first = np.array([positions(character, pose_of(character, a), asset)[first] for a in notes])
        kept |= {f"{name}.{k}": v for k, v in pack(arrays, ordered=ordered, first=first).items()}
        engines[Path(asset["file"]).suffix[1:]] = f"{asset['engine']}; {asset['second_engines']}"
        fields = {"asset": name, "file": asset["file"], "kind": asset["kind"], "ordered": ordered}
        if asset.get("names"):
            fields["names"] = asset["names"]
        assets.append(fields | {"arrays": notes})
    np.savez_compressed(NUMBERS, **kept)  # type: ignore[arg-type]
    about = "Positions that at least two independent engines agree on; golden_numbers.py says what is kept of them."
    lines = ",\n".join(json.dumps(asset, ensure_ascii=False) for asset in assets)
    head = f'"about": {json.dumps(about)},\n"engines": {json.dumps(engines, indent=1)}'
    NOTES.write_text(f'{{{head},\n"assets": [\n{lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
