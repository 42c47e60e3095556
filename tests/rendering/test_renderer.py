"""The renderer: colours, sides, instances, order, places far and near, and mistakes in words."""

import numpy as np
import pytest
from solids import at, ball, body, box, difference, flat, front, plate

import marrow as mw
from marrow import gpu
from marrow.errors import MarrowError, UnknownNameError, ValidationError
from marrow.rendering.resources.skinned_vertices import GpuSkin

CLEAR = mw.Environment(background="transparent")


def scene(*things, **options):
    options.setdefault("environment", CLEAR)
    return mw.Scene(*things, ground=options.pop("ground", False), **options)


def neutral(c):
    """Khronos' PBR Neutral tone mapping and sRGB, in float64."""
    c = np.array(c, np.float64)
    low = c.min()
    c = c - (low - 6.25 * low * low if low < 0.08 else 0.04)
    peak = c.max()
    if peak >= 0.76:
        squeezed = 1 - 0.24**2 / (peak + 0.24 - 0.76)
        g = 1 - 1 / (0.15 * (peak - squeezed) + 1)
        c = c * squeezed / peak * (1 - g) + squeezed * g
    return 255 * np.where(c <= 0.0031308, 12.92 * c, 1.055 * np.maximum(c, 0.0031308) ** (1 / 2.4) - 0.055)


@pytest.mark.parametrize("color", [(0.5, 0.2, 0.1), (0.9, 0.85, 0.8), (0.02, 0.02, 0.3), (4.0, 1.0, 0.2)])
def test_unlit_colours_come_out_as_the_formula_says(renderer, color):
    frame = renderer.render(scene(plate(2, 2, flat(color))), front())
    assert np.abs(frame.pixels[64, 64, :3] - neutral(color)).max() <= 1
    assert frame.pixels[64, 64, 3] == 255
    assert frame.pixels[5, 5].tolist() == [0, 0, 0, 0]


def test_edges_are_smooth_and_pixels_where_they_should_be(renderer):
    """A plate of 2 m in a view of 4 m covers the middle half: rows 32 to 95."""
    alpha = renderer.render(scene(plate(2, 2, flat((1, 1, 1)))), front()).pixels[..., 3]
    assert (alpha[32:96, 32:96] == 255).all() and alpha.sum() == 255 * 64 * 64
    turned = mw.Actor(
        plate(2, 2, flat((1, 1, 1))), transforms=[[0.8, -0.6, 0, 0], [0.6, 0.8, 0, 0], [0, 0, 1, 0]]
    )
    alpha = renderer.render(scene(turned), front()).pixels[..., 3]
    assert len(np.unique(alpha)) >= 4  # four samples a pixel
    assert alpha.sum() / 255 == pytest.approx(64 * 64, rel=0.01)


def test_what_faces_away_is_left_out_unless_it_has_two_sides(renderer):
    turned = [[-1, 0, 0, 0], [0, 1, 0, 0], [0, 0, -1, 0]]
    one, two = plate(2, 2, flat((1, 0, 0))), plate(2, 2, flat((1, 0, 0), double_sided=True))
    assert not renderer.render(scene(mw.Actor(one, transforms=turned)), front()).pixels[..., 3].any()
    assert renderer.render(scene(mw.Actor(two, transforms=turned)), front()).pixels[64, 64, 3] == 255


