"""VRM 1.0 and 0.x: who the joints of a body are, and what else an avatar says of itself.

`skeleton.humanoid` is the map of bones. `character.vrm` is the rest as plain data, in the words of VRM 1.0 whatever the
file's version:

- `version`: that of the file, `"1.0"` or `"0.x"`
- `meta`: name, authors, licence, ...; `thumbnailImage` is an index into `character.images`
- `expressions`: by name; `preset` says whether VRM knows the name, `morphTargetBinds` has `morph` (a channel of the
  skeleton) and `weight`, `materialColorBinds` and `textureTransformBinds` have `material`, an index
- `lookAt`, `firstPerson`, `springBone`

Node constraints become those of the character (`character.constraints`).

A `node`, `source` or `center` in it is a joint: its name, or its index where several joints share the name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from marrow.cached import cached_property
from marrow.io.gltf.context import Context
from marrow.io.gltf.geometry import MorphChannels
from marrow.io.gltf.plain import check_depth
from marrow.io.gltf.scene import Tree
from marrow.io.gltf.schema import NOTHING
from marrow.io.vrm_constraints import constraints_from_vrm
from marrow.model.constraints import Constraint

__all__ = ["BONES", "PRESETS", "REQUIRED_BONES", "Vrm", "read_vrm"]

MAX_BYTES = 16 << 20
_FINGER = ("Proximal", "Intermediate", "Distal")
_SIDED = (
    "UpperLeg", "LowerLeg", "Foot", "Toes", "Shoulder", "UpperArm", "LowerArm", "Hand",
    "ThumbMetacarpal", "ThumbProximal", "ThumbDistal",
    *(f"{finger}{part}" for finger in ("Index", "Middle", "Ring", "Little") for part in _FINGER),
)  # fmt: skip
BONES = (
    "hips", "spine", "chest", "upperChest", "neck", "head", "leftEye", "rightEye", "jaw",
    *(f"{side}{part}" for side in ("left", "right") for part in _SIDED),
)  # fmt: skip
REQUIRED_BONES = (
    "hips", "spine", "head",
    *(f"{s}{p}" for s in ("left", "right") for p in (*_SIDED[:3], *_SIDED[5:8])),
)  # fmt: skip
PRESETS = (
    "happy", "angry", "sad", "relaxed", "surprised", "aa", "ih", "ou", "ee", "oh", "blink", "blinkLeft", "blinkRight",
    "lookUp", "lookDown", "lookLeft", "lookRight", "neutral",
)  # fmt: skip


class Vrm:
    """What a file says of its avatar: `humanoid` bones, `data` for `character.vrm`, `constraints`, and whether it
    `faces_back` (-Z)."""

    def __init__(self) -> None:
        self.humanoid: dict[str, int] = {}
        self.data: dict[str, Any] = {}
        self.constraints: tuple[Constraint, ...] = ()
        self.faces_back = False


class VrmReader:
    """References of a VRM extension into the file, as those of a character."""

    def __init__(self, ctx: Context, tree: Tree, channels: MorphChannels) -> None:
        self.ctx, self.tree, self.channels = ctx, tree, channels
        self.names = tree.names

    @cached_property
    def _counts(self) -> Counter[str]:
        return Counter(self.names)

    def joint(self, node: Any) -> str | int | None:
        """A node by its joint's name, or by index where that is not the name of it alone; None where there is none."""
        j = self.tree.joint_of.get(node) if isinstance(node, int) else None
        if j is None:
            return None
        return self.names[j] if self._counts[self.names[j]] == 1 else j

    def morph(self, node: Any, index: Any) -> str | None:
        """The morph channel of a target of the mesh of a node."""
        found = self.channels.of_node.get(node, ()) if isinstance(node, int) else ()
        return (
            self.channels.names[found[index]] if isinstance(index, int) and 0 <= index < len(found) else None
        )

    def lost(self, what: str, count: int) -> None:
        if count:
            self.ctx.report.add("dropped", "VRM", f"{count} {what}")


