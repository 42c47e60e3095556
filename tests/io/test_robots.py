"""URDF and MJCF: places of links against kinematics worked out from the text, hinges and limits, shapes, hostile files."""

import contextlib
import math
import struct

import numpy as np
import pytest

import marrow as mw
from marrow.math import quaternion
from robot_world import ARM_MJCF, ARM_URDF, in_our_axes, turn, urdf_places


def read(text, name="robot.xml"):
    return mw.load(text.encode(), cache=False)


def posed(skeleton, values):
    """The pose with hinges at `values`, by name."""
    rotation, translation = skeleton.rest.rotation.astype(float), skeleton.rest.translation.astype(float)
    for hinge in skeleton.hinges:
        value = values.get(hinge.name, 0.0)
        if hinge.slides:
            translation[hinge.joint] += value * quaternion.rotate(rotation[hinge.joint], np.array(hinge.axis))
        else:
            about = quaternion.from_axis_angle(np.array(hinge.axis), value)
            rotation[hinge.joint] = quaternion.multiply(rotation[hinge.joint], about)
    return skeleton.rest.replace(
        rotation=rotation.astype(np.float32), translation=translation.astype(np.float32)
    )


VALUES = {"j_yaw": 2.0, "j_shoulder": -0.9, "j_elbow": 1.3, "j_rail": 0.15}


@pytest.mark.parametrize("values", [{}, VALUES])
def test_links_of_a_urdf_are_where_its_text_has_them(values):
    skeleton = read(ARM_URDF).skeleton
    model = skeleton.to_model(posed(skeleton, values))
    for name, place in urdf_places(ARM_URDF, values).items():
        np.testing.assert_allclose(model[skeleton.index(name), :, 3], in_our_axes(place), atol=1e-6)


def test_hinges_have_the_names_axes_and_limits_of_the_file():
    hinges = {h.name: h for h in read(ARM_URDF).skeleton.hinges}
    assert list(hinges) == ["j_yaw", "j_shoulder", "j_elbow", "j_rail"]
    assert (hinges["j_yaw"].lower, hinges["j_yaw"].upper) == (-math.inf, math.inf)
    assert (hinges["j_shoulder"].lower, hinges["j_shoulder"].upper) == (-1.5, 0.5)
    assert hinges["j_rail"].slides and not hinges["j_elbow"].slides
    np.testing.assert_allclose(hinges["j_shoulder"].axis, in_our_axes([0, 1, 0]), atol=1e-12)


def test_a_body_with_two_joints_turns_about_both_and_about_their_places():
    skeleton = read(ARM_MJCF).skeleton
    flex, twist, elbow = math.radians(-40), 0.8, math.radians(70)
    model = skeleton.to_model(posed(skeleton, {"flex": flex, "twist": twist, "elbow": elbow}))
    # Worked out by hand from the text: the body turns about its origin, then about a line through (0, 0, 0.1).
    upper = turn([0, 0, 1], math.pi / 2) @ turn([0, 1, 0], flex)
    pivot = np.array([0.1, 0, 1.5]) + upper @ [0, 0, 0.1]
    upper = upper @ turn([0, 0, 1], twist)
    np.testing.assert_allclose(model[skeleton.index("upper"), :, 3], in_our_axes(pivot), atol=1e-6)
    lower = pivot + upper @ [0, 0, 0.3]
    np.testing.assert_allclose(model[skeleton.index("lower"), :, 3], in_our_axes(lower), atol=1e-6)
    limits = {h.name: (h.lower, h.upper) for h in skeleton.hinges}
    assert limits["flex"] == pytest.approx((-math.pi / 2, math.pi / 6))
    assert limits["twist"] == (-math.inf, math.inf)


def test_hinges_come_in_the_order_of_the_file():
    text = "<mujoco><worldbody><body name='b'>" + "".join(
        f"<body name='{s}1'><joint name='{s}1'/><body name='{s}2'><joint name='{s}2'/></body></body>"
        for s in "lr"
    )
    names = [h.name for h in read(text + "</body></worldbody></mujoco>").skeleton.hinges]
    assert names == ["l1", "l2", "r1", "r2"]


