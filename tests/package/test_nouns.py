"""Every noun that people describe: frozen, and `replace` makes another of it."""

import dataclasses
import importlib
import inspect

import msgspec
import numpy as np
import pytest

import marrow as mw
from marrow.errors import UnknownNameError
from marrow.graph import nodes
from marrow.motion import bone_map

BONES = mw.Skeleton(("root", "tip"), [-1, 0])
CLIP = mw.Clip("nod", BONES, [mw.Track(1, "scale", [0, 1], np.ones((2, 3)))])
MESH = mw.Mesh("box", np.eye(3), [[0, 1, 2]], [[0]] * 3, [[1.0]] * 3, [0], np.eye(3, 4)[None])
POINT = mw.graph.Point1D(0.0, "nod")
EXAMPLES = {
    mw.BoneMap: (
        lambda: mw.BoneMap(BONES, BONES, (bone_map.ChainPair("root", (0,), (0,)),), humanoid=False),
        {"notes": ("mine",)},
    ),
    mw.Character: (lambda: mw.Character(BONES, (MESH,), (CLIP,)), {"name": "hero"}),
    mw.Clip: (lambda: CLIP, {"name": "shake"}),
    mw.Curve: (lambda: mw.Curve("lift", [0, 1], [0, 1]), {"name": "drop"}),
    mw.DirectionalLight: (lambda: mw.DirectionalLight(), {"intensity": 2.0}),
    mw.Environment: (lambda: mw.Environment(), {"exposure": 2.0}),
    mw.Event: (lambda: mw.Event(0.5, "hit"), {"time": 0.25}),
    mw.Graph: (lambda: mw.Graph("nod"), {"name": "nods"}),
    mw.JointCamera: (lambda: mw.JointCamera("eye", 1), {"fov": 0.5}),
    mw.JointLight: (lambda: mw.JointLight("lamp", 1), {"intensity": 2.0}),
    mw.Hinge: (lambda: mw.Hinge("elbow", 1, (1.0, 0.0, 0.0)), {"upper": 2.0}),
    mw.Image: (lambda: mw.Image("skin", "image/png", b"data"), {"name": "hide"}),
    mw.Level: (lambda: mw.Level((MESH,), mw.Lod.of((MESH,), 1)), {"meshes": (MESH, MESH)}),
    mw.Lod: (lambda: mw.Lod.of((MESH,), 1), {"screen_size": 0.5}),
    mw.Material: (lambda: mw.Material("skin"), {"roughness": 0.25}),
    mw.Mesh: (lambda: MESH, {"name": "bag"}),
    mw.MorphTarget: (lambda: mw.MorphTarget("smile", 0, np.eye(3)), {"name": "frown"}),
    mw.PackedMotion: (lambda: CLIP.compressed().packed, {"limit": 0.25}),
    mw.PointLight: (lambda: mw.PointLight((0, 1, 0)), {"intensity": 2.0}),
    mw.Pose: (lambda: mw.Pose.identity(2), {"translation": np.ones((2, 3), np.float32)}),
    mw.Section: (lambda: mw.Section(0, 1), {"name": "front"}),
    mw.Skeleton: (lambda: BONES, {"names": ("root", "end")}),
    mw.Socket: (lambda: mw.Socket("hand", 1), {"joint": 0}),
    mw.SpotLight: (lambda: mw.SpotLight((0, 1, 0), (0, -1, 0)), {"intensity": 2.0}),
    mw.Texture: (lambda: mw.Texture(0), {"image": 1}),
    mw.Track: (lambda: CLIP.tracks[0], {"target": 0}),
    mw.Camera: (lambda: mw.Camera.perspective((0, 0, 0), (0, 0, 1)), {"height": 720}),
    mw.lod.Reduction: (lambda: mw.lod.Reduction(0.5), {"triangles": 0.25}),
    mw.graph.AimAt: (lambda: mw.graph.AimAt("head", "mark"), {"weight": 0.5}),
    mw.graph.Constraint: (lambda: mw.graph.Constraint(), {"weight": 0.5}),
    mw.graph.CopyTransform: (lambda: mw.graph.CopyTransform("hand", "head"), {"axes": "x"}),
    mw.graph.DriveChannel: (
        lambda: mw.graph.DriveChannel("hand", "scale.x", "morph.smile", ((0.0, 1.0),)),
        {"source": "head"},
    ),
    mw.graph.FollowDamped: (lambda: mw.graph.FollowDamped("hand"), {"half_life": 0.5}),
    mw.graph.KeepDistance: (lambda: mw.graph.KeepDistance("hand", "head"), {"most": 2.0}),
    mw.graph.LimitTransform: (
        lambda: mw.graph.LimitTransform("hand", scale=((1.0, 1.0), None, None)),
        {"joint": "head"},
    ),
    mw.graph.PoleTo: (lambda: mw.graph.PoleTo("a", "b", "c", "head"), {"angle": 0.5}),
    mw.graph.ReachChain: (lambda: mw.graph.ReachChain(("a", "b"), "head"), {"method": "ccd"}),
    mw.graph.SplineChain: (lambda: mw.graph.SplineChain(("a", "b"), ("c", "d")), {"through": ("d", "c")}),
    mw.graph.DriverExample: (
        lambda: mw.graph.DriverExample({"arm": (0.0, 0.0, 0.0, 1.0)}),
        {"morphs": {"bulge": 1.0}},
    ),
    mw.graph.IKFloor: (lambda: mw.graph.IKFloor("hand"), {"height": 0.5}),
    mw.RetargetProfile: (lambda: mw.RetargetProfile(), {"root": "in place"}),
    mw.motion.ChainProfile: (lambda: mw.motion.ChainProfile(), {"fk": 0.5}),
    mw.motion.ClipProfile: (lambda: mw.motion.ClipProfile(), {"hands": True}),
    mw.motion.ContactProfile: (lambda: mw.motion.ContactProfile(), {"feet": 0.5}),
    mw.motion.RetargetPose: (lambda: mw.motion.RetargetPose(), {"of": "bind"}),
    mw.graph.IKEffector: (lambda: mw.graph.IKEffector("hand"), {"weight": 0.5}),
    mw.graph.Montage: (lambda: mw.graph.Montage("nod", "arms", {"all": 0.0}), {"clip": "shake"}),
    mw.graph.Parameter: (lambda: mw.graph.Parameter(), {"smoothing": 0.5}),
    mw.graph.Point1D: (lambda: POINT, {"at": 1.0}),
    mw.graph.Point2D: (lambda: mw.graph.Point2D((0.0, 0.0), "nod"), {"at": (1.0, 0.0)}),
    mw.graph.SpringChain: (lambda: mw.graph.SpringChain("hair"), {"drag": 0.5}),
    mw.graph.SpringCollider: (lambda: mw.graph.SpringCollider("head", 0.1), {"radius": 0.2}),
    mw.graph.State: (lambda: mw.graph.State("nod"), {"source": "shake"}),
    mw.graph.Transition: (lambda: mw.graph.Transition("a", "b"), {"seconds": 0.5}),
}
RESULTS = {
    "Adapter", "Bounds", "ClipBank", "CompiledGraph", "CrowdGroup", "EvaluationJob", "EventWindow",
    "FeatureStatistics", "Finding", "FootQuality", "Frame", "FunctionCall", "GraphMoment", "InfluenceLimit",
    "JointAngles", "JointPixels", "LevelEvaluation", "LevelGroup", "MirrorMap", "MotionQuality", "Palette", "PoseProgram",
    "Reduced", "Report", "ReportLine", "ResamplingError", "Rig", "RootMotionDelta", "SampledClip", "Selection", "Snapshot",
    "BakedRuntime", "ExportedPage", "PictureBatch", "Surface", "Video", "WarpTarget",
}  # fmt: skip
"""What is worked out for people, not described by them."""


