"""The media type of the pictures FBX files carry or point at, by their first bytes."""

from __future__ import annotations

__all__ = ["media_type"]

_MAGIC = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (8, b"WEBP", "image/webp"),
    (0, b"BM", "image/bmp"),
    (0, b"GIF8", "image/gif"),
    (0, b"II*\0", "image/tiff"),
    (0, b"MM\0*", "image/tiff"),
    (0, b"DDS ", "image/vnd-ms.dds"),
    (0, b"8BPS", "image/vnd.adobe.photoshop"),
)


def media_type(data: bytes, name: str) -> str:
    """The type of a picture; TGA has no mark of its own and goes by its name."""
    for at, magic, kind in _MAGIC:
        if data[at : at + len(magic)] == magic:
            return kind
    return "image/x-tga" if name.lower().endswith(".tga") else "application/octet-stream"
