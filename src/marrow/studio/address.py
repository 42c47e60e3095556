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

__all__ = ["DEFAULT_PORT", "Address", "ServerError", "has_screen", "listen"]

DEFAULT_PORT = 8421
QUEUE = 512
SHORTEST_TOKEN, LONGEST_TOKEN = 8, 256
TOKEN_VARIABLE = "MARROW_STUDIO_TOKEN"
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
        return f"http://{shown}:{self.port}/{self.fragment}"

    @property
    def fragment(self) -> str:
        """The end of the link. Browsers keep what follows a `#` to themselves: no server, log or other page is told."""
        return f"#token={self.token}"

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
        return [f"http://{name}:{self.port}/{self.fragment}" for name in shown]

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


def secret(token: str | None = None, token_file: str | os.PathLike[str] | None = None) -> str:
    """The token given, that of the file, that of the variable `MARROW_STUDIO_TOKEN`, or a new one."""
    if token is not None and token_file is not None:
        raise ValidationError("view: token or token_file, not both")
    if token is not None:
        return _checked(token, "the token")
    if token_file is not None:
        return _checked(_read_token(token_file), str(token_file))
    if TOKEN_VARIABLE in os.environ:
        return _checked(os.environ[TOKEN_VARIABLE], TOKEN_VARIABLE)
    return secrets.token_urlsafe(16)


def _checked(token: str, source: str) -> str:
    if not token or not token.isascii() or any(not (c.isalnum() or c in "-_") for c in token):
        raise ValidationError(f"view: {source}: a token is made of letters, digits, - and _")
    if len(token) < SHORTEST_TOKEN:
        raise ValidationError(
            f"view: {source}: a token of {len(token)} characters can be guessed: take {SHORTEST_TOKEN} or more, or "
            "leave it out"
        )
    if len(token) > LONGEST_TOKEN:
        raise ValidationError(f"view: {source}: a token has {LONGEST_TOKEN} characters at most")
    return token


def _read_token(file: str | os.PathLike[str]) -> str:
    """The one line of a file that nobody else may read."""
    try:
        with open(file, "rb") as opened:
            status = os.fstat(opened.fileno())
            if os.name == "posix" and status.st_mode & 0o077:
                raise ValidationError(f"view: {file}: others may read this token: chmod 600 {file}")
            if hasattr(os, "getuid") and status.st_uid not in (os.getuid(), 0):
                raise ValidationError(
                    f"view: {file}: this token belongs to another user: make a file of your own"
                )
            data = opened.read(LONGEST_TOKEN + 8)
    except OSError as error:
        raise ValidationError(f"view: {file}: the token cannot be read: {error.strerror or error}") from None
    try:
        return data.decode("ascii").strip()
    except UnicodeDecodeError:
        raise ValidationError(f"view: {file}: a token is made of letters, digits, - and _") from None


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


def has_screen() -> bool:
    """Whether there is a screen to open a browser on."""
    if sys.platform in ("win32", "darwin"):
        return "SSH_CONNECTION" not in os.environ
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