def described():
    """All public frozen classes but results; nodes of graphs are looked at by themselves."""
    found = {}
    for module in (
        "marrow",
        "marrow.graph",
        "marrow.motion",
        "marrow.lod",
        "marrow.animation",
        "marrow.scene",
    ):
        world = importlib.import_module(module)
        for name in world.__all__:
            kind = getattr(world, name)
            frozen = dataclasses.is_dataclass(kind) and kind.__dataclass_params__.frozen
            is_struct = inspect.isclass(kind) and issubclass(kind, msgspec.Struct)
            node = is_struct and issubclass(kind, nodes.Node)
            if inspect.isclass(kind) and (frozen or is_struct) and name not in RESULTS and not node:
                found[kind] = name
    return found


def test_no_noun_is_forgotten():
    assert {k.__name__ for k in described()} == {k.__name__ for k in EXAMPLES}


@pytest.mark.parametrize("kind", EXAMPLES, ids=lambda k: k.__name__)
def test_every_noun_makes_another_of_itself(kind):
    make, changes = EXAMPLES[kind]
    thing = make()
    other = thing.replace(**changes)
    assert type(other) is kind
    for name, value in changes.items():
        np.testing.assert_equal(getattr(other, name), value)
        assert not np.array_equal(getattr(thing, name), value)
    with pytest.raises(UnknownNameError, match="colour_of_eyes"):
        thing.replace(colour_of_eyes="green")
    if "__eq__" in dir(kind) and kind.__eq__ is not object.__eq__:
        assert thing.replace() == thing


OWN_NODES = [k for k in nodes.base.known_nodes().values() if k.__module__.startswith("marrow.")]


@pytest.mark.parametrize("kind", OWN_NODES, ids=lambda k: k.__name__)
def test_every_node_makes_another_of_itself(kind):
    fields = {f.name: f for f in msgspec.structs.fields(kind)}
    filled = {
        name: () if "tuple" in str(f.type) else {} if "dict" in str(f.type) else "nod"
        for name, f in fields.items()
        if f.required
    }
    node = kind(**filled)
    other = node.replace(name="mine")
    assert type(other) is kind and other.name == "mine" and other.replace(name=node.name) == node
    with pytest.raises(UnknownNameError, match="colour_of_eyes"):
        node.replace(colour_of_eyes="green")


def test_what_is_replaced_is_checked():
    with pytest.raises(mw.MarrowError, match="parents"):
        BONES.replace(names=("a", "b", "c"))
    renamed = BONES.replace(names=("root", "end"))
    assert renamed.index("end") == 1 and renamed != BONES and "tip" in BONES
    level = mw.Level((MESH,), mw.Lod.of((MESH,), 1, error=0.1, screen_size=0.5))
    twice = level.replace(meshes=(MESH, MESH))
    assert (twice.lod.triangles, twice.lod.error, twice.lod.screen_size) == (2, None, 0.5)
