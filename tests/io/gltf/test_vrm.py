"""VRM 1.0, VRM 0.x and VRMA: read, written, used by retargeting."""

from __future__ import annotations

import copy
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from maker import Maker
from numpy.testing import assert_allclose
from same import assert_same

import marrow as mw
from marrow.errors import FormatError
from marrow.math import quaternion
from marrow.motion.rig import find_rig

META = {"name": "Ami", "authors": ["somebody"], "licenseUrl": "https://vrm.dev/licenses/1.0/"}
CAPSULE = {"offset": [0, 0, 0], "tail": [0.02, 0.1, 0], "radius": 0.05}
# Bone, the bone above it, and where it is from there. The names of the nodes say nothing.
BODY = (
    ("hips", None, (0, 1, 0)), ("spine", "hips", (0, 0.1, 0)), ("chest", "spine", (0, 0.15, 0)),
    ("neck", "chest", (0, 0.2, 0)), ("head", "neck", (0, 0.1, 0)),
    ("leftEye", "head", (0.03, 0.05, 0.08)), ("rightEye", "head", (-0.03, 0.05, 0.08)),
    *((f"{s}{part}", above and (f"{s}{above}" if above[0].isupper() else above), (x * side, y, z))
      for s, side in (("left", 1), ("right", -1))
      for part, above, (x, y, z) in (
          ("Shoulder", "chest", (0.05, 0.15, 0)), ("UpperArm", "Shoulder", (0.1, 0, 0)),
          ("LowerArm", "UpperArm", (0.25, 0, 0)), ("Hand", "LowerArm", (0.25, 0, 0)),
          ("ThumbMetacarpal", "Hand", (0.03, 0, 0.03)), ("ThumbProximal", "ThumbMetacarpal", (0.03, 0, 0.02)),
          ("ThumbDistal", "ThumbProximal", (0.03, 0, 0.02)),
          ("UpperLeg", "hips", (0.1, -0.05, 0)), ("LowerLeg", "UpperLeg", (0, -0.42, 0)),
          ("Foot", "LowerLeg", (0, -0.45, 0)), ("Toes", "Foot", (0, -0.06, 0.12)))),
)  # fmt: skip
HAIR = 3
FLIP = np.array([-1, 1, -1])


def avatar(forward: int = 1) -> Maker:
    """A body of nodes `n0`, `n1`, ..., three joints of hair and a face with two morph targets, facing +Z or -Z."""
    turn = np.array([forward, 1, forward])
    bones = [bone for bone, _, _ in BODY]
    nodes: list[dict[str, Any]] = [
        {"name": f"n{i}", "translation": (np.array(place) * turn).tolist()}
        for i, (_, _, place) in enumerate(BODY)
    ]
    for i, (_, above, _) in enumerate(BODY):
        if above is not None:
            nodes[bones.index(above)].setdefault("children", []).append(i)
    first = len(nodes)
    for k in range(HAIR):
        nodes.append({"name": f"hair{k}", "translation": (np.array([0, 0.05, -0.1]) * turn).tolist()})
        nodes[bones.index("head") if k == 0 else first + k - 1].setdefault("children", []).append(first + k)
    nodes.append({"name": "face", "mesh": 0})
    maker = Maker(nodes=nodes, scenes=[{"nodes": [0, len(nodes) - 1]}])
    corners = np.array([[0, 1.5, 0.1], [0.1, 1.5, 0.1], [0, 1.6, 0.1]]) * turn
    deltas = np.zeros((2, 3, 3))
    deltas[0, 0] = np.array([0, 0.02, 0.01]) * turn
    deltas[1, 1] = [0, 0.03, 0]
    primitive = {
        "attributes": {"POSITION": maker.accessor(corners)},
        "targets": [{"POSITION": maker.accessor(d)} for d in deltas],
        "material": 0,
    }
    maker.add(
        "meshes", {"name": "face", "primitives": [primitive], "extras": {"targetNames": ["smile", "lid"]}}
    )
    maker.add("materials", {"name": "skin"})
    return maker


def node_of(bone: str) -> int:
    return [b for b, _, _ in BODY].index(bone)


FIRST_HAIR = len(BODY)
FACE = FIRST_HAIR + HAIR


