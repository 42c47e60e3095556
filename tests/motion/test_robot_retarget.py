"""Motion of bodies on robots: only hinges turn, within their limits; feet and hands are where a body has them."""

import numpy as np
import pytest

import marrow as mw
from marrow.motion import Retargeter, joint_angles
from marrow.motion.hinge_chain import HingeChain, LinkTarget, solve_chain
from robot_world import ARM_URDF, humanoid_urdf, in_our_axes, urdf_places


@pytest.fixture(scope="module")
def robot():
    return mw.load(humanoid_urdf().encode(), cache=False)


@pytest.fixture(scope="module")
def tool(robot):
    return Retargeter(mw.load("mannequin"), robot)


@pytest.fixture(scope="module")
def walk(tool):
    return tool.retarget(mw.load("mannequin").clips["walk"])


def poses(clip, count=40):
    return clip.sample(np.linspace(0, clip.duration, count))


def test_limbs_are_found_by_the_shape_of_the_robot(tool, robot):
    body, names = tool.robot.body, robot.skeleton.names
    assert (names[body.pelvis], names[body.chest]) == ("pelvis", "torso")
    for side in ("left", "right"):
        leg, arm = body.limbs[f"{side}_leg"], body.limbs[f"{side}_arm"]
        assert (names[leg.middle], names[leg.end], len(leg.hinges)) == (f"{side}_knee", f"{side}_foot", 6)
        assert (names[arm.middle], len(arm.hinges)) == (f"{side}_elbow", 4)


@pytest.mark.parametrize("name", ["walk", "run", "jump"])
def test_hinges_turn_within_their_limits_and_nothing_else_does(tool, robot, name):
    source = mw.load("mannequin")
    clip = tool.retarget(source.clips[name if name in source.clips else "jog"])
    found = joint_angles(robot, poses(clip))
    low, high = (np.array([getattr(h, k) for h in robot.skeleton.hinges]) for k in ("lower", "upper"))
    assert np.degrees(max((low - found.values).max(), (found.values - high).max())) < 0.1
    assert np.degrees(found.rest.max()) < 0.1
    assert np.degrees(mw.ik.JointLimits.of_hinges(robot).excess(poses(clip)).max()) < 0.1
    hinged = {h.joint for h in robot.skeleton.hinges}
    assert {int(t) for t in clip.tracks.table["target"]} <= hinged | {0}


def test_angles_put_the_feet_where_a_body_of_that_size_has_them(tool, robot, walk):
    """By kinematics from the robot's own text, at the angles and the root that a file would hold."""
    free = tool._retarget(mw.load("mannequin").clips["walk"], "auto", False, None, "drop", None)
    times = np.linspace(0, walk.duration, 12)
    pose, found = walk.sample(times), joint_angles(robot, walk.sample(times))
    wanted = tool.robot.stand_in.to_model(free.sample(times))
    for k in range(len(times)):
        places = urdf_places(humanoid_urdf(), dict(zip(found.names, found.values[k])))
        turned = mw.math.quaternion.to_matrix(pose.rotation[k, 0].astype(float))
        for side in ("left", "right"):
            foot = turned @ in_our_axes(places[f"{side}_foot"]) + pose.translation[k, 0]
            there = wanted[k, tool.robot.bones[f"{side}Foot"], :, 3]
            assert np.linalg.norm(foot - there) < 0.003


def test_knees_bend_as_the_walkers_do_and_do_not_jump(robot, walk):
    found = joint_angles(robot, poses(walk, 60))
    knees = [found.names.index(f"{side}_knee_joint") for side in ("left", "right")]
    bend = np.degrees(found.values[:, knees])
    assert (bend.max(axis=0) > 40).all() and (bend.max(axis=0) < 90).all() and (bend.min(axis=0) < 25).all()
    assert np.degrees(np.abs(np.diff(found.values, axis=0))).max() < 18


def test_the_report_says_how_far_feet_and_hands_are(tool, walk):
    assert any("feet are within" in line.message and "hands within" in line.message for line in tool.report)
    quality = tool.quality(mw.load("mannequin").clips["walk"], walk)
    assert quality is not None and quality.result.drift < 0.01 and quality.knees == 0


def test_a_robot_without_legs_is_refused_in_words():
    arm = mw.load(ARM_URDF.encode(), cache=False)
    source = mw.load("mannequin")
    with pytest.raises(mw.motion.RetargetError, match="0 pairs of limbs"):
        mw.retarget(source.clips["walk"], arm, source=source)


def test_a_chain_reaches_its_target_and_stops_at_its_limits():
    # Two hinges about z in a plane, each link one metre: 60 degrees and 60 degrees end at (0, sqrt(3)).
    one = np.eye(3, dtype=np.float32)
    move = np.array([[0, 0, 0], [1, 0, 0]], np.float32)
    tip = np.array([1, 0, 0], np.float32)

    def angles(high):
        chain = HingeChain(
            np.stack([one, one]), move, np.array([-3, -3], np.float32), np.array([3, high], np.float32)
        )
        target = LinkTarget(2, one, tip, place=np.array([[0.0], [np.sqrt(3)], [0.0]], np.float32))
        start = np.array([[0.2], [0.3]], np.float32)
        base = one[:, :, None], np.zeros((3, 1), np.float32)
        found = solve_chain(
            chain, start, start, *base, [target], size=1.0, posture=0.01, faded=0.99, steps=20
        )
        return np.degrees(found[:, 0])

    np.testing.assert_allclose(angles(3), [60, 60], atol=0.1)
    bent = angles(np.radians(30))
    # The second hinge stops at 30 degrees; the first then points the pair at the target: 90 - 30 / 2.
    np.testing.assert_allclose(bent, [75, 30], atol=0.1)


def test_a_clip_of_the_robot_itself_is_copied(robot, walk):
    again = mw.retarget(walk, robot)
    np.testing.assert_array_equal(poses(again).rotation, poses(walk).rotation)


def test_the_command_writes_joint_angles(tmp_path, capsys):
    from marrow.cli.app import run

    (tmp_path / "robot.urdf").write_text(humanoid_urdf())
    out = tmp_path / "walk.csv"
    assert run(["retarget", "mannequin", str(tmp_path / "robot.urdf"), "--clip", "walk", "-o", str(out)]) == 0
    assert "feet are within" in capsys.readouterr().err
    note, names, *rows = out.read_text().splitlines()
    assert "radians" in note and "left_knee_joint" in names.split(",") and len(rows) == 55


def test_formats_that_know_no_hinges_say_that_they_lose_them(robot, tmp_path):
    with pytest.warns(UserWarning, match="glTF has no place for the 21 hinges"):
        mw.save(robot, tmp_path / "robot.glb")
