"""`Pieces`: a large answer, sent as fast as it is read and no faster.

One that is handed over whole is copied into the connection's buffer: once for everybody who asks for it and does not
read what comes. How long somebody may not read is in `connections`.
"""

from __future__ import annotations

import asyncio

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

__all__ = ["Pieces"]

PIECE_BYTES = 1 << 18


class Pieces(Response):
    """Bytes, sent piece by piece from where they lie."""

    def __init__(
        self, data: bytes | memoryview, *, media_type: str, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(None, 200, {"content-length": str(len(data)), **(headers or {})}, media_type)
        self.data = memoryview(data)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        for start in range(0, len(self.data), PIECE_BYTES):
            piece = bytes(self.data[start : start + PIECE_BYTES])
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            # Others have their turn; and where nobody listens any more, that becomes known.
            await asyncio.sleep(0)
        await send({"type": "http.response.body", "body": b""})