def one() -> Maker:
    """VRM 1.0 with everything."""
    maker = avatar()
    happy = {
        "morphTargetBinds": [{"node": FACE, "index": 0, "weight": 0.8}],
        "materialColorBinds": [{"material": 0, "type": "color", "targetValue": [1, 0.5, 0.5, 1]}],
        "overrideBlink": "blend",
    }
    blink = {"morphTargetBinds": [{"node": FACE, "index": 1, "weight": 1.0}]}
    ranges = {
        f"rangeMap{name}": {"inputMaxValue": 90, "outputScale": 45}
        for name in ("HorizontalInner", "HorizontalOuter", "VerticalDown", "VerticalUp")
    }
    settings = {
        "stiffness": 1.5,
        "hitRadius": 0.02,
        "dragForce": 0.4,
        "gravityPower": 0.1,
        "gravityDir": [0, -1, 0],
    }
    maker.document["extensions"] = {
        "VRMC_vrm": {
            "specVersion": "1.0",
            "meta": META,
            "humanoid": {"humanBones": {bone: {"node": i} for i, (bone, _, _) in enumerate(BODY)}},
            "expressions": {"preset": {"happy": happy, "blink": blink}, "custom": {"wink": blink}},
            "lookAt": {"type": "bone", "offsetFromHeadBone": [0, 0.06, 0], **ranges},
            "firstPerson": {"meshAnnotations": [{"node": FACE, "type": "thirdPersonOnly"}]},
        },
        "VRMC_springBone": {
            "specVersion": "1.0",
            "colliders": [
                {"node": node_of("head"), "shape": {"sphere": {"offset": [0, 0.1, 0.02], "radius": 0.1}}},
                {"node": 99, "shape": {"sphere": {"radius": 0.1}}},
                {"node": node_of("neck"), "shape": {"capsule": CAPSULE}},
            ],
            "colliderGroups": [{"name": "body", "colliders": [0, 1, 2]}],
            "springs": [
                {
                    "name": "hair",
                    "center": node_of("hips"),
                    "colliderGroups": [0],
                    "joints": [{"node": FIRST_HAIR + k, **settings} for k in range(HAIR)],
                }
            ],
        },
    }  # fmt: skip
    maker.document["nodes"][FIRST_HAIR]["extensions"] = {
        "VRMC_node_constraint": {
            "specVersion": "1.0",
            "constraint": {"roll": {"source": node_of("head"), "rollAxis": "Y", "weight": 0.5}},
        }
    }
    maker.document["extensionsUsed"] = ["VRMC_vrm", "VRMC_springBone", "VRMC_node_constraint"]
    return maker


def zero() -> Maker:
    """The same avatar as VRM 0.x: facing -Z, vectors in Unity's axes."""
    maker = avatar(-1)
    thumbs = {"ThumbMetacarpal": "ThumbProximal", "ThumbProximal": "ThumbIntermediate"}

    def old(bone: str) -> str:
        for new, name in thumbs.items():
            if bone.endswith(new):
                return bone.replace(new, name)
        return bone

    def xyz(x: float, y: float, z: float) -> dict[str, float]:
        return {"x": x, "y": y, "z": z}

    ranges = {
        f"lookAt{name}": {"xRange": 90, "yRange": 45}
        for name in ("HorizontalInner", "HorizontalOuter", "VerticalDown", "VerticalUp")
    }
    maker.document["extensions"] = {
        "VRM": {
            "meta": {"title": "Ami", "author": "somebody", "commercialUssageName": "Allow", "licenseName": "CC_BY"},
            "humanoid": {"humanBones": [{"bone": old(bone), "node": i} for i, (bone, _, _) in enumerate(BODY)]},
            "blendShapeMaster": {
                "blendShapeGroups": [
                    {"name": "Joy", "presetName": "joy", "binds": [{"mesh": 0, "index": 0, "weight": 80}],
                     "materialValues": [
                         {"materialName": "skin", "propertyName": "_Color", "targetValue": [1, 0.5, 0.5, 1]},
                         {"materialName": "skin", "propertyName": "_MainTex_ST", "targetValue": [0.5, 0.25, 0, 0.5]}]},
                    {"name": "Blink", "presetName": "unknown", "binds": [{"mesh": 0, "index": 1, "weight": 100}]},
                ]
            },
            "firstPerson": {
                "firstPersonBone": node_of("head"), "firstPersonBoneOffset": xyz(0.01, 0.06, 0.02),
                "meshAnnotations": [{"mesh": 0, "firstPersonFlag": "ThirdPersonOnly"}], "lookAtTypeName": "Bone", **ranges,
            },
            "secondaryAnimation": {
                "colliderGroups": [
                    {"node": node_of("head"), "colliders": [{"offset": xyz(0.3, 0.1, 0.02), "radius": 0.1}]}],
                "boneGroups": [
                    {"comment": "hair", "stiffiness": 1.5, "gravityPower": 0.1, "gravityDir": xyz(0, -1, 0),
                     "dragForce": 0.4, "hitRadius": 0.02, "center": -1, "bones": [FIRST_HAIR], "colliderGroups": [0]}],
            },
        }
    }  # fmt: skip
    maker.document["extensionsUsed"] = ["VRM"]
    return maker


