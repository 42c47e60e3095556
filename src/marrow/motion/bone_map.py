"""`BoneMap`: which joints of one skeleton move which of another, chain by chain; as a table and as JSON.

A chain pairs joints of the source with joints of the target, from the body outwards. Chains of equal length go joint by
joint; otherwise turning is handed on by share of length. A map can be shown, saved, edited and used again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from marrow.errors import MarrowError, UnknownNameError, WrongTypeError, file_error
from marrow.model import Skeleton
from marrow.model._asset import Replaceable
from marrow.model._validate import set_fields
from marrow.motion.chain_cycles import turned_round, without_circles
from marrow.motion.detached_feet import body_of, detached_feet
from marrow.motion.joint_names import bare
from marrow.motion.rig import FINGERS, SIDES, Rig
from marrow.motion.tree import is_above
from marrow.printing import one_line

__all__ = ["BoneMap", "ChainPair", "RetargetError", "as_map", "known_map", "map_bones", "same_names"]

FORMAT = "marrow bone map"
PARTS = (
    "root", "hips", "pelvis", "spine", "head",
    *(f"{side}_{part}" for side in SIDES for part in ("shoulder", "arm", "leg", "toes", *FINGERS)),
)  # fmt: skip

BODY = {"hips", "left_leg", "right_leg", "left_arm", "right_arm"}
"""Chains that a map of a body must have; with any of them it is one."""


class RetargetError(MarrowError, ValueError):
    """Motion cannot be put on a character; the message says what is in the way."""


@dataclass(frozen=True, slots=True)
class ChainPair(Replaceable):
    """Joints of the source and of the target that are one part of the body."""

    name: str
    source: tuple[int, ...]
    target: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class BoneMap(Replaceable):
    """Pairs of chains between two skeletons, and what was not certain about them (`notes`)."""

    source: Skeleton
    target: Skeleton
    chains: tuple[ChainPair, ...]
    notes: tuple[str, ...] = ()
    humanoid: bool = True

    def __post_init__(self) -> None:
        _check(self)

    def __getitem__(self, name: str) -> ChainPair:
        for chain in self.chains:
            if chain.name == name:
                return chain
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return any(chain.name == name for chain in self.chains)

    def __iter__(self) -> Iterator[ChainPair]:
        return iter(self.chains)

    def __len__(self) -> int:
        return len(self.chains)

    @property
    def unmapped(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Joints of the source and of the target that are in no chain, by name."""
        used = {j for c in self.chains for j in c.source}, {j for c in self.chains for j in c.target}
        return tuple(  # type: ignore[return-value]
            tuple(name for j, name in enumerate(skeleton.names) if j not in taken)
            for skeleton, taken in zip((self.source, self.target), used)
        )

    def to_json(self) -> str:
        """The map as text, to be edited and read back by `from_json`."""
        chains = {
            c.name: {
                "source": [self.source.names[j] for j in c.source],
                "target": [self.target.names[j] for j in c.target],
            }
            for c in self.chains
        }
        return json.dumps({"format": FORMAT, "version": 1, "chains": chains}, indent=2, ensure_ascii=False)

    def save(self, path: str | Path) -> None:
        """Writes `to_json` to a file, which takes its place when it is whole."""
        target = Path(path)
        part = target.with_name(f".{target.name}.part")
        try:
            part.write_bytes(f"{self.to_json()}\n".encode())
            part.replace(target)
        except OSError as error:
            raise file_error(error, "cannot be written", path) from None
        except UnicodeEncodeError:
            raise RetargetError(f"{path}: the name of a joint is no text that a file can hold") from None

    @classmethod
    def from_json(cls, text: str, source: Skeleton, target: Skeleton, *, place: str = "the map") -> BoneMap:
        """A map from text that `to_json` wrote and a person may have changed."""
        try:
            data = json.loads(text.lstrip("\ufeff"))
        except json.JSONDecodeError as error:
            raise RetargetError(f"{place}: is not JSON: {error}") from None
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise RetargetError(f'{place}: is no bone map; it must have "format": "{FORMAT}"')
        if data.get("version") != 1:
            raise RetargetError(f"{place}: version {data.get('version')!r} is not known here; 1 is")
        chains = data.get("chains")
        if not isinstance(chains, dict) or not chains:
            raise RetargetError(f'{place}: expected "chains" with at least one chain')
        pairs = []
        for name, pair in chains.items():
            if not isinstance(pair, dict):
                raise RetargetError(f'{place}: chain {name!r}: expected {{"source": [...], "target": [...]}}')
            sides = [
                _joints(place, name, side, pair.get(side), skeleton)
                for side, skeleton in (("source", source), ("target", target))
            ]
            pairs.append(ChainPair(name, *sides))
        return cls(source, target, tuple(pairs), (), bool(BODY & set(chains)))

    @classmethod
    def load(cls, path: str | Path, source: Skeleton, target: Skeleton) -> BoneMap:
        """Reads what `save` wrote."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except OSError as error:
            raise file_error(error, "cannot be read", path) from None
        except ValueError as error:
            raise RetargetError(f"{path}: cannot be read: {error}") from None
        return cls.from_json(text, source, target, place=str(path))

    def __str__(self) -> str:
        def joined(skeleton: Skeleton, joints: Sequence[int]) -> str:
            return " ".join(skeleton.names[j] for j in joints)

        rows = [
            [
                one_line(words)
                for words in (c.name, joined(self.source, c.source), joined(self.target, c.target))
            ]
            for c in self.chains
        ]
        widths = [max(len(row[k]) for row in rows) for k in range(2)] if rows else [0, 0]
        lines = [f"{a:<{widths[0]}}  {b:<{widths[1]}}  ->  {c}" for a, b, c in rows]
        return "\n".join(lines + [f"note: {one_line(note)}" for note in self.notes])

    def __repr__(self) -> str:
        return f"BoneMap({len(self.chains)} chains, {sum(len(c.target) for c in self.chains)} joints)"


def _joints(place: str, chain: str, side: str, names: Any, skeleton: Skeleton) -> tuple[int, ...]:
    if isinstance(names, str):
        names = [names]
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        raise RetargetError(f"{place}: chain {chain!r}: {side} must be a list of joint names, got {names!r}")
    try:
        return tuple(skeleton.index(n) for n in names)
    except UnknownNameError as error:
        raise RetargetError(f"{place}: chain {chain!r}: in the {side} {error}") from None


def known_map(
    source: Skeleton, target: Skeleton, chains: tuple[ChainPair, ...], notes: tuple[str, ...], humanoid: bool
) -> BoneMap:
    """A map that was checked before, for the same two skeletons."""
    out = object.__new__(BoneMap)
    set_fields(out, source=source, target=target, chains=chains, notes=notes, humanoid=humanoid)
    return out


def _check(bones: BoneMap) -> None:
    """Every joint once, chains from the body outwards, and never one above another here and below it there."""
    for side, skeleton in (("source", bones.source), ("target", bones.target)):
        seen: dict[int, str] = {}
        for chain in bones.chains:
            joints: tuple[int, ...] = getattr(chain, side)
            if not joints:
                raise RetargetError(f"chain {chain.name!r} has no {side} joints")
            for joint in joints:
                if joint in seen and (side == "target" or seen[joint] != chain.name):
                    raise RetargetError(
                        f"the {side} joint {skeleton.names[joint]!r} is in two chains: {seen[joint]!r} and {chain.name!r}"
                    )
                seen[joint] = chain.name
            for above, below in pairwise(joints):
                if above == below or not is_above(skeleton, above, detached_feet(skeleton).get(below, below)):
                    raise RetargetError(
                        f"chain {chain.name!r} of the {side}: {skeleton.names[below]!r} is not below "
                        f"{skeleton.names[above]!r}; a chain runs from the body outwards"
                    )
    doubtful = [bones.chains[k] for k in turned_round(bones.source, bones.target, bones.chains)]
    for a in doubtful:
        for b in doubtful:
            if (
                is_above(bones.source, a.source[-1], b.source[0])
                and is_above(bones.target, b.target[-1], a.target[0])
                and a is not b
            ):
                raise RetargetError(
                    f"chains {a.name!r} and {b.name!r} run round in a circle: {a.name!r} is above {b.name!r} in the source "
                    "and below it in the target"
                )


def same_names(source: Skeleton, target: Skeleton) -> list[tuple[int, int]]:
    """Pairs of joints with one name: whole names first, then without namespaces, then without regard to case."""
    pairs: list[tuple[int, int]] = []
    taken: set[int] = set()
    tables: list[tuple[Any, dict[str, int]]] = []
    for plain in (str, bare, lambda n: bare(n).lower()):
        table: dict[str, int] = {}
        for j, name in enumerate(target.names):
            table.setdefault(plain(name), j)
        tables.append((plain, table))
    for j, name in enumerate(source.names):
        for plain, table in tables:
            found = table.get(plain(name), -1)
            if found >= 0 and found not in taken:
                pairs.append((j, found))
                taken.add(found)
                break
    return pairs


def map_bones(
    source: Skeleton, target: Skeleton, *, moved: Sequence[int] | None = None, motion: str = "the motion",
    character: str = "the character", bodies: tuple[Rig, Rig] | None = None,
) -> BoneMap:  # fmt: skip
    """The map between two skeletons: part by part for two bodies, by name for anything else.

    `moved` are the joints of the source that the motion moves, `bodies` what is known of both. Bodies that do not go
    together are refused with the reason.
    """
    a, b = bodies or (body_of(source, moves=True), body_of(target, moves=False))
    pairs = same_names(source, target)
    if a.complete and b.complete:
        return _between_bodies(a, b, pairs)
    moving = set(range(len(source)) if moved is None else moved)
    known = {s for s, _ in pairs}
    share = len(moving & known) / len(moving) if moving else 0.0
    if {a.kind, b.kind} == {"quadruped", "humanoid"}:
        four, two = (motion, character) if a.kind == "quadruped" else (character, motion)
        raise RetargetError(
            f"{four} walks on four legs and {two} on two: arms cannot do what front legs do; map the joints yourself where "
            "that is meant (map=)"
        )
    if not (moving & known) and a.kind == b.kind == "other":
        raise RetargetError(
            f"none of the joints that {motion} moves exists in {character}, and no body can be seen in "
            f"{'either' if a.missing and b.missing else 'one of them'}"
        )
    if share < 0.5 and a.kind == b.kind == "quadruped":
        return _between_animals(a, b)
    # Clothes have some of the joints of a body, and hardly any others.
    part = len(pairs) >= 3 and len(pairs) >= 0.8 * len(target) and bool(moving & known)
    if (share < 0.5 and not part) or not pairs:
        _refuse(a, b, motion, character)
    return _by_name(a, b, pairs, moving)


def _refuse(a: Rig, b: Rig, motion: str, character: str) -> None:
    reasons = []
    for rig, who in ((a, motion), (b, character)):
        if rig.missing and (rig.kind == "humanoid" or len(rig.missing) < 8):
            reasons.append(f"{who} has no {', '.join(rig.missing)}")
        elif not rig.complete and rig.kind != "quadruped":
            reasons.append(
                f"{who} shows no body: neither its joint names nor its shape say where hips, spine and limbs are"
            )
        elif rig.kind == "quadruped":
            reasons.append(f"{who} walks on four legs")
    raise RetargetError(
        f"{motion} does not fit {character}: {'; '.join(reasons)}, and fewer than half of the moving "
        "joints have the same names in both (write a map and pass it as map=)"
    )


def _between_bodies(a: Rig, b: Rig, pairs: list[tuple[int, int]]) -> BoneMap:
    chains: list[ChainPair] = []
    for part in PARTS:
        mine, theirs = a.chains.get(part, ()), b.chains.get(part, ())
        if part == "hips" and "pelvis" in a.chains and "pelvis" not in b.chains:
            mine = a.chains["pelvis"]
        if mine and theirs and not any(j in c.source for c in chains for j in mine):
            chains.append(ChainPair(part, mine, theirs))
    chains += _own_chains(a, b, chains) + _twist_pairs(a, b)
    taken_s = {j for c in chains for j in c.source}
    taken_t = {j for c in chains for j in c.target}
    # What is no part of a body (face, props, hair) goes by name; so do twist joints that both have.
    for s, t in pairs:
        fits = _inside(a, s) and _inside(b, t) and a.twists.get(s) == b.twists.get(t)
        if s not in taken_s and t not in taken_t and fits:
            chains.append(ChainPair(a.skeleton.names[s], (s,), (t,)))
            taken_s.add(s)
            taken_t.add(t)
    notes = [*(f"source: {n}" for n in a.notes), *(f"target: {n}" for n in b.notes)]
    return BoneMap(a.skeleton, b.skeleton, without_circles(a.skeleton, b.skeleton, chains), tuple(notes))


def _own_chains(a: Rig, b: Rig, known: list[ChainPair]) -> list[ChainPair]:
    """Chains that are no parts of every body, such as tails, where both have them; joints in other chains stay there."""
    taken = {j for c in known for j in c.source}, {j for c in known for j in c.target}
    return [
        ChainPair(name, a.chains[name], b.chains[name])
        for name in a.chains
        if name not in PARTS
        and name in b.chains
        and not taken[0] & {*a.chains[name]}
        and not taken[1] & {*b.chains[name]}
    ]


def _between_animals(a: Rig, b: Rig) -> BoneMap:
    """Two animals on four legs whose joints have other names: legs, spine and head as their shapes say."""
    names = {"arm": "front_leg", "leg": "hind_leg", "toes": "hind_foot", "shoulder": "shoulder"}
    chains = []
    for part in PARTS:
        mine, theirs = a.chains.get(part, ()), b.chains.get(part, ())
        side, _, limb = part.partition("_")
        if mine and theirs and part != "root":
            chains.append(ChainPair(f"{side}_{names.get(limb, limb)}" if limb else part, mine, theirs))
    chains += _own_chains(a, b, chains)
    note = "both walk on four legs; their joints were matched by shape alone, not by name"
    return BoneMap(a.skeleton, b.skeleton, tuple(chains), (note,), humanoid=False)


def _twist_pairs(a: Rig, b: Rig) -> list[ChainPair]:
    """Twist joints of bones that have as many of them in both bodies, in order."""
    out = []
    for part, bone in sorted({*a.twists.values()} & {*b.twists.values()}):
        mine, theirs = ([j for j, where in r.twists.items() if where == (part, bone)] for r in (a, b))
        if len(mine) == len(theirs):
            side, _, limb = part.partition("_")
            name = f"{side}_{('upper', 'lower')[bone]}_{limb}_twist"
            many = len(mine) > 1
            out += [
                ChainPair(f"{name}_{k + 1}" if many else name, (s,), (t,))
                for k, (s, t) in enumerate(zip(mine, theirs))
            ]
    return out


def _inside(rig: Rig, joint: int) -> bool:
    """Whether a joint hangs from the body (and is no mesh or camera beside it)."""
    return is_above(rig.skeleton, rig.joint("hips"), joint)


def _by_name(a: Rig, b: Rig, pairs: list[tuple[int, int]], moving: set[int]) -> BoneMap:
    chains = [ChainPair(a.skeleton.names[s], (s,), (t,)) for s, t in pairs]
    names: set[str] = set()
    unique = []
    for c in chains:
        if c.name not in names:
            names.add(c.name)
            unique.append(c)
    known = {s for s, _ in pairs}
    lost = [a.skeleton.names[j] for j in sorted(moving) if j not in known]
    notes: tuple[str, ...] = ()
    if lost:
        shown = ", ".join(lost[:8]) + (", ..." if len(lost) > 8 else "")
        notes = (f"{len(lost)} joints do not exist here: {shown}",)
    kept = without_circles(a.skeleton, b.skeleton, unique)
    return BoneMap(a.skeleton, b.skeleton, kept, notes, humanoid=False)


def as_map(value: BoneMap | Mapping[str, Any] | str | Path, source: Skeleton, target: Skeleton) -> BoneMap:
    """A map given as such, as a dictionary, or as the path of a file."""
    if isinstance(value, BoneMap):
        if value.source.names != source.names or value.target.names != target.names:
            raise RetargetError("map: was made for other skeletons")
        return BoneMap(source, target, value.chains, value.notes, value.humanoid)
    if isinstance(value, Mapping):
        try:
            text = json.dumps(value)
        except (TypeError, ValueError) as error:
            raise RetargetError(f"map: {error}") from None
        return BoneMap.from_json(text, source, target)
    if not isinstance(value, (str, Path)):
        raise WrongTypeError(f"map: expected a BoneMap, a dictionary or a path, got {type(value).__name__}")
    return BoneMap.load(value, source, target)
