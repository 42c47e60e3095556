"""Constraints of FBX files: those that hold in the rest pose are taken over, the others are a line of the report."""

import numpy as np

import marrow as mw
from marrow.graph import AimAt, CopyTransform
from marrow.io.fbx.constraints import read_constraints
from marrow.io.fbx.plain_scene import PlainConstraint
from marrow.report import ReportBuilder

ALL, NONE = (True, True, True), (False, False, False)


def bones():
    rest = mw.Pose.identity(5)
    rest.translation[:] = [(0, 0, 0), (1, 0, 0), (1, 0, 0), (0, 2, 0), (3, 2, 0)]
    rest.rotation[3] = (0, 0, np.sin(0.2), np.cos(0.2))
    return mw.Skeleton(("root", "goal", "follower", "carried", "far"), [-1, 0, 0, 0, 0], rest)


def found(*given):
    report = ReportBuilder()
    joint_of = {10 + j: j for j in range(5)}  # nodes have numbers of their own
    return read_constraints(list(given), bones(), joint_of, report), str(report.build())


def said(kind, node, target, axes=(ALL, NONE, NONE), **more):
    return PlainConstraint(
        f"{kind} of it",
        kind,
        kind.title(),
        node,
        [(target, 1.0)],
        1.0,
        True,
        axes,
        (1.0, 0.0, 0.0),
        (0.0, 1.0, 0.0),
        **more,
    )


def test_those_that_hold_in_the_rest_pose_are_taken_over():
    read, told = found(
        said("position", 12, 11),
        said("parent", 13, 11, (ALL, ALL, NONE)),
        said("aim", 12, 14, (NONE, ALL, NONE), up_kind="none"),
    )
    assert read == (
        CopyTransform("follower", "goal", ("translation",), space="model", name="position of it"),
        CopyTransform(
            "carried",
            "goal",
            ("translation", "rotation"),
            space="model",
            keep_offset=True,
            name="parent of it",
        ),
    )
    assert "1 were left out (1 Aim)" in told  # it would turn what rests


def test_an_aim_that_holds_is_taken_over_with_its_way_up():
    rest = mw.Pose.identity(3)
    rest.translation[:] = [(0, 0, 0), (0, 1, 0), (5, 1, 0)]
    skeleton, report = mw.Skeleton(("root", "eye", "goal"), [-1, 0, 0], rest), ReportBuilder()
    one = said("aim", 1, 2, (NONE, ALL, NONE), up_kind="scene")
    (read,) = read_constraints([one], skeleton, {0: 0, 1: 1, 2: 2}, report)
    assert read == AimAt("eye", "goal", axis=(1, 0, 0), up_axis=(0, 1, 0), up=(0, 1, 0), name="aim of it")


def test_others_are_said():
    off = said("position", 12, 11)
    off.active = False
    read, told = found(
        said("single_chain_ik", 12, 11), off, said("position", 99, 11), said("position", 12, 14)
    )
    assert read == () and "4 were left out (3 Position, 1 Single_Chain_Ik); what they move stays" in told
