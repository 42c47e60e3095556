"""What shapes of faces are called, and what each is made of in ARKit's 52 shapes: the tables behind `mw.faces`."""

from __future__ import annotations

import functools
import re
from types import MappingProxyType

__all__ = ["ARKIT", "CONVENTIONS", "Recipe", "plain", "recipes"]

Recipe = MappingProxyType[str, float]
"""A shape in ARKit's shapes: how much of each."""

_SIDED = """
    eyeBlink eyeLookDown eyeLookIn eyeLookOut eyeLookUp eyeSquint eyeWide mouthSmile mouthFrown mouthDimple
    mouthStretch mouthPress mouthLowerDown mouthUpperUp browDown browOuterUp cheekSquint noseSneer
""".split()  # noqa: SIM905
_SINGLE = """
    jawForward jawLeft jawRight jawOpen mouthClose mouthFunnel mouthPucker mouthLeft mouthRight mouthRollLower
    mouthRollUpper mouthShrugLower mouthShrugUpper browInnerUp cheekPuff tongueOut
""".split()  # noqa: SIM905
ARKIT: tuple[str, ...] = tuple(sorted([f"{n}{side}" for n in _SIDED for side in ("Left", "Right")] + _SINGLE))
"""ARKit's 52 shapes."""

_VISEMES = """
sil:
PP: mouthPress 0.6, mouthRollLower 0.3, mouthRollUpper 0.3
FF: mouthRollLower 0.7, mouthUpperUp 0.25, jawOpen 0.05
TH: jawOpen 0.15, tongueOut 0.35, mouthLowerDown 0.15
DD: jawOpen 0.1, mouthUpperUp 0.15, mouthLowerDown 0.25, mouthStretch 0.1
kk: jawOpen 0.2, mouthStretch 0.15, mouthLowerDown 0.1, mouthShrugUpper 0.1
CH: mouthFunnel 0.6, mouthUpperUp 0.15, mouthLowerDown 0.2
SS: mouthStretch 0.3, mouthLowerDown 0.3, mouthUpperUp 0.1, mouthClose 0.05
nn: jawOpen 0.1, mouthLowerDown 0.15, mouthShrugLower 0.15
RR: mouthFunnel 0.35, jawOpen 0.1, mouthPucker 0.15
aa: jawOpen 0.6, mouthLowerDown 0.15, mouthUpperUp 0.1
E: jawOpen 0.25, mouthStretch 0.45, mouthSmile 0.2
I: jawOpen 0.12, mouthStretch 0.25, mouthSmile 0.4
O: jawOpen 0.35, mouthFunnel 0.6
U: jawOpen 0.1, mouthPucker 0.75
"""
_VRM = """
happy: mouthSmile 0.8, cheekSquint 0.5, eyeSquint 0.4
angry: browDown 1, noseSneer 0.4, mouthFrown 0.4, mouthPress 0.3
sad: browInnerUp 0.9, mouthFrown 0.8, mouthShrugLower 0.3
relaxed: mouthSmile 0.4, eyeBlink 0.4, eyeSquint 0.2
surprised: eyeWide 1, browInnerUp 0.8, browOuterUp 0.8, jawOpen 0.3
neutral:
aa: jawOpen 0.7
ih: jawOpen 0.12, mouthStretch 0.25, mouthSmile 0.4
ou: jawOpen 0.1, mouthPucker 0.8
ee: jawOpen 0.25, mouthStretch 0.6, mouthSmile 0.1
oh: jawOpen 0.35, mouthFunnel 0.7
blink: eyeBlink 1
blinkLeft: eyeBlinkLeft 1
blinkRight: eyeBlinkRight 1
lookUp: eyeLookUp 1
lookDown: eyeLookDown 1
lookLeft: eyeLookOutLeft 1, eyeLookInRight 1
lookRight: eyeLookInLeft 1, eyeLookOutRight 1
"""
_SAME_AS_VRM = {
    "vrm0": "joy=happy angry=angry sorrow=sad fun=relaxed surprised=surprised neutral=neutral a=aa i=ih u=ou e=ee o=oh "
    "blink=blink "
    "blink_l=blinkLeft blink_r=blinkRight lookup=lookUp lookdown=lookDown lookleft=lookLeft "
    "lookright=lookRight",
    "vroid": "Fcl_ALL_Joy=happy Fcl_ALL_Angry=angry Fcl_ALL_Sorrow=sad Fcl_ALL_Fun=relaxed "
    "Fcl_ALL_Surprised=surprised "
    "Fcl_ALL_Neutral=neutral Fcl_MTH_A=aa Fcl_MTH_I=ih Fcl_MTH_U=ou Fcl_MTH_E=ee "
    "Fcl_MTH_O=oh Fcl_EYE_Close=blink "
    "Fcl_EYE_Close_L=blinkLeft Fcl_EYE_Close_R=blinkRight",
    "mmd": "あ=aa い=ih う=ou え=ee お=oh まばたき=blink ウィンク=blinkLeft ウィンク右=blinkRight びっくり=surprised",
}
_VROID = """
Fcl_BRW_Angry: browDown 1
Fcl_BRW_Sorrow: browInnerUp 1
Fcl_BRW_Surprised: browInnerUp 0.8, browOuterUp 0.8
Fcl_EYE_Spread: eyeWide 1
Fcl_EYE_Surprised: eyeWide 0.8
Fcl_MTH_Up: mouthShrugLower 0.6, mouthShrugUpper 0.4
Fcl_MTH_Down: mouthFrown 0.5
Fcl_MTH_Angry: mouthFrown 0.7, mouthPress 0.3
Fcl_MTH_Small: mouthPucker 0.6
Fcl_MTH_Large: mouthStretch 0.6
Fcl_MTH_Joy: jawOpen 0.6, mouthSmile 0.8
Fcl_MTH_Fun: mouthSmile 0.8
Fcl_MTH_Sorrow: mouthFrown 0.8, mouthShrugLower 0.3
Fcl_MTH_Surprised: jawOpen 0.5, mouthFunnel 0.3
"""
_MMD = """
笑い: eyeBlink 0.8, cheekSquint 0.6
真面目: browDown 0.3
困る: browInnerUp 1
にこり: browOuterUp 0.4
怒り: browDown 1
上: browInnerUp 0.8, browOuterUp 0.8
下: browDown 0.6
にやり: mouthSmile 0.7
口角上げ: mouthSmile 1
口角下げ: mouthFrown 1
じと目: eyeSquint 0.8
"""
_REALLUSION = """
Brow_Drop_L: browDownLeft 1
Brow_Drop_R: browDownRight 1
Brow_Raise_Inner_L: browInnerUp 0.5
Brow_Raise_Inner_R: browInnerUp 0.5
Brow_Raise_Outer_L: browOuterUpLeft 1
Brow_Raise_Outer_R: browOuterUpRight 1
Cheek_Raise_L: cheekSquintLeft 1
Cheek_Raise_R: cheekSquintRight 1
Cheek_Puff_L: cheekPuff 0.5
Cheek_Puff_R: cheekPuff 0.5
Eye_L_Look_L: eyeLookOutLeft 1
Eye_L_Look_R: eyeLookInLeft 1
Eye_L_Look_Up: eyeLookUpLeft 1
Eye_L_Look_Down: eyeLookDownLeft 1
Eye_R_Look_L: eyeLookInRight 1
Eye_R_Look_R: eyeLookOutRight 1
Eye_R_Look_Up: eyeLookUpRight 1
Eye_R_Look_Down: eyeLookDownRight 1
Jaw_L: jawLeft 1
Jaw_R: jawRight 1
Mouth_L: mouthLeft 1
Mouth_R: mouthRight 1
Mouth_Roll_In_Upper: mouthRollUpper 1
Mouth_Roll_In_Lower: mouthRollLower 1
Mouth_Up_Upper_L: mouthUpperUpLeft 1
Mouth_Up_Upper_R: mouthUpperUpRight 1
Mouth_Down_Lower_L: mouthLowerDownLeft 1
Mouth_Down_Lower_R: mouthLowerDownRight 1
V_Open: jawOpen 0.6, mouthLowerDown 0.2
V_Explosive: mouthPress 0.6, mouthRollLower 0.3, mouthRollUpper 0.3
V_Dental_Lip: mouthRollLower 0.7, mouthUpperUp 0.25
V_Tight_O: mouthPucker 0.6, mouthFunnel 0.4
V_Tight: mouthPucker 0.8
V_Wide: mouthStretch 0.7
V_Affricate: mouthFunnel 0.6, mouthUpperUp 0.2
V_Lip_Open: mouthLowerDown 0.4, mouthUpperUp 0.3
"""
_METAHUMAN = """
jawFwd: jawForward 1
browRaiseInL: browInnerUp 0.5
browRaiseInR: browInnerUp 0.5
browRaiseOuterL: browOuterUpLeft 1
browRaiseOuterR: browOuterUpRight 1
eyeWidenL: eyeWideLeft 1
eyeWidenR: eyeWideRight 1
eyeSquintInnerL: eyeSquintLeft 1
eyeSquintInnerR: eyeSquintRight 1
eyeLookLeftL: eyeLookOutLeft 1
eyeLookRightL: eyeLookInLeft 1
eyeLookLeftR: eyeLookInRight 1
eyeLookRightR: eyeLookOutRight 1
eyeCheekRaiseL: cheekSquintLeft 1
eyeCheekRaiseR: cheekSquintRight 1
noseWrinkleL: noseSneerLeft 1
noseWrinkleR: noseSneerRight 1
mouthCheekBlowL: cheekPuff 0.5
mouthCheekBlowR: cheekPuff 0.5
mouthCornerPullL: mouthSmileLeft 1
mouthCornerPullR: mouthSmileRight 1
mouthCornerDepressL: mouthFrownLeft 1
mouthCornerDepressR: mouthFrownRight 1
mouthUpperLipRaiseL: mouthUpperUpLeft 1
mouthUpperLipRaiseR: mouthUpperUpRight 1
mouthLowerLipDepressL: mouthLowerDownLeft 1
mouthLowerLipDepressR: mouthLowerDownRight 1
"""


