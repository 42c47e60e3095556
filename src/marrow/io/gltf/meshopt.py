"""`EXT_meshopt_compression` and `KHR_meshopt_compression`: compressed buffer views, unpacked by
meshoptimizer."""

from __future__ import annotations

import ctypes
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError, MissingExtraError
from marrow.io.gltf.schema import Meshopt

__all__ = ["EXTENSIONS", "installed", "pack_attributes", "pack_triangles", "unpack"]

EXTENSIONS = ("KHR_meshopt_compression", "EXT_meshopt_compression")

_DECODERS = {
    "ATTRIBUTES": "meshopt_decodeVertexBuffer",
    "TRIANGLES": "meshopt_decodeIndexBuffer",
    "INDICES": "meshopt_decodeIndexSequence",
}
# Filter -> (function, strides it is defined for; 0 for every multiple of four)
_FILTERS = {
    "OCTAHEDRAL": ("meshopt_decodeFilterOct", (4, 8)),
    "QUATERNION": ("meshopt_decodeFilterQuat", (8,)),
    "EXPONENTIAL": ("meshopt_decodeFilterExp", (0,)),
    "COLOR": ("", (4, 8)),
}


def installed() -> bool:
    """Whether meshopt data can be unpacked here."""
    return find_spec("meshoptimizer") is not None


@cache
def _library() -> ctypes.CDLL:
    try:
        from meshoptimizer._loader import lib
    except ImportError:
        raise MissingExtraError("meshoptimizer", "meshopt", "a file with meshopt compression") from None
    # A handle of our own: the package's declares its functions differently from version to version.
    own = ctypes.CDLL(lib._name)
    size, pointer = ctypes.c_size_t, ctypes.c_void_p
    for name in _DECODERS.values():
        getattr(own, name).argtypes = [pointer, size, size, pointer, size]
        getattr(own, name).restype = ctypes.c_int
    for name in ("meshopt_encodeVertexBuffer", "meshopt_encodeIndexBuffer"):
        getattr(own, name).restype = getattr(own, f"{name}Bound").restype = size
        getattr(own, f"{name}Bound").argtypes = [size, size]
    own.meshopt_encodeVertexBuffer.argtypes = [pointer, size, pointer, size, size]
    own.meshopt_encodeIndexBuffer.argtypes = [pointer, size, pointer, size]
    # The versions of the codecs that the extension prescribes.
    own.meshopt_encodeVertexVersion(0)
    own.meshopt_encodeIndexVersion(1)
    for name, _ in _FILTERS.values():
        if name:
            getattr(own, name).argtypes = [pointer, size, size]
            getattr(own, name).restype = None
    return own


def unpack(data: memoryview, view: Meshopt, path: object, place: str) -> NDArray[np.uint8]:
    """The `count * byteStride` bytes a compressed view stands for."""

    def refuse(message: str) -> FormatError:
        return FormatError(message, path=path, place=place)

    stride, count = view.byteStride, view.count
    if view.mode not in _DECODERS:
        raise refuse(f"meshopt mode {view.mode!r} does not exist")
    # The library asserts these instead of checking them.
    if view.mode == "ATTRIBUTES":
        if stride % 4 or not 0 < stride <= 256:
            raise refuse(f"meshopt attributes cannot have a stride of {stride} bytes")
    elif stride not in (2, 4):
        raise refuse(f"meshopt indices cannot have {stride} bytes")
    if view.mode == "TRIANGLES" and count % 3:
        raise refuse(f"meshopt triangles have {count} indices, not a multiple of 3")
    out = np.zeros(count * stride, np.uint8)
    if not count:
        return out
    packed = np.frombuffer(data, np.uint8)
    library = _library()
    status = getattr(library, _DECODERS[view.mode])(
        out.ctypes.data, count, stride, packed.ctypes.data, len(packed)
    )
    if status != 0:
        raise refuse("its meshopt data is damaged")
    if view.filter != "NONE":
        _apply_filter(library, out, view, refuse)
    return out


def pack_attributes(data: bytes, stride: int) -> bytes:
    """Elements of `stride` bytes (a multiple of four), packed without loss."""
    library, count = _library(), len(data) // stride
    out = np.empty(library.meshopt_encodeVertexBufferBound(count, stride), np.uint8)
    raw = np.frombuffer(data, np.uint8)
    size = library.meshopt_encodeVertexBuffer(out.ctypes.data, len(out), raw.ctypes.data, count, stride)
    return out[:size].tobytes()


def pack_triangles(indices: NDArray[np.uint32]) -> bytes:
    """Triangles packed; their order stays, a triangle may begin at another of its corners."""
    library = _library()
    flat = np.ascontiguousarray(indices, np.uint32).ravel()
    out = np.empty(library.meshopt_encodeIndexBufferBound(len(flat), int(flat.max(initial=0)) + 1), np.uint8)
    size = library.meshopt_encodeIndexBuffer(out.ctypes.data, len(out), flat.ctypes.data, len(flat))
    return out[:size].tobytes()


def _apply_filter(library: ctypes.CDLL, out: NDArray[np.uint8], view: Meshopt, refuse: Any) -> None:
    if view.filter not in _FILTERS or view.mode != "ATTRIBUTES":
        raise refuse(f"meshopt filter {view.filter!r} does not exist for {view.mode}")
    name, strides = _FILTERS[view.filter]
    if view.byteStride not in strides and 0 not in strides:
        raise refuse(f"meshopt filter {view.filter} cannot have a stride of {view.byteStride} bytes")
    if name:
        getattr(library, name)(out.ctypes.data, view.count, view.byteStride)
    else:
        _decode_color(out, view.byteStride)


def _decode_color(out: NDArray[np.uint8], stride: int) -> None:
    """YCoCg with alpha back to RGBA, in place, as the extension's specification writes it down."""
    unsigned = np.dtype(np.uint8 if stride == 4 else np.uint16)
    pixels = out.view(unsigned).reshape(-1, 4)
    y = pixels[:, 0].astype(np.int32)
    co, cg = (pixels[:, k].view(unsigned.str.replace("u", "i")).astype(np.int32) for k in (1, 2))
    alpha = pixels[:, 3].astype(np.int32)
    # The highest bit of alpha says how many bits the other channels were quantised to.
    scale = alpha.copy()
    for shift in (1, 2, 4, 8):
        scale |= scale >> shift
    alpha = ((alpha << 1) & scale) | (alpha & 1)
    rgba = np.stack([y + co - cg, y + cg, y - co - cg, alpha], axis=1)
    top = 0xFF if stride == 4 else 0xFFFF
    factor = np.float32(top) / np.maximum(scale, 1).astype(np.float32)
    pixels[:] = np.clip((rgba * factor[:, None] + np.float32(0.5)).astype(np.int64), 0, top)