def test_mirrored_bodies_keep_their_outside_outside(renderer):
    """A mirrored box under light from straight ahead looks like the box in a mirror, whichever way it is mirrored."""
    lights = [mw.DirectionalLight((0.0, -0.4, -1.0), shadows=False)]
    camera = mw.Camera.perspective((0, 2, 4), (0, 0.5, 0), width=128, height=128)
    shape = box((1.0, 1.0, 0.5))
    shape = mw.Character(
        mw.Skeleton(("root",), [-1]),
        [shape.meshes[0].replace(positions=shape.meshes[0].positions + np.float32([0.6, 0, 0]))],
        materials=shape.materials,
    )
    # The light from all sides differs between left and right; without it only the sun is left, which does not.
    dark = mw.Environment(background="transparent", ambient=0.0)
    plain = renderer.render(scene(shape, lights=lights, environment=dark), camera).pixels
    mirror = np.diag([-1.0, 1.0, 1.0, 1.0])[:3]
    placed = renderer.render(
        scene(mw.Actor(shape, transforms=mirror), lights=lights, environment=dark), camera
    )
    joint = mw.Character(
        mw.Skeleton(("root",), [-1], mw.Pose(np.zeros((1, 3)), [[0, 0, 0, 1]], [[-1, 1, 1]])),
        shape.meshes,
        materials=shape.materials,
    )
    posed = renderer.render(scene(joint, lights=lights, environment=dark), camera)
    assert plain.any()
    for other in (placed, posed):
        assert difference(plain[:, ::-1], other.pixels) < 0.5


def test_vertex_colours_and_tints_multiply(renderer):
    colored = plate(2, 2, flat((0.5, 0.5, 0.5)), colors=np.tile(np.float32([1, 0.5, 0, 1]), (4, 1)))
    frame = renderer.render(scene(mw.Actor(colored, tint=(0.4, 1, 1))), front())
    assert np.abs(frame.pixels[64, 64, :3] - neutral((0.5 * 102 / 255, 0.25, 0.0))).max() <= 1


def test_instances_are_drawn_as_they_would_be_one_by_one(renderer, hero):
    """A crowd in one draw against as many actors, poses, places, tints and levels each of their own."""
    rng = np.random.default_rng(5)
    clip, n = hero.clips["walk"], 6
    times, places = (
        rng.uniform(0, 1, n),
        at(*(np.c_[np.linspace(-2.5, 2.5, n), np.zeros(n), rng.uniform(-2, 2, n)])),
    )
    tints, levels = rng.uniform(0.3, 1, (n, 3)), np.array([3, 2, 1, 3, 0, 2])
    camera = mw.Camera.perspective((0, 1.5, 7), (0, 0.9, 0), width=128, height=128)
    options = {"ground": True, "environment": mw.Environment()}
    crowd = mw.Actor(hero, clip=clip, time=times, transforms=places, tint=tints, levels=levels)
    each = [
        mw.Actor(hero, clip=clip, time=t, transforms=p, tint=c, levels=int(k))
        for t, p, c, k in zip(times, places, tints, levels)
    ]
    whole = renderer.render(scene(crowd, **options), camera)
    draws = len(renderer.list.draws)
    single = renderer.render(scene(*each, **options), camera)
    assert difference(whole, single) < 0.05
    assert draws == 4 * 7  # one for each section of each level


def test_the_gpu_skins_what_the_kernels_skin(device, renderer, hero):
    """The path of real GPUs, on whatever adapter there is."""
    camera = mw.Camera.perspective((0, 1.5, 4), (0, 0.9, 0), width=128, height=128)
    crowd = mw.Animator(hero, mw.samples.mannequin_graph(), count=2)
    crowd["speed"] = [0.0, 3.0]
    for _ in range(20):
        crowd.update(1 / 30)
    actor = mw.Actor(crowd, transforms=at((-0.7, 0, 0), (0.7, 0, 0)), levels=[1, 2])
    there = mw.Scene(actor)
    before = renderer.render(there, camera)
    renderer.list.gpu_skinning = True
    try:
        after = renderer.render(there, camera)
        assert isinstance(renderer.list._skins.get(actor), GpuSkin)
    finally:
        renderer.list.gpu_skinning = not device.adapter.is_software
    assert difference(before, after) < 0.05


