"""The names that rig families give to the parts of a body; keys are the mannequin's joints."""

from __future__ import annotations

Names = dict[str, str | tuple[str, ...]]
FINGERS = ("thumb", "index", "middle", "ring", "pinky")


def sided(**parts: str) -> Names:
    """`{L}` is replaced by each side's word, given as `left="Left", right="Right"`."""
    left, right = parts.pop("left"), parts.pop("right")
    return {
        f"{part}_{side}": name.replace("{L}", word)
        for side, word in (("l", left), ("r", right))
        for part, name in parts.items()
    }


def fingers(pattern: str, words: dict[str, str], left: str, right: str, first: int = 1) -> Names:
    """Three joints a finger; `pattern` has {L}, {finger} and {n}."""
    return {
        f"{finger}_0{k}_{side}": pattern.format(L=word, finger=words[finger], n=k - 1 + first)
        for side, word in (("l", left), ("r", right))
        for finger in FINGERS
        for k in (1, 2, 3)
    }


TITLE = {f: f.title() for f in FINGERS}


def mixamo(prefix: str) -> Names:
    p = prefix
    return {
        "pelvis": f"{p}Hips",
        "spine_01": f"{p}Spine",
        "spine_02": f"{p}Spine1",
        "spine_03": f"{p}Spine2",
        "neck": f"{p}Neck",
        "head": f"{p}Head",
        **sided(
            left="Left",
            right="Right",
            clavicle=p + "{L}Shoulder",
            upperarm=p + "{L}Arm",
            lowerarm=p + "{L}ForeArm",
            hand=p + "{L}Hand",
            thigh=p + "{L}UpLeg",
            calf=p + "{L}Leg",
            foot=p + "{L}Foot",
            ball=p + "{L}ToeBase",
        ),
        **fingers(p + "{L}Hand{finger}{n}", TITLE, "Left", "Right"),
    }


