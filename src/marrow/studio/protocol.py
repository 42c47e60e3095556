"""What the studio's server and page say to each other: the one definition both sides derive from.

Text frames of the websocket are JSON objects told apart by `type`; binary ones are in `frames.py`. What the HTTP
addresses under `/api` answer is in `description.py` and `answers.py`. The TypeScript of all of it is `web/src/protocol.ts`
(`make generated`).
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from marrow.errors import ValidationError

__all__ = [
    "MAX_COUNT",
    "MAX_MESSAGE_BYTES",
    "PROTOCOL_VERSION",
    "SOCKET_PROTOCOL",
    "ClientMessage",
    "ServerMessage",
    "decode",
    "encode",
]

PROTOCOL_VERSION = 5
SOCKET_PROTOCOL, TOKEN_PROTOCOL = "marrow", "marrow.token."
"""Subprotocols that a page asks for, in this order: the one that is answered, and the one that ends in the token."""
TOKEN_HEADER, PAGE_HEADER = "x-marrow-token", "x-marrow-page"
"""Headers of requests: the token (also taken as `Authorization: Bearer`), and the number of `Hello.page`."""
MAX_MESSAGE_BYTES = 96 << 10
"""The largest text frame a page may send; a longer one closes its socket."""
MAX_COUNT = 2000
FRAMES_IN_FLIGHT = 2
"""How many frames a page may have unacknowledged before the server waits for it."""

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
    """Plays a clip from its start, faded in over `fade` seconds; the character in slot 1 shows the clip of the same name,
    or one of its own that was picked for it, in step."""

    name: Name
    fade: Annotated[float, Meta(ge=0, le=10)] = 0.0
    slot: Slot = 0


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


class Steer(Message, frozen=True, tag="steer"):
    """Where a character that is played shall go, x and z in the world, at most 1 long; it goes on until told otherwise.
    `jump` jumps once."""

    x: Annotated[float, Meta(ge=-1, le=1)]
    z: Annotated[float, Meta(ge=-1, le=1)]
    run: bool = False
    jump: bool = False


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
    """Where a page looks from, so that instances are sent at the level of detail it needs: the matrix that brings the
    world in front of the camera and the one to the picture, both row by row; the picture's height in pixels; how many
    pixels levels may be off; and the instance that was picked, -1 for none."""

    view: Annotated[list[Finite], Meta(min_length=16, max_length=16)]
    projection: Annotated[list[Finite], Meta(min_length=16, max_length=16)]
    height: Annotated[float, Meta(gt=0, le=100_000)]
    pixels: Annotated[float, Meta(gt=0, le=10_000)] = 1.0
    picked: Annotated[int, Meta(ge=-1, le=1_000_000)] = -1


class ViewChoice(msgspec.Struct, frozen=True):
    """A view by its name, and what follows it: `weights` of `hand_l`."""

    name: Name
    argument: Name = ""


class SetViews(Message, frozen=True, tag="views"):
    """What a page wants drawn (`CharacterInfo.views` has the names), by the way of skinning it shows; a drawing follows
    with the next frame. Of a crowd the instance that was `picked` is drawn. `compare` says what `difference` is
    a difference to: the other way of skinning, the character in slot 1, or the file as it was `before` it was exported
    again. `mask` is
    the path of a node whose mask is shown. `pose`: where the page shows a pose of its own, the joints of the first
    instance in model space, `(J, 3, 4)` float32, as base64."""

    views: Annotated[list[ViewChoice], Meta(max_length=32)]
    method: Literal["file", "linear", "dual_quaternion"] = "file"
    picked: Annotated[int, Meta(ge=-1, le=1_000_000)] = -1
    compare: Literal["skinning", "second", "before"] = "skinning"
    mask: Name | None = None
    pose: Annotated[str, Meta(max_length=90_000)] | None = None


Joint = Annotated[int, Meta(ge=0, le=1_000_000)]


class SetEffector(Message, frozen=True, tag="effector"):
    """Holds a joint of an instance at a place in its own space: the whole body bends for it. Without a place the joint
    stays where the pose has it."""

    joint: Joint
    place: tuple[Finite, Finite, Finite] | None = None
    instance: Annotated[int, Meta(ge=0, le=1_000_000)] = 0


class FreeEffector(Message, frozen=True, tag="free"):
    """Lets a joint go along with the body again."""

    joint: Joint
    instance: Annotated[int, Meta(ge=0, le=1_000_000)] = 0


class ResetEffectors(Message, frozen=True, tag="reset_effectors"):
    """Lets all joints go, of all instances, but for the feet, which stay where the pose has them."""


class SetSpring(Message, frozen=True, tag="spring"):
    """Sets some settings of a chain that swings, or of all (no name)."""

    chain: Name = ""
    stiffness: Annotated[float, Meta(ge=0, le=1e4)] | None = None
    drag: Annotated[float, Meta(ge=0, le=1)] | None = None
    gravity: Annotated[float, Meta(ge=-1e4, le=1e4)] | None = None
    radius: Annotated[float, Meta(ge=0, le=1e4)] | None = None
    limit: Annotated[float, Meta(ge=0, le=3.1415926)] | None = None


class SetWind(Message, frozen=True, tag="wind"):
    """The wind that springs feel, in the world."""

    wind: tuple[Finite, Finite, Finite]


class ResetSprings(Message, frozen=True, tag="reset_springs"):
    """Springs are as the file or the graph has them."""


class SetLevel(Message, frozen=True, tag="level"):
    """Shows everybody at one level of detail; -1 lets each have its own."""

    value: Annotated[int, Meta(ge=-1, le=255)]


class Accept(Message, frozen=True, tag="accept"):
    """What a page can take: compact frames, in which joints have 12 bytes and only those instances are that changed."""

    compact: bool


class Advance(Message, frozen=True, tag="advance"):
    """Lets exactly so many seconds pass, and pauses; a frame follows in any case. For pictures one by one."""

    seconds: Annotated[float, Meta(ge=0, le=10)]


class SetRange(Message, frozen=True, tag="range"):
    """Plays only a part of the clip, from `start` to `end` seconds; None for its own ends."""

    start: Finite | None = None
    end: Finite | None = None


class ReadyGraph(Message, frozen=True, tag="ready_graph"):
    """Runs the graph that the character's clips make (`CharacterInfo.graph_offer`)."""


