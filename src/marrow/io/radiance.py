"""Pictures of light: Radiance `.hdr` and OpenEXR, as linear `(H, W, 3)` float32."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError

__all__ = ["read_exr", "read_hdr"]

Array = NDArray[Any]
MOST_PIXELS = 1 << 26
"""A picture of more is refused before there is room made for it."""
_EXR_BLOCKS = {0: 1, 1: 1, 2: 1, 3: 16}
"""Rows of a block, by kind of compression: none, RLE, ZIPS, ZIP."""
_EXR_NAMES = {4: "PIZ", 5: "PXR24", 6: "B44", 7: "B44A", 8: "DWAA", 9: "DWAB"}
_EXR_TYPES = {0: "<u4", 1: "<f2", 2: "<f4"}


def _size(what: str, width: int, height: int) -> tuple[int, int]:
    if width < 1 or height < 1 or width * height > MOST_PIXELS:
        raise FormatError(f"{what}: a picture of {width} x {height} pixels cannot be read")
    return width, height


# -- Radiance ---------------------------------------------------------------------------------------------------------
def read_hdr(data: bytes, what: str = "picture.hdr") -> Array:
    """A Radiance picture (RGBE), plain or run-length coded."""
    if not data.startswith((b"#?RADIANCE", b"#?RGBE")):
        raise FormatError(f"{what}: this is no Radiance picture: it does not begin with #?RADIANCE")
    end = data.find(b"\n\n")
    line_end = data.find(b"\n", end + 2)
    if end < 0 or line_end < 0:
        raise FormatError(f"{what}: its header has no end")
    header, size = data[:end], data[end + 2 : line_end].split()
    if b"32-bit_rle_xyze" in header:
        raise FormatError(f"{what}: colours in XYZ are not read: save it with RGB")
    if len(size) != 4 or size[0] not in (b"-Y", b"+Y") or size[2] != b"+X":
        raise FormatError(f"{what}: its rows go another way than from left to right")
    try:
        width, height = _size(what, int(size[3]), int(size[1]))
    except ValueError:
        raise FormatError(f"{what}: its size is no number") from None
    pixels = _rgbe_rows(data, line_end + 1, width, height, what)
    out = pixels[..., :3].astype(np.float32) * np.exp2(pixels[..., 3:].astype(np.float32) - 136.0)
    out = np.where(pixels[..., 3:] == 0, np.float32(0), out)
    return np.ascontiguousarray(out[::-1] if size[0] == b"+Y" else out)


def _rgbe_rows(data: bytes, at: int, width: int, height: int, what: str) -> Array:
    coded = 8 <= width < 32768 and data[at : at + 4] == bytes((2, 2, width >> 8, width & 255))
    if not coded:
        flat = np.frombuffer(data, np.uint8, offset=at)
        if len(flat) < 4 * width * height:
            raise FormatError(f"{what}: it ends early")
        return flat[: 4 * width * height].reshape(height, width, 4)
    out = np.zeros((height, 4, width), np.uint8)
    for row in range(height):
        if data[at : at + 4] != bytes((2, 2, width >> 8, width & 255)):
            raise FormatError(f"{what}: row {row} is damaged or ends early")
        at += 4
        for channel in range(4):
            x = 0
            while x < width:
                if at + 1 >= len(data):
                    raise FormatError(f"{what}: it ends early, in row {row}")
                count = data[at]
                if count > 128:
                    count -= 128
                    piece: Any = data[at + 1]
                    at += 2
                else:
                    piece = np.frombuffer(data[at + 1 : at + 1 + count], np.uint8)
                    at += 1 + count
                if not count or x + count > width or (not isinstance(piece, int) and len(piece) != count):
                    raise FormatError(f"{what}: row {row} is damaged")
                out[row, channel, x : x + count] = piece
                x += count
    return out.transpose(0, 2, 1)


# -- OpenEXR ----------------------------------------------------------------------------------------------------------
def read_exr(data: bytes, what: str = "picture.exr") -> Array:
    """An OpenEXR picture of rows, without compression or with RLE, ZIPS or ZIP; colours are R, G and B, or Y alone."""
    if len(data) < 8 or data[:4] != b"\x76\x2f\x31\x01":
        raise FormatError(f"{what}: this is no OpenEXR picture")
    if struct.unpack_from("<I", data, 4)[0] & 0x1A00:
        raise FormatError(
            f"{what}: tiled, deep and multi-part OpenEXR pictures are not read: save it as rows"
        )
    try:
        return _exr(data, what)
    except (struct.error, zlib.error, IndexError, KeyError, ValueError) as error:
        raise FormatError(f"{what}: it is damaged: {error}") from None


def _exr(data: bytes, what: str) -> Array:
    header, at = {}, 8
    while data[at] != 0:
        name, at = _text(data, at)
        kind, at = _text(data, at)
        (length,) = struct.unpack_from("<i", data, at)
        if length < 0 or at + 4 + length > len(data):
            raise FormatError(f"{what}: it ends early")
        header[name] = data[at + 4 : at + 4 + length]
        at += 4 + length
    at += 1
    compression = header["compression"][0]
    if compression not in _EXR_BLOCKS:
        raise FormatError(
            f"{what}: compression {_EXR_NAMES.get(compression, compression)} is not read: save it with ZIP, or as .hdr"
        )
    left, top, right, bottom = struct.unpack("<4i", header["dataWindow"])
    width, height = _size(what, right - left + 1, bottom - top + 1)
    channels = _channels(header["channels"])
    row_bytes = width * sum(np.dtype(kind).itemsize for _, kind in channels)
    rows, per_block = np.zeros((height, row_bytes), np.uint8), _EXR_BLOCKS[compression]
    count = -(-height // per_block)
    for offset in struct.unpack_from(f"<{count}Q", data, at):
        y, size = struct.unpack_from("<ii", data, offset)
        block = data[offset + 8 : offset + 8 + size]
        first = y - top
        lines = min(per_block, height - first)
        if size < 0 or first < 0 or lines < 1:
            raise FormatError(f"{what}: it is damaged: a block of row {y}")
        wanted = lines * row_bytes
        if compression and len(block) < wanted:
            block = _unpacked(
                _unrun(block, wanted) if compression == 1 else zlib.decompressobj().decompress(block, wanted)
            )
        if len(block) != wanted:
            raise FormatError(f"{what}: it ends early, or is damaged, at row {y}")
        rows[first : first + lines] = np.frombuffer(block, np.uint8).reshape(lines, row_bytes)
    planes, start = {}, 0
    for name, kind in channels:
        size = width * np.dtype(kind).itemsize
        planes[name] = np.ascontiguousarray(rows[:, start : start + size]).view(kind).astype(np.float32)
        start += size
    colors = [planes[c] if c in planes else planes["Y"] for c in "RGB"]
    return np.stack(colors, -1)


def _text(data: bytes, at: int) -> tuple[str, int]:
    end = data.index(b"\0", at, at + 256)
    return data[at:end].decode("latin-1"), end + 1


def _channels(body: bytes) -> list[tuple[str, str]]:
    found, at = [], 0
    while body[at] != 0:
        name, at = _text(body, at)
        kind, _, step_x, step_y = struct.unpack_from("<iiii", body, at)
        if (step_x, step_y) != (1, 1):
            raise ValueError(f"channel {name} has fewer pixels than the picture")
        found.append((name, _EXR_TYPES[kind]))
        at += 16
    return found


def _unpacked(block: bytes) -> bytes:
    """Undoes what OpenEXR does before compression: differences of bytes, the halves of which are apart."""
    deltas = np.frombuffer(block, np.uint8).astype(np.int64)
    deltas[1:] -= 128
    whole = np.cumsum(deltas).astype(np.uint8)
    out = np.empty_like(whole)
    half = (len(whole) + 1) // 2
    out[0::2], out[1::2] = whole[:half], whole[half:]
    return out.tobytes()


def _unrun(block: bytes, wanted: int) -> bytes:
    out, at = bytearray(), 0
    while at < len(block) and len(out) < wanted:
        count = block[at] - 256 if block[at] > 127 else block[at]
        if count < 0:
            out += block[at + 1 : at + 1 - count]
            at += 1 - count
        else:
            out += block[at + 1 : at + 2] * (count + 1)
            at += 2
    return bytes(out)
