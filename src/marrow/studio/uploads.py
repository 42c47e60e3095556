"""`Uploads`: takes the files a browser sends, shows what they hold, and remembers what a page is asked about.

A file that is nothing but motion for the character that is open is not shown at once: its page is told how it would go onto
it, and says (`Settle`) whether it does or the file is opened by itself. A graph, or a bone map, is a JSON file.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from marrow.errors import MarrowError, ResourceLimitError, ValidationError
from marrow.studio import protocol as p
from marrow.studio.answers import PARCEL_TYPE, MapAnswer, MapInfo, UploadAnswer, UploadOffer
from marrow.studio.parcel import Parcel, safe_name
from marrow.studio.turns import Crowded

if TYPE_CHECKING:
    from marrow.studio.actor import StudioActor
    from marrow.studio.app import Studio
    from marrow.studio.bone_maps import Offer, PutOn
    from marrow.studio.loading import Arrival

__all__ = ["Uploads"]

UPLOAD_SECONDS = 600.0
"""An upload that takes longer is given up."""
SILENCE_SECONDS = 20.0
"""So is one of which nothing comes for so long."""
RECEIVING, RECEIVING_OF_ONE = 8, 4
"""Uploads that may come in at once, of all and of one page; the rest wait for their turn."""
STALLED_SECONDS, POLL_SECONDS = 1.0, 0.02
"""One of which nothing comes for so long loses its place to one that waits."""
REST_BYTES, REST_SECONDS = 1 << 30, 60.0
"""So much of a file that is too large is read and thrown away, for so long: most programs listen only when they have
sent all."""
MAX_OFFERS = 4
MAX_MAP_BYTES = 1 << 20


class Uploads:
    """The uploads of one studio: several may be on their way, one at a time is read."""

    def __init__(self, studio: Studio, limit: int) -> None:
        self.studio, self.limit = studio, limit
        self._offers: dict[int, Offer] = {}
        self._number = 0
        self._coming: dict[asyncio.Timeout, tuple[str, float]] = {}
        """Those on their way: whose each is and when it was last heard, the most silent first."""

    def give_up(self) -> None:
        """Ends the uploads that are on their way: the studio closes."""
        for limit in tuple(self._coming):
            limit.reschedule(asyncio.get_running_loop().time())

    async def post(self, request: Request) -> Response:
        """`POST /api/upload?name=&slot=`: one file, or a parcel of several."""
        name = safe_name(request.query_params.get("name", ""))
        where = request.query_params.get("slot", "0")
        if where not in ("0", "1"):
            raise HTTPException(400, f"slot: expected 0 or 1, got {where[:40]!r}")
        slot, page = int(where), self.studio.page_of(request)
        session = self.studio.session
        if session.driven:
            raise HTTPException(409, f"{session.driver} shows its own character here")
        declared = request.headers.get("content-length", "0")
        if not declared.isdigit() or int(declared) > self.limit + (1 << 20):
            if "expect" not in request.headers:  # Who asks before sending is told at once.
                await self._discard(request.stream())
            raise HTTPException(413, f"{name}: files may have at most {self.limit >> 20} MiB")
        with Parcel(self.limit) as parcel:
            try:
                async with asyncio.timeout(UPLOAD_SECONDS) as limit, self._on_its_way(limit, page):
                    chunks = self._heard(limit, _unless_silent(request.stream()))
                    if request.headers.get("content-type") == PARCEL_TYPE:
                        await parcel.receive_several(chunks)
                    else:
                        await parcel.receive_one(chunks, name)
                # Only what has come whole takes its turn.
                name = parcel.characters[0].label
                async with self.studio.jobs.in_turn(page, f"Reading {name}"):
                    answer = await self._read(parcel, name, slot)
            except ResourceLimitError as error:
                await self._discard(request.stream())
                return _answer(_failed(name, slot, error), 413)
            except Crowded as error:
                return _answer(_failed(name, slot, error), 429)
            except MarrowError as error:
                return _answer(_failed(name, slot, error), 422)
            except TimeoutError:
                return _answer(_failed(name, slot, "the upload took too long"), 408)
            except ClientDisconnect:
                return Response(status_code=400)
        return _answer(answer)

    @contextlib.asynccontextmanager
    async def _on_its_way(self, limit: asyncio.Timeout, page: str) -> AsyncIterator[None]:
        now = asyncio.get_running_loop().time
        while True:
            own = [one for one, (whose, _) in self._coming.items() if whose == page]
            if len(own) < RECEIVING_OF_ONE and len(self._coming) < RECEIVING:
                break
            silent = own[0] if len(own) >= RECEIVING_OF_ONE else next(iter(self._coming))
            if now() - self._coming[silent][1] < STALLED_SECONDS:
                await asyncio.sleep(POLL_SECONDS)
                continue
            del self._coming[silent]
            silent.reschedule(now())
        self._coming[limit] = page, now()
        try:
            yield
        finally:
            self._coming.pop(limit, None)

    async def _heard(self, limit: asyncio.Timeout, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The chunks; who sends one goes behind those who are silent."""
        async for chunk in chunks:
            known = self._coming.pop(limit, None)
            if known is not None:
                self._coming[limit] = known[0], asyncio.get_running_loop().time()
            yield chunk

    @staticmethod
    async def _discard(chunks: AsyncIterator[bytes]) -> None:
        """Reads what is left of a body, so that its sender comes to hear the answer."""
        left = REST_BYTES
        with contextlib.suppress(TimeoutError, ClientDisconnect, RuntimeError):
            async with asyncio.timeout(REST_SECONDS):
                async for chunk in _unless_silent(chunks):
                    left -= len(chunk)
                    if left < 0:
                        return

    async def _read(self, parcel: Parcel, name: str, slot: int) -> UploadAnswer:
        from marrow.studio.loading import arrive, arrived_text

        text = await run_in_threadpool(arrived_text, parcel)
        if text is not None:
            return await self._take_text(*text, slot)
        arrival = await run_in_threadpool(arrive, parcel)
        offer = await self._offer(arrival, slot)
        if offer is None:
            self.studio.show(await run_in_threadpool(arrival.actor, slot))
        return UploadAnswer(arrival.name, slot, None, offer, "character" if offer is None else "motion")

    async def _take_text(self, kind: str, text: str, name: str, slot: int) -> UploadAnswer:
        """A graph for the character that is open, or a bone map or a profile for the motion that came last."""
        if kind == "graph":
            from marrow.graph.description import from_json

            # Without a path it can refer to no other file.
            await self.studio.jobs.run_graph(from_json(text), file=name)
            return UploadAnswer(name, 0, None, None, "graph")
        if not self._offers:
            what = "bone map" if kind == "map" else "retarget profile"
            raise ValidationError(f"a {what} is for motion: drop the motion first")
        offer = next(reversed(self._offers.values()))
        made, info = await (self._mapped if kind == "map" else self._profiled)(offer, text, "add")
        told = self._told(made.offer if made else offer, info)
        return UploadAnswer(name, slot, None, told, "map" if kind == "map" else "profile")

    # -- motion ----------------------------------------------------------------------------------------------
    async def _offer(self, arrival: Arrival, slot: int) -> UploadOffer | None:
        """What a page is asked about motion that fits the character in the slot; None where there is nothing to ask."""
        from marrow.motion.bone_map import RetargetError
        from marrow.motion.profile import as_profile
        from marrow.studio.bone_maps import Offer, map_info

        open_now = self.studio.session.actors.get(slot)
        if open_now is None or not open_now.character.meshes or not arrival.fits(open_now.character):
            return None
        offer = Offer(self._number + 1, arrival.character, arrival.name, slot)
        await run_in_threadpool(as_profile, "auto", open_now.character)  # a wrong one is told
        try:
            info = await run_in_threadpool(map_info, offer, open_now.character)
        except RetargetError:
            return None
        self._number += 1
        self._offers[self._number] = offer
        while len(self._offers) > MAX_OFFERS:
            self._offers.pop(next(iter(self._offers)))
        return self._told(offer, info)

    def _told(self, offer: Offer, info: MapInfo) -> UploadOffer:
        open_now = self.studio.session.actors.get(offer.slot)
        return UploadOffer(
            offer.number,
            open_now.character.name if open_now is not None else "",
            list(offer.motion.clips),
            "same" if info.exact else "retarget",
            info,
        )

    async def settle(self, page: str, message: p.Settle) -> None:
        """Does what a page wants with the motion it was asked about."""
        offer, studio = self._offers.get(message.offer), self.studio
        if message.how == "drop":
            self._offers.pop(message.offer, None)
            return
        if offer is None or (open_now := studio.session.actors.get(offer.slot)) is None:
            raise ValidationError("that file is no longer at hand: drop it once more")
        async with studio.jobs.in_turn(page, f"Reading {offer.name}"):
            if message.how == "open":
                self._offers.pop(message.offer, None)
                studio.show(await run_in_threadpool(_by_itself, offer, message.slot))
                return
            await self._put_on(offer, open_now, beside=message.how == "beside")

    async def _put_on(self, offer: Offer, open_now: StudioActor, *, beside: bool) -> PutOn:
        """Puts motion on the character that is open, and shows it."""
        from marrow.studio.bone_maps import put_on

        studio, session = self.studio, self.studio.session
        made = await run_in_threadpool(put_on, offer, open_now.character)
        actor = await run_in_threadpool(_with_motion, open_now, made)
        if session.actors.get(offer.slot) is not open_now:
            raise ValidationError("another character was opened meanwhile")
        self._offers[offer.number] = made.offer
        studio.show(actor, keep=True, meshes=False)
        if made.clips and offer.slot == 0:
            session.apply(p.PickClip(made.clips[0]))
        if beside and offer.slot == 0:
            studio.show(await run_in_threadpool(_by_itself, offer, 1))
        return made

    # -- the bone map ----------------------------------------------------------------------------------------
    def find_offer(self, request: Request) -> tuple[Offer, StudioActor]:
        """The motion a request is about, and the character it is for."""
        number = request.query_params.get("offer", "")
        offer = (
            self._offers.get(int(number))
            if number.isascii() and number.isdigit() and len(number) < 12
            else None
        )
        actor = self.studio.session.actors.get(offer.slot) if offer is not None else None
        if offer is None or actor is None:
            raise HTTPException(404, "that motion is no longer at hand: drop it once more")
        return offer, actor

    async def get_map(self, request: Request) -> Response:
        """`GET /api/map?offer=`."""
        from marrow.studio.bone_maps import map_info

        offer, actor = self.find_offer(request)
        return _answer(await self.studio.work(self.studio.page_of(request), map_info, offer, actor.character))

    async def download_map(self, request: Request) -> Response:
        """`GET /api/map.json?offer=`: the map as `marrow retarget --map` reads it."""
        from marrow.studio.bone_maps import bone_map

        offer, actor = self.find_offer(request)
        made = await self.studio.work(self.studio.page_of(request), bone_map, offer, actor.character)
        text = made.to_json()
        headers = {"content-disposition": 'attachment; filename="map.json"'}
        return Response(text + "\n", media_type="application/json", headers=headers)

    async def download_profile(self, request: Request) -> Response:
        """`GET /api/profile.json?offer=`: the retarget profile of the character, to lie beside its file."""
        from marrow.studio.bone_maps import profile_of

        offer, actor = self.find_offer(request)
        found = await self.studio.work(self.studio.page_of(request), profile_of, offer, actor.character)
        headers = {"content-disposition": 'attachment; filename="character.retarget.json"'}
        return Response(found.to_json() + "\n", media_type="application/json", headers=headers)

    async def post_profile(self, request: Request) -> Response:
        """`POST /api/profile?offer=&how=add|beside|keep`: a retarget profile that somebody edited."""
        return await self._post(request, self._profiled)

    async def post_map(self, request: Request) -> Response:
        """`POST /api/map?offer=&how=add|beside|keep`: a map that somebody edited."""
        return await self._post(request, self._mapped)

    async def _post(
        self, request: Request, use: Callable[[Offer, str, str], Awaitable[tuple[PutOn | None, MapInfo]]]
    ) -> Response:
        offer, _ = self.find_offer(request)
        how = request.query_params.get("how", "add")
        if how not in ("add", "beside", "keep"):
            raise HTTPException(400, f"how: expected add, beside or keep, got {how[:40]!r}")
        body = b""
        async for chunk in _unless_silent(request.stream()):
            body += chunk
            if len(body) > MAX_MAP_BYTES:
                raise HTTPException(413, "a bone map or a profile may have at most 1 MiB")
        try:
            async with self.studio.jobs.in_turn(self.studio.page_of(request), f"Mapping {offer.name}"):
                made, info = await use(offer, body.decode("utf-8", "replace"), how)
        except Crowded:
            raise
        except MarrowError as error:
            return _answer(MapAnswer(str(error), None, [], []), 400)
        return _answer(
            MapAnswer(None, info, list(made.clips) if made else [], list(made.quality) if made else [])
        )

    async def _mapped(self, offer: Offer, text: str, how: str) -> tuple[PutOn | None, MapInfo]:
        from marrow.motion.bone_map import BoneMap
        from marrow.studio.bone_maps import keep_map, map_info

        actor = self.studio.session.actors.get(offer.slot)
        if actor is None:
            raise ValidationError("the character is gone: drop the motion once more")
        source, target = offer.motion.skeleton, actor.character.skeleton
        bones = await run_in_threadpool(BoneMap.from_json, text, source, target)
        offer = self._offers[offer.number] = replace(offer, map=bones)
        made = await self._put_on(offer, actor, beside=how == "beside") if how != "keep" else None
        # Only what could be used is kept.
        info = await run_in_threadpool(map_info, made.offer if made else offer, actor.character)
        await run_in_threadpool(keep_map, bones)
        return made, info

    async def _profiled(self, offer: Offer, text: str, how: str) -> tuple[PutOn | None, MapInfo]:
        from marrow.motion.profile import RetargetProfile
        from marrow.studio.bone_maps import map_info

        actor = self.studio.session.actors.get(offer.slot)
        if actor is None:
            raise ValidationError("the character is gone: drop the motion once more")
        said = await run_in_threadpool(RetargetProfile.from_json, text)
        offer = replace(offer, profile=said)
        info = await run_in_threadpool(map_info, offer, actor.character)  # says what does not fit
        self._offers[offer.number] = offer
        made = await self._put_on(offer, actor, beside=how == "beside") if how != "keep" else None
        return made, info


async def _unless_silent(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The chunks of a body, and a `TimeoutError` where none comes for too long."""
    while True:
        async with asyncio.timeout(SILENCE_SECONDS):
            try:
                chunk = await anext(chunks)
            except StopAsyncIteration:
                return
        yield chunk


def _by_itself(offer: Offer, slot: int) -> StudioActor:
    from marrow.studio.actor import Origin, StudioActor

    named = offer.motion.in_metres().replace(name=PurePath(offer.name).stem)
    return StudioActor(named, slot, Origin("file", offer.name))


def _with_motion(actor: StudioActor, made: PutOn) -> StudioActor:
    from marrow.studio.actor import StudioActor
    from marrow.studio.jobs import with_asset

    files = tuple(dict.fromkeys((*actor.origin.clips, made.offer.name)))
    origin = replace(actor.origin, clips=files)
    return with_asset(
        actor, StudioActor(made.character, actor.slot, origin, graph=actor.graph), made.character
    )


def _failed(name: str, slot: int, error: MarrowError | str) -> UploadAnswer:
    text = str(error)
    text = text if text.startswith(f"{name}: ") else f"{name}: {text}"
    return UploadAnswer(name, slot, text, None, "character")


def _answer(value: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status, media_type="application/json")
