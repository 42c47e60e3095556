"""A `Character` to `.glb`, `.gltf` or `.vrm`.

The file is plain glTF 2.0 that any viewer shows; what glTF has no words for (sockets, events, channels that
drive several targets, ...) goes into `extras` under `marrow`, so that reading it back gives the character
that was saved.
"""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import numpy as np

from marrow._version import __version__
from marrow.errors import FormatError, UnknownNameError
from marrow.io.atomic import replacing
from marrow.io.gltf.builder import Builder, short_floats
from marrow.io.gltf.container import BIN_CHUNK, JSON_CHUNK, MAGIC
from marrow.io.gltf.extras import with_extras
from marrow.io.gltf.naming import Names, target_names
from marrow.io.gltf.notes import LevelNote, NodeNotes, SceneNotes, SocketNote, to_extras
from marrow.io.gltf.quantization import Box
from marrow.io.gltf.variants import VARIANTS
from marrow.io.gltf.write_clips import MorphNode, target_rest, write_clip
from marrow.io.gltf.write_materials import write_images, write_materials
from marrow.io.gltf.write_meshes import is_plain, write_mesh
from marrow.io.gltf.write_vrm import check_vrm, write_vrm
from marrow.math import affine, quaternion
from marrow.model import Character, Mesh, Skeleton, _validate
from marrow.printing import warn

__all__ = ["write"]

MAX_GLB_BYTES = (1 << 32) - 1
LEVELS = ("all", "split", "none")
METHODS = ("meshopt", "quantized", "draco")


def write(character: Character, path: Path, *, compress: bool | str = False, levels: str = "all") -> None:
    """Writes the character; a path that ends in `.gltf` gets its arrays in a `.bin` file beside it.

    `compress` makes the file smaller, for programs that know how it was done: `"meshopt"` (or True) packs all arrays
    without loss, `"quantized"` stores vertices and rotations in fewer bits before that, `"draco"` packs meshes without
    morph targets by Draco. `levels` of detail go into the file (`all`, by `MSFT_lod`), into files of their own beside it
    (`split`: `hero.glb`, `hero_lod1.glb`...), or nowhere (`none`).
    """
    path = Path(path)
    _validate.one_of("save", "levels", levels, LEVELS)
    method = "meshopt" if compress is True else compress or None
    if method is not None and method not in METHODS:
        raise UnknownNameError("way to compress", method, METHODS)
    if levels != "all" and character.reduced:
        for k, level in enumerate(character.levels[1:] if levels == "split" else (), 1):
            write(level, path.with_stem(f"{path.stem}_lod{k}"), compress=compress)
        character = character.replace(reduced=())
    builder = Builder(path, quantize=method == "quantized")
    if path.suffix.lower() == ".vrm":
        check_vrm(builder, character)
    document = _document(builder, character, method)
    if path.suffix.lower() == ".gltf":
        _save_gltf(builder, document, path)
    else:
        _save_glb(builder, document, path)


def _save_glb(builder: Builder, document: dict[str, Any], path: Path) -> None:
    if builder.size:
        document.setdefault("buffers", [{"byteLength": builder.size}])
    text = _encode(document, path)
    text += b" " * (-len(text) % 4)
    total = 12 + 8 + len(text) + (8 + builder.size if builder.size else 0)
    if total > MAX_GLB_BYTES:
        raise FormatError(f"would have {total} bytes; a GLB holds at most {MAX_GLB_BYTES}", path=path)
    with replacing(path) as file:
        file.write(MAGIC + struct.pack("<II", 2, total))
        file.write(struct.pack("<II", len(text), JSON_CHUNK) + text)
        if builder.size:
            file.write(struct.pack("<II", builder.size, BIN_CHUNK))
            file.writelines(builder.binary)


def _save_gltf(builder: Builder, document: dict[str, Any], path: Path) -> None:
    if not builder.size:
        with replacing(path) as file:
            file.write(msgspec.json.format(_encode(document, path), indent=1))
        return
    binary = path.with_suffix(".bin")
    document.setdefault("buffers", [{"byteLength": builder.size}])
    document["buffers"][0]["uri"] = quote(binary.name, errors="surrogateescape")
    text = msgspec.json.format(_encode(document, path), indent=1)
    # Both are complete before either takes its place.
    with replacing(path) as file, replacing(binary) as data:
        data.writelines(builder.binary)
        file.write(text)


