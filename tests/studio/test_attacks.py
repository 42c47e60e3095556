"""Many connects, uploads and viewers, silent connections and storms: nobody who behaves is kept waiting by them. Nothing
here is timed: what is waited for comes, or the test hangs."""

import contextlib
import http.client
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from studio_world import TOKEN, serving, small_actor, small_character, upload

import marrow as mw
from marrow.errors import ResourceLimitError, ValidationError
from marrow.studio import budget, client, connections, pieces
from marrow.studio import protocol as p
from marrow.studio.actor import Origin, StudioActor
from marrow.studio.connections import Silent
from marrow.studio.parcel import PREFIX, remove_left_behind
from marrow.studio.session import Session
from surroundings import HANG_SECONDS


@pytest.fixture(scope="module")
def site():
    with serving(small_actor()) as found:
        yield found


def silent(site, count):
    """Connections that say nothing, and one that says it byte by byte."""
    opened = [socket.create_connection(("127.0.0.1", site.port), HANG_SECONDS) for _ in range(count)]
    opened[0].sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ")
    return opened


def closed(line):
    """Waits for what the server says to a connection: nothing, and it is over."""
    try:
        return line.recv(1) == b""
    except ConnectionResetError:
        return True


def test_silent_connections_keep_nobody_out(site):
    opened = silent(site, connections.MAX_SILENT + 40)
    with contextlib.ExitStack() as stack:
        for line in opened:
            stack.callback(line.close)
        assert site.request("/api/code").status == 200
        with site.page() as page:
            page.frame()
        # Of those that wait only so many may, and the first to come were the first to go.
        assert closed(opened[0])


def test_a_connection_that_asks_for_nothing_is_closed(site, monkeypatch):
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.01)
    (line,) = silent(site, 1)
    with line:
        assert closed(line)
    with socket.create_connection(("127.0.0.1", site.port), HANG_SECONDS) as line:
        line.sendall(b"GET /favicon.ico HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert line.recv(12) == b"HTTP/1.1 204", "one that asks is answered"
        while line.recv(4096):  # and closed when it asks for nothing more
            pass


def test_of_those_who_wait_the_oldest_of_the_same_address_goes(monkeypatch):
    monkeypatch.setattr(connections, "MAX_SILENT_OF_ONE", 2)
    monkeypatch.setattr(connections, "MAX_SILENT", 3)
    gone = []

    class One:
        def __init__(self, name):
            self.name = name

        def hang_up(self):
            gone.append(self.name)

    waiting, ones = Silent(), [One(k) for k in range(6)]
    for one, address in zip(ones, ("a", "b", "a", "a", "b", "c")):
        waiting.add(one, address)
    assert gone == [0, 1, 2] and len(waiting) == 3
    waiting.remove(ones[5])
    waiting.add(One(6), "c")
    assert gone == [0, 1, 2] and len(waiting) == 3


def handshake(*headers):
    """What asks for a websocket, with more headers than it needs."""
    lines = ["GET /ws HTTP/1.1", "Host: 127.0.0.1", "Upgrade: websocket", "Connection: Upgrade", *headers]
    lines += ["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13"]
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode()


LETTERS = f"Sec-WebSocket-Protocol: {p.SOCKET_PROTOCOL}, {p.TOKEN_PROTOCOL}{TOKEN}"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([LETTERS, "Cookie: " + 9000 * "a"], b"101"),  # other servers of this machine may have given it many
        ([LETTERS, "X-Long: " + 9000 * "a"], b"400"),
        (["Sec-WebSocket-Protocol: " + 1500 * "marrow, " + "x"], b"400"),
        ([LETTERS, *(f"X-{k}: 1" for k in range(300))], b"400"),
    ],
    ids=["cookies", "header", "protocols", "headers"],
)
def test_a_handshake_of_any_size_is_answered(site, headers, status):
    with socket.create_connection(("127.0.0.1", site.port), HANG_SECONDS) as line:
        line.sendall(handshake(*headers))
        assert line.recv(12) == b"HTTP/1.1 " + status


