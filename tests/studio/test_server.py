"""The server as pages meet it: characters over HTTP, frames over the websocket, uploads, several pages at once."""

import gzip
import io
import json

import numpy as np
import PIL.Image
import pytest
from studio_world import fresh, serving, small_actor, small_character, small_graph, upload
from websockets.exceptions import ConnectionClosed

import ktx2_files as made
import marrow as mw
from marrow.errors import InUseError
from marrow.studio import hub
from marrow.studio import protocol as p
from marrow.studio.actor import Origin, StudioActor
from marrow.studio.page.images import page_images


@pytest.fixture(scope="module")
def served():
    with serving() as found:
        yield found


@pytest.fixture
def site(served):
    return fresh(served, small_actor())


@pytest.fixture
def graph_site(served):
    return fresh(served, small_actor(graph=True))


@pytest.fixture
def glb(tmp_path):
    file = tmp_path / "other.glb"
    mw.save(small_character(seed=11), file)
    return file.read_bytes()


# -- over HTTP --------------------------------------------------------------------------------------------------
def test_character_is_described(site):
    info = site.request("/api/character/0").json
    assert info["name"] == "arm" and [j["name"] for j in info["joints"]][:2] == ["root", "upper"]
    assert [c["name"] for c in info["clips"]] == ["wave", "bend"]
    assert info["clips"][0]["events"] == [{"time": 0.5, "name": "half", "duration": 0.0, "payload": ""}]
    assert info["sockets"][0]["name"] == "grip" and info["graph"] is None
    assert info["materials"][0]["base_color_texture"]["image"] == 0
    assert info["meshes"][0]["sections"][1]["material"] == -1


def test_buffers_have_the_length_the_description_says(site):
    info = site.request("/api/character/0").json
    blob = site.request("/api/character/0/buffers")
    assert len(blob.body) == info["buffer_bytes"]
    at = info["meshes"][0]["buffers"]["positions"]
    found = np.frombuffer(blob.body, "<f4", int(np.prod(at["shape"])), at["offset"]).reshape(at["shape"])
    np.testing.assert_array_equal(found, small_character().meshes[0].positions)


def test_images_are_served_as_images_only(site):
    answer = site.request("/api/image/0/0")
    assert answer.headers["content-type"] == "image/png" and answer.body.startswith(b"\x89PNG")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert site.request("/api/image/0/1").status == 404


def test_an_image_that_claims_to_be_a_page_is_not_one():
    character = small_character()
    evil = mw.Image("x", "text/html", b"<script>alert(1)</script>")
    with serving(StudioActor(character.replace(images=(evil,)), 0, Origin("python", ""))) as site:
        assert site.request("/api/image/0/0").headers["content-type"] == "application/octet-stream"


def test_textures_that_browsers_do_not_show_are_sent_as_png_and_left_out_where_that_cannot_be():
    file, pixels = made.random_etc1s(61, 39, 1, alpha=True)
    images = (
        mw.Image("a", "image/ktx2", file),
        mw.Image("b", "image/ktx2", made.ktx2(99, 4, 4, [bytes(16)])),
    )
    materials = tuple(mw.Material(n, base_color_texture=mw.Texture(k)) for k, n in enumerate("ab"))
    character = small_character().replace(images=images, materials=materials)
    with serving(StudioActor(character, 0, Origin("python", ""))) as site:
        answer = site.request("/api/image/0/0")
        assert answer.headers["content-type"] == "image/png"
        found = np.asarray(PIL.Image.open(io.BytesIO(answer.body)).convert("RGBA"))
        assert np.array_equal(found.reshape(-1, 4), pixels)
        told = site.request("/api/character/0").json["materials"]
        assert [m["base_color_texture"] is None for m in told] == [False, True]
    (page, left), notes = page_images(images, None)
    assert page[0] == "image/webp" and left == ("application/octet-stream", b"")
    assert len(notes) == 1 and "Vulkan format 99" in notes[0]


def test_curves(site):
    found = site.request("/api/curves", clip="wave", joint=2).json
    assert len(found["times"]) == len(found["euler"]) == 21


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        ("/api/character/1", {}, 404),
        ("/api/character/7", {}, 404),
        ("/api/character/x", {}, 404),
        ("/api/curves", {"clip": "nope", "joint": 0}, 404),
        ("/api/curves", {"clip": "wave", "joint": 99}, 404),
        ("/api/curves", {"clip": "wave", "joint": -1}, 400),
        ("/api/curves", {"clip": "wave", "joint": "²"}, 400),
        ("/api/skinned", {"instance": 5}, 404),
        ("/api/skinned", {"skinning": "magic"}, 400),
        ("/api/skinned", {"slot": "9" * 30}, 400),
        ("/api/nothing", {}, 404),
    ],
)
def test_wrong_requests_are_answered_in_words(site, path, query, status):
    answer = site.request(path, **query)
    assert answer.status == status and answer.json["error"]


