"""Contact shading: where things are close together, nowhere else."""

import numpy as np
import pytest
from solids import at, box

import marrow as mw

CUT_OUT = mw.Environment(background="transparent")
CAMERA = mw.Camera.perspective((1.5, 1.6, 3.5), (0, 0.9, 0), fov=0.6, width=160, height=160)


def drawn(renderer, *things, contact, ground=False, environment=CUT_OUT, camera=CAMERA):
    renderer.size = (160, 160)
    renderer.contact = contact
    try:
        scene = mw.Scene(*things, ground=ground, environment=environment)
        return renderer.render(scene, camera).pixels.astype(float)
    finally:
        renderer.contact = True


@pytest.mark.parametrize("path", ["forward", "deferred"])
def test_nothing_is_shaded_where_nothing_is(request, hero, path):
    """Cut out, a figure has the same outline with contact shading as without: no dark fringe."""
    renderer = request.getfixturevalue("renderer" if path == "forward" else "deferred_renderer")
    with_, without = (drawn(renderer, hero, contact=c) for c in (True, False))
    outside = without[..., 3] == 0
    assert not with_[outside, 3].any()
    if path == "forward":  # the other one smooths edges by what they look like
        assert np.abs(with_[..., 3] - without[..., 3]).max() <= 1
    assert (with_ < without - 3).any()  # it is there, inside


def test_a_large_floor_does_not_make_it_wider(renderer, hero):
    """A figure on a floor of 48 m is shaded as on a floor of 6 m: it goes by what the camera looks at."""
    dark = mw.Environment("dark")
    found = []
    for width in (6.0, 48.0):
        floor = mw.Actor(box((width, 0.1, width)), transforms=at((0, -0.05, 0)))
        found.append(
            drawn(renderer, hero, floor, contact=True, environment=dark)
            - drawn(renderer, hero, floor, contact=False, environment=dark)
        )
    assert np.abs(found[0] - found[1])[80:].max() < 12
    assert np.abs(found[0] - found[1])[80:].mean() < 0.3