def test_who_leaves_in_the_middle_of_an_answer_leaves_no_words(site, monkeypatch, caplog):
    monkeypatch.setattr(pieces, "PIECE_BYTES", 16)
    for _ in range(3):
        line = socket.create_connection(("127.0.0.1", site.port), HANG_SECONDS)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        line.sendall(
            f"GET /api/character/0/buffers HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Marrow-Token: {TOKEN}\r\n\r\n".encode()
        )
        line.recv(1)
        line.close()
    assert len(site.request("/api/character/0/buffers").body) > 1000
    assert caplog.records == []


class Buffer:
    """A transport of which only the sizes of its buffer are known, one after the other."""

    def __init__(self, sizes):
        self.sizes = iter(np.repeat(sizes, 2)[1:-1].tolist())

    def get_write_buffer_size(self):
        return next(self.sizes)


def test_who_does_not_read_its_answer_is_left(site, monkeypatch):
    monkeypatch.setattr(connections, "READING_SECONDS", 0.01)
    actor, image = site.studio.session.main, mw.Image("large", "image/png", bytes(1 << 24))
    monkeypatch.setattr(actor, "character", actor.character.replace(images=(image,)))
    with socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.connect(("127.0.0.1", site.port))
        line.sendall(
            f"GET /api/image/0/0 HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Marrow-Token: {TOKEN}\r\n\r\n".encode()
        )
        while site.server._uvicorn.server_state.connections:
            pass
    # One that reads has all of it, however slowly: every look finds that something was taken.
    transport, hung_up = Buffer([900, 600, 300, 300]), []
    protocol = connections.TimedProtocol.__new__(connections.TimedProtocol)
    looks = []
    protocol.loop = SimpleNamespace(call_later=lambda seconds, look: looks.append(look))
    protocol.transport, protocol.hang_up = transport, lambda: hung_up.append(len(looks))
    protocol._expect_reading()
    for look in looks:
        look()
    assert hung_up == [3], "it took nothing between the third look and the fourth"


def test_an_unread_body_is_not_waited_for(site):
    with socket.create_connection(("127.0.0.1", site.port), HANG_SECONDS) as line:
        line.sendall(b"POST /api/upload HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\nx")
        said = b""
        while chunk := line.recv(4096):
            said += chunk
        assert said.startswith(b"HTTP/1.1 403")


def test_two_hundred_connects_and_fifty_viewers(site):
    def come_and_go(k):
        if k % 10:
            connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=HANG_SECONDS)
            token = TOKEN if k % 3 else "wrong"
            connection.request("GET", "/api/code", headers={"Authorization": f"Bearer {token}"})
            status = connection.getresponse().status
            connection.close()
            return status == (200 if k % 3 else 403)
        with site.page() as page:
            page.frame()
        return True

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(come_and_go, range(200)))
    with contextlib.ExitStack() as stack:
        viewers = [stack.enter_context(site.page()) for _ in range(50)]
        for viewer in viewers:
            viewer.frame()
        viewers[0].send("select", joint=2)
        for viewer in viewers:
            viewer.wait("state", selected=2)
        viewers[0].send("select", joint=-1)


def test_sixty_uploads(site, tmp_path):
    mw.save(small_character(seed=11), tmp_path / "a.glb")
    data = (tmp_path / "a.glb").read_bytes()

    def send(k):
        return upload(site, data if k % 4 else data[: 200 + k], name=f"{k}.glb").status

    with ThreadPoolExecutor(12) as pool, site.page() as page:
        found = list(pool.map(send, range(60)))
        page.frame()
    assert all(status == 422 for k, status in enumerate(found) if k % 4 == 0)
    assert found.count(200) == 45
    assert not list(Path(tempfile.gettempdir()).glob(f"{PREFIX}{os.getpid()}-*"))


def held(site, monkeypatch):
    """Has requests for curves stay under way; returns what lets them go on, and how many are."""
    go_on, entered = threading.Event(), []

    def curves(*_):
        entered.append(1)
        assert go_on.wait(HANG_SECONDS)
        return {}

    monkeypatch.setattr("marrow.studio.curves.curves", curves)
    return go_on, entered