class EventEntry(msgspec.Struct, frozen=True):
    """An event of a clip at `time` seconds; for `duration` seconds where that is more than 0."""

    time: Annotated[float, Meta(ge=0, le=1e6)]
    name: Annotated[str, Meta(min_length=1, max_length=512)]
    duration: Annotated[float, Meta(ge=0, le=1e6)] = 0.0
    payload: Annotated[str, Meta(max_length=2048)] = ""


class EditClip(Message, frozen=True, tag="edit"):
    """A tool for a clip of the first character: `trim` to `start` and `end`; `loop_seam` over `seconds`; `in_place`,
    `mirror`, `reverse`, `remove`; `rename` to `name`, `duplicate` under `name`; `events` puts `events` in place of
    those there are; `contacts` adds events where feet come down and leave."""

    clip: Name
    tool: Literal[
        "trim",
        "loop_seam",
        "in_place",
        "mirror",
        "reverse",
        "rename",
        "remove",
        "duplicate",
        "events",
        "contacts",
    ]
    start: Finite | None = None
    end: Finite | None = None
    seconds: Annotated[float, Meta(gt=0, le=60)] | None = None
    name: Name | None = None
    events: Annotated[list[EventEntry], Meta(max_length=200)] | None = None


class Undo(Message, frozen=True, tag="undo"):
    """Takes the last edit back."""


class Redo(Message, frozen=True, tag="redo"):
    """Does what was taken back once more."""


class Open(Message, frozen=True, tag="open"):
    """Opens a built-in character by its name."""

    sample: Name
    slot: Slot = 0


