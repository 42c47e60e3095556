"""What views put into pictures: lines, letters and paints where they belong."""

from __future__ import annotations

import numpy as np
import pytest

import marrow as mw
from marrow.errors import UnknownNameError, ValidationError
from marrow.rendering.passes.overlay import Overlay
from marrow.rendering.resources.targets import read_pixels
from marrow.scene import Actor, Scene
from marrow.scene.colors import MAPS, TELLING
from marrow.scene.projection import project
from marrow.scene.views import KINDS
from marrow.scene.views.drawing import Drawing, Legend

SIZE = (160, 120)
FRONT = mw.Camera.perspective((0, 1, 3), (0, 1, 0), width=SIZE[0], height=SIZE[1])


@pytest.fixture
def page(device):
    """Draws an overlay onto black: `page(drawing, canvas=..., format=...)` gives pixels."""

    def draw(drawing=None, write=None, form="rgba8unorm"):
        overlay = Overlay(device, form)
        canvas = overlay.canvas(SIZE)
        if drawing is not None:
            canvas.drawing(drawing, lambda p: project(FRONT, SIZE, p))
        if write is not None:
            write(canvas)
        texture = device.raw.create_texture(size=(*SIZE, 1), format=form, usage=0x10 | 0x01)
        encoder = device.raw.create_command_encoder()
        clear = {"view": texture.create_view(), "load_op": "clear", "store_op": "store"}
        encoder.begin_render_pass(color_attachments=[clear]).end()
        depth = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0.5, 0.5], [0, 0, 0, 1]])
        lines = None if drawing is None else drawing.all_lines
        overlay.draw(
            encoder, texture.create_view(), SIZE, canvas=canvas, lines=lines, view=FRONT.view,
            projection=depth @ FRONT.projection,
        )  # fmt: skip
        device.raw.queue.submit([encoder.finish()])
        return read_pixels(device, texture).astype(int)

    return draw


@pytest.fixture
def drawn(renderer):
    def draw(scene, camera=FRONT, **options):
        renderer.size = SIZE
        return renderer.render(scene, camera, **options)

    return draw


def test_a_line_goes_where_its_ends_are_projected(page):
    drawing = Drawing()
    ends = np.array([[-0.8, 0.6, 0.0], [0.9, 1.5, -0.7]])
    drawing.lines(ends[0], ends[1], (1.0, 0.5, 0.0), width=12.0)
    pixels = page(drawing)
    at, _ = project(FRONT, SIZE, ends)
    for share in np.linspace(0.05, 0.95, 10):
        x, y = (at[0] + share * (at[1] - at[0])).astype(int)
        assert pixels[y, x].tolist() in ([255, 127, 0, 255], [255, 128, 0, 255])  # drivers round either way
    # Two pixels wide here, so little else is touched.
    y, x = np.nonzero(pixels[..., 3])
    way = (at[1] - at[0]) / np.linalg.norm(at[1] - at[0])
    off = np.abs((np.column_stack([x, y]) + 0.5 - at[0]) @ [-way[1], way[0]])
    assert off.max() < 2.5
    # A target that encodes by itself shows the same.
    assert np.abs(page(drawing, form="rgba8unorm-srgb") - pixels)[pixels[..., 3] == 255].max() <= 1


def test_lines_behind_the_camera_are_cut_off_or_left_out(page):
    drawing = Drawing()
    drawing.lines((0, 1, 9), (0.3, 1, 5), (1, 1, 1), width=9.0)
    assert not page(drawing).any()
    drawing.lines((0, 1, 0), (0, 1, 9), (1, 1, 1), width=30.0)
    assert page(drawing)[60, 80].tolist() == [255, 255, 255, 255]
    drawing.lines((np.nan, 1, 0), (0, 1, 0), (1, 1, 1))
    assert len(drawing.all_lines.start) == 2


def test_more_lines_than_a_shader_may_see_at_once(page, device, monkeypatch):
    drawing = Drawing()
    x = np.linspace(-1, 1, 60)
    ends = np.stack([x, 0 * x + 0.4, 0 * x], axis=1), np.stack([x, 0 * x + 1.6, 0 * x], axis=1)
    drawing.lines(*ends, (1, 1, 1), width=3.0)
    whole = page(drawing)
    monkeypatch.setattr(type(device), "max_binding", property(lambda self: 1000))
    np.testing.assert_array_equal(page(drawing), whole)


