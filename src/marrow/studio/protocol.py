"""What the studio's server and page say to each other: the one definition both sides derive from.

Text frames of the websocket are JSON objects told apart by `type`; binary frames are `FRAME_HEADER`
followed by float32 arrays. What the HTTP addresses under `/api` answer is in `description.py`. `python -m
marrow.studio.protocol` prints the TypeScript of all of it, which is committed as `web/src/protocol.ts`.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from marrow.errors import ValidationError

__all__ = [
    "MAX_COUNT",
    "MAX_MESSAGE_BYTES",
    "PROTOCOL_VERSION",
    "ClientMessage",
    "ServerMessage",
    "decode",
    "encode",
    "pack_frame",
    "unpack_frame",
]

Array = NDArray[Any]

PROTOCOL_VERSION = 2
MAX_MESSAGE_BYTES = 16 << 10
"""The largest text frame a page may send; a longer one closes its socket."""
MAX_COUNT = 2000
FRAMES_IN_FLIGHT = 2
"""How many frames a page may have unacknowledged before the server waits for it."""
FRAME_MAGIC = 0x4D525731
FRAME_HEADER = struct.Struct("<6If1I")
"""magic, frame, slot, N instances, P palette entries, M morph weights, time in seconds (float32), flags."""
HAS_PLACEMENTS = 1
HAS_LEVELS = 2

Name = Annotated[str, Meta(max_length=512)]
Finite = Annotated[float, Meta(ge=-1e9, le=1e9)]
Slot = Annotated[int, Meta(ge=0, le=1)]
Mode = Literal["clip", "graph"]


class Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    """Anything said over the websocket."""


# -- page to server ------------------------------------------------------------------------------------------
class Play(Message, frozen=True, tag="play"):
    """Lets time pass, or stops it."""

    playing: bool


class PickClip(Message, frozen=True, tag="clip"):
    """Plays a clip from its start, faded in over `fade` seconds."""

    name: Name
    fade: Annotated[float, Meta(ge=0, le=10)] = 0.0


class Seek(Message, frozen=True, tag="seek"):
    """Goes to a time of the clip, in seconds."""

    time: Finite


class Step(Message, frozen=True, tag="step"):
    """Goes forward (or back) by frames of the clip, and pauses."""

    frames: Annotated[int, Meta(ge=-100_000, le=100_000)]


class SetSpeed(Message, frozen=True, tag="speed"):
    """How fast time passes: 1 is real time, negative runs clips backwards."""

    value: Annotated[float, Meta(ge=-10, le=10)]


class SetLoop(Message, frozen=True, tag="loop"):
    """Whether a clip starts over at its end."""

    value: bool


class SetMode(Message, frozen=True, tag="mode"):
    """Plays single clips, or the graph."""

    value: Mode


class SetParameter(Message, frozen=True, tag="parameter"):
    """Sets a parameter of the graph for all instances (around it, where the crowd is spread)."""

    name: Name
    # No range on the number: msgspec 0.22 crashes on a union of a tuple and a constrained float.
    value: bool | float | tuple[Finite, Finite, Finite]


class Fire(Message, frozen=True, tag="trigger"):
    """Fires a trigger of the graph."""

    name: Name


class SetCount(Message, frozen=True, tag="count"):
    """How many instances there are."""

    value: Annotated[int, Meta(ge=1, le=MAX_COUNT)]


class Spread(Message, frozen=True, tag="spread"):
    """Whether parameters and times differ from instance to instance in a crowd."""

    on: bool


class SetTravel(Message, frozen=True, tag="travel"):
    """Whether characters go over the floor where their motion takes them; from their places, each time it is said."""

    on: bool


class Select(Message, frozen=True, tag="select"):
    """The joint that is looked at, -1 for none."""

    joint: Annotated[int, Meta(ge=-1, le=1_000_000)]


class Look(Message, frozen=True, tag="look"):
    """Where a page looks from, so that instances are sent at the level of detail it needs: the matrix that brings the world
    in front of the camera and the one to the picture, both row by row; the picture's height in pixels; how many pixels
    levels may be off; and the instance that was picked, -1 for none."""

    view: Annotated[list[Finite], Meta(min_length=16, max_length=16)]
    projection: Annotated[list[Finite], Meta(min_length=16, max_length=16)]
    height: Annotated[float, Meta(gt=0, le=100_000)]
    pixels: Annotated[float, Meta(gt=0, le=10_000)] = 1.0
    picked: Annotated[int, Meta(ge=-1, le=1_000_000)] = -1


class SetLevel(Message, frozen=True, tag="level"):
    """Shows everybody at one level of detail; -1 lets each have its own."""

    value: Annotated[int, Meta(ge=-1, le=255)]


class Open(Message, frozen=True, tag="open"):
    """Opens a built-in character by its name."""

    sample: Name
    slot: Slot = 0


class Settle(Message, frozen=True, tag="settle"):
    """What to do with uploaded motion that the page was asked about: add its clips to the character that is open,
    open it by itself, or drop it."""

    offer: Annotated[int, Meta(ge=0, le=1_000_000_000)]
    how: Literal["add", "open", "drop"]
    slot: Slot = 0


class CloseSlot(Message, frozen=True, tag="close"):
    """Ends the comparison: removes the second character."""

    slot: Annotated[int, Meta(ge=1, le=1)]


class Ack(Message, frozen=True, tag="ack"):
    """A frame, and all before it, has been taken."""

    frame: Annotated[int, Meta(ge=0, le=0xFFFFFFFF)]


ClientMessage = (
    Play
    | PickClip
    | Seek
    | Step
    | SetSpeed
    | SetLoop
    | SetMode
    | SetParameter
    | Fire
    | SetCount
    | Spread
    | SetTravel
    | Select
    | Look
    | SetLevel
    | Open
    | Settle
    | CloseSlot
    | Ack
)


# -- server to page ------------------------------------------------------------------------------------------
class HistoryEntry(msgspec.Struct, frozen=True):
    """A state that was entered: which machine, which state, when (seconds of the session's own time)."""

    machine: str
    state: str
    at: float


class State(Message, frozen=True, tag="state"):
    """What the session is set to. Sent whole when something in it changes; time as it passes is in the
    frames. `rate` is the clip's frames per second. `level` is the one that is forced, -1 for none. `driven`: a Python
    program updates the animator itself, so playback is not the page's to control."""

    mode: Mode
    clip: str | None
    time: float
    duration: float
    rate: float
    playing: bool
    speed: float
    loop: bool
    count: int
    spread: bool
    travel: bool
    parameters: dict[str, bool | float | tuple[float, float, float]]
    selected: int
    slots: list[int]
    driven: bool
    level: int


class MachineState(msgspec.Struct, frozen=True):
    """Where an instance is in one machine: `progress` from 0 to 1 while it goes there from
    `source`."""

    machine: str
    state: str
    source: str | None = None
    progress: float = 1.0


class Live(Message, frozen=True, tag="live"):
    """What a running graph does, for the instance `instance`: its machines, how much each node shows (in the
    order of `GraphInfo.nodes`), the values parameters have reached, the states entered since the last such
    message. `time` is the session's own."""

    instance: int
    time: float
    machines: list[MachineState]
    weights: list[float]
    values: dict[str, float]
    entered: list[HistoryEntry]


class Stats(Message, frozen=True, tag="stats"):
    """What the last second cost."""

    ms_per_update: float
    us_per_character: float
    kb_per_s: float
    fps: float
    clients: int


class Progress(Message, frozen=True, tag="progress"):
    """Something that takes a while; `fraction` from 0 to 1, at 1 it is done. -1: nobody knows."""

    text: str
    fraction: float


class Failure(Message, frozen=True, tag="error"):
    """Something could not be done, in words."""

    message: str


class Changed(Message, frozen=True, tag="changed"):
    """The character of a slot is another one now: fetch it again. `present` is false where there is none."""

    slot: int
    present: bool


class SampleInfo(msgspec.Struct, frozen=True):
    """A built-in character."""

    name: str
    description: str


class Hello(Message, frozen=True, tag="hello"):
    """The first message: the protocol's version, the session's state, recent history, and what can be
    opened."""

    version: int
    server: str
    state: State
    history: list[HistoryEntry]
    samples: list[SampleInfo]
    max_count: int
    max_upload_bytes: int


ServerMessage = Hello | State | Live | Stats | Progress | Failure | Changed

_decoder = msgspec.json.Decoder(ClientMessage)
_encoder = msgspec.json.Encoder()


def decode(text: str | bytes) -> ClientMessage:
    """A message from a page, or a `ValidationError` in words that say what was wrong with it."""
    if len(text) > MAX_MESSAGE_BYTES:
        raise ValidationError(
            f"a message may have at most {MAX_MESSAGE_BYTES} bytes, this one has {len(text)}"
        )
    try:
        return _decoder.decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, UnicodeEncodeError, RecursionError) as error:
        raise ValidationError(f"not a message of the studio: {error}") from None


