"""The buffer views of a file being written, packed by meshopt (`EXT_meshopt_compression`).

Vertex attributes and keys are packed without loss; triangles keep their order, and may begin at another corner.
Pictures and sparse indices stay as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from marrow.io.gltf import meshopt
from marrow.io.gltf.builder import ELEMENT_ARRAY_BUFFER, GltfBuilder

__all__ = ["compress"]

EXTENSION = "EXT_meshopt_compression"
_SIZES = {5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


def compress(builder: GltfBuilder) -> list[dict[str, Any]]:
    """Packs the views in place and returns the buffers: the file's own, and the empty one that unpacked views would
    be in.
    """
    views = builder.objects.get("bufferViews", [])
    stride_of = _strides(builder)
    packed: list[bytes] = []
    size = unpacked = 0
    for i, (view, chunk) in enumerate(zip(views, builder.binary)):
        data = chunk[: view["byteLength"]]
        found = _packed(data, view, stride_of.get(i))
        stored, definition = found if found is not None else (data, None)
        if definition is None or len(stored) >= len(data):
            view["byteOffset"], stored = size, data
        else:
            place = {"buffer": 0, "byteOffset": size, "byteLength": len(stored)}
            view |= {"buffer": 1, "byteOffset": unpacked, "extensions": {EXTENSION: place | definition}}
            unpacked += len(chunk)
        packed.append(stored + bytes(-len(stored) % 4))
        size += len(packed[-1])
    builder.binary, builder.size = packed, size
    if not unpacked:
        return [{"byteLength": size}]
    builder.extension(EXTENSION, required=True)
    return [{"byteLength": size}, {"byteLength": unpacked, "extensions": {EXTENSION: {"fallback": True}}}]


def _strides(builder: GltfBuilder) -> dict[int, int]:
    """How large the elements of each view are; views of pictures have none."""
    found = {}
    for accessor in builder.objects.get("accessors", []):
        if "bufferView" in accessor:
            found[accessor["bufferView"]] = _SIZES[accessor["componentType"]] * _WIDTHS[accessor["type"]]
    return found


def _packed(data: bytes, view: dict[str, Any], stride: int | None) -> tuple[bytes, dict[str, Any]] | None:
    if stride is None or not data:
        return None
    stride = view.get("byteStride", stride)
    count = len(data) // stride
    definition: dict[str, Any] = {"byteStride": stride, "count": count}
    if view.get("target") == ELEMENT_ARRAY_BUFFER:
        if stride not in (2, 4) or count % 3:
            return None
        indices = np.frombuffer(data, "<u2" if stride == 2 else "<u4").astype(np.uint32)
        return meshopt.pack_triangles(indices), definition | {"mode": "TRIANGLES"}
    if stride % 4 or stride > 256 or count * stride != len(data):
        return None
    return meshopt.pack_attributes(data, stride), definition | {"mode": "ATTRIBUTES"}
