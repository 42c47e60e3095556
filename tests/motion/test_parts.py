"""Parts of a body by what they are: `"@spine"` wherever a joint is named, and names that are near."""

import pytest

import marrow as mw
from marrow.errors import UnknownNameError
from marrow.graph import Graph, LayerBlend, LookAt, TwoBoneIK, load_graph, save_graph
from marrow.motion import PARTS

BODY = (
    ("Hips", -1, (0, 1, 0)), ("Spine", 0, (0, 0.1, 0)), ("Spine1", 1, (0, 0.1, 0)), ("Spine2", 2, (0, 0.1, 0)),
    ("Neck", 3, (0, 0.15, 0)), ("Head", 4, (0, 0.1, 0)),
    ("LeftShoulder", 3, (0.05, 0.1, 0)), ("LeftArm", 6, (0.12, 0, 0)), ("LeftForeArm", 7, (0.28, 0, 0)),
    ("LeftHand", 8, (0.25, 0, 0)), ("LeftHandIndex1", 9, (0.08, 0, 0)),
    ("RightShoulder", 3, (-0.05, 0.1, 0)), ("RightArm", 11, (-0.12, 0, 0)), ("RightForeArm", 12, (-0.28, 0, 0)),
    ("RightHand", 13, (-0.25, 0, 0)),
    ("LeftUpLeg", 0, (0.1, -0.05, 0)), ("LeftLeg", 15, (0, -0.42, 0)), ("LeftFoot", 16, (0, -0.42, 0)),
    ("LeftToeBase", 17, (0, -0.08, 0.12)),
    ("RightUpLeg", 0, (-0.1, -0.05, 0)), ("RightLeg", 19, (0, -0.42, 0)), ("RightFoot", 20, (0, -0.42, 0)),
)  # fmt: skip
EXPECTED = {
    "hips": "Hips", "spine": "Spine", "chest": "Spine1", "upperChest": "Spine2", "neck": "Neck", "head": "Head",
    "leftShoulder": "LeftShoulder", "leftUpperArm": "LeftArm", "leftLowerArm": "LeftForeArm", "leftHand": "LeftHand",
    "leftIndexProximal": "LeftHandIndex1", "rightShoulder": "RightShoulder", "rightUpperArm": "RightArm",
    "rightLowerArm": "RightForeArm", "rightHand": "RightHand", "leftUpperLeg": "LeftUpLeg", "leftLowerLeg": "LeftLeg",
    "leftFoot": "LeftFoot", "leftToes": "LeftToeBase", "rightUpperLeg": "RightUpLeg", "rightLowerLeg": "RightLeg",
    "rightFoot": "RightFoot",
}  # fmt: skip


def body(prefix: str = "", renamed: dict[str, str] | None = None, lacking: int = 0) -> mw.Skeleton:
    rows = BODY[: len(BODY) - lacking]
    rest = mw.Pose.identity(len(rows))
    rest.translation[:] = [at for _, _, at in rows]
    names = tuple(prefix + (renamed or {}).get(name, name) for name, _, _ in rows)
    return mw.Skeleton(names, [parent for _, parent, _ in rows], rest)


def test_the_bones_of_a_rig_are_known_without_the_file_saying_so():
    skeleton = body("mixamorig:")
    assert {bone: skeleton.names[j] for bone, j in skeleton.humanoid.items()} == {
        bone: f"mixamorig:{name}" for bone, name in EXPECTED.items()
    }
    assert skeleton.bones == {} and mw.Skeleton(("a", "b"), [-1, 0]).humanoid == {}
    with pytest.raises(TypeError):
        skeleton.humanoid["hips"] = 3  # it is found, not kept


def test_what_a_file_says_of_its_bones_comes_first():
    plain = body()
    said = mw.Skeleton(plain.names, plain.parents, plain.rest, bones={"hips": 0, "spine": 2, "leftEye": 10})
    assert said.humanoid == {"hips": 0, "spine": 2, "leftEye": 10}
    assert (
        said.names[said.index("@spine")] == "Spine1"
        and said.names[said.index("@left_eye")] == "LeftHandIndex1"
    )
    assert said.names[said.index("@head")] == "Head"  # of which the file says nothing


