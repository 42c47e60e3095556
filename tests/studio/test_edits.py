"""Clips edited in the studio, taken back and exported; parts of clips; time that passes exactly."""

import numpy as np
import pytest
from studio_world import serving, small_actor, small_character

import marrow as mw
from marrow.errors import MarrowError, ValidationError
from marrow.studio import protocol as p
from marrow.studio.actor import Origin, StudioActor
from marrow.studio.edits import MOST, Edits, edited
from marrow.studio.session import Session

hero = mw.samples.mannequin


@pytest.fixture(scope="module")
def walker():
    return hero().replace(clips=[hero().clips[n] for n in ("walk", "idle")])


def test_each_tool_does_what_the_engine_does(walker):
    walk = walker.clips["walk"]
    for message, right in (
        (p.EditClip("walk", "trim", start=0.2, end=0.6), walk.trimmed(0.2, 0.6)),
        (p.EditClip("walk", "loop_seam", seconds=0.1), walk.looped(0.1)),
        (p.EditClip("walk", "in_place"), walk.in_place()),
        (p.EditClip("walk", "mirror"), walk.mirrored(name="walk")),
        (p.EditClip("walk", "reverse"), walk.reversed()),
        (p.EditClip("walk", "contacts"), walk.with_contacts()),
    ):
        made, words, shown = edited(walker, message)
        assert made.clips["walk"] == right.replace(name="walk") and shown == "walk"
        assert message.tool.replace("_", " ") in words
        assert made.clips["idle"] is walker.clips["idle"] and list(made.clips) == ["walk", "idle"]


def test_names_and_events(walker):
    made, _, shown = edited(walker, p.EditClip("walk", "rename", name="stroll"))
    assert list(made.clips) == ["stroll", "idle"] and shown == "stroll"
    made, _, shown = edited(walker, p.EditClip("walk", "duplicate"))
    assert list(made.clips) == ["walk", "walk_2", "idle"] and shown == "walk_2"
    made, _, shown = edited(walker, p.EditClip("walk", "remove"))
    assert list(made.clips) == ["idle"] == [shown]
    entries = [p.EventEntry(0.3, "cut", 0.2, "blade"), p.EventEntry(0.1, "step")]
    made, _, _ = edited(walker, p.EditClip("walk", "events", events=entries))
    assert [(e.time, e.name, e.duration, e.payload) for e in made.clips["walk"].events] == [
        (0.1, "step", 0.0, ""),
        (0.3, "cut", 0.2, "blade"),
    ]