def test_buffers_of_any_size_give_the_same_picture(renderer, hero):
    """A device that lets shaders see 64 KiB at once: twenty figures need several buffers, whoever skins them."""
    camera = mw.Camera.perspective((0, 3, 7), (0, 0.5, 0), width=128, height=128)
    places = at(*((0.6 * (i % 5 - 2), 0, 0.8 * (i // 5 - 2)) for i in range(20)))
    there = mw.Scene(mw.Actor(hero.levels[3], clip="walk", time=np.linspace(0, 1, 20), transforms=places))
    small = mw.Renderer(
        (128, 128), device=gpu.Device.best(limits={"max-storage-buffer-binding-size": 1 << 16})
    )
    wanted = renderer.render(there, camera)
    for skinning in (False, True):
        small.list.gpu_skinning = skinning
        assert difference(small.render(there, camera), wanted) < 0.05
        assert len(small.list.draws) > 7 and len(small.list.draws) % 7 == 0


@pytest.mark.parametrize("size", [1e-6, 1e3])
def test_a_micrometre_and_a_kilometre_look_alike(renderer, hero, size):
    """Everything scales with what is drawn: light, shadows, ground and grid."""

    def picture(scale, moved):
        camera = mw.Camera.perspective(
            np.array([2.0, 1.6, 3.0]) * scale + moved, np.array([0, 0.8, 0]) * scale + moved,
            width=128, height=128, near=0.01 * scale, far=100 * scale,
        )  # fmt: skip
        actor = mw.Actor(hero, clip="walk", time=0.4, transforms=at(moved, scale=scale))
        return renderer.render(mw.Scene(actor, ground=float(moved[1])), camera)

    usual = picture(1.0, np.zeros(3))
    # The ground's grid has lines at whole metres, or powers of ten of them.
    assert difference(usual, picture(size, np.zeros(3))) < 0.3
    assert difference(usual, picture(1.0, np.array([1e5, 0.0, -1e5]))) < 0.6


def test_translucent_things_are_sorted_whatever_their_order(renderer):
    red, green, blue = (
        mw.Actor(plate(2, 2, flat(c, 0.5, alpha_mode="blend")), transforms=at((0, 0, z)))
        for c, z in (((1, 0, 0), -1.0), ((0, 1, 0), 0.0), ((0, 0, 1), 1.0))
    )
    wanted = np.zeros(4)
    for c in ((1, 0, 0), (0, 1, 0), (0, 0, 1)):
        wanted = np.array([*c, 1.0]) * 0.5 + wanted * 0.5
    for order in ((red, green, blue), (blue, green, red), (green, blue, red)):
        frame = renderer.render(scene(*order), front())
        assert np.abs(frame.pixels[64, 64, :3] - neutral(wanted[:3] / wanted[3])).max() <= 1
        assert frame.pixels[64, 64, 3] == round(255 * 0.875)
    # Instances of one actor too, and where one is in front of something opaque.
    many = mw.Actor(
        plate(2, 2, flat((1, 1, 1), 0.5, alpha_mode="blend")), transforms=at((0, 0, 1), (0, 0, 2))
    )
    frame = renderer.render(scene(many, plate(1, 1, flat((1, 0, 0)))), front())
    assert np.abs(frame.pixels[64, 64, :3] - neutral((1.0, 0.75, 0.75))).max() <= 1


def test_tints_can_be_translucent(renderer):
    frame = renderer.render(scene(mw.Actor(plate(2, 2, flat((1, 1, 1))), tint=(1, 1, 1, 0.25))), front())
    assert frame.pixels[64, 64, 3] == pytest.approx(64, abs=1)


def test_meshes_are_hidden_as_files_and_clips_say(renderer):
    bones = mw.Skeleton(("root", "lamp"), [-1, 0])
    red, green = plate(1, 1, flat((1, 0, 0))).meshes[0], plate(2, 2, flat((0, 1, 0)), z=-0.1).meshes[0]
    green = green.replace(joint_list=np.int32([1]), node=1, name="lamp")
    curve = mw.Curve("visibility:lamp", [0, 1], [1, 0])
    blink = mw.Clip("blink", bones, [], curves=[curve])
    lamp = mw.Character(bones, [red, green], [blink], [flat((1, 1, 1))], name="lamp")

    def covered(actor):
        return renderer.render(scene(actor), front()).pixels[..., 3].sum() / 255 / 1024

    assert covered(mw.Actor(lamp)) == 4
    assert covered(mw.Actor(lamp, clip="blink", time=0.0)) == 4
    assert covered(mw.Actor(lamp, clip="blink", time=0.9)) == 1
    assert covered(mw.Actor(lamp, visible=[False, True])) == 4
    assert covered(mw.Actor(lamp, visible=[True, False])) == 1
    hidden = lamp.replace(meshes=(red, green.replace(visible=False)))
    assert covered(mw.Actor(hidden)) == 1
    both = mw.Actor(lamp, clip="blink", time=[0.0, 0.9], transforms=at((-1, 0, 0), (1, 0, 0)))
    assert covered(both) == 5


def test_sockets_and_parents_carry_their_actors(renderer, hero):
    pose = hero.clips["walk"].sample([0.1, 0.5])
    owner = mw.Actor(hero, pose, transforms=at((1, 0, 0), (-1, 0, 0)))
    prop = mw.Actor(ball(0.1), parent=owner, socket="hand_r", transforms=at((0, 0.5, 0)))
    rider = mw.Actor(ball(0.1), parent=prop, transforms=at((0, 0, 0.25)))
    from marrow.scene.actor_state import actor_states

    found = actor_states(mw.Scene(owner, prop, rider))
    hands = hero.skeleton.to_model(pose)[:, hero.skeleton.index("hand_r")].astype(np.float64)
    for i, x in enumerate((1, -1)):
        wanted = hands[i] @ [0, 0.5, 0, 1] + [x, 0, 0]
        np.testing.assert_allclose(found[1].world[i, :, 3], wanted, atol=1e-5)
        np.testing.assert_allclose(
            found[2].world[i, :, 3], hands[i] @ [0, 0.5, 0.25, 1] + [x, 0, 0], atol=1e-5
        )
    assert renderer.render(mw.Scene(owner, prop, rider), front(3, size=(128, 128))).pixels.any()


def test_an_animator_is_drawn_where_it_went(renderer):
    from marrow.scene.actor_state import actor_states

    hero = mw.samples.mannequin()
    crowd = mw.Animator(hero, count=2)
    crowd.root.set([[3, 0, 1], [0, 0, -2]], [[0, 0.6, 0, 0.8], [0, 0, 0, 1]])
    world = actor_states(mw.Scene(crowd))[0].world
    np.testing.assert_allclose(world[:, :, 3], [[3, 0, 1], [0, 0, -2]], atol=1e-6)
    np.testing.assert_allclose(world[0] @ [0, 0, 1, 0], [0.96, 0, 0.28], atol=1e-6)
    elsewhere = actor_states(mw.Scene(mw.Actor(crowd, transforms=np.eye(3, 4))))[0].world
    np.testing.assert_allclose(elsewhere[:, :, 3], 0)


def test_characters_without_vertices_are_drawn_as_nothing(renderer):
    bare = mw.Character(mw.Skeleton(("root",), [-1]), name="bare")
    empty = body("empty", np.zeros((0, 3)), np.zeros((0, 3)))
    frame = renderer.render(scene(bare, empty, plate(2, 2, flat((1, 1, 1)))), front())
    assert frame.pixels[64, 64, 3] == 255
    assert not renderer.render(scene(bare), front()).pixels.any()
    assert renderer.render(mw.Scene(), front()).pixels.any()


@pytest.mark.parametrize("size", [(1, 1), (3, 200), (333, 7)])
def test_pictures_of_any_size(renderer, size):
    frame = renderer.render(mw.Scene(ball()), front(size=size), size=size)
    assert frame.pixels.shape == (size[1], size[0], 4) and frame.pixels.any()


def drawn(renderer, character, *pose, **options):
    return renderer.render(mw.Scene(mw.Actor(character, *pose, **options)), front())


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda r, h: r.render(mw.Scene(h), front(), size=(0, 10)), "at least 1"),
        (lambda r, h: r.render(mw.Scene(h), front(), size=(1_000_000, 10)), "at most"),
        (lambda r, h: r.render(mw.Scene(h), front(), size="large"), "width, height"),
        (lambda r, h: r.render(h, front()), "Scene"),
        (lambda r, h: r.render(mw.Scene(h), None), "Camera"),
        (lambda r, h: mw.Renderer(samples=3), "1 or 4"),
        (lambda r, h: mw.Renderer(render_path="magic"), "forward"),
        (lambda r, h: mw.Actor(7), "Character"),
        (lambda r, h: mw.Actor(h, h.skeleton.rest, clip="walk"), "one of them"),
        (lambda r, h: mw.Actor(h, clip="wallk"), "walk"),
        (lambda r, h: mw.Actor(h, socket="hand_r"), "parent"),
        (lambda r, h: mw.Actor(h, parent=mw.Actor(h), socket="hand_R2"), "hand_r"),
        (lambda r, h: r.render(mw.Scene(mw.Actor(h, transforms=np.eye(3))), front()), "3, 4"),
        (lambda r, h: r.render(mw.Scene(mw.Actor(h, transforms=np.full((3, 4), np.nan))), front()), "not a number"),
        (lambda r, h: drawn(r, h, clip="walk", time=[0, 1], transforms=at(*np.zeros((3, 3)))), "2 poses"),
        (lambda r, h: drawn(r, h, np.full((2, len(h.palette.joints), 3, 4), np.nan)), "instance 0"),
        (lambda r, h: r.render(mw.Scene(mw.Actor(h, np.zeros((2, 3, 3, 4)))), front()), "skinning matrices"),
        (lambda r, h: r.render(mw.Scene(mw.Actor(h, levels=9)), front()), "to 3"),
        (lambda r, h: r.render(mw.Scene(mw.Actor(h, levels="best")), front()), "auto"),
        (lambda r, h: r.render(mw.Scene(mw.Actor(h, tint=(1, 2))), front()), "tint"),
        (lambda r, h: r.render(mw.Scene(mw.Actor(h, visible=[True])), front()), "visible"),
        (lambda r, h: mw.Scene(h, lights=["sun"]), "DirectionalLight"),
        (lambda r, h: mw.DirectionalLight((0, 0, 0)), "length"),
        (lambda r, h: mw.PointLight((0, 0)), "three numbers"),
        (lambda r, h: mw.SpotLight((0, 0, 0), (0, -1, 0), inner=1.0, outer=0.5), "wider"),
        (lambda r, h: mw.Environment("pinkish"), "#rrggbb"),
    ],
)  # fmt: skip
def test_mistakes_are_told_in_words(renderer, hero, make, words):
    with pytest.raises(MarrowError, match=words):
        make(renderer, hero)


def test_actors_that_hang_on_themselves_are_refused(renderer, hero):
    a = mw.Actor(hero)
    b = mw.Actor(hero, parent=a)
    a.parent = b
    with pytest.raises(ValidationError, match="hangs on itself"):
        renderer.render(mw.Scene(a, b), front())
    there = mw.Scene(a)
    with pytest.raises(ValidationError, match="already"):
        there.add(a)
    there.remove(a)
    with pytest.raises(ValidationError, match="not in the scene"):
        there.remove(a)
    with pytest.raises(UnknownNameError):
        mw.Actor(hero, parent=mw.Actor(hero), socket="nose")


def test_opengl_is_refused_in_words(device, monkeypatch):
    from dataclasses import replace

    monkeypatch.setattr(device, "adapter", replace(device.adapter, backend="OpenGL"))
    with pytest.raises(MarrowError, match="Vulkan"):
        mw.Renderer(device=device)
