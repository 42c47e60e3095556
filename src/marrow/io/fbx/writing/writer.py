"""A `Character` to binary FBX 7.4 (7.5 where the file needs 64-bit offsets), without Autodesk's SDK.

Every joint is a node with the whole of its parent's scale (`InheritType` RSrs), so that matrices are what they are in
marrow. Bones turn from their rest pose (`PreRotation`), by angles that are unrolled and bent like the true motion. What
FBX has no words for is a warning each."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from marrow.errors import FormatError, ValidationError
from marrow.io.atomic import replacing
from marrow.io.fbx.writing.cameras import AttributeWriter, carried_kinds, write_extras
from marrow.io.fbx.writing.clips import ClipWriter, effective_tracks, moved_properties, turning
from marrow.io.fbx.writing.document import FbxDocument
from marrow.io.fbx.writing.geometry import surface_of, write_geometry
from marrow.io.fbx.writing.levels import LevelNodes
from marrow.io.fbx.writing.materials import MaterialWriter
from marrow.io.fbx.writing.morphs import write_morphs
from marrow.io.fbx.writing.nodes import Names, put_place, write_joints, write_model
from marrow.io.fbx.writing.records import write_file
from marrow.io.fbx.writing.rig import FbxRig, Placed, plan
from marrow.io.fbx.writing.skins import write_bind_pose, write_skin
from marrow.io.fbx.writing.space import file_space
from marrow.io.finite_check import check_finite
from marrow.io.losses import Losses
from marrow.model import Character, Clip, Mesh, Track, _validate

__all__ = ["write"]

TEXTURES = ("embed", "link")


def write(
    character: Character,
    path: Path | str,
    *,
    units: str | None = None,
    up: str | None = None,
    preset: str | None = None,
    textures: str = "embed",
    rate: float | None = None,
) -> None:
    """Writes the character.

    `units` (`cm`, `m`, `mm`, `in`, ...) and the `up` axis (`y`, `z`) are what the file is in; a `preset` names the program
    that shall take it as it is (`unreal`, `maya`, `unity`, `blender`, `3dsmax`, `three.js`). Left out: centimetres, Y up.
    `textures` are in the file (`embed`) or in a folder beside it (`link`). `rate` samples clips at so many frames a
    second, where they would else keep their keys.
    """
    target = Path(path)
    space = file_space(units, up, preset)
    _validate.one_of("save", "textures", textures, TEXTURES)
    if rate is not None:
        rate = _validate.frame_rate("save", rate)
    if not len(character.skeleton):
        raise FormatError("has no joints, and an FBX scene needs a node", path=target, place="skeleton")
    try:
        check_finite(character)
    except ValidationError as error:
        raise FormatError(f"{error}: no number that other programs can read", path=target) from None
    losses = Losses()
    turned = space.turned(character)
    if rate is not None:
        turned = _sampled(turned, rate)
    document = FbxDocument(space, rate or _rate(character))
    folder = f"{target.stem}_textures" if textures == "link" else ""
    files = _Writer(document, turned, folder, losses).write()
    try:
        for name, data in files.items():
            place = target.parent / folder
            place.mkdir(exist_ok=True)
            with replacing(place / name) as file:
                file.write(data)
    except OSError as error:
        raise FormatError(f"cannot be written: {error.strerror or error}", path=target) from None
    with replacing(target) as file:
        write_file(file, document.records())
    losses.warn()


def _rate(character: Character) -> float:
    """The frame rate that the file names: that of the first clip that has one, or the least multiple of it that is a whole
    number of frames, at least 24: Blender's older importer rounds rates for keys, and not for playing them."""
    rates = (clip.rate or clip.key_rate for clip in character.clips.values())
    found = next((float(r) for r in rates if r and 1 <= r <= 1000), 30.0)
    for k in range(math.ceil(24 / found), 9) if found % 1 else (math.ceil(24 / found),):
        if abs(found * k - round(found * k)) < 1e-4 and found * k <= 1000:
            return float(round(found * k))
    return found


def _sampled(character: Character, rate: float) -> Character:
    """The character with its clips at `rate` keys a second."""

    def sampled(clip: Clip) -> Clip:
        times = np.append(np.arange(0.0, clip.duration - 1e-4 / rate, 1.0 / rate), clip.duration).astype(
            np.float32
        )
        pose = clip.sample(times)
        tracks = []
        for path, target in effective_tracks(clip):
            values = pose.morphs if path == "morph" else getattr(pose, path)
            tracks.append(Track(target, path, times, values[:, target]))
        return clip.replace(tracks=tuple(tracks), rate=rate)

    return character.replace(clips=tuple(sampled(clip) for clip in character.clips.values()))


