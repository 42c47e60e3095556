"""`mw.view` and `marrow view`: opening, driving, restarting and closing a studio."""

import base64
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
import webbrowser
from pathlib import Path

import numpy as np
import pytest
from studio_world import Page, Site, connected, small_character, small_graph

import marrow as mw
from marrow.display.notebook import close_earlier
from marrow.errors import MarrowError, MissingExtraError, ValidationError
from marrow.graph import save_graph
from marrow.rendering.frame import Frame
from marrow.studio import browser, handle
from marrow.studio.address import ServerError, secret
from marrow.studio.makers import maker_of, maker_of_file
from marrow.studio.tickets import LIFE, Tickets
from notebooks import FakeNotebook
from surroundings import HANG_SECONDS


def opened(thing=None, **options):
    return mw.view(thing, port=options.pop("port", 0), browser=False, **options)


def page_of(view):
    return connected(f"127.0.0.1:{view.port}", view._address.token)


def site_of(view):
    return Site(view._server.studio, view._server)


def test_a_character_is_opened_and_closed():
    view = opened(small_character())
    assert view.running and re.fullmatch(r"http://127\.0\.0\.1:\d+/#token=[\w-]{16,}", view.url)
    assert urllib.request.urlopen(view.url).status == 200
    with page_of(view) as socket:
        assert Page(socket).wait("hello")["state"]["clip"] == "wave"
    view.close()
    assert not view.running and "closed" in repr(view)
    view.close()


def test_a_token_is_given_or_in_a_file_or_in_a_variable_or_random(tmp_path, monkeypatch):
    monkeypatch.delenv("MARROW_STUDIO_TOKEN", raising=False)
    assert secret() != secret() and len(secret()) >= 16
    monkeypatch.setenv("MARROW_STUDIO_TOKEN", "from-the-variable")
    file = tmp_path / "token"
    file.write_text("from-the-file\n")
    file.chmod(0o600)
    assert (secret(), secret(None, file)) == ("from-the-variable", "from-the-file")
    assert secret("from-the-program") == "from-the-program"
    with pytest.raises(ValidationError, match="not both"):
        secret("from-the-program", file)
    monkeypatch.setenv("MARROW_STUDIO_TOKEN", "")
    with pytest.raises(ValidationError, match="MARROW_STUDIO_TOKEN"):
        secret()


def test_a_token_file_that_others_may_read_or_that_holds_none_is_refused(tmp_path):
    file = tmp_path / "token"
    file.write_text("from-the-file")
    for mode in (0o640, 0o604, 0o620):
        file.chmod(mode)
        with pytest.raises(ValidationError, match=r"token: others may read .* chmod 600"):
            secret(None, file)
    file.chmod(0o600)
    for data in (
        b"",
        b"short",
        b"two tokens-in-one",
        b"\xff" * 20,
        b"a" * 5000,
        b"first-line\nsecond-line\n",
    ):
        file.write_bytes(data)
        with pytest.raises(ValidationError, match="token"):
            secret(None, file)
    for missing in (tmp_path / "none", tmp_path):
        with pytest.raises(ValidationError, match="cannot be read"):
            secret(None, missing)


def test_a_file_a_graph_and_another_to_compare(tmp_path):
    files = [tmp_path / "a.glb", tmp_path / "b.glb"]
    for k, file in enumerate(files):
        mw.save(small_character(seed=k), file)
    save_graph(small_graph(), tmp_path / "g.json")
    with opened(files[0], graph=tmp_path / "g.json", compare=str(files[1])) as view:
        session = view._server.studio.session
        assert session.mode == "graph" and sorted(session.actors) == [0, 1]
        code = site_of(view).request("/api/code", token=view._address.token).body.decode()
        assert repr(str(files[0])) in code and "load_graph" in code


def test_a_graph_in_python_moves_a_character():
    with opened(small_character(), graph=small_graph()) as view, page_of(view) as socket:
        page = Page(socket)
        assert page.wait("hello")["state"]["mode"] == "graph"


def test_an_animator_is_played_by_the_studio():
    crowd = mw.Animator(small_character(), small_graph(), count=3)
    crowd["x"] = 0.5
    view = opened(crowd)
    try:
        with page_of(view) as socket:
            page = Page(socket)
            state = page.wait("hello")["state"]
            assert (state["count"], state["parameters"]["x"], state["driven"]) == (3, 0.5, False)
            first = page.frame()
            assert np.abs(page.frame().matrices - first.matrices).max() > 0
    finally:
        view.close()