def test_shapes_are_as_large_as_the_file_says():
    robot = read(ARM_URDF)
    sizes = {m.name: np.ptp(m.positions, axis=0) for m in robot.meshes}
    np.testing.assert_allclose(sizes["base"], [0.2, 0.1, 0.2], atol=1e-6)
    np.testing.assert_allclose(sizes["shoulder"], [0.1, 0.4, 0.1], atol=1e-6)
    for mesh in robot.meshes:  # triangles are wound so that they look outwards
        a, b, c = np.moveaxis(mesh.positions[mesh.triangles].astype(float), 1, 0)
        outward = np.einsum("fi,fi->f", np.cross(b - a, c - a), mesh.normals[mesh.triangles[:, 0]])
        assert (outward >= -1e-9).all()
    capsule = next(m for m in read(ARM_MJCF).meshes if m.name == "upper")
    np.testing.assert_allclose(np.ptp(capsule.positions, axis=0), [0.1, 0.5, 0.1], atol=1e-6)


def test_a_mesh_that_is_not_there_is_a_line_in_the_report_and_a_capsule(tmp_path):
    (tmp_path / "arm.urdf").write_text(ARM_URDF)
    robot = mw.load(tmp_path / "arm.urdf", cache=False)
    lines = [str(line) for line in robot.report if "elbow.stl" in str(line)]
    assert len(lines) == 1 and "no such file" in lines[0]
    elbow = next(m for m in robot.meshes if m.name == "elbow")
    assert np.ptp(elbow.positions, axis=0).max() > 0.3  # along the bone to the rail


@pytest.mark.parametrize("kind", ["binary", "text", "obj"])
def test_meshes_beside_the_file_are_read(tmp_path, kind):
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0]], np.float32)
    (tmp_path / "meshes").mkdir()
    file, text = tmp_path / "meshes" / "elbow.stl", ARM_URDF
    if kind == "binary":
        file.write_bytes(
            b"\0" * 80 + struct.pack("<I", 1) + struct.pack("<12fH", 0, 0, 1, *corners.ravel(), 0)
        )
    elif kind == "text":
        lines = "".join("vertex {} {} {}\n".format(*c) for c in corners)
        file.write_text(f"solid x\nfacet normal 0 0 1\nouter loop\n{lines}endloop\nendfacet\nendsolid")
    else:
        text = text.replace("elbow.stl", "elbow.obj")
        file.with_suffix(".obj").write_text(
            "".join("v {} {} {}\n".format(*c) for c in corners) + "f 1/1 2/2 -1\n"
        )
    (tmp_path / "arm.urdf").write_text(text)
    elbow = next(m for m in mw.load(tmp_path / "arm.urdf", cache=False).meshes if m.name == "elbow")
    np.testing.assert_allclose(elbow.positions, [in_our_axes(c) for c in corners])


def test_included_files_are_read_beside_those_that_include_them(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "a.xml").write_text("<mujoco><include file='parts/b.xml'/></mujoco>")
    (tmp_path / "parts" / "b.xml").write_text("<mujoco><include file='c.xml'/></mujoco>")
    (tmp_path / "parts" / "c.xml").write_text(ARM_MJCF)
    assert len(mw.load(tmp_path / "a.xml", cache=False).skeleton.hinges) == 3
    (tmp_path / "parts" / "c.xml").write_text("<mujoco><include file='c.xml'/></mujoco>")
    with pytest.raises(mw.MarrowError, match=r"includes more than .* or itself"):
        mw.load(tmp_path / "a.xml", cache=False)


def test_hinges_survive_marrow_files_scaling_and_turning(tmp_path):
    robot = read(ARM_URDF)
    mw.save(robot, tmp_path / "arm.marrow")
    assert mw.load(tmp_path / "arm.marrow").skeleton.hinges == robot.skeleton.hinges
    larger = mw.load(ARM_URDF.encode(), scale=2.0, cache=False).skeleton
    rail = larger.hinges[3]
    assert rail.upper == pytest.approx(0.4) and larger.hinges[2].upper == 2.5
    turned = robot.converted(up="z", forward="y", handedness="left").skeleton
    model = turned.to_model(posed(turned, VALUES))[:, :, 3]
    straight = robot.skeleton.to_model(posed(robot.skeleton, VALUES))[:, :, 3]
    np.testing.assert_allclose(
        np.linalg.norm(model[:, None] - model, axis=-1),
        np.linalg.norm(straight[:, None] - straight, axis=-1),
        atol=1e-5,
    )


def urdf(body):
    return f"<robot name='r'>{body}</robot>"


LINKS = "<link name='a'/><link name='b'/>"


