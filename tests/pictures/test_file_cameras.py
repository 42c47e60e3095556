"""Pictures by the cameras and lights of a file."""

from __future__ import annotations

import math

import numpy as np
import pytest

import marrow as mw
from marrow.errors import UnknownNameError, ValidationError
from marrow.model import JointCamera, JointLight
from marrow.scene.file_cameras import FileCamera, FileLights


def stage() -> mw.Character:
    """A unit square at the origin that faces +Z, a camera on a dolly in front of it, one above, and lights."""
    rest = mw.Pose(
        np.float32([[0, 0, 0], [0, 0, 5], [0, 9, 0]]),
        np.float32([[0, 0, 0, 1], [0, 0, 0, 1], [-math.sqrt(0.5), 0, 0, math.sqrt(0.5)]]),
        np.float32([[1, 1, 1], [3, 3, 3], [1, 1, 1]]),
    )
    bones = mw.Skeleton(("root", "dolly", "crane"), [-1, -1, -1], rest)
    square = np.float32([[-0.5, -0.5, 0], [0.5, -0.5, 0], [0.5, 0.5, 0], [-0.5, 0.5, 0]])
    mesh = mw.Mesh.rigid(
        "square", square, [[0, 1, 2], [0, 2, 3]], 0, normals=np.tile(np.float32([0, 0, 1]), (4, 1))
    )
    back = mw.Track(1, "translation", [0, 1], [[0, 0, 5], [0, 0, 10]])
    curves = [
        mw.Curve("camera:lens:fov", [0, 1], [0.5, 1.0]),
        mw.Curve("visibility:crane", [0, 0.5, 0.5, 1], [1, 1, 0, 0]),
    ]
    return mw.Character(
        bones,
        [mesh],
        [mw.Clip("zoom", bones, [back], curves=curves)],
        cameras=[
            JointCamera("lens", 1, fov=0.5, aspect=2.0),
            JointCamera("plan", 2, "orthographic", size=4.0),
        ],
        lights=[
            JointLight("sun", 1, "directional", intensity=5000.0),
            JointLight("lamp", 2, "point", (1.0, 0.0, 0.0), 100.0),
            JointLight("off", 0, visible=False),
        ],
    )


def test_it_stands_where_its_joint_is_and_sees_its_angle():
    hero = stage()
    scene = mw.Scene(mw.Actor(hero))
    lens = FileCamera(scene, "lens", (200, 100)).at()
    np.testing.assert_allclose(lens.eye, [0, 0, 5], atol=1e-6)  # whatever the joint's scale
    assert lens.projection[1, 1] == pytest.approx(1 / math.tan(0.25))
    narrow = FileCamera(scene, "dolly", (100, 100)).at()  # by the name of its joint; all of the frame is seen
    assert narrow.projection[0, 0] == pytest.approx(lens.projection[0, 0])
    plan = FileCamera(scene, "plan", (100, 100)).at()
    np.testing.assert_allclose(plan.view @ [0, 0, 0, 1], [0, 0, -9], atol=1e-6)
    moved = mw.Scene(mw.Actor(hero, clip="zoom", time=1.0))
    later = FileCamera(moved, "lens", (200, 100)).at()
    np.testing.assert_allclose(later.eye, [0, 0, 10], atol=1e-6)
    assert later.projection[1, 1] == pytest.approx(1 / math.tan(0.5))


def test_lights_go_with_their_joints_and_keep_their_proportions():
    hero = stage()
    scene = mw.Scene(mw.Actor(hero, clip="zoom", time=0.25))
    lights = FileLights(scene, np.zeros(3))
    sun, lamp = lights.at()
    assert sun.direction == pytest.approx((0, 0, -1)) and lamp.position == pytest.approx((0, 9, 0))
    assert lamp.intensity / sun.intensity == pytest.approx(100 / 5000)
    assert sun.intensity + lamp.intensity / 81 == pytest.approx(mw.DirectionalLight().intensity)
    scene.actors[0].time = 0.75  # the clip hides the crane
    assert len(lights.at()) == 1


def test_pictures_are_taken_through_it():
    hero = stage()
    options = {"size": (64, 64), "transparent": True}
    frame = mw.render(hero, camera="lens", lights="file", **options)
    seen = np.asarray(frame)[..., 3] > 128
    wide = (
        64 * 0.5 / (5 * math.tan(0.25) * 2)
    )  # half the square's width in pixels: the frame is twice as wide as high
    assert abs(np.sqrt(seen.sum()) - wide) < 1.5
    far = mw.render(hero, camera="lens", clip="zoom", time=1.0, **options)
    assert (np.asarray(far)[..., 3] > 128).sum() < seen.sum() / 4
    with pytest.raises(UnknownNameError, match="no camera called 'lenss'; did you mean 'lens'"):
        mw.render(hero, camera="lenss", **options)
    with pytest.raises(UnknownNameError, match="no camera of the file called 'front'"):
        mw.render(hero, camera="file:front", **options)
    with pytest.raises(ValidationError, match="the file has none"):
        mw.render(hero.replace(lights=()), lights="file", **options)
    with pytest.raises(ValidationError, match="lights: expected one of file"):
        mw.render(hero, lights="files", **options)