def test_letters_and_bars_stand_where_they_are_put(page):
    one = page(write=lambda c: c.text(20, 30, "Hi", (1, 0, 0), size=20))
    rows, columns = np.nonzero((one[..., 0] > 200) & (one[..., 1] == 0))
    assert columns.min() >= 20 and columns.max() < 50 and rows.min() >= 30 and rows.max() < 55
    bar = page(write=lambda c: c.rectangle(10, 20, 30, 40, (0, 1, 0)))
    assert (bar[20:60, 10:40, 1] == 255).all()
    assert bar[..., 1].sum() == 255 * 30 * 40


def test_a_legend_shows_its_map(page):
    legend = Legend("far", ramp="viridis", high=20.0, unit="mm")
    pixels = page(write=lambda c: c.legend(legend, 5, 5))
    assert not page(Drawing(legends=[legend])).any()  # it would cover too much of so small a picture
    bright = pixels[..., :3] / 255
    for color in (MAPS["viridis"][0], MAPS["viridis"][4], MAPS["viridis"][-1]):
        assert np.abs(bright - color).max(axis=-1).min() < 0.03
    assert legend.words(10.0) == "10 mm"


def test_hidden_lines_are_dimmed_by_what_stands_before_them(drawn, renderer, hero, monkeypatch):
    """A line through the chest: full before the body, gone behind it where `hidden` is 0."""
    from marrow.scene.views import kind, parsing

    def draw(stage, argument, drawing):
        z = float(argument)
        drawing.lines((-0.9, 1.3, z), (0.9, 1.3, z), (0, 1, 0), width=9.0, hidden=0.0)

    monkeypatch.setitem(parsing.KINDS, "probe", kind.ViewKind("probe", "", draw, "Z"))
    scene = Scene(hero)
    ids = drawn(scene, outputs=("ids",)).ids
    for z, covered in (("0.5", True), ("-0.5", False)):
        frame = drawn(scene, view=f"probe:{z}")
        (x0, y), (x1, _) = project(FRONT, SIZE, [[-0.8, 1.3, float(z)], [0.8, 1.3, float(z)]])[0]
        row = frame.pixels[int(y), int(x0) : int(x1), :3].astype(int)
        green = (row[:, 1] > 200) & (row[:, 0] < 100)
        body = ids[int(y), int(x0) : int(x1)] >= 0
        assert body.sum() > 8
        assert green[body].mean() > 0.9 if covered else green[body].mean() < 0.2
        assert green[~body].mean() > 0.9


def test_paint_gives_each_level_and_instance_its_colour(drawn, hero):
    places = np.stack([np.eye(3, 4), np.eye(3, 4)])
    places[0, 0, 3], places[1, 0, 3] = -0.7, 0.7
    scene = Scene(Actor(hero, transforms=places, levels=np.array([0, 2])), ground=False)
    frame = drawn(scene, view="levels", outputs=("ids",))
    hue = frame.pixels[..., :3].astype(float)
    for instance, level in ((0, 0), (1, 2)):
        mine = hue[frame.ids == instance].mean(axis=0)
        alike = {k: np.dot(mine, TELLING[k]) / np.linalg.norm(TELLING[k]) for k in (0, 2)}
        assert max(alike, key=lambda k: alike[k]) == level
    # Weights: bright where they are, grey elsewhere, in both levels.
    frame = drawn(scene, view="weights:spine_02", outputs=("ids", "joint_ids"))
    color = frame.pixels[..., :3].astype(int)
    spread = color.max(axis=-1) - color.min(axis=-1)
    joint = hero.skeleton.index("spine_02")
    calf = hero.skeleton.index("calf_l")
    for instance in (0, 1):
        mine = frame.ids == instance
        assert spread[mine & (frame.joint_ids == joint)].mean() > 60
        assert spread[mine & (frame.joint_ids == calf)].mean() < 25


def test_differences_of_instances_are_their_own(drawn, hero):
    """Two instances in different poses have different heat, each as if it stood alone."""
    places = np.stack([np.eye(3, 4), np.eye(3, 4)])
    places[0, 0, 3], places[1, 0, 3] = -0.7, 0.7
    both = drawn(
        Scene(Actor(hero, clip="run", time=np.array([0.1, 0.45]), transforms=places)), view="difference:20"
    )
    for n, time in enumerate((0.1, 0.45)):
        alone = drawn(
            Scene(Actor(hero, clip="run", time=time, transforms=places[n])),
            view="difference:20",
            outputs=("ids",),
        )
        mine = alone.ids >= 0
        apart = np.abs(both.pixels[mine].astype(int) - alone.pixels[mine].astype(int))
        assert np.median(apart) <= 2
        assert (apart > 30).mean() < 0.03