def joint(parent="a", child="b", inside="", kind="revolute"):
    limits = "<limit lower='-1' upper='1'/>"
    return f"<joint name='j' type='{kind}'><parent link='{parent}'/><child link='{child}'/>{limits}{inside}</joint>"


BOMB = "<!DOCTYPE r [<!ENTITY a 'aaaaaaaaaa'>" + "".join(
    f"<!ENTITY {chr(98 + k)} '{f'&{chr(97 + k)};' * 10}'>" for k in range(9)
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BOMB + "]><robot name='&j;'><link name='a'/></robot>", "document type"),
        ("<!DOCTYPE r SYSTEM 'file:///etc/passwd'><robot><link name='a'/></robot>", "document type"),
        ("<robot>" + "<link>" * 5000, "nested deeper"),
        ("<robot><link name='a'></robot>", "no well-formed XML.*line 1|line 1.*no well-formed"),
        ("<robot/>", "without links"),
        (urdf(LINKS + joint(parent="missing")), "parent link 'missing' does not exist"),
        (urdf(LINKS + joint(child="missing")), "child link 'missing' does not exist"),
        (urdf(LINKS + joint() + joint("b", "a")), "circle"),
        (urdf(LINKS + joint() + joint()), "has a joint above it already"),
        (urdf(LINKS + "<link name='a'/>"), "two links have this name"),
        (urdf(LINKS + "<link name='c'/>" + joint() + joint("b", "c")), "two joints have this name"),
        (urdf(LINKS + joint(kind="wobbly")), "type is 'wobbly'"),
        (urdf(LINKS + joint(inside="<origin xyz='0 nan 0'/>")), "xyz is '0 nan 0': expected finite"),
        (urdf(LINKS + joint(inside="<origin xyz='0 1'/>")), "has 2 numbers: expected 3"),
        (urdf(LINKS + joint(inside="<axis xyz='0 0 0'/>")), "axis has no direction"),
        (urdf(LINKS + joint(inside="<axis xyz='up'/>")), "expected numbers"),
        (urdf(LINKS + joint().replace("lower='-1'", "lower='2'")), "the lower one is larger"),
        ("<mujoco><worldbody/></mujoco>", "without bodies"),
        ("<mujoco><worldbody><body quat='0 0 0 0'/></worldbody></mujoco>", "quat is zero"),
        ("<mujoco><worldbody><body><joint range='inf 0'/></body></worldbody></mujoco>", "expected finite"),
        ("<mujoco><worldbody><body><joint class='no'/></body></worldbody></mujoco>", "class 'no' does not exist"),
        ("<mujoco><worldbody><body><joint type='spiral'/></body></worldbody></mujoco>", "type is 'spiral'"),
        ("<mujoco><compiler eulerseq='abc'/><worldbody/></mujoco>", "eulerseq"),
        ("<mujoco><include file='../secret.xml'/></mujoco>", "not in the bytes|outside"),
        ("<mujoco><worldbody>" + "<body/>" * 30_000 + "</worldbody></mujoco>", "more than the 10,000"),
        ("<robot>" + "<link/>" * 1_000_001 + "</robot>", "more than 200,000 elements"),
    ],
)  # fmt: skip
def test_files_that_are_no_robots_are_refused_in_words(text, words):
    with pytest.raises(mw.MarrowError, match=words):
        read(text)


def test_other_xml_is_refused_and_so_is_xml_with_a_robots_suffix(tmp_path):
    with pytest.raises(mw.MarrowError, match="format marrow does not know"):
        read("<html><robot/></html>")
    (tmp_path / "page.xml").write_text("<html><robot/></html>")
    with pytest.raises(mw.MarrowError, match="begins with <html>, expected <mujoco>"):
        mw.load(tmp_path / "page.xml")


def test_what_stands_before_the_first_element_is_passed_over():
    before = "<?xml version='1.0'?>\n<!-- a <robot> to come -->" + "<!---->" * 2000
    assert len(read(before + "<robot><link name='a'/></robot>").skeleton) == 1
    with pytest.raises(mw.MarrowError, match="format marrow does not know"):
        read(before + "<!-")


def test_every_cut_of_a_robot_is_read_or_refused():
    for text in (ARM_URDF, ARM_MJCF):
        for end in range(0, len(text), 37):
            with contextlib.suppress(mw.MarrowError):
                read(text[:end])