def test_a_program_that_updates_its_own_animator_decides():
    solo = mw.Animator(small_character())
    solo.play("bend")
    with opened(solo) as view, page_of(view) as socket:
        page = Page(socket)
        assert page.wait("hello")["state"]["driven"]
        np.testing.assert_allclose(page.frame().matrices[0], solo.matrices, atol=1e-6)
        solo.update(0.1)
        view.update()
        frame = page.frame()
        np.testing.assert_allclose(frame.matrices[0], solo.matrices, atol=1e-6)
        view.update(0.05)
        assert solo.playback.time == pytest.approx(0.15)
        np.testing.assert_allclose(page.frame().matrices[0], solo.matrices, atol=1e-6)
        page.send("seek", time=0.0)
        assert "plays this character" in page.wait("error")["message"]
        answer = site_of(view).request(
            "/api/upload", token=view._address.token, verb="POST", body=b"x", name="a.glb"
        )
        assert answer.status == 409


def test_parameters_of_the_page_reach_the_program_at_its_next_update():
    crowd = mw.Animator(small_character(), small_graph(), count=2)
    with opened(crowd) as view, page_of(view) as socket:
        page = Page(socket)
        page.wait("hello")
        page.send("parameter", name="x", value=0.75)
        page.wait("state", parameters={"x": 0.75, "y": 0.0, "nod": 0.0, "calm": False})
        page.send("trigger", name="hello")
        page.send("select", joint=2)
        page.wait("state", selected=2)
        assert crowd["x"][0] == 0.0 and view.selected == "lower"
        view.update(0.05)
        assert crowd["x"].tolist() == [0.75, 0.75] and crowd.state() == ["greet", "greet"]


def test_only_the_newest_of_many_updates_is_sent():
    solo = mw.Animator(small_character())
    solo.play("wave")
    with opened(solo) as view, page_of(view) as socket:
        page = Page(socket)
        page.wait("hello")
        for _ in range(300):
            view.update(0.001)
        while not np.allclose(page.frame().matrices[0], solo.matrices, atol=1e-6):
            pass
        assert len(page.frames) < 300


def test_update_is_for_animators():
    view = opened()
    try:
        with pytest.raises(ValidationError, match="animator that was given"):
            view.update()
    finally:
        view.close()


def test_something_else_can_be_shown():
    with opened(small_character(name="one")) as view, page_of(view) as socket:
        page = Page(socket)
        page.wait("hello")
        view.show(small_character(name="two"))
        page.wait("changed", slot=0)
        assert site_of(view).request("/api/character/0", token=view._address.token).json["name"] == "two"
        with pytest.raises(ValidationError, match="slot"):
            view.show(small_character(), slot=2)


def test_pages_find_the_studio_again_after_a_restart():
    first = opened(small_character(), token="again-and-again")
    port = first.port
    with page_of(first) as socket:
        Page(socket).wait("hello")
        first.close()
    with opened(small_character(), port=port, token="again-and-again") as second:
        assert second.url == first.url
        with page_of(second) as socket:
            Page(socket).frame()


def test_a_taken_port_is_an_error_and_the_default_gives_way():
    with opened() as view, pytest.raises(ServerError, match="choose another port"):
        opened(port=view.port)
    with mw.view(browser=False) as one, mw.view(browser=False) as two:
        assert one.port != two.port


@pytest.mark.parametrize("thing", [3, None, [1]])
def test_what_cannot_be_seen_is_refused(thing):
    with pytest.raises(ValidationError, match="expected a Character"):
        maker_of(thing, 0)


def test_an_animator_brings_its_own_graph():
    with pytest.raises(ValidationError, match="its own graph"):
        opened(mw.Animator(small_character()), graph=small_graph())


def test_a_missing_file_is_an_error():
    with pytest.raises(MarrowError, match="no such file"):
        opened("nothing-here.glb")


def drawn_picture(monkeypatch):
    """Pictures take no time."""
    grey = Frame(np.full((54, 96, 4), 128, np.uint8))
    monkeypatch.setattr(mw.StudioView, "picture", lambda self: grey)
    return grey


def test_a_saved_notebook_keeps_a_picture_and_nothing_that_opens_the_studio(monkeypatch):
    FakeNotebook(monkeypatch).run("cell 1")
    grey = drawn_picture(monkeypatch)
    with opened(small_character(name="<b>"), embed=0) as view:
        kept = view._repr_mimebundle_()
        assert base64.b64decode(kept["image/jpeg"]) == grey.encoded(".jpg")
        assert kept["image/jpeg"] in kept["text/html"]
        assert "<iframe" not in kept["text/html"] and "<b>" not in kept["text/html"]
        assert f'"http://127.0.0.1:{view.port}/", "proxy/{view.port}/", null' in kept["text/html"]
        assert view._address.token not in "".join(kept.values())
        assert kept["text/plain"] == f"View('http://127.0.0.1:{view.port}/')"
        monkeypatch.setenv("JUPYTERHUB_SERVICE_PREFIX", "/user/ada/")
        assert f'"/user/ada/proxy/{view.port}/"' in view._repr_html_()


