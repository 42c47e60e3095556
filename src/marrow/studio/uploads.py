"""`Uploads`: takes the files a browser sends, shows what they hold, and remembers what a page is asked about.

A file that is nothing but motion for the character that is open is not shown at once: its page is told, and says
(`Settle`) whether the clips join the character or the file is opened by itself.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from marrow.errors import MarrowError, ResourceLimitError
from marrow.studio import protocol as p
from marrow.studio.actor import Actor
from marrow.studio.description import PARCEL_TYPE, UploadAnswer, UploadOffer
from marrow.studio.loading import Arrival, actor_with_clips, arrive
from marrow.studio.parcel import Parcel, safe_name

if TYPE_CHECKING:
    from marrow.studio.app import Studio

__all__ = ["Uploads"]

UPLOAD_SECONDS = 600.0
"""An upload that takes longer is given up."""
MAX_OFFERS = 4


class Uploads:
    """The uploads of one studio: two may be on their way, one at a time is read."""

    def __init__(self, studio: Studio, limit: int) -> None:
        self.studio, self.limit = studio, limit
        self._receiving = asyncio.Semaphore(2)
        self._offers: dict[int, Arrival] = {}
        self._number = 0

    async def post(self, request: Request) -> Response:
        """`POST /api/upload?name=&slot=`: one file, or a parcel of several."""
        name = safe_name(request.query_params.get("name", ""))
        where = request.query_params.get("slot", "0")
        if where not in ("0", "1"):
            raise HTTPException(400, f"slot: expected 0 or 1, got {where[:40]!r}")
        slot = int(where)
        if self.studio.session.driven:
            raise HTTPException(409, "a Python program shows its own character here")
        declared = request.headers.get("content-length", "0")
        if not declared.isdigit() or int(declared) > self.limit + (1 << 20):
            raise HTTPException(413, f"{name}: files may have at most {self.limit >> 20} MiB")
        if self._receiving.locked() or self.studio.loading.locked():
            raise HTTPException(409, "another file is being read; try again in a moment")
        with Parcel(self.limit) as parcel:
            try:
                async with self._receiving, asyncio.timeout(UPLOAD_SECONDS):
                    if request.headers.get("content-type") == PARCEL_TYPE:
                        await parcel.receive_several(request.stream())
                    else:
                        await parcel.receive_one(request.stream(), name)
                # Only what has come whole may keep others waiting.
                name = parcel.characters[0].label
                async with self.studio.loading, self.studio.progress(f"Reading {name}"):
                    arrival = await run_in_threadpool(arrive, parcel)
                    offer = self._offer(arrival, slot)
                    if offer is None:
                        self.studio.show(await run_in_threadpool(arrival.actor, slot))
            except ResourceLimitError as error:
                return _answer(UploadAnswer(name, slot, _named(name, error), None), 413)
            except MarrowError as error:
                return _answer(UploadAnswer(name, slot, _named(name, error), None), 422)
            except TimeoutError:
                return _answer(UploadAnswer(name, slot, f"{name}: the upload took too long", None), 408)
            except ClientDisconnect:
                return Response(status_code=400)
        return _answer(UploadAnswer(arrival.name, slot, None, offer))

    def _offer(self, arrival: Arrival, slot: int) -> UploadOffer | None:
        """What a page is asked about motion that fits the character in the slot; None where there is nothing to ask."""
        open_now = self.studio.session.actors.get(slot)
        if open_now is None or not open_now.character.meshes or not arrival.fits(open_now.character):
            return None
        self._number += 1
        self._offers[self._number] = arrival
        while len(self._offers) > MAX_OFFERS:
            self._offers.pop(next(iter(self._offers)))
        return UploadOffer(self._number, open_now.character.name, list(arrival.character.clips))

    async def settle(self, message: p.Settle) -> None:
        """Does what a page wants with the motion it was asked about."""
        arrival, studio = self._offers.pop(message.offer, None), self.studio
        if message.how == "drop":
            return
        open_now = studio.session.actors.get(message.slot)
        if arrival is None or open_now is None or studio.session.driven:
            studio.hub.tell(p.Failure("that file is no longer at hand: drop it once more"))
            return

        def make() -> Actor:
            return (
                actor_with_clips(open_now, arrival) if message.how == "add" else arrival.actor(message.slot)
            )

        first = len(open_now.character.clips)
        try:
            async with studio.loading, studio.progress(f"Reading {arrival.name}"):
                studio.show(await run_in_threadpool(make))
                clips = list(studio.session.actors[message.slot].character.clips)
                if message.how == "add" and message.slot == 0 and len(clips) > first:
                    studio.session.apply(p.PickClip(clips[first]))
        except MarrowError as error:
            studio.hub.tell(p.Failure(str(error)))


def _named(name: str, error: MarrowError) -> str:
    text = str(error)
    return text if text.startswith(f"{name}: ") else f"{name}: {text}"


def _answer(value: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status, media_type="application/json")
