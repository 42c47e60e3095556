"""`mw.view` and `marrow view`: opening, driving, restarting and closing a studio."""

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
from marrow.errors import MarrowError, ValidationError
from marrow.graph import save_graph
from marrow.studio import browser, handle
from marrow.studio.address import ServerError, secret
from marrow.studio.makers import maker_of, maker_of_file
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


def test_in_a_notebook_it_is_a_frame(monkeypatch):
    with opened() as view:
        html = view._repr_html_()
        assert html.startswith("<iframe") and f'src="{view.url}"' in html
        assert f'"proxy/{view.port}/#token={view._address.token}"' in html, (
            "where the notebook comes from elsewhere"
        )
        monkeypatch.setenv("JUPYTERHUB_SERVICE_PREFIX", "/user/ada/")
        assert f'src="/user/ada/proxy/{view.port}/#token=' in view._repr_html_()


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
