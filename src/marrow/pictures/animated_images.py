"""Moving pictures that need nothing but Pillow: GIF, WebP and APNG, a frame at a time.

Each `write_*` takes RGBA frames `(H, W, 4)` as they come and keeps none of them: WebP and APNG are containers of single
pictures, which Pillow makes.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["write_apng", "write_gif", "write_webp"]

Array = NDArray[Any]
BAYER = np.array([[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]], np.float32) / 16 - 0.47
DITHER = 10.0
"""How far colours of a GIF may be moved, of 255, so that gradients have no steps; by a pattern that stands still."""
OFF, SHARE = 20, 0.004
"""How far off colours of a frame may be, of 255, and how many of its pixels may be further before it gets a palette of its
own."""
SOLID = 128
"""The least alpha that is seen in a GIF, which knows nothing in between."""


def ticks(rate: float, unit: int, frame: int) -> int:
    """How long a frame is shown, in `unit`ths of a second: rounded so that all of them together are right."""
    return max(1, round((frame + 1) * unit / rate) - round(frame * unit / rate))


def write_gif(file: IO[bytes], frames: Iterator[Array], rate: float, transparent: bool) -> None:
    """A GIF that is repeated for ever. Its frames last whole hundredths of a second; two at the least, since viewers slow
    down what is faster: `rate` is at most 50."""
    from PIL import Image

    palette: Any = None

    def indexed(pixels: Array) -> Any:
        nonlocal palette
        H, W = pixels.shape[:2]
        pattern = np.tile(BAYER, (H // 4 + 1, W // 4 + 1))[:H, :W, None]
        moved = np.clip(pixels[..., :3] + DITHER * pattern, 0, 255).astype(np.uint8)
        image = Image.fromarray(moved, "RGB")
        seen = pixels[..., 3] >= SOLID if transparent else None
        if palette is not None:
            out = image.quantize(palette=palette, dither=Image.Dither.NONE)
            off = np.abs(np.asarray(out.convert("RGB"), np.int16) - moved)
            if (off.max(axis=2) > OFF).mean() > SHARE:
                palette = None
        if palette is None:
            palette = image.quantize(255, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
            out = image.quantize(palette=palette, dither=Image.Dither.NONE)
        if seen is not None:
            index = np.asarray(out).copy()
            index[~seen] = 255
            colors = (out.getpalette() or [])[: 255 * 3]
            out = Image.fromarray(index, "P")
            out.putpalette([*colors, *[0] * (768 - len(colors))])
            out.info["transparency"] = 255
        return out

    def timed() -> Iterator[Any]:
        for k, pixels in enumerate(frames):
            out = indexed(pixels)
            out.info["duration"] = 10 * ticks(rate, 100, k)
            yield out

    pictures = timed()
    first = next(pictures)
    options: dict[str, Any] = {"transparency": 255, "disposal": 2} if transparent else {"disposal": 1}
    first.save(file, "GIF", save_all=True, append_images=pictures, loop=0, optimize=False, **options)


def write_apng(file: IO[bytes], frames: Iterator[Array], rate: float, transparent: bool) -> None:
    """An animated PNG, without losses. Viewers that know no animation show its first frame."""
    from PIL import Image

    def chunk(kind: bytes, data: bytes) -> None:
        file.write(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)))

    file.write(b"\x89PNG\r\n\x1a\n")
    sequence = count = 0
    for pixels in frames:
        H, W = pixels.shape[:2]
        out = io.BytesIO()
        Image.fromarray(np.ascontiguousarray(pixels if transparent else pixels[..., :3])).save(out, "PNG")
        parts = list(_png_chunks(out.getvalue()))
        if count == 0:
            chunk(b"IHDR", next(data for kind, data in parts if kind == b"IHDR"))
            count_at = file.tell()
            chunk(b"acTL", struct.pack(">II", 1, 0))
        head = (sequence, W, H, 0, 0, ticks(rate, 1000, count), 1000, 0, 0)
        chunk(b"fcTL", struct.pack(">IIIIIHHBB", *head))
        sequence += 1
        for kind, data in parts:
            if kind != b"IDAT":
                continue
            if count == 0:
                chunk(b"IDAT", data)
            else:
                chunk(b"fdAT", struct.pack(">I", sequence) + data)
                sequence += 1
        count += 1
    chunk(b"IEND", b"")
    file.seek(count_at)
    chunk(b"acTL", struct.pack(">II", count, 0))
    file.seek(0, io.SEEK_END)


def _png_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 8
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        yield data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        at += 12 + length


def write_webp(
    file: IO[bytes], frames: Iterator[Array], rate: float, transparent: bool, quality: int = 90
) -> None:
    """An animated WebP that is repeated for ever."""
    from PIL import Image

    def chunk(kind: bytes, data: bytes) -> bytes:
        return kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)

    file.write(b"RIFF\0\0\0\0WEBP")
    for count, pixels in enumerate(frames):
        H, W = pixels.shape[:2]
        if count == 0:
            size = (W - 1).to_bytes(3, "little") + (H - 1).to_bytes(3, "little")
            file.write(chunk(b"VP8X", bytes([0x12 if transparent else 0x02, 0, 0, 0]) + size))
            file.write(chunk(b"ANIM", struct.pack("<IH", 0, 0)))
        out = io.BytesIO()
        image = Image.fromarray(np.ascontiguousarray(pixels if transparent else pixels[..., :3]))
        image.save(out, "WEBP", quality=quality, method=2)
        picture = b"".join(chunk(kind, data) for kind, data in _webp_chunks(out.getvalue()))
        # Flags: each frame replaces what was there, and nothing of it is kept for the next.
        head = b"\0" * 6 + size + ticks(rate, 1000, count).to_bytes(3, "little") + b"\x03"
        file.write(chunk(b"ANMF", head + picture))
    length = file.tell() - 8
    file.seek(4)
    file.write(struct.pack("<I", length))
    file.seek(0, io.SEEK_END)


def _webp_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The chunks of a picture that its frame consists of."""
    at = 12
    while at + 8 <= len(data):
        kind, (length,) = data[at : at + 4], struct.unpack_from("<I", data, at + 4)
        if kind in (b"ALPH", b"VP8 ", b"VP8L"):
            yield kind, data[at + 8 : at + 8 + length]
        at += 8 + length + length % 2
