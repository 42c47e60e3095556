"""Views as data: what they draw, against numbers worked out by other means."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

import marrow as mw
from marrow.errors import UnknownNameError, ValidationError
from marrow.rendering.canvas import Canvas, place_labels, wrapped
from marrow.rendering.passes.outputs import OUTPUTS
from marrow.rendering.text import SIDE, Atlas, can_write, text_size
from marrow.scene.colors import LEFT, MAPS, NOTHING, RIGHT, color_map, packed
from marrow.scene.projection import camera_matrices, project, view_depth
from marrow.scene.views import KINDS, Drawing, Posed, Stage, View, draw_views, parse_views
from marrow.scene.views.difference import file_difference, skinning_difference
from marrow.scene.views.drawing import Label
from marrow.scene.views.motion import contact_places, event_places, trail_points
from marrow.scene.views.skeleton import short_names
from marrow.scene.views.surface import edges, joint_weights


def turned(angle=0.7, move=(0.3, 0.1, -2.0), scale=1.0):
    c, s = scale * np.cos(angle), scale * np.sin(angle)
    return np.array([[c, 0, s, move[0]], [0, scale, 0, move[1]], [-s, 0, c, move[2]]], np.float64)


def posed(character, clip=None, times=(0.3,), transforms=None, level=0):
    times = np.asarray(times, np.float64)
    count = len(times)
    at = character.levels[level]
    pose = character.clips[clip].sample(times) if clip else character.skeleton.rest.broadcast_to((count,))
    model = character.skeleton.to_model(pose)[:, : len(at.skeleton)]
    places = np.broadcast_to(np.eye(3, 4) if transforms is None else transforms, (count, 3, 4))
    morphs = np.ascontiguousarray(pose.morphs) if pose.morph_count else None
    return Posed(
        0, at, np.ascontiguousarray(model), places, morphs, level, np.arange(count),
        character.clips[clip] if clip else None, times if clip else np.zeros(0),
    )  # fmt: skip


def drawn(view, *things, compare=None) -> Drawing:
    return draw_views(parse_views(view), Stage(things, compare))


# -- names ------------------------------------------------------------------------------------------------------------
def test_views_are_named_and_combined():
    assert parse_views("skeleton+weights:hand_l") == (View("skeleton"), View("weights", "hand_l"))
    assert parse_views(["skeleton", "uv"]) == (View("skeleton"), View("uv"))
    assert parse_views(None) == parse_views("") == parse_views("shaded") == ()
    assert parse_views(" trails:hand_l,hand_r + bounds ") == (View("trails", "hand_l,hand_r"), View("bounds"))
    assert parse_views("weights:mixamorig:Hips") == (View("weights", "mixamorig:Hips"),)
    assert parse_views("weights:a+b+uv") == (View("weights", "a+b"), View("uv"))


@pytest.mark.parametrize("text", ["skeletn", "weight:hand_l", "wireframes"])
def test_an_unknown_view_is_told_with_a_guess(text):
    with pytest.raises(UnknownNameError, match="did you mean"):
        parse_views(text)


@pytest.mark.parametrize(
    "view", ["weights", "uv:3", 7, "ghosts:many", "ghosts:0", "difference:far", "difference:-1"]
)
def test_views_that_make_no_sense_are_refused(hero, view):
    with pytest.raises(ValidationError):
        drawn(view, posed(hero, "walk"))


def test_unknown_joints_are_told_with_a_guess(hero):
    for view in ("weights:hand_1", "trails:hand_1"):
        with pytest.raises(UnknownNameError, match="hand_l"):
            drawn(view, posed(hero, "walk"))


def test_every_view_draws_one_many_and_nothing(hero):
    bones = mw.Character(mw.Skeleton(("a", "b"), [-1, 0]))
    nothing = mw.Character(mw.Skeleton((), []))
    three = posed(hero, "walk", (0.1, 0.2, 0.5), np.stack([turned(k, (k, 0, 0)) for k in range(3)]))
    for name, kind in KINDS.items():
        view = name if not kind.argument or kind.argument.startswith("[") else f"{name}:hand_l"
        for thing in (posed(hero, "walk"), three, posed(hero), posed(hero, "walk", level=2)):
            made = drawn(view, thing)
            assert all(np.isfinite(a).all() for a in made.all_lines)
            assert made.parts or made.paints or made.ghosts or made.notes
        if name != "weights":
            for thing in (posed(bones), posed(nothing)):
                drawn(view, thing)
        if name != "weights":
            drawn(view)


def test_what_is_not_a_number_is_left_out(hero):
    good = posed(hero, "walk")
    bad = Posed(0, hero, np.full_like(good.model, np.nan), good.transforms, None, 0, np.arange(1))
    for view in ("skeleton", "bounds", "tangents", "wireframe"):
        assert not len(drawn(view, bad).all_lines.start)
    with np.errstate(all="raise"):
        assert np.isfinite(drawn("skeleton", good).all_lines.start).all()


# -- what they say ----------------------------------------------------------------------------------------------------
def test_bones_join_parents_and_children_in_the_world(hero):
    where = turned()
    thing = posed(hero, "run", (0.2,), where)
    lines = drawn("skeleton:plain", thing).all_lines
    model = hero.skeleton.to_model(hero.clips["run"].sample(0.2))[..., 3].astype(np.float64)
    at = model @ where[:, :3].T + where[:, 3]
    known = {tuple(p) for p in np.round(at, 5)}
    bones = lines.widths[:, 0] == 6.0
    assert bones.sum() > 50
    ends = np.round(np.concatenate([lines.start[bones], lines.end[bones]]), 5)
    assert all(tuple(p) in known for p in ends)
    j = hero.skeleton.index("lowerarm_l")
    p = hero.skeleton.parents[j]
    assert (
        np.isclose(lines.start[bones], at[p], atol=1e-5).all(1)
        & np.isclose(lines.end[bones], at[j], atol=1e-5).all(1)
    ).any()


def test_sides_of_the_body_have_their_colours(hero):
    made = drawn("skeleton", posed(hero))
    colors = {label.text: np.array(label.color) for label in made.labels}
    assert np.allclose(colors["hand_l"], 0.7 + 0.3 * LEFT)
    assert np.allclose(colors["foot_r"], 0.7 + 0.3 * RIGHT)
    assert len({label.text for label in made.labels}) == len(made.labels)


def test_a_prefix_that_all_names_have_is_left_out():
    assert short_names(("rig:Hips", "rig:Head")) == ("Hips", "Head")
    assert short_names(("a:b:Hips", "a:b:Head")) == ("Hips", "Head")
    assert short_names(("Armature", "rig:Head")) == ("Armature", "rig:Head")
    assert short_names(()) == ()


def test_weights_are_the_dense_weights_and_grey_is_none(hero):
    joint = hero.skeleton.index("spine_02")
    dense = []
    for mesh in hero.meshes:
        table = np.zeros((mesh.vertex_count, len(hero.skeleton)))
        for v, k in itertools.product(range(mesh.vertex_count), range(mesh.influences)):
            table[v, mesh.joint_list[mesh.joints[v, k]]] += mesh.weights[v, k]
        dense.append(table[:, joint])
    wanted = np.concatenate(dense)
    np.testing.assert_allclose(joint_weights(hero, joint), wanted, atol=1e-6)
    paint = drawn("weights:spine_02", posed(hero)).paints[0, 0]
    assert np.allclose(paint.colors[wanted == 0], NOTHING)
    full = np.argmax(wanted)
    assert np.allclose(paint.colors[full], color_map(wanted[full]), atol=1e-6)


def test_maps_keep_their_order_without_hue():
    for name in MAPS:
        rgb = color_map(np.linspace(0, 1, 101), name)
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        steps = np.diff(linear @ [0.2126, 0.7152, 0.0722])
        assert (steps > 0).all() or (steps < 0).all()
    assert np.allclose(
        color_map(np.array([np.nan, -1, 2])), [NOTHING, MAPS["viridis"][0], MAPS["viridis"][-1]]
    )
    assert packed(np.array([[1.0, 0.0, 0.5, 0.0]])).tolist() == [0x008000FF]


def test_edges_are_those_of_the_triangles(hero):
    small = hero.levels[-1]
    found = {tuple(e) for e in edges(small).tolist()}
    wanted = set()
    for mesh, first in zip(small.meshes, small.vertex_offsets):
        for t in (mesh.triangles.astype(int) + first).tolist():
            wanted |= {tuple(sorted(p)) for p in itertools.combinations(t, 2)}
    assert found == wanted


def test_wires_of_a_crowd_end_somewhere(hero, monkeypatch):
    from marrow.scene.views import surface

    small = posed(hero, "walk", np.zeros(5), level=3)
    monkeypatch.setattr(surface, "MOST_EDGES", 2 * len(edges(small.character)) + 1)
    made = drawn("wireframe", small)
    assert len(made.all_lines.start) == 2 * len(edges(small.character))
    assert "3 instances" in made.notes[0]


def test_boxes_hold_the_vertices(hero):
    thing = posed(hero, "run", (0.1, 0.4), np.stack([np.eye(3, 4), turned(0, (5, 0, 0))]))
    lines = drawn("bounds", thing).all_lines
    exact = lines.widths[:, 0] == 2.5
    ends = np.concatenate([lines.start[exact], lines.end[exact]])
    vertices = thing.vertices.reshape(-1, 3)
    np.testing.assert_allclose(ends.min(0), vertices.min(0), atol=1e-5)
    np.testing.assert_allclose(ends.max(0), vertices.max(0), atol=1e-5)
    assert exact.sum() == 24


def test_differences_are_distances_of_vertices(hero):
    where = turned(0.4, (1, 0, 2), scale=3.0)
    thing = posed(hero, "walk", (0.3,), where)
    a, b = (
        mw.skin(hero, hero.clips["walk"].sample(0.3), skinning=m).positions.astype(np.float64)
        for m in ("linear", "dual_quaternion")
    )
    wanted = 3.0 * np.linalg.norm(a - b, axis=1)
    np.testing.assert_allclose(skinning_difference(thing)[0], wanted, atol=1e-6)
    made = drawn("difference", thing)
    legend = made.legends[0]
    assert legend.unit == "mm"
    assert legend.high >= 1000 * wanted.max() > legend.high / 2.6
    np.testing.assert_allclose(made.paints[0, 0].colors[0], legend.color(1000 * wanted), atol=1e-2)
    assert f"largest {1000 * wanted.max():.3g} mm" in made.notes[0]


def test_files_are_compared_by_vertex_or_by_surface(hero):
    thing = posed(hero, "walk")
    assert file_difference(thing, hero).max() == 0.0
    moved = hero.with_meshes(lambda m: m.replace(positions=m.positions + np.float32([0, 0.01, 0])))
    assert 0.009 < np.median(file_difference(thing, moved)) < 0.011
    # Another triangulation of the same surface: the distance goes to the surface, at most what the level gave up.
    coarse = hero.levels[1]
    apart = file_difference(thing, coarse)
    assert 0 < apart.max() <= 1.05 * coarse.lod.error
    with pytest.raises(ValidationError, match="same joints"):
        file_difference(posed(hero), mw.samples.lizard())


def test_trails_go_where_forward_kinematics_goes(hero):
    clip = hero.clips["walk"]
    joints, times, points = trail_points(clip, "hand_r,ball_l")
    assert [hero.skeleton.names[j] for j in joints] == ["hand_r", "ball_l"]
    for k in (0, 7, len(times) - 1):
        model = hero.skeleton.to_model(clip.sample(times[k]))
        np.testing.assert_allclose(points[k], model[joints][..., 3], atol=1e-5)
    made = drawn("trails", posed(hero, "walk", (0.3,), turned()))
    assert [e[0] for e in made.legends[0].entries] == ["hand_l", "hand_r", "foot_l", "foot_r", "head"]
    assert drawn("trails", posed(hero)).notes


def test_trails_of_what_is_no_body_follow_what_moves():
    bones = mw.Skeleton(("a", "still", "end"), [-1, 0, 0])
    wag = mw.Clip("wag", bones, [mw.Track(2, "translation", [0, 1], [[0, 0, 0], [1, 0, 0]])])
    joints, _, _ = trail_points(wag, "")
    assert joints == [2]


def test_contacts_stand_where_feet_stand(hero):
    clip = hero.clips["walk"]
    places = contact_places(clip)
    assert {side for side, *_ in places} == {0, 1}
    for side, begin, end, at in places:
        foot = hero.skeleton.index(("foot_l", "foot_r")[side])
        pose = clip.sample((begin + end) / 2)
        ankle = hero.skeleton.to_model(pose)[foot, :, 3]
        assert np.linalg.norm((at - ankle)[[0, 2]]) < 0.25
        assert abs(at[1]) < 0.06
    standing = drawn("contacts", posed(hero, "walk", (places[0][1] + 0.01,)))
    assert any(w == 16.0 for w in standing.all_lines.widths[:, 0])
    # What has no two legs is told by its events: those of joints whose names have the same words.
    lizard = mw.samples.lizard()
    walk = lizard.clips["walk"]
    told = event_places(walk)
    assert [begin for _, begin, *_ in told] == [e.time for e in walk.events if "lift" not in e.name]
    joint = lizard.skeleton.index("front_foot_l")
    np.testing.assert_allclose(told[0][3], lizard.skeleton.to_model(walk.sample(0.0))[joint, :, 3], atol=1e-6)
    still = drawn("contacts", posed(lizard, next(n for n in lizard.clips if not lizard.clips[n].events)))
    assert "no events" in still.notes[0]


def test_ghosts_are_moments_of_the_clip_but_the_one_shown(hero):
    made = drawn("ghosts:5", posed(hero, "walk", (0.0, 0.9), np.stack([np.eye(3, 4), turned()])))
    assert [g.instance for g in made.ghosts] == [0, 1]
    assert len(made.ghosts[0].times) == len(made.ghosts[1].times) == 4
    assert made.ghosts[0].times.min() > 0
    assert drawn("ghosts", posed(hero)).notes


# -- words ------------------------------------------------------------------------------------------------------------
def test_letters_lie_apart_in_the_atlas():
    atlas = Atlas()
    text = "The quick brown fox jumps over 13 lazy dogs: {}[]@%~" * 2
    for size in (10, 17, 40):
        atlas.quads(text, 5, 5, size)
    cells = np.zeros(atlas.pixels.shape[:2], int)
    for g in set(atlas._glyphs.values()):
        assert g.x + g.width <= SIDE
        cells[g.y : g.y + g.height, g.x : g.x + g.width] += 1
    assert cells.max() == 1
    there, here = atlas.quads("ab", 100.4, 50.6, 20)
    assert (there == np.round(there)).all()
    assert there.shape == here.shape == (2, 4)
    assert there[0, 0] + 3 >= 100 and there[-1, 0] + there[-1, 2] <= 100 + text_size("ab", 20)[0] + 6
    assert (atlas.pixels[..., 1] >= atlas.pixels[..., 0]).mean() > 0.99


def test_any_text_can_be_drawn():
    canvas = Canvas((400, 300), Atlas())
    for text in ("", " ", "骨盤", "왼손", "\n\t", "é→ß", "x" * 500, "\U0001f980"):
        canvas.text(3, 3, text)
    canvas.lines_of_text(0, 0, [])
    assert np.isfinite(canvas.quads).all()


def test_names_no_font_can_write_become_numbers(monkeypatch):
    from marrow.rendering import canvas

    assert can_write("hand_l") and can_write("")
    assert not can_write("\U000f0000")  # a letter of no language
    monkeypatch.setattr(canvas, "can_write", lambda text: text.isascii())
    written = []
    monkeypatch.setattr(Canvas, "text", lambda self, x, y, text, *_, **__: written.append(text))
    drawing = Drawing()
    for j, name in enumerate(("\uc67c\uc190", "head")):
        drawing.label(name, (0, j, 0), instead=f"#{j}")
    Canvas((400, 300), Atlas()).drawing(
        drawing, lambda p: (100 * p[..., :2] + 50, np.ones(p.shape[:-1], bool))
    )
    assert sorted(written) == ["#0", "head"]


def test_long_notes_are_broken_between_words():
    text = "a square is a sixteenth of the texture and so on"
    lines = wrapped(text, 120, 14)
    assert " ".join(lines) == text and len(lines) > 2
    assert all(text_size(line, 14)[0] <= 120 for line in lines)
    assert wrapped("extraordinarily", 5, 14) == ["extraordinarily"] and wrapped("", 50, 14) == [""]


def test_labels_keep_apart_and_inside():
    chance = np.random.default_rng(3)
    at = chance.uniform(-50, 650, (300, 2))
    labels = [Label(f"joint_{i:03d}", (0, 0, 0), (1, 1, 1), float(chance.random())) for i in range(300)]
    front = chance.random(300) > 0.2
    panel = (0.0, 0.0, 150.0, 100.0)
    placed = place_labels(labels, at, front, (600, 400), 14, [panel])
    assert 50 < len(placed) < 200
    boxes = [panel]
    for label, (x, y) in placed:
        i = labels.index(label)
        width, height = text_size(label.text, 14)
        assert front[i] and x >= 0 and x + width <= 600 and y >= 0 and y + height <= 400
        box = (x, y + 0.13 * height, x + width, y + 0.87 * height)
        assert all(a >= box[2] or box[0] >= c or b >= box[3] or box[1] >= d for a, b, c, d in boxes)
        boxes.append(box)
    best = max(
        (i for i in range(300) if front[i] and 160 < at[i, 0] < 500 and 120 < at[i, 1] < 380),
        key=lambda i: labels[i].rank,
    )
    assert any(label is labels[best] for label, _ in placed)


# -- cameras ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("orthographic", [False, True])
def test_camera_matrices_project_as_the_camera_does(orthographic):
    size = (640, 360)
    if orthographic:
        camera = mw.Camera.orthographic((1, 2, 4), (0, 1, 0), size=3, width=640, height=360)
    else:
        camera = mw.Camera.perspective((1, 2, 4), (0, 1, 0), width=640, height=360)
    points = np.random.default_rng(1).uniform(-1, 1, (50, 3)) + np.array([0, 1, 0])
    pixels, front = project(camera, size, points)
    m = camera_matrices(camera, size)
    seen = points @ m.extrinsics[:, :3].T + m.extrinsics[:, 3]
    np.testing.assert_allclose(seen[:, 2], view_depth(camera, points))
    flat = seen / seen[:, 2:] if not m.orthographic else np.column_stack([seen[:, :2], np.ones(50)])
    np.testing.assert_allclose((flat @ m.K.T)[:, :2], pixels, atol=1e-9)
    assert front.all()
    # The middle of the picture is where it looks; up in the world is up in the picture.
    np.testing.assert_allclose(project(camera, size, [0, 1, 0])[0], [320, 180], atol=1e-9)
    assert project(camera, size, [0, 1.2, 0])[0][1] < 180
    behind, front = project(camera, size, [2, 3, 8])
    assert orthographic or (not front and np.isnan(behind).all())


def test_the_page_tells_every_view_and_output():
    page = (Path(__file__).parents[2] / "docs" / "rendering.md").read_text("utf-8")
    for name, kind in KINDS.items():
        wanted = f"{name}:{kind.argument}" if kind.argument and not kind.argument.startswith("[") else name
        assert re.search(rf"^\| `{wanted}`", page, re.MULTILINE), name
    for name in OUTPUTS[1:]:
        assert re.search(rf"^\| `{name}` \|", page, re.MULTILINE), name
