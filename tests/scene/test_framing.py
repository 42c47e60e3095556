"""Cameras by name: what they see, against projecting every point."""

import math

import numpy as np
import pytest

import marrow as mw
from marrow.errors import UnknownNameError, ValidationError
from marrow.scene.bounds import supports
from marrow.scene.camera_fit import CAMERAS, MARGIN, direction_of, edges, fit, fit_orbit
from marrow.scene.camera_track import CameraTrack
from marrow.scene.orientation import facing, scene_facing


def in_picture(camera, points):
    """Where points are in the picture, from -1 to 1 each way; and how far in front of the camera."""
    seen = np.column_stack([points, np.ones(len(points))]) @ camera.view.T
    clip = np.column_stack([seen, np.ones(len(points))]) @ camera.projection.T
    return clip[:, :2] / clip[:, 3:], clip[:, 3]


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e4])
@pytest.mark.parametrize("size", [(1280, 720), (200, 600), (64, 64)])
def test_all_points_are_seen_and_no_more_room_is_left_than_the_margin(scale, size):
    rng = np.random.default_rng(3)
    for name in (*CAMERAS, "120,-40", "-200,60,1"):
        points = scale * (rng.normal(size=(50, 3)) * rng.uniform(0.05, 3, 3) + rng.normal(size=3) * 5)
        camera = fit(points, direction_of(name), size)
        place, front = in_picture(camera, points)
        assert (front > 0).all()
        # The margin is left on all sides, and something touches it.
        assert np.abs(place).max() == pytest.approx(1 / MARGIN, rel=1e-6)
        # What does not fill the picture is in its middle.
        middle = (place.max(axis=0) + place.min(axis=0)) / 2
        assert np.abs(middle).max() < 0.35


def test_names_say_from_where():
    points = np.array([[-1, 0, -1], [1, 2, 1.0]])

    def eye(name):
        return fit(points, direction_of(name), (100, 100)).eye - [0, 1, 0]

    assert eye("front")[2] > 4 > abs(eye("front")[0])
    assert eye("back")[2] < -4
    assert eye("left")[0] > 4
    assert eye("right")[0] < -4
    assert eye("side")[0] < -4  # +Z, where it walks to, is on the right
    camera = fit(points, direction_of("side"), (100, 100))
    ahead, _ = in_picture(camera, np.array([[0, 1, 1.0], [0, 1, -1.0]]))
    assert ahead[0, 0] > ahead[1, 0]
    assert eye("top")[1] > 4
    assert eye("0,90")[1] > 4
    back = fit(points, direction_of("90,30"), (100, 100)).view[2, :3]
    assert math.degrees(math.atan2(back[1], back[0])) == pytest.approx(30)
    assert np.linalg.norm(eye("30,10,2")) < 0.7 * np.linalg.norm(eye("30,10"))
    assert direction_of((math.radians(45), math.radians(20))) == direction_of("45,20")


def test_what_is_no_camera_is_told():
    with pytest.raises(UnknownNameError, match="did you mean 'front'"):
        direction_of("frnt")
    for wrong in ("1,2,3,4", "nan,3", "45,20,0", (1,), 7, None, "0,100"):
        with pytest.raises(ValidationError):
            direction_of(wrong)


def test_nothing_and_points_that_are_no_numbers_still_have_a_camera():
    for points in (np.zeros((0, 3)), np.full((4, 3), np.nan), np.ones((3, 3))):
        camera = fit(points, direction_of("front"), (64, 64))
        assert np.isfinite(camera.view).all()
    one = np.array([[np.nan] * 3, [1, 2, 3.0], [2, 2, 3.0]])
    place, _ = in_picture(fit(one, direction_of("front"), (64, 64)), one[1:])
    assert np.abs(place).max() < 1