def saved(character: mw.Character, path: Path) -> tuple[mw.Character, dict[str, Any]]:
    mw.save(character, path)
    data = path.read_bytes()
    (size,) = struct.unpack("<I", data[12:16])
    return mw.load(path, cache=False), json.loads(data[20 : 20 + size])


def test_an_avatar_is_read_in_the_words_of_its_character() -> None:
    character = one().load()
    skeleton, vrm = character.skeleton, character.vrm
    assert {bone: skeleton.names[j] for bone, j in skeleton.humanoid.items()} == {
        bone: f"n{i}" for i, (bone, _, _) in enumerate(BODY)
    }
    assert vrm["meta"] == META
    assert vrm["expressions"]["happy"]["morphTargetBinds"] == [{"morph": "smile", "weight": 0.8}]
    assert vrm["expressions"]["happy"]["preset"] and not vrm["expressions"]["wink"]["preset"]
    assert vrm["firstPerson"] == {"meshAnnotations": [{"node": "face", "type": "thirdPersonOnly"}]}
    (spring,) = vrm["springBone"]["springs"]
    assert [joint["node"] for joint in spring["joints"]] == ["hair0", "hair1", "hair2"]
    assert spring["center"] == "n0"
    roll = mw.graph.CopyTransform("hair0", "n4", "rotation", "y", frame="parent", over="rest", weight=0.5)
    assert character.constraints == (roll,) and "constraints" not in vrm
    # The collider on a node that does not exist is gone, and the group names those that are left.
    assert [c["node"] for c in vrm["springBone"]["colliders"]] == ["n4", "n3"]
    assert vrm["springBone"]["colliderGroups"][0]["colliders"] == [0, 1]
    assert "1 colliders name no joint" in str(character.report)


def test_an_avatar_is_written_as_it_was_read(tmp_path: Path, errors_of: Callable[..., list[str]]) -> None:
    character = one().load()
    again, document = saved(character, tmp_path / "ami.vrm")
    assert_same(again, character)
    assert document["extensions"]["VRMC_vrm"]["specVersion"] == "1.0"
    assert {"VRMC_vrm", "VRMC_springBone", "VRMC_node_constraint"} <= set(document["extensionsUsed"])
    bind = document["extensions"]["VRMC_vrm"]["expressions"]["preset"]["happy"]["morphTargetBinds"][0]
    target = document["nodes"][bind["node"]]
    assert document["meshes"][target["mesh"]]["extras"]["targetNames"][bind["index"]] == "smile"
    for path in ("ami.glb", "ami.marrow"):
        mw.save(character, tmp_path / path)
        other = mw.load(tmp_path / path, cache=False)
        assert (other.vrm, other.constraints) == (character.vrm, character.constraints), path
    assert not errors_of(tmp_path / "ami.vrm")


def test_two_nodes_of_one_name_stay_two(tmp_path: Path) -> None:
    maker = one()
    maker.document["nodes"][FIRST_HAIR + 1]["name"] = "hair0"
    character = maker.load()
    joints = [joint["node"] for joint in character.vrm["springBone"]["springs"][0]["joints"]]
    assert len({str(joint) for joint in joints}) == HAIR
    again, _ = saved(character, tmp_path / "ami.vrm")
    assert again.vrm == character.vrm


@pytest.mark.parametrize("make", [one, zero])
def test_an_avatar_without_expressions_has_none_of_them(make: Callable[[], Maker], tmp_path: Path) -> None:
    maker = make()
    extensions = maker.document["extensions"]
    for name, word in (("VRMC_vrm", "expressions"), ("VRM", "blendShapeMaster")):
        extensions.get(name, {}).pop(word, None)
    character = maker.load()
    assert character.vrm["expressions"] == {}
    clip = mw.Clip("c", character.skeleton, (), 1.0, curves=(mw.Curve("expression:happy", [0, 1], [0, 1]),))
    assert not mw.retarget(clip, onto=character).tracks
    again, document = saved(character, tmp_path / "ami.vrm")
    assert again.vrm["expressions"] == {} and "expressions" not in document["extensions"]["VRMC_vrm"]


