"""Shadows of the sun: where they fall, that nothing lit has any, that they hold still."""

import io

import numpy as np
import pytest
from PIL import Image as Picture
from solids import at, ball, body, box, plate

import marrow as mw
from marrow.rendering.passes.shadow_cascades import fit_cascades, sun_axes
from marrow.scene.bounding_boxes import BoundingBoxes

# Shadows alone: the ground of a transparent picture has nothing else.
CATCHER = mw.Environment(background="transparent")
SUN = (-0.55, -1.25, -0.75)


def from_above(width=6.0, size=128, middle=(0.0, 0.0)):
    """Looks down: column and row of a pixel are x and z."""
    x, z = middle
    return mw.Camera.orthographic(
        (x, 20, z), (x, 0, z), size=width, up=(0, 0, -1), width=size, height=size, near=0.1, far=100
    )


def shadow(renderer, *things, camera=None, **sun):
    """How dark the ground is, 0 to 1, where no body is in front of it: bodies lie outside or are left out by the camera."""
    light = mw.DirectionalLight(sun.pop("direction", SUN), **sun)
    frame = renderer.render(mw.Scene(*things, lights=[light], environment=CATCHER), camera or from_above())
    return frame.pixels[..., 3] / 255


def pixel(x, z, width=6.0, size=128):
    return round((z / width + 0.5) * size - 0.5), round((x / width + 0.5) * size - 0.5)


def test_a_shadow_falls_where_the_light_carries_it(renderer):
    """A small box high up, above what the camera sees: the middle of its shadow in closed form."""
    for direction in (SUN, (0.3, -1.0, 0.1), (0.0, -1.0, 0.0)):
        height, place = 4.0, np.array([0.4, 4.0, 0.3])
        camera = mw.Camera.orthographic(
            (0, 3, 0), (0, 0, 0), size=12.0, up=(0, 0, -1), width=128, height=128, near=0.1, far=100
        )
        dark = shadow(
            renderer, mw.Actor(box((0.8, 0.1, 0.8)), transforms=at(place)), direction=direction, camera=camera
        )
        rows, columns = np.mgrid[0:128, 0:128]
        total = dark.sum()
        x, z = (((n * dark).sum() / total + 0.5) / 128 - 0.5 for n in (columns, rows))
        wanted = place + (height + 0.05) / -direction[1] * np.array(direction)
        assert total > 20
        assert [12 * x, 12 * z] == pytest.approx([wanted[0], wanted[2]], abs=0.06)


def test_the_shadow_is_that_of_the_skinned_mesh(renderer, hero):
    """Every vertex of a pose casts its shadow, and nothing is dark where none does."""
    camera = from_above(8.0)
    for time in (0.1, 0.5):
        pose = hero.clips["attack"].sample(time)
        # Only the shadow: the camera is told to look below the feet of a hero that stands on a step of air.
        lifted = mw.Actor(hero, pose, transforms=at((0, 4.0, 0)), levels=0)
        camera = mw.Camera.orthographic(
            (-1.8, 3.0, -2.4),
            (-1.8, 0, -2.4),
            size=6.0,
            up=(0, 0, -1),
            width=128,
            height=128,
            near=0.1,
            far=50,
        )
        dark = shadow(renderer, lifted, camera=camera, softness=0.0)
        points = mw.skin(hero, pose).positions.astype(np.float64) + np.array([0, 4.0, 0])
        direction = np.array(SUN)
        fallen = points + (points[:, 1] / -direction[1])[:, None] * direction
        column = (fallen[:, 0] + 1.8) / 6 * 128 + 63.5
        row = (fallen[:, 2] + 2.4) / 6 * 128 + 63.5
        inside = (column > 1) & (column < 126) & (row > 1) & (row < 126)
        assert inside.mean() > 0.95
        # Pixels are darkened by what falls on their middle: a vertex at an edge darkens a neighbour.
        around = [
            dark[(row[inside] + r).round().astype(int), (column[inside] + c).round().astype(int)]
            for r in (-1, 0, 1)
            for c in (-1, 0, 1)
        ]
        hit = np.max(around, 0)
        assert (hit > 0.05).mean() > 0.99
        near = np.zeros((128, 128), bool)
        for dr in range(-2, 3):
            for dc in range(-2, 3):
                r, c = (
                    np.clip((v[inside] + d).round().astype(int), 0, 127) for v, d in ((row, dr), (column, dc))
                )
                near[r, c] = True
        assert dark[~near].max() < 0.02


@pytest.mark.parametrize("direction", [SUN, (0.9, -0.4, -0.2), (-0.2, -0.3, -1.0)])
def test_what_is_lit_has_no_shadow_of_itself(renderer, direction):
    """A ball and a tilted plate, with shadows and without: no acne, at whatever angle the sun stands."""
    camera = mw.Camera.perspective((0.5, 1.5, 4), (0, 0, 0), fov=0.6, width=128, height=128)
    dark = mw.Environment(background="transparent", ambient=0.0)
    for shape in (ball(), plate(2, 2)):
        pictures = []
        for shadows in (True, False):
            light = mw.DirectionalLight(direction, shadows=shadows)
            there = mw.Scene(shape, lights=[light], ground=False, environment=dark)
            pictures.append(renderer.render(there, camera).pixels[..., :3].astype(float).mean(-1))
        on, off = pictures
        lit = off > 40
        assert lit.sum() > 500
        assert np.abs(on - off)[lit].max() <= 3