def _encode(document: dict[str, Any], path: Path) -> bytes:
    """The JSON of the document, which has no way to write numbers that are not finite."""
    stack: list[tuple[str, Any]] = [("", document)]
    while stack:
        place, value = stack.pop()
        if isinstance(value, dict):
            stack.extend((f"{place}.{key}" if place else key, inner) for key, inner in value.items())
        elif isinstance(value, (list, tuple)):
            stack.extend((f"{place}[{i}]", inner) for i, inner in enumerate(value))
        elif isinstance(value, float) and not math.isfinite(value):
            raise FormatError(f"{value} is not a number glTF can hold", path=path, place=place)
    try:
        return msgspec.json.encode(document)
    except UnicodeEncodeError as error:
        raise FormatError(f"a name cannot be written as text: {error}", path=path) from None


def _document(builder: Builder, character: Character, method: str | None) -> dict[str, Any]:
    if not len(character.skeleton):
        raise builder.refuse("has no joints, and a glTF scene needs a node", "skeleton")
    images = write_images(builder, character.images)
    write_materials(builder, character.materials, images)
    scene = _Scene(builder, character)
    for clip in character.clips.values():
        write_clip(builder, clip, scene.morph_nodes)
    _put_extras(builder, character)
    whole: dict[str, Any] = {}
    if character.vrm and character.skeleton.humanoid:
        before = len(builder.objects["nodes"])
        whole = write_vrm(builder, character, scene.morph_nodes, scene.places, images)
        order = scene.definition.get("extras", {}).get("marrow", {}).get("joints")
        if order is not None:  # the ends of springs are joints too, to whoever reads the file
            order.extend(range(before, len(builder.objects["nodes"])))
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": f"marrow {__version__}"} | _asset(character)
    }
    if character.variants:
        names = [{"name": name} for name in character.variants]
        whole[builder.extension(VARIANTS)] = {"variants": names}
    if method == "draco":
        from marrow.io.gltf.write_draco import pack_meshes

        pack_meshes(builder)
    elif method is not None:
        from marrow.io.gltf.compression import compress as packed

        document["buffers"] = packed(builder)
    if builder.extensions_used:
        document["extensionsUsed"] = sorted(builder.extensions_used)
    if builder.extensions_required:
        document["extensionsRequired"] = sorted(builder.extensions_required)
    if whole:
        document["extensions"] = whole
    document |= {"scene": 0, "scenes": [scene.definition]}
    return document | builder.objects


def _asset(character: Character) -> dict[str, Any]:
    kept = character.extras.get("asset")
    kept = kept if isinstance(kept, dict) else {}
    found = {"copyright": kept["copyright"]} if isinstance(kept.get("copyright"), str) else {}
    return found | ({"extras": kept["extras"]} if kept.get("extras") is not None else {})


def _put_extras(builder: Builder, character: Character) -> None:
    """What other programs had put on things of these names."""
    if not character.extras:
        return
    names = character.skeleton.names
    for kind, group in (
        ("joints", "nodes"),
        ("meshes", "meshes"),
        ("materials", "materials"),
        ("clips", "animations"),
    ):
        for i, item in enumerate(builder.objects.get(group, [])):
            if kind != "joints" or i < len(names):
                with_extras(item, character.extras, kind, item.get("name", ""))