FAMILIES: dict[str, Names] = {
    "mixamo": mixamo("mixamorig:"),
    "mixamo numbered": mixamo("mixamorig5:"),
    "mixamo underscore": mixamo("mixamorig_"),
    "mixamo bare": mixamo(""),
    "unity": {
        "pelvis": "Hips",
        "spine_01": "Spine",
        "spine_02": "Chest",
        "spine_03": "UpperChest",
        "neck": "Neck",
        "head": "Head",
        **sided(
            left="Left",
            right="Right",
            clavicle="{L}Shoulder",
            upperarm="{L}UpperArm",
            lowerarm="{L}LowerArm",
            hand="{L}Hand",
            thigh="{L}UpperLeg",
            calf="{L}LowerLeg",
            foot="{L}Foot",
            ball="{L}Toes",
        ),
    },
    "unity, all 55": {
        "pelvis": "Hips",
        "spine_01": "Spine",
        "spine_02": "Chest",
        "spine_03": "UpperChest",
        "neck": "Neck",
        "head": "Head",
        **sided(
            left="Left",
            right="Right",
            clavicle="{L}Shoulder",
            upperarm="{L}UpperArm",
            lowerarm="{L}LowerArm",
            hand="{L}Hand",
            thigh="{L}UpperLeg",
            calf="{L}LowerLeg",
            foot="{L}Foot",
            ball="{L}Toes",
        ),
        **{
            f"{finger}_0{k}_{s}": f"{side}{word}{bone}"
            for s, side in (("l", "Left"), ("r", "Right"))
            for finger, word in {**TITLE, "pinky": "Little"}.items()
            for k, bone in ((1, "Proximal"), (2, "Intermediate"), (3, "Distal"))
        },
    },
    "vrm 1": {
        "pelvis": "hips",
        "spine_01": "spine",
        "spine_02": "chest",
        "spine_03": "upperChest",
        "neck": "neck",
        "head": "head",
        **sided(
            left="left",
            right="right",
            clavicle="{L}Shoulder",
            upperarm="{L}UpperArm",
            lowerarm="{L}LowerArm",
            hand="{L}Hand",
            thigh="{L}UpperLeg",
            calf="{L}LowerLeg",
            foot="{L}Foot",
            ball="{L}Toes",
        ),
        **{
            f"{finger}_0{k}_{s}": f"{side}{word}{bone}"
            for s, side in (("l", "left"), ("r", "right"))
            for finger, word in {**TITLE, "pinky": "Little"}.items()
            for k, bone in (
                ((1, "Metacarpal"), (2, "Proximal"), (3, "Distal"))
                if finger == "thumb"
                else ((1, "Proximal"), (2, "Intermediate"), (3, "Distal"))
            )
        },
    },
    "unreal": {
        "pelvis": "pelvis",
        "spine_01": "spine_01",
        "spine_02": "spine_02",
        "spine_03": ("spine_03", "spine_04", "spine_05"),
        "neck": ("neck_01", "neck_02"),
        "head": "head",
        **sided(
            left="l",
            right="r",
            clavicle="clavicle_{L}",
            upperarm="upperarm_{L}",
            lowerarm="lowerarm_{L}",
            hand="hand_{L}",
            thigh="thigh_{L}",
            calf="calf_{L}",
            foot="foot_{L}",
            ball="ball_{L}",
        ),
        **fingers("{finger}_0{n}_{L}", {f: f for f in FINGERS}, "l", "r"),
    },
    "cmu": {
        "pelvis": "Hips",
        "spine_01": "LowerBack",
        "spine_02": "Spine",
        "spine_03": "Spine1",
        "neck": ("Neck", "Neck1"),
        "head": "Head",
        **sided(
            left="Left",
            right="Right",
            clavicle="{L}Shoulder",
            upperarm="{L}Arm",
            lowerarm="{L}ForeArm",
            hand="{L}Hand",
            thigh="{L}UpLeg",
            calf="{L}Leg",
            foot="{L}Foot",
            ball="{L}ToeBase",
        ),
    },
    "vroid": {
        "pelvis": "J_Bip_C_Hips",
        "spine_01": "J_Bip_C_Spine",
        "spine_02": "J_Bip_C_Chest",
        "spine_03": "J_Bip_C_UpperChest",
        "neck": "J_Bip_C_Neck",
        "head": "J_Bip_C_Head",
        **sided(
            left="L",
            right="R",
            clavicle="J_Bip_{L}_Shoulder",
            upperarm="J_Bip_{L}_UpperArm",
            lowerarm="J_Bip_{L}_LowerArm",
            hand="J_Bip_{L}_Hand",
            thigh="J_Bip_{L}_UpperLeg",
            calf="J_Bip_{L}_LowerLeg",
            foot="J_Bip_{L}_Foot",
            ball="J_Bip_{L}_ToeBase",
        ),
        **fingers("J_Bip_{L}_{finger}{n}", TITLE | {"pinky": "Little"}, "L", "R"),
    },
    "rigify": {
        "pelvis": "DEF-spine",
        "spine_01": "DEF-spine.001",
        "spine_02": "DEF-spine.002",
        "spine_03": "DEF-spine.003",
        "neck": ("DEF-spine.004", "DEF-spine.005"),
        "head": "DEF-spine.006",
        **sided(
            left="L",
            right="R",
            clavicle="DEF-shoulder.{L}",
            hand="DEF-hand.{L}",
            foot="DEF-foot.{L}",
            ball="DEF-toe.{L}",
        ),
        **{
            f"{ours}_{s}": (f"DEF-{theirs}.{s.upper()}", f"DEF-{theirs}.{s.upper()}.001")
            for s in "lr"
            for ours, theirs in (
                ("upperarm", "upper_arm"),
                ("lowerarm", "forearm"),
                ("thigh", "thigh"),
                ("calf", "shin"),
            )
        },
        **fingers("DEF-f_{finger}.0{n}.{L}", {f: f for f in FINGERS}, "L", "R"),
    },
    "smpl": {
        "pelvis": "Pelvis",
        "spine_01": "Spine1",
        "spine_02": "Spine2",
        "spine_03": "Spine3",
        "neck": "Neck",
        "head": "Head",
        **sided(
            left="L",
            right="R",
            clavicle="{L}_Collar",
            upperarm="{L}_Shoulder",
            lowerarm="{L}_Elbow",
            hand="{L}_Wrist",
            thigh="{L}_Hip",
            calf="{L}_Knee",
            foot="{L}_Ankle",
            ball="{L}_Foot",
        ),
    },
    "smplx": {
        "pelvis": "pelvis",
        "spine_01": "spine1",
        "spine_02": "spine2",
        "spine_03": "spine3",
        "neck": "neck",
        "head": "head",
        **sided(
            left="left",
            right="right",
            clavicle="{L}_collar",
            upperarm="{L}_shoulder",
            lowerarm="{L}_elbow",
            hand="{L}_wrist",
            thigh="{L}_hip",
            calf="{L}_knee",
            foot="{L}_ankle",
            ball="{L}_foot",
        ),
        **fingers("{L}_{finger}{n}", {f: f for f in FINGERS}, "left", "right"),
    },
    "lafan1": {
        "pelvis": "Hips",
        "spine_01": "Spine",
        "spine_02": "Spine1",
        "spine_03": "Spine2",
        "neck": "Neck",
        "head": "Head",
        **sided(
            left="Left",
            right="Right",
            clavicle="{L}Shoulder",
            upperarm="{L}Arm",
            lowerarm="{L}ForeArm",
            hand="{L}Hand",
            thigh="{L}UpLeg",
            calf="{L}Leg",
            foot="{L}Foot",
            ball="{L}Toe",
        ),
    },
    "biped": {
        "pelvis": "Bip01 Pelvis",
        "spine_01": "Bip01 Spine",
        "spine_02": "Bip01 Spine1",
        "spine_03": "Bip01 Spine2",
        "neck": "Bip01 Neck",
        "head": "Bip01 Head",
        **sided(
            left="L",
            right="R",
            clavicle="Bip01 {L} Clavicle",
            upperarm="Bip01 {L} UpperArm",
            lowerarm="Bip01 {L} Forearm",
            hand="Bip01 {L} Hand",
            thigh="Bip01 {L} Thigh",
            calf="Bip01 {L} Calf",
            foot="Bip01 {L} Foot",
            ball="Bip01 {L} Toe0",
        ),
        **{
            f"{f}_0{k}_{s}": f"Bip01 {s.upper()} Finger{i}{'' if k == 1 else k - 1}"
            for s in "lr"
            for i, f in enumerate(FINGERS)
            for k in (1, 2, 3)
        },
    },
    "makehuman": {
        "pelvis": "root",
        "spine_01": ("spine05", "spine04"),
        "spine_02": "spine03",
        "spine_03": ("spine02", "spine01"),
        "neck": ("neck01", "neck02", "neck03"),
        "head": "head",
        **sided(
            left="L", right="R", clavicle="clavicle.{L}", hand="wrist.{L}", foot="foot.{L}", ball="toe1-1.{L}"
        ),
        **{
            f"{ours}_{s}": (f"{theirs}01.{s.upper()}", f"{theirs}02.{s.upper()}")
            for s in "lr"
            for ours, theirs in (
                ("upperarm", "upperarm"),
                ("lowerarm", "lowerarm"),
                ("thigh", "upperleg"),
                ("calf", "lowerleg"),
            )
        },
        **{
            f"{f}_0{k}_{s}": f"finger{i + 1}-{k}.{s.upper()}"
            for s in "lr"
            for i, f in enumerate(FINGERS)
            for k in (1, 2, 3)
        },
    },
    "rokoko": {
        "pelvis": "Hips",
        "spine_01": "Spine1",
        "spine_02": "Spine2",
        "spine_03": ("Spine3", "Spine4"),
        "neck": "Neck",
        "head": "Head",
        **sided(
            left="Left",
            right="Right",
            clavicle="{L}Shoulder",
            upperarm="{L}Arm",
            lowerarm="{L}ForeArm",
            hand="{L}Hand",
            thigh="{L}Thigh",
            calf="{L}Shin",
            foot="{L}Foot",
            ball="{L}Toe",
        ),
        **fingers(
            "{L}Finger{finger}{n}",
            {"thumb": "Thumb", "index": "Index", "middle": "Middle", "ring": "Ring", "pinky": "Pinky"},
            "Left",
            "Right",
        ),
    },
    "daz": {
        "pelvis": "hip",
        "spine_01": "abdomenLower",
        "spine_02": "abdomenUpper",
        "spine_03": ("chestLower", "chestUpper"),
        "neck": ("neckLower", "neckUpper"),
        "head": "head",
        **sided(
            left="l",
            right="r",
            clavicle="{L}Collar",
            hand="{L}Hand",
            calf="{L}Shin",
            foot="{L}Foot",
            ball="{L}Toe",
        ),
        **{
            f"{ours}_{s}": (f"{s}{theirs}Bend", f"{s}{theirs}Twist")
            for s in "lr"
            for ours, theirs in (("upperarm", "Shldr"), ("lowerarm", "Forearm"), ("thigh", "Thigh"))
        },
        **fingers("{L}{finger}{n}", TITLE | {"middle": "Mid"}, "l", "r"),
    },
    "character creator": {
        "pelvis": "CC_Base_Hip",
        "spine_01": "CC_Base_Waist",
        "spine_02": "CC_Base_Spine01",
        "spine_03": "CC_Base_Spine02",
        "neck": ("CC_Base_NeckTwist01", "CC_Base_NeckTwist02"),
        "head": "CC_Base_Head",
        **sided(
            left="L",
            right="R",
            clavicle="CC_Base_{L}_Clavicle",
            upperarm="CC_Base_{L}_Upperarm",
            lowerarm="CC_Base_{L}_Forearm",
            hand="CC_Base_{L}_Hand",
            thigh="CC_Base_{L}_Thigh",
            calf="CC_Base_{L}_Calf",
            foot="CC_Base_{L}_Foot",
            ball="CC_Base_{L}_ToeBase",
        ),
        **fingers("CC_Base_{L}_{finger}{n}", TITLE | {"middle": "Mid"}, "L", "R"),
    },
    "advanced skeleton": {
        "pelvis": "Root_M",
        "spine_01": "Spine1_M",
        "spine_02": "Spine2_M",
        "spine_03": "Chest_M",
        "neck": "Neck_M",
        "head": "Head_M",
        **sided(
            left="L",
            right="R",
            clavicle="Scapula_{L}",
            upperarm="Shoulder_{L}",
            lowerarm="Elbow_{L}",
            hand="Wrist_{L}",
            thigh="Hip_{L}",
            calf="Knee_{L}",
            foot="Ankle_{L}",
            ball="Toes_{L}",
        ),
        **fingers("{finger}Finger{n}_{L}", TITLE, "L", "R"),
    },
    "asf": {
        "pelvis": "root",
        "spine_01": "lowerback",
        "spine_02": "upperback",
        "spine_03": "thorax",
        "neck": ("lowerneck", "upperneck"),
        "head": "head",
        **sided(
            left="l",
            right="r",
            clavicle="{L}clavicle",
            upperarm="{L}humerus",
            lowerarm="{L}radius",
            hand="{L}wrist",
            thigh="{L}femur",
            calf="{L}tibia",
            foot="{L}foot",
            ball="{L}toes",
        ),
    },
    "auto-rig pro": {
        "pelvis": "root.x",
        "spine_01": "spine_01.x",
        "spine_02": "spine_02.x",
        "spine_03": "spine_03.x",
        "neck": "neck.x",
        "head": "head.x",
        **sided(
            left="l",
            right="r",
            clavicle="shoulder.{L}",
            upperarm="arm_stretch.{L}",
            lowerarm="forearm_stretch.{L}",
            hand="hand.{L}",
            thigh="thigh_stretch.{L}",
            calf="leg_stretch.{L}",
            foot="foot.{L}",
            ball="toes_01.{L}",
        ),
        **fingers("{finger}{n}.{L}", {f: f for f in FINGERS}, "l", "r"),
    },
    "valve": {
        "pelvis": "ValveBiped.Bip01_Pelvis",
        "spine_01": "ValveBiped.Bip01_Spine",
        "spine_02": "ValveBiped.Bip01_Spine1",
        "spine_03": "ValveBiped.Bip01_Spine4",
        "neck": "ValveBiped.Bip01_Neck1",
        "head": "ValveBiped.Bip01_Head1",
        **sided(
            left="L",
            right="R",
            clavicle="ValveBiped.Bip01_{L}_Clavicle",
            upperarm="ValveBiped.Bip01_{L}_UpperArm",
            lowerarm="ValveBiped.Bip01_{L}_Forearm",
            hand="ValveBiped.Bip01_{L}_Hand",
            thigh="ValveBiped.Bip01_{L}_Thigh",
            calf="ValveBiped.Bip01_{L}_Calf",
            foot="ValveBiped.Bip01_{L}_Foot",
            ball="ValveBiped.Bip01_{L}_Toe0",
        ),
    },
    "xsens": {
        "pelvis": "Hips",
        "spine_01": ("L5", "L3"),
        "spine_02": "T12",
        "spine_03": "T8",
        "neck": "Neck",
        "head": "Head",
        **sided(
            left="Left",
            right="Right",
            clavicle="{L}Shoulder",
            upperarm="{L}UpperArm",
            lowerarm="{L}ForeArm",
            hand="{L}Hand",
            thigh="{L}UpperLeg",
            calf="{L}LowerLeg",
            foot="{L}Foot",
            ball="{L}Toe",
        ),
    },
    "words turned round": {
        "pelvis": "hips",
        "spine_01": "spine_a",
        "spine_02": "spine_b",
        "spine_03": "chest",
        "neck": "neck",
        "head": "head",
        **sided(
            left="L",
            right="R",
            clavicle="clavicle_{L}",
            upperarm="arm_upper_{L}",
            lowerarm="arm_lower_{L}",
            hand="hand_{L}",
            thigh="leg_upper_{L}",
            calf="leg_lower_{L}",
            foot="foot_{L}",
            ball="toe_{L}",
        ),
    },
    "nothing": {},
}
"""`nothing`: names that say nothing; parts have to be found by the shape of the body."""
PARTS_WITHOUT_FINGERS = (
    "pelvis",
    "spine_01",
    "spine_02",
    "spine_03",
    "neck",
    "head",
    *(
        f"{p}_{s}"
        for s in "lr"
        for p in ("clavicle", "upperarm", "lowerarm", "hand", "thigh", "calf", "foot", "ball")
    ),
)
FAMILIES["nothing"] = {part: f"node_{k * 7 % 22}" for k, part in enumerate(PARTS_WITHOUT_FINGERS)}