def test_skinned_positions_are_the_engines(site):
    with site.page() as page:
        page.send("play", playing=False)
        page.send("seek", time=0.4)
        while page.frame().time != pytest.approx(0.4):
            pass
        character = small_character()
        pose = character.clips["wave"].sample(0.4)
        for skinning in ("linear", "dual_quaternion"):
            answer = site.request("/api/skinned", skinning=skinning)
            found = np.frombuffer(answer.body, "<f4").reshape(-1, 3)
            np.testing.assert_allclose(
                found, mw.skin(character, pose, skinning=skinning).positions, atol=1e-4
            )


def test_export_loads_again(site, tmp_path):
    answer = site.request("/api/export.glb")
    assert answer.headers["content-disposition"] == 'attachment; filename="arm.glb"'
    file = tmp_path / "out.glb"
    file.write_bytes(answer.body)
    again = mw.load(file, cache=False)
    assert list(again.clips) == ["wave", "bend"] and again.vertex_count == small_character().vertex_count


def test_code_is_python(site):
    code = site.request("/api/code").body.decode()
    compile(code, "code", "exec")
    assert "animator.play('wave'" in code


# -- over the websocket -----------------------------------------------------------------------------------------
def test_a_page_is_greeted_and_sees_it_move(site):
    with site.page() as page:
        assert page.hello["version"] == p.PROTOCOL_VERSION and page.hello["state"]["clip"] == "wave"
        assert "mannequin" in [s["name"] for s in page.hello["samples"]]
        first, second = page.frame(), page.frame()
        assert first.placements is not None and second.placements is None
        assert second.frame > first.frame and second.time > first.time
        assert np.abs(second.matrices - first.matrices).max() > 0


def test_frames_are_the_engines_matrices(site):
    with site.page() as page:
        page.send("play", playing=False)
        page.send("seek", time=0.7)
        page.wait("state", time=0.7)
        character = small_character()
        expected = mw.skinning_matrices(
            character, character.skeleton.to_model(character.clips["wave"].sample(0.7))
        )
        while page.frames[-1].time != pytest.approx(0.7):
            page.frame()
        np.testing.assert_allclose(page.frames[-1].matrices[0], expected, atol=1e-5)


def test_every_setting_comes_back_as_state(site):
    with site.page() as page:
        page.send("clip", name="bend")
        assert page.wait("state", clip="bend")["duration"] == 0.5
        page.send("speed", value=0.25)
        page.wait("state", speed=0.25)
        page.send("loop", value=False)
        page.wait("state", loop=False)
        page.send("count", value=3)
        page.wait("state", count=3)
        while page.frame().matrices.shape[0] != 3:
            pass
        page.send("select", joint=2)
        page.wait("state", selected=2)
        page.send("play", playing=False)
        page.wait("state", playing=False)


def test_nothing_is_sent_while_nothing_moves(site):
    with site.page() as page:
        page.frame()
        page.send("play", playing=False)
        page.wait("state", playing=False)
        page.sync()
        seen = len(page.frames)
        for joint in (1, 2, 3):
            page.send("select", joint=joint)
            page.wait("state", selected=joint)
        while site.studio.hub._wanted():
            page.sync()
        assert len(page.frames) == seen


def test_time_does_not_pass_while_nobody_watches(site):
    session = site.studio.session
    with site.page() as page:
        page.send("speed", value=0.01)
        page.wait("state", speed=0.01)
    while site.studio.hub.clients:
        pass
    before = session.main.time
    assert session.moving and not site.studio.hub._wanted()
    with site.page() as page:
        assert page.hello["state"]["time"] == pytest.approx(before, abs=1e-3)
        page.frame()


def test_a_page_that_does_not_acknowledge_gets_two_frames(site):
    with site.page() as page:
        page.acknowledge = False
        page.frame()
        page.frame()
        for joint in (1, 2, 3, 4):
            page.send("select", joint=joint)
            page.wait("state", selected=joint)
        assert len(page.frames) == 2
        page.send("ack", frame=page.frames[0].frame)
        page.frame()
        page.sync()
        assert len(page.frames) == 3


def test_the_last_pose_arrives_even_if_the_page_was_busy(site):
    with site.page() as page:
        page.acknowledge = False
        page.frame()
        page.frame()
        page.send("play", playing=False)
        page.send("seek", time=0.35)
        page.wait("state", time=0.35)
        assert len(page.frames) == 2
        page.send("ack", frame=page.frames[-1].frame)
        assert page.frame().time == pytest.approx(0.35)


