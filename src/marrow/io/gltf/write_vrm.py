"""The VRM data of a character into a `GltfBuilder`, as VRM 1.0. A `.vrm` that other programs refuse is not written."""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from typing import Any

import numpy as np

from marrow.errors import MarrowError
from marrow.io.gltf.builder import GltfBuilder, short_floats
from marrow.io.gltf.notes import NodeNotes, to_extras
from marrow.io.gltf.vrm import PRESETS, REQUIRED_BONES
from marrow.io.gltf.write_clips import MorphNode
from marrow.io.vrm_constraints import constraint_to_vrm
from marrow.model import Character

__all__ = ["check_vrm", "write_vrm"]

SPEC = {"specVersion": "1.0"}
_META = ("name", "authors", "licenseUrl")
_ABOVE = {
    "spine": "hips", "chest": "spine", "upperChest": "chest", "head": "spine", "leftUpperLeg": "hips",
    "rightUpperLeg": "hips", "leftLowerLeg": "leftUpperLeg", "rightLowerLeg": "rightUpperLeg", "leftFoot": "leftLowerLeg",
    "rightFoot": "rightLowerLeg", "leftUpperArm": "spine", "rightUpperArm": "spine", "leftLowerArm": "leftUpperArm",
    "rightLowerArm": "rightUpperArm", "leftHand": "leftLowerArm", "rightHand": "rightLowerArm",
}  # fmt: skip


def check_vrm(builder: GltfBuilder, character: Character) -> None:
    """Refuses a character that would be no VRM avatar, and says what it lacks."""
    bones, meta = character.skeleton.humanoid, character.vrm.get("meta")
    missing = [bone for bone in REQUIRED_BONES if bone not in bones]
    if not bones:
        raise builder.refuse(
            "is no VRM avatar: neither file nor rig says which joints are hips, spine, head, ...",
            "skeleton.humanoid",
            "save it as .glb",
        )
    if missing:
        raise builder.refuse(
            f"a VRM avatar needs {', '.join(missing)}",
            "skeleton.humanoid",
            "save it as .glb, or say which joints these bones are",
        )
    for bone, above in _ABOVE.items():
        if bone in bones and above in bones and bones[above] not in character.skeleton.ancestors(bones[bone]):
            raise builder.refuse(f"the bone {bone!r} is not below {above!r}", "skeleton.humanoid")
    lacking = [key for key in _META if not (isinstance(meta, dict) and meta.get(key))]
    if lacking:
        raise builder.refuse(
            f"a VRM avatar needs a licence: {', '.join(lacking)} missing",
            'vrm["meta"]',
            "save it as .glb, or fill in character.vrm['meta']",
        )


def write_vrm(
    builder: GltfBuilder,
    character: Character,
    morph_nodes: Sequence[MorphNode],
    places: Sequence[int],
    images: Set[int],
) -> dict[str, Any]:
    """The extensions of the whole file; those of nodes go onto `builder`'s nodes. Springs and constraints need no
    body."""
    writer = _Writer(builder, character, morph_nodes, places)
    vrm = character.vrm
    out: dict[str, Any] = {}
    if vrm.keys() - {"springBone"}:
        body: dict[str, Any] = SPEC | {"meta": _meta(vrm, images), "humanoid": writer.humanoid()}
        expressions = writer.expressions()
        if expressions:
            body["expressions"] = expressions
        if isinstance(vrm.get("lookAt"), dict):
            body["lookAt"] = vrm["lookAt"]
        first = writer.first_person()
        if first:
            body["firstPerson"] = first
        out[builder.extension("VRMC_vrm")] = body
    springs = writer.springs()
    if springs:
        out[builder.extension("VRMC_springBone")] = SPEC | springs
    writer.constraints()
    if writer.lost:
        builder.warn(
            f"{writer.lost} parts of the VRM data name joints or morphs that the character no longer has; they were "
            "left out"
        )
    return out


def _meta(vrm: dict[str, Any], images: Set[int]) -> dict[str, Any]:
    meta = dict(_object(vrm.get("meta")))
    picture = meta.pop("thumbnailImage", None)
    if isinstance(picture, int) and picture in images:
        meta["thumbnailImage"] = picture
    return meta


_GONE = object()


def _items(value: Any) -> list[tuple[str, dict[str, Any]]]:
    """The objects of an object, by name."""
    return [(k, v) for k, v in value.items() if isinstance(v, dict)] if isinstance(value, dict) else []


def _objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