EXTRA: dict[str, dict[str, tuple[str, str | None, float]]] = {
    "unreal": {
        **{
            f"{bone}_twist_0{k}_{s}": (f"{bone}_{s}", f"{end}_{s}", k / 3)
            for s in "lr"
            for bone, end in (
                ("upperarm", "lowerarm"),
                ("lowerarm", "hand"),
                ("thigh", "calf"),
                ("calf", "foot"),
            )
            for k in (1, 2)
        },
        "ik_foot_root": ("rig_root", None, 0.0),
        **{f"ik_foot_{s}": ("ik_foot_root", f"foot_{s}", 1.0) for s in "lr"},
        "ik_hand_root": ("rig_root", None, 0.0),
        "ik_hand_gun": ("ik_hand_root", "hand_r", 1.0),
        **{f"ik_hand_{s}": ("ik_hand_gun", f"hand_{s}", 1.0) for s in "lr"},
        **{
            f"{f}_metacarpal_{s}": (f"hand_{s}", f"{f}_01_{s}", 0.5) for s in "lr" for f in ("index", "pinky")
        },
        "interaction": ("rig_root", None, 0.0),
        "center_of_mass": ("rig_root", "pelvis", 1.0),
    },
    "unity, all 55": dict.fromkeys(("Jaw", "LeftEye", "RightEye"), ("Head", "Neck", -0.5)),
    "vrm 1": dict.fromkeys(("jaw", "leftEye", "rightEye"), ("head", "neck", -0.5)),
    "smplx": dict.fromkeys(("jaw", "left_eye_smplhf", "right_eye_smplhf"), ("head", "neck", -0.5)),
    "mixamo": {
        "mixamorig:HeadTop_End": ("mixamorig:Head", "mixamorig:Neck", -1.0),
        **{
            f"mixamorig:{s}{end}": (f"mixamorig:{s}{above}", f"mixamorig:{s}{behind}", -0.5)
            for s in ("Left", "Right")
            for end, above, behind in (
                ("Toe_End", "ToeBase", "Foot"),
                ("HandThumb4", "HandThumb3", "HandThumb2"),
                ("HandIndex4", "HandIndex3", "HandIndex2"),
            )
        },
    },
    "cmu": {
        "LHipJoint": ("Hips", None, 0.0),
        "RHipJoint": ("Hips", None, 0.0),
        **{
            f"{s}{name}": (f"{s}Hand", f"{s}ForeArm", -share)
            for s in ("Left", "Right")
            for name, share in (("FingerBase", 0.2), ("HandIndex1", 0.3))
        },
        **{n: (f"{s}Hand", f"{s}ForeArm", -0.2) for s, n in (("Left", "LThumb"), ("Right", "RThumb"))},
    },
    "rigify": {
        **{f"DEF-pelvis.{s}": ("DEF-spine", None, 0.0) for s in "LR"},
        **{f"DEF-breast.{s}": ("DEF-spine.003", None, 0.0) for s in "LR"},
        **{f"DEF-palm.0{k}.{s}": (f"DEF-hand.{s}", None, 0.0) for k in (1, 2) for s in "LR"},
        **{f"ORG-thigh.{s}": ("rig_root", f"DEF-thigh.{s}", 1.0) for s in "LR"},
        **{f"MCH-foot_ik.{s}": ("rig_root", f"DEF-foot.{s}", 1.0) for s in "LR"},
    },
    "biped": {
        "Bip01 Footsteps": ("rig_root", None, 0.0),
        **{f"Bip01 {s} ForeTwist": (f"Bip01 {s} Forearm", f"Bip01 {s} Hand", 0.5) for s in "LR"},
        "Bip01 HeadNub": ("Bip01 Head", "Bip01 Neck", -1.0),
    },
    "makehuman": {
        **{f"{b}.{s}": (f"foot.{s}", f"toe1-1.{s}", 1.0) for s in "LR" for b in ("toe2-1", "toe3-1")},
        **{f"{b}.{s}": ("head", "neck03", -0.4) for s in "LR" for b in ("eye", "levator02")},
        **{f"metacarpal{k}.{s}": (f"wrist.{s}", f"finger{k + 1}-1.{s}", 0.5) for s in "LR" for k in (1, 2)},
    },
    "daz": {
        "pelvis": ("hip", None, 0.0),
        **{f"{s}Metatarsals": (f"{s}Foot", f"{s}Toe", 0.5) for s in "lr"},
        **{f"{s}Carpal1": (f"{s}Hand", f"{s}Index1", 0.5) for s in "lr"},
        "lEye": ("head", "neckUpper", -0.4),
        "tongue01": ("head", "neckUpper", -0.2),
    },
}
"""What such rigs have besides: a joint, what it hangs from, and how far it is on the way to a third."""
