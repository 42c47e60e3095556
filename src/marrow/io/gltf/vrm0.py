"""VRM 0.x in the words of 1.0, as UniVRM's own migration has it.

Vectors of 0.x are in Unity's left-handed axes; `(x, y, -z)` are they in the file's. Who made the file meant the character
to face -Z; the reader turns it round afterwards. Springs of 0.x run on for 7 cm behind their last joint (`end`).
"""

from __future__ import annotations

import re
from typing import Any

from marrow.io.gltf.vrm import PRESETS, Vrm, VrmReader, as_vector, bones, materials_in_range

__all__ = ["read_zero"]

TAIL = 0.07
MAX_SPRINGS = 10_000
_EXPRESSIONS = {
    "a": "aa", "i": "ih", "u": "ou", "e": "ee", "o": "oh", "blink_l": "blinkLeft", "blink_r": "blinkRight",
    "joy": "happy", "sorrow": "sad", "fun": "relaxed", "lookup": "lookUp", "lookdown": "lookDown",
    "lookleft": "lookLeft", "lookright": "lookRight",
}  # fmt: skip
_COLORS = {
    "_Color": "color", "_EmissionColor": "emissionColor", "_ShadeColor": "shadeColor", "_RimColor": "rimColor",
    "_OutlineColor": "outlineColor",
}  # fmt: skip
_FLAGS = {
    "auto": "auto",
    "both": "both",
    "thirdpersononly": "thirdPersonOnly",
    "firstpersononly": "firstPersonOnly",
}
_MAPS = ("HorizontalInner", "HorizontalOuter", "VerticalDown", "VerticalUp")
_AVATAR = {
    "OnlyAuthor": "onlyAuthor",
    "ExplicitlyLicensedPerson": "onlySeparatelyLicensedPerson",
    "Everyone": "everyone",
}


def read_zero(reader: VrmReader, found: dict[str, Any], out: Vrm) -> None:
    """Fills `out` from the extension `VRM`."""
    listed = {
        _bone_name(str(item.get("bone"))): item
        for item in _dicts(_dict(found.get("humanoid")).get("humanBones"))
    }
    out.humanoid = bones(reader, listed)
    out.faces_back = True
    first = _dict(found.get("firstPerson"))
    out.data = {
        "version": "0.x",
        "meta": _meta(reader, _dict(found.get("meta"))),
        "lookAt": _look_at(first),
    }
    out.data["expressions"] = _expressions(reader, _dict(found.get("blendShapeMaster")))
    annotations = [
        {"node": joint, "type": _FLAGS.get(str(item.get("firstPersonFlag")).lower(), "auto")}
        for item in _dicts(first.get("meshAnnotations"))
        for node in _nodes_of_mesh(reader, item.get("mesh"))[:1]
        if (joint := reader.joint(node)) is not None
    ]
    if annotations:
        out.data["firstPerson"] = {"meshAnnotations": annotations}
    springs = _springs(reader, _dict(found.get("secondaryAnimation")))
    if springs:
        out.data["springBone"] = springs
    if found.get("materialProperties"):
        reader.ctx.report.add(
            "dropped",
            "VRM",
            "materialProperties: not kept (how surfaces look in VRM 0.x; plain materials are)",
        )


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _bone_name(name: str) -> str:
    """1.0 calls the three bones of a thumb by their anatomical names."""
    if name.endswith("ThumbProximal"):
        return name.replace("Proximal", "Metacarpal")
    return name.replace("ThumbIntermediate", "ThumbProximal")


def _nodes_of_mesh(reader: VrmReader, mesh: Any) -> list[int]:
    if not isinstance(mesh, int):
        return []
    return [n for n in reader.tree.mesh_nodes if reader.ctx.document.nodes[n].mesh == mesh]


