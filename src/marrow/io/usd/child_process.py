"""What the process that reads USD stages does with one: its path in, a `.marrow` file out (see
`marrow.io.reader_worker`).
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

__all__ = ["answer", "prepare"]


def prepare() -> None:
    """Loads the libraries."""
    import pxr.Usd  # noqa: F401

    import marrow.io.marrow_file
    import marrow.io.usd.reader  # noqa: F401


def answer(data: bytes, options: dict[str, Any]) -> bytes:
    """The character on the stage at `options["path"]`. USD opens it and its layers by itself, so `data` is
    empty.
    """
    from marrow.io.marrow_file import write_to
    from marrow.io.source import LoadOptions, Source
    from marrow.io.usd.reader import read_stage

    wanted = LoadOptions(**options["load"])
    source = Source.open(Path(options["path"]), allow_outside=wanted.allow_outside)
    character = read_stage(source, wanted)
    buffer = io.BytesIO()
    write_to(buffer, character, {"references": json.dumps(list(source.references))})
    return buffer.getvalue()