def test_a_shadow_begins_where_a_body_touches_the_ground(renderer):
    """Right beside the foot of a box the ground is dark on the far side from the sun, and light on the near one."""
    camera = from_above(4.0)
    dark = shadow(renderer, box((1, 1, 1)), camera=camera, direction=(-1.0, -1.0, 0.0))
    behind, before = pixel(-0.55, 0, 4.0), pixel(0.55, 0, 4.0)
    assert dark[behind] > 0.3 and dark[before] < 0.02
    assert dark[pixel(-1.4, 0, 4.0)] > 0.3 and dark[pixel(-1.6, 0, 4.0)] < 0.02


def test_what_is_out_of_sight_casts_its_shadow_into_it(renderer):
    camera = mw.Camera.perspective((0, 2, 3), (0, 0, 0), fov=0.5, width=128, height=128)
    above = mw.Actor(box((0.5, 0.1, 0.5)), transforms=at((0, 8, 0)))
    assert shadow(renderer, above, camera=camera, direction=(0, -1, 0)).max() > 0.3
    assert not renderer.list.draws and len(renderer.list.casters[0]) == 1
    aside = mw.Actor(box((0.5, 0.1, 0.5)), transforms=at((30, 8, 0)))
    assert shadow(renderer, aside, camera=camera, direction=(0, -1, 0)).max() == 0
    assert not any(renderer.list.casters)


def test_what_casts_no_shadow_casts_none(renderer):
    high = at((0, 3, 0))
    assert shadow(renderer, mw.Actor(box(), transforms=high)).max() > 0.3
    assert shadow(renderer, mw.Actor(box(), transforms=high, shadows=False), camera=below(2.0)).max() == 0
    assert shadow(renderer, mw.Actor(box(), transforms=high), camera=below(2.0), shadows=False).max() == 0


def below(height, width=6.0, x=0.0):
    """Looks down from under what is higher than `height`."""
    return mw.Camera.orthographic(
        (x, height, 0), (x, 0, 0), size=width, up=(0, 0, -1), width=128, height=128, near=0.1, far=100
    )


def test_holes_of_a_mask_let_the_sun_through(renderer):
    pixels = np.zeros((4, 4, 4), np.uint8)
    pixels[:2] = 255
    data = io.BytesIO()
    Picture.fromarray(pixels, "RGBA").save(data, "PNG")
    material = mw.Material(
        "leaf", metallic=0.0, alpha_mode="mask", double_sided=True,
        base_color_texture=mw.Texture(0, mag_filter="nearest", min_filter="nearest", wrap_u="clamp", wrap_v="clamp"),
    )  # fmt: skip
    points = [(-1, 0, -1), (1, 0, -1), (1, 0, 1), (-1, 0, 1)]
    uv = np.float32([(0, 0), (1, 0), (1, 1), (0, 1)])
    leaf = body("leaf", points, [(0, 2, 1), (0, 3, 2)], [(0, 1, 0)] * 4, uvs=(uv,))
    leaf = leaf.replace(images=(mw.Image("leaf", "image/png", data.getvalue()),), materials=(material,))
    dark = shadow(renderer, mw.Actor(leaf, transforms=at((0, 3, 0))), camera=below(2.0), direction=(0, -1, 0))
    assert dark[pixel(0, -0.5)] > 0.3 and dark[pixel(0, 0.5)] == 0


def test_soft_edges_grow_with_the_distance_of_what_casts_them(renderer):
    def edge(height, softness):
        dark = shadow(
            renderer, mw.Actor(box((2, 0.02, 2)), transforms=at((0, height, 0))),
            camera=below(min(height - 0.01, 1.0), 0.4, 1.0), direction=(0, -1, 0), softness=softness,
        )  # fmt: skip
        row = dark[64] / dark.max()
        return int(((row > 0.05) & (row < 0.95)).sum())

    assert edge(3.0, 0.0) <= edge(3.0, 1.0) <= edge(3.0, 8.0)
    assert edge(0.15, 8.0) < edge(3.0, 8.0)


# -- where the map lies ---------------------------------------------------------------------------------------------
def fitted(camera, low, high, **options):
    options = {"ground": 0.0, "resolution": 1024, "most": 4, "origin": camera.eye, **options}
    return fit_cascades(np.array(SUN), camera, BoundingBoxes.of(low, high), **options)