def encode(message: ServerMessage) -> str:
    """The text frame of a message. JSON knows no infinity: such a number becomes null."""
    return _encoder.encode(message).decode()


def pack_frame(
    *,
    frame: int,
    slot: int,
    time: float,
    matrices: Array | None = None,
    groups: Sequence[tuple[int, Array, Array]] = (),
    morphs: Array,
    palette: int = 0,
    placements: Array | None = None,
) -> bytes:
    """A binary frame: skinning matrices `(N, P, 3, 4)`, weights of the morph targets `(N, M)`, and where
    the instances stand, `(N, 3, 4)`, when that has changed. Or, in place of the matrices, groups of instances by level of
    detail: the level, their numbers `(n,)`, and matrices `(n, E, 3, 4)` of the first entries of a palette of `palette`."""
    header = FRAME_HEADER.pack(
        FRAME_MAGIC,
        frame & 0xFFFFFFFF,
        slot,
        len(morphs),
        palette if matrices is None else matrices.shape[1],
        morphs.shape[-1],
        time if math.isfinite(time) else 0.0,
        (0 if placements is None else HAS_PLACEMENTS) | (HAS_LEVELS if matrices is None else 0),
    )
    parts = [header]
    if matrices is None:
        table = [len(groups), *(v for level, who, m in groups for v in (level, len(who), m.shape[1]))]
        parts.append(np.array(table, "<u4").tobytes())
        parts += [np.ascontiguousarray(who, "<u4").tobytes() for _, who, _ in groups]
        parts += [np.ascontiguousarray(m, "<f4").tobytes() for _, _, m in groups]
    else:
        parts.append(np.ascontiguousarray(matrices, "<f4").tobytes())
    if morphs.size:
        parts.append(np.ascontiguousarray(morphs, "<f4").tobytes())
    if placements is not None:
        parts.append(np.ascontiguousarray(placements, "<f4").tobytes())
    return b"".join(parts)


