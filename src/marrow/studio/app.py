"""The studio's web application: the page, `Api`, uploads and the websocket of one `Session`."""

from __future__ import annotations

import asyncio
import contextlib
import mimetypes
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from marrow.errors import MarrowError, UnknownNameError
from marrow.studio import protocol as p
from marrow.studio.api import Api
from marrow.studio.compressed import ENCODED, gzipped, takes_gzip
from marrow.studio.guard import AccessKeys, Guard
from marrow.studio.hub import Hub, greeting
from marrow.studio.jobs import Jobs
from marrow.studio.parcel import remove_left_behind
from marrow.studio.session import Session
from marrow.studio.turns import Crowded, Turns
from marrow.studio.uploads import Uploads

if TYPE_CHECKING:
    from marrow.studio.actor import StudioActor
    from marrow.studio.scenes import StageScene

__all__ = ["MAX_UPLOAD_BYTES", "STATIC", "Studio"]

STATIC = Path(__file__).parent / "static"
MAX_UPLOAD_BYTES = 256 << 20
PIXELS = tuple(
    bytes.fromhex(text)
    for text in (
        "47494638396101000100800000ffffff0000002c00000000010001000002024401003b",
        "47494638396102000100800000ffffff0000002c0000000002000100000202040a003b",
    )
)
"""GIFs, 1 and 2 pixels wide."""
WORKERS, WAITING = 2, 16
"""Requests that are worked on at once, one of each page, and how many of a page may wait for that."""

UNBUILT = """<!doctype html><title>marrow studio</title><body style="font:16px system-ui;margin:3em;max-width:40em">
<h1>The studio's page is not built</h1><p>This is a source checkout without the bundle. Build it with
<code>npm ci &amp;&amp; npm run build</code> in <code>web/</code>, or install the package again with
<code>pip install -e .</code>, which does the same.</p></body>"""


