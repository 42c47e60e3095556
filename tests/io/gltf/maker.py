"""Small glTF files made by hand: arrays in, bytes out. Nothing here shares code with the writer under
test."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

from marrow.io import gltf
from marrow.io.source import LoadOptions, Source
from marrow.model import Character

COMPONENTS = {"int8": 5120, "uint8": 5121, "int16": 5122, "uint16": 5123, "uint32": 5125, "float32": 5126}
KINDS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}


class Maker:
    """A glTF document under construction, with one buffer."""

    def __init__(self, **document: Any) -> None:
        self.document: dict[str, Any] = {"asset": {"version": "2.0"}, **document}
        self.blob = bytearray()

    def add(self, kind: str, value: Any) -> int:
        self.document.setdefault(kind, []).append(value)
        return len(self.document[kind]) - 1

    def view(self, data: bytes, **more: Any) -> int:
        self.blob += b"\0" * (-len(self.blob) % 4)
        offset = len(self.blob)
        self.blob += data
        return self.add("bufferViews", {"buffer": 0, "byteOffset": offset, "byteLength": len(data), **more})

    def accessor(self, values: Any, dtype: Any = np.float32, **more: Any) -> int:
        array = np.asarray(values, dtype)
        array = array.reshape(len(array), -1)
        definition = {
            "bufferView": self.view(array.tobytes()),
            "componentType": COMPONENTS[array.dtype.name],
            "count": len(array),
            "type": KINDS[array.shape[1]],
        }
        return self.add("accessors", {**definition, **more})

    def indices(self, values: Any) -> int:
        return self.accessor(np.asarray(values, np.uint16)[:, None], np.uint16)

    def _finish(self, **buffer: Any) -> bytes:
        document = dict(self.document)
        if self.blob:
            document["buffers"] = [{"byteLength": len(self.blob), **buffer}]
        return json.dumps(document, ensure_ascii=False).encode()

    def glb(self) -> bytes:
        return pack_glb(self._finish(), bytes(self.blob))

    def gltf(self) -> bytes:
        uri = "data:application/octet-stream;base64," + base64.b64encode(self.blob).decode()
        return self._finish(uri=uri)

    def load(self, **options: Any) -> Character:
        return load(self.glb(), **options)


def pack_glb(text: bytes, blob: bytes = b"") -> bytes:
    text += b" " * (-len(text) % 4)
    blob += b"\0" * (-len(blob) % 4)
    body = struct.pack("<II", len(text), 0x4E4F534A) + text
    if blob:
        body += struct.pack("<II", len(blob), 0x004E4942) + blob
    return b"glTF" + struct.pack("<II", 2, 12 + len(body)) + body


def load(data: bytes, *, name: str = "folder/hero.glb", **options: Any) -> Character:
    return gltf.read(Source(Path(name), data), LoadOptions(**options))


def triangle(maker: Maker, **attributes: int) -> dict[str, Any]:
    """A primitive of one triangle in the XY plane."""
    position = maker.accessor([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    return {"attributes": {"POSITION": position, **attributes}}


def one_triangle(**attributes: Any) -> Maker:
    """A file of one node with one triangle; attributes are `name=array`."""
    maker = Maker(nodes=[{"name": "root", "mesh": 0}], scenes=[{"nodes": [0]}])
    arrays = {k: maker.accessor(v) for k, v in attributes.items()}
    maker.add("meshes", {"name": "tri", "primitives": [triangle(maker, **arrays)]})
    return maker


def skinned_bar() -> Maker:
    """Two joints up the Y axis, four vertices between them, a clip that bends the upper one."""
    maker = Maker(
        nodes=[
            {"name": "body", "mesh": 0, "skin": 0, "translation": [5, 0, 0]},
            {"name": "lower", "children": [2]},
            {"name": "upper", "translation": [0, 1, 0]},
        ],
        scenes=[{"nodes": [0, 1]}],
    )
    positions = [[0, 0, 0], [0, 1, 0], [0, 2, 0], [1, 2, 0]]
    joints = np.array([[0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]])
    weights = [[1, 0, 0, 0], [0.5, 0.5, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]]
    primitive = {
        "attributes": {
            "POSITION": maker.accessor(positions),
            "JOINTS_0": maker.accessor(joints, np.uint8),
            "WEIGHTS_0": maker.accessor(weights),
        },
        "indices": maker.indices([0, 1, 2, 1, 3, 2]),
    }
    maker.add("meshes", {"name": "bar", "primitives": [primitive]})
    binds = np.tile(np.eye(4), (2, 1, 1))
    binds[1, 1, 3] = -1
    maker.add("skins", {"joints": [1, 2], "inverseBindMatrices": maker.accessor(binds.transpose(0, 2, 1))})
    half = float(np.sqrt(0.5))
    turn = {
        "input": maker.accessor([[0], [1]]),
        "output": maker.accessor([[0, 0, 0, 1], [0, 0, half, half]]),
    }
    maker.add(
        "animations",
        {
            "name": "bend",
            "samplers": [turn],
            "channels": [{"sampler": 0, "target": {"node": 2, "path": "rotation"}}],
        },
    )
    return maker
