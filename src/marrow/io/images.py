"""Pictures of materials: what they are by their first bytes, and two of them packed into one as glTF wants it.

Pictures stay encoded, byte for byte, wherever they can; only packing decodes them.
"""

from __future__ import annotations

import io
from typing import Any

from marrow.errors import MarrowError

__all__ = [
    "BROWSER_TYPES",
    "Undecodable",
    "as_png",
    "for_browsers",
    "media_type",
    "why_not_shown",
    "with_alpha",
    "with_metallic_roughness",
]

BROWSER_TYPES = ("image/png", "image/jpeg", "image/webp", "image/avif", "image/gif", "image/bmp")
"""What browsers show as it is."""

MAX_PIXELS = 1 << 26
_WEBP_SIDE = 16383
_FORMATS = ("PNG", "JPEG", "WEBP", "AVIF", "BMP", "TGA", "TIFF", "GIF", "DDS", "PSD")
_MAGIC = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (8, b"WEBP", "image/webp"),
    (4, b"ftypavif", "image/avif"),
    (0, b"\xabKTX 20\xbb", "image/ktx2"),
    (0, b"BM", "image/bmp"),
    (0, b"GIF8", "image/gif"),
    (0, b"II*\0", "image/tiff"),
    (0, b"MM\0*", "image/tiff"),
    (0, b"DDS ", "image/vnd-ms.dds"),
    (0, b"8BPS", "image/vnd.adobe.photoshop"),
)


class Undecodable(MarrowError):
    """A picture is of a kind that cannot be decoded here, or damaged."""


def media_type(data: bytes, said: str | None = None, *, name: str = "") -> str:
    """What an encoded picture is, by its first bytes; by its name or what its file says where those tell nothing
    (TGA has no mark of its own).
    """
    for at, magic, kind in _MAGIC:
        if data[at : at + len(magic)] == magic:
            return kind
    return "image/x-tga" if name.lower().endswith(".tga") else said or "application/octet-stream"


def as_png(data: bytes) -> bytes:
    """The same picture as PNG."""
    return _encoded(_decoded(data))


def for_browsers(data: bytes, said: str, *, small: bool = False) -> tuple[str, bytes]:
    """The type and the bytes of a picture that browsers show: itself, or PNG; with `small` lossless WebP, which takes
    longer.
    What cannot be decoded is `Undecodable`."""
    kind = media_type(data, said)
    if kind in BROWSER_TYPES or not data:
        return kind, data
    picture = _decoded(data)
    if not small or max(picture.size) > _WEBP_SIDE:
        return "image/png", _encoded(picture, level=1)
    buffer = io.BytesIO()
    picture = picture if picture.mode in ("RGB", "RGBA") else picture.convert("RGBA")
    picture.save(buffer, "WEBP", lossless=True, quality=30, method=2, exact=True)
    return "image/webp", buffer.getvalue()


def why_not_shown(data: bytes, said: str) -> str:
    """Why a picture cannot be shown, as far as its first bytes tell; empty where nothing speaks against it."""
    if media_type(data, said) != "image/ktx2":
        return ""
    from marrow.io.ktx2.decoding import why_not_decoded

    return why_not_decoded(data)


def with_metallic_roughness(roughness: tuple[bytes, str] | None, metallic: tuple[bytes, str] | None) -> bytes:
    """A PNG with roughness in green and metalness in blue, of two pictures and the channel to take of each
    (`r`, `g`, `b`, `a`). What is not given is 1 everywhere, which leaves the factor to decide.
    """
    green, blue = (None if p is None else _channel(*p) for p in (roughness, metallic))
    size = max((p.size for p in (green, blue) if p is not None), default=(1, 1))
    return _merged("RGB", size, None, green, blue)


def with_alpha(color: bytes | None, alpha: tuple[bytes, str]) -> bytes:
    """A PNG of the colours of one picture (white without one) and a channel of another as alpha."""
    opacity = _channel(*alpha)
    if color is None:
        return _merged("RGBA", opacity.size, None, None, None, opacity)
    picture = _decoded(color).convert("RGB")
    return _merged("RGBA", max(picture.size, opacity.size), *picture.split(), opacity)


def _channel(data: bytes, which: str) -> Any:
    """One channel; `o` stands for opacity: alpha where the picture has one, else how bright it is."""
    picture = _decoded(data)
    if which == "o":
        which = "a" if "A" in picture.getbands() or "transparency" in picture.info else "l"
    if which == "l":
        return picture.convert("L")
    return picture.convert("RGBA").getchannel("rgba".index(which))


def _merged(mode: str, size: tuple[int, int], *channels: Any) -> bytes:
    from PIL import Image

    full = Image.new("L", size, 255)
    fitted = [full if c is None else c if c.size == size else c.resize(size) for c in channels]
    return _encoded(Image.merge(mode, fitted))


def _decoded(data: bytes) -> Any:
    from PIL import Image

    if media_type(data) == "image/ktx2":
        from marrow.io.ktx2 import decode_ktx2

        pixels = decode_ktx2(data)
        return Image.fromarray(pixels if (pixels[..., 3] < 255).any() else pixels[..., :3].copy())
    try:
        picture = Image.open(io.BytesIO(data), formats=_FORMATS)
        if picture.width * picture.height > MAX_PIXELS:
            raise Undecodable(f"it has {picture.width} x {picture.height} pixels")
        picture.load()
    except (OSError, ValueError, SyntaxError, ArithmeticError, KeyError, IndexError, MemoryError) as error:
        raise Undecodable(str(error) or type(error).__name__) from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise Undecodable(str(error)) from None
    return picture


def _encoded(picture: Any, level: int = 4) -> bytes:
    buffer = io.BytesIO()
    try:
        picture.save(buffer, "PNG", compress_level=level)
    except (OSError, ValueError) as error:
        raise Undecodable(str(error)) from None
    return buffer.getvalue()
