"""The primitives of a file being written, packed by Draco (`KHR_draco_mesh_compression`).

Draco puts vertices into an order of its own, so meshes with morph targets, whose vertices are named by their place, stay
as they are. Positions and weights are rounded to 16 bits, texture coordinates to 14, normals to 12; tangents and joints are
kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import MissingExtraError
from marrow.io.gltf.builder import GltfBuilder
from marrow.io.gltf.quantization import whole_shares

__all__ = ["pack_meshes"]

Array = NDArray[Any]
EXTENSION = "KHR_draco_mesh_compression"
POSITION_BITS, OTHER_BITS = 16, 12
_DTYPES = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}


def pack_meshes(builder: GltfBuilder) -> None:
    """Packs what can be packed, in place; a warning for what cannot."""
    try:
        import DracoPy  # noqa: F401
    except ImportError:
        raise MissingExtraError("DracoPy", "draco", "writing files with Draco compression") from None
    left = []
    for mesh in builder.objects.get("meshes", []):
        for primitive in mesh["primitives"]:
            if "targets" in primitive or "indices" not in primitive or not _pack(builder, primitive):
                left.append(mesh["name"])
    if left:
        names = ", ".join(repr(name) for name in dict.fromkeys(left))
        builder.warn(f"{names}: not packed by Draco, which cannot hold morph targets or points")
    _drop_unused(builder)


def _values(builder: GltfBuilder, index: int) -> Array:
    accessor = builder.objects["accessors"][index]
    view = builder.objects["bufferViews"][accessor["bufferView"]]
    dtype, width = np.dtype(_DTYPES[accessor["componentType"]]), _WIDTHS[accessor["type"]]
    data = builder.binary[accessor["bufferView"]][: view["byteLength"]]
    stride = view.get("byteStride", dtype.itemsize * width)
    rows = np.frombuffer(data, np.uint8).reshape(-1, stride)[:, : dtype.itemsize * width]
    return np.ascontiguousarray(rows).view(dtype).reshape(-1, width)


def _doubles(values: Array | None) -> Array | None:
    """What the encoder takes for numbers; it stores them as float32."""
    return None if values is None else values.astype(np.float64)


def _pack(builder: GltfBuilder, primitive: dict[str, Any]) -> bool:
    import DracoPy

    arrays = {name: _values(builder, index) for name, index in primitive["attributes"].items()}
    faces = _values(builder, primitive["indices"]).reshape(-1, 3)
    generic: dict[int, Array] = {}
    ids: dict[str, int] = {}
    first = 8  # after those Draco hands out for what it knows
    known = {"POSITION", "NORMAL", "TEXCOORD_0"}
    weights = [name for name in arrays if name.startswith("WEIGHTS_")]
    shares = (
        whole_shares(np.concatenate([arrays[name] for name in weights], axis=1))
        if weights
        else np.zeros((0, 0))
    )
    for name, values in arrays.items():
        if name not in known:
            ids[name] = first + len(generic)
            generic[ids[name]] = (
                values if name not in weights else shares[:, 4 * (k := weights.index(name)) : 4 * k + 4]
            )
    data = DracoPy.encode(
        arrays["POSITION"],
        faces.astype(np.uint32),
        quantization_bits=POSITION_BITS,
        compression_level=7,
        normals=_doubles(arrays.get("NORMAL")),
        tex_coord=_doubles(arrays.get("TEXCOORD_0")),
        generic_attributes=generic or None,
        tex_coord_quantization_bits=OTHER_BITS + 2 if "TEXCOORD_0" in arrays else None,
        normal_quantization_bits=OTHER_BITS if "NORMAL" in arrays else None,
    )
    mesh = DracoPy.decode(data)
    kinds = {0: "POSITION", 1: "NORMAL", 3: "TEXCOORD_0"}
    for attribute in mesh.attributes:
        name = kinds.get(int(attribute["attribute_type"]), "")
        if name in arrays and int(attribute["unique_id"]) not in ids.values():
            ids[name] = int(attribute["unique_id"])
    if set(ids) != set(arrays):
        return False
    points, triangles = np.asarray(mesh.points), np.asarray(mesh.faces)
    for name in ids:
        accessor = dict(builder.objects["accessors"][primitive["attributes"][name]])
        accessor.pop("bufferView")
        accessor["count"] = len(points)
        if name in weights:
            accessor |= {"componentType": 5123, "normalized": True}
        if name == "POSITION":
            low, high = points.min(axis=0), points.max(axis=0)
            accessor |= {"min": low.tolist(), "max": high.tolist()}
        primitive["attributes"][name] = builder.add("accessors", accessor)
    small = len(points) < 0xFFFF
    indices = {"componentType": 5123 if small else 5125, "count": triangles.size, "type": "SCALAR"}
    primitive["indices"] = builder.add("accessors", indices)
    place = {"bufferView": builder.view(data), "attributes": ids}
    primitive.setdefault("extensions", {})[builder.extension(EXTENSION, required=True)] = place
    return True


def _drop_unused(builder: GltfBuilder) -> None:
    """Leaves out the accessors and views that nobody refers to any more."""
    objects = builder.objects
    used: list[int] = []

    def accessor(index: int) -> int:
        if index not in used:
            used.append(index)
        return used.index(index)

    place = {}
    for mesh in objects.get("meshes", []):
        for p in mesh["primitives"]:
            for group in (p["attributes"], *p.get("targets", ())):
                for name in group:
                    group[name] = accessor(group[name])
            if "indices" in p:
                p["indices"] = accessor(p["indices"])
    for skin in objects.get("skins", []):
        skin["inverseBindMatrices"] = accessor(skin["inverseBindMatrices"])
    for animation in objects.get("animations", []):
        for sampler in animation["samplers"]:
            sampler["input"], sampler["output"] = accessor(sampler["input"]), accessor(sampler["output"])
    objects["accessors"] = [objects["accessors"][i] for i in used]
    views: list[dict[str, Any]] = []
    binary: list[bytes] = []
    offset = 0

    def view(index: int) -> int:
        nonlocal offset
        if index not in place:
            place[index] = len(views)
            definition = objects["bufferViews"][index] | {"byteOffset": offset}
            views.append(definition)
            binary.append(builder.binary[index])
            offset += len(builder.binary[index])
        return place[index]

    for item in objects["accessors"]:
        if "bufferView" in item:
            item["bufferView"] = view(item["bufferView"])
        for part in ("indices", "values"):
            if "sparse" in item:
                item["sparse"][part]["bufferView"] = view(item["sparse"][part]["bufferView"])
    for image in objects.get("images", []):
        image["bufferView"] = view(image["bufferView"])
    for mesh in objects.get("meshes", []):
        for p in mesh["primitives"]:
            if EXTENSION in p.get("extensions", {}):
                own = p["extensions"][EXTENSION]
                own["bufferView"] = view(own["bufferView"])
    objects["bufferViews"], builder.binary, builder.size = views, binary, offset
