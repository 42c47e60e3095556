"""Surfaces of an FBX file as Blender shows it (see by_ufbx.py); `reader` says by which of its two importers.

Blender keeps keys at frames: moments in between are set as part of a frame.
"""

import array
import json
import sys
from pathlib import Path

import bpy
import numpy as np

wishes, out = json.loads(Path(sys.argv[1]).read_text()), sys.argv[2]
listed, numbers = [], array.array("d")
bpy.ops.wm.read_factory_settings(use_empty=True)
if wishes["reader"] == "blender_old":
    bpy.ops.preferences.addon_enable(module="io_scene_fbx")
    bpy.ops.import_scene.fbx(filepath=wishes["file"], use_anim=True, anim_offset=0.0, ignore_leaf_bones=False)
else:
    bpy.ops.wm.fbx_import(filepath=wishes["file"], use_anim=True, anim_offset=0.0)
scene = bpy.context.scene
rate = scene.render.fps / scene.render.fps_base
actions = list(bpy.data.actions)


def fits(action, clip):
    """Whether an action is the part of a clip that moves an object."""
    return clip == action.name or clip in action.name.split("|") or f"|{clip}|" in f"|{action.name}|"


def assign(clip):
    """Gives every object, and every set of shape keys, what moves it in a clip."""
    for holder in [*bpy.data.objects, *bpy.data.shape_keys]:
        kind = "OBJECT" if hasattr(holder, "location") else "KEY"
        owner = (
            holder.name
            if kind == "OBJECT"
            else next(o.name for o in bpy.data.objects if getattr(o.data, "shape_keys", None) == holder)
        )
        for action in actions:
            slots = [s for s in action.slots if s.target_id_type == kind]
            named = [s for s in slots if s.identifier[2:] == holder.name]
            own = action.name.startswith((f"{owner}|", f"{holder.name}|"))
            if fits(action, clip) and (named or (own and len(slots) == 1)):
                data = holder.animation_data or holder.animation_data_create()
                data.action = action
                data.action_slot = (named or slots)[0]
                break


playing = None
for k, (clip, time) in enumerate(wishes["shots"]):
    if clip is not None and clip != playing:
        assign(clip)
        playing = clip
    frame = time * rate
    scene.frame_set(int(frame // 1), subframe=frame % 1)
    graph = bpy.context.evaluated_depsgraph_get()
    for thing in scene.objects:
        if thing.type != "MESH":
            continue
        shown = thing.evaluated_get(graph)
        mesh = shown.to_mesh()
        points = np.empty(len(mesh.vertices) * 3)
        mesh.vertices.foreach_get("co", points)
        corners = np.empty(len(mesh.loops), np.int64)
        mesh.loops.foreach_get("vertex_index", corners)
        world = np.array(shown.matrix_world)
        points = points.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]
        points = points[:, [0, 2, 1]] * [1, 1, -1]  # Blender's Z is up
        numbers.extend(points[corners].ravel())
        listed.append([k, thing.name, len(corners)])
        shown.to_mesh_clear()
Path(out + ".json").write_text(json.dumps(listed))
Path(out + ".bin").write_bytes(numbers.tobytes())