def test_outside_notebooks_the_link_is_printed():
    with opened() as view:
        assert repr(view) == f"View({view.url!r})"


def test_where_no_picture_can_be_drawn_the_cell_says_why(monkeypatch):
    def fail(self):
        raise MissingExtraError("wgpu", "render", "drawing")

    monkeypatch.setattr(mw.StudioView, "picture", fail)
    with opened(small_character(name="hero")) as view:
        kept = view._repr_mimebundle_()
        assert "hero" in kept["text/html"] and "marrow-engine[render]" in kept["text/html"]
        assert "<img" not in kept["text/html"] and "image/jpeg" not in kept
    assert "closed" in view._repr_html_()


def test_a_ticket_opens_the_studio_once(monkeypatch):
    drawn_picture(monkeypatch)
    with opened() as view:
        site = site_of(view)
        ticket = re.search(r'\("marrow-\w+", "([\w-]+)"', view._repr_html_())[1]
        path = f"/open/{ticket}"
        there = site.request(f"{path}/there", token=None)
        assert there.status == 200 and there.headers["cross-origin-resource-policy"] == "cross-origin"
        answer = site.request(path, token=None)
        assert (answer.status, answer.headers["location"]) == (303, f"../#token={view._address.token}")
        assert [site.request(p, token=None).status for p in (path, f"{path}/there", "/open/x/there")] == [
            410
        ] * 3


def test_a_ticket_ends_by_itself_and_old_ones_go():
    now = [0.0]
    tickets = Tickets(lambda: now[0])
    first, second = tickets.new(), tickets.new()
    now[0] = LIFE - 1
    assert tickets.take(first) and not tickets.take(first)
    now[0] = LIFE + 1
    assert not tickets.holds(second) and not tickets.take(second)
    many = [tickets.new() for _ in range(70)]
    assert not tickets.holds(many[0]) and tickets.holds(many[-1])


def test_the_picture_shows_what_is_played(monkeypatch):
    shot = []
    monkeypatch.setattr(
        "marrow.pictures.picture.render", lambda thing, **options: shot.append(thing) or thing
    )
    hero, twin = small_character(), small_character(name="twin")
    with opened(hero) as view:
        view.picture()
    with opened(hero, compare=twin) as view:
        view.picture()
    scene = mw.Scene(hero)
    with opened(scene) as view:
        view.picture()
    assert shot[0].character == hero and shot[1] == [hero, twin] and shot[2] is scene


@pytest.mark.parametrize("named", [True, False])
def test_running_a_cell_again_closes_the_studio_it_had(monkeypatch, named):
    book = FakeNotebook(monkeypatch)
    threads = threading.active_count()

    def run(cell):
        book.run(cell if named else "", code=f"mw.view({cell!r})")
        return [mw.view(small_character(), browser=False) for _ in range(2)]

    kept = run("other cell")
    views = []
    for _ in range(4):
        views += run("cell")
    assert [view.running for view in (*kept, *views)] == [True] * 2 + [False] * 6 + [True] * 2
    book.run("cell" if named else "", code="mw.view('cell')")
    close_earlier()
    for view in kept:
        view.close()
    assert not any(view.running for view in views) and threading.active_count() <= threads


def test_other_interfaces_only_on_request():
    with opened(small_character(), host="0.0.0.0") as view:
        assert view.url.startswith("http://127.0.0.1:")
        site = site_of(view)
        assert site.request("/", token=view._address.token, headers={"Host": "192.168.1.5:1"}).status == 200
        assert site.request("/", token=view._address.token, headers={"Host": "evil.example"}).status == 403
        name = socket.gethostname()
        assert site.request("/", token=view._address.token, headers={"Host": f"{name}:1"}).status == 200
        assert all(f":{view.port}/#token=" in link for link in view._address.reachable)


def test_the_browser_is_handed_a_file_that_only_its_user_can_read(monkeypatch):
    opened_with, gone = [], threading.Event()

    def slow(address):
        opened_with.append(address)
        gone.set()

    monkeypatch.setattr(webbrowser, "open", slow)
    browser.open_in_browser("http://127.0.0.1:8421/#token=secret-secret&x=<")
    assert gone.wait(HANG_SECONDS)
    file = Path(urllib.request.url2pathname(opened_with[0].removeprefix("file://")))
    assert (
        "secret" not in opened_with[0]
        and "url=http://127.0.0.1:8421/#token=secret-secret&amp;x=&lt;" in file.read_text()
    )
    assert os.name == "nt" or file.stat().st_mode & 0o077 == 0
    file.unlink()