def test_vrm_0_is_the_avatar_that_1_0_is(tmp_path: Path) -> None:
    new, old = one().load(), zero().load()
    assert old.vrm["version"] == "0.x"
    assert old.skeleton.humanoid == new.skeleton.humanoid
    # It faces +Z now, as the other does.
    assert_allclose(old.skeleton.rest_model[..., 3], new.skeleton.rest_model[..., 3], atol=1e-6)
    for pose in (old.skeleton.rest, old.skeleton.rest.replace(morphs=np.array([1, 0.5], np.float32))):
        assert_allclose(mw.skin(old, pose).positions, mw.skin(new, pose).positions, atol=1e-6)
    happy = old.vrm["expressions"]["happy"]
    assert happy["morphTargetBinds"][0]["morph"] == "smile"
    assert happy["morphTargetBinds"][0]["weight"] == pytest.approx(0.8)
    assert happy["materialColorBinds"] == new.vrm["expressions"]["happy"]["materialColorBinds"]
    # Unity: scale, offset from below. glTF: the same window counted from above.
    assert happy["textureTransformBinds"] == [{"material": 0, "scale": [0.5, 0.25], "offset": [0, 0.25]}]
    assert old.vrm["expressions"]["blink"]["preset"]
    assert old.vrm["firstPerson"] == new.vrm["firstPerson"]
    assert old.vrm["lookAt"]["rangeMapVerticalUp"] == new.vrm["lookAt"]["rangeMapVerticalUp"]
    # Unity's (x, y, z) is VRM 1.0's (-x, y, z).
    assert_allclose(old.vrm["lookAt"]["offsetFromHeadBone"], [-0.01, 0.06, 0.02])
    assert_allclose(old.vrm["springBone"]["colliders"][0]["shape"]["sphere"]["offset"], [-0.3, 0.1, 0.02])
    joints = old.vrm["springBone"]["springs"][0]["joints"]
    assert [joint["node"] for joint in joints] == ["hair0", "hair1", "hair2"]
    assert joints[0]["stiffness"] == 1.5
    # Its licence allows no more than it did.
    meta = old.vrm["meta"]
    assert meta["commercialUsage"] == "personalProfit" and meta["avatarPermission"] == "onlyAuthor"
    assert not meta["allowRedistribution"] and meta["otherLicenseUrl"] == "CC_BY"
    # Saved as 1.0, with the node that 0.x takes to be 7 cm behind the last.
    again, document = saved(old, tmp_path / "ami.vrm")
    assert "VRMC_vrm" in document["extensions"] and "VRM" not in document["extensions"]
    tail = document["nodes"][document["extensions"]["VRMC_springBone"]["springs"][0]["joints"][-1]["node"]]
    assert tail["name"] == "hair2_end"
    assert np.linalg.norm(tail["translation"]) == pytest.approx(0.07)
    assert named_bones(again) == named_bones(old)
    # To marrow that node is no joint, and the avatar the one it was.
    assert_same(again, old)
    large = mw.load(tmp_path / "ami.vrm", scale=2.0, cache=False)
    assert large.vrm["springBone"]["springs"][0]["end"] == pytest.approx(0.14)


def test_vrm_data_of_any_shape_comes_back(tmp_path: Path) -> None:
    character = one().load()
    face = character.meshes[0]
    vrm = copy.deepcopy(character.vrm) | {
        "mine": [1, None],
        "lookAt": 7,
    }
    vrm["expressions"]["happy"]["morphTargetBinds"].append({"morph": "unknown", "weight": 1})
    del vrm["version"]
    odd = character.replace(
        vrm=vrm, meshes=(face, face.replace(name="second face"))
    )  # one channel that drives two meshes
    with pytest.warns(UserWarning, match="no longer has"):
        mw.save(odd, tmp_path / "odd.glb")
    assert_same(mw.load(tmp_path / "odd.glb", cache=False), odd)
    bones = dict(character.skeleton.humanoid) | {"tailOfMine": character.skeleton.index("hair0")}
    skeleton = mw.Skeleton(
        character.skeleton.names, character.skeleton.parents, character.skeleton.rest, character.skeleton.morph_names,
        bones=bones,
    )  # fmt: skip
    for parts in (
        character.vrm,
        {k: v for k, v in character.vrm.items() if k == "springBone"},
        {},
    ):
        other = character.replace(skeleton=skeleton, vrm=parts)
        mw.save(other, tmp_path / "tail.glb")
        assert_same(mw.load(tmp_path / "tail.glb", cache=False), other)


