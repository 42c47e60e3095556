"""Surfaces of an FBX file as ufbx evaluates it: python by_ufbx.py WISHES.json OUT

WISHES: the file, and shots: a stack's name (or null, for rest) and a time in it. OUT.json lists the mesh and corner count
of each shot, OUT.bin has their corners as float64, in metres, Y up, in polygon order.
"""

import array
import ctypes
import gc
import json
import os
import sys
from pathlib import Path

import ufbx

gc.disable()


def hold(thing):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))
    return thing


def every(items):
    hold(items)
    return [hold(items[i]) for i in range(len(items))]


def main() -> None:
    wishes, out = json.loads(Path(sys.argv[1]).read_text()), sys.argv[2]
    listed, numbers = [], array.array("d")
    scene = hold(
        ufbx.load_file(
            wishes["file"],
            target_axes=ufbx.axes_right_handed_y_up,
            target_unit_meters=1.0,
        )
    )
    stacks = {str(hold(s.name)): hold(s.anim) for s in every(scene.anim_stacks)}
    for k, (clip, time) in enumerate(wishes["shots"]):
        anim = stacks[clip] if clip is not None else hold(scene.anim)
        shown = (
            hold(ufbx.evaluate_scene(scene, anim, time, evaluate_skinning=True)) if clip is not None else None
        )
        if shown is None:
            empty = hold(ufbx.create_anim(scene, layer_ids=[])) if hasattr(ufbx, "create_anim") else anim
            shown = hold(ufbx.evaluate_scene(scene, empty, time, evaluate_skinning=True))
        for node in every(shown.nodes):
            mesh = hold(node.mesh)
            if mesh is None:
                continue
            position = hold(mesh.skinned_position)
            values = [tuple(hold(v)) for v in every(position.values)]
            if hold(mesh.skinned_is_local):
                m = [tuple(hold(c)) for c in hold(node.geometry_to_world)]
                values = [
                    tuple(m[0][i] * x + m[1][i] * y + m[2][i] * z + m[3][i] for i in range(3))
                    for x, y, z in values
                ]
            corners = [int(i) for i in every(position.indices)]
            for i in corners:
                numbers.extend(values[i])
            listed.append([k, str(hold(node.name)), len(corners)])
    Path(out + ".json").write_text(json.dumps(listed))
    Path(out + ".bin").write_bytes(numbers.tobytes())
    os._exit(0)


main()
