"""The glTF being written: its JSON objects and one binary buffer. Equal arrays are stored once."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError
from marrow.io.gltf.extras import ExtrasWriter

__all__ = ["GltfBuilder", "short_floats"]

Array = NDArray[Any]
ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER = 34962, 34963
COMPONENT_TYPES = {
    "int8": 5120,
    "uint8": 5121,
    "int16": 5122,
    "uint16": 5123,
    "uint32": 5125,
    "float32": 5126,
}
KINDS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}


def short_floats(values: Any) -> list[float]:
    """float32 numbers as the shortest decimals that read back as the same float32."""
    return [float(str(v)) for v in np.asarray(values, np.float32).ravel()]


class GltfBuilder:
    """Collects the objects of a file. Every `add` returns the index of the object, an old one where it is the
    same. `quantize`: vertices and rotations are stored in fewer bits; `exact`: vertices keep all of them; `packs`: arrays
    are packed afterwards, so zeros cost nothing. `extras`: those of the character."""

    def __init__(
        self,
        path: object,
        extras: dict[str, Any] | None = None,
        *,
        quantize: bool = False,
        exact: bool = True,
        packs: bool = False,
    ) -> None:
        self.path, self.quantize, self.exact, self.packs = path, quantize, exact, packs
        self.extras = ExtrasWriter(extras or {})
        self.objects: dict[str, list[dict[str, Any]]] = {}
        self.extensions_used: set[str] = set()
        self.extensions_required: set[str] = set()
        self.binary: list[bytes] = []
        self.size = 0
        self.lines: dict[str, None] = {}
        self.lights: list[dict[str, Any]] = []
        self._known: dict[Any, int] = {}

    def refuse(self, message: str, place: str, remedy: str = "") -> FormatError:
        return FormatError(message, path=self.path, place=place, remedy=remedy)

    def warn(self, message: str) -> None:
        """Keeps in mind what the file does not hold as the character has it; it is said once the file is there."""
        self.lines.setdefault(message)

    def extension(self, name: str, *, required: bool = False) -> str:
        """Notes that an extension is used."""
        self.extensions_used.add(name)
        if required:
            self.extensions_required.add(name)
        return name

    def add(self, kind: str, value: dict[str, Any]) -> int:
        """A new object of a kind (`nodes`, `meshes`, ...)."""
        items = self.objects.setdefault(kind, [])
        items.append(value)
        return len(items) - 1

    def add_once(self, kind: str, value: dict[str, Any]) -> int:
        """An object of a kind, shared with an equal one."""
        key = (kind, msgspec.json.encode(value, order="deterministic"))
        if key not in self._known:
            self._known[key] = self.add(kind, value)
        return self._known[key]

    def view(self, data: bytes, target: int | None = None, stride: int | None = None) -> int:
        """A buffer view over these bytes, aligned to four."""
        key = ("bytes", hashlib.blake2b(data, digest_size=20).digest(), len(data), target, stride)
        if key not in self._known:
            definition: dict[str, Any] = {"buffer": 0, "byteOffset": self.size, "byteLength": len(data)}
            if target is not None:
                definition["target"] = target
            if stride is not None:
                definition["byteStride"] = stride
            padding = -len(data) % 4
            self.binary.append(data + b"\0" * padding)
            self.size += len(data) + padding
            self._known[key] = self.add("bufferViews", definition)
        return self._known[key]

    def accessor(
        self,
        values: Array,
        place: str,
        *,
        target: int | None = None,
        bounds: bool = False,
        fractions: bool = False,
    ) -> int:
        """An accessor over `(count, C)` values; floats must be finite. `fractions`: integers are shares of the largest."""
        values = np.ascontiguousarray(values if values.ndim == 2 else values.reshape(len(values), -1))
        self.check_finite(values, place)
        stride, data = None, values
        if target == ARRAY_BUFFER:
            # Vertex attributes that share a view must say how far apart their elements are: at multiples of four bytes.
            width = values.dtype.itemsize * values.shape[1]
            stride = width + -width % 4
            if stride != width:
                data = np.zeros((len(values), stride // values.dtype.itemsize), values.dtype)
                data[:, : values.shape[1]] = values
        normalized = {"normalized": True} if fractions and values.dtype.kind in "iu" else {}
        return self.add_once(
            "accessors",
            {
                "bufferView": self.view(data.tobytes(), target, stride),
                **_shape(values),
                **normalized,
                **(_bounds(values) if bounds else {}),
            },
        )

    def changed_accessor(self, base: Array, values: Array, place: str) -> int:
        """An accessor over `(count, C)` values that are stored as changes to others, which are in the file already."""
        at = np.flatnonzero((base != values).any(axis=1))
        if 2 * len(at) > len(base):
            return self.accessor(values, place, target=ARRAY_BUFFER)
        self.check_finite(values, place)
        width = base.dtype.itemsize * base.shape[1]
        view = self.view(np.ascontiguousarray(base).tobytes(), ARRAY_BUFFER, width)
        definition = {"bufferView": view, **_shape(values)}
        if len(at):
            definition["sparse"] = self._changes(len(values), at, values[at])
        return self.add_once("accessors", definition)

    def _changes(self, count: int, at: Array, values: Array) -> dict[str, Any]:
        at = at.astype(np.uint16 if count <= 0xFFFF else np.uint32)
        return {
            "count": len(at),
            "indices": {
                "bufferView": self.view(at.tobytes()),
                "componentType": COMPONENT_TYPES[at.dtype.name],
            },
            "values": {"bufferView": self.view(np.ascontiguousarray(values).tobytes())},
        }

    def sparse_accessor(self, count: int, at: Array, values: Array, place: str, *, bounds: bool) -> int:
        """An accessor of `count` zeros but for the rows `at (D,)`, which are increasing; integers are shares of the
        largest."""
        self.check_finite(values, place)
        definition = _shape(values) | {"count": count}
        if values.dtype.kind in "iu":
            definition["normalized"] = True
        if bounds:
            rows = np.concatenate(
                [values, np.zeros((1 if len(at) < count else 0, values.shape[1]), values.dtype)]
            )
            definition |= _bounds(rows)
        if len(at):
            definition["sparse"] = self._changes(count, at, values)
        return self.add_once("accessors", definition)

    def check_finite(self, values: Array, place: str) -> None:
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            row = int(np.flatnonzero(~np.isfinite(values.reshape(len(values), -1)).all(axis=1))[0])
            raise self.refuse(
                f"row {row} is not finite: {values[row].tolist()}", place, "mend the data before saving"
            )


def _shape(values: Array) -> dict[str, Any]:
    return {
        "componentType": COMPONENT_TYPES[values.dtype.name],
        "count": len(values),
        "type": KINDS[values.shape[1]],
    }


def _bounds(values: Array) -> dict[str, Any]:
    # Not shortened: readers compare these with the data as doubles.
    return {"min": values.min(axis=0).tolist(), "max": values.max(axis=0).tolist()}