def test_the_page_is_served_while_the_browser_starts_and_the_file_is_read(monkeypatch, tmp_path):
    file, held, seen = tmp_path / "a.glb", threading.Event(), []
    mw.save(small_character(), file)
    monkeypatch.setattr(webbrowser, "open", lambda _: held.wait(HANG_SECONDS))

    def load(name):
        seen.append(urllib.request.urlopen(addresses[0].url).status)
        return mw.load(name)

    addresses = []
    maker = maker_of_file(str(file), 0, load=load)
    with handle.open_view([maker], port=0, browser=True, announce=addresses.append):
        assert seen == [200]
    held.set()


def run_command(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "marrow", "view", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def answered(address, token):
    asked = urllib.request.Request(address, headers={"Authorization": f"Bearer {token}"})
    try:
        return urllib.request.urlopen(asked).status == 200
    except urllib.error.HTTPError:
        return False  # the file is still being read


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_prints_its_address_and_ends_in_order(tmp_path, number):
    file = tmp_path / "a.glb"
    mw.save(small_character(), file)
    told = {**os.environ, "MARROW_STUDIO_TOKEN": "abc-abc-abc"}
    process = run_command(str(file), "--no-browser", "--port", "0", env=told)
    try:
        line = process.stdout.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/#token=abc-abc-abc", line)
        assert address, line + process.stderr.read()
        assert urllib.request.urlopen(address[0]).status == 200
        clips = address[0].partition("#")[0] + "api/clips"
        while not answered(clips, "abc-abc-abc"):
            pass
        process.send_signal(number)
        _, errors = process.communicate(timeout=HANG_SECONDS)
        assert process.returncode == 0 and errors == ""
    finally:
        process.kill()
        process.communicate()


def test_the_command_says_what_is_wrong(tmp_path):
    broken = tmp_path / "broken.glb"
    broken.write_bytes(b"glTF" + bytes(30))
    wrong = (
        ([str(broken)], 1),
        (["no-such-file.glb"], 2),
        (["--port", "x"], 2),
        (["--token", "abc-abc-abc"], 2),
    )
    for arguments, code in wrong:
        process = run_command(*arguments, "--no-browser")
        _, errors = process.communicate(timeout=HANG_SECONDS)
        assert process.returncode == code and errors.startswith("error: ") and errors.count("\n") == 1, errors
    assert "command lines" in errors and "--token-file" in errors and "MARROW_STUDIO_TOKEN" in errors


def test_the_server_is_imported_only_when_a_studio_opens():
    heavy = ("starlette", "uvicorn", "websockets")
    code = f"import sys, marrow.studio.protocol; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ)
    assert done.stdout.strip() == "[]", done.stderr


def test_a_character_plays_on_inside_a_with_block():
    with opened(small_character()) as view, page_of(view) as socket:
        page = Page(socket)
        assert not page.wait("hello")["state"]["driven"]
        first = page.frame()
        assert page.frame().time > first.time
        with pytest.raises(ValidationError, match="animator that was given"):
            view.update()


def test_a_driven_graph_is_seen_at_work():
    solo = mw.Animator(small_character(), small_graph())
    with opened(solo) as view, page_of(view) as socket:
        page = Page(socket)
        page.wait("hello")
        solo.trigger("hello")
        view.update(0.3)
        while [m["state"] for m in page.wait("live")["machines"]] != ["greet"]:
            view.update(0.05)


def test_showing_something_else_ends_the_programs_control():
    with opened(mw.Animator(small_character())) as view, page_of(view) as socket:
        page = Page(socket)
        page.wait("hello")
        view.show(small_character(name="two"))
        page.wait("state", driven=False)
        first = page.frame()
        while not page.frame().time > first.time:
            pass


def test_a_program_that_ends_closes_its_studio():
    code = "import marrow as mw; print(mw.view(browser=False, port=0).url)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=HANG_SECONDS)
    assert done.returncode == 0 and done.stderr == "" and done.stdout.startswith("http://")


def test_a_program_may_compare_its_animator_with_a_character():
    solo = mw.Animator(small_character())
    with opened(solo, compare=small_character(seed=8)) as view, page_of(view) as socket:
        page = Page(socket)
        assert page.wait("hello")["state"]["slots"] == [0, 1]
        page.frame(slot=1)
        answer = site_of(view).request("/api/skinned", token=view._address.token, slot=1)
        assert len(answer.body) == 12 * small_character().vertex_count
