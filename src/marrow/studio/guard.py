"""`Guard`: who may talk to the studio. The token, and whether Host and Origin are this machine's own.

The token keeps other users of the machine out. It travels in a header of each request, or among the subprotocols of a
websocket; never in an address, which ends up in logs and histories, and never in a cookie, which browsers send to every
port of a machine and so to other people's servers. The page itself holds no secret: it is served to everybody, and has the
token from the fragment of the link, which browsers keep to themselves; a notebook's cell has a ticket instead, which is
exchanged for that link once. Host keeps out pages that make their name resolve
to 127.0.0.1; Origin keeps out pages that know the port.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from marrow.studio.protocol import SOCKET_PROTOCOL, TOKEN_HEADER, TOKEN_PROTOCOL
from marrow.studio.tickets import Tickets

__all__ = ["AccessKeys", "Guard", "host_name"]

PAGE = ("/", "/favicon.ico")
BUNDLE, TICKETS = "/static/", "/open/"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
POLICY = (
    "default-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; style-src 'self' 'unsafe-inline'; "
    "connect-src 'self'; worker-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors "
)
NOBODY, NOTEBOOKS = "'none'", "* vscode-webview:"
"""Who may show it in a frame. Where a notebook comes from only its browser knows. A page in a frame has no token but that
of its own link, so who frames it without one frames nothing."""
HEADERS = {
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
NEEDS_LINK = (
    "this needs the token of the link: use the whole link that marrow printed "
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


class AccessKeys:
    """What opens a studio. `hosts` are names it goes by besides the loopback ones; with `any_address` (bound to all
    interfaces) every literal IP address is one."""

    def __init__(self, token: str, *, hosts: Iterable[str] = (), any_address: bool = False) -> None:
        self.token = token.encode()
        self.hosts = LOOPBACK | {host.lower() for host in hosts}
        self.any_address = any_address
        self.framed = False
        """Whether a notebook shows it: then it may be put in a frame, and come by another name."""
        self.tickets = Tickets()
        """What opens it once, for the cells of notebooks."""

    def opened_by(self, scope: Scope, headers: Headers) -> bool:
        """Whether a request brings the token."""
        if scope["type"] == "websocket":
            asked = scope.get("subprotocols", ())
            given = [p.removeprefix(TOKEN_PROTOCOL) for p in asked if p.startswith(TOKEN_PROTOCOL)]
            given = given if SOCKET_PROTOCOL in asked else []  # there must be one to answer with
        else:
            # A proxy in between, such as a notebook's, may have its own use for Authorization.
            given = headers.getlist(TOKEN_HEADER)
            for value in headers.getlist("authorization"):
                scheme, _, rest = value.partition(" ")
                given += [rest.strip()] if scheme.lower() == "bearer" else []
        # All of them are compared, whichever is right.
        return sum([hmac.compare_digest(value.encode(), self.token) for value in given]) > 0

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

    def __init__(self, app: ASGIApp, *, keys: AccessKeys) -> None:
        self.app, self.keys = app, keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers, path, keys = Headers(scope=scope), scope["path"], self.keys
        opened = keys.opened_by(scope, headers)
        public = scope["type"] == "http" and (path in PAGE or path.startswith((BUNDLE, TICKETS)))
        foreign = self._foreign(headers)
        # Through a notebook's proxy it has another name. Whoever has the token needs no other proof.
        if foreign is not None and keys.framed and (opened or public):
            foreign = None
        why = self._other_origin(headers) or foreign
        link = why is None and not public and not opened
        if link:
            why = NEEDS_LINK
        if scope["type"] == "websocket" and why is None:
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                out = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    out.setdefault(name, value)
                out["content-security-policy"] = f"{POLICY}{NOTEBOOKS if keys.framed else NOBODY}"
            await send(message)

        if why is not None:
            await self._refuse(why, link, scope, receive, with_headers)
        else:
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
            answer = JSONResponse({"error": why, "link": link}, 403)
        else:
            answer = PlainTextResponse(f"marrow studio: {why}\n", 403)
        await answer(scope, receive, send)