@pytest.mark.parametrize("prefix", ["", "mixamorig:", "Armature|"])
def test_a_part_stands_for_a_joint_wherever_one_is_named(prefix):
    skeleton = body(prefix)
    parts = {
        "@spine": "Spine", "@left_hand": "LeftHand", "@leftHand": "LeftHand", "@left_arm": "LeftArm", "@hips": "Hips",
        "@left_upper_arm": "LeftArm", "@right_leg": "RightUpLeg", "@left_toes": "LeftToeBase", "@neck": "Neck",
        "@left_index": "LeftHandIndex1", "@head": "Head",
    }  # fmt: skip
    for part, name in parts.items():
        assert skeleton.names[skeleton.index(part)] == prefix + name
        assert part in skeleton
    below = {name.removeprefix(prefix) for name, w in zip(skeleton.names, skeleton.mask("@left_arm")) if w}
    assert below == {"LeftArm", "LeftForeArm", "LeftHand", "LeftHandIndex1"}
    assert skeleton.descendants("@left_arm").tolist() == skeleton.descendants(f"{prefix}LeftArm").tolist()


def test_a_short_trunk_serves_for_the_parts_it_has_not():
    rows = [("pelvis", -1, (0, 1, 0)), ("spine_01", 0, (0, 0.3, 0)), ("head", 1, (0, 0.3, 0))]
    for side, x in (("l", 1), ("r", -1)):
        n = len(rows)
        rows += [
            (f"upperarm_{side}", 1, (0.15 * x, 0.2, 0)), (f"lowerarm_{side}", n, (0.3 * x, 0, 0)),
            (f"hand_{side}", n + 1, (0.25 * x, 0, 0)), (f"thigh_{side}", 0, (0.1 * x, -0.05, 0)),
            (f"calf_{side}", n + 3, (0, -0.45, 0)), (f"foot_{side}", n + 4, (0, -0.42, 0)),
        ]  # fmt: skip
    rest = mw.Pose.identity(len(rows))
    rest.translation[:] = [at for _, _, at in rows]
    skeleton = mw.Skeleton(tuple(r[0] for r in rows), [r[1] for r in rows], rest)
    assert [skeleton.names[skeleton.index(p)] for p in ("@upper_chest", "@chest", "@neck")] == [
        "spine_01", "spine_01", "head",
    ]  # fmt: skip
    assert "chest" not in skeleton.humanoid
    with pytest.raises(
        UnknownNameError, match=r"no part of this skeleton called '@left_toes'; it has .*@left_foot"
    ):
        skeleton.index("@left_toes")


def test_a_joint_that_is_called_like_a_part_is_that_joint():
    plain = body(renamed={"LeftHandIndex1": "@spine"})
    assert plain.index("@spine") == 10


def test_an_unknown_part_lists_the_parts():
    with pytest.raises(
        UnknownNameError, match=r"no part called '@wheel'; parts: @root, @hips, @spine, .*@left_hand"
    ):
        body().index("@wheel")
    with pytest.raises(UnknownNameError, match="did you mean '@spine'"):
        body().index("@spin")
    with pytest.raises(UnknownNameError, match="no body was found in it"):
        mw.Skeleton(("a", "b"), [-1, 0]).index("@spine")
    assert "@wheel" not in body() and "@spine" not in mw.Skeleton(("a", "b"), [-1, 0])


