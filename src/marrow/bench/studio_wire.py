"""The studio's server as a page meets it: paced at sixty updates a second, with a page in a process of its own.

Back-to-back calls find everything in the processor's caches; an update every sixtieth of a second does not, and
that is what a user pays. `python -m marrow.bench.studio_wire ADDRESS SECONDS INPUTS` is the page.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import time
from socket import IPPROTO_TCP, TCP_NODELAY

from marrow.bench.body import synthetic_body
from marrow.graph import Graph

__all__ = ["WireTimes", "measure"]

TOKEN = "bench"
CLIP_SECONDS = 1.0
"""How long the clips of `synthetic_body` are."""


class WireTimes:
    """What was measured, in seconds: updates of the server, and inputs until their frame had come."""

    def __init__(self, updates: list[float], inputs: list[float]) -> None:
        self.updates, self.inputs = sorted(updates), sorted(inputs)

    @property
    def update_median(self) -> float:
        return statistics.median(self.updates)

    @property
    def update_95(self) -> float:
        """Nineteen in twenty updates take no longer."""
        return self.updates[int(0.95 * len(self.updates))]

    @property
    def input_median(self) -> float:
        return statistics.median(self.inputs)

    @property
    def input_worst(self) -> float:
        return self.inputs[-1]


def measure(graph: Graph | None, count: int, *, seconds: float = 5.0, inputs: int = 0) -> WireTimes:
    """Serves `count` characters to one page for some seconds, and to its `inputs`, which need a clip to seek in."""
    from marrow.studio.actor import Origin, StudioActor
    from marrow.studio.address import listen
    from marrow.studio.app import Studio
    from marrow.studio.server import Server

    studio = Studio(TOKEN)
    studio.session.put(StudioActor(synthetic_body(1000), 0, Origin("python", ""), graph=graph))
    studio.session.count = count
    updates: list[float] = []
    step = studio.hub.step

    def timed(passed: float) -> None:
        began = time.perf_counter()
        step(passed)
        updates.append(time.perf_counter() - began)

    studio.hub.step = timed  # type: ignore[method-assign,assignment]
    server = Server(studio, listen("127.0.0.1", 0))
    server.start()
    try:
        address = f"ws://127.0.0.1:{server.port}/ws"
        command = [sys.executable, "-m", "marrow.bench.studio_wire", address, str(seconds), str(inputs)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    finally:
        server.close()
    # The first updates compile, allocate and grow the crowd.
    return WireTimes(updates[30:], json.loads(done.stdout))


def watch(address: str, seconds: float, inputs: int) -> list[float]:
    """A page that takes every frame at once; then, at odd moments, seeks, and waits for the frame that shows it."""
    from websockets.sync.client import connect
    from websockets.typing import Subprotocol

    from marrow.studio import protocol as p
    from marrow.studio.frames import unpack_frame

    asked = [Subprotocol(p.SOCKET_PROTOCOL), Subprotocol(f"{p.TOKEN_PROTOCOL}{TOKEN}")]
    with connect(address, subprotocols=asked, max_size=None, compression=None) as socket:
        # As browsers do: small messages leave at once.
        socket.socket.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)

        def frame_time(timeout: float) -> float | None:
            try:
                data = socket.recv(timeout=timeout)
            except TimeoutError:
                return None
            if not isinstance(data, bytes):
                return None
            frame = unpack_frame(data)
            socket.send(json.dumps({"type": "ack", "frame": frame.frame}))
            return frame.time

        def look_on(until: float) -> None:
            while (left := until - time.perf_counter()) > 0:
                frame_time(left)

        look_on(time.perf_counter() + seconds)
        found = []
        for k in range(inputs):
            look_on(time.perf_counter() + random.uniform(0.03, 0.06))
            target = CLIP_SECONDS * (0.1 if k % 2 else 0.6)
            began = time.perf_counter()
            socket.send(json.dumps({"type": "seek", "time": target}))
            while (shown := frame_time(10.0)) is None or not 0 <= shown - target < 0.15 * CLIP_SECONDS:
                pass
            found.append(time.perf_counter() - began)
        return found


if __name__ == "__main__":
    print(json.dumps(watch(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))))
