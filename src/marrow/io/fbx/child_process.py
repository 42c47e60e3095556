"""What the process that reads FBX files does with one: bytes in, a `.marrow` file out (see `marrow.io.reader_worker`)."""

from __future__ import annotations

import io
import json
from typing import Any

__all__ = ["answer", "prepare"]


def prepare() -> None:
    """Loads the libraries."""
    import ufbx  # noqa: F401

    import marrow.io.fbx.convert
    import marrow.io.marrow_file  # noqa: F401


def answer(data: bytes, options: dict[str, Any]) -> bytes:
    """The character of an FBX file; `options` are `scale` and `rate`."""
    import ufbx

    from marrow.errors import FormatError
    from marrow.io.fbx.completeness import check_complete, is_ascii
    from marrow.io.fbx.convert import convert
    from marrow.io.marrow_file import write_to
    from marrow.report import Report

    missing = Report(tuple(check_complete(data))) if is_ascii(data) else Report()
    try:
        made = convert(data, options["scale"], options["rate"])
    except ufbx.UfbxError as error:
        raise FormatError(f"is not a readable FBX file: {_reason(error, data)}") from None
    character = made.character.replace(report=missing + made.character.report)
    buffer = io.BytesIO()
    materials = made.materials
    images = {"wanted": materials.wanted, "packed": materials.packed, "factors": materials.factors}
    notes = {"images": json.dumps(images), "bound_at": json.dumps(made.bound_at)}
    if made.caches["caches"]:
        notes["caches"] = json.dumps(made.caches)
    if made.groups["meshes"]:
        notes["groups"] = json.dumps(made.groups)
    write_to(buffer, character, notes)
    return buffer.getvalue()


def _reason(error: Exception, data: bytes) -> str:
    """In words: what ufbx says, and what can be seen of the file."""
    from marrow.io.fbx.diagnosis import diagnosed

    kind = type(error).__name__.removesuffix("Error")
    words = "".join(f" {c.lower()}" if c.isupper() else c for c in kind).strip()
    said = str(error).strip()
    told = [] if words in ("unknown", "ufbx") else [words]
    told += [said] if said and said.lower() not in ("failed to load", words) else []
    seen = diagnosed(data)
    return "; ".join([*told, seen] if seen else told) or "it is damaged"
