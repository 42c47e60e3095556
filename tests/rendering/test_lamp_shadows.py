"""Shadows of spot and point lights: where they fall, that nothing has one of itself, both paths, how many there may be."""

import numpy as np
import pytest
from solids import at, ball, box, plate

import marrow as mw
from marrow.errors import MarrowError

DARK = mw.Environment("dark", ambient=0.0)
NO_SUN = mw.DirectionalLight(intensity=0.0, shadows=False)


def drawn(renderer, *things, lamp, camera, ground=True):
    renderer.size, renderer.contact = (128, 128), False
    try:
        scene = mw.Scene(*things, lights=[NO_SUN, lamp], ground=ground, grid=False, environment=DARK)
        return renderer.render(scene, camera).pixels[..., :3].astype(float).mean(-1)
    finally:
        renderer.contact = True


def below(height, width=6.0):
    return mw.Camera.orthographic(
        (0, height, 0), (0, 0, 0), size=width, up=(0, 0, -1), width=128, height=128, near=0.01, far=100
    )


@pytest.mark.parametrize("path", ["forward", "deferred"])
@pytest.mark.parametrize("kind", ["spot", "point"])
def test_a_shadow_falls_where_the_lamp_carries_it(request, path, kind):
    """A small box between lamp and ground: its shadow is larger than it by the ratio of the distances, and in line."""
    renderer = request.getfixturevalue("renderer" if path == "forward" else "deferred_renderer")
    place = np.array([0.3, 2.0, -0.2])
    lamps = [
        mw.PointLight((-0.5, 4.0, 0.5), intensity=30, range=12, shadows=s)
        if kind == "point"
        else mw.SpotLight(
            (-0.5, 4.0, 0.5), direction=(0, -1, 0), intensity=30, range=12, outer=0.9, shadows=s
        )
        for s in (True, False)
    ]
    thing = mw.Actor(box((0.5, 0.05, 0.5)), transforms=at(place))
    with_, without = (drawn(renderer, thing, lamp=l, camera=below(1.5)) for l in lamps)
    dark = np.clip((without - with_) / np.maximum(without, 1), 0, 1)
    rows, columns = np.mgrid[0:128, 0:128]
    x, z = (6 * (((n * dark).sum() / dark.sum() + 0.5) / 128 - 0.5) for n in (columns, rows))
    lamp = np.array([-0.5, 4.0, 0.5])
    top = np.array([0.3, 2.025, -0.2])
    middle = lamp + (top - lamp) * 4.0 / (4.0 - 2.025)
    assert [x, z] == pytest.approx([middle[0], middle[2]], abs=0.08)
    side = 6 / 128 * np.sqrt((dark > 0.5 * dark.max()).sum())
    assert side == pytest.approx(0.5 * 4.0 / 1.95, rel=0.1)


@pytest.mark.parametrize("way", [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)])
def test_a_point_light_casts_shadows_all_around(renderer, way):
    """A ball before a plate on each side of the lamp: the plate's middle is dark, its corner is lit."""
    way = np.array(way, float)
    up = np.array([0.0, 1.0, 0.0]) if abs(way[1]) < 0.5 else np.array([0.0, 0.0, 1.0])
    right = np.cross(up, -way)
    turn = np.stack([right, np.cross(-way, right), -way], 1)
    wall = np.concatenate([turn, (2.0 * way)[:, None]], 1)
    lamp = mw.PointLight((0, 0, 0), intensity=20, range=10, shadows=True)
    camera = mw.Camera.orthographic(
        0.5 * way, 2 * way, size=3.0, up=tuple(up), width=128, height=128, near=0.01, far=10
    )
    things = mw.Actor(plate(4, 4), transforms=wall), mw.Actor(ball(0.15), transforms=at(0.35 * way))
    found = drawn(renderer, *things, lamp=lamp, camera=camera, ground=False)
    assert found[64, 64] < 3 and found[8, 64] > 40


@pytest.mark.parametrize("place", [(1.5, 2.0, 3.0), (-2.5, 0.4, 1.0)])
def test_what_is_lit_has_no_shadow_of_itself(renderer, place):
    camera = mw.Camera.perspective((0.5, 1.5, 4), (0, 0, 0), fov=0.6, width=128, height=128)
    on, off = (
        drawn(
            renderer, ball(), lamp=mw.PointLight(place, intensity=12, shadows=s), camera=camera, ground=False
        )
        for s in (True, False)
    )
    lit = off > 60
    assert lit.sum() > 500
    assert np.quantile(np.abs(on - off)[lit], 0.99) < 8


def test_more_lamps_than_can_cast_are_told(renderer, hero):
    lamps = [mw.PointLight((x, 2, 0), shadows=True) for x in range(3)]
    with pytest.raises(MarrowError, match="at most 16"):
        renderer.render(mw.Scene(hero, lights=lamps), below(3.0))
