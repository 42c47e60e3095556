"""Characters as MJCF: the hinges that are written make the poses of the clips, by kinematics worked out from the text."""

from xml.etree import ElementTree

import numpy as np
import pytest

import marrow as mw
from marrow.math import quaternion
from robot_world import humanoid_urdf, in_our_axes, turn


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    source = mw.load("mannequin")
    source = source.replace(clips=[source.clips["walk"]])
    path = tmp_path_factory.mktemp("mjcf") / "man.xml"
    mw.save(source, path, mass=80.0)
    return source, path, ElementTree.parse(path).getroot()


def numbers(element, key):
    return [float(v) for v in element.get(key).split()]


def file_turn(rotation):
    """A rotation of ours in the axes of the file."""
    to_file = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]])
    return to_file @ rotation @ to_file.T


def solved_angles(axes, wanted):
    """Angles about axes one after the other that make a rotation, by Newton's method on its matrix."""
    angles = np.zeros(len(axes))
    for _ in range(30):
        made, columns = np.eye(3), []
        for axis, angle in zip(axes, angles):
            columns.append(made @ axis)
            made = made @ turn(axis, angle)
        off = wanted @ made.T
        error = np.array([off[2, 1] - off[1, 2], off[0, 2] - off[2, 0], off[1, 0] - off[0, 1]]) / 2
        angles = angles + np.linalg.lstsq(np.array(columns).T, error, rcond=None)[0]
    return angles, float(np.abs(made - wanted).max())


def test_the_hinges_make_the_poses_of_the_clips_within_their_ranges(written):
    source, _, root = written
    skeleton = source.skeleton
    walk = source.clips["walk"]
    pose = walk.sample(0.4 * walk.duration)
    model = skeleton.to_model(pose)
    top = root.find("worldbody/body")
    hips = skeleton.index(top.get("name"))
    stack = [(top, file_turn(model[hips, :, :3].astype(float)), None)]
    checked = 0
    while stack:
        body, rotation, place = stack.pop()
        joint = skeleton.index(body.get("name"))
        if place is None:
            place = np.array(model[hips, [2, 0, 1], 3], float)
        else:
            w, *v = numbers(body, "quat")
            place = place + rotation @ numbers(body, "pos")
            rotation = rotation @ quaternion.to_matrix(np.array([*v, w]))
            rest = quaternion.to_matrix(skeleton.rest.rotation[joint].astype(float))
            now = quaternion.to_matrix(pose.rotation[joint].astype(float))
            hinges = body.findall("joint")
            axes = [np.array(numbers(h, "axis")) for h in hinges]
            wanted = file_turn(rest.T @ now)
            angles, apart = (
                solved_angles(axes, wanted) if axes else ([], float(np.abs(wanted - np.eye(3)).max()))
            )
            assert apart < 0.01
            for hinge, angle in zip(hinges, angles):
                low, high = numbers(hinge, "range")
                assert low <= angle <= high
            rotation = rotation @ wanted
        np.testing.assert_allclose(in_our_axes(place), model[joint, :, 3], atol=2e-5)
        checked += 1
        stack.extend((child, rotation, place) for child in body.findall("body"))
    assert checked > 15


def test_masses_add_up_and_capsules_are_as_thick_as_the_skin(written):
    _, _, root = written
    masses = [float(g.get("mass")) for g in root.iter("geom") if g.get("mass")]
    assert sum(masses) == pytest.approx(80.0, rel=1e-4) and min(masses) > 0
    radii = [numbers(g, "size")[0] for g in root.iter("geom") if g.get("mass")]
    assert max(radii) < 0.2


def test_the_file_reads_back_as_the_same_body(written):
    source, path, root = written
    again = mw.load(path, cache=False).skeleton
    assert len(again.hinges) == len(list(root.iter("joint"))) - 1  # one is in the defaults
    for body in root.iter("body"):
        at = source.skeleton.rest_model[source.skeleton.index(body.get("name")), :, 3]
        np.testing.assert_allclose(again.rest_model[again.index(body.get("name")), :, 3], at, atol=1e-5)


def test_a_robot_keeps_its_hinges_and_limits(tmp_path):
    robot = mw.load(humanoid_urdf().encode(), cache=False)
    mw.save(robot, tmp_path / "robot.xml")
    again = mw.load(tmp_path / "robot.xml", cache=False).skeleton
    was = {h.name: h for h in robot.skeleton.hinges}
    assert {h.name for h in again.hinges} == set(was)
    for h in again.hinges:
        assert (h.lower, h.upper) == pytest.approx((was[h.name].lower, was[h.name].upper))
        np.testing.assert_allclose(h.axis, was[h.name].axis, atol=1e-6)


def test_options_out_of_range_are_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(mw.MarrowError, match="mass"):
        mw.save(mw.load("mannequin"), tmp_path / "man.xml", mass=-1.0)
    assert not list(tmp_path.iterdir())
