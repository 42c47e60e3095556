"""Small robots as text, and their kinematics worked out from that text alone."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import numpy as np

__all__ = ["ARM_MJCF", "ARM_URDF", "humanoid_urdf", "in_our_axes", "turn", "urdf_places"]

ARM_URDF = """<?xml version="1.0"?>
<robot name="arm">
  <link name="base"><visual><geometry><box size="0.2 0.2 0.1"/></geometry></visual></link>
  <link name="yaw"/>
  <link name="shoulder">
    <visual><origin xyz="0 0 0.2"/><geometry><cylinder radius="0.05" length="0.4"/></geometry></visual>
  </link>
  <link name="elbow"><visual><geometry><mesh filename="package://arm/meshes/elbow.stl"/></geometry></visual></link>
  <link name="rail"><visual><geometry><sphere radius="0.03"/></geometry></visual></link>
  <link name="tool"/>
  <joint name="j_yaw" type="continuous"><parent link="base"/><child link="yaw"/>
    <origin xyz="0 0 0.1"/><axis xyz="0 0 1"/></joint>
  <joint name="j_shoulder" type="revolute"><parent link="yaw"/><child link="shoulder"/>
    <origin xyz="0.1 0.2 0.3" rpy="0.3 -0.2 0.7"/><axis xyz="0 2 0"/><limit lower="-1.5" upper="0.5"/></joint>
  <joint name="j_elbow" type="revolute"><parent link="shoulder"/><child link="elbow"/>
    <origin xyz="0 0 0.4" rpy="1.5707963267948966 0 0"/><axis xyz="1 0 0"/><limit lower="0" upper="2.5"/></joint>
  <joint name="j_rail" type="prismatic"><parent link="elbow"/><child link="rail"/>
    <origin xyz="0 0.3 0"/><axis xyz="0 1 0"/><limit lower="0" upper="0.2"/></joint>
  <joint name="j_tool" type="fixed"><parent link="rail"/><child link="tool"/><origin xyz="0 0.1 0" rpy="0 0 1"/></joint>
</robot>
"""

ARM_MJCF = """<mujoco model="arm">
  <compiler angle="degree"/>
  <default><joint axis="0 1 0"/><default class="free"><joint limited="false"/></default></default>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="base" pos="0 0 1">
      <freejoint/>
      <geom type="box" size="0.1 0.1 0.05"/>
      <body name="upper" pos="0.1 0 0.5" euler="0 0 90">
        <joint name="flex" range="-90 30"/>
        <joint name="twist" class="free" axis="0 0 1" pos="0 0 0.1"/>
        <geom fromto="0 0 0 0 0 0.4" size="0.05" type="capsule"/>
        <body name="lower" pos="0 0 0.4" quat="0.8 0 0.6 0">
          <joint name="elbow" range="0 140"/>
          <geom type="ellipsoid" size="0.05 0.06 0.07" pos="0 0 0.1"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def turn(axis, angle):
    """The matrix of a turn about an axis, by Rodrigues' formula."""
    x, y, z = np.asarray(axis, float) / np.linalg.norm(axis)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * k + (1 - math.cos(angle)) * k @ k


def urdf_places(text, values):
    """Where the links of a URDF are, `{name: (3,)}` in the axes of the file, with the joints at `values`."""
    root = ElementTree.fromstring(text)
    joints = {j.find("child").get("link"): j for j in root.iter("joint")}
    frames = {}

    def frame(link):
        if link in frames:
            return frames[link]
        joint = joints.get(link)
        if joint is None:
            return frames.setdefault(link, (np.eye(3), np.zeros(3)))
        rotation, place = frame(joint.find("parent").get("link"))
        origin = joint.find("origin")
        xyz = [float(v) for v in origin.get("xyz", "0 0 0").split()]
        r, p, y = (float(v) for v in origin.get("rpy", "0 0 0").split())
        place = place + rotation @ xyz
        rotation = rotation @ turn([0, 0, 1], y) @ turn([0, 1, 0], p) @ turn([1, 0, 0], r)
        if joint.get("type") != "fixed":
            axis = np.array([float(v) for v in joint.find("axis").get("xyz").split()])
            value = values.get(joint.get("name"), 0.0)
            if joint.get("type") == "prismatic":
                place = place + rotation @ axis * value
            else:
                rotation = rotation @ turn(axis, value)
        return frames.setdefault(link, (rotation, place))

    return {e.get("name"): frame(e.get("name"))[1] for e in root.iter("link")}


def in_our_axes(place):
    """Z up and X forward, as Y up and Z forward."""
    x, y, z = place
    return np.array([y, z, x])


def humanoid_urdf():
    """A robot of 1.2 m with a waist, legs of six hinges and arms of four, standing on its feet at rest."""
    links, joints = ['<link name="pelvis"/>'], []

    def add(parent, name, place, axis, low, high, shape=""):
        links.append(f'<link name="{name}">{shape}</link>')
        joints.append(
            f'<joint name="{name}_joint" type="revolute"><parent link="{parent}"/><child link="{name}"/>'
            f'<origin xyz="{place}"/><axis xyz="{axis}"/><limit lower="{low}" upper="{high}"/></joint>'
        )
        return name

    def box(size, place):
        return f'<visual><origin xyz="{place}"/><geometry><box size="{size}"/></geometry></visual>'

    chest = add("pelvis", "torso", "0 0 0.1", "0 0 1", -2.5, 2.5, box("0.15 0.25 0.3", "0 0 0.2"))
    for side, y in (("left", 1), ("right", -1)):
        roll = (-0.5, 1.5) if y > 0 else (-1.5, 0.5)
        at = add("pelvis", f"{side}_hip_pitch", f"0 {0.1 * y} 0", "0 1 0", -2.5, 2.5)
        at = add(at, f"{side}_hip_roll", "0 0 0", "1 0 0", *roll)
        at = add(at, f"{side}_hip_yaw", "0 0 -0.05", "0 0 1", -2, 2)
        at = add(at, f"{side}_knee", "0 0 -0.25", "0 1 0", 0, 2.6)
        at = add(at, f"{side}_ankle_pitch", "0 0 -0.3", "0 1 0", -0.9, 0.6)
        add(at, f"{side}_foot", "0 0 0", "1 0 0", -0.3, 0.3, box("0.2 0.08 0.02", "0.04 0 -0.05"))
        roll = (-0.3, 2.9) if y > 0 else (-2.9, 0.3)
        at = add(chest, f"{side}_shoulder_pitch", f"0 {0.15 * y} 0.3", "0 1 0", -3, 2.6)
        at = add(at, f"{side}_shoulder_roll", "0 0 0", "1 0 0", *roll)
        at = add(at, f"{side}_shoulder_yaw", "0 0 -0.05", "0 0 1", -2.6, 2.6)
        at = add(at, f"{side}_elbow", "0 0 -0.15", "0 1 0", -2.4, 0, box("0.05 0.05 0.25", "0 0 -0.12"))
    return f'<robot name="made">{"".join(links + joints)}</robot>'