class Settle(Message, frozen=True, tag="settle"):
    """What to do with uploaded motion that the page was asked about: put its clips on the character that is open, by
    the bone map; the same with the motion's own skeleton `beside` it; open it by itself, or drop it."""

    offer: Annotated[int, Meta(ge=0, le=1_000_000_000)]
    how: Literal["add", "beside", "open", "drop"]
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
    | Steer
    | SetCount
    | Spread
    | SetTravel
    | Select
    | Look
    | SetViews
    | SetEffector
    | FreeEffector
    | ResetEffectors
    | SetSpring
    | SetWind
    | ResetSprings
    | SetLevel
    | Accept
    | Advance
    | SetRange
    | ReadyGraph
    | EditClip
    | Undo
    | Redo
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


class EffectorState(msgspec.Struct, frozen=True):
    """A joint that is held, and where, in the space of each instance: its number, x, y and z. Instances that are not among
    them have it where the pose has it; only the first that hold any are told."""

    joint: int
    places: list[tuple[int, float, float, float]]


class SpringState(msgspec.Struct, frozen=True):
    """A chain that swings: its name, how many joints it has, and how it is set."""

    name: str
    joints: int
    stiffness: float
    drag: float
    gravity: float
    radius: float
    limit: float


class State(Message, frozen=True, tag="state"):
    """What the session is set to. Sent whole when something in it changes; time as it passes is in the
    frames. `rate` is the clip's frames per second; `range` the part of it that is played, None for the whole. `level`
    is the one that is forced, -1 for none. `driven`: a Python program updates the animator itself, so playback is not
    the page's to control; `driver` says which. `graph`: there is a graph to run. `undo` and `redo`: what these would
    do, in words. `max_count`: how many of this character there may be.
    `second_clip`: what the character in slot 1 plays. `playable`: it is a controller's, and goes where `Steer` says.
    `effectors`: the joints of the first character that are held; `springs`: its chains that swing, `wind`: what they
    feel."""

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
    range: tuple[float, float] | None
    driver: str | None
    graph: bool
    undo: str | None
    redo: str | None
    max_count: int
    second_clip: str | None
    playable: bool
    effectors: list[EffectorState]
    springs: list[SpringState]
    wind: tuple[float, float, float]


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
    """What the last second cost. `characters_per_s`: how many instances were sent anew; `wire_error`: how far compact
    frames may put a vertex off, in metres, 0 where frames are not compact."""

    ms_per_update: float
    us_per_character: float
    kb_per_s: float
    fps: float
    clients: int
    characters_per_s: float
    wire_error: float


class Progress(Message, frozen=True, tag="progress"):
    """Something that takes a while; `fraction` from 0 to 1, at 1 it is done. -1: nobody knows."""

    text: str
    fraction: float


class Failure(Message, frozen=True, tag="error"):
    """Something could not be done, in words."""

    message: str


class Difference(msgspec.Struct, frozen=True):
    """What differs between a file and the same file exported again. `vertices_moved`, and the `largest` way in metres,
    where the meshes are `comparable`: the same numbers of vertices (`/api/difference/{slot}`)."""

    joints_added: list[str]
    joints_removed: list[str]
    joints_moved: list[str]
    clips_added: list[str]
    clips_removed: list[str]
    clips_changed: list[str]
    meshes_changed: list[str]
    vertices_moved: int
    largest: float
    comparable: bool


class Changed(Message, frozen=True, tag="changed"):
    """The character of a slot is another one now: fetch it again. `present` is false where there is none. `kept`: it is
    still the same one (exported again, a clip edited, motion added), so camera and choices stay; `meshes` is false
    where its buffers are the same too."""

    slot: int
    present: bool
    kept: bool = False
    meshes: bool = True
    difference: Difference | None = None


class SampleInfo(msgspec.Struct, frozen=True):
    """A built-in character."""

    name: str
    description: str


class Hello(Message, frozen=True, tag="hello"):
    """The first message: the protocol's version, the session's state, recent history, and what can be opened. `page` is
    what the page is known by: it says so in its requests (`PAGE_HEADER`), so that it waits for itself and others do
    not wait for it."""

    version: int
    server: str
    page: str
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
