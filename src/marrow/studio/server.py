"""`Server`: a studio served from a thread of its own, beside whatever the program does."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import socket
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import uvicorn

from marrow.printing import logger
from marrow.studio import protocol as p
from marrow.studio.address import ServerError
from marrow.studio.app import Studio
from marrow.studio.connections import timed_protocol

__all__ = ["Server"]

# Much longer than either takes: on a busy machine a thread may have to wait for its turn.
START_SECONDS, CLOSE_SECONDS = 300.0, 60.0


def _close(server: weakref.ref[Server]) -> None:
    """Says goodbye to the pages when the program ends."""
    found = server()
    if found is not None:
        found.close()


class Server:
    """Runs `studio.app` on a socket that listens already, until `close`."""

    def __init__(self, studio: Studio, sock: socket.socket) -> None:
        self.studio, self._socket = studio, sock
        self.port: int = sock.getsockname()[1]
        for name in ("uvicorn.error", "uvicorn.access"):
            logger(name)
        self._uvicorn = uvicorn.Server(
            uvicorn.Config(
                studio.app,
                log_config=None,
                log_level=logging.WARNING,
                access_log=False,
                lifespan="on",
                ws_max_size=4 * p.MAX_MESSAGE_BYTES,
                ws_per_message_deflate=False,
                limit_concurrency=800,
                http=timed_protocol(),  # type: ignore[arg-type]
                timeout_graceful_shutdown=1,
                server_header=False,
            )
        )
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="marrow-studio", daemon=True)

    def start(self) -> None:
        """Returns once browsers can connect."""
        atexit.register(_close, weakref.ref(self))
        self._thread.start()
        self._ready.wait(START_SECONDS)
        if self._failure is not None or not self._uvicorn.started:
            self.close()
            raise ServerError(f"the studio's server did not start: {self._failure or 'it took too long'}")

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            self._failure = error
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        serving = asyncio.create_task(self._uvicorn.serve(sockets=[self._socket]))
        while not self._uvicorn.started and not serving.done():
            await asyncio.sleep(0.005)
        self._ready.set()
        await serving

    def call(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Has the server's thread call a function soon."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # it has just closed
                self._loop.call_soon_threadsafe(function, *arguments)

    def wait_for(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Has the server's thread call a function, and returns when it has; what it raises is raised here."""
        done: Future[None] = Future()

        def run() -> None:
            try:
                function(*arguments)
            except BaseException as error:
                done.set_exception(error)
            else:
                done.set_result(None)

        self.call(run)
        while self.running:
            with contextlib.suppress(TimeoutError):
                return done.result(1.0)
        raise ServerError("the studio is closed")

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def join(self, seconds: float) -> None:
        """Waits for its end, that long at most."""
        self._thread.join(seconds)

    def close(self) -> None:
        """Ends it, and the connections with it."""
        self.call(self.studio.uploads.give_up)
        self._uvicorn.should_exit = True
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(CLOSE_SECONDS)
        self._socket.close()
