"""Where a studio is found: its socket, its link, and whether there is a browser to open it in.

Nothing here needs a web server: the link is told, and the browser started, before one is imported. Who connects meanwhile
waits in the socket's queue.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import sys
from dataclasses import dataclass

from marrow.errors import MarrowError, ValidationError

__all__ = ["DEFAULT_PORT", "Address", "ServerError", "has_screen", "in_notebook", "listen"]

DEFAULT_PORT = 8421
QUEUE = 512
SHORTEST_TOKEN = 8
WILDCARDS = ("0.0.0.0", "::")


class ServerError(MarrowError):
    """The studio's server cannot start, such as on a port that is taken."""


@dataclass(frozen=True)
class Address:
    """Where a studio listens, and the secret that lets a page in."""

    host: str
    port: int
    token: str

    @property
    def url(self) -> str:
        shown = "127.0.0.1" if self.anywhere else f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{shown}:{self.port}/?token={self.token}"

    @property
    def names(self) -> tuple[str, ...]:
        """The names it goes by besides the loopback ones."""
        return machine_names() if self.anywhere else (self.host,)

    @property
    def reachable(self) -> list[str]:
        """The links that lead to it from other machines; none where it listens to this one alone."""
        if not self.anywhere:
            return [] if self.host in ("127.0.0.1", "localhost", "::1") else [self.url]
        shown = [f"[{a}]" if ":" in a else a for a in (*machine_addresses(self.host), *machine_names()[:1])]
        return [f"http://{name}:{self.port}/?token={self.token}" for name in shown]

    @property
    def anywhere(self) -> bool:
        """Whether it listens on all addresses of the machine."""
        return self.host in WILDCARDS


def machine_names() -> tuple[str, ...]:
    """What this machine is called by others, as far as it knows without asking anybody."""
    name = socket.gethostname().lower()
    if not name or name == "localhost":
        return ()
    plain = name.partition(".")[0]
    return tuple(dict.fromkeys((name, plain, f"{plain}.local")))


def machine_addresses(host: str) -> list[str]:
    """The addresses others reach this machine by: those it would send from. Nothing is sent."""
    tried = [(socket.AF_INET, "192.0.2.1")] + ([(socket.AF_INET6, "2001:db8::1")] if host == "::" else [])
    found = []
    for family, somewhere in tried:
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((somewhere, 9))
            found.append(str(probe.getsockname()[0]))
    return found


def secret(token: str | None) -> str:
    """The token given, if it is one, or a new one."""
    if token is None:
        return secrets.token_urlsafe(16)
    if not token or not token.isascii() or any(not (c.isalnum() or c in "-_") for c in token):
        raise ValidationError("view: a token is made of letters, digits, - and _")
    if len(token) < SHORTEST_TOKEN:
        raise ValidationError(
            f"view: a token of {len(token)} characters can be guessed: take {SHORTEST_TOKEN} or more, or leave it out"
        )
    return token


def listen(host: str, port: int | None) -> socket.socket:
    """A socket on that port; on the default one, or any that is free, where none is asked for."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    wanted = [DEFAULT_PORT, 0] if port is None else [port]
    for number in wanted:
        # Only of a socket that names its protocol does asyncio turn off the waiting that joins small messages.
        sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind((host, number))
            sock.listen(QUEUE)
            return sock
        except (OSError, OverflowError) as error:
            sock.close()
            if number == wanted[-1]:
                what = getattr(error, "strerror", None) or error
                raise ServerError(f"cannot listen on {host}:{number}: {what}; choose another port") from None
    raise AssertionError("unreachable")


def in_notebook() -> bool:
    """Whether this runs in a notebook's kernel, where a frame shows the page."""
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    return found is not None and hasattr(found, "kernel")


def has_screen() -> bool:
    """Whether there is a screen to open a browser on."""
    if sys.platform in ("win32", "darwin"):
        return "SSH_CONNECTION" not in os.environ
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
