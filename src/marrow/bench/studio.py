"""`marrow bench studio`: what the studio's server costs per update, from time to the bytes a page is sent."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable
from typing import Any

from marrow.bench import studio_wire
from marrow.bench.body import synthetic_body
from marrow.bench.harness import Contest
from marrow.bench.studio_picture import CannotLook, command, first_picture
from marrow.graph import BlendSpace1D, Graph, LayerBlend, Parameter, State, StateMachine, Transition
from marrow.studio import protocol as p
from marrow.studio.actor import Origin, StudioActor
from marrow.studio.app import Studio
from marrow.studio.client import Client
from marrow.studio.hub import Hub

__all__ = ["contests", "measurements"]

FRAME = 1 / 60
GOALS = {1: 0.5e-3, 200: 4e-3}
"""Seconds an update may take, by characters."""
BYTES_PER_SECOND = 200_000
CROWD_BYTES_PER_SECOND = {200: 20_000_000, 2000: 60_000_000}
SERVED_SECONDS = 0.5
FIRST_PICTURE_SECONDS = 2.0
INPUT_SECONDS = 2 / 60
"""Two frames of the engine."""


def contests() -> list[Contest]:
    """One character and a crowd, clip by clip and by a graph."""
    found = []
    for count in (1, 200, 2000):
        for what, graph in (("a clip", None), ("a graph", _graph())):
            contest = Contest(
                f"studio, {count:,} x 67 joints playing {what}", "update", 1, goal=GOALS.get(count)
            )
            contest.entries["marrow"] = updating(graph, count)
            found.append(contest)
    return found


def measurements() -> dict[str, Any]:
    """What really paced updates cost, how long inputs take, bytes to a page, and how long after the command it gets its
    first frame."""
    paced = {(what, count): wire(what, count) for count in GOALS for what in ("a clip", "a graph")}
    one = paced["a clip", 1]
    return {
        "update really paced at 60 Hz with a page, median": {
            **{f"{count} playing {what}": w.update_median for (what, count), w in paced.items()},
            **{f"at most, for {count}": goal for count, goal in GOALS.items()},
        },
        "update really paced at 60 Hz with a page, 95 of 100 take no longer than": {
            f"{count} playing {what}": w.update_95 for (what, count), w in paced.items()
        },
        "from an input to its frame at the page, 100 times while playing": {
            "median": one.input_median,
            "worst": one.input_worst,
            "at most": INPUT_SECONDS,
        },
        "one 67-joint character, what a page is sent per second in bytes": {
            "a clip": _bytes_per_second(None),
            "a graph": _bytes_per_second(_graph()),
            "at most": BYTES_PER_SECOND,
        },
        "crowds of 67 joints without levels of detail, what a page is sent per second in bytes": {
            **{f"{count}": _crowd_bytes_per_second(count) for count in CROWD_BYTES_PER_SECOND},
            **{f"at most, for {count}": most for count, most in CROWD_BYTES_PER_SECOND.items()},
        },
        "seconds from `marrow view mannequin` to the page being served": {
            "whatever the browser does, best of 5": min(served() for _ in range(5)),
            "at most": SERVED_SECONDS,
        },
        "seconds from `marrow view mannequin` to the first picture": {
            "on the wire": min(first_frame() for _ in range(3)),
            **_pictures(),
            "at most": FIRST_PICTURE_SECONDS,
        },
    }


def _pictures() -> dict[str, Any]:
    """In a browser, where there is one."""
    try:
        taken = sorted(first_picture(5))
    except CannotLook as error:
        return {"in Chromium": f"not measured: {error}"}
    return {"in Chromium, drawn by the processor, best of 5": taken[0], "median": taken[len(taken) // 2]}


def wire(what: str, count: int) -> studio_wire.WireTimes:
    """Paced updates, and for one character that plays a clip a hundred inputs."""
    inputs = 100 if (what, count) == ("a clip", 1) else 0
    return studio_wire.measure(_graph() if what == "a graph" else None, count, inputs=inputs)


def _graph() -> Graph:
    """A blend of walks under a state machine, a layer over it: what games do."""
    walk = BlendSpace1D.of("speed", {0.0: "motion_0", 1.0: "motion_1", 2.0: "motion_2"})
    machine = StateMachine(
        {"walk": State(walk), "act": State("motion_3")},
        (Transition("walk", "act", ("act",)), Transition("act", "walk", ("remaining <= 0.2",))),
    )
    return Graph(
        LayerBlend(machine, "motion_3", joints=("joint_20",), weight=0.5),
        {"speed": Parameter(range=(0.0, 2.0), default=0.7), "act": Parameter("trigger")},
    )


class _Page:
    """A page that takes all it is sent, and counts it."""

    def __init__(self, hub: Hub) -> None:
        self.client = Client(None)  # type: ignore[arg-type]
        self.client.compact = True
        self.bytes = 0
        hub.clients.add(self.client)

    def take(self) -> None:
        client = self.client
        for message in client.texts.values():
            self.bytes += len(p.encode(message))
        client.texts.clear()
        for picture in client.pictures.values():
            self.bytes += len(client.packed(picture))
        client.pictures = {}


def _studio(graph: Graph | None, count: int) -> tuple[Hub, _Page]:
    studio = Studio("bench")
    studio.session.put(StudioActor(synthetic_body(1000), 0, Origin("python", ""), graph=graph))
    studio.session.count = count
    return studio.hub, _Page(studio.hub)


def updating(graph: Graph | None, count: int) -> Callable[[], object]:
    """One update of the server with one page, as a call."""
    hub, page = _studio(graph, count)

    def update() -> None:
        hub.step(FRAME)
        page.take()

    return update


def _bytes_per_second(graph: Graph | None) -> int:
    hub, page = _studio(graph, 1)
    hub.step(FRAME)
    page.take()
    page.bytes = 0
    for _ in range(60):
        hub.step(FRAME)
        page.take()
        time.sleep(FRAME)
    return page.bytes


def _crowd_bytes_per_second(count: int) -> int:
    """Sixty updates, each a sixtieth of a second of motion."""
    hub, page = _studio(None, count)
    for k in range(63):
        if k == 3:
            page.bytes = 0
        hub.session.tick(FRAME)
        page.client.show(hub.session.look())
        page.take()
    return page.bytes


def served() -> float:
    """Starts the command in a process of its own, and asks for the page as soon as it says where that is."""
    from urllib.request import urlopen

    began = time.perf_counter()
    process = subprocess.Popen(command(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        address = re.search(r"http://\S+", process.stdout.readline())
        if address is None:
            raise RuntimeError("marrow view did not start")
        urlopen(address[0]).read()
        return time.perf_counter() - began
    finally:
        process.terminate()
        process.communicate()


def first_frame() -> float:
    """Starts the command in a process of its own, as a user does, and connects as soon as it says where."""
    from websockets.sync.client import connect
    from websockets.typing import Subprotocol

    began = time.perf_counter()
    process = subprocess.Popen(command(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        address = re.search(r"http://(\S+)/#token=(\S+)", process.stdout.readline())
        if address is None:
            raise RuntimeError("marrow view did not start")
        asked = [Subprotocol(p.SOCKET_PROTOCOL), Subprotocol(p.TOKEN_PROTOCOL + address[2])]
        with connect(f"ws://{address[1]}/ws", subprotocols=asked, max_size=None, compression=None) as page:
            while not isinstance(page.recv(), bytes):
                pass
        return time.perf_counter() - began
    finally:
        process.terminate()
        process.communicate()
