"""The camera that circles and flies, against places worked out by hand."""

import math

import numpy as np
import pytest

from marrow.errors import ValidationError
from marrow.windows.camera_controls import CameraControls
from marrow.windows.inputs import Inputs


def moved(controls, *, seconds=0.5, height=600.0, fly=True, **what):
    inputs = Inputs()
    inputs.move(0, 0)
    for key in what.get("keys", ()):
        inputs.key(key, True)
    for button in what.get("buttons", ()):
        inputs.button(button, True)
    inputs.move(*what.get("drag", (0, 0)))
    inputs.wheel(what.get("wheel", 0))
    if "pad" in what:
        inputs.gamepad(0, "pad", what["pad"])
    controls.step(inputs.take(), seconds, height, fly=fly)
    return controls


def in_picture(controls, point, size=(800, 600)):
    camera = controls.camera(size)
    x, y, _, w = camera.projection @ np.append(camera.view @ np.append(point, 1.0), 1.0)
    return np.array([(1 + x / w) * size[0] / 2, (1 - y / w) * size[1] / 2])


def test_it_stands_in_front_of_what_faces_z_and_looks_at_the_target():
    c = CameraControls((1, 2, 3), 5, yaw=0, pitch=0)
    np.testing.assert_allclose(c.eye, (1, 2, 8))
    np.testing.assert_allclose(c.forward, (0, 0, -1))
    np.testing.assert_allclose(c.right, (1, 0, 0))
    np.testing.assert_allclose(in_picture(c, (1, 2, 3)), (400, 300))
    c.yaw = math.pi / 2
    np.testing.assert_allclose(c.eye, (6, 2, 3), atol=1e-12)
    c.yaw, c.pitch = 0, math.pi / 6
    np.testing.assert_allclose(c.eye, (1, 4.5, 3 + 5 * math.cos(math.pi / 6)))
    np.testing.assert_allclose(c.camera((800, 600)).eye, c.eye, atol=1e-9)


def test_dragging_takes_the_near_side_along():
    c = CameraControls((0, 0, 0), 5, yaw=0, pitch=0)
    near = np.array([0, 0, 0.1])
    before = in_picture(c, near)
    after = in_picture(moved(c, buttons=["left"], drag=(30, 10)), near)
    assert after[0] > before[0] and after[1] > before[1]
    assert c.distance == 5
    np.testing.assert_allclose(c.target, 0)


def test_panning_keeps_the_target_under_the_mouse():
    for how in ({"buttons": ["middle"]}, {"buttons": ["left"], "keys": ["shift"]}):
        c = CameraControls((0.3, 1, -2), 4, yaw=0.7, pitch=0.4)
        held, before = c.target, (c.yaw, c.pitch, c.distance)
        moved(c, drag=(50, -20), **how)
        np.testing.assert_allclose(in_picture(c, held), (450, 280), atol=1e-6)
        assert (c.yaw, c.pitch, c.distance) == before


def test_looking_turns_on_the_spot():
    c = CameraControls((0, 1, 0), 4, yaw=0.7, pitch=0.2)
    eye, ahead = c.eye, c.target
    moved(c, buttons=["right"], drag=(40, 25))
    np.testing.assert_allclose(c.eye, eye, atol=1e-12)
    at = in_picture(c, ahead)
    assert (
        at[0] < 400 and at[1] < 300
    )  # it looks to the right and down, so that what was ahead is left and above


def test_the_wheel_goes_nearer_but_never_through():
    c = CameraControls((0, 0, 0), 5)
    assert moved(c, wheel=1).distance == pytest.approx(5 / 1.15)
    for _ in range(40):
        moved(c, wheel=50)
    assert c.distance == pytest.approx(1e-3 * c.size)
    assert np.isfinite(c.camera((800, 600)).projection).all()
    for _ in range(40):
        moved(c, wheel=-50)
    assert c.distance == pytest.approx(1e4 * c.size)