class _Scene:
    """The nodes: joint j is node j; after them the nodes that only carry a mesh or stand in for a joint."""

    def __init__(self, builder: Builder, character: Character) -> None:
        self._builder = builder
        self._skeleton = character.skeleton
        self._notes = [NodeNotes() for _ in range(len(character.skeleton))]
        self._skins: dict[tuple[bytes, bytes], int] = {}
        self._roots = list(character.skeleton.roots)
        self.morph_nodes: list[MorphNode] = []
        self._coverage: dict[int, list[float]] = {}
        self._write_joints(character.skeleton)
        self.places = places = [self._place_mesh(mesh, character) for mesh in character.meshes]
        self._hide(character, places)
        self._place_levels(character)
        self._wrap_roots()
        order = self._depth_first()
        self._note_order(places, order)
        scene_notes = SceneNotes(name=character.name)
        joints = [n for n in order if n < len(self._skeleton)]
        if joints != sorted(joints):
            scene_notes.joints = list(range(len(self._skeleton)))
        self._note_channels(order, scene_notes)
        if self._skeleton.humanoid and not character.vrm:
            scene_notes.humanoid = self._skeleton.humanoid
        scene_notes.size = character.lod.size
        for lod in (level.lod for level in character.reduced):
            note = LevelNote(**{name: getattr(lod, name) for name in LevelNote.__struct_fields__})
            scene_notes.levels = [*(scene_notes.levels or ()), note]
        for node, noted in zip(self._nodes, self._notes):
            extras = to_extras(noted)
            if extras:
                node["extras"] = extras
        for n, coverage in self._coverage.items():
            self._nodes[n]["extras"] = self._nodes[n].get("extras", {}) | {"MSFT_screencoverage": coverage}
        self.definition: dict[str, Any] = {"nodes": self._roots}
        extras = to_extras(scene_notes)
        if extras:
            self.definition["extras"] = extras

    @property
    def _nodes(self) -> list[dict[str, Any]]:
        return self._builder.objects["nodes"]

    def _write_joints(self, skeleton: Skeleton) -> None:
        rest = skeleton.rest
        for field in ("translation", "rotation", "scale"):
            self._builder.check_finite(getattr(rest, field), f"rest pose, {field}")
        self._builder.check_finite(rest.morphs[:, None], "rest pose, morphs")
        length = np.linalg.norm(rest.rotation.astype(np.float64), axis=1)
        unit = np.where(
            np.abs(length - 1)[:, None] > 1e-6, quaternion.normalize(rest.rotation), rest.rotation
        )
        for j, name in enumerate(skeleton.names):
            node: dict[str, Any] = {"name": name}
            for key, values, default in (
                ("translation", rest.translation[j], [0, 0, 0]),
                ("rotation", unit[j], [0, 0, 0, 1]),
                ("scale", rest.scale[j], [1, 1, 1]),
            ):
                if values.tolist() != default:
                    node[key] = short_floats(values)
            self._builder.add("nodes", node)
            parent = int(skeleton.parents[j])
            if parent >= 0:
                self._nodes[parent].setdefault("children", []).append(j)
        for i, s in enumerate(skeleton.sockets):
            parts: Any = (tuple(short_floats(a)) for a in (s.translation, s.rotation, s.scale))
            self._notes[s.joint].sockets = [*self._notes[s.joint].sockets, SocketNote(s.name, i, *parts)]

    def _add_node(self, node: dict[str, Any], parent: int) -> int:
        """A node that is no joint, below a joint or at the root (-1)."""
        index = self._builder.add("nodes", node)
        self._notes.append(NodeNotes(joint=False))
        if parent >= 0:
            self._nodes[parent].setdefault("children", []).append(index)
        else:
            self._roots.append(index)
        return index

    def _place_mesh(self, mesh: Mesh, character: Character) -> int:
        """The node that carries a mesh: its own, or one more where that is taken or does not exist."""
        plain = is_plain(mesh) and not self._builder.quantize
        n = mesh.node
        # Programs that show another level hide a node with all below it.
        blocked = bool(character.reduced) and n >= 0 and (self._skeleton.parents == n).any()
        if not 0 <= n < len(self._skeleton) or "mesh" in self._nodes[n] or blocked:
            n = self._add_node({"name": mesh.name}, mesh.node if plain else -1)
            if not plain:
                self._notes[n].node = mesh.node
        node = self._nodes[n]
        node["mesh"] = write_mesh(self._builder, mesh, character.materials)
        if not plain:
            node["skin"] = self._skin(mesh)
        if mesh.morph_targets:
            self.morph_nodes.append(MorphNode(n, mesh))
            rest = target_rest(mesh.morph_targets, self._skeleton)
            if any(rest):
                node["weights"] = short_floats(rest)
        self._notes[n].visible = mesh.visible
        return n

    def _hide(self, character: Character, places: list[int]) -> None:
        """Tells other programs of meshes that are not shown, where that hides nothing else."""
        for mesh, n in zip(character.meshes, places):
            if not mesh.visible and not self._nodes[n].get("children"):
                name = self._builder.extension("KHR_node_visibility")
                self._nodes[n]["extensions"] = {name: {"visible": False}}

    def _place_levels(self, character: Character) -> None:
        """A node outside the scene for every mesh at every coarser level, named by the node it stands for."""
        for level in character.reduced:
            lost = {m.name for m in level.meshes} - {m.name for m in character.meshes}
            if lost:
                names = ", ".join(map(repr, sorted(lost)))
                warn(f"a level of detail has meshes the character has not: {names}; left out", stacklevel=6)
        sizes = [level.lod.screen_size for level in character.reduced]
        for i, (mesh, n) in enumerate(zip(character.meshes, self.places)):
            ids = []
            for k, level in enumerate(character.reduced, 1):
                found = [m for m in level.meshes if m.name == mesh.name]
                twin = sum(m.name == mesh.name for m in character.meshes[:i])
                ids.append(
                    self._place_level(
                        f"{mesh.name}_LOD{k}", found[twin] if twin < len(found) else None, character
                    )
                )
            if ids:
                named = {self._builder.extension("MSFT_lod"): {"ids": ids}}
                self._nodes[n]["extensions"] = self._nodes[n].get("extensions", {}) | named
                if all(size is not None for size in sizes):
                    self._coverage[n] = [*map(float, sizes), 0.0]  # type: ignore[arg-type]

    def _place_level(self, name: str, mesh: Mesh | None, character: Character) -> int:
        index = self._builder.add("nodes", {"name": name})
        self._notes.append(NodeNotes(joint=False))
        if mesh is not None:
            node, noted = self._nodes[index], self._notes[index]
            # Outside the scene it can only follow joints by a skin.
            node["mesh"] = write_mesh(self._builder, mesh.replace(node=-1), character.materials)
            node["skin"] = self._skin(mesh)
            rest = target_rest(mesh.morph_targets, self._skeleton)
            if any(rest):
                node["weights"] = short_floats(rest)
            noted.node, noted.visible = mesh.node, mesh.visible
        return index

    def _skin(self, mesh: Mesh) -> int:
        inverse_bind = mesh.inverse_bind
        if self._builder.quantize:
            inverse_bind = Box.around(mesh).folded(inverse_bind)
        key = (mesh.joint_list.tobytes(), inverse_bind.tobytes())
        if key not in self._skins:
            joints: list[int] = []
            for j in mesh.joint_list.tolist():
                # A skin names each node once: a joint with a second inverse bind matrix gets a node to stand
                # in for it.
                again = j in joints
                joints.append(self._add_node({"name": f"{self._skeleton.names[j]}_again"}, j) if again else j)
            columns = affine.to_4x4(inverse_bind).swapaxes(1, 2).reshape(-1, 16)
            binds = self._builder.accessor(columns, f"mesh {mesh.name!r}, inverse bind matrices")
            self._skins[key] = self._builder.add("skins", {"joints": joints, "inverseBindMatrices": binds})
        return self._skins[key]

    def _wrap_roots(self) -> None:
        """One node above all roots where a skin reaches across several, since its joints must share a
        root."""
        root_of = list(range(len(self._skeleton)))
        for j, parent in enumerate(self._skeleton.parents.tolist()):
            if parent >= 0:
                root_of[j] = root_of[parent]
        for joints, _ in self._skins:
            if len({root_of[j] for j in np.frombuffer(joints, np.int32).tolist()}) > 1:
                roots, self._roots = self._roots, []
                self._add_node({"name": "roots", "children": roots}, -1)
                return

    def _depth_first(self) -> list[int]:
        order, stack = [], self._roots[::-1]
        while stack:
            n = stack.pop()
            order.append(n)
            stack.extend(reversed(self._nodes[n].get("children", ())))
        return order

    def _note_order(self, places: list[int], order: list[int]) -> None:
        rank = {n: i for i, n in enumerate(order)}
        if [rank[n] for n in places] != sorted(rank[n] for n in places):
            for i, n in enumerate(places):
                self._notes[n].order = i

    def _note_channels(self, order: list[int], scene_notes: SceneNotes) -> None:
        """Notes the morph channels where reading the file would number or name them otherwise."""
        rank = {n: i for i, n in enumerate(order)}
        names, sequential = Names(), True
        natural: list[str] = []
        for morph_node in sorted(self.morph_nodes, key=lambda m: rank[m.node]):
            targets = morph_node.mesh.morph_targets
            start = len(natural)
            sequential &= [t.channel for t in targets] == list(range(start, start + len(targets)))
            sequential &= all(t.full_weight == 1.0 for t in targets)
            given = target_names([t.name for t in targets], len(targets), morph_node.mesh.name)
            natural += [names.claim(name) for name in given]
        if sequential and tuple(natural) == self._skeleton.morph_names:
            return
        scene_notes.morphs = list(self._skeleton.morph_names)
        scene_notes.rest = short_floats(self._skeleton.rest.morphs)
        for morph_node in self.morph_nodes:
            targets = morph_node.mesh.morph_targets
            self._notes[morph_node.node].channels = [t.channel for t in targets]
            if any(t.full_weight != 1.0 for t in targets):
                self._notes[morph_node.node].full_weights = [t.full_weight for t in targets]