class _Writer:
    """One character into one document."""

    def __init__(self, document: FbxDocument, character: Character, folder: str, losses: Losses) -> None:
        self._document, self._character, self._losses = document, character, losses
        self._materials = MaterialWriter(document, character.images, folder, losses)
        self._numbers: list[int] = []
        self._plain = 0
        self._geometries: dict[Any, tuple[int, list[int | None]]] = {}
        self._channels: dict[int, list[int]] = {}

    def write(self) -> dict[str, bytes]:
        """Writes all of it; the files that belong beside the file."""
        document, character = self._document, self._character
        moved = moved_properties(character)
        rig = plan(character, moved, self._losses)
        turns = turning(character, rig, moved)
        names = Names()
        holds = {one.own for one in rig.placed}
        free = {j: not (rig.bones[j] or rig.left_out[j] or j in holds) for j in range(len(rig.bones))}
        carried = carried_kinds(character, free)
        nodes, props = write_joints(document, character, rig, turns, names, carried)
        attributes = AttributeWriter(document, character, nodes, props, carried, names, self._losses)
        attributes.write()
        write_extras(character, props, self._losses)
        self._numbers = [self._materials.write(m) for m in character.materials]
        levels = LevelNodes(document, character, names)
        models = [self._mesh(one, rig, nodes, levels, names) for one in rig.placed]
        write_bind_pose(document, rig, nodes, models)
        holder = next(j for j, node in enumerate(nodes) if node)
        clips = ClipWriter(
            document,
            character,
            rig,
            turns,
            nodes,
            self._channels,
            moved,
            self._losses,
            nodes[holder],
            attributes,
        )
        clips.write()
        first = props[holder]
        assert first is not None
        for name, value in clips.properties.items():
            first.number(name, value, animated=True, own=True)
        self._report(names, rig)
        return self._materials.files

    def _mesh(self, one: Placed, rig: FbxRig, nodes: list[int], levels: LevelNodes, names: Names) -> int:
        """The node of a mesh with all that hangs on it; its number."""
        document, mesh = self._document, one.mesh
        if one.own >= 0:
            model = nodes[one.own]
        else:
            title = f"{mesh.name}_LOD{one.level}" if one.level else mesh.name or "mesh"
            model, _, props = write_model(document, names.of(title), "Mesh", visible=mesh.visible)
            put_place(props, document, one.local)
            parent = levels.node(one.level) if levels else nodes[one.parent] if one.parent >= 0 else 0
            document.connect(model, parent)
        key = _identity(one)
        if key not in self._geometries:
            surface = surface_of(mesh, one.moved)
            geometry = write_geometry(document, surface)
            drawn = np.zeros(mesh.vertex_count, bool)
            drawn[surface.triangles] = True
            if not drawn.all():
                self._losses.add(f"mesh {mesh.name!r}", "vertices that are in no triangle are left out")
            for channel, number in write_morphs(
                document, self._character.skeleton, surface, geometry, self._losses
            ).items():
                self._channels.setdefault(channel, []).append(number)
            if one.bound is not None:
                write_skin(document, rig, one, surface, geometry, nodes)
            self._geometries[key] = geometry, surface.materials
        geometry, _ = self._geometries[key]
        document.connect(geometry, model)
        slots = list(dict.fromkeys(s.material for s in mesh.sections))
        for slot in slots if slots != [None] else ():
            if slot is None:
                self._plain = self._plain or self._materials.plain()
                self._losses.add(
                    f"mesh {mesh.name!r}", "parts without a material beside others get a plain one"
                )
            document.connect(self._plain if slot is None else self._numbers[slot], model)
        if any(s.name for s in mesh.sections):
            self._losses.add(f"mesh {mesh.name!r}", "the names of its parts are left out")
        return model

    def _report(self, names: Names, rig: FbxRig) -> None:
        character, losses = self._character, self._losses
        if names.changed:
            shown = ", ".join(repr(n) for n in names.changed[:3])
            losses.add(
                "nodes", f"{len(names.changed)} names are used before or empty ({shown}); they got others"
            )
        shared = [m for m, found in self._channels.items() if len(found) > 1]
        if shared:
            losses.add(
                "morphs",
                f"{len(shared)} channels move several meshes; in FBX each mesh has its own, of that name",
            )
        used = set(self._channels)
        idle = [name for m, name in enumerate(character.skeleton.morph_names) if m not in used]
        if idle:
            losses.add("morphs", f"{len(idle)} channels move no mesh and are left out")
        lost = {
            "material variants": character.variants,
            "springs, expressions and licence of a VRM avatar": character.vrm,
            "constraints": character.constraints,
            "sockets": character.skeleton.sockets,
            "the map of its humanoid bones": character.skeleton.bones,
            "further attributes of vertices": any(m.attributes for m in character.meshes),
            "morphs of colours and texture coordinates": any(
                t.attributes for m in character.meshes for t in m.morph_targets
            ),
        }
        left = [what for what, there in lost.items() if there]
        if left:
            losses.add("", f"FBX has no words for {', '.join(left)}: left out")


def _identity(one: Placed) -> Any:
    """What tells geometries apart: the arrays that a mesh is made of."""
    mesh: Mesh = one.mesh
    arrays = (mesh.positions, mesh.triangles, mesh.normals, mesh.tangents, mesh.colors, *mesh.uvs)
    sections = tuple((s.first, s.count) for s in mesh.sections)
    same_slots = tuple(
        np.unique([-1 if s.material is None else s.material for s in mesh.sections], return_inverse=True)[1]
    )
    moved = None if one.moved is None else one.moved.tobytes()
    key: tuple[Any, ...] = (*map(id, arrays), sections, same_slots, moved, *map(id, mesh.morph_targets))
    if one.bound is None:
        return key
    skin = (mesh.joints, mesh.weights, mesh.dual_quaternion_weights)
    binds = (mesh.joint_list.tobytes(), mesh.inverse_bind.tobytes(), one.bound.place.tobytes(), mesh.skinning)
    return (*key, *map(id, skin), *binds)