@pytest.mark.parametrize(
    ("wrong", "near"),
    [("Spine", "mixamorig:Spine"), ("spine", "mixamorig:Spine"), ("hand_l", "mixamorig:LeftHand"),
     ("LeftHnd", "mixamorig:LeftHand"), ("thigh.R", "mixamorig:RightUpLeg")],
)  # fmt: skip
def test_a_missing_name_gets_the_near_one(wrong, near):
    with pytest.raises(UnknownNameError, match=f"no joint called '{wrong}'; did you mean '{near}'") as caught:
        body("mixamorig:").index(wrong)
    assert len(str(caught.value)) < 150


def test_a_name_that_is_near_nothing_is_no_dump_of_all():
    with pytest.raises(UnknownNameError, match=r"\(22 in all\); '@spine'") as caught:
        body("mixamorig:").index("zzz")
    assert len(str(caught.value)) < 300


def character(prefix: str, renamed: dict[str, str] | None = None) -> mw.Character:
    skeleton = body(prefix, renamed)
    arm, head = (
        skeleton.index(prefix + "LeftArm"),
        skeleton.index(prefix + (renamed or {}).get("Head", "Head")),
    )
    turn = [[0, 0, 0, 1], [0, 0, 0.6, 0.8]]
    clips = [
        mw.Clip("walk", skeleton, [mw.Track(0, "translation", [0, 1], [[0, 1, 0], [0, 1, 0]])]),
        mw.Clip(
            "wave",
            skeleton,
            [mw.Track(arm, "rotation", [0, 1], turn), mw.Track(head, "rotation", [0, 1], turn)],
        ),
    ]
    return mw.Character(skeleton, clips=clips)


def test_one_graph_file_serves_rigs_of_other_names(tmp_path):
    graph = Graph(
        TwoBoneIK(
            LookAt(LayerBlend("walk", "wave", joints=("@left_arm",)), {"@neck": 0.5, "@head": 1.0}, (0.0, 1.6, 4.0)),
            "@left_foot", (0.1, 0.3, 0.2),
        )
    )  # fmt: skip
    save_graph(graph, tmp_path / "part.json")
    poses = []
    for prefix in ("", "mixamorig:"):
        animator = mw.Animator(character(prefix), load_graph(tmp_path / "part.json"))
        animator.update(0.5)
        poses.append(animator.pose)
        assert animator.socket("@left_foot")[:, 3] == pytest.approx([0.1, 0.3, 0.2], abs=1e-4)
    assert (poses[0].rotation == poses[1].rotation).all()
    names = character("").skeleton
    assert abs(poses[0].rotation[names.index("LeftArm"), 2]) > 0.2


def test_a_graph_says_where_a_name_is_missing_and_which_is_near():
    graph = Graph(LayerBlend("walk", "wave", joints=("Spine",)))
    with pytest.raises(
        UnknownNameError, match=r"joint \(used by root.*\) called 'Spine'; did you mean 'mixamorig:Spine'"
    ):
        mw.Animator(character("mixamorig:"), graph)


def test_every_part_is_a_bone_that_vrm_knows():
    assert PARTS["@left_upper_arm"] == PARTS["@left_arm"] == "leftUpperArm"
    assert PARTS["@right_thumb_metacarpal"] == PARTS["@right_thumb"] == "rightThumbMetacarpal"
    assert len(set(PARTS.values()) - {"root"}) == 55  # the humanoid bones of VRM 1.0


def test_sockets_overrides_clip_tools_and_views_take_parts():
    hero = character("mixamorig:")
    mw.Actor(hero, parent=mw.Actor(hero), socket="@left_hand")
    with pytest.raises(UnknownNameError, match="did you mean 'mixamorig:LeftHand'"):
        mw.Actor(hero, parent=mw.Actor(hero), socket="LeftHand")
    animator = mw.Animator(hero)
    animator.overrides["@head"].set(rotation=[0, 0, 0.6, 0.8])
    animator.update(0.1)
    assert animator.pose.rotation[hero.skeleton.index("@head")] == pytest.approx([0, 0, 0.6, 0.8])
    only = hero.clips["wave"].only(["@left_arm"])
    assert {t.target for t in only.tracks} == {hero.skeleton.index("@left_arm")}