def test_a_page_that_asks_for_much_waits_for_itself_and_not_others_for_it(site, monkeypatch):
    go_on, entered = held(site, monkeypatch)
    most = site.studio.working.most_waiting
    with ThreadPoolExecutor(most + 1) as pool, site.page() as storm, site.page() as good:
        mine, other = ({p.PAGE_HEADER: page.hello["page"]} for page in (storm, good))
        assert mine != other
        asked = [
            pool.submit(site.request, "/api/curves", headers=mine, clip="wave", joint=0)
            for _ in range(most + 1)
        ]
        while not entered or site.studio.working.waiting(mine[p.PAGE_HEADER]) < most:
            pass
        assert len(entered) == 1, "of one page one thing at a time is worked on"
        refused = site.request("/api/curves", headers=mine, clip="wave", joint=0)
        assert refused.status == 429 and "try again" in refused.json["error"]
        assert site.request("/api/clips", headers=other).status == 200
        assert site.request("/api/clips").status == 200, "nor does one that does not say which page it is"
        go_on.set()
        assert {one.result().status for one in asked} == {200}


def test_a_page_that_opens_very_much_keeps_the_files_of_nobody_waiting(site, monkeypatch):
    go_on, opened = threading.Event(), []

    def slow(name, slot, *_):
        opened.append(name)
        assert go_on.wait(HANG_SECONDS)
        return lambda: small_actor(slot)

    monkeypatch.setattr("marrow.studio.makers.maker_of_sample", slow)
    turns = site.studio.jobs.turns
    with site.page() as storm, site.page() as good:
        for k in range(turns.most_waiting + 4):
            storm.send("open", sample=f"storm {k}")
        assert "try again" in storm.wait("error")["message"]
        good.send("open", sample="good")
        while not turns.waiting(good.hello["page"]):
            pass
        go_on.set()
        while "good" not in opened:
            good.receive()
        assert opened.index("good") == 1, "it waits for the one that is under way"
        while site.studio.jobs.waiting:
            good.receive()


def test_many_sockets_that_storm_are_served_one_by_one(site):
    """Messages are taken by whose page has had least; what they cost is not added up for those who wait."""
    took, real, hub = [], site.studio.session.apply, site.studio.hub

    def apply(message):
        took.append(message.joint)
        real(p.Select(-1))

    with contextlib.ExitStack() as stack:
        pages = [stack.enter_context(site.page()) for _ in range(6)]
        stack.callback(setattr, site.studio.session, "apply", real)
        held_up, entered = threading.Event(), threading.Event()

        def first(message):
            entered.set()
            assert held_up.wait(HANG_SECONDS)
            site.studio.session.apply = apply

        site.studio.session.apply = first
        pages[0].send("select", joint=0)
        assert entered.wait(HANG_SECONDS)  # from here on the loop stands still, and what is sent waits
        for storm in pages[:5]:
            for _ in range(20):
                storm.send("select", joint=0)
        pages[5].send("select", joint=5)
        held_up.set()
        while 5 not in took:
            pages[5].receive()
    assert took.index(5) <= 6, "others had a turn each before it, not all that they had sent"
    assert hub.desk.rest