def read_vrm(ctx: Context, tree: Tree, channels: MorphChannels) -> Vrm:
    """The VRM data of a file; empty where it has none. Damaged parts are left out and reported."""
    out, reader = Vrm(), VrmReader(ctx, tree, channels)
    one, zero = raw(ctx, "VRMC_vrm"), raw(ctx, "VRM")
    if one:
        out.humanoid = bones(reader, dict(_objects(_object(one.get("humanoid")).get("humanBones"))))
        out.data = {"version": "1.0", "meta": _meta(ctx, _object(one.get("meta")))}
        out.data["expressions"] = _expressions(reader, _object(one.get("expressions")))
        if _object(one.get("lookAt")):
            out.data["lookAt"] = one["lookAt"]
        annotations = referred(reader, _object(one.get("firstPerson")), "first-person notes")
        if annotations:
            out.data["firstPerson"] = annotations
    elif zero:
        from marrow.io.gltf.vrm0 import read_zero

        read_zero(reader, zero, out)
    springs = raw(ctx, "VRMC_springBone")
    if springs:
        out.data["springBone"] = _springs(reader, springs)
    out.constraints = constraints_from_vrm(
        _constraints(reader), lambda what: ctx.report.add("dropped", "VRM", what)
    )
    if out.humanoid:
        missing = [bone for bone in REQUIRED_BONES if bone not in out.humanoid]
        if missing:
            ctx.report.add("warning", "VRM", f"its body lacks {', '.join(missing)}")
    for key, value in (tree.scene_notes.vrm or {}).items():
        out.data.pop(key, None)
        out.data |= {} if value is None else {key: value}
    return out


def raw(ctx: Context, name: str) -> dict[str, Any]:
    """An extension of the whole file as plain data; empty where there is none or where it is damaged."""
    return _decoded(ctx, (ctx.document.extensions or {}).get(name, NOTHING), name)


def _decoded(ctx: Context, data: msgspec.Raw, name: str) -> dict[str, Any]:
    if data is NOTHING:
        return {}
    try:
        if len(bytes(data)) > MAX_BYTES:
            raise ValueError(f"it has more than {MAX_BYTES >> 20} MiB")
        value = msgspec.json.decode(data)
        check_depth(value)
        if not isinstance(value, dict):
            raise ValueError("it is no object")
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        ctx.report.add("dropped", name, f"it could not be read: {error}")
        return {}
    return value


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _objects(value: Any) -> list[tuple[str, dict[str, Any]]]:
    return [(key, item) for key, item in _object(value).items() if isinstance(item, dict)]


def bones(reader: VrmReader, found: dict[str, dict[str, Any]]) -> dict[str, int]:
    """The joints of a body by bone; what names no joint, or one that is taken, is reported."""
    out: dict[str, int] = {}
    for bone, item in found.items():
        node = item.get("node")
        joint = reader.tree.joint_of.get(node) if isinstance(node, int) else None
        if bone in BONES and joint is not None and joint not in out.values():
            out[bone] = joint
        else:
            reader.ctx.report.add("dropped", "VRM", f"the bone {bone!r} is no joint of its own")
    return out


def _meta(ctx: Context, meta: dict[str, Any]) -> dict[str, Any]:
    picture = meta.get("thumbnailImage")
    if picture is None or (isinstance(picture, int) and 0 <= picture < len(ctx.document.images)):
        return meta
    return {key: value for key, value in meta.items() if key != "thumbnailImage"}