class Frame(msgspec.Struct, frozen=True):
    """A binary frame, taken apart: `matrices`, or `groups` of (level, instances, matrices)."""

    frame: int
    slot: int
    time: float
    matrices: Any
    groups: Any
    morphs: Any
    placements: Any


def unpack_frame(data: bytes) -> Frame:
    """The inverse of `pack_frame`, for tests and other clients."""
    if len(data) < FRAME_HEADER.size:
        raise ValidationError(f"a frame has at least {FRAME_HEADER.size} bytes, this one has {len(data)}")
    magic, frame, slot, N, P, M, time, flags = FRAME_HEADER.unpack_from(data)
    if magic != FRAME_MAGIC or len(data) % 4:
        raise ValidationError("not a frame of the studio")
    words = np.frombuffer(data, "<u4", offset=FRAME_HEADER.size)
    at, sizes, levels, members = 0, [N * P * 12], [], []
    if flags & HAS_LEVELS:
        if not len(words) or len(words) < 1 + 3 * int(words[0]):
            raise ValidationError("not a frame of the studio")
        table = words[1 : 1 + 3 * int(words[0])].reshape(-1, 3).astype(np.int64)
        at, levels = 1 + table.size, table[:, [0, 2]].tolist()
        for n in table[:, 1].tolist():
            members.append(words[at : at + n])
            at += n
        sizes = (12 * table[:, 1] * table[:, 2]).tolist()
    sizes = [*sizes, N * M, N * 12 if flags & HAS_PLACEMENTS else 0]
    if len(words) != at + sum(sizes):
        raise ValidationError("not a frame of the studio")
    *found, morphs, placements = np.split(words[at:].view("<f4"), np.cumsum(sizes)[:-1])
    by_level = bool(flags & HAS_LEVELS)
    groups = [(k, who, m.reshape(len(who), E, 3, 4)) for (k, E), who, m in zip(levels, members, found)]
    return Frame(
        frame,
        slot,
        time,
        None if by_level else found[0].reshape(N, P, 3, 4),
        groups if by_level else None,
        morphs.reshape(N, M),
        placements.reshape(N, 3, 4) if flags & HAS_PLACEMENTS else None,
    )


if __name__ == "__main__":
    from marrow.studio.typescript import main

    main()
