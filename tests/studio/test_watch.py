"""A file that is exported again is shown again: what was played and picked stays, and what changed is told."""

import os

import pytest
from studio_world import serving, small_character, small_graph

import marrow as mw
from marrow.studio import watch
from marrow.studio.difference import carried_over, differences, same_buffers
from marrow.studio.makers import maker_of_file
from marrow.studio.watch import Watcher


def moved(character, by):
    """The same with one vertex of the body elsewhere."""
    positions = character.meshes[0].positions.copy()
    positions[5] += by
    return character.replace(meshes=(character.meshes[0].replace(positions=positions), *character.meshes[1:]))


@pytest.fixture
def watched(tmp_path):
    """A studio that shows a file, and the one who watches it, looking only when told to."""
    file = tmp_path / "arm.glb"
    mw.save(small_character(), file)
    maker = maker_of_file(str(file), 0, load=lambda name: mw.load(name, cache=False))
    actor = maker()
    with serving(actor) as site, site.page() as page:
        page.hello_file = file
        yield site, page, Watcher(site.server, maker, actor)


def export(page, character, look):
    """Writes the file anew, and looks until it has settled."""
    mw.save(character, page.hello_file)
    stat = page.hello_file.stat()
    os.utime(page.hello_file, ns=(stat.st_atime_ns, stat.st_mtime_ns + 10**9))  # some clocks are coarse
    assert not look(), "an exporter may still be writing"
    return look()


def test_what_was_played_and_picked_stays_and_what_changed_is_told(watched):
    site, page, watcher = watched
    page.send("clip", name="bend")
    page.send("play", playing=False)
    page.send("seek", time=0.3)
    page.send("select", joint=3)
    page.send("count", value=2)
    page.wait("state", count=2, selected=3)
    assert not watcher.look()
    old = mw.load(page.hello_file, cache=False)
    clips = [c.trimmed(0.0, 0.8) if c.name == "wave" else c for c in old.clips.values()]
    clips.append(old.clips["bend"].renamed("nod"))
    assert export(page, moved(old, [0, 0, 0.25]).replace(clips=clips), watcher.look)
    changed = page.wait("changed")
    assert changed["kept"] and changed["meshes"]
    told = changed["difference"]
    assert (told["clips_added"], told["clips_changed"], told["clips_removed"]) == (["nod"], ["wave"], [])
    assert (told["vertices_moved"], told["comparable"]) == (1, True)
    assert told["largest"] > 0.01 and told["meshes_changed"] == ["body"]
    assert not told["joints_added"] and not told["joints_removed"] and not told["joints_moved"]
    state = page.wait("state", selected=3)
    assert (state["clip"], state["time"], state["playing"], state["count"]) == ("bend", 0.3, False, 2)
    assert site.studio.session.main.before == old  # what the view `difference` compares with


def test_nothing_new_in_the_meshes_is_not_sent_again(watched):
    _, page, watcher = watched
    old = mw.load(page.hello_file, cache=False)
    assert export(page, old.replace(clips=[old.clips["wave"]]), watcher.look)
    changed = page.wait("changed")
    assert changed["kept"] and not changed["meshes"] and changed["difference"]["clips_removed"] == ["bend"]


def test_a_broken_export_is_told_and_what_was_shown_stays(watched):
    site, page, watcher = watched
    page.hello_file.write_bytes(b"glTF" + bytes(60))
    assert not watcher.look()
    assert watcher.look()
    said = page.wait("error")["message"]
    assert "arm.glb" in said and "stays" in said
    assert site.request("/api/character/0").json["name"] == "arm"
    page.hello_file.unlink()
    assert not watcher.look() and not watcher.look(), "between two versions there may be none"
    assert not export(page, small_character(seed=9), watcher.look) or page.wait("changed")["kept"]


def test_something_else_that_was_opened_is_not_replaced(watched):
    site, page, watcher = watched
    from studio_world import small_actor

    site.server.wait_for(site.studio.show, small_actor(name="other"))
    page.wait("changed")
    assert export(page, small_character(seed=9), watcher.look)
    page.sync()
    assert site.request("/api/character/0").json["name"] == "other"


def test_edits_of_clips_survive_a_new_export(watched):
    site, page, watcher = watched
    page.send("edit", clip="bend", tool="trim", start=0.1, end=0.2)
    page.wait("changed")
    page.send("edit", clip="wave", tool="duplicate", name="mine")
    page.wait("changed")
    old = mw.load(page.hello_file, cache=False)
    assert export(page, moved(old, [0.1, 0, 0]), watcher.look)
    page.wait("changed", meshes=True)
    clips = {c["name"]: c["duration"] for c in site.request("/api/clips").json}
    assert clips == {"wave": 1.0, "bend": pytest.approx(0.1), "mine": 1.0}


def test_joints_that_come_go_and_move():
    old = small_character()
    bones = old.skeleton
    rest = bones.rest
    place = rest.translation.copy()
    place[3] += [0.0, 0.5, 0.0]
    names = ("root", "upper", "lower", "hand", "tail")
    new = mw.Skeleton(
        names, bones.parents, mw.Pose(place, rest.rotation, rest.scale), morph_names=bones.morph_names
    )
    told = differences(old, mw.Character(new, ()))
    assert (told.joints_added, told.joints_removed, told.joints_moved) == (["tail"], ["head"], ["hand"])
    assert not told.comparable and told.vertices_moved == 0
    assert not same_buffers(old, mw.Character(new, ()))
    assert len(carried_over(old, old.replace(clips=[]), mw.Character(new, ())).clips) == 0


def test_a_graph_file_is_watched_too(tmp_path):
    mw.save(small_character(), tmp_path / "a.glb")
    mw.graph.save_graph(small_graph(), tmp_path / "g.json")
    maker = maker_of_file(str(tmp_path / "a.glb"), 0, tmp_path / "g.json")
    assert [os.path.basename(f) for f in maker.files] == ["a.glb", "g.json"]


def test_view_watches_what_it_opens(tmp_path, monkeypatch):
    monkeypatch.setattr(watch, "PERIOD", 0.001)
    file = tmp_path / "arm.glb"
    mw.save(small_character(), file)
    with mw.view(file, browser=False, port=0) as view:
        session = view._server.studio.session
        before = session.main
        mw.save(small_character(seed=5), file)
        stat = file.stat()
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns + 10**9))
        while session.main is before:
            pass
        view.show(small_character())
        assert not view._watchers
    with mw.view(file, browser=False, port=0, watch=False) as view:
        assert not view._watchers
