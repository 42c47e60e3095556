# SPDX-License-Identifier: GPL-3.0-or-later
"""Marrow in Blender: open any file it reads, retarget motion onto an armature, check, levels of detail, send it out.

The add-on talks to marrow by files: it starts the `marrow` command in its own Python, so neither has to fit the other.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import bpy
from bpy.props import BoolProperty, CollectionProperty, StringProperty
from bpy_extras.io_utils import ExportHelper, ImportHelper

from . import bridge

bl_info = {
    "name": "Marrow",
    "author": "marrow",
    "version": (0, 1, 0),
    "blender": (4, 2, 0),
    "location": "File > Import/Export, 3D view > sidebar > Marrow",
    "description": "Open, retarget, check, simplify and send rigged characters with marrow",
    "category": "Import-Export",
}


class MarrowPreferences(bpy.types.AddonPreferences):
    bl_idname = __name__

    executable: StringProperty(  # type: ignore[valid-type]
        name="marrow", description="The marrow command: a path, or a command line such as python3 -m marrow", default="marrow"
    )

    def draw(self, context):
        self.layout.prop(self, "executable")


def setting(context) -> str:
    found = context.preferences.addons.get(__name__)
    return found.preferences.executable if found else "marrow"


def armature_of(context):
    """The armature that is meant: the active object, or the one that moves it."""
    thing = context.active_object
    while thing is not None:
        if thing.type == "ARMATURE":
            return thing
        thing = thing.find_armature() or thing.parent
    return None


def parts_of(armature) -> list:
    """The armature and the meshes that it moves."""
    return [armature, *(o for o in bpy.data.objects if o.type == "MESH" and (o.find_armature() == armature or o.parent == armature))]


def import_glb(path: str) -> list:
    """Brings a file into the scene; the objects that came."""
    before = set(bpy.data.objects)
    bpy.ops.import_scene.gltf(filepath=path, bone_heuristic="BLENDER", disable_bone_shape=True)
    return [o for o in bpy.data.objects if o not in before]


def remove(things: list) -> None:
    """Takes objects out again, with what only they used."""
    data = [(o.type, o.data) for o in things if o.data is not None]
    for thing in things:
        bpy.data.objects.remove(thing, do_unlink=True)
    for kind, block in data:
        group = {"MESH": bpy.data.meshes, "ARMATURE": bpy.data.armatures}.get(kind)
        if group is not None and block.users == 0:
            group.remove(block)


def stand_in(armature):
    """A triangle on the first bone, for armatures without a mesh: a file without a skin has no bones."""
    data = bpy.data.meshes.new("marrow_stand_in")
    data.from_pydata([(0, 0, 0), (0.01, 0, 0), (0, 0.01, 0)], [], [(0, 1, 2)])
    thing = bpy.data.objects.new("marrow_stand_in", data)
    bpy.context.scene.collection.objects.link(thing)
    thing.parent = armature
    thing.vertex_groups.new(name=armature.data.bones[0].name).add([0, 1, 2], 1.0, "REPLACE")
    thing.modifiers.new("Armature", "ARMATURE").object = armature
    return thing


def export_glb(path: str, things: list, *, animations: bool) -> None:
    """Writes objects as marrow reads them."""
    chosen, active = list(bpy.context.selected_objects), bpy.context.view_layer.objects.active
    try:
        bpy.ops.object.select_all(action="DESELECT")
        for thing in things:
            thing.select_set(True)
        bpy.context.view_layer.objects.active = things[0]
        bpy.ops.export_scene.gltf(
            filepath=path, export_format="GLB", use_selection=True, export_animations=animations, export_yup=True,
            export_apply=False, export_animation_mode="ACTIONS", export_def_bones=False, export_rest_position_armature=True,
        )  # fmt: skip
    finally:
        bpy.ops.object.select_all(action="DESELECT")
        for thing in chosen:
            thing.select_set(True)
        bpy.context.view_layer.objects.active = active


class _Step:
    """What all operators share: errors of marrow become a line in the status bar."""

    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context):
        try:
            with tempfile.TemporaryDirectory(prefix="marrow-") as room:
                self.work(context, Path(room))
        except bridge.BridgeError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}

    def needed_armature(self, context):
        found = armature_of(context)
        if found is None:
            raise bridge.BridgeError("select an armature, or a mesh that one moves")
        return found


class MARROW_OT_open(_Step, bpy.types.Operator, ImportHelper):
    """Open any file marrow reads, as armature, meshes and actions"""

    bl_idname = "marrow.open"
    bl_label = "Open with marrow"
    filter_glob: StringProperty(default=";".join(f"*{s}" for s in bridge.READS), options={"HIDDEN"})  # type: ignore[valid-type]

    def work(self, context, room):
        glb = str(room / f"{Path(self.filepath).stem}.glb")
        bridge.run(setting(context), bridge.convert_arguments(self.filepath, glb))
        came = import_glb(glb)
        self.report({"INFO"}, f"{len(came)} objects, {len(bpy.data.actions)} actions")


class MARROW_OT_retarget(_Step, bpy.types.Operator, ImportHelper):
    """Put the motion of files onto the selected armature, as actions"""

    bl_idname = "marrow.retarget"
    bl_label = "Retarget motion"
    filter_glob: StringProperty(default=";".join(f"*{s}" for s in bridge.READS), options={"HIDDEN"})  # type: ignore[valid-type]
    files: CollectionProperty(type=bpy.types.OperatorFileListElement)  # type: ignore[valid-type]
    contacts: BoolProperty(name="Keep feet planted", default=True)  # type: ignore[valid-type]

    def work(self, context, room):
        armature = self.needed_armature(context)
        folder = Path(self.filepath).parent
        motions = [str(folder / f.name) for f in self.files if f.name] or [self.filepath]
        body, out = str(room / "body.glb"), str(room / "motion.glb")
        parts = parts_of(armature)
        extra = [] if len(parts) > 1 or not armature.data.bones else [stand_in(armature)]
        try:
            export_glb(body, [*parts, *extra], animations=False)
        finally:
            remove(extra)
        bridge.run(
            setting(context), bridge.retarget_arguments(motions, body, out, contacts=None if self.contacts else False)
        )
        before = set(bpy.data.actions)
        came = import_glb(out)
        made = [a for a in bpy.data.actions if a not in before]
        remove(came)
        if not made:
            raise bridge.BridgeError("marrow made no motion of it")
        for action in made:
            action.use_fake_user = True
        context.view_layer.objects.active = armature
        armature.select_set(True)
        show(armature, made[0])
        self.report({"INFO"}, f"{', '.join(a.name for a in made)} on {armature.name}")


def show(armature, action) -> None:
    """Plays an action on an armature; bones that it does not key are at rest."""
    for bone in armature.pose.bones:
        bone.matrix_basis.identity()
    armature.animation_data_create()
    armature.animation_data.action = action
    slots = getattr(action, "slots", None)  # Blender 4.4 and newer
    if slots:
        fitting = [s for s in slots if s.target_id_type in ("OBJECT", "UNSPECIFIED")]
        armature.animation_data.action_slot = (fitting or list(slots))[0]


class MARROW_OT_check(_Step, bpy.types.Operator):
    """Find what should be mended before the character ships; the list is a text called marrow check"""

    bl_idname = "marrow.check"
    bl_label = "Check"

    def work(self, context, room):
        armature = self.needed_armature(context)
        body = str(room / f"{bpy.path.clean_name(armature.name)}.glb")
        export_glb(body, parts_of(armature), animations=True)
        found = bridge.findings(bridge.run(setting(context), bridge.check_arguments(body)))
        text = bpy.data.texts.get("marrow check") or bpy.data.texts.new("marrow check")
        text.from_string("\n".join(map(str, found)) or "nothing was found")
        errors = sum(f.severity == "error" for f in found)
        warnings = sum(f.severity == "warning" for f in found)
        self.report({"WARNING" if errors else "INFO"}, f"{errors} errors, {warnings} warnings: see the text 'marrow check'")


class MARROW_OT_levels(_Step, bpy.types.Operator):
    """Make levels of detail of the selected character, each in a collection of its own"""

    bl_idname = "marrow.levels"
    bl_label = "Levels of detail"
    parts: StringProperty(name="Triangles", description="Parts of all triangles, finest first", default="0.4 0.1")  # type: ignore[valid-type]

    def work(self, context, room):
        armature = self.needed_armature(context)
        try:
            parts = [float(word) for word in self.parts.replace(",", " ").split()]
        except ValueError:
            raise bridge.BridgeError(f"levels are numbers such as 0.4 0.1, not {self.parts!r}") from None
        body, out = str(room / "body.glb"), str(room / "levels.glb")
        export_glb(body, parts_of(armature), animations=True)
        bridge.run(setting(context), bridge.level_arguments(body, out, parts))
        made = bridge.level_files(out)
        for k, path in enumerate(made, 1):
            group = bpy.data.collections.new(f"{armature.name} level {k}")
            context.scene.collection.children.link(group)
            for thing in import_glb(str(path)):
                for other in list(thing.users_collection):
                    other.objects.unlink(thing)
                group.objects.link(thing)
        context.view_layer.objects.active = armature
        self.report({"INFO"}, f"{len(made)} levels of {armature.name}")


class MARROW_OT_send(_Step, bpy.types.Operator, ExportHelper):
    """Write the selected character with its actions in any format marrow writes"""

    bl_idname = "marrow.send"
    bl_label = "Save with marrow"
    filename_ext = ""
    filter_glob: StringProperty(default=";".join(f"*{s}" for s in bridge.WRITES), options={"HIDDEN"})  # type: ignore[valid-type]

    def work(self, context, room):
        armature = self.needed_armature(context)
        if Path(self.filepath).suffix.lower() not in bridge.WRITES:
            raise bridge.BridgeError(f"the name must end in one of {', '.join(bridge.WRITES)}")
        body = str(room / f"{bpy.path.clean_name(armature.name)}.glb")
        export_glb(body, parts_of(armature), animations=True)
        bridge.run(setting(context), bridge.convert_arguments(body, self.filepath))
        self.report({"INFO"}, f"{self.filepath} was written")


class MARROW_PT_panel(bpy.types.Panel):
    bl_label = "Marrow"
    bl_idname = "MARROW_PT_panel"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Marrow"

    def draw(self, context):
        column = self.layout.column(align=True)
        for operator, icon in (
            ("marrow.open", "IMPORT"), ("marrow.retarget", "ARMATURE_DATA"), ("marrow.check", "CHECKMARK"),
            ("marrow.levels", "MOD_DECIM"), ("marrow.send", "EXPORT"),
        ):  # fmt: skip
            column.operator(operator, icon=icon)


CLASSES = (
    MarrowPreferences, MARROW_OT_open, MARROW_OT_retarget, MARROW_OT_check, MARROW_OT_levels, MARROW_OT_send, MARROW_PT_panel,
)  # fmt: skip


def _import_menu(self, context):
    self.layout.operator(MARROW_OT_open.bl_idname, text="Marrow (any character or motion)")


def _export_menu(self, context):
    self.layout.operator(MARROW_OT_send.bl_idname, text="Marrow (any format)")


def register():
    for kind in CLASSES:
        bpy.utils.register_class(kind)
    bpy.types.TOPBAR_MT_file_import.append(_import_menu)
    bpy.types.TOPBAR_MT_file_export.append(_export_menu)


def unregister():
    bpy.types.TOPBAR_MT_file_export.remove(_export_menu)
    bpy.types.TOPBAR_MT_file_import.remove(_import_menu)
    for kind in reversed(CLASSES):
        bpy.utils.unregister_class(kind)
