"""What the name of a joint says: which side it is on, which part of a body it means, whether it is only a helper.

Rigs agree about little: `mixamorig:LeftUpLeg`, `thigh_l`, `Bip01 L Thigh`, `DEF-thigh.L`, `L_Hip`, `lThigh` are one bone. A
name is cut into words; words for sides, prefixes of tools and numbers are set apart; what is left is looked up.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

__all__ = ["JointLabel", "Side", "bare", "labels", "other_side", "words"]

Side = Literal["left", "right", ""]

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LEFT = {"left", "l", "lf", "lft", "gauche", "izquierda", "izquierdo", "izq", "esquerda", "esquerdo", "links"}
_RIGHT = {
    "right",
    "r",
    "rt",
    "rgt",
    "droit",
    "droite",
    "derecha",
    "derecho",
    "der",
    "direita",
    "direito",
    "rechts",
}
# What tools write in front of every name, and what says no more than "this is a joint".
_NOISE = {
    "joint", "jnt", "jt", "bone", "bn", "bip", "mixamorig", "j", "b", "c", "cc", "def", "org", "mch", "rig", "skel",
    "sk", "bind", "skeleton", "armature", "valvebiped", "smpl", "smplx", "character", "bend", "ctr", "valve",
    "biped", "stretch", "x", "m", "center", "centre",
}  # fmt: skip
_HELPERS = {
    "ik", "fk", "ctrl", "control", "controller", "pole", "target", "helper", "socket", "attach", "weapon", "prop",
    "dummy", "null", "corrective", "adj", "muscle", "jiggle", "phys", "physics", "breast", "hair", "skirt", "cloth",
    "tail", "ear", "eye", "eyes", "jaw", "tongue", "teeth", "lip", "brow", "lid", "cheek", "nose", "footsteps", "heel",
    "mesh", "surface", "geo", "camera", "mch", "arme", "pagne", "holster", "bag", "scarf", "cape", "wing", "metacarpal",
    "palm", "chin", "stomach", "face", "gun",
}  # fmt: skip
_ENDS = {"end", "nub", "leaf", "tip", "top", "effector", "site", "endsite"}
_TWISTS = {"twist", "roll"}

ARM_WORDS = {
    "clavicle": "clavicle", "collar": "clavicle", "collarbone": "clavicle", "scapula": "clavicle", "clav": "clavicle",
    "shoulder": "shoulder", "shldr": "shoulder",
    "upperarm": "upper", "uparm": "upper", "armupper": "upper", "armup": "upper", "upparm": "upper", "humerus": "upper",
    "arm": "arm", "bras": "arm", "brazo": "arm", "braco": "arm",
    "forearm": "lower", "lowerarm": "lower", "armlower": "lower", "armlow": "lower", "radius": "lower",
    "loarm": "lower", "lowarm": "lower", "elbow": "lower", "avantbras": "lower",
    "antebrazo": "lower", "antebraco": "lower",
    "hand": "hand", "wrist": "hand", "main": "hand", "mano": "hand", "mao": "hand",
}  # fmt: skip
LEG_WORDS = {
    "upleg": "upper", "upperleg": "upper", "legupper": "upper", "legup": "upper", "thigh": "upper", "femur": "upper",
    "cuisse": "upper", "muslo": "upper",
    "coxa": "upper", "hip": "hip",
    "leg": "leg", "jambe": "leg", "pierna": "leg", "perna": "leg",
    "calf": "lower", "shin": "lower", "leglower": "lower", "leglow": "lower", "tibia": "lower", "lowerleg": "lower",
    "loleg": "lower", "lowleg": "lower", "knee": "lower",
    "genou": "lower", "rodilla": "lower", "joelho": "lower",
    "foot": "foot", "pied": "foot", "pie": "foot", "pe": "foot", "ankle": "ankle", "cheville": "ankle",
    "toe": "toes", "toes": "toes", "toebase": "toes", "ball": "toes", "footthumb": "toes",
}  # fmt: skip
_TORSO = (
    (re.compile(r"(hips?|pelvis|bassin|cog|cadera|quadril|lowerbody)"), "hips"),
    (re.compile(r"(spine|abdomen|chest|upperchest|lowerchest|torso|lowerback|upperback|back|waist|thorax|ribs?|"
                r"ribcage|torse|upperbody|columna|coluna|midback)(lower|upper|mid)?"), "spine"),
    (re.compile(r"(lower|upper)?(neck|cou|cuello|pescoco)(lower|upper)?(base)?"), "neck"),
    (re.compile(r"(head|tete|cabeza|cabeca)(base)?"), "head"),
    (re.compile(r"(root|reference|origin|master|trajectory|global|main|world)(base)?"), "root"),
)  # fmt: skip
_FINGERS = (
    ("thumb", "thumb"), ("pinky", "little"), ("pinkie", "little"), ("little", "little"), ("index", "index"),
    ("middle", "middle"), ("mid", "middle"), ("ring", "ring"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class JointLabel:
    """What a name was found to mean. `part` is a word of the tables above, `thumb` to `little`, or empty."""

    name: str
    side: Side
    group: Literal["torso", "arm", "leg", "finger", ""]
    part: str
    numbers: tuple[str, ...]
    helper: bool
    end: bool
    twist: bool
    deform: bool


def bare(name: str) -> str:
    """The name without a namespace: `mixamorig:Hips`, `rig|Hips` and `Hips` are one."""
    return re.split(r"[:|]", name)[-1]


def words(name: str) -> list[str]:
    """The words of a name in lower case, numbers as words of their own."""
    plain = unicodedata.normalize("NFKD", bare(name)).encode("ascii", "ignore").decode()
    found: list[str] = []
    for word in _WORD.findall(plain):
        low = word.lower()
        for side in ("left", "right"):
            if low.startswith(side) and len(low) > len(side):  # `Lefthand`
                found.append(side)
                low = low[len(side) :]
                break
        if low[:1] in ("l", "r") and (low[1:] in ARM_WORDS or low[1:] in LEG_WORDS):  # `lfemur`, `rhand`
            found.append(low[0])
            low = low[1:]
        found.append(low)
    return found


def labels(names: Sequence[str]) -> list[JointLabel]:
    """What every name of a skeleton says. A first word that most names share is a prefix and says nothing."""
    cut = [words(name) for name in names]
    first = Counter(w[0] for w in cut if len(w) > 1)
    shared = {w for w, n in first.items() if n > 0.6 * len(names) and n > 8 and w not in _LEFT | _RIGHT}
    zero_based = any(w[-2:] == ["finger", "0"] for w in cut)
    found = [_label(name, w, shared, zero_based) for name, w in zip(names, cut)]
    known = {*names}
    # `__UpLeg_L` above `UpLeg_L` (MakeHuman) only leads from one joint to the next.
    return [
        replace(label, helper=True) if name.startswith("__") and name.lstrip("_") in known else label
        for name, label in zip(names, found)
    ]


def _label(name: str, found: list[str], shared: set[str], zero_based: bool) -> JointLabel:
    rest = found[1:] if len(found) > 1 and found[0] in shared else found
    if found is not rest and rest and rest[0].isdigit() and len(rest) > 1:
        rest = rest[1:]  # `Bip01`, `mixamorig1`
    side: Side = ""
    kept: list[str] = []
    numbers: list[str] = []
    after_noise = False
    for word in rest:
        if word in _LEFT or word in _RIGHT:
            side = "left" if word in _LEFT else "right"
        elif word in _NOISE:
            after_noise = True
            continue
        elif word.isdigit():
            if not (after_noise and not kept):
                numbers.append(word)
        else:
            kept.append(word)
        after_noise = False
    flags = set(kept)
    end, twist = bool(flags & _ENDS), bool(flags & _TWISTS)
    helper = bool(flags & _HELPERS)
    core = "".join(w for w in kept if w not in _ENDS and w not in _TWISTS)
    group, part = _meaning(core.removeprefix("base") or core, kept, numbers, side, zero_based)
    if part == "thumb" and "metacarpal" in flags:
        helper = False  # a thumb's first bone that moves
    return JointLabel(name, side, group, part, tuple(numbers), helper, end, twist, "def" in found)  # type: ignore[arg-type]


def _meaning(core: str, kept: list[str], numbers: list[str], side: Side, zero_based: bool) -> tuple[str, str]:
    if side:
        leg = LEG_WORDS.get(core) or LEG_WORDS.get(core.removesuffix("base"))
        if leg:
            return "leg", leg
        arm = ARM_WORDS.get(core)
        if arm:
            return "arm", arm
        if not {"foot", "toe", "toes"} & set(kept):
            for word, finger in _FINGERS:
                if word in core and len(core) <= len(word) + 14:
                    return "finger", finger
            if core == "finger" and numbers:
                return "finger", _numbered_finger(numbers, zero_based)
        elif "toe" in kept or "toes" in kept:
            return "leg", "toes"
        return "", ""
    for pattern, part in _TORSO:
        if pattern.fullmatch(core):
            return "torso", part
    return "", ""


def _numbered_finger(numbers: list[str], zero_based: bool) -> str:
    """`Finger0`, `Finger01` (3ds Max Biped, the thumb is 0) and `finger1-1` (MakeHuman, the thumb is 1)."""
    order = ("thumb", "index", "middle", "ring", "little")
    which = int(numbers[0][0]) - (0 if zero_based or len(numbers) == 1 else 1)
    return order[which] if 0 <= which < 5 else ""


@cache
def _swaps() -> tuple[tuple[re.Pattern[str], str], ...]:
    pairs = [
        ("left", "right"),
        ("Left", "Right"),
        ("LEFT", "RIGHT"),
        ("gauche", "droite"),
        ("Gauche", "Droite"),
    ]
    out: list[tuple[re.Pattern[str], str]] = []
    for a, b in pairs:
        out += [(re.compile(a), b), (re.compile(b), a)]
    # A single letter counts where it stands alone: `hand_l`, `L_Hip`, `hand.L`, `Bip01 L Hand`, `lForeArm`, `LThumb`.
    for a, b in (("l", "r"), ("L", "R")):
        for x, y in ((a, b), (b, a)):
            out.append((re.compile(rf"(?<![A-Za-z]){x}(?![a-z])(?=[^A-Za-z]|$|[A-Z])"), y))
            out.append((re.compile(rf"(?<=[a-z0-9]){x.upper()}(?=[^A-Za-z]|$)"), y.upper()))
    return tuple(out)


def other_side(name: str) -> str:
    """The name of the joint, morph, event or marker on the other side; the same name where it has no side."""
    head = name[: len(name) - len(bare(name))]
    own = bare(name)
    for pattern, word in _swaps():
        changed, count = pattern.subn(word, own, count=1)
        if count:
            return head + changed
    return name
