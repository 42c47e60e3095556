"""Surfaces of an FBX file as Assimp reads it (see by_ufbx.py): its Python package has meshes and nodes, no skins and no
motion, so only the shape at rest can be looked at."""

import array
import json
import sys
from pathlib import Path

import assimp_py
import numpy as np

wishes, out = json.loads(Path(sys.argv[1]).read_text()), sys.argv[2]
listed, numbers = [], array.array("d")
scene = assimp_py.import_file(wishes["file"], 0)
waiting = [(scene.root_node, np.eye(4))]
while waiting:
    node, above = waiting.pop()
    matrix = above @ np.array(node.transformation, float).reshape(4, 4)
    for index in node.mesh_indices:
        mesh = scene.meshes[index]
        points = np.array(mesh.vertices, float).reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]
        corners = np.array(mesh.indices).ravel()
        numbers.extend(points[corners].ravel() * wishes.get("unit", 0.01))
        listed.append([0, mesh.name, len(corners)])
    waiting += [(child, matrix) for child in node.children]
Path(out + ".json").write_text(json.dumps(listed))
Path(out + ".bin").write_bytes(numbers.tobytes())
