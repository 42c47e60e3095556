"""The reader's answer: a JSON document, and blocks of plain numbers that it refers to by their index.

The layout is `LENGTHS` (of the document, of everything that follows it), the document, and the blocks end to end, each
padded to eight bytes. Blocks that are large stay where they are until they are written. This runs in the reader's process,
without NumPy; `marrow.io.fbx.plain_scene` is the other side.
"""

from __future__ import annotations

import json
import struct
from typing import Any

__all__ = ["LENGTHS", "Blocks", "Buffer"]

Buffer = bytes | memoryview
LENGTHS = struct.Struct("<QQ")
_LARGE = 1 << 16


class Blocks:
    """The blocks in order. `put` gives the index of one."""

    def __init__(self) -> None:
        self._lengths: list[int] = []
        self._parts: list[Buffer | bytearray] = [bytearray()]
        self._known: dict[bytes, int] = {}

    def put(self, data: Buffer) -> int:
        """Adds a block."""
        size = len(data)
        last = self._parts[-1]
        assert isinstance(last, bytearray)
        if size < _LARGE:
            last += data
            last += bytes(-size % 8)
        else:
            self._parts += [data, bytearray(-size % 8)]
        self._lengths.append(size)
        return len(self._lengths) - 1

    def put_once(self, data: bytes) -> int:
        """Adds a block, unless there is one of the same bytes already."""
        if data not in self._known:
            self._known[data] = self.put(data)
        return self._known[data]

    def doubles(self, *values: float) -> int:
        """Adds a block of float64."""
        return self.put(struct.pack(f"<{len(values)}d", *values))

    def answer(self, document: dict[str, Any]) -> list[Buffer | bytearray]:
        """The whole answer, in parts to be written one after the other."""
        text = json.dumps(
            {**document, "blocks": self._lengths}, separators=(",", ":"), allow_nan=False
        ).encode()
        text += b" " * (-len(text) % 8)
        return [LENGTHS.pack(len(text), sum(map(len, self._parts))), text, *self._parts]