def test_malformed_messages_are_answered_and_change_nothing(site):
    with site.page() as page:
        for text in ("", "{", "[]", '{"type":"play"}', '{"type":"count","value":1e9}', "\x00" * 50):
            page.socket.send(text)
            assert "not a message" in page.wait("error")["message"]
        page.socket.send(b"\x01\x02")
        assert "not binary" in page.wait("error")["message"]
        page.send("seek", time=1e8)
        page.frame()


def test_unknown_names_are_answered_with_what_there_is(site):
    with site.page() as page:
        page.send("clip", name="wav")
        assert "did you mean 'wave'" in page.wait("error")["message"]


def test_an_oversized_message_ends_only_its_own_page(site):
    with site.page() as good, site.page() as bad:
        bad.socket.send("x" * (p.MAX_MESSAGE_BYTES + 1))
        assert "at most" in bad.wait("error")["message"]
        bad.socket.send("x" * (5 * p.MAX_MESSAGE_BYTES))
        with pytest.raises(ConnectionClosed) as closed:
            bad.wait("never")
        assert closed.value.rcvd.code == 1009
        good.frame()
        good.send("select", joint=1)
        good.wait("state", selected=1)


def test_two_pages_see_the_same(site):
    with site.page() as one, site.page() as two:
        one.send("clip", name="bend")
        two.wait("state", clip="bend")
        one.send("play", playing=False)
        one.send("seek", time=0.2)
        for page in (one, two):
            page.wait("state", time=0.2)
            while page.frames[-1:] == [] or page.frames[-1].time != pytest.approx(0.2):
                page.frame()
        np.testing.assert_array_equal(one.frames[-1].matrices, two.frames[-1].matrices)


def test_a_page_that_reads_nothing_delays_nobody(site):
    with site.page() as good, site.page() as slow:
        slow.acknowledge = False
        slow.send("count", value=2000)
        good.wait("state", count=2000)
        for _ in range(10):
            good.frame()
        # Two frames may be on their way to it; everything newer replaces what waits.
        assert all(len(c.unacknowledged) <= p.FRAMES_IN_FLIGHT for c in site.studio.hub.clients)
        assert all(len(c.pictures) <= 1 and len(c.texts) < 10 for c in site.studio.hub.clients)


def test_a_page_that_talks_too_much_is_slowed_not_served_first(site):
    with site.page() as good, site.page() as flooding:
        for k in range(300):
            flooding.send("select", joint=k % 5)
        good.frame()
        good.send("clip", name="bend")
        good.wait("state", clip="bend")


def test_only_so_many_pages_may_watch(site, monkeypatch):
    monkeypatch.setattr(hub, "MAX_CLIENTS", 1)
    with site.page() as first, pytest.raises(ConnectionClosed), site.page():
        pass
    assert first.hello


def test_a_page_that_vanishes_is_forgotten(site):
    with site.page() as page:
        page.frame()
        with site.page() as other:
            other.frame()
            other.socket.socket.close()  # no goodbye
        while len(site.studio.hub.clients) > 1:
            page.frame()


def test_graph_parameters_and_triggers(graph_site):
    with graph_site.page() as page:
        assert page.hello["state"]["mode"] == "graph"
        info = graph_site.request("/api/character/0").json["graph"]
        assert info["name"] == "small" and info["machines"][0]["states"] == ["move", "greet"]
        assert page.wait("live")["machines"][0]["state"] == "move"
        before = page.frame()
        page.send("parameter", name="x", value=1.0)
        page.wait("state", parameters={"x": 1.0, "y": 0.0, "nod": 0.0, "calm": False})
        assert np.abs(page.frame().matrices - before.matrices).max() > 0
        page.send("trigger", name="hello")
        while page.wait("live")["machines"][0]["state"] != "greet":
            pass
        page.send("mode", value="clip")
        assert page.wait("state", mode="clip")["clip"] == "wave"


def test_what_the_graph_does_is_told_even_when_it_then_stands_still(graph_site):
    with graph_site.page() as page:
        page.frame()
        page.send("play", playing=False)
        page.send("trigger", name="hello")
        page.send("step", frames=6)
        while [m["state"] for m in page.wait("live")["machines"]] != ["greet"]:
            pass
        with graph_site.page() as late:
            assert [m["state"] for m in late.wait("live")["machines"]] == ["greet"]
            assert [h["state"] for h in late.hello["history"]] == ["move", "greet"]


def test_stats_tell_what_it_costs(site):
    with site.page() as page:
        stats = page.wait("stats")
        assert stats["ms_per_update"] > 0 and stats["clients"] == 1 and stats["kb_per_s"] > 0
        assert stats["us_per_character"] == pytest.approx(1e3 * stats["ms_per_update"], rel=0.01)