def _meta(reader: VrmReader, meta: dict[str, Any]) -> dict[str, Any]:
    """A licence of 0.x, never read as allowing more than it does."""
    out: dict[str, Any] = {
        "name": str(meta.get("title") or ""),
        "authors": [str(meta.get("author") or "")],
        "licenseUrl": "https://vrm.dev/licenses/1.0/",
        "avatarPermission": _AVATAR.get(str(meta.get("allowedUserName")), "onlyAuthor"),
        "allowExcessivelyViolentUsage": meta.get("violentUssageName") == "Allow",
        "allowExcessivelySexualUsage": meta.get("sexualUssageName") == "Allow",
        "commercialUsage": "personalProfit"
        if meta.get("commercialUssageName") == "Allow"
        else "personalNonProfit",
        "allowPoliticalOrReligiousUsage": False,
        "allowAntisocialOrHateUsage": False,
        "creditNotation": "required",
        "allowRedistribution": False,
        "modification": "prohibited",
    }
    for old, new in (("version", "version"), ("contactInformation", "contactInformation")):
        if meta.get(old):
            out[new] = str(meta[old])
    if meta.get("reference"):
        out["references"] = [str(meta["reference"])]
    terms = [str(meta[key]) for key in ("otherLicenseUrl", "otherPermissionUrl") if meta.get(key)]
    if meta.get("licenseName") not in (None, "Other"):
        terms.insert(0, str(meta["licenseName"]))
    if terms:
        out["otherLicenseUrl"] = ", ".join(dict.fromkeys(terms))
    textures, at = reader.ctx.document.textures, meta.get("texture")
    if isinstance(at, int) and 0 <= at < len(textures):
        image = textures[at].source
        if image is not None and image < len(reader.ctx.document.images):
            out["thumbnailImage"] = image
    return out


