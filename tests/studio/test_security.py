"""Who may talk to the studio: the token, Host, Origin, and that no path of a browser's is opened."""

import contextlib
import http.client
import json
import logging
import socket
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.datastructures import Headers
from studio_world import TOKEN, connected, serving, small_actor
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from marrow.errors import ValidationError
from marrow.studio import guard, handle
from marrow.studio.guard import AccessKeys, host_name
from marrow.studio.parcel import safe_name
from surroundings import HANG_SECONDS, repeats


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    static = tmp_path_factory.mktemp("bundle") / "static"
    static.mkdir()
    (static / "index.html").write_text("<title>page</title>")
    (static / "studio.js").write_text("1")
    (static.parent / "secret.txt").write_text("secret")
    with serving(small_actor(), static=static) as found:
        yield found


PRIVATE = ["/api/character/0", "/api/character/0/buffers", "/api/image/0/0", "/api/export.glb", "/api/map.json",
           "/api/profile.json", "/api/nothing", "/nothing", "/ws"]  # fmt: skip
WRONG: list[dict[str, str]] = [
    {},
    {"Authorization": ""},
    {"Authorization": "Bearer"},
    {"Authorization": "Bearer wrong"},
    {"Authorization": TOKEN},
    {"Authorization": f"Basic {TOKEN}"},
    {"Authorization": f"Bearer {TOKEN}x"},
    {"Authorization": f"Bearer {TOKEN[:-1]}"},
    {"X-Marrow-Token": "é"},
    {"Cookie": f"marrow={TOKEN}; token={TOKEN}; x-marrow-token={TOKEN}"},
    {"Sec-WebSocket-Protocol": f"marrow, marrow.token.{TOKEN}"},
    {"Referer": f"http://127.0.0.1/?token={TOKEN}"},
]


@pytest.mark.parametrize("headers", WRONG, ids=str)
def test_nothing_is_told_without_the_token_in_its_header(site, headers):
    for path in PRIVATE:
        answer = site.request(path, token=None, headers=headers, query=TOKEN, token_=TOKEN)
        assert answer.status == 403 and b"token" in answer.body
        assert TOKEN.encode() not in answer.body
    refused = site.request(f"/api/code?token={TOKEN}", token=None, headers=headers)
    assert refused.status == 403, "nor in the address, where logs would have it"


@pytest.mark.parametrize("headers", [{"Authorization": f"Bearer {TOKEN}"}, {"authorization": f"bearer  {TOKEN} "},
                                     {"X-Marrow-Token": TOKEN}], ids=str)  # fmt: skip
def test_the_token_in_its_header_opens(site, headers):
    assert site.request("/api/code", token=None, headers=headers).status == 200


def test_the_page_is_no_secret_and_leaves_no_cookie(site):
    for path, body in (("/", b"page"), ("/static/studio.js", b"1"), ("/favicon.ico", b"")):
        for token in (None, TOKEN, "wrong"):
            answer = site.request(path, token=token)
            assert answer.status in (200, 204) and body in answer.body
            assert "set-cookie" not in answer.headers and TOKEN.encode() not in answer.body


def test_the_token_is_compared_in_constant_time(monkeypatch):
    seen = []
    monkeypatch.setattr(guard.hmac, "compare_digest", lambda a, b: bool(seen.append((a, b))))
    headers = Headers({"authorization": "Bearer one", "x-marrow-token": "two"})
    assert not AccessKeys(TOKEN).opened_by({"type": "http"}, headers)
    asked = {"type": "websocket", "subprotocols": ["marrow", "marrow.token.three"]}
    assert not AccessKeys(TOKEN).opened_by(asked, Headers({}))
    assert {a for a, _ in seen} == {b"one", b"two", b"three"} and {b for _, b in seen} == {TOKEN.encode()}


def test_the_token_is_in_no_log(caplog):
    caplog.set_level(logging.DEBUG)
    with serving(small_actor()) as site:
        site.request("/api/code")
        with site.page() as page:
            page.frame()
            assert page.socket.subprotocol == "marrow", "what is answered is no secret"
        with pytest.raises(InvalidStatus), site.page(token="wrong-" + TOKEN):
            pass
    server = [r for r in caplog.records if not r.name.startswith("websockets.client")]
    assert TOKEN not in "".join(r.getMessage() for r in server)