class Studio:
    """A session and the application that serves it. Who may talk to it is in `keys`."""

    def __init__(
        self,
        token: str,
        *,
        hosts: Iterable[str] = (),
        any_address: bool = False,
        max_upload_bytes: int = MAX_UPLOAD_BYTES,
        static: Path = STATIC,
    ) -> None:
        self.session = Session()
        self.hub = Hub(self.session, greeting(self.session, max_upload_bytes))
        self.static = static
        self.jobs = Jobs(self)
        self.hub.carry_out = self.jobs.carry_out
        self.uploads = Uploads(self, max_upload_bytes)
        self.keys = AccessKeys(token, hosts=hosts, any_address=any_address)
        self._packed: dict[str, tuple[str, bytes | None]] = {}
        self.working = Turns(WORKERS, waiting=WAITING)
        self.app = Starlette(
            routes=[
                Route("/", self._page),
                Route("/static/{name}", self._static),
                Route("/favicon.ico", lambda _: Response(status_code=204)),
                Route("/open/{ticket}", self._open),
                Route("/open/{ticket}/there", self._there),
                *Api(self).routes,
                Route("/api/map", self.uploads.get_map, methods=["GET"]),
                Route("/api/map", self.uploads.post_map, methods=["POST"]),
                Route("/api/map.json", self.uploads.download_map),
                Route("/api/profile", self.uploads.post_profile, methods=["POST"]),
                Route("/api/profile.json", self.uploads.download_profile),
                Route("/api/upload", self.uploads.post, methods=["POST"]),
                WebSocketRoute("/ws", self._socket),
            ],
            middleware=[Middleware(Guard, keys=self.keys)],
            exception_handlers={
                MarrowError: self._failed,
                HTTPException: self._failed,
                Exception: self._broken,
            },  # type: ignore[dict-item]
            lifespan=self._lifespan,
        )

    @contextlib.asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        loop = asyncio.create_task(self.hub.run())
        asyncio.get_running_loop().run_in_executor(None, remove_left_behind)
        try:
            yield
        finally:
            loop.cancel()
            await asyncio.gather(loop, return_exceptions=True)
            await self.jobs.end()

    # -- errors ----------------------------------------------------------------------------------------------
    @staticmethod
    async def _failed(_: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException):
            return JSONResponse({"error": error.detail}, error.status_code)
        if isinstance(error, Crowded):
            return JSONResponse({"error": str(error)}, 429)
        return JSONResponse({"error": str(error)}, 404 if isinstance(error, UnknownNameError) else 400)

    @staticmethod
    async def _broken(_: Request, error: Exception) -> Response:
        return JSONResponse({"error": f"a fault inside marrow: {type(error).__name__}"}, 500)

    # -- the page --------------------------------------------------------------------------------------------
    def _find(self, name: str) -> bytes | None:
        """A file of the bundle. Its name is looked for among those there are; no path is made of what a
        browser says."""
        if not self.static.is_dir():
            return None
        return next((f.read_bytes() for f in self.static.iterdir() if f.name == name and f.is_file()), None)

    async def _page(self, _: Request) -> Response:
        return HTMLResponse(self._find("index.html") or UNBUILT)

    async def _static(self, request: Request) -> Response:
        name = request.path_params["name"]
        data = self._find(name)
        if data is None:
            raise HTTPException(404, "there is no such file")
        kind = "text/javascript" if name.endswith(".js") else mimetypes.guess_type(name)[0]
        # Asked for again each time, answered from the browser's own copy where that is the same.
        tag = f'W/"{len(data):x}-{hash(data) & 0xFFFFFFFF:x}"'
        headers = {"cache-control": "no-cache", "etag": tag}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        if takes_gzip(request):
            packed = self._packed.get(name)
            if packed is None or packed[0] != tag:
                packed = self._packed[name] = tag, await run_in_threadpool(gzipped, data, 6)
            if packed[1] is not None:
                data, headers = packed[1], headers | ENCODED
        headers["vary"] = "accept-encoding"
        return Response(data, media_type=kind or "application/octet-stream", headers=headers)

    async def _open(self, request: Request) -> Response:
        """Leads the frame of a notebook's cell to the page, with its token; by an address relative to a proxy's."""
        if not self.keys.tickets.take(request.path_params["ticket"]):
            return PlainTextResponse("marrow studio: this was opened before: run the cell again\n", 410)
        return Response(status_code=303, headers={"location": f"../#token={self.keys.token.decode()}"})

    async def _there(self, request: Request) -> Response:
        """A picture of one pixel, for cells to see whether their studio can be reached. Any page may load it: whoever knows
        a ticket knows all it says."""
        ticket, tickets = request.path_params["ticket"], self.keys.tickets
        good = tickets.holds(ticket)
        if not good and not tickets.was_used(ticket):
            return Response(status_code=410)
        headers = {"cross-origin-resource-policy": "cross-origin"}
        # Of a picture from elsewhere a page knows the width alone: 2 says that the ticket was used.
        return Response(PIXELS[not good], 200 if good else 410, media_type="image/gif", headers=headers)

    # -- work and new characters -----------------------------------------------------------------------------
    async def work(self, page: str, call: Callable[..., Any], *arguments: Any) -> Any:
        """Something that a page asked for and that takes time, beside the loop, no more than two at once."""
        async with self.working.turn(page):
            return await run_in_threadpool(call, *arguments)

    def page_of(self, request: Request) -> str:
        """Which page a request is from: all that do not say so count as one."""
        said = request.headers.get(p.PAGE_HEADER, "")
        return said if any(client.page == said for client in self.hub.clients) else ""

    def show(
        self,
        actor: StudioActor,
        *,
        keep: bool = False,
        meshes: bool = True,
        difference: p.Difference | None = None,
    ) -> None:
        """Puts an actor into its slot and tells every browser; to be called in the server's thread. With `keep` it is the
        one before, changed: what is played and picked stays."""
        before = self.session.slots
        self.session.put(actor, keep=keep)
        for slot in set(before) - set(self.session.slots):
            self.hub.tell(p.Changed(slot, False))
        self.hub.tell(p.Changed(actor.slot, True, keep, meshes, difference))
        self.hub.wake.set()

    def show_scene(self, stage: StageScene) -> None:
        """Shows a scene and tells every browser; to be called in the server's thread."""
        before = set(self.session.slots)
        self.session.put_scene(stage)
        for slot in sorted(before | set(self.session.slots)):
            self.hub.tell(p.Changed(slot, slot in self.session.slots))
        self.hub.wake.set()

    async def _socket(self, socket: WebSocket) -> None:
        await self.hub.serve(socket)