@pytest.mark.parametrize(
    ("keys", "way"),
    [
        ("w", (0, 0, -1)),
        ("s", (0, 0, 1)),
        ("a", (-1, 0, 0)),
        ("d", (1, 0, 0)),
        ("e", (0, 1, 0)),
        ("q", (0, -1, 0)),
    ],
)
def test_keys_fly(keys, way):
    c = CameraControls((0, 1, 0), 4, yaw=0, pitch=0, size=2)
    eye = c.eye
    moved(c, keys=[keys], seconds=0.25)
    np.testing.assert_allclose(c.eye - eye, 0.5 * np.array(way), atol=1e-12)
    moved(c, keys=[keys, "shift"], seconds=0.25)
    np.testing.assert_allclose(c.eye - eye, 2.5 * np.array(way), atol=1e-12)
    at = c.eye
    moved(c, keys=[keys], fly=False)
    moved(c, keys=[keys, "control"])
    np.testing.assert_array_equal(c.eye, at)


def test_two_frames_fly_as_far_as_one_twice_as_long():
    once, twice = CameraControls(yaw=0.4, pitch=0.3), CameraControls(yaw=0.4, pitch=0.3)
    moved(once, keys=["w", "d"], seconds=0.2)
    for _ in range(2):
        moved(twice, keys=["w", "d"], seconds=0.1)
    np.testing.assert_allclose(once.eye, twice.eye)


def test_a_gamepad_flies_and_turns():
    c = CameraControls((0, 1, 0), 4, yaw=0, pitch=0, size=2)
    eye = c.eye
    moved(c, pad=(0, 1, 0, 0, 0, 0), seconds=0.25)
    np.testing.assert_allclose(c.eye - eye, (0, 0, -0.5), atol=1e-12)
    moved(c, pad=(0, 0, 1, 0, 0, 0), seconds=0.25)
    assert c.yaw == pytest.approx(-math.radians(30))


def test_it_never_turns_over_and_yaw_goes_round():
    c = CameraControls()
    c.pitch = 4.0
    assert c.pitch == pytest.approx(math.radians(89))
    for _ in range(3):
        c.orbit(math.tau, 0.0)
    c.orbit(0.25, -4.0)
    assert (c.yaw, c.pitch) == (pytest.approx(0.25), pytest.approx(-math.radians(89)))
    assert np.isfinite(c.camera((10, 10)).view).all()


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3])
@pytest.mark.parametrize("aspect", [0.3, 1.0, 3.0])
def test_framing_shows_everything_at_any_size_and_shape(scale, aspect):
    rng = np.random.default_rng(3)
    points = scale * (rng.uniform(-1, 1, (50, 3)) * (1, 3, 0.5) + (4, 5, 6))
    c = CameraControls(yaw=0.6, pitch=0.3)
    c.frame(points, aspect)
    camera = c.camera((int(600 * aspect), 600))
    p = camera.projection @ np.vstack([camera.view @ np.vstack([points.T, np.ones(50)]), np.ones(50)])
    assert (np.abs(p[:3]) <= p[3]).all()  # inside the picture, between near and far
    assert np.abs(p[:2] / p[3]).max() > 0.4  # and not lost in it
    c.fly(scale, scale, scale)
    c.orbit(1, 0.1)
    c.reset()
    np.testing.assert_allclose(c.camera((600, 600)).view, CameraControls.camera(c, (600, 600)).view)
    assert (c.yaw, c.pitch) == (0.6, 0.3)


def test_nothing_to_frame_changes_nothing():
    c = CameraControls((1, 2, 3), 4)
    c.frame(np.zeros((0, 3)))
    c.frame([[math.inf, 0, 0]])
    np.testing.assert_array_equal(c.target, (1, 2, 3))


@pytest.mark.parametrize("value", [(1, 2), (math.nan, 0, 0), "here", None])
def test_targets_are_places(value):
    with pytest.raises(ValidationError, match=r"CameraControls\.target"):
        CameraControls().target = value


@pytest.mark.parametrize("field", ["distance", "yaw", "pitch"])
@pytest.mark.parametrize("value", [math.nan, "far", None])
def test_numbers_are_numbers(field, value):
    with pytest.raises(ValidationError, match=field):
        setattr(CameraControls(), field, value)