def _expressions(reader: VrmReader, master: dict[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    lost = 0
    for group in _dicts(master.get("blendShapeGroups")):
        given = str(group.get("name") or "")
        preset = str(group.get("presetName") or "unknown").lower()
        known = given.lower() if preset == "unknown" else preset
        name = _EXPRESSIONS.get(known, known)
        is_preset = name in PRESETS
        name = name if is_preset else given
        if not name or name in out:
            reader.ctx.report.add("dropped", "VRM", f"a second expression {name!r}")
            continue
        binds = []
        for bind in _dicts(group.get("binds")):
            morphs = [reader.morph(n, bind.get("index")) for n in _nodes_of_mesh(reader, bind.get("mesh"))]
            weight = bind.get("weight")
            if not any(morphs) or not isinstance(weight, (int, float)):
                lost += 1
            else:
                binds += [{"morph": m, "weight": weight * 0.01} for m in morphs if m is not None]
        item: dict[str, Any] = {"preset": is_preset} | _material_binds(reader, group)
        if group.get("isBinary"):
            item["isBinary"] = True
        if binds:
            item["morphTargetBinds"] = binds
        out[name] = materials_in_range(reader, item)
    reader.lost("binds of expressions name no morph target", lost)
    return out


def _material_binds(reader: VrmReader, group: dict[str, Any]) -> dict[str, Any]:
    names = [m.name for m in reader.ctx.document.materials]
    colors: list[dict[str, Any]] = []
    moved: dict[int, dict[str, Any]] = {}
    lost = 0
    for value in _dicts(group.get("materialValues")):
        name, what, target = (
            value.get("materialName"),
            str(value.get("propertyName")),
            value.get("targetValue"),
        )
        numbers = (
            isinstance(target, list) and len(target) == 4 and all(isinstance(t, (int, float)) for t in target)
        )
        transform = re.fullmatch(r"_MainTex_ST(_[ST])?", what)
        if name not in names or not numbers or not (transform or what in _COLORS):
            lost += 1
            continue
        assert isinstance(target, list)
        material = names.index(name)
        if transform is None:
            colors.append({"material": material, "type": _COLORS[what], "targetValue": target})
            continue
        sx, sy, ox, oy = target
        if transform[1] == "_S":
            sy, oy = 1.0, 0.0
        elif transform[1] == "_T":
            sx, ox = 1.0, 0.0
        # Unity counts from the lower edge of a picture, glTF from the upper.
        moved.setdefault(material, {"material": material, "scale": [sx, sy], "offset": [ox, 1 - oy - sy]})
    reader.lost("values of materials in expressions have no place in VRM 1.0", lost)
    return {
        key: binds
        for key, binds in (("materialColorBinds", colors), ("textureTransformBinds", list(moved.values())))
        if binds
    }


def _look_at(first: dict[str, Any]) -> dict[str, Any]:
    kind = "expression" if str(first.get("lookAtTypeName")).lower() == "blendshape" else "bone"
    x, y, z = as_vector(first.get("firstPersonBoneOffset"))
    out: dict[str, Any] = {"type": kind, "offsetFromHeadBone": [x, y, -z]}
    for name in _MAPS:
        given = _dict(first.get(f"lookAt{name}"))
        values = [given.get("xRange"), given.get("yRange")]
        if not all(isinstance(v, (int, float)) for v in values):
            values = [90.0, 10.0 if kind == "bone" else 1.0]
        out[f"rangeMap{name}"] = {"inputMaxValue": values[0], "outputScale": values[1]}
    return out


def _springs(reader: VrmReader, found: dict[str, Any]) -> dict[str, Any]:
    colliders: list[dict[str, Any]] = []
    groups: list[dict[str, Any]] = []
    for group in _dicts(found.get("colliderGroups")):
        joint, members = reader.joint(group.get("node")), []
        for item in _dicts(group.get("colliders")):
            radius = item.get("radius")
            if joint is None or not isinstance(radius, (int, float)):
                reader.lost("colliders name no joint or radius", 1)
                continue
            x, y, z = as_vector(item.get("offset"))
            members.append(len(colliders))
            colliders.append({"node": joint, "shape": {"sphere": {"offset": [x, y, -z], "radius": radius}}})
        groups.append({"name": str(joint), "colliders": members})
    springs: list[dict[str, Any]] = []
    for group in _dicts(found.get("boneGroups")):
        for root in _list(group.get("bones")):
            if len(springs) < MAX_SPRINGS:
                _spring_chains(reader, group, root, len(groups), springs)
    out = {"colliders": colliders, "colliderGroups": groups, "springs": springs}
    return {key: value for key, value in out.items() if value}


def _spring_chains(
    reader: VrmReader, group: dict[str, Any], root: Any, group_count: int, springs: list[dict[str, Any]]
) -> None:
    """The chains below a root: each goes on through first children, second and later ones begin chains of theirs below."""
    nodes = reader.ctx.document.nodes
    x, y, z = as_vector(group.get("gravityDir"), (0.0, -1.0, 0.0))
    settings = {"gravityDir": [x, y, -z]}
    for old, new in (
        ("stiffiness", "stiffness"),  # so spelled in VRM 0.x
        ("gravityPower", "gravityPower"),
        ("dragForce", "dragForce"),
        ("hitRadius", "hitRadius"),
    ):
        if isinstance(group.get(old), (int, float)):
            settings[new] = group[old]
    common: dict[str, Any] = {"name": str(group.get("comment") or "")}
    hit = [g for g in _list(group.get("colliderGroups")) if isinstance(g, int) and 0 <= g < group_count]
    if hit:
        common["colliderGroups"] = hit
    center = reader.joint(group.get("center"))
    if center is not None:
        common["center"] = center
    starts = [root]
    while starts and len(springs) < MAX_SPRINGS:
        chain, n = [], starts.pop(0)
        while isinstance(n, int) and n in reader.tree.joint_of:
            chain.append({"node": reader.joint(n)} | settings)
            below = nodes[n].children or []
            for sibling in below[1:]:
                starts += (nodes[sibling].children or [])[:1]
            n = below[0] if below else None
        if chain:
            springs.append(common | {"joints": chain, "end": TAIL})