def test_the_bundle_is_asked_for_once(site):
    tag = site.request("/static/studio.js").headers["etag"]
    assert site.request("/static/studio.js", headers={"If-None-Match": tag}).status == 304


@pytest.mark.parametrize(
    "path",
    ["/static/../secret.txt", "/static/%2e%2e/secret.txt", "/static/..%2fsecret.txt", "/static//etc/passwd",
     "/static/%2fetc%2fpasswd", "/static/", "/static/nothing", "/secret.txt", "/static/studio.js%00.txt"],
)  # fmt: skip
def test_no_path_leads_out_of_the_bundle(site, path):
    answer = site.request(path)
    assert answer.status in (400, 404) and b"secret" not in answer.body


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8421", "127.0.0.1.evil.example", "localhost.evil.example", "127.0.0.1@evil",
     "192.168.0.7", "", "localhost/evil", "localhost:port", "[::1", "0.0.0.0"],
)  # fmt: skip
def test_other_hosts_are_refused(site, host):
    answer = site.request("/", headers={"Host": host})
    assert answer.status in (400, 403)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "localhost:9000", "LOCALHOST:1", "[::1]:8421"])
def test_tunnels_and_names_of_this_machine_are_fine(site, host):
    assert site.request("/", headers={"Host": host}).status == 200


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://localhost:1", "https://127.0.0.1", "file://", "http://[", ""],
)
def test_other_origins_are_refused_even_with_the_token(site, origin):
    for path, method in (
        ("/", "GET"),
        ("/api/upload", "POST"),
        ("/static/studio.js", "GET"),
        ("/api/code", "OPTIONS"),
    ):
        assert site.request(path, verb=method, headers={"Origin": origin}).status == 403
    with pytest.raises(InvalidStatus) as refused, site.page(additional_headers={"Origin": origin}):
        pass
    assert refused.value.response.status_code == 403


def test_the_pages_own_origin_is_fine(site):
    origin = f"http://127.0.0.1:{site.port}"
    assert site.request("/api/code", headers={"Origin": origin}).status == 200
    with site.page(origin=origin) as page:
        page.frame()


@pytest.mark.parametrize(
    "asked",
    [[], ["marrow"], [f"marrow.token.{TOKEN}"], ["marrow", "marrow.token.wrong"], ["marrow", TOKEN],
     ["marrow", "marrow.token."], ["marrow", f"marrow.token.{TOKEN}x"]],
    ids=str,
)  # fmt: skip
def test_no_websocket_without_the_token_among_its_protocols(site, asked):
    address = f"ws://127.0.0.1:{site.port}/ws?token={TOKEN}"
    also = {"Authorization": f"Bearer {TOKEN}", "Cookie": f"token={TOKEN}"}
    with pytest.raises(InvalidStatus) as refused:
        connect(address, subprotocols=asked or None, additional_headers=also, compression=None)
    assert refused.value.response.status_code == 403
    assert TOKEN not in str(refused.value.response)


def test_no_websocket_under_another_name(site):
    line = socket.create_connection(("127.0.0.1", site.port))
    with line, pytest.raises(InvalidStatus) as refused:
        connected(f"evil.example:{site.port}", TOKEN, sock=line)
    assert refused.value.response.status_code == 403


def test_a_wrong_token_says_that_the_link_is_needed(site):
    answer = site.request("/api/code", token="wrong")
    assert answer.json["link"] and "new one" in answer.json["error"]
    assert not site.request("/api/code", headers={"Origin": "http://evil.example"}).json["link"]


def test_only_a_notebook_may_frame_it_and_come_by_another_name():
    with serving(small_actor()) as site:
        proxied = {"Host": "hub.example", "Origin": "https://hub.example"}
        for path in ("/", "/static/none.js", "/api/code"):
            assert "frame-ancestors 'none'" in site.request(path).headers["content-security-policy"]
            assert site.request(path, headers=proxied).status == 403
        site.studio.keys.framed = True
        answer = site.request("/", token=None, headers=proxied)
        assert answer.status == 200 and "frame-ancestors *" in answer.headers["content-security-policy"]
        assert site.request("/static/none.js", token=None, headers=proxied).status == 404
        assert site.request("/api/code", headers=proxied).status == 200
        assert site.request("/api/code", token=None, headers=proxied).status == 403
        assert site.request("/api/code", headers={**proxied, "Origin": "https://evil.example"}).status == 403