def test_the_map_holds_still_when_camera_and_character_move_a_little():
    """Texels stay where they are in the world: the same size, moved by whole texels."""
    rng = np.random.default_rng(3)
    low, high = np.array([-0.4, 0, -0.3]), np.array([0.4, 1.8, 0.3])
    sizes, phases = set(), []
    for _ in range(40):
        eye = np.array([2.0, 1.5, 3.0]) + rng.normal(0, 0.05, 3)
        moved = rng.normal(0, 0.02, 3) * [1, 0, 1]
        camera = mw.Camera.perspective(eye, (0, 0.9, 0), width=64, height=64)
        (found,) = fitted(camera, low + moved, high + moved)
        sizes.add(round(found.texel, 9))
        # Where the world's origin lies in the map, in texels: whole numbers apart.
        place = found.matrix @ np.append(-camera.eye, 1.0)
        phases.append(place[:2] * 1024)
    assert len(sizes) == 1
    phases = np.array(phases)
    assert np.abs((phases - phases[0] + 0.5) % 1 - 0.5).max() < 1e-6


def test_all_that_is_seen_and_cast_lies_on_the_map():
    """Random crowds and cameras: whatever point of a caster's shadow the camera sees, a cascade covers."""
    rng = np.random.default_rng(11)
    axes = sun_axes(np.array(SUN))
    covered = 0
    for _ in range(60):
        middle = rng.uniform(-20, 20, (30, 3)) * [1, 0, 1] + [0, 1, 0]
        half = rng.uniform(0.2, 1.0, (30, 3))
        camera = mw.Camera.perspective(
            rng.uniform(-15, 15, 3) * [1, 0, 1] + [0, 2, 0],
            rng.uniform(-5, 5, 3),
            width=64,
            height=48,
            far=200,
        )
        fits = fitted(camera, middle - half, middle + half)
        for _ in range(20):
            who = rng.integers(30)
            point = middle[who] + rng.uniform(-1, 1, 3) * half[who]
            fallen = point + point[1] / -axes[2][1] * axes[2]
            seen = camera.projection @ np.append(camera.view @ np.append(fallen, 1), 1)
            if not (np.abs(seen[:3]) < seen[3]).all():
                continue
            covered += 1
            places = [f.matrix @ np.append(fallen - camera.eye, 1) for f in fits]
            ok = [
                f.casters[who] and (np.abs(p[:2] - 0.5) <= 0.5).all() and p[2] >= 0
                for f, p in zip(fits, places)
            ]
            assert any(ok)
    assert covered > 100


def test_near_and_far_have_parts_of_their_own():
    places = np.array([[0, 0, -z] for z in range(0, 100, 2)], float)
    camera = mw.Camera.perspective((0, 1.7, 3), (0, 1, -10), width=64, height=36)
    low, high = places - np.array([0.3, 0, 0.3]), places + np.array([0.3, 1.8, 0.3])
    fits = fitted(camera, low, high)
    texels = [f.texel for f in fits]
    assert len(fits) >= 3 and texels == sorted(texels) and texels[-1] > 4 * texels[0]
    assert len(fitted(camera, low, high, most=1)) == 1
    assert not fitted(camera, [0, 0, 50], [1, 1, 51])  # behind


def covered(x):
    """How much of a disc of radius 1 lies beyond a straight edge at `x`."""
    x = np.clip(x, -1, 1)
    return 0.5 - (np.arcsin(x) + x * np.sqrt(1 - x * x)) / np.pi


@pytest.mark.parametrize("height", [0.5, 1.5, 3.0])
@pytest.mark.parametrize("shadow_size", [512, 1024])
def test_edges_are_as_wide_as_the_suns_disc_makes_them(device, height, shadow_size):
    """Rays to all of the sun's disc past a straight edge: wider with distance, whatever the map's size."""
    renderer = mw.Renderer((256, 32), device=device, shadow_size=shadow_size)
    camera = mw.Camera.orthographic(
        (2.0, height - 0.2, 0),
        (2.0, 0, 0),
        size=0.125,
        up=(0, 0, -1),
        width=256,
        height=32,
        near=0.01,
        far=10,
    )
    roof = mw.Actor(box((4, 0.02, 4)), transforms=at((0, height, 0)))
    dark = shadow(renderer, roof, camera=camera, direction=(0, -1, 0)).mean(0)
    dark = dark / dark[:16].mean()
    x = 2.0 + (np.arange(256) + 0.5 - 128) / 256
    wanted = covered((x - 2.0) / (0.028 * height))
    assert np.abs(dark - wanted).max() < 0.12
    assert np.abs(dark - wanted).mean() < 0.025
    assert (np.diff(dark) < 0.02).all()  # no ripples


def test_the_shadow_of_something_thin_is_whole(renderer):
    """A stick a texel or two wide, high above the ground: its shadow is as dark all along, without dashes."""
    stick = mw.Actor(box((0.02, 0.02, 3.0)), transforms=at((0, 1.0, 0)))
    dark = shadow(renderer, stick, camera=below(0.9, width=1.0), direction=(0.02, -1, 0.05))
    along = dark[16:112].max(1)
    assert along.min() > 0.02
    assert along.std() < 0.15 * along.mean()