def plain(name: str) -> str:
    """A name as it is compared: no namespace, capitals or signs; letters of other scripts as they are."""
    name = re.sub(r"^(?:vrc\.v_|.*[.:|])?(?:CTRL_expressions_|viseme_)?", "", name, flags=re.IGNORECASE)
    return re.sub(r"[^0-9a-z\u0080-\uffff]", "", name.lower())


def _read(text: str) -> dict[str, Recipe]:
    """Lines `name: shape amount, ...`; a shape without a side means both."""
    found = {}
    for line in text.strip().splitlines():
        name, _, rest = line.partition(":")
        recipe: dict[str, float] = {}
        for part in filter(None, (p.strip() for p in rest.split(","))):
            shape, amount = part.split()
            for full in (f"{shape}Left", f"{shape}Right") if shape in _SIDED else (shape,):
                recipe[full] = float(amount)
        found[name] = MappingProxyType(recipe)
    return found


def _same(words: str) -> dict[str, Recipe]:
    vrm = _read(_VRM)
    return {name: vrm[other] for name, other in (pair.split("=") for pair in words.split())}


@functools.cache
def recipes(convention: str) -> dict[str, Recipe]:
    """The shapes of a convention and what they are made of."""
    one = {name: MappingProxyType({name: 1.0}) for name in ARKIT}
    short = {re.sub("(Left|Right)$", lambda m: m.group()[0], n): r for n, r in one.items()}
    if convention == "arkit":
        return one
    if convention == "vrm":
        return _read(_VRM)
    if convention == "oculus":
        return _read(_VISEMES)
    if convention == "reallusion":
        return {n: r for n, r in short.items() if n not in ("jawLeft", "jawRight")} | _read(_REALLUSION)
    if convention == "metahuman":
        return {n: r for n, r in short.items() if not n.startswith("mouth")} | _read(_METAHUMAN)
    return _same(_SAME_AS_VRM[convention]) | _read({"vrm0": "", "vroid": _VROID, "mmd": _MMD}[convention])


CONVENTIONS: tuple[str, ...] = ("arkit", "vrm", "oculus", "vroid", "reallusion", "metahuman", "vrm0", "mmd")
"""Names of the families of faces that are known; `recipes(name)` has the shapes of one."""
