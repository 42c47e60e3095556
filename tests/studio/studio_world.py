"""A small character with clips, morphs and a graph, a studio served on a free port, and a page that talks to it."""

from __future__ import annotations

import contextlib
import http.client
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import numpy as np
from websockets.sync.client import connect

import marrow as mw
from builders import rotations
from marrow.graph import BlendSpace2D, Graph, LayerBlend, Parameter, State, StateMachine, Transition
from marrow.math import affine
from marrow.studio import protocol as p
from marrow.studio.actor import Origin, StudioActor
from marrow.studio.address import listen
from marrow.studio.app import Studio
from marrow.studio.drawing_frames import DRAWING_MAGIC, unpack_drawing
from marrow.studio.frames import DecodedFrame, unpack_frame
from marrow.studio.server import Server
from surroundings import HANG_SECONDS

TOKEN = "test-token_1"
JOINTS, VERTICES = 5, 24


def small_character(seed: int = 3, *, clips: bool = True, name: str = "arm") -> mw.Character:
    """Five joints, a mesh with three influences and two morph targets, a rigid prop, two clips."""
    rng = np.random.default_rng(seed)
    rest = mw.Pose(rng.normal(0, 0.3, (JOINTS, 3)), rotations(rng, (JOINTS,)), np.ones((JOINTS, 3)))
    bones = mw.Skeleton(
        ("root", "upper", "lower", "hand", "head"),
        [-1, 0, 1, 2, 0],
        rest,
        morph_names=("smile", "blink"),
        sockets=(mw.Socket("grip", 3, translation=np.array([0, 0.1, 0])),),
    )
    weights = rng.random((VERTICES, 3))
    weights[::4, 1:] = 0
    targets = tuple(
        mw.MorphTarget(n, k, rng.normal(0, 0.1, (VERTICES, 3)), rng.normal(0, 0.1, (VERTICES, 3)))
        for k, n in enumerate(bones.morph_names)
    )
    normals = rng.normal(size=(VERTICES, 3))
    body = mw.Mesh(
        "body",
        rng.normal(size=(VERTICES, 3)),
        rng.integers(0, VERTICES, (30, 3)),
        joints=rng.integers(0, JOINTS, (VERTICES, 3)),
        weights=mw.normalize_weights(weights)[0],
        joint_list=np.arange(JOINTS),
        inverse_bind=affine.invert(bones.rest_model),
        normals=normals / np.linalg.norm(normals, axis=1, keepdims=True),
        uvs=(rng.random((VERTICES, 2)),),
        sections=(mw.Section(0, 10, 0, "skin"), mw.Section(10, 20, None)),
        morph_targets=targets,
    )
    prop = mw.Mesh.rigid("prop", rng.normal(size=(4, 3)), [[0, 1, 2], [1, 2, 3]], 3)
    image = mw.Image("dot", "image/png", b"\x89PNG\r\n\x1a\nnot really")
    skin = mw.Material("skin", base_color_texture=mw.Texture(0))
    return mw.Character(
        bones,
        (body, prop),
        [_clip("wave", bones, rng, 1.0), _clip("bend", bones, rng, 0.5)] if clips else [],  # type: ignore[arg-type]
        (skin,),
        (image,),
        name=name,
    )


def _clip(name: str, bones: mw.Skeleton, rng: np.random.Generator, seconds: float) -> mw.Clip:
    times = np.linspace(0, seconds, 11)
    tracks = [mw.Track(j, "rotation", times, rotations(rng, (11,))) for j in range(JOINTS)]
    tracks.append(mw.Track(1, "translation", times, rng.normal(0, 0.2, (11, 3))))
    tracks.append(mw.Track(0, "morph", times, rng.random(11)))
    return mw.Clip(name, bones, tracks, events=(mw.Event(seconds / 2, "half"),), rate=20.0)  # type: ignore[arg-type]


def small_graph() -> Graph:
    """Walks about in a plane until told to wave; the head may be laid over."""
    plane = BlendSpace2D.of(
        "x", "y", {(0, 0): "wave", (1, 0): "bend", (0, 1): "bend", (1, 1): "wave"}, sync=False
    )
    machine = StateMachine(
        {"move": State(plane), "greet": State("wave")},
        (
            Transition("move", "greet", ("hello",), seconds=0.2),
            Transition("greet", "move", ("elapsed >= 5",), seconds=0.2),
        ),
    )
    return Graph(
        LayerBlend(machine, "bend", joints=("head",), weight="nod"),
        {
            "x": Parameter(range=(0.0, 1.0)),
            "y": Parameter(range=(0.0, 1.0)),
            "nod": Parameter(),
            "calm": Parameter("bool"),
            "hello": Parameter("trigger"),
        },
        name="small",
    )


def small_actor(slot: int = 0, *, graph: bool = False, **options: Any) -> StudioActor:
    return StudioActor(
        small_character(**options), slot, Origin("python", ""), graph=small_graph() if graph else None
    )


