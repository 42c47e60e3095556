"""`find_rig`: which joints of a skeleton are the hips, the spine, the arms and legs of a body.

Names come first (`joint_names.py`), because they are right when they say anything; the order of joints along a limb settles
words that rigs use differently (a "shoulder" is a collar bone or an upper arm, a "leg" is a thigh or a calf). Where names
say too little, the shape of the tree answers (`structure.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from marrow.model import Skeleton
from marrow.model._derived import derived
from marrow.motion.joint_names import JointLabel, labels
from marrow.motion.tree import common_ancestor, is_above, path_down, path_to_root

__all__ = ["FINGERS", "REQUIRED", "Rig", "find_rig"]

Kind = Literal["humanoid", "quadruped", "other"]
FINGERS = ("thumb", "index", "middle", "ring", "little")
SIDES = ("left", "right")
REQUIRED = (
    "hips", "spine", "head", "left_arm", "right_arm", "left_leg", "right_leg",
)  # fmt: skip
_LIMB_PARTS = {"arm": ("upper arm", "lower arm"), "leg": ("upper leg", "lower leg", "foot")}


@dataclass(frozen=True, eq=False)
class Rig:
    """The parts of a skeleton's body.

    `chains` maps a part (`hips`, `spine`, `head` with the neck before it, `left_arm`: upper arm, lower arm, hand;
    `left_leg`: upper leg, lower leg, foot; `left_shoulder`, `left_toes`, `left_index`, ..., `root`, `pelvis`) to its
    joints, from the body outwards. `twists` maps a twist joint to the part and the bone of it whose turning it shares.
    `missing` says in words what a body needs and this one has not; `notes` say what was not certain.
    """

    skeleton: Skeleton
    kind: Kind
    chains: dict[str, tuple[int, ...]]
    twists: dict[int, tuple[str, int]] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    by: Literal["names", "structure", "map"] = "names"

    def joint(self, part: str, index: int = 0) -> int:
        """One joint of a part, -1 where there is none."""
        chain = self.chains.get(part, ())
        return chain[index] if -len(chain) <= index < len(chain) else -1

    @property
    def complete(self) -> bool:
        return self.kind == "humanoid" and not self.missing


def find_rig(skeleton: Skeleton) -> Rig:
    """The body of a skeleton, found once and kept with it."""
    found: Rig = derived(skeleton, "rig", lambda: _find(skeleton))
    return found


def _find(skeleton: Skeleton) -> Rig:
    if skeleton.bones:
        said = rig_by_bones(skeleton)
        if not said.missing:
            return said
    by_name = _by_names(skeleton)
    if by_name.missing:
        by_name = _in_one_tree(skeleton) or by_name
    if by_name.missing:
        from marrow.motion.structure import rig_by_structure

        by_shape = rig_by_structure(skeleton, by_name)
        return by_shape or replace(by_name, kind="other")
    from marrow.motion.structure import walks_on_four

    if not by_name.missing and walks_on_four(by_name):
        note = "its arms reach the ground and its spine lies level: it walks on four legs"
        return Rig(skeleton, "quadruped", by_name.chains, by_name.twists, (), (note,))
    return by_name


def rig_by_bones(skeleton: Skeleton) -> Rig:
    """The body that `skeleton.bones` names: what a file says of its bones is right."""
    bones = skeleton.bones

    def chain(*names: str) -> tuple[int, ...]:
        found = [bones[name] for name in names if name in bones]
        inside = [j for k, j in enumerate(found) if all(is_above(skeleton, above, j) for above in found[:k])]
        return tuple(inside)

    chains = {
        "hips": chain("hips"),
        "spine": chain("spine", "chest", "upperChest"),
        "head": chain("neck", "head"),
    }
    for side in SIDES:
        chains |= {
            f"{side}_shoulder": chain(f"{side}Shoulder"),
            f"{side}_arm": chain(f"{side}UpperArm", f"{side}LowerArm", f"{side}Hand"),
            f"{side}_leg": chain(f"{side}UpperLeg", f"{side}LowerLeg", f"{side}Foot"),
            f"{side}_toes": chain(f"{side}Toes"),
            f"{side}_thumb": chain(*(f"{side}Thumb{p}" for p in ("Metacarpal", "Proximal", "Distal"))),
        }
        for finger in FINGERS[1:]:
            parts = ("Proximal", "Intermediate", "Distal")
            chains[f"{side}_{finger}"] = chain(*(f"{side}{finger.capitalize()}{p}" for p in parts))
    if chains["hips"]:
        above = path_to_root(skeleton, chains["hips"][0])[1:]
        chains["root"] = (above[-1],) if above else ()
    chains = {name: joints for name, joints in chains.items() if joints}
    twists = _twists(skeleton, labels(skeleton.names), chains)
    return Rig(skeleton, "humanoid", chains, twists, missing_parts(chains), by="map")


def missing_parts(chains: dict[str, tuple[int, ...]]) -> tuple[str, ...]:
    """What a body needs and `chains` has not, in words."""
    out = []
    for part in REQUIRED:
        have = len(chains.get(part, ()))
        side, _, limb = part.partition("_")
        if limb:
            out += [f"{side} {word}" for word in _LIMB_PARTS[limb][have:]]
        elif not have:
            out.append(part)
    return tuple(out)


def _in_one_tree(skeleton: Skeleton) -> Rig | None:
    """The body that the names below one root say, where those of all roots say none: parts of a model that somebody called
    "Head" and "Left_Hand" lie beside the skeleton."""
    if len(skeleton.roots) < 2:
        return None
    trees = (_by_names(skeleton, set(skeleton.descendants(int(j)).tolist())) for j in skeleton.roots)
    whole = [rig for rig in trees if not rig.missing]
    return max(whole, key=lambda rig: sum(map(len, rig.chains.values())), default=None)


def _by_names(skeleton: Skeleton, among: set[int] | None = None) -> Rig:
    found = labels(skeleton.names)
    deform = sum(label.deform and bool(label.part) for label in found) >= 10
    usable = [
        j
        for j, label in enumerate(found)
        if label.part
        and not (label.helper or label.end or label.twist)
        and (label.deform or not deform)
        and (among is None or j in among)
    ]
    chains: dict[str, tuple[int, ...]] = {}
    notes: list[str] = []
    for side in SIDES:
        mine = [j for j in usable if found[j].side == side]
        chains |= _arm(skeleton, found, mine, side)
        chains |= _leg(skeleton, found, mine, side)
        hand = chains.get(f"{side}_arm", ())[2:3]
        if hand:
            chains |= _fingers(skeleton, found, mine, side, hand[0])
    chains |= _trunk(skeleton, found, usable, chains)
    chains = {name: chain for name, chain in chains.items() if chain}
    twists = _twists(skeleton, found, chains)
    return Rig(skeleton, "humanoid", chains, twists, missing_parts(chains), tuple(notes))


def _shallowest(skeleton: Skeleton, joints: list[int]) -> int:
    return min(joints, key=lambda j: (int(skeleton.depth[j]), j), default=-1)


def _below(skeleton: Skeleton, above: int, joints: list[int]) -> list[int]:
    return [j for j in joints if j != above and is_above(skeleton, above, j)]


def _arm(
    skeleton: Skeleton, found: list[JointLabel], mine: list[int], side: str
) -> dict[str, tuple[int, ...]]:
    parts = {p: [j for j in mine if found[j].group == "arm" and found[j].part == p] for p in (
        "clavicle", "shoulder", "upper", "arm", "lower", "hand"
    )}  # fmt: skip
    lower = _shallowest(skeleton, parts["lower"])
    candidates = parts["upper"] or parts["arm"] or parts["shoulder"]
    if lower < 0 and parts["upper"] and parts["arm"]:
        lower = _shallowest(skeleton, _below(skeleton, _shallowest(skeleton, parts["upper"]), parts["arm"]))
    if lower >= 0:
        above = [
            j for j in parts["upper"] + parts["arm"] + parts["shoulder"] if j != lower and is_above(skeleton, j, lower)
        ]  # fmt: skip
        # `shoulder01` above `upperarm01` is a collar bone; `Shoulder` straight above `Elbow` is the upper arm.
        proper = [j for j in above if found[j].part != "shoulder"]
        upper = _shallowest(skeleton, proper or above)
    else:
        upper = _shallowest(skeleton, candidates)
    if upper < 0:
        return {}
    collar = _shallowest(
        skeleton,
        [j for j in parts["clavicle"] + parts["shoulder"] if j != upper and is_above(skeleton, j, upper)],
    )
    hand = _shallowest(skeleton, _below(skeleton, max(lower, upper), parts["hand"]))
    chain = [upper] + ([lower] if lower >= 0 else []) + ([hand] if lower >= 0 and hand >= 0 else [])
    return {f"{side}_shoulder": (collar,) if collar >= 0 else (), f"{side}_arm": tuple(chain)}


def _leg(
    skeleton: Skeleton, found: list[JointLabel], mine: list[int], side: str
) -> dict[str, tuple[int, ...]]:
    parts = {p: [j for j in mine if found[j].group == "leg" and found[j].part == p] for p in (
        "upper", "hip", "leg", "lower", "foot", "ankle", "toes"
    )}  # fmt: skip
    lower = _shallowest(skeleton, parts["lower"])
    if lower < 0:
        tops = parts["upper"] or parts["hip"]
        top = _shallowest(skeleton, tops)
        lower = _shallowest(skeleton, _below(skeleton, top, parts["leg"])) if top >= 0 else -1
    if lower >= 0:
        above = [
            j
            for j in parts["upper"] + parts["hip"] + parts["leg"]
            if j != lower and is_above(skeleton, j, lower)
        ]
        proper = (
            [j for j in above if found[j].part == "upper"]
            or [j for j in above if found[j].part == "leg"]
            or above
        )
        upper = _shallowest(skeleton, proper)
    else:
        upper = _shallowest(skeleton, parts["upper"] or parts["leg"] or parts["hip"])
    if upper < 0:
        return {}
    ankle = _shallowest(skeleton, _below(skeleton, max(lower, upper), parts["ankle"]))
    foot = _shallowest(skeleton, _below(skeleton, max(lower, upper), parts["foot"]))
    toes = parts["toes"]
    if ankle >= 0:
        toes = toes + [j for j in parts["foot"] if is_above(skeleton, ankle, j)]
        foot = ankle
    chain = [upper] + ([lower] if lower >= 0 else []) + ([foot] if lower >= 0 and foot >= 0 else [])
    toe = _shallowest(skeleton, _below(skeleton, foot, toes)) if foot >= 0 else -1
    return {f"{side}_leg": tuple(chain), f"{side}_toes": (toe,) if toe >= 0 else ()}


def _fingers(
    skeleton: Skeleton, found: list[JointLabel], mine: list[int], side: str, hand: int
) -> dict[str, tuple[int, ...]]:
    out = {}
    for finger in FINGERS:
        joints = [j for j in mine if found[j].part == finger and is_above(skeleton, hand, j)]
        first = _shallowest(skeleton, joints)
        if first < 0:
            continue
        chain, own = [first], set(joints)
        while below := [j for j in skeleton.children(chain[-1]) if j in own]:
            chain.append(below[0])
        # A fourth joint with nothing below it is where the fingertip ends, not a bone.
        if len(chain) == 4 and not skeleton.children(chain[-1]):
            chain.pop()
        out[f"{side}_{finger}"] = tuple(chain)
    return out


def _trunk(
    skeleton: Skeleton, found: list[JointLabel], usable: list[int], chains: dict[str, tuple[int, ...]]
) -> dict[str, tuple[int, ...]]:
    torso = [j for j in usable if found[j].group == "torso"]
    named = {p: [j for j in torso if found[j].part == p] for p in ("hips", "spine", "neck", "head", "root")}
    arms = [chains[f"{s}_arm"][0] for s in SIDES if chains.get(f"{s}_arm")]
    legs = [chains[f"{s}_leg"][0] for s in SIDES if chains.get(f"{s}_leg")]
    head = _shallowest(skeleton, named["head"])
    chest = common_ancestor(skeleton, *arms) if len(arms) == 2 else -1
    if head < 0 and chest >= 0:
        # Rigify's head is the last of its spine bones.
        above = [j for j in named["spine"] + named["neck"] if j != chest and is_above(skeleton, chest, j)]
        head = max(above, key=lambda j: (int(skeleton.depth[j]), j), default=-1)
    pelvis = common_ancestor(skeleton, *legs) if len(legs) == 2 else -1
    top = head if head >= 0 else chest
    if pelvis < 0:
        # Legs in trees of their own, or none: the named hips, where they carry the rest.
        pelvis = next((j for j in named["hips"] if top < 0 or is_above(skeleton, j, top)), -1)
    hips = common_ancestor(skeleton, pelvis, top) if pelvis >= 0 and top >= 0 else pelvis
    out: dict[str, tuple[int, ...]] = {"hips": (hips,) if hips >= 0 else ()}
    if pelvis >= 0 and pelvis != hips and hips >= 0:
        out["pelvis"] = (pelvis,)
    if hips >= 0 and top >= 0:
        path = path_down(skeleton, hips, top)
        necks = [j for j in path if found[j].part == "neck"]
        if head >= 0:
            first = (
                path.index(necks[0]) if necks else (path.index(chest) + 1 if chest in path else len(path) - 1)
            )
            first = min(first, len(path) - 1)
            out["spine"], out["head"] = tuple(path[:first]), tuple(path[first:])
        else:
            out["spine"] = tuple(path)
    if hips >= 0:
        above = path_to_root(skeleton, hips)[1:]
        root = next((j for j in reversed(above) if found[j].part == "root"), above[-1] if above else -1)
        out["root"] = (root,) if root >= 0 else ()
    return out


def _twists(
    skeleton: Skeleton, found: list[JointLabel], chains: dict[str, tuple[int, ...]]
) -> dict[int, tuple[str, int]]:
    """Joints beside or inside a limb's bones that only share its turning: twist joints by name, and second segments."""
    taken = {j for chain in chains.values() for j in chain}
    out: dict[int, tuple[str, int]] = {}
    for side in SIDES:
        for limb in ("arm", "leg"):
            chain = chains.get(f"{side}_{limb}", ())
            if len(chain) < 3:
                continue
            for bone in (0, 1):
                inline = path_down(skeleton, chain[bone], chain[bone + 1])[:-1]
                bones = {chain[bone], *inline}
                beside = [
                    j
                    for j, label in enumerate(found)
                    if label.twist and not label.end and int(skeleton.parents[j]) in bones
                ]  # fmt: skip
                for j in (*inline, *beside):
                    if j not in taken:
                        out[j] = (f"{side}_{limb}", bone)
    return out