def test_no_page_says_more_than_so_many_things_a_second(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(client.time, "monotonic", lambda: now[0])
    page = client.Client(None)  # type: ignore[arg-type]
    assert [page.count() for _ in range(480)] == [0.0] * 480, "many at once are read at once"
    assert page.count() == pytest.approx(1 / 240) and page.count() == pytest.approx(2 / 240)
    now[0] += 1000.0
    assert page.count() == 0.0, "after a while all is forgiven"


def test_a_storm_of_expensive_messages_does_not_starve_viewers(site):
    with site.page() as good, site.page() as storm:
        for k in range(200):
            storm.send("count", value=1 + 900 * (k % 2))
        for _ in range(5):
            good.frame()
        good.send("select", joint=1)
        good.wait("state", selected=1)
    with site.page() as page:
        page.ask("count", value=1)


# -- budgets ----------------------------------------------------------------------------------------------------
def copies(count, vertices=1000):
    """A character that shows one mesh on many nodes, sharing its arrays."""
    bones = mw.Skeleton(tuple(f"n{k}" for k in range(count)), [-1] * count)
    one = mw.Mesh.rigid("crate", np.zeros((vertices, 3)), [[0, 1, 2]], 0)
    return mw.Character(bones, tuple(one.replace(joint_list=[k], node=k) for k in range(count)))


def test_one_mesh_on_very_many_nodes_is_refused_before_it_is_copied(monkeypatch):
    monkeypatch.setattr(budget, "MAX_VERTICES", 40_000)
    with pytest.raises(ResourceLimitError, match="'crate' is shown 50 times, which makes 50,000 vertices"):
        StudioActor(copies(50), 0, Origin("python", ""))
    StudioActor(copies(40), 0, Origin("python", ""))


def test_what_meshes_share_is_sent_once():
    one, many = (StudioActor(copies(n), 0, Origin("python", "")).asset for n in (1, 40))
    assert len(many.blob) < len(one.blob) + 40 * (2 * 1000 + 200), "but for which joint each follows"
    places = {mesh.buffers["positions"].offset for mesh in many.info.meshes}
    assert len(places) == 1 and len(many.info.meshes) == 40
    low, high = many.info.bounds
    np.testing.assert_allclose([low, high], 0.0, atol=1e-6)


def test_many_joints_times_many_characters_are_refused(monkeypatch):
    monkeypatch.setattr(budget, "MAX_MATRICES", 50)
    session = Session()
    session.put(small_actor())
    assert session.state().max_count == 10
    with pytest.raises(ValidationError, match=r"11 characters of 5 joints .* at most 10"):
        session.apply(p.SetCount(11))
    session.apply(p.SetCount(10))
    assert session.look()[0].count == 10
    monkeypatch.setattr(budget, "MAX_MATRICES", 20)
    session.put(small_actor(1))
    session.tick(0.0)
    assert session.count == 4 and {actor.count for actor in session.actors.values()} == {4}


def test_too_many_joints_are_refused_in_words(monkeypatch):
    monkeypatch.setattr(budget, "MAX_JOINTS", 4)
    with pytest.raises(ResourceLimitError, match="has 5 joints"):
        small_actor()


# -- what is left behind ----------------------------------------------------------------------------------------
def test_uploads_of_a_studio_that_was_killed_go_with_the_next_one(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    dead = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True
    )
    names = {
        f"{PREFIX}{dead.stdout.strip()}-x": False,
        f"{PREFIX}{os.getpid()}-x": True,
        f"{PREFIX}odd": True,
    }
    for name in names:
        (tmp_path / name).mkdir()
    remove_left_behind()
    assert {name: (tmp_path / name).exists() for name in names} == names


def loaded(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=HANG_SECONDS)
    connection.request("GET", "/api/clips", headers={"X-Marrow-Token": "abc-abc-abc"})
    with contextlib.closing(connection):
        return connection.getresponse().status == 200


def test_uploads_go_when_the_server_is_ended_by_a_signal(tmp_path):
    mw.save(small_character(), tmp_path / "small.glb")
    env = {**os.environ, "TMPDIR": str(tmp_path), "MARROW_STUDIO_TOKEN": "abc-abc-abc"}
    command = [
        sys.executable,
        "-m",
        "marrow",
        "view",
        str(tmp_path / "small.glb"),
        "--no-browser",
        "--port",
        "0",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    try:
        port = int(process.stdout.readline().partition("127.0.0.1:")[2].partition("/")[0])
        while not loaded(port):
            pass
        line = socket.create_connection(("127.0.0.1", port), HANG_SECONDS)
        line.sendall(
            b"POST /api/upload?name=a.glb HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Marrow-Token: abc-abc-abc\r\n"
            b"Content-Length: 9\r\n\r\nx"
        )
        while not list(tmp_path.glob(f"{PREFIX}*/*")):
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=HANG_SECONDS)
        assert not list(tmp_path.glob(f"{PREFIX}*"))
        line.close()
    except ConnectionError as error:
        process.kill()
        pytest.fail(f"{error}: {process.communicate()}")
    finally:
        process.kill()
        process.communicate()
