"""Where a studio is found: its socket, its link, and whether there is a browser to open it in.

Nothing here needs a web server: the link is told, and the browser started, before one is imported. Who connects meanwhile
waits in the socket's queue.
"""

from __future__ import annotations

import os
import secrets
import socket
import sys
from dataclasses import dataclass

from marrow.errors import MarrowError, ValidationError

__all__ = ["DEFAULT_PORT", "Address", "ServerError", "has_screen", "in_notebook", "listen"]

DEFAULT_PORT = 8421
QUEUE = 64
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
    def anywhere(self) -> bool:
        """Whether it listens on all addresses of the machine."""
        return self.host in WILDCARDS


def secret(token: str | None) -> str:
    """The token given, if it is one, or a new one."""
    if token is None:
        return secrets.token_urlsafe(16)
    if not token or not token.isascii() or any(not (c.isalnum() or c in "-_") for c in token):
        raise ValidationError("view: a token is made of letters, digits, - and _")
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
