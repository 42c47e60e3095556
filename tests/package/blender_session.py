"""Runs inside Blender's Python (`bpy`), started by test_blender.py: the operators of the add-on one by one. Prints JSON.

python blender_session.py ADD-ON_FOLDER MARROW_COMMAND CHARACTER MOTION ROOM
"""

import json
import sys
from pathlib import Path

import bpy

folder, marrow, character, motion, room = sys.argv[1:]
sys.path.insert(0, folder)
import marrow_tools  # noqa: E402

marrow_tools.register()
marrow_tools.setting = lambda context: marrow


def bones(armature, frames):
    """Heads of bones in the world, by name, for each frame."""
    out = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
        world = armature.matrix_world
        out.append({b.name: list(world @ b.head) for b in armature.pose.bones})
    return out


def armatures():
    return [o for o in bpy.data.objects if o.type == "ARMATURE"]


said = {"version": bpy.app.version_string}
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
assert bpy.ops.marrow.open(filepath=character) == {"FINISHED"}
(body,) = armatures()
scene.render.fps = 24  # the importer turns seconds into frames by it
said["actions"] = sorted(a.name for a in bpy.data.actions)
said["meshes"] = sorted(o.name for o in bpy.data.objects if o.type == "MESH" and o.vertex_groups)
marrow_tools.show(body, next(a for a in bpy.data.actions if "walk" in a.name))
said["opened"] = bones(body, [0, 5, 10])
bpy.context.view_layer.objects.active = body
assert bpy.ops.marrow.retarget(filepath=motion) == {"FINISHED"}
assert len(armatures()) == 1
said["retargeted"] = body.animation_data.action.name
said["motion"] = bones(body, [0, 12, 24])
assert bpy.ops.marrow.check() == {"FINISHED"}
said["check"] = bpy.data.texts["marrow check"].as_string()
assert bpy.ops.marrow.send(filepath=str(Path(room) / "sent.fbx")) == {"FINISHED"}
assert bpy.ops.marrow.levels(parts="0.3") == {"FINISHED"}
said["levels"] = [
    [o.name for o in c.objects if o.type == "MESH"] for c in bpy.data.collections if "level" in c.name
]
said["triangles"] = [
    sum(
        len(o.data.loop_triangles)
        for o in c.objects
        if o.type == "MESH" and (o.data.calc_loop_triangles() or True)
    )
    for c in bpy.data.collections
    if "level" in c.name
]
try:
    bpy.ops.marrow.send(filepath=str(Path(room) / "sent.xyz"))
except RuntimeError as error:
    said["refused"] = str(error)
marrow_tools.unregister()
Path(room, "said.json").write_text(json.dumps(said))
