"""The images of a character for a page: byte for byte, or smaller where a size is set."""

from __future__ import annotations

import io
from collections.abc import Sequence

from marrow.io.images import BROWSER_TYPES, Undecodable, for_browsers
from marrow.model.material import Image

__all__ = ["page_images"]


def page_images(images: Sequence[Image], size: int | None) -> tuple[list[tuple[str, bytes]], list[str]]:
    """The type and the bytes of each, no side longer than `size` pixels; and lines about what was changed or left
    out."""
    found: list[tuple[str, bytes]] = []
    notes: list[str] = []
    for k, image in enumerate(images):
        kind, data = image.media_type, image.data
        if kind not in BROWSER_TYPES:
            try:
                kind, data = for_browsers(data, kind, small=True)
            except Undecodable as error:
                notes.append(f"image {k} ({kind}): it cannot be shown, and is left out: {error}")
                data = b""
            else:
                if kind not in BROWSER_TYPES:
                    notes.append(f"image {k} ({kind}): browsers do not show that; it is left out")
                    data = b""
            if not data:
                found.append(("application/octet-stream", data))
                continue
        if size is not None:
            kind, data, note = _smaller(kind, data, size)
            if note:
                notes.append(f"image {k}: {note}")
        found.append((kind, data))
    return found, notes


def _smaller(kind: str, data: bytes, size: int) -> tuple[str, bytes, str]:
    from PIL import Image as Pillow

    try:
        with Pillow.open(io.BytesIO(data)) as read:
            width, height = read.size
            if max(width, height) <= size:
                return kind, data, ""
            picture = read.convert("RGBA" if read.mode in ("RGBA", "LA", "PA", "P") else "RGB")
            picture.thumbnail((size, size), Pillow.Resampling.LANCZOS)
            out = io.BytesIO()
            # Lossless, as colours of normal maps are numbers; smaller than PNG.
            picture.save(out, "WEBP", lossless=True) if kind != "image/jpeg" else picture.save(
                out, "JPEG", quality=88
            )
    except (OSError, ValueError, Pillow.DecompressionBombError) as error:
        return kind, data, f"cannot be made smaller: {error}"
    made = out.getvalue()
    if len(made) >= len(data):
        return kind, data, ""
    kind = "image/jpeg" if kind == "image/jpeg" else "image/webp"
    return kind, made, f"{width} x {height} pixels became {picture.width} x {picture.height}"
