"""`Api`: what pages ask of a studio over HTTP, and read only."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from marrow.errors import UnknownNameError
from marrow.studio.compressed import ENCODED, CompressedBlobs, takes_gzip
from marrow.studio.parcel import safe_name
from marrow.studio.pieces import Pieces

if TYPE_CHECKING:
    from marrow.studio.actor import StudioActor
    from marrow.studio.app import Studio

__all__ = ["Api"]

MAX_KEYED_JOINTS = 2000


class Api:
    """The addresses of one studio under `/api`. What takes time is done beside the loop."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio
        self._compressed = CompressedBlobs()
        self.routes = [
            Route("/api/character/{slot:int}", self._character),
            Route("/api/character/{slot:int}/buffers", self._buffers),
            Route("/api/image/{slot:int}/{number:int}", self._image),
            Route("/api/clips", self._clips),
            Route("/api/curves", self._curves),
            Route("/api/keys", self._keys),
            Route("/api/bounds", self._bounds),
            Route("/api/check", self._check),
            Route("/api/joint", self._joint),
            Route("/api/skinned", self._skinned),
            Route("/api/export.glb", self._export),
            Route("/api/code", self._code),
        ]

    async def _work(self, request: Request, call: Callable[..., Any], *arguments: Any) -> Any:
        """Something that takes time, beside the loop, when it is the turn of the page that asks."""
        return await self.studio.work(self.studio.page_of(request), call, *arguments)

    def _turn(self, request: Request) -> AbstractAsyncContextManager[None]:
        """The turn of a page to have something worked out in the loop, among the messages of all."""
        return self.studio.hub.desk.turn(self.studio.page_of(request))

    # -- characters ------------------------------------------------------------------------------------------
    def _actor(self, slot: int) -> StudioActor:
        actor = self.studio.session.shown(slot)
        if actor is None:
            raise HTTPException(404, f"there is no character in slot {slot}")
        return actor

    async def _character(self, request: Request) -> Response:
        actor = self._actor(request.path_params["slot"])
        asset = await self._work(request, lambda: actor.asset)
        return _json(asset.info)

    async def _buffers(self, request: Request) -> Response:
        actor = self._actor(request.path_params["slot"])
        asset = await self._work(request, lambda: actor.asset)
        if takes_gzip(request):
            shown = self.studio.session.slots
            packed = await self._work(request, self._compressed.of, actor.slot, asset.blob, tuple(shown))
            if packed is not None:
                return Pieces(packed, media_type="application/octet-stream", headers=ENCODED)
        return Pieces(asset.blob, media_type="application/octet-stream", headers={"vary": "accept-encoding"})

    async def _image(self, request: Request) -> Response:
        images = self._actor(request.path_params["slot"]).character.images
        number = request.path_params["number"]
        if number >= len(images):
            raise HTTPException(404, f"there is no image {number}")
        kind, data = await self._work(
            request, lambda: _shown_image(images[number].data, images[number].media_type)
        )
        return Pieces(data, media_type=kind)

    # -- clips -----------------------------------------------------------------------------------------------
    def _clip(self, request: Request) -> tuple[StudioActor, str]:
        actor = self._actor(_number(request, "slot", 0))
        clip = request.query_params.get("clip", "")
        if clip not in actor.character.clips:
            raise UnknownNameError("clip", clip, actor.character.clips)
        return actor, clip

    def _clip_and_joint(self, request: Request) -> tuple[Any, str, int]:
        actor, clip = self._clip(request)
        return actor.character, clip, self._joint_number(actor, request)

    @staticmethod
    def _joint_number(actor: StudioActor, request: Request) -> int:
        joint, joints = _number(request, "joint", 0), len(actor.character.skeleton)
        if joint >= joints:
            raise HTTPException(404, f"there is no joint {joint}: the skeleton has {joints}")
        return joint

    async def _clips(self, request: Request) -> Response:
        from marrow.studio.assets import clip_infos

        return _json(
            await self._work(request, clip_infos, self._actor(_number(request, "slot", 0)).character)
        )

    async def _curves(self, request: Request) -> Response:
        from marrow.studio.curves import curves

        return _json(await self._work(request, curves, *self._clip_and_joint(request)))

    async def _keys(self, request: Request) -> Response:
        from marrow.studio.curves import keys

        actor, clip = self._clip(request)
        text = request.query_params.get("joints", "")
        numbers = text.split(",") if text else []
        if len(numbers) > MAX_KEYED_JOINTS or not all(
            n.isascii() and n.isdigit() and len(n) < 9 for n in numbers
        ):
            raise HTTPException(
                400, f"joints: expected up to {MAX_KEYED_JOINTS} numbers with commas between them"
            )
        return _json(await self._work(request, keys, actor.character, clip, [int(n) for n in numbers]))

    async def _bounds(self, request: Request) -> Response:
        from marrow.studio.curves import bounds

        if "clip" in request.query_params:
            actor, clip = self._clip(request)
            return _json(await self._work(request, bounds, actor.drawn, clip))
        return _json(await self._work(request, bounds, self._actor(_number(request, "slot", 0)).drawn, None))

    # -- looking closer --------------------------------------------------------------------------------------
    async def _check(self, request: Request) -> Response:
        from marrow.studio.checks import check

        actor = self._actor(_number(request, "slot", 0))
        return _json(await self._work(request, check, actor.character))

    async def _joint(self, request: Request) -> Response:
        from marrow.studio.numbers import joint_numbers

        actor = self._actor(_number(request, "slot", 0))
        instance = self._instance(actor, request)
        # In the loop: the animator is the loop's, and one joint takes little.
        async with self._turn(request):
            return _json(joint_numbers(actor, self._joint_number(actor, request), instance))

    @staticmethod
    def _instance(actor: StudioActor, request: Request) -> int:
        instance = _number(request, "instance", 0)
        if instance >= actor.count:
            raise HTTPException(404, f"there is no instance {instance}: there are {actor.count}")
        return instance

    async def _skinned(self, request: Request) -> Response:
        """What the engine itself makes of the last picture: positions `(V, 3)` of one instance, float32."""
        actor, session = self._actor(_number(request, "slot", 0)), self.studio.session
        if actor.slot not in session.pictures:
            async with self._turn(request):
                session.look()
        picture = session.pictures.get(actor.slot)
        if picture is None:
            raise HTTPException(404, "nothing has been shown yet")
        instance = _number(request, "instance", 0)
        if instance >= picture.count:
            raise HTTPException(404, f"there is no instance {instance}: there are {picture.count}")
        level, matrices = picture.of(instance)
        matrices, morphs = matrices.copy(), picture.channels[instance].copy()
        skinning = request.query_params.get("skinning") or None
        surface = await self._work(request, _skin, actor, level, matrices, morphs, skinning)
        headers = {"x-marrow-frame": str(picture.frame), "x-marrow-level": str(level)}
        data = np.ascontiguousarray(surface, "<f4").tobytes()
        return Pieces(data, media_type="application/octet-stream", headers=headers)

    # -- taking away -----------------------------------------------------------------------------------------
    async def _export(self, request: Request) -> Response:
        actor = self._actor(_number(request, "slot", 0))
        chosen = request.query_params.getlist("clips")
        for name in chosen:
            if name not in actor.character.clips:
                raise UnknownNameError("clip", name, actor.character.clips)
        data = await self._work(request, _exported, actor, chosen)
        name = (
            safe_name(actor.character.name or "character")
            .encode("ascii", "replace")
            .decode()
            .replace("?", "_")
        )
        headers = {"content-disposition": f'attachment; filename="{name}.glb"'}
        return Pieces(data, media_type="model/gltf-binary", headers=headers)

    async def _code(self, request: Request) -> Response:
        from marrow.studio.code import python_code

        async with self._turn(request):
            return PlainTextResponse(python_code(self.studio.session))


