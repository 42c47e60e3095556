"""What views draw in the page: the same lines, colours and words that `mw.render` draws, through the protocol."""

from __future__ import annotations

import base64

import numpy as np
import pytest
from studio_world import Page, fresh, serving, small_actor

import marrow as mw
from marrow.errors import ValidationError
from marrow.scene.actor_state import actor_states
from marrow.scene.views import KINDS, draw_views, parse_views
from marrow.scene.views.drawing import Drawing
from marrow.scene.views.staging import stage_of
from marrow.studio.actor import Origin, StudioActor
from marrow.studio.drawing_frames import unpack_drawing

TIME = 0.3


@pytest.fixture(scope="module")
def site():
    with serving(small_actor()) as opened:
        yield opened


@pytest.fixture(scope="module")
def walker():
    """Two legs that stand and go: it has contacts."""
    return mw.samples.load("mannequin")


def rendered(character, view: str, clip: str, time: float, transforms=None) -> Drawing:
    """The drawing that a renderer makes of a scene."""
    actor = mw.Actor(character, clip=clip, time=time, transforms=transforms)
    states = actor_states(mw.Scene(actor))
    levels = [np.zeros(states[0].count, np.int64)]
    return draw_views(parse_views(view), stage_of(states, levels))


def ask(page: Page, view: str, **options) -> None:
    """Asks for views, and reads on until a frame has come with what they draw."""
    views = [{"name": v.name, "argument": v.argument} for v in parse_views(view)]
    page.send("views", views=views, **options)
    newest(page)


def newest(page: Page) -> None:
    """Reads on until a frame has come of what was asked for so far."""
    page.sync()
    seen = max((frame.frame for frame in page.frames), default=-1)
    page.send("advance", seconds=0)
    while page.frame().frame <= seen + 1:  # one more may have been on its way
        page.send("advance", seconds=0)


def paused(page: Page, time: float = TIME) -> None:
    page.send("play", playing=False)
    page.send("seek", time=time)
    page.sync()


def as_bytes(colors) -> np.ndarray:
    return np.round(np.clip(colors, 0, 1) * 255).astype(np.uint8)


def same(page: Page, made: Drawing, size: float = 1.0) -> None:
    """The page's drawing is the one that was made."""
    drawn = page.drawings[0]
    text, arrays = drawn.text, drawn.arrays
    laid = [part for part in made.surface_parts if part.along != "tangent"]
    loose = [part.lines for part in made.surface_parts if part.along == "tangent"] + made.parts
    parts = [np.concatenate(arrays_of) for arrays_of in zip(*loose)] if loose else None
    if parts is None:
        assert len(arrays["line_start"]) == 0
    else:
        start, end, colors, widths, hidden = parts
        np.testing.assert_allclose(arrays["line_start"], start, atol=2e-5 * size)
        np.testing.assert_allclose(arrays["line_end"], end, atol=2e-5 * size)
        assert np.array_equal(arrays["line_color"], as_bytes(colors))
        np.testing.assert_allclose(arrays["line_width"], widths, rtol=1e-6)
        np.testing.assert_allclose(arrays["line_hidden"], hidden, rtol=1e-6)
    assert [one.text for one in text.labels] == [one.text for one in made.labels]
    np.testing.assert_allclose(
        arrays["label_at"],
        np.reshape([(*one.at, one.rank, one.length) for one in made.labels], (-1, 5)),
        atol=2e-5 * size,
    )
    assert [one.title for one in text.legends] == [one.title for one in made.legends]
    assert text.notes == list(dict.fromkeys(made.notes))
    assert len(text.surface) == len(laid)
    for k, (told, lines) in enumerate(zip(text.surface, laid)):
        assert np.array_equal(arrays[f"surface{k}_start"], lines.start)
        if lines.end is not None:
            assert np.array_equal(arrays[f"surface{k}_end"], lines.end)
        colors = arrays[f"surface{k}_color"]
        assert np.array_equal(np.broadcast_to(colors, (len(lines.start), 4)), as_bytes(lines.colors))
        assert (told.along, told.width, told.hidden) == (lines.along, lines.width, lines.hidden)
        assert told.length == pytest.approx(lines.length, rel=1e-2)
    assert len(text.paints) == len(made.paints)
    for k, (told, (key, paint)) in enumerate(zip(text.paints, sorted(made.paints.items()))):
        assert (told.level, told.mode, told.lit) == (key[1], paint.mode, paint.lit)
        assert told.strength == pytest.approx(paint.strength)
        if paint.colors is not None:
            colors = np.broadcast_to(arrays[f"paint{k}"], paint.colors.shape)
            assert np.abs(colors.astype(int) - as_bytes(paint.colors)).max(initial=0) <= 1
    assert text.ghosts == sum(len(ghost.times) for ghost in made.ghosts)


@pytest.mark.parametrize("view", [*(n for n, k in KINDS.items() if k.argument != "JOINT"), "weights:lower"])
def test_the_page_draws_what_a_renderer_draws(site, view):
    actor = small_actor()
    fresh(site, actor)
    with site.page() as page:
        paused(page)
        ask(page, view)
        same(page, rendered(actor.character, view, "wave", TIME))


def test_a_body_with_two_legs_shows_its_contacts_trails_and_ghosts(site, walker):
    fresh(site, StudioActor(walker, 0, Origin("python", "")))
    with site.page() as page:
        page.send("clip", name="walk")
        paused(page)
        for view in ("contacts+skeleton", "trails:hand_l", "ghosts:4"):
            ask(page, view)
            made = rendered(walker, view, "walk", TIME)
            assert made.parts or made.ghosts
            same(page, made)
        ghosts = page.drawings[0].arrays["ghost_matrices"]
        times = made.ghosts[0].times
        pose = walker.clips["walk"].sample(times)
        surface = mw.skin(walker, pose).positions
        mine = mw.skin(walker, np.ascontiguousarray(ghosts)).positions
        np.testing.assert_allclose(mine, surface, atol=1e-4)
        assert np.array_equal(page.drawings[0].arrays["ghost_colors"], as_bytes(made.ghosts[0].colors))