def named_bones(character: mw.Character) -> dict[str, str]:
    return {bone: character.skeleton.names[j] for bone, j in character.skeleton.humanoid.items()}


def test_no_vrm_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="hips"):
        mw.save(mw.samples.lizard(), tmp_path / "x.vrm")
    with pytest.raises(FormatError, match="licence"):  # its bones are found
        mw.save(mw.samples.mannequin(), tmp_path / "x.vrm")
    character = one().load()
    with pytest.raises(FormatError, match="licence: name missing"):
        mw.save(character.replace(vrm={"meta": {**META, "name": ""}}), tmp_path / "x.vrm")
    bones = dict(character.skeleton.humanoid)
    bones["leftFoot"], bones["leftHand"] = bones["leftHand"], bones["leftFoot"]
    swapped = mw.Skeleton(
        character.skeleton.names, character.skeleton.parents, character.skeleton.rest,
        character.skeleton.morph_names, (), bones,
    )  # fmt: skip
    with pytest.raises(FormatError, match="not below"):
        mw.save(character.replace(skeleton=swapped), tmp_path / "x.vrm")
    assert not (tmp_path / "x.vrm").exists()


@pytest.mark.parametrize("world", ["unreal", "blender", "unity"])
def test_springs_and_constraints_turn_with_the_character(world: str) -> None:
    character = one().load()
    there = character.converted(world)
    assert there.vrm != character.vrm
    back = there.converted(world, back=True)
    assert there.constraints != character.constraints or world == "unity"
    assert back.constraints == character.constraints
    shape = [c.vrm["springBone"]["colliders"][1]["shape"]["capsule"] for c in (back, character)]
    assert_allclose(shape[0]["tail"], shape[1]["tail"], atol=1e-9)
    assert shape[0]["radius"] == pytest.approx(shape[1]["radius"])
    # The direction a collider lies in turns as points do.
    head, tail = (np.array(shape[1][k]) for k in ("offset", "tail"))
    marker = mw.Socket("s", 0, tail - head)
    skeleton = mw.Skeleton(("a",), [-1], sockets=(marker,))
    turned = mw.Character(skeleton).converted(world).skeleton.sockets[0].translation
    assert_allclose(there.vrm["springBone"]["colliders"][1]["shape"]["capsule"]["tail"], turned, atol=1e-6)


def test_what_a_file_says_of_its_bones_is_believed() -> None:
    """Names `n0`, `n1`, ... say nothing; the map does."""
    rig = find_rig(one().load().skeleton)
    assert rig.by == "map" and rig.complete
    assert rig.chains["left_arm"] == tuple(
        one().load().skeleton.humanoid[f"left{p}"] for p in ("UpperArm", "LowerArm", "Hand")
    )
    assert len(rig.chains["left_thumb"]) == 3


def vrma() -> bytes:
    """A wave of the right arm, a smile and a look to the left, for any avatar."""
    maker = Maker(nodes=[], scenes=[{"nodes": [0]}])
    maker.document["nodes"] = copy.deepcopy(avatar().document["nodes"][: len(BODY)])
    for node in maker.document["nodes"]:
        node["children"] = [c for c in node.get("children", []) if c < len(BODY)]
        if not node["children"]:
            del node["children"]
    smile = maker.add("nodes", {"name": "e0"})
    eyes = maker.add("nodes", {"name": "e1"})
    maker.document["scenes"][0]["nodes"] += [smile, eyes]
    times = maker.accessor(np.array([[0.0], [1.0]]))
    arm = [[0, 0, 0, 1], quaternion.from_axis_angle([0, 0, 1], np.pi / 2).tolist()]
    look = [[0, 0, 0, 1], quaternion.from_axis_angle([0, 1, 0], np.radians(60)).tolist()]
    samplers, channels = [], []
    for node, path, values in (
        (node_of("rightUpperArm"), "rotation", arm),
        (smile, "translation", [[0, 0, 0], [1.5, 0, 0]]),
        (eyes, "rotation", look),
    ):
        samplers.append({"input": times, "output": maker.accessor(values)})
        channels.append({"sampler": len(samplers) - 1, "target": {"node": node, "path": path}})
    maker.document["animations"] = [{"name": "wave", "samplers": samplers, "channels": channels}]
    maker.document["extensions"] = {
        "VRMC_vrm_animation": {
            "specVersion": "1.0",
            "humanoid": {
                "humanBones": {b: {"node": i} for i, (b, _, _) in enumerate(BODY) if "Eye" not in b}
            },
            "expressions": {"preset": {"happy": {"node": smile}}},
            "lookAt": {"node": eyes},
        }
    }
    maker.document["extensionsUsed"] = ["VRMC_vrm_animation"]
    return maker.glb()


