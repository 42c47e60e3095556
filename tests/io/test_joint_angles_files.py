"""Joint angles as files: names, units, the root in the axes of robots; what no hinge can do is refused."""

import csv

import numpy as np
import pytest

import marrow as mw
from marrow.math import quaternion
from robot_world import ARM_URDF


@pytest.fixture(scope="module")
def waving():
    """The arm with its shoulder from 0 to -1 and its rail out by 0.1, while the base goes forward and turns left."""
    robot = mw.load(ARM_URDF.encode(), cache=False)
    skeleton = robot.skeleton
    shoulder, rail = (skeleton.index(n) for n in ("shoulder", "rail"))
    turns = quaternion.from_axis_angle(np.array(skeleton.hinges[1].axis), np.array([0.0, -1.0]))
    slid = skeleton.rest.translation[rail] + 0.1 * quaternion.rotate(
        skeleton.rest.rotation[rail].astype(float), np.array(skeleton.hinges[3].axis)
    )
    half = np.sqrt(0.5)
    tracks = [
        mw.Track(
            shoulder,
            "rotation",
            [0, 1],
            quaternion.multiply(skeleton.rest.rotation[shoulder].astype(float), turns),
        ),
        mw.Track(rail, "translation", [0], [slid]),
        mw.Track(0, "translation", [0, 1], [[0, 0, 0], [0, 0.5, 2]]),
        mw.Track(0, "rotation", [0], [[0, half, 0, half]]),
    ]
    return robot.replace(clips=[mw.Clip("wave", skeleton, tracks).at_rate(4)])


def test_csv_has_a_column_for_every_hinge_and_says_its_units(waving, tmp_path):
    mw.save(waving, tmp_path / "wave.csv")
    note, *lines = (tmp_path / "wave.csv").read_text().splitlines()
    assert "radians" in note and "Z up" in note and "4 frames a second" in note
    rows = list(csv.DictReader(lines))
    assert len(rows) == 5
    last = {k: float(v) for k, v in rows[-1].items()}
    assert last["time"] == 1 and last["j_shoulder"] == pytest.approx(-1, abs=1e-6)
    assert last["j_rail"] == pytest.approx(0.1, abs=1e-6) and last["j_yaw"] == pytest.approx(0, abs=1e-6)
    # Forward is x and up is z there; a turn to the left is one about z.
    assert [last[f"root_{c}"] for c in "xyz"] == pytest.approx([2, 0, 0.5])
    assert [last[f"root_q{c}"] for c in "xyzw"] == pytest.approx([0, 0, 0.5**0.5, 0.5**0.5])


def test_npz_has_the_same_numbers_and_degrees_on_request(waving, tmp_path):
    mw.save(waving, tmp_path / "wave.npz", degrees=True, rate=2)
    with np.load(tmp_path / "wave.npz") as file:
        assert file["joint_names"].tolist() == ["j_yaw", "j_shoulder", "j_elbow", "j_rail"]
        assert str(file["units"]) == "degrees" and float(file["rate"]) == 2
        np.testing.assert_allclose(file["joint_angles"][-1], [0, np.degrees(-1), 0, 0.1], atol=1e-4)
        assert file["root_position"].shape == (3, 3) and file["root_rotation_xyzw"].shape == (3, 4)


def test_motion_that_no_hinge_does_is_refused(waving, tmp_path):
    skeleton = waving.skeleton
    bent = mw.Clip("bent", skeleton, [mw.Track(skeleton.index("tool"), "rotation", [0], [[1.0, 0, 0, 0]])])
    with pytest.raises(mw.MarrowError, match=r"'tool' by .* no hinge of the robot does"):
        mw.save(waving.replace(clips=[bent]), tmp_path / "bent.csv")
    with pytest.raises(mw.MarrowError, match="the character has 2: name it"):
        mw.save(waving.replace(clips=[*waving.clips.values(), bent]), tmp_path / "two.csv")
    with pytest.raises(mw.MarrowError, match="no hinges"):
        mw.save(mw.load("mannequin"), tmp_path / "man.csv", clip="walk")
    assert not list(tmp_path.iterdir())


def test_angles_outside_the_limits_are_told(waving, tmp_path):
    skeleton, elbow = waving.skeleton, waving.skeleton.index("elbow")
    back = quaternion.from_axis_angle(np.array(skeleton.hinges[2].axis), np.array([-0.5]))
    rest = skeleton.rest.rotation[elbow].astype(float)
    over = mw.Clip("over", skeleton, [mw.Track(elbow, "rotation", [0], quaternion.multiply(rest, back))])
    with pytest.warns(UserWarning, match="'j_elbow' is 28.65 degrees outside its limits"):
        mw.save(waving.replace(clips=[over]), tmp_path / "over.csv")
