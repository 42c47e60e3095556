"""The studio's web application: pages, characters, uploads and the websocket of one `Session`."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import mimetypes
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
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
from marrow.studio.actor import Actor
from marrow.studio.assets import IMAGE_TYPES
from marrow.studio.code import python_code
from marrow.studio.curves import curves, joint_path
from marrow.studio.guard import Guard
from marrow.studio.hub import Hub, greeting
from marrow.studio.makers import maker_of_sample
from marrow.studio.parcel import safe_name
from marrow.studio.session import Session
from marrow.studio.uploads import Uploads

__all__ = ["MAX_UPLOAD_BYTES", "STATIC", "Studio"]

log = logging.getLogger("marrow.studio")
STATIC = Path(__file__).parent / "static"
MAX_UPLOAD_BYTES = 256 << 20

UNBUILT = """<!doctype html><title>marrow studio</title><body style="font:16px system-ui;margin:3em;max-width:40em">
<h1>The studio's page is not built</h1><p>This is a source checkout without the bundle. Build it with
<code>npm ci &amp;&amp; npm run build</code> in <code>web/</code>, or install the package again with
<code>pip install -e .</code>, which does the same.</p></body>"""


class Studio:
    """A session and the application that serves it."""

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
        self.hub.open_sample = self._open_sample
        self.static = static
        self.loading = asyncio.Lock()
        """Held while a character is being read: one at a time."""
        self.uploads = Uploads(self, max_upload_bytes)
        self.hub.settle = lambda message: self._begin(self.uploads.settle(message))
        self._working = asyncio.Semaphore(2)
        self._tasks: set[asyncio.Task[None]] = set()
        self.app = Starlette(
            routes=[
                Route("/", self._page),
                Route("/static/{name}", self._static),
                Route("/favicon.ico", lambda _: Response(status_code=204)),
                Route("/api/character/{slot:int}", self._character),
                Route("/api/character/{slot:int}/buffers", self._buffers),
                Route("/api/image/{slot:int}/{number:int}", self._image),
                Route("/api/curves", self._curves),
                Route("/api/path", self._path),
                Route("/api/skinned", self._skinned),
                Route("/api/export.glb", self._export),
                Route("/api/code", self._code),
                Route("/api/upload", self.uploads.post, methods=["POST"]),
                WebSocketRoute("/ws", self._socket),
            ],
            middleware=[Middleware(Guard, token=token, hosts=hosts, any_address=any_address)],
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
        try:
            yield
        finally:
            for task in (loop, *self._tasks):
                task.cancel()
            await asyncio.gather(loop, *self._tasks, return_exceptions=True)

    # -- errors ----------------------------------------------------------------------------------------------
    @staticmethod
    async def _failed(_: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException):
            return JSONResponse({"error": error.detail}, error.status_code)
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

    def _page(self, _: Request) -> Response:
        return HTMLResponse(self._find("index.html") or UNBUILT)

    def _static(self, request: Request) -> Response:
        name = request.path_params["name"]
        data = self._find(name)
        if data is None:
            raise HTTPException(404, "there is no such file")
        kind = "text/javascript" if name.endswith(".js") else mimetypes.guess_type(name)[0]
        # Asked for again each time, answered from the browser's own copy where that is the same.
        tag = f'"{len(data):x}-{hash(data) & 0xFFFFFFFF:x}"'
        headers = {"cache-control": "no-cache", "etag": tag}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(data, media_type=kind or "application/octet-stream", headers=headers)

    # -- characters ------------------------------------------------------------------------------------------
    def _actor(self, slot: int) -> Actor:
        actor = self.session.actors.get(slot)
        if actor is None:
            raise HTTPException(404, f"there is no character in slot {slot}")
        return actor

    async def _work(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Something that takes time, beside the loop, no more than two at once."""
        async with self._working:
            return await run_in_threadpool(call, *arguments)

    async def _character(self, request: Request) -> Response:
        actor = self._actor(request.path_params["slot"])
        asset = await self._work(lambda: actor.asset)
        return _json(asset.info)

    async def _buffers(self, request: Request) -> Response:
        actor = self._actor(request.path_params["slot"])
        asset = await self._work(lambda: actor.asset)
        return Response(asset.blob, media_type="application/octet-stream")

    async def _image(self, request: Request) -> Response:
        images = self._actor(request.path_params["slot"]).character.images
        number = request.path_params["number"]
        if number >= len(images):
            raise HTTPException(404, f"there is no image {number}")
        image = images[number]
        kind = image.media_type if image.media_type in IMAGE_TYPES else "application/octet-stream"
        return Response(bytes(image.data), media_type=kind)

    async def _curves(self, request: Request) -> Response:
        return _json(await self._work(curves, *self._clip_and_joint(request)))

    async def _path(self, request: Request) -> Response:
        return _json(await self._work(joint_path, *self._clip_and_joint(request)))

    def _clip_and_joint(self, request: Request) -> tuple[Any, str, int]:
        character = self._actor(_number(request, "slot", 0)).character
        joint = _number(request, "joint", 0)
        if joint >= len(character.skeleton):
            raise HTTPException(404, f"there is no joint {joint}: the skeleton has {len(character.skeleton)}")
        clip = request.query_params.get("clip", "")
        if clip not in character.clips:
            raise UnknownNameError("clip", clip, character.clips)
        return character, clip, joint

    async def _skinned(self, request: Request) -> Response:
        """What the engine itself makes of the last picture: positions `(V, 3)` of one instance, float32."""
        actor = self._actor(_number(request, "slot", 0))
        if actor.slot not in self.session.pictures:
            self.session.look()
        picture = self.session.pictures.get(actor.slot)
        if picture is None:
            raise HTTPException(404, "nothing has been shown yet")
        instance = _number(request, "instance", 0)
        if instance >= picture.count:
            raise HTTPException(404, f"there is no instance {instance}: there are {picture.count}")
        level, matrices = picture.of(instance)
        matrices, morphs = matrices.copy(), picture.channels[instance].copy()
        method = request.query_params.get("method") or None
        surface = await self._work(_skin, actor, level, matrices, morphs, method)
        headers = {"x-marrow-frame": str(picture.frame), "x-marrow-level": str(level)}
        return Response(
            np.ascontiguousarray(surface, "<f4").tobytes(),
            media_type="application/octet-stream",
            headers=headers,
        )

    async def _export(self, request: Request) -> Response:
        actor = self._actor(_number(request, "slot", 0))
        data = await self._work(_exported, actor)
        name = (
            safe_name(actor.character.name or "character")
            .encode("ascii", "replace")
            .decode()
            .replace("?", "_")
        )
        return Response(
            data,
            media_type="model/gltf-binary",
            headers={"content-disposition": f'attachment; filename="{name}.glb"'},
        )

    async def _code(self, _: Request) -> Response:
        return PlainTextResponse(python_code(self.session))

    # -- new characters --------------------------------------------------------------------------------------
    def show(self, actor: Actor) -> None:
        """Puts an actor into its slot and tells every browser; to be called in the server's thread."""
        self.session.put(actor)
        self.hub.tell(p.Changed(actor.slot, True))
        self.hub.wake.set()

    def _open_sample(self, name: str, slot: int) -> None:
        self._begin(self._load_sample(name, slot))

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Something that takes a while, beside the loop."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _load_sample(self, name: str, slot: int) -> None:
        if self.loading.locked() or self.session.driven:
            self.hub.tell(p.Failure("another character is being opened, or a Python program shows its own"))
            return
        try:
            async with self.loading, self.progress(f"Opening {name[:100]}"):
                self.show(await run_in_threadpool(lambda: maker_of_sample(name, slot)()))
        except MarrowError as error:
            self.hub.tell(p.Failure(str(error)))

    @contextlib.asynccontextmanager
    async def progress(self, text: str) -> AsyncIterator[None]:
        """Tells every browser that something is on its way, and when it is done."""
        self.hub.tell(p.Progress(text, -1.0))
        self.hub.progress = text
        try:
            yield
        finally:
            self.hub.progress = None
            self.hub.tell(p.Progress(text, 1.0))

    async def _socket(self, socket: WebSocket) -> None:
        await self.hub.serve(socket)


def _json(value: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def _number(request: Request, name: str, default: int, *, most: int = 10**9) -> int:
    """A whole number of the query, from 0 to `most`."""
    text = request.query_params.get(name, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 12 and int(text) <= most):
        raise HTTPException(400, f"{name}: expected a number from 0 to {most}, got {text[:40]!r}")
    return int(text)


def _skin(actor: Actor, level: int, matrices: Any, morphs: Any, method: str | None) -> Any:
    from marrow.skinning import skin

    options = {"morphs": morphs} if morphs.size else {}
    shown = actor.character.levels[level]
    return skin(shown, matrices, method=method, normals=False, tangents=False, **options).positions


def _exported(actor: Actor) -> bytes:
    import tempfile

    from marrow.io import save

    with tempfile.TemporaryDirectory(prefix="marrow-export-") as folder:
        file = Path(folder) / "character.glb"
        save(actor.character, file)
        return file.read_bytes()
