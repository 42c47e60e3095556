"""`Guard`: who may talk to the studio. The token in the address, and whether Host and Origin are this
machine's own.

The token keeps other users of the machine out; Host keeps out pages that make their name resolve to
127.0.0.1; Origin keeps out pages that know the port.
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

__all__ = ["Guard", "host_name"]

PUBLIC = ("/static/", "/favicon.ico")
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
POLICY = (
    "default-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; style-src 'self' 'unsafe-inline'; "
    "connect-src 'self'; worker-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "referrer-policy": "no-referrer",  # the address holds the token
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


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


class Guard:
    """ASGI middleware in front of everything. `hosts` are names this server goes by besides the loopback
    ones; with `any_address` (bound to all interfaces) every literal IP address is one."""

    def __init__(
        self, app: ASGIApp, *, token: str, hosts: Iterable[str] = (), any_address: bool = False
    ) -> None:
        self.app, self.token = app, token.encode()
        self.hosts = LOOPBACK | {host.lower() for host in hosts}
        self.any_address = any_address
        # Cookies know no ports: each studio has a name of its own for it.
        self.cookie = f"marrow_{hashlib.sha256(self.token).hexdigest()[:12]}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        path = scope["path"]
        why = self._stranger(headers)
        if why is None and not path.startswith(PUBLIC) and not self._has_token(scope, headers):
            why = "this address needs its token: use the whole link that marrow printed"
        if why is not None:
            await self._refuse(why, scope, receive, send)
            return
        if scope["type"] == "websocket":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                out = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    out.setdefault(name, value)
                if path == "/":
                    out["set-cookie"] = (
                        f"{self.cookie}={self.token.decode()}; HttpOnly; SameSite=Strict; Path=/"
                    )
            await send(message)

        await self.app(scope, receive, with_headers)

    def _stranger(self, headers: Headers) -> str | None:
        """Why the Host or the Origin is not ours; None when they are."""
        hosts = headers.getlist("host")
        name = host_name(hosts[0]) if len(hosts) == 1 else None
        if name is None or not self._ours(name.lower()):
            return f"this studio does not go by the name {hosts[0][:100]!r}" if hosts else "no Host was named"
        origins = headers.getlist("origin")
        if origins:
            # The port may be a tunnel's, so it is compared with the Host the browser used, not with our own.
            ours = {f"{scheme}://{hosts[0].lower()}" for scheme in ("http", "https")}
            if len(origins) != 1 or origins[0].lower() not in ours:
                return "pages of other origins may not talk to this studio"
        return None

    def _ours(self, name: str) -> bool:
        if name in self.hosts:
            return True
        if not self.any_address:
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    def _has_token(self, scope: Scope, headers: Headers) -> bool:
        try:
            given = parse_qs(scope["query_string"].decode("ascii"), max_num_fields=20).get("token", [])
        except ValueError:
            return False
        if not given:
            given = self._cookies(headers)
        return any(hmac.compare_digest(value.encode(), self.token) for value in given)

    def _cookies(self, headers: Headers) -> list[str]:
        try:
            jar = SimpleCookie(headers.get("cookie", "")[:4096])
        except CookieError:
            return []
        return [jar[self.cookie].value] if self.cookie in jar else []

    @staticmethod
    async def _refuse(why: str, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            # Closing before accepting answers the handshake with 403.
            await send({"type": "websocket.close", "code": 1008, "reason": why[:120]})
            return
        answer: Response
        if scope["path"].startswith("/api/"):
            answer = JSONResponse({"error": why}, 403, HEADERS)
        else:
            answer = PlainTextResponse(f"marrow studio: {why}\n", 403, HEADERS)
        await answer(scope, receive, send)