class Proxy:
    """What `jupyter-server-proxy` does: takes a prefix off the path and hands everything on, Host and Origin included."""

    def __init__(self, port):
        self.port, self.prefix = port, f"/user/ada/proxy/{port}".encode()
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.address = self.socket.getsockname()
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                line, _ = self.socket.accept()
                threading.Thread(target=self.serve, args=(line,), daemon=True).start()

    def serve(self, line):
        behind = socket.create_connection(("127.0.0.1", self.port))
        head = b""
        while b"\r\n\r\n" not in head:
            more = line.recv(65536)
            if not more:
                return
            head += more
        verb, path, rest = head.split(b" ", 2)
        behind.sendall(b" ".join([verb, path.removeprefix(self.prefix), rest]))
        for source, target in ((line, behind), (behind, line)):
            threading.Thread(target=self.copy, args=(source, target), daemon=True).start()

    @staticmethod
    def copy(source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)


def test_a_notebook_reaches_it_through_its_servers_proxy():
    with serving(small_actor()) as site:
        site.studio.keys.framed = True
        proxy = Proxy(site.port)
        base, host = proxy.prefix.decode(), "hub.example"
        connection = http.client.HTTPConnection(*proxy.address, timeout=HANG_SECONDS)
        for path, token, status in (("/", "", 200), ("/api/clips", TOKEN, 200), ("/api/clips", "", 403)):
            headers = {"Host": host, "Connection": "close", "X-Marrow-Token": token}
            connection.request("GET", base + path, headers=headers)
            answer = connection.getresponse()
            assert (answer.status, bool(answer.read())) == (status, True)
            connection.close()
        line = socket.create_connection(proxy.address)
        with connected(host, TOKEN, f"{base}/ws", sock=line, origin=f"https://{host}") as page:
            assert "hello" in page.recv(timeout=HANG_SECONDS)
        proxy.socket.close()


def test_answers_carry_the_headers_that_keep_a_page_safe(site):
    for path, token in (
        ("/", None),
        ("/static/studio.js", None),
        ("/api/clips", TOKEN),
        ("/api/clips", None),
        ("/x", TOKEN),
    ):
        headers = site.request(path, token=token).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert headers["referrer-policy"] == "no-referrer" and headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin" and "server" not in headers
        assert headers["cache-control"] == ("no-cache" if "static" in path else "no-store")
        assert not any(name.startswith("access-control") or name == "set-cookie" for name in headers)


def test_only_what_is_meant_to_is_posted(site):
    assert site.request("/api/code", verb="POST").status == 405
    assert site.request("/api/upload", verb="PUT", body=b"x").status == 405


@settings(max_examples=repeats(60), deadline=None)
@given(st.text(max_size=60))
def test_names_from_a_browser_become_labels(text):
    name = safe_name(text)
    assert name and len(name) <= 100 and not set("/\\\0\n\"'<>") & set(name) and name not in (".", "..")


@given(st.text(max_size=40))
def test_a_host_is_a_name_or_nothing(text):
    name = host_name(text)
    assert name is None or not set("/?#@") & set(name)


def test_a_site_without_its_bundle_says_how_to_build_it(tmp_path):
    with serving(small_actor(), static=tmp_path / "none") as site:
        answer = site.request("/")
        assert answer.status == 200 and b"npm" in answer.body
        assert site.request("/static/studio.js").status == 404


@pytest.mark.parametrize(
    "token", ["", "a", "a-short", "a b c d e f g", "ä" * 9, "a;b;c;d;e;f", "a\nb\nc\nd\ne\nf"]
)
def test_tokens_that_would_break_an_address_or_be_guessed_are_refused(token):
    with pytest.raises(ValidationError, match="token"):
        handle.open_view([], port=0, host="127.0.0.1", token=token, browser=False)


junk = st.one_of(
    st.binary(max_size=300),
    st.text(max_size=300),
    st.dictionaries(
        st.sampled_from(["type", "name", "value", "slot"]), st.text(max_size=9) | st.integers()
    ).map(json.dumps),
)


@settings(max_examples=25, deadline=None)
@given(st.lists(junk, max_size=12))
def test_junk_on_the_websocket_leaves_the_studio_standing(site, messages):
    try:
        with site.page() as page:
            for message in messages:
                page.socket.send(message)
            page.sync()
    except (ConnectionClosed, UnicodeEncodeError):
        pass  # a lone surrogate cannot even be sent
    with site.page() as page:
        page.frame()