def test_what_stays_the_same_is_sent_once(site):
    fresh(site, small_actor())
    with site.page() as page:
        paused(page)
        ask(page, "weights:lower+skeleton")
        first = page.drawings[0].arrays["paint0"]
        whole = page.drawings[0].bytes[-1]
        page.send("seek", time=0.5)
        newest(page)
        drawn = page.drawings[0]
        assert drawn.arrays["paint0"] is first
        assert len(drawn.bytes) >= 2 and drawn.bytes[-1] < 0.6 * whole
        before = len(drawn.bytes)
        ask(page, "weights:lower+skeleton")  # the same again: nothing is news
        assert len(page.drawings[0].bytes) == before


def test_a_drawing_comes_before_the_frame_it_belongs_to_and_can_be_taken_back(site):
    fresh(site, small_actor())
    with site.page() as page:
        paused(page)
        ask(page, "bounds")
        assert len(page.drawings[0].arrays["line_start"])
        ask(page, "")
        assert not len(page.drawings[0].arrays["line_start"]) and not page.drawings[0].text.legends


def test_of_a_few_instances_all_are_drawn_and_of_a_crowd_the_one_that_was_picked(site):
    actor = small_actor()
    fresh(site, actor)
    with site.page() as page:
        paused(page)
        page.ask("count", value=3)
        ask(page, "skeleton:plain")
        bones = len(rendered(actor.character, "skeleton:plain", "wave", TIME).all_lines.start)
        assert len(page.drawings[0].arrays["line_start"]) == 3 * bones
        page.ask("count", value=50)
        ask(page, "skeleton:plain", picked=7)
        lines = page.drawings[0].arrays
        assert len(lines["line_start"]) == bones
        made = rendered(actor.character, "skeleton:plain", "wave", TIME, actor.placements[7])
        same(page, made, 10.0)


def test_a_pose_of_the_page_is_what_is_drawn(site):
    actor = small_actor()
    fresh(site, actor)
    rest = actor.character.skeleton.rest_model.astype("<f4")
    with site.page() as page:
        paused(page)
        ask(page, "skeleton:plain", pose=base64.b64encode(rest.tobytes()).decode())
        known = {tuple(np.round(at, 4)) for at in rest[:, :, 3]}
        lines = page.drawings[0].arrays
        bones = lines["line_width"][:, 0] == 6.0
        assert bones.any() and {tuple(np.round(at, 4)) for at in lines["line_end"][bones]} <= known


def test_the_mask_of_a_layer_is_drawn(site):
    actor = small_actor(graph=True)
    fresh(site, actor)
    mask = actor.graph_info.masks[0]
    with site.page() as page:
        ask(page, "", mask=mask.path)
        drawn = page.drawings[0]
        assert drawn.text.paints[0].mode == "vertices" and "layer" in drawn.text.legends[0].title
        full = np.array(mask.weights)
        mesh = actor.character.meshes[0]
        v = int(np.argmax((mesh.weights * full[mesh.joint_list[mesh.joints]]).sum(axis=1)))
        share = float((mesh.weights[v] * full[mesh.joint_list[mesh.joints[v]]]).sum())
        from marrow.scene.colors import color_map

        assert np.abs(drawn.arrays["paint0"][v].astype(int) - as_bytes(color_map(np.array(share)))).max() <= 1


def test_the_file_before_and_the_second_character_are_compared(site):
    actor = small_actor()
    moved = actor.character.meshes[0].positions.copy()
    moved[3] += 0.5
    mesh = actor.character.meshes[0].replace(positions=moved)
    actor.before = actor.character.replace(meshes=(mesh, *actor.character.meshes[1:]))
    fresh(site, actor)
    with site.page() as page:
        paused(page)
        ask(page, "difference", compare="before")
        colors = page.drawings[0].arrays["paint0"][0].astype(int)
        changed = np.flatnonzero(np.abs(colors - colors[0]).max(axis=1) > 3)
        assert changed.tolist() == [3]


def test_what_cannot_be_drawn_is_told_and_the_page_goes_on(site):
    fresh(site, small_actor())
    with site.page() as page:
        page.send("views", views=[{"name": "skeletn"}])
        assert "did you mean 'skeleton'" in page.wait("error")["message"]
        page.send("views", views=[], pose="no base64!")
        assert "base64" in page.wait("error")["message"]
        paused(page)
        ask_for = [{"name": "weights", "argument": "nobody"}, {"name": "skeleton", "argument": "plain"}]
        page.send("views", views=ask_for)
        newest(page)
        drawn = page.drawings[0]
        assert any("nobody" in note for note in drawn.text.notes) and len(drawn.arrays["line_start"])


def test_every_view_is_in_the_menu_of_a_page(site):
    fresh(site, small_actor())
    views = site.request("/api/character/0").json["views"]
    assert [v["name"] for v in views] == list(KINDS)
    keys = [v["key"] for v in views if v["key"]]
    assert len(set(keys)) == len(keys)
    assert all(v["meaning"] for v in views)


@pytest.mark.parametrize("data", [b"", b"\0" * 16, b"WDRM" + b"\xff" * 12])
def test_bytes_that_are_no_drawing_are_refused(data):
    with pytest.raises(ValidationError):
        unpack_drawing(data)
