"""Compares robots as marrow reads and writes them with MuJoCo's own kinematics: `python tools/check_robots.py FILE.xml...`

It needs `pip install mujoco`, which marrow itself does not. Surfaces are left out: they need not be there. A character of
another format is written as MJCF first, and MuJoCo reads that.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

import marrow as mw
from marrow.io.robots.assembly import our_axes

POSES = 20


def plain(path: Path) -> str:
    """The model's text without meshes, with included files in place."""
    root = ElementTree.parse(path).getroot()

    def included(element: ElementTree.Element, folder: Path) -> None:
        for child in list(element):
            if child.tag == "include":
                at = list(element).index(child)
                element.remove(child)
                inner = ElementTree.parse(folder / child.get("file", "")).getroot()
                included(inner, (folder / child.get("file", "")).parent)
                for k, grandchild in enumerate(inner):
                    element.insert(at + k, grandchild)
            else:
                included(child, folder)

    included(root, path.parent)
    for parent in list(root.iter()):
        for child in list(parent):
            mesh = child.tag == "geom" and (child.get("mesh") or child.get("type") == "mesh")
            defaults = parent.tag == "default" and child.tag == "geom" and child.get("type") == "mesh"
            if defaults:
                child.set("type", "sphere")
                child.set("size", "0.01")
                child.attrib.pop("mesh", None)
            elif mesh or child.tag in (
                "sensor",
                "keyframe",
                "actuator",
                "contact",
                "equality",
                "tendon",
                "mesh",
                "texture",
            ):
                parent.remove(child)
            elif (
                child.tag == "geom"
                and "size" not in child.attrib
                and "type" not in child.attrib
                and not child.get("class")
            ):
                child.set("size", "0.01")
    for material in root.iter("material"):
        material.attrib.pop("texture", None)
    return ElementTree.tostring(root, encoding="unicode")


def furthest(path: Path) -> float:
    """The furthest that a body is from where MuJoCo has it, in metres, over random angles within the limits."""
    import mujoco

    robot = mw.load(path, cache=False, allow_outside=True)
    skeleton = robot.skeleton
    model = mujoco.MjModel.from_xml_string(plain(path))
    data = mujoco.MjData(model)
    random = np.random.default_rng(0)
    worst = 0.0
    for _ in range(POSES):
        data.qpos[:] = model.qpos0
        pose = skeleton.rest
        rotation, translation = pose.rotation.astype(np.float64).copy(), pose.translation.copy()
        for hinge in skeleton.hinges:
            low, high = np.clip([hinge.lower, hinge.upper], -1.5, 1.5)
            angle = random.uniform(low, high)
            data.joint(hinge.name).qpos[:] = data.joint(hinge.name).qpos + angle
            turn = mw.math.quaternion.from_axis_angle(np.array(hinge.axis), 0.0 if hinge.slides else angle)
            if hinge.slides:
                along = mw.math.quaternion.rotate(rotation[hinge.joint], np.array(hinge.axis))
                translation[hinge.joint] += angle * along
            rotation[hinge.joint] = mw.math.quaternion.multiply(rotation[hinge.joint], turn)
        mujoco.mj_kinematics(model, data)
        ours = skeleton.to_model(mw.Pose(translation, rotation.astype(np.float32), pose.scale, pose.morphs))
        for j, name in enumerate(skeleton.names):
            body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
            if body < 0:
                continue
            joints = [k for k in range(model.njnt) if model.jnt_bodyid[k] == body and model.jnt_type[k] >= 2]
            place = data.xanchor[joints[-1]] if joints else data.xpos[body]
            worst = max(worst, float(np.abs(ours[j, :, 3] - our_axes(place)).max()))
    return worst


def main() -> int:
    code = 0
    for name in sys.argv[1:]:
        path = Path(name)
        if path.suffix.lower() not in (".xml", ".mjcf"):
            path = Path(tempfile.mkdtemp()) / f"{path.stem}.xml"
            mw.save(mw.load(name), path)
        apart = furthest(path)
        print(f"{name}: MuJoCo has the bodies within {apart:.2g} m of where marrow has them")
        code |= apart > 1e-4
    return code


if __name__ == "__main__":
    raise SystemExit(main())
