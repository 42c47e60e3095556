"""A small character with a bit of everything, and the comparison that finds any difference."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

import marrow as mw
from marrow.model import JointCamera, JointLight
from marrow.report import Report, ReportLine


def everything() -> mw.Character:
    """Two joints, two meshes sharing an array, morphs, a socket, tracks of all kinds, materials, images."""
    rest = mw.Pose(
        np.array([[0, 1, 0], [0.5, 0.25, -0.125]], np.float32),
        np.array([[0, 0, 0, 1], [0, 0.6, 0, 0.8]], np.float32),
        np.array([[1, 1, 1], [1, 2, 1]], np.float32),
        np.array([0.25, 0.0], np.float32),
    )
    socket = mw.Socket("hand", 1, np.array([0.1, 0, 0], np.float32))
    skeleton = mw.Skeleton(
        ("hüfte", "spine"), np.array([-1, 0]), rest, ("smile", "blink"), (socket,), {"hips": 0}
    )
    positions = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0.5]], np.float32)
    skinned = mw.Mesh(
        "body",
        positions,
        np.array([[0, 1, 2], [2, 1, 3]]),
        joints=np.array([[0, 1]] * 4),
        weights=np.array([[0.75, 0.25], [1, 0], [0.5, 0.5], [0, 1]], np.float32),
        joint_list=np.array([0, 1]),
        inverse_bind=np.arange(24, dtype=np.float32).reshape(2, 3, 4),
        normals=np.tile(np.float32([0, 0, 1]), (4, 1)),
        tangents=np.tile(np.float32([1, 0, 0, -1]), (4, 1)),
        uvs=(positions[:, :2], positions[:, 1:]),
        colors=np.full((4, 4), 0.5, np.float32),
        sections=(mw.Section(0, 1, 0, "front", (None, 0)), mw.Section(1, 1, None)),
        morph_targets=(
            mw.MorphTarget("smile", 0, np.float32([[0, 0, 0.1]]), vertices=np.array([2]), full_weight=0.5),
            mw.MorphTarget("smile wide", 0, positions / 8, normals=positions / 16, tangents=positions / 32),
            mw.MorphTarget("nothing", 1, np.zeros((0, 3), np.float32), vertices=np.zeros(0, np.uint32)),
        ),
        skinning="blended",
        dual_quaternion_weights=np.float32([0, 0.25, 0.5, 1]),
        node=1,
    )
    prop = mw.Mesh.rigid("prop", positions, np.array([[0, 1, 2]]), 1, visible=False)
    times = np.float32([0, 0.5, 1.25])
    clips = (
        mw.Clip(
            "Walk",
            skeleton,
            (
                mw.Track(0, "translation", times, np.arange(9).reshape(3, 3), "linear"),
                mw.Track(1, "rotation", times, np.tile([0, 0, 0, 1.0], (3, 1)), "step"),
                mw.Track(1, "scale", times, np.arange(27).reshape(3, 3, 3), "cubic"),
                mw.Track(1, "morph", times[:1], np.float32([[0.5]])),
            ),
            duration=1.5,
            events=(mw.Event(0.1, "left"), mw.Event(0.7, "right")),
            rate=30.0,
        ),
        mw.Clip("empty", skeleton, additive=True),
    )
    materials = (
        mw.Material(
            "skin",
            (0.1, 0.2, 0.3, 0.4),
            base_color_texture=mw.Texture(
                0, 1, "clamp", "mirror", "nearest", "linear", (0.1, 0.2), 0.3, (2.0, 3.0)
            ),
            alpha_mode="mask",
            double_sided=True,
        ),
    )
    images = (mw.Image("grin", "image/png", bytes(range(256))), mw.Image("void", "image/png", b""))
    report = Report(
        (ReportLine("repaired", "mesh 'body'", "4 weights"), ReportLine("info", "", "made by hand"))
    )
    more = {
        "extras": {"asset": {"copyright": "me"}},
        "variants": ("day", "night"),
        "vrm": {"meta": {"name": "All"}},
    }
    return mw.Character(skeleton, (skinned, prop), clips, materials, images, "All", report, **more)


def same(a: Any, b: Any, place: str = "character") -> None:
    """Asserts that two values agree in every field and bit, naming the first place where they do not."""
    assert type(a) is type(b), place
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype, place
        assert a.shape == b.shape, place
        assert a.tobytes() == b.tobytes(), place
    elif isinstance(a, mw.Clips):
        same(tuple(a.values()), tuple(b.values()), f"{place}.clips")
    elif type(a).__name__ == "Tracks":
        for field in ("table", "times", "values"):
            same(getattr(a, field), getattr(b, field), f"{place}.{field}")
    elif dataclasses.is_dataclass(a):
        for field in dataclasses.fields(a):
            if field.compare:
                same(getattr(a, field.name), getattr(b, field.name), f"{place}.{field.name}")
    elif isinstance(a, dict):
        assert a.keys() == b.keys(), place
        for key in a:
            same(a[key], b[key], f"{place}[{key!r}]")
    elif isinstance(a, (tuple, list)):
        assert len(a) == len(b), place
        for i, (x, y) in enumerate(zip(a, b)):
            same(x, y, f"{place}[{i}]")
    else:
        assert a == b, place


def seen_and_lit() -> mw.Character:
    """`everything()` with cameras, lights, curves of theirs, and further numbers of vertices."""
    base = everything()
    body = base.meshes[0]
    targets = (
        body.morph_targets[0].replace(attributes={"COLOR_0": np.float32([[0.1, 0, 0, 0]])}),
        body.morph_targets[1].replace(attributes={"TEXCOORD_0": np.float32([[0, 0.5]] * 4)}),
        body.morph_targets[2],
    )
    body = body.replace(
        morph_targets=targets,
        attributes={
            "_HEAT": np.float32([0, 1, 2, 3]),
            "_ID": np.array([[1, 2], [3, 4], [5, 6], [7, 8]], np.uint16),
        },
    )
    cameras = (
        JointCamera("front", 1, fov=0.75, aspect=1.5, near=0.25, far=10.0),
        JointCamera("plan", 0, "orthographic", size=3.0, near=0.5, far=20.0, rotation=(0.6, 0.0, 0.0, 0.8)),
    )
    lights = (
        JointLight("sun", 0, "directional", (1.0, 0.5, 0.25), 3.0),
        JointLight("lamp", 1, "point", intensity=20.0, range=4.0, extras={"made": "by hand"}),
        JointLight("torch", 1, "spot", inner=0.25, outer=0.5, rotation=(0.0, 0.6, 0.0, 0.8)),
        JointLight("dark", 1, visible=False),
    )
    curves = (
        mw.Curve("camera:front:fov", [0.0, 1.0], [0.75, 1.25]),
        mw.Curve("camera:front:far", [0.0, 1.0], [10.0, 20.0]),
        mw.Curve("light:lamp:intensity", [0.0, 0.5, 1.0], [20.0, 0.0, 20.0]),
        mw.Curve("light:lamp:range", [0.0, 1.0], [4.0, 2.0]),
    )
    walk = base.clips["Walk"].replace(curves=curves)
    return base.replace(
        meshes=(body, base.meshes[1]), cameras=cameras, lights=lights, clips=(walk, base.clips["empty"])
    )
