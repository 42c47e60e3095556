"""`Guard`: who may talk to the studio. The token in the address, and whether Host and Origin are this
machine's own.

The token keeps other users of the machine out; Host keeps out pages that make their name resolve to
127.0.0.1; Origin keeps out pages that know the port. Browsers send cookies to every port of a machine, so the one that
a page gets holds not the token but a value that only this studio knows, and cannot be turned back into it.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Guard", "Keys", "host_name"]

PUBLIC = ("/static/", "/favicon.ico")
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
POLICY = (
    "default-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; style-src 'self' 'unsafe-inline'; "
    "connect-src 'self'; worker-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors "
)
HEADERS = {
    "content-security-policy": f"{POLICY}'self'",
    "referrer-policy": "no-referrer",  # the address may hold the token
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
NEEDS_LINK = (
    "this address needs its token: use the whole link that marrow printed "
    "(a studio that was started again has a new one)"
)


def host_name(value: str) -> str | None:
    """The name in a Host header, without its port; None for one that makes no sense."""
    try:
        parts = urlsplit(f"//{value}")
        _ = parts.port
    except ValueError:
        return None
    # Only a name and a port: anything that would read as a path, a query or a user is no Host.
    sane = parts.hostname is not None and not (parts.path or parts.query or parts.fragment or parts.username)
    return parts.hostname if sane and "@" not in value else None


class Keys:
    """What opens a studio. `hosts` are names it goes by besides the loopback ones; with `any_address` (bound to all
    interfaces) every literal IP address is one."""

    def __init__(
        self, token: str, port: int = 0, *, hosts: Iterable[str] = (), any_address: bool = False
    ) -> None:
        self.token, self.port = token.encode(), port
        self.hosts = LOOPBACK | {host.lower() for host in hosts}
        self.any_address = any_address
        self.framed = False
        """Whether a notebook shows it: then whoever brings the token may put it in a frame, and come by another
        name."""

    @property
    def cookie(self) -> str:
        """Cookies know no ports: each studio has a name of its own for it."""
        return f"marrow_{self.port}"

    @property
    def session(self) -> str:
        """What the cookie holds: follows from the token and the port, so that a page finds a studio again that was
        started with the same ones; nothing follows from it."""
        return hmac.new(self.token, f"marrow session {self.port}".encode(), hashlib.sha256).hexdigest()

    def brought(self, scope: Scope) -> bool:
        """Whether the request itself has the token."""
        try:
            given = parse_qs(scope["query_string"].decode("ascii"), max_num_fields=20).get("token", [])
        except ValueError:
            return False
        return any(hmac.compare_digest(value.encode(), self.token) for value in given)

    def known(self, headers: Headers) -> bool:
        """Whether the browser has the cookie."""
        try:
            jar = SimpleCookie(headers.get("cookie", "")[:4096])
        except CookieError:
            return False
        return self.cookie in jar and hmac.compare_digest(
            jar[self.cookie].value.encode(), self.session.encode()
        )

    def ours(self, name: str) -> bool:
        """Whether the studio goes by a name."""
        if name in self.hosts:
            return True
        if not self.any_address:
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


class Guard:
    """ASGI middleware in front of everything."""

    def __init__(self, app: ASGIApp, *, keys: Keys) -> None:
        self.app, self.keys = app, keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers, path, keys = Headers(scope=scope), scope["path"], self.keys
        brought = keys.brought(scope)
        public = path.startswith(PUBLIC)
        foreign = self._foreign(headers)
        # Through a notebook's proxy it has another name. Whoever has the token needs no other proof; cookies are none
        # there.
        proxied = foreign is not None and keys.framed and (brought or public)
        why = self._other_origin(headers) or (None if proxied else foreign)
        link = why is None and not public and not brought and not keys.known(headers)
        if link:
            why = NEEDS_LINK
        if why is not None:
            await self._refuse(why, link, scope, receive, send)
            return
        if scope["type"] == "websocket":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                out = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    out.setdefault(name, value)
                if brought and keys.framed:
                    out["content-security-policy"] = f"{POLICY}*"
                if path == "/" and brought and not proxied:
                    out["set-cookie"] = f"{keys.cookie}={keys.session}; HttpOnly; SameSite=Strict; Path=/"
            await send(message)

        await self.app(scope, receive, with_headers)

    def _foreign(self, headers: Headers) -> str | None:
        """Why the Host is not ours; None when it is."""
        hosts = headers.getlist("host")
        name = host_name(hosts[0]) if len(hosts) == 1 else None
        if name is None or not self.keys.ours(name.lower()):
            return f"this studio does not go by the name {hosts[0][:100]!r}" if hosts else "no Host was named"
        return None

    @staticmethod
    def _other_origin(headers: Headers) -> str | None:
        """Why the Origin is not ours; None when it is."""
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if origins and len(hosts) == 1:
            # The port may be a tunnel's, so it is compared with the Host the browser used, not with our own.
            ours = {f"{scheme}://{hosts[0].lower()}" for scheme in ("http", "https")}
            if len(origins) != 1 or origins[0].lower() not in ours:
                return "pages of other origins may not talk to this studio"
        return None

    @staticmethod
    async def _refuse(why: str, link: bool, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            # Closing before accepting answers the handshake with 403.
            await send({"type": "websocket.close", "code": 1008, "reason": why[:120]})
            return
        answer: Response
        if scope["path"].startswith("/api/"):
            answer = JSONResponse({"error": why, "link": link}, 403, HEADERS)
        else:
            answer = PlainTextResponse(f"marrow studio: {why}\n", 403, HEADERS)
        await answer(scope, receive, send)
