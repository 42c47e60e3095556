"""Cameras and lights on joints: what they check, and that they go where their joints go."""

import math

import numpy as np
import pytest

import marrow as mw
from builders import character
from marrow.errors import UnknownNameError, ValidationError
from marrow.math import quaternion
from marrow.model import JointCamera, JointLight
from marrow.model.joint_camera import curve_name, curve_parts


def test_wrong_numbers_are_named():
    for wrong, words in (
        ({"fov": 45.0}, r"JointCamera\('c'\).fov: .*did you mean math.radians"),
        ({"fov": 0.0}, "between 0 and pi"),
        ({"near": 0.0}, "near: expected more than 0"),
        ({"far": 0.05}, "near below far"),
        ({"rotation": (0, 0, 0, 0)}, "a quaternion needs a length"),
        ({"aspect": 0}, "aspect: expected more than 0"),
        ({"kind": "fisheye"}, "expected one of perspective, orthographic"),
        ({"extras": {"a": object()}}, "JSON-like"),
    ):
        with pytest.raises(ValidationError, match=words):
            JointCamera("c", 0, **wrong)
    assert JointCamera("plan", 0, "orthographic", near=-1.0, far=0.0).near == -1  # sees what is behind it
    for wrong, words in (
        ({"inner": 0.9, "outer": 0.5}, "inner must not be wider"),
        ({"intensity": -1}, "intensity: expected at least 0"),
        ({"color": (1, 1)}, "expected 3 numbers"),
        ({"range": math.inf}, "range: expected a finite"),
    ):
        with pytest.raises(ValidationError, match=words):
            JointLight("l", 0, "spot", **wrong)


def test_a_character_wants_joints_that_are_there_and_names_that_differ():
    rig = mw.Skeleton(("root", "head"), [-1, 0])
    with pytest.raises(ValidationError, match=r"cameras: 'a' is on joint 99"):
        mw.Character(rig, cameras=[JointCamera("a", 99)])
    with pytest.raises(ValidationError, match=r"lights: two are called 'a'"):
        mw.Character(rig, lights=[JointLight("a", 0), JointLight("a", 1)])
    hero = mw.Character(rig, cameras=[JointCamera("eye", 1)], lights=[JointLight("lamp", 0)])
    assert hero.camera("eye").joint == 1 and hero.camera(rig.names[1]).name == "eye"
    assert hero.light(rig.names[0]).name == "lamp" and "1 camera, 1 light" in repr(hero)
    with pytest.raises(UnknownNameError, match="no camera called 'eys'; did you mean 'eye'"):
        hero.camera("eys")


def test_they_follow_their_joint_into_another_skeleton_by_its_name():
    rig = mw.Skeleton(("root", "arm", "hand"), [-1, 0, 1])
    hero = mw.Character(rig, cameras=[JointCamera("eye", 2)], lights=[JointLight("lamp", 1)])
    other = hero.replace(skeleton=mw.Skeleton(("root", "extra", "hand"), [-1, 0, 1]))
    assert other.camera("eye").joint == 2 and other.lights == ()
    assert "lights" in str(other.report)
    from marrow.lod.joint_removal import reordered

    wide = mw.Character(
        mw.Skeleton(("root", "a", "b"), [-1, 0, 0]),
        cameras=[JointCamera("eye", 1)],
        lights=[JointLight("l", 2)],
    )
    turned = reordered(wide, np.array([0, 2, 1]))
    assert turned.camera("eye").joint == 2 and turned.light("l").joint == 1


@pytest.mark.parametrize("world", ["unreal", "blender", "unity", "maya"])
def test_in_another_space_they_look_at_what_they_looked_at(world):
    hero = character(np.random.default_rng(5)).replace(
        cameras=[JointCamera("eye", 1, near=0.5, far=8.0, rotation=(0.1, 0.7, 0.1, 0.7))],
        lights=[JointLight("lamp", 0, "spot", range=3.0)],
    )
    other = hero.converted(world)
    from marrow.io.axes import WORLDS

    C, s = WORLDS[world].matrix, 1 / WORLDS[world].metres
    for mine, theirs in zip((*hero.cameras, *hero.lights), (*other.cameras, *other.lights)):

        def looks(one, who):
            frame = who.skeleton.rest_model[one.joint][:, :3] @ quaternion.to_matrix(np.array(one.rotation))
            return -frame[:, 2], frame[:, 1]

        for before, after in zip(looks(mine, hero), looks(theirs, other)):
            np.testing.assert_allclose(after, C @ before, atol=1e-6)
    assert other.camera("eye").far == pytest.approx(8 * s) and other.light("lamp").range == pytest.approx(
        3 * s
    )
    back = other.converted(world, back=True)
    np.testing.assert_allclose(
        np.abs(np.dot(back.cameras[0].rotation, hero.cameras[0].rotation)), 1, atol=1e-12
    )


def test_curves_say_whose_number_they_are():
    assert curve_parts(curve_name("camera", "a:b", "fov")) == ("camera", "a:b", "fov")
    assert curve_parts("camera:x:colour") is None and curve_parts("visibility:fov") is None


def test_joints_that_carry_them_are_not_idle():
    rest = mw.Pose(np.zeros((3, 3), np.float32), np.float32([[0, 0, 0, 1]] * 3), np.ones((3, 3), np.float32))
    bones = mw.Skeleton(("root", "crane", "spare"), [-1, 0, 0], rest)
    box = mw.Mesh.rigid("box", np.eye(3, dtype=np.float32), [[0, 1, 2]], 0)
    from marrow.io.lint.joint_repairs import leave_out_joints

    seen = mw.Character(bones, [box], cameras=[JointCamera("eye", 1)])
    made, done = leave_out_joints(seen, ())
    assert made.skeleton.names == ("root", "crane") and made.camera("eye").joint == 1 and done