def _expressions(reader: VrmReader, found: dict[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    lost = 0
    for group in ("preset", "custom"):
        for name, item in _objects(found.get(group)):
            binds = []
            for bind in _list(item.get("morphTargetBinds")):
                bind = _object(bind)
                morph = reader.morph(bind.get("node"), bind.get("index"))
                if morph is None:
                    lost += 1
                    continue
                kept = {key: value for key, value in bind.items() if key not in ("node", "index")}
                binds.append(kept | {"morph": morph})
            out[name] = materials_in_range(reader, item) | {"preset": group == "preset"}
            out[name].pop("morphTargetBinds", None)
            if binds:
                out[name]["morphTargetBinds"] = binds
    reader.lost("binds of expressions name no morph target", lost)
    return out


def materials_in_range(reader: VrmReader, item: dict[str, Any]) -> dict[str, Any]:
    """An expression without the binds of materials that do not exist."""
    out, lost = dict(item), 0
    for kind in ("materialColorBinds", "textureTransformBinds"):
        if kind in out:
            all_of_them = [_object(bind) for bind in _list(out[kind])]
            kept = [
                b
                for b in all_of_them
                if isinstance(b.get("material"), int)
                and 0 <= b["material"] < len(reader.ctx.document.materials)
            ]
            lost += len(all_of_them) - len(kept)
            out[kind] = kept
            if not kept:
                del out[kind]
    reader.lost("binds of expressions name no material", lost)
    return out


def referred(reader: VrmReader, value: Any, what: str) -> Any:
    """`value` with joints for every `node`, `source` and `center`; whatever refers to none is left out."""
    lost: list[Any] = []
    out = _referred(value, reader.joint, lost)
    reader.lost(f"{what} name no joint", len(lost))
    return out if out is not _GONE else {}


_GONE = object()


def _referred(value: Any, joint: Callable[[Any], str | int | None], lost: list[Any]) -> Any:
    if isinstance(value, list):
        items = [_referred(item, joint, lost) for item in value]
        return [item for item in items if item is not _GONE]
    if not isinstance(value, dict):
        return value
    out = {}
    for key, inner in value.items():
        if key in ("node", "source", "center") and not isinstance(inner, (dict, list)):
            found = joint(inner)
            if found is None:
                if key == "center":  # only where the swing is measured from
                    continue
                lost.append(value)
                return _GONE
            out[key] = found
        else:
            made = _referred(inner, joint, lost)
            if made is _GONE:
                return _GONE
            out[key] = made
    return out


def _springs(reader: VrmReader, found: dict[str, Any]) -> dict[str, Any]:
    """Springs, with indices among colliders and groups as they are: a collider that has no joint keeps its place."""
    body = {key: value for key, value in found.items() if key != "specVersion"}
    body |= {"springs": [_ended(reader, s) for s in body["springs"]]} if _list(body.get("springs")) else {}
    colliders = [_object(c) for c in _list(body.get("colliders"))]
    gone = {i for i, c in enumerate(colliders) if reader.joint(c.get("node")) is None}
    if gone:
        new = {old: at for at, old in enumerate(i for i in range(len(colliders)) if i not in gone)}
        body["colliders"] = [c for i, c in enumerate(colliders) if i not in gone]
        for group in _list(body.get("colliderGroups")):
            _object(group)["colliders"] = [
                new[i] for i in _list(_object(group).get("colliders")) if isinstance(i, int) and i in new
            ]
        reader.lost("colliders name no joint", len(gone))
    return referred(reader, body, "springs")


def _ended(reader: VrmReader, spring: Any) -> Any:
    """A spring of marrow's: the node behind its last joint, which is no joint, says how far it goes on."""
    last = _object((_list(_object(spring).get("joints")) or [None])[-1]).get("node")
    noted = reader.tree.notes.get(last) if isinstance(last, int) else None
    if noted is None or noted.end is None or last in reader.tree.nodes:
        return spring
    return spring | {"joints": spring["joints"][:-1], "end": noted.end}


def _constraints(reader: VrmReader) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for n, node in enumerate(reader.ctx.document.nodes):
        if not node.extensions or "VRMC_node_constraint" not in node.extensions:
            continue
        body = _decoded(reader.ctx, node.extensions["VRMC_node_constraint"], "VRMC_node_constraint")
        found = referred(reader, _object(body.get("constraint")), "constraints")
        joint = reader.joint(n)
        if found and joint is not None:
            out[str(joint)] = found | ({"node": joint} if isinstance(joint, int) else {})
    return out


def as_vector(value: Any, default: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> list[float]:
    """The `x`, `y`, `z` of VRM 0.x, as numbers."""
    found = [_object(value).get(axis, d) for axis, d in zip("xyz", default)]
    good = all(isinstance(v, (int, float)) and np.isfinite(v) for v in found)
    return [float(v) for v in found] if good else list(default)