@pytest.mark.parametrize(
    "message",
    [
        p.EditClip("nothing", "mirror"),
        p.EditClip("walk", "rename", name=" "),
        p.EditClip("walk", "rename", name="idle"),
        p.EditClip("walk", "trim", start=0.6, end=0.2),
        p.EditClip("walk", "events", events=[p.EventEntry(99.0, "late")]),
        p.EditClip("walk", "events"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(walker, message):
    with pytest.raises(MarrowError):
        edited(walker, message)


def test_undo_and_redo_walk_through_what_was_done(walker):
    edits, now, seen = Edits(), walker, [walker]
    for k in range(MOST + 5):
        before = now
        now, words, _ = edited(now, p.EditClip("idle", "rename" if k % 2 else "reverse", name="idle"))
        edits = edits.done(words, before)
        seen.append(now)
    for k in range(MOST):
        edits, now = edits.back(now)
        assert now.clips == seen[-2 - k].clips
    with pytest.raises(ValidationError, match="nothing to undo"):
        edits.back(now)
    for k in range(MOST):
        edits, now = edits.again(now)
        assert now.clips == seen[6 + k].clips
    with pytest.raises(ValidationError, match="nothing to do again"):
        edits.again(now)
    edits, now = edits.back(now)
    assert edits.done("x", now).redoes is None


def test_a_page_edits_undoes_and_exports(tmp_path):
    with serving(small_actor()) as site, site.page() as page:
        page.send("select", joint=2)
        page.send("clip", name="bend")
        page.wait("state", clip="bend", selected=2)
        page.send("edit", clip="bend", tool="trim", start=0.1, end=0.3)
        changed = page.wait("changed")
        assert (changed["kept"], changed["meshes"]) == (True, False)
        state = page.wait("state", undo="trim of bend")
        assert state["selected"] == 2 and state["clip"] == "bend" and state["duration"] == pytest.approx(0.2)
        assert [c["duration"] for c in site.request("/api/clips").json] == [1.0, pytest.approx(0.2)]
        page.send("edit", clip="wave", tool="rename", name="hello")
        page.wait("state", undo="rename wave to hello")
        page.send("undo")
        page.wait("state", undo="trim of bend", redo="rename wave to hello")
        page.send("undo")
        page.wait("state", undo=None)
        assert [c["name"] for c in site.request("/api/clips").json] == ["wave", "bend"]
        page.send("undo")
        assert "nothing to undo" in page.wait("error")["message"]
        page.send("redo")
        page.wait("state", undo="trim of bend")
        answer = site.request("/api/export.glb", clips="bend")
        (tmp_path / "a.glb").write_bytes(answer.body)
        made = mw.load(tmp_path / "a.glb", cache=False)
        assert list(made.clips) == ["bend"] and made.clips["bend"].duration == pytest.approx(0.2, abs=1e-5)
        assert site.request("/api/export.glb", clips="no").status == 404
        assert "clips were edited" in site.request("/api/code").body.decode()
        page.send("edit", clip="bend", tool="in_place", start=0.5)
        page.sync()


def test_a_clip_that_the_graph_plays_cannot_be_taken_away():
    with serving(small_actor(graph=True)) as site, site.page() as page:
        page.send("edit", clip="wave", tool="remove")
        assert "wave" in page.wait("error")["message"]
        assert [c["name"] for c in site.request("/api/clips").json] == ["wave", "bend"]


# -- parts of clips, and time -----------------------------------------------------------------------------------
@pytest.fixture
def session():
    found = Session()
    found.put(small_actor())
    return found


def test_a_part_of_a_clip_goes_round(session):
    session.apply(p.SetRange(0.25, 0.5))
    assert session.state().range == (0.25, 0.5) and session.main.time == pytest.approx(0.25)
    at = []
    for _ in range(40):
        session.tick(1 / 30)
        at.append(session.main.time)
    assert min(at) >= 0.25 - 1e-6 and max(at) <= 0.5 + 1e-6 and np.diff(at).min() < 0
    right = 0.25 + np.mod(np.arange(1, 41) / 30, 0.25)
    assert np.minimum(abs(at - right), 0.25 - abs(at - right)).max() < 1e-5
    session.apply(p.SetLoop(False))
    for _ in range(20):
        session.tick(1 / 30)
    assert session.main.time == pytest.approx(0.5) and not session.playing
    session.apply(p.Play(True))
    assert session.main.time == pytest.approx(0.25)
    session.apply(p.PickClip("bend"))
    assert session.state().range is None


@pytest.mark.parametrize(("start", "end"), [(0.5, 0.5), (0.7, 0.2), (5.0, None), (None, -1.0)])
def test_a_part_that_is_none_is_refused(session, start, end):
    with pytest.raises(ValidationError, match="begins before it ends"):
        session.apply(p.SetRange(start, end))


def test_the_whole_clip_is_no_part(session):
    session.apply(p.SetRange(0.2, 0.4))
    session.apply(p.SetRange(None, None))
    assert session.range is None and session.main.range is None


def test_time_passes_exactly_when_asked_to(session):
    session.apply(p.SetSpeed(0.25))
    for k in range(1, 8):
        session.apply(p.Advance(0.04))
        assert session.main.time == pytest.approx(0.04 * k) and session.changed and not session.playing
        session.look()
    session.apply(p.Advance(0.0))
    assert session.changed, "a frame follows in any case"
    session.apply(p.Advance(1.0))
    assert session.main.time == pytest.approx(0.28)
    session.apply(p.SetLoop(False))
    session.apply(p.Advance(5.0))
    assert session.main.time == pytest.approx(1.0)


def test_a_graph_advances_exactly():
    session = Session()
    session.put(small_actor(graph=True))
    twin = mw.Animator(small_character(), session.main.graph)
    for _ in range(10):
        session.apply(p.Advance(1 / 24))
        twin.update(1 / 24)
    np.testing.assert_allclose(session.look()[0].matrices[0], twin.matrices, atol=1e-5)


def test_the_second_character_shows_a_clip_of_its_own(session):
    session.put(small_actor(1))
    assert session.state().second_clip == "wave"
    session.apply(p.PickClip("bend", slot=1))
    assert (session.main.clip, session.state().second_clip) == ("wave", "bend")
    session.tick(0.1)
    assert session.actors[1].time == pytest.approx(session.main.time)
    session.apply(p.Seek(0.3))
    assert session.actors[1].time == pytest.approx(0.3)
    with pytest.raises(MarrowError, match="no clip"):
        session.apply(p.PickClip("no", slot=1))
    session.remove(1)
    with pytest.raises(ValidationError, match="no second"):
        session.apply(p.PickClip("bend", slot=1))


def test_who_drives_is_said(monkeypatch):
    monkeypatch.setattr("sys.argv", ["/somewhere/crowd.py"])
    solo = mw.Animator(small_character())
    with mw.view(solo, browser=False, port=0) as view:
        session = view._server.studio.session
        assert session.state().driver == "crowd.py"
        with pytest.raises(ValidationError, match="plays this character"):
            session.apply(p.Seek(0.1))


def test_the_actor_keeps_its_buffers_through_edits():
    actor = StudioActor(small_character(), 0, Origin("python", ""))
    blob = actor.asset.blob
    from marrow.studio.jobs import with_clips

    new = with_clips(actor, actor.character.replace(clips=[]))
    assert new.asset.blob is blob and new.asset.info.clips == []
