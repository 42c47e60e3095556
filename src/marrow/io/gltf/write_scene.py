"""The nodes of a character's scene: joints, meshes, skins and levels of detail, into a `GltfBuilder`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from marrow.io.gltf.builder import GltfBuilder, short_floats
from marrow.io.gltf.cameras import LIGHTS, camera_definition, light_definition
from marrow.io.gltf.extras import COVERAGE
from marrow.io.gltf.lods import MSFT_LOD, screen_coverage
from marrow.io.gltf.naming import UniqueNames, target_names
from marrow.io.gltf.notes import LevelNote, NodeNotes, SceneNotes, SocketNote, to_extras
from marrow.io.gltf.quantization import Box, shared_boxes
from marrow.io.gltf.write_clips import MorphNode, target_rest
from marrow.io.gltf.write_meshes import is_plain, write_mesh
from marrow.math import affine, quaternion
from marrow.model import Character, JointCamera, JointLight, Lod, Mesh, Skeleton

__all__ = ["SceneNodes"]


class SceneNodes:
    """The nodes: joint j is node j; after them the nodes that only carry a mesh or stand in for a joint."""

    def __init__(self, builder: GltfBuilder, character: Character) -> None:
        self._builder = builder
        self._skeleton = character.skeleton
        self._notes = [NodeNotes() for _ in range(len(character.skeleton))]
        self._skins: dict[tuple[bytes, bytes, str], int] = {}
        self._roots = list(character.skeleton.roots)
        self.morph_nodes: list[MorphNode] = []
        self._write_joints(character.skeleton)
        self._boxes: dict[int, Box] = {}
        if builder.quantize:
            levels = [m for level in character.reduced for m in level.meshes]
            self._boxes = shared_boxes(
                [m for m in (*character.meshes, *levels) if m.vertex_count and not is_plain(m)]
            )
        self.places = places = [
            self._place_mesh(mesh, character, i) for i, mesh in enumerate(character.meshes)
        ]
        self.level_places: list[int] = []
        self._hide(character, places)
        self._place_levels(character)
        self._place_cameras(character)
        self._wrap_roots()
        order = self._depth_first()
        self._note_order(places, order)
        self.notes = SceneNotes(name=character.name, size=character.lod.size)
        joints = [n for n in order if n < len(self._skeleton)]
        if joints != sorted(joints):
            self.notes.joints = list(range(len(self._skeleton)))
        self._note_channels(order)
        self.notes.humanoid = self._skeleton.bones or None
        lod = character.lod
        if (lod.error, lod.mean_error, lod.screen_size) != (0.0, 0.0, None) or lod.joints != len(
            self._skeleton
        ):
            self.notes.lod, self.notes.size = _level_note(lod), None
        if character.reduced:
            self.notes.levels = [_level_note(level.lod) for level in character.reduced]
        for n, (node, noted) in enumerate(zip(self._nodes, self._notes)):
            extras = to_extras(noted)
            if extras:
                node["extras"] = extras
            if n < len(self._skeleton):
                builder.extras.put(node, "joints", n, self._skeleton.names[n])
        self._note_coverage(character)

    def definition(self) -> dict[str, Any]:
        """The scene, with its notes."""
        out: dict[str, Any] = {"nodes": self._roots, "extras": to_extras(self.notes)}
        self._builder.extras.whole("scene", out, "name")
        return out

    @property
    def _nodes(self) -> list[dict[str, Any]]:
        return self._builder.objects["nodes"]

    def _write_joints(self, skeleton: Skeleton) -> None:
        rest = skeleton.rest
        for field in ("translation", "rotation", "scale"):
            self._builder.check_finite(getattr(rest, field), f"rest pose, {field}")
        self._builder.check_finite(rest.morphs[:, None], "rest pose, morphs")
        length = np.linalg.norm(rest.rotation.astype(np.float64), axis=1)
        off = np.abs(length - 1) > 1e-6
        unit = np.where(off[:, None], quaternion.normalize(rest.rotation), rest.rotation)
        if off.any():
            self._builder.warn(
                f"rest pose: {int(off.sum())} rotations were not of unit length; they are in the file"
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

    def _place_mesh(self, mesh: Mesh, character: Character, index: int) -> int:
        """The node that carries a mesh: its own, or one more where that is taken or does not exist."""
        plain = is_plain(mesh)
        n = mesh.node
        # Programs that show another level hide a node with all below it.
        blocked = bool(character.reduced) and n >= 0 and (self._skeleton.parents == n).any()
        if not 0 <= n < len(self._skeleton) or "mesh" in self._nodes[n] or blocked:
            n = self._add_node({"name": mesh.name}, mesh.node if plain else -1)
            if not plain:
                self._notes[n].node = mesh.node
        node = self._nodes[n]
        box = self._boxes.get(id(mesh))
        node["mesh"] = write_mesh(self._builder, mesh, character.materials, index, box)
        if not plain:
            node["skin"] = self._skin(mesh, index, box)
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
        ids: list[list[int]] = [[] for _ in character.meshes]
        first = len(character.meshes)  # the number of a level's first mesh among all there are
        for k, level in enumerate(character.reduced, 1):
            stands_for = _standing_for(level.meshes, character.meshes)
            lost = [m.name for j, m in enumerate(level.meshes) if j not in stands_for]
            if lost:
                names = ", ".join(map(repr, lost))
                self._builder.warn(
                    f"level {k} has more meshes than the character, and glTF has one for each: {names} left out"
                )
            shown = [j for j in stands_for if j is not None]
            in_order = shown == sorted(shown)
            for i, j in enumerate(stands_for):
                base, mesh = character.meshes[i], None if j is None else level.meshes[j]
                ids[i].append(
                    self._place_level(f"{base.name}_LOD{k}", mesh, base, character, first + (j or 0))
                )
                if not in_order:
                    self._notes[ids[i][-1]].order = j
            self.level_places += [
                ids[stands_for.index(j)][-1] for j in range(len(level.meshes)) if j in stands_for
            ]
            first += len(level.meshes)
        for n, others in zip(self.places, ids):
            if others:
                named = {self._builder.extension(MSFT_LOD): {"ids": others}}
                self._nodes[n]["extensions"] = self._nodes[n].get("extensions", {}) | named

    def _place_level(
        self, name: str, mesh: Mesh | None, base: Mesh, character: Character, number: int
    ) -> int:
        index = self._builder.add("nodes", {"name": name})
        self._notes.append(NodeNotes(joint=False))
        if mesh is not None:
            node, noted = self._nodes[index], self._notes[index]
            # Outside the scene it can only follow joints by a skin.
            box = self._boxes.get(id(mesh))
            node["mesh"] = write_mesh(self._builder, mesh.replace(node=-1), character.materials, number, box)
            node["skin"] = self._skin(mesh, number, box)
            rest = target_rest(mesh.morph_targets, self._skeleton)
            if any(rest):
                node["weights"] = short_floats(rest)
            noted.node, noted.visible = mesh.node, mesh.visible
            driven = [[(t.name, t.channel, t.full_weight) for t in m.morph_targets] for m in (mesh, base)]
            if driven[0] and driven[0] != driven[1]:
                noted.channels = [t.channel for t in mesh.morph_targets]
                noted.full_weights = [t.full_weight for t in mesh.morph_targets]
        return index

    def _place_cameras(self, character: Character) -> None:
        """Cameras and lights, each on the node of its joint where that has none and it is not turned there."""
        for camera in character.cameras:
            index = self._builder.add("cameras", camera_definition(self._builder, camera))
            self._carrying(camera, lambda node: "camera" not in node)["camera"] = index
        self._builder.lights = [light_definition(self._builder, light) for light in character.lights]
        for index, light in enumerate(character.lights):
            node = self._carrying(light, lambda node: LIGHTS not in node.get("extensions", {}))
            own: dict[str, Any] = {self._builder.extension(LIGHTS): {"light": index}}
            if not light.visible:
                own[self._builder.extension("KHR_node_visibility")] = {"visible": False}
            node["extensions"] = node.get("extensions", {}) | own

    def _carrying(
        self, placed: JointCamera | JointLight, free: Callable[[dict[str, Any]], bool]
    ) -> dict[str, Any]:
        node = self._nodes[placed.joint]
        shown = getattr(placed, "visible", True)
        if placed.rotation == (0.0, 0.0, 0.0, 1.0) and free(node) and shown:
            return node
        n = self._add_node({"name": placed.name, "rotation": list(placed.rotation)}, placed.joint)
        self._notes[n].placed = True
        return self._nodes[n]

    def _note_coverage(self, character: Character) -> None:
        """Which part of the screen each level is for, as other programs say it; what they said goes on where it still
        holds."""
        coverage = screen_coverage(character.reduced)
        for n in self.places:
            if coverage is None:
                return
            extras = self._nodes[n].get("extras", {})
            kept = extras.get(COVERAGE) if isinstance(extras, dict) else []
            if not isinstance(kept, list) or kept[: len(coverage) - 1] != coverage[:-1]:
                kept = coverage
            if isinstance(extras, dict):
                self._nodes[n]["extras"] = extras | {COVERAGE: kept}

    def _skin(self, mesh: Mesh, number: int, box: Box | None) -> int:
        inverse_bind = mesh.inverse_bind if box is None else box.folded(mesh.inverse_bind)
        own = self._builder.extras.record("skins", number, mesh.name)
        key = (mesh.joint_list.tobytes(), inverse_bind.tobytes(), repr(own))
        if key not in self._skins:
            joints: list[int] = []
            for j in mesh.joint_list.tolist():
                # A skin names each node once: a joint with a second inverse bind matrix gets a node to stand
                # in for it.
                again = j in joints
                joints.append(self._add_node({"name": f"{self._skeleton.names[j]}_again"}, j) if again else j)
            columns = affine.to_4x4(inverse_bind).swapaxes(1, 2).reshape(-1, 16)
            binds = self._builder.accessor(columns, f"mesh {mesh.name!r}, inverse bind matrices")
            skin = own | {"joints": joints, "inverseBindMatrices": binds}
            root = skin.pop("skeleton", None)
            if root is not None and self._is_above(root, mesh):
                skin["skeleton"] = self._skeleton.index(root)
            self._skins[key] = self._builder.add("skins", skin)
        return self._skins[key]

    def _is_above(self, root: str, mesh: Mesh) -> bool:
        """Whether all joints of a mesh hang from the joint of that name, as glTF wants it of the root of a skin."""
        if root not in self._skeleton.names:
            return False
        below = self._skeleton.descendants(root)
        return bool(np.isin(mesh.joint_list, np.append(below, self._skeleton.index(root))).all())

    def _wrap_roots(self) -> None:
        """One node above all roots where a skin reaches across several, since its joints must share a
        root."""
        root_of = list(range(len(self._skeleton)))
        for j, parent in enumerate(self._skeleton.parents.tolist()):
            if parent >= 0:
                root_of[j] = root_of[parent]
        for joints, *_ in self._skins:
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

    def _note_channels(self, order: list[int]) -> None:
        """Notes the morph channels where reading the file would number or name them otherwise."""
        rank = {n: i for i, n in enumerate(order)}
        names, sequential = UniqueNames(), True
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
        self.notes.morphs = list(self._skeleton.morph_names)
        self.notes.rest = short_floats(self._skeleton.rest.morphs)
        for morph_node in self.morph_nodes:
            targets = morph_node.mesh.morph_targets
            self._notes[morph_node.node].channels = [t.channel for t in targets]
            if any(t.full_weight != 1.0 for t in targets):
                self._notes[morph_node.node].full_weights = [t.full_weight for t in targets]


def _level_note(lod: Lod) -> LevelNote:
    return LevelNote(**{name: getattr(lod, name) for name in LevelNote.__struct_fields__})


def _standing_for(meshes: Sequence[Mesh], bases: Sequence[Mesh]) -> list[int | None]:
    """Which of a level's meshes each of the character's becomes: the one of its name, or the next that is left."""
    left: dict[str, list[int]] = {}
    for j, mesh in enumerate(meshes):
        left.setdefault(mesh.name, []).append(j)
    out = [left[base.name].pop(0) if left.get(base.name) else None for base in bases]
    others = iter(sorted(j for found in left.values() for j in found))
    return [next(others, None) if j is None else j for j in out]