def test_a_camera_that_goes_round_sees_all_the_way():
    rng = np.random.default_rng(5)
    points = rng.normal(size=(200, 3)) * [2, 0.5, 0.1]
    tracking = CameraTrack("orbit", (300, 200), np.zeros(1), [points])
    eyes = []
    for turn in np.linspace(0, 1, 37):
        camera = tracking.at(0.0, turn)
        place, front = in_picture(camera, points)
        assert np.abs(place).max() <= 1
        assert (front > 0).all()
        eyes.append(camera.eye)
    np.testing.assert_allclose(eyes[0], eyes[-1], atol=1e-9)
    height = np.ptp([eye[1] for eye in eyes])
    assert height < 1e-9


def test_what_travels_is_followed_and_what_stays_is_not():
    times = np.linspace(0, 2, 21)
    box = np.array([[-0.3, 0, -0.3], [0.3, 1.8, 0.3]])
    going = [box + np.array([0, 0, 3 * t]) for t in times]
    tracking = CameraTrack("side", (400, 300), times, going)
    first, last = tracking.at(0.0), tracking.at(2.0)
    np.testing.assert_allclose(last.eye - first.eye, [0, 0, 6], atol=1e-6)
    for time, points in zip(times, going):
        assert np.abs(in_picture(tracking.at(time), points)[0]).max() < 1
    still = CameraTrack("side", (400, 300), times, going, follow=False)
    np.testing.assert_array_equal(still.at(0.0).view, still.at(2.0).view)
    assert np.linalg.norm(still.at(0.0).eye) > np.linalg.norm(first.eye)
    swaying = [box + np.array([0, 0, 0.2 * math.sin(9 * t)]) for t in times]
    tracking = CameraTrack("side", (400, 300), times, swaying)
    np.testing.assert_array_equal(tracking.at(0.0).view, tracking.at(1.1).view)
    given = mw.Camera.perspective((0, 1, 3), (0, 1, 0))
    assert CameraTrack(given, (10, 10), times, going).at(1.0) is given


def test_few_points_stand_for_many():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(5000, 3)).astype(np.float32)
    points[7] = np.nan
    for camera in ("front", "45,20", "top", "orbit"):
        few = supports(points, edges(camera, (300, 200)))
        assert len(few) < 110
        np.testing.assert_array_equal(few.min(axis=0), np.nanmin(points, axis=0))
        if camera == "orbit":
            for mine, whole in zip(*(fit_orbit(p, direction_of(camera), (300, 200)) for p in (few, points))):
                np.testing.assert_allclose(mine, whole, rtol=1e-6)
        else:
            mine, whole = (fit(p, direction_of(camera), (300, 200)) for p in (few, points))
            np.testing.assert_allclose(mine.view, whole.view, atol=1e-5)


def test_cameras_go_by_the_front_of_a_body():
    hero = mw.samples.mannequin().levels[-2]
    assert facing(hero) == 0
    rest = hero.skeleton.rest
    rotation = rest.rotation.copy()
    rotation[0] = [0, 1, 0, 0]  # half a turn about the vertical axis
    bones = hero.skeleton
    around = mw.Skeleton(bones.names, bones.parents, rest.replace(rotation=rotation), bones.morph_names)
    back = mw.Character(around)
    assert abs(facing(back)) == pytest.approx(math.pi, abs=0.04)
    assert facing(mw.samples.lizard().levels[-1]) == 0  # on all fours
    half = np.array([[-1.0, 0, 0, 5], [0, 1, 0, 0], [0, 0, -1, 5]])
    assert scene_facing(mw.Scene(mw.Actor(back, transforms=half))) == 0
    assert abs(scene_facing(mw.Scene(back))) == pytest.approx(math.pi, abs=0.04)
    assert scene_facing(mw.Scene(back, hero)) == 0  # they look at each other
    assert scene_facing(mw.Scene()) == 0
    for thing, z in ((back, -1), (hero, 1)):
        eye = mw.render(thing, camera="front", size=(16, 16), renderer=Blank()).camera.eye
        assert np.sign(eye[2]) == z


class Blank:
    """Stands for a renderer."""

    size = (16, 16)

    def render(self, scene, camera, **options):
        return mw.Frame(np.zeros((16, 16, 4), np.uint8), camera=camera)