def test_an_engine_failure_is_told_and_survived(site, monkeypatch):
    with site.page() as page:
        page.frame()

        def broken(_):
            raise ZeroDivisionError("no such thing")

        monkeypatch.setattr(site.studio.session.main, "advance", broken)
        assert "could not be animated" in page.wait("error")["message"]
        page.wait("state", playing=False)
        monkeypatch.undo()
        page.send("play", playing=True)
        page.wait("state", playing=True)
        page.frame()


def test_a_program_that_uses_its_animator_meanwhile_stops_nothing(site, monkeypatch):
    """One update is left out, and the next one comes."""
    with site.page() as page:
        page.frame()
        main, times = site.studio.session.main, []
        advance = main.advance

        def sometimes(seconds):
            times.append(seconds)
            if len(times) % 2:
                raise InUseError("in use by the thread 'MainThread'")
            advance(seconds)

        monkeypatch.setattr(main, "advance", sometimes)
        for _ in range(5):
            page.frame()
        assert len(times) >= 5 and site.studio.session.playing


# -- opening ----------------------------------------------------------------------------------------------------
def test_samples_open_by_name(site, monkeypatch):
    from marrow.studio import makers

    monkeypatch.setattr(
        makers,
        "maker_of_sample",
        lambda name, slot: (
            lambda: StudioActor(small_character(name=name), slot, Origin("sample", name), graph=small_graph())
        ),
    )
    with site.page() as page:
        page.send("open", sample="mannequin")
        page.wait("changed", slot=0)
        page.wait("state", mode="graph")
        assert site.request("/api/character/0").json["name"] == "mannequin"


def test_an_unknown_sample_is_an_error(site):
    with site.page() as page:
        page.send("open", sample="/etc/passwd")
        assert "no sample called" in page.wait("error")["message"]


def test_an_empty_studio_waits_for_a_file(glb):
    with serving() as site, site.page() as page:
        assert page.hello["state"]["slots"] == []
        assert site.request("/api/character/0").status == 404
        page.send("play", playing=True)
        assert "drop a file" in page.wait("error")["message"]
        assert upload(site, glb).status == 200
        page.wait("changed")
        page.frame()


def test_json_has_no_numbers_a_browser_cannot_read(site):
    json.loads(
        site.request("/api/character/0").body, parse_constant=lambda name: pytest.fail(f"{name} in JSON")
    )
    assert io.BytesIO(site.request("/api/character/0/buffers").body).read(4)


def test_the_benchmark_measures_whole_updates():
    from marrow.bench import studio

    call = studio.updating(studio._graph(), 3)
    call()
    call()
    assert studio._bytes_per_second(None) > 60 * 67 * 12 * 4


def test_large_answers_are_compressed_for_those_who_take_it(tmp_path):
    """The same bytes for all, fewer on the wire for those who say so."""
    script = b"const x = 'marrow';\n" * 500
    static = tmp_path / "static"
    static.mkdir()
    (static / "index.html").write_text("<title>page</title>")
    (static / "studio.js").write_bytes(script)
    (static / "small.css").write_text("a {}")
    actor = StudioActor(mw.samples.mannequin(), 0, Origin("python", ""))
    with serving(actor, static=static) as site:
        for path in ("/static/studio.js", "/api/character/0/buffers"):
            plain = site.request(path)
            assert "content-encoding" not in plain.headers and plain.headers["vary"] == "accept-encoding"
            for said in ("gzip", "br, gzip;q=0.5", "*", "GZIP"):
                packed = site.request(path, headers={"Accept-Encoding": said})
                assert (
                    packed.headers["content-encoding"] == "gzip"
                    and gzip.decompress(packed.body) == plain.body
                )
                assert int(packed.headers["content-length"]) == len(packed.body) < 0.6 * len(plain.body)
            for said in ("gzip;q=0", "br", "", "identity, gzip; q=0.0"):
                answer = site.request(path, headers={"Accept-Encoding": said})
                assert "content-encoding" not in answer.headers and answer.body == plain.body
        small = site.request("/static/small.css", headers={"Accept-Encoding": "gzip"})
        assert small.body == b"a {}" and "content-encoding" not in small.headers
        tag = site.request("/static/studio.js", headers={"Accept-Encoding": "gzip"}).headers["etag"]
        assert site.request("/static/studio.js", headers={"If-None-Match": tag}).status == 304
        (static / "studio.js").write_bytes(script + b"//new")
        new = site.request("/static/studio.js", headers={"Accept-Encoding": "gzip"})
        assert gzip.decompress(new.body) == script + b"//new", "a bundle that was built anew"
