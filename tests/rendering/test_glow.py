"""Light around what is brighter than a screen can show."""

import numpy as np
import pytest
from solids import ball

import marrow as mw

CAMERA = mw.Camera.orthographic((0, 0, 5), (0, 0, 0), size=4.0, width=96, height=96, near=0.1, far=10)


def drawn(renderer, emissive, *, glow=True, background="dark"):
    renderer.size, renderer.glow = (96, 96), glow
    try:
        lamp = mw.Material(base_color=(0, 0, 0, 1), metallic=0.0, emissive=emissive)
        scene = mw.Scene(ball(0.5, lamp), ground=False, environment=mw.Environment(background))
        return renderer.render(scene, CAMERA).pixels.astype(float)
    finally:
        renderer.glow = True


@pytest.mark.parametrize("path", ["forward", "deferred"])
def test_what_is_brighter_than_the_screen_glows(request, path):
    renderer = request.getfixturevalue("renderer" if path == "forward" else "deferred_renderer")
    without, with_ = (drawn(renderer, (20.0, 4.0, 1.0), glow=g) for g in (False, True))
    more = (with_ - without)[48, :, 0]
    assert more[32] > 8  # beside the ball, whose edge is at column 36
    assert more[32] > more[24] > more[12] >= 0  # less and less
    assert (with_ - without)[48, 32, 0] > 2 * (with_ - without)[48, 32, 2]  # in its colour


def test_what_a_screen_can_show_does_not(renderer):
    np.testing.assert_array_equal(
        drawn(renderer, (0.9, 0.9, 0.9)), drawn(renderer, (0.9, 0.9, 0.9), glow=False)
    )


def test_glow_is_seen_on_a_transparent_picture(renderer):
    found = drawn(renderer, (20.0, 20.0, 20.0), background="transparent")
    assert 0 < found[48, 30, 3] < 255 and found[48, 30, :3].min() > 60