class _Writer:
    def __init__(
        self,
        builder: GltfBuilder,
        character: Character,
        morph_nodes: Sequence[MorphNode],
        places: Sequence[int],
    ) -> None:
        self._builder, self._character = builder, character
        self._skeleton, self._vrm = character.skeleton, character.vrm
        self._places = places
        self._binds: dict[int, list[tuple[int, int]]] = {}
        for morph_node in morph_nodes:
            for i, target in enumerate(morph_node.mesh.morph_targets):
                self._binds.setdefault(target.channel, []).append((morph_node.node, i))
        self.lost = 0

    def humanoid(self) -> dict[str, Any]:
        return {"humanBones": {bone: {"node": j} for bone, j in self._skeleton.humanoid.items()}}

    def expressions(self) -> dict[str, Any]:
        groups: dict[str, Any] = {"preset": {}, "custom": {}}
        materials = len(self._character.materials)
        for name, item in _items(self._vrm.get("expressions")):
            made = {k: v for k, v in item.items() if k not in ("preset", "morphTargetBinds")}
            binds = []
            for bind in _objects(item.get("morphTargetBinds")):
                morph = bind.get("morph")
                known = isinstance(morph, str) and morph in self._skeleton.morph_names
                at = self._binds.get(self._skeleton.morph_index(str(morph)), []) if known else []
                self.lost += not at
                rest = {k: v for k, v in bind.items() if k != "morph"}
                binds += [{"node": n, "index": i} | rest for n, i in at]
            if binds:
                made["morphTargetBinds"] = binds
            for kind in ("materialColorBinds", "textureTransformBinds"):
                if kind in made:
                    made[kind] = [b for b in _objects(made[kind]) if b.get("material") in range(materials)]
                    if not made[kind]:
                        del made[kind]
            groups["preset" if name in PRESETS else "custom"][name] = made
        return {group: items for group, items in groups.items() if items}

    def first_person(self) -> dict[str, Any]:
        found = dict(_object(self._vrm.get("firstPerson")))
        notes = []
        for item in _objects(found.get("meshAnnotations")):
            joint = self._joint(item.get("node"))
            carried = [n for m, n in zip(self._character.meshes, self._places) if m.node == joint]
            self.lost += not carried
            notes += [dict(item) | {"node": n} for n in dict.fromkeys(carried)]
        found.pop("meshAnnotations", None)
        return found | ({"meshAnnotations": notes} if notes else {})

    def springs(self) -> dict[str, Any]:
        found = _object(self._vrm.get("springBone"))
        made = self._referred({k: v for k, v in found.items() if k != "springs"})
        made = {} if made is _GONE else made
        springs = []
        for spring in _objects(found.get("springs")):
            new = self._referred({k: v for k, v in spring.items() if k != "end"})
            joints = [] if new is _GONE else [j for j in _objects(new.get("joints")) if "node" in j]
            if not joints:
                continue
            end = spring.get("end")
            if isinstance(end, (int, float)) and 0 < end < math.inf:
                joints.append({"node": self._tail(joints[-1]["node"], float(end))})
            new["joints"] = joints
            springs.append(new)
        made = {key: value for key, value in made.items() if value != []}
        return made | ({"springs": springs} if springs else {})

    def _tail(self, joint: int, length: float) -> int:
        """A node behind the last joint of a spring, as far on as VRM 0.x took it to be."""
        way = np.asarray(self._skeleton.rest.translation[joint], np.float64)
        size = float(np.linalg.norm(way))
        place = way / size * length if size > 0 else np.array([0.0, length, 0.0])
        nodes = self._builder.objects["nodes"]
        children = nodes[joint].setdefault("children", [])
        tail = {
            "name": f"{self._skeleton.names[joint]}_end",
            "translation": short_floats(place),
            "extras": to_extras(NodeNotes(joint=False, end=length)),
        }
        for n in children:
            if nodes[n] == tail:
                return int(n)
        children.append(self._builder.add("nodes", tail))
        return int(children[-1])

    def constraints(self) -> None:
        nodes = self._builder.objects["nodes"]
        for constraint in self._character.constraints:
            said = constraint_to_vrm(constraint)
            if said is None:
                continue
            joint = self._skeleton.index(constraint.moves()[0])
            extensions = nodes[joint].setdefault("extensions", {})
            if "VRMC_node_constraint" not in extensions:
                name = self._builder.extension("VRMC_node_constraint")
                extensions[name] = SPEC | {"constraint": self._referred(said)}

    def _joint(self, reference: Any) -> int | None:
        """A joint by its name or index; joint j is node j."""
        try:
            return self._skeleton.index(reference)
        except MarrowError:
            return None

    def _referred(self, value: Any) -> Any:
        if isinstance(value, list):
            return [item for item in map(self._referred, value) if item is not _GONE]
        if not isinstance(value, dict):
            return value
        out = {}
        for key, inner in value.items():
            if key in ("node", "source", "center") and isinstance(inner, (str, int)):
                joint = self._joint(inner)
                if joint is None:
                    self.lost += 1
                    if key == "center":
                        continue
                    return _GONE
                out[key] = joint
            elif key == "node":
                return _GONE
            else:
                made = self._referred(inner)
                if made is _GONE:
                    return _GONE
                out[key] = made
        return out