def test_normals_are_shown_as_colours(drawn, hero):
    frame = drawn(Scene(hero, ground=False), view="normals", outputs=("normals", "ids"))
    mine = frame.ids >= 0
    color, wanted = frame.pixels[mine][:, :3] / 255, 0.88 * (0.5 + 0.5 * frame.normals[mine])
    # But for edges, which are mixed with what is behind them.
    assert (np.abs(color - wanted).max(axis=1) < 0.02).mean() > 0.7
    assert np.median(np.abs(color - wanted)) < 0.005


def test_every_view_changes_the_picture_and_nothing_else(drawn, hero):
    scene = Scene(Actor(hero, clip="walk", time=0.3))
    plain = drawn(scene).pixels
    for name, kind in KINDS.items():
        view = f"{name}:hand_l" if kind.argument == "JOINT" else name
        seen = drawn(scene, view=view).pixels
        assert (seen != plain).any(), name
    np.testing.assert_array_equal(drawn(scene).pixels, plain)


def test_what_to_compare_with_is_a_character(drawn, hero):
    with pytest.raises(ValidationError, match="Character"):
        drawn(Scene(hero), view="difference", compare="other.glb")
    with pytest.raises(UnknownNameError, match="did you mean 'wireframe'"):
        drawn(Scene(hero), view="wirefram")


def test_views_of_what_has_no_surface_or_is_nowhere(drawn):
    bones = mw.Character(
        mw.Skeleton(("a", "b"), [-1, 0], mw.Pose([[0, 0.5, 0], [0, 1, 0]], [[0, 0, 0, 1]] * 2, [[1] * 3] * 2))
    )
    plain = drawn(Scene(bones))
    shown = drawn(Scene(bones), view="skeleton")
    assert (plain.pixels != shown.pixels).any()
    for view in ("skeleton", "bounds", "wireframe", "difference", "levels"):
        drawn(Scene(), view=view)
        drawn(Scene(Actor(bones, transforms=np.eye(3, 4) + [[0, 0, 0, 500]] * 3)), view=view)


def test_views_of_a_clip_have_all_of_it_in_the_picture(shared_renderer, hero):
    clip = hero.clips["run"]
    frame = mw.render(hero, clip="run", time=0.1, view="trails", size=SIZE, renderer=shared_renderer)
    model = hero.skeleton.to_model(clip.sample(np.linspace(0, clip.duration, 5)))[..., 3]
    at, front = project(frame.camera, SIZE, model)
    assert front.all() and (at >= 0).all() and (at <= SIZE).all()


def test_what_a_transform_makes_a_point_of_is_drawn_as_nothing(drawn, hero):
    """Nothing of it is seen, and nothing breaks: no shadow to fit, no box, no bone of any length."""
    flat = np.zeros((3, 3, 4))
    flat[1, 0, 3], flat[2, :, 3] = 0.5, 0.37
    for view in (None, "skeleton+bounds", "tangents+uv", "difference"):
        frame = drawn(Scene(Actor(hero, transforms=flat)), view=view, outputs=("ids", "joints"))
        assert (frame.ids == -1).all()


def test_views_look_the_same_a_micrometre_and_a_kilometre_tall(drawn, hero):
    seen = []
    for scale in (1.0, 1e-6, 1e3):
        where = np.column_stack([scale * np.eye(3), np.zeros(3)])
        eye = mw.Camera.perspective(
            np.array([0, 1, 3]) * scale, np.array([0, 1, 0]) * scale, width=SIZE[0], height=SIZE[1],
            near=0.05 * scale, far=1e4 * scale,
        )  # fmt: skip
        scene = Scene(Actor(hero, transforms=where), ground=False)
        seen.append(
            [drawn(scene, eye, view=v).pixels.astype(int) for v in ("skeleton", "wireframe", "bounds")]
        )
    for view in range(3):
        for other in (1, 2):
            apart = np.abs(seen[0][view] - seen[other][view]).max(axis=-1)
            assert (apart > 24).mean() < (0.02 if view < 2 else 0.05)  # boxes are labelled with their size


def test_a_difference_is_that_of_whole_characters_however_small_they_are(renderer, hero):
    same = mw.render(hero, compare=hero, view="difference", size=(48, 40), renderer=renderer)
    assert "largest 0 mm, mean 0 mm" in renderer.views.drawing.notes
    assert same.size == (48, 40)
    coarse = Actor(hero, levels=len(hero.levels) - 1)
    with pytest.raises(ValidationError, match=r"level of detail 3.*levels=0"):
        mw.render(coarse, compare=hero, view="difference", size=(48, 40), renderer=renderer)