@dataclass
class Answer:
    """What the server answered over HTTP."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Site:
    """A studio being served."""

    studio: Studio
    server: Server

    @property
    def port(self) -> int:
        return self.server.port

    def request(
        self,
        path: str,
        *,
        token: str | None = TOKEN,
        verb: str = "GET",
        body: Any = None,
        headers: dict[str, str] | None = None,
        **query: Any,
    ) -> Answer:
        """One request; `Host` is what http.client makes of the address unless `headers` say otherwise."""
        headers = dict(headers or {})
        if token is not None:
            headers.setdefault(p.TOKEN_HEADER, token)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANG_SECONDS)
        try:
            connection.request(verb, f"{path}?{urlencode(query)}" if query else path, body, headers)
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    @contextlib.contextmanager
    def page(self, *, token: str | None = TOKEN, **options: Any) -> Iterator[Page]:
        """A page that is connected and has been greeted."""
        with connected(f"127.0.0.1:{self.port}", token, close_timeout=0.5, **options) as socket:
            page = Page(socket)
            page.hello = page.wait("hello")
            try:
                yield page
            finally:
                # A page that has not read all it was sent would wait for a goodbye it cannot hear.
                with contextlib.suppress(OSError):
                    socket.socket.shutdown(2)


@dataclass
class Drawn:
    """What a page has of the drawing of a slot, and how large the messages were."""

    text: Any = None
    arrays: dict[str, Any] = field(default_factory=dict)
    bytes: list[int] = field(default_factory=list)


@dataclass
class Page:
    """One browser's end of the websocket. Frames are acknowledged as they come, unless `acknowledge` is off."""

    socket: Any
    acknowledge: bool = True
    hello: dict[str, Any] = field(default_factory=dict)
    frames: list[DecodedFrame] = field(default_factory=list)
    drawings: dict[int, Drawn] = field(default_factory=dict)

    def send(self, type: str, **values: Any) -> None:
        self.socket.send(json.dumps({"type": type, **values}))

    def receive(self) -> dict[str, Any] | DecodedFrame:
        """The next thing the server says."""
        data = self.socket.recv(timeout=HANG_SECONDS)
        while isinstance(data, bytes) and data[:4] == DRAWING_MAGIC.to_bytes(4, "little"):
            self._take_drawing(data)
            data = self.socket.recv(timeout=HANG_SECONDS)
        if isinstance(data, bytes):
            frame = unpack_frame(data)
            self.frames.append(frame)
            if self.acknowledge:
                self.send("ack", frame=frame.frame)
            return frame
        return json.loads(data)

    def _take_drawing(self, data: bytes) -> None:
        _, slot, info, arrays = unpack_drawing(data)
        drawn = self.drawings.setdefault(slot, Drawn())
        drawn.bytes.append(len(data))
        drawn.text = info.text or drawn.text
        drawn.arrays.update(arrays)

    def wait(self, type: str, **values: Any) -> dict[str, Any]:
        """Reads on until a message of that type with those values comes."""
        while True:
            said = self.receive()
            if (
                isinstance(said, dict)
                and said["type"] == type
                and all(said[k] == v for k, v in values.items())
            ):
                return said

    def frame(self, slot: int = 0) -> DecodedFrame:
        """Reads on until a frame of that slot comes."""
        while True:
            said = self.receive()
            if isinstance(said, DecodedFrame) and said.slot == slot:
                return said

    def ask(self, type: str, **values: Any) -> None:
        """Sends a message, and reads on until the server has done all it had to before and because of it."""
        self.send(type, **values)
        self.sync()

    def sync(self) -> None:
        """Reads on until what was sent has been taken: an answer to something only an error can answer."""
        self.send("clip", name="no such clip")
        self.wait("error")


def connected(host: str, token: str | None, path: str = "/ws", **options: Any) -> Any:
    """A websocket to a studio, opened as a page opens it."""
    asked = [p.SOCKET_PROTOCOL] + ([p.TOKEN_PROTOCOL + token] if token else [])
    options = {
        "max_size": None,
        "compression": None,
        "open_timeout": HANG_SECONDS,
        "ping_interval": None,
        **options,
    }
    return connect(f"ws://{host}{path}", subprotocols=asked, **options)


def upload(site: Site, data: Any, name: str = "other.glb", slot: int = 0, **options: Any) -> Answer:
    """Sends a file as a page does."""
    return site.request("/api/upload", verb="POST", body=data, name=name, slot=slot, **options)


def fresh(site: Site, *actors: StudioActor) -> Site:
    """A studio that is served already, as if it had just been opened with those actors: starting one takes time."""
    hub, session = site.studio.hub, site.studio.session

    def begin() -> bool:
        for client in hub.clients:
            client.texts.clear()
        if hub.clients or site.studio.jobs.waiting:
            return False  # those of the test before are still leaving
        frame, revision = session.frame, session.revision
        session.__init__()  # type: ignore[misc]
        session.frame, session.revision = frame, revision + 1
        site.studio.uploads._offers.clear()
        hub._live_due, hub._live_at, hub._told_at = False, 0.0, 0.0
        for actor in actors:
            session.put(actor)
        return True

    done: list[bool] = []
    while not any(done):
        site.server.wait_for(lambda: done.append(begin()))
    return site


@contextlib.contextmanager
def serving(*actors: StudioActor, **options: Any) -> Iterator[Site]:
    """A studio with those actors, on a free port."""
    studio = Studio(TOKEN, **options)
    for actor in actors:
        studio.session.put(actor)
    server = Server(studio, listen("127.0.0.1", 0))
    server.start()
    try:
        yield Site(studio, server)
    finally:
        server.close()