def test_a_vrma_is_motion_for_any_avatar(tmp_path: Path) -> None:
    (tmp_path / "wave.vrma").write_bytes(vrma())
    (tmp_path / "ami.vrm").write_bytes(one().glb())
    motion = mw.load(tmp_path / "wave.vrma", cache=False)
    assert len(motion.skeleton.humanoid) == len(BODY) - 2
    assert {c.name for c in motion.clips["wave"].curves} == {"expression:happy", "look:yaw", "look:pitch"}
    assert motion.clips["wave"].curves[0].values.max() == 1  # a weight is clamped
    character = mw.load(tmp_path / "ami.vrm", clips=tmp_path / "wave.vrma", cache=False)
    clip, skeleton = character.clips["wave"], character.skeleton
    end = clip.sample(1.0)
    # The arm is raised, the smile is on at the weight of its bind, the eyes look half as far as the gaze goes.
    hand = skeleton.to_model(end)[skeleton.humanoid["rightHand"], :, 3]
    shoulder = skeleton.to_model(end)[skeleton.humanoid["rightUpperArm"], :, 3]
    assert_allclose(hand - shoulder, [0, -0.5, 0], atol=1e-3)
    assert end.morphs[skeleton.morph_index("smile")] == pytest.approx(0.8)
    assert end.morphs[skeleton.morph_index("lid")] == 0
    for eye in ("leftEye", "rightEye"):
        gaze = quaternion.rotate(end.rotation[skeleton.humanoid[eye]], [0, 0, 1])
        assert np.degrees(np.arctan2(gaze[0], gaze[2])) == pytest.approx(30, abs=0.01)


def test_an_expression_that_overrides_another_takes_from_it() -> None:
    from marrow.motion.expressions import with_expressions

    character = one().load()
    times = [0.0, 1.0]
    curves = (mw.Curve("expression:happy", times, [0, 1]), mw.Curve("expression:blink", times, [1, 1]))
    clip = with_expressions(mw.Clip("c", character.skeleton, (), 1.0, curves=curves), character)
    lid = character.skeleton.morph_index("lid")
    assert [float(clip.sample(t).morphs[lid]) for t in (0.0, 0.5, 1.0)] == pytest.approx([1, 0.5, 0])


@pytest.mark.parametrize(
    "damage",
    [
        {"VRMC_vrm": []},
        {"VRMC_vrm": {"humanoid": 3, "expressions": [], "firstPerson": 1, "meta": {"thumbnailImage": 7}}},
        {"VRMC_vrm": {"humanoid": {"humanBones": {"hips": {"node": 99}, "spine": {"node": 0}, "chest": {"node": 0}}}}},
        {"VRMC_springBone": {"springs": [{"joints": [{"node": None}]}, 3], "colliderGroups": [1], "colliders": "x"}},
        {"VRM": {"humanoid": {"humanBones": [1, {"bone": 3}]}, "secondaryAnimation": {"boneGroups": [{"bones": ["x"]}]}}},
        {"VRM": {"blendShapeMaster": {"blendShapeGroups": [{"binds": [{"mesh": 0}], "materialValues": [{}]}]}}},
        {"VRMC_vrm_animation": {"humanoid": [], "expressions": {"preset": {"happy": {"node": 99}}}, "lookAt": 3}},
        {"VRMC_vrm": {"a": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}},
    ],
)  # fmt: skip
def test_damaged_data_costs_itself_alone(damage: dict[str, Any], tmp_path: Path) -> None:
    maker = avatar()
    maker.document["extensions"] = damage
    maker.document["extensionsUsed"] = list(damage)
    character = maker.load()
    assert len(character.meshes) == 1
    mw.save(character, tmp_path / "x.glb")
    mw.load(tmp_path / "x.glb", cache=False)