@functools.lru_cache(maxsize=16)
def _shown_image(data: bytes, said: str) -> tuple[str, bytes]:
    """An image that browsers show; as it is where it cannot be made one."""
    from marrow.io.images import BROWSER_TYPES, Undecodable, for_browsers

    if said in BROWSER_TYPES:
        return said, data
    try:
        kind, made = for_browsers(data, said)
    except Undecodable:
        return "application/octet-stream", data
    return kind if kind in BROWSER_TYPES else "application/octet-stream", made


def _json(value: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def _number(request: Request, name: str, default: int, *, most: int = 10**9) -> int:
    """A whole number of the query, from 0 to `most`."""
    text = request.query_params.get(name, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 12 and int(text) <= most):
        raise HTTPException(400, f"{name}: expected a number from 0 to {most}, got {text[:40]!r}")
    return int(text)


def _skin(actor: StudioActor, level: int, matrices: Any, morphs: Any, skinning: str | None) -> Any:
    from marrow.skinning import skin

    options = {"morphs": morphs} if morphs.size else {}
    shown = actor.drawn.levels[level]
    return skin(shown, matrices, skinning=skinning, normals=False, tangents=False, **options).positions


def _exported(actor: StudioActor, clips: list[str]) -> bytes:
    import tempfile

    from marrow.io import save

    character = actor.character
    if clips:
        character = character.replace(clips=tuple(character.clips[name] for name in clips))
    with tempfile.TemporaryDirectory(prefix="marrow-export-") as folder:
        file = Path(folder) / "character.glb"
        save(character, file)
        return file.read_bytes()
