"""Subdivision surfaces and NURBS of FBX against the OBJ files that Maya and Blender wrote of them: `python
tools/check_subdivision.py FOLDER`.

FOLDER is `data` of ufbx's repository: `NAME_VERSION_ascii.fbx` is held against `NAME.obj`. Prints the farthest that a
vertex of either is
from one of the other, for those files whose surface is smooth or a NURBS.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

import marrow as mw

LIMIT = 1e-3


def main() -> int:
    wrong = 0
    for file in sorted(Path(sys.argv[1]).glob("*.fbx")):
        truth = file.with_name(re.sub(r"_\d{4}_(ascii|binary).*", "", file.stem) + ".obj")
        if not truth.is_file() or not re.search(r"subsurf|crease|nurbs", file.stem):
            continue
        character = mw.load(file, cache=False, subdivide="file")
        found = mw.skin(character, character.skeleton.rest).positions.astype(np.float64)
        rows = [line.split() for line in truth.read_text(errors="replace").splitlines()]
        places = np.array([row[1:4] for row in rows if row[:1] == ["v"]], float)
        used = sorted({int(c.split("/")[0]) - 1 for row in rows if row[:1] == ["f"] for c in row[1:]})
        places = places[used]  # Blender also writes points that no polygon has
        scale = 100.0 if file.stem.startswith("maya") else 1.0
        there, back = (
            cKDTree(found * scale).query(places)[0].max(),
            cKDTree(places).query(found * scale)[0].max(),
        )
        good = max(there, back) < LIMIT
        wrong += not good
        print(f"{'  ' if good else '! '}{file.name}: {max(there, back):.2g}, {len(places)} points")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
