"""The HIERARCHY of a BVH file: its words turned into joints with offsets and channels."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

from marrow.errors import FormatError, ResourceLimitError
from marrow.report import ReportBuilder

__all__ = ["MAX_JOINTS", "BvhJoint", "parse_hierarchy"]

MAX_JOINTS = 65_535
_MAX_CHANNELS = 32
_KINDS = {
    "position": "position", "pos": "position", "translation": "position", "trans": "position",
    "rotation": "rotation", "rot": "rotation", "scale": "scale", "scaling": "scale",
}  # fmt: skip
"""What follows the axis in the name of a channel."""
Channel = tuple[str, int]
"""What a channel moves, and about or along which axis: `("rotation", 2)` for Zrotation."""


@dataclass(slots=True)
class BvhJoint:
    """One joint or end site as the file has it: lengths in the file's unit."""

    name: str
    parent: int
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    channels: list[Channel] = field(default_factory=list)
    end_sites: int = 0


class _Words:
    """The words of the hierarchy, one after the other, with the place to name in an error."""

    def __init__(self, text: str, path: Path) -> None:
        # Braces are words of their own, wherever a writer put them; lines that begin with # or // are remarks.
        lines = text.splitlines()
        if any(line.lstrip().startswith(("#", "//")) for line in lines):
            text = "\n".join(line for line in lines if not line.lstrip().startswith(("#", "//")))
        self._words = text.replace("{", " { ").replace("}", " } ").split()
        self._next = 0
        self.path = path

    def __bool__(self) -> bool:
        return self._next < len(self._words)

    def take(self, where: str) -> str:
        if not self:
            raise FormatError("the file ends in the middle of the hierarchy", path=self.path, place=where)
        self._next += 1
        return self._words[self._next - 1]

    def name(self, where: str) -> str:
        """Everything up to the opening brace: names may hold spaces."""
        parts: list[str] = []
        while (word := self.take(where)) != "{":
            if word == "}" or len(parts) > 64:
                raise FormatError("has no '{' after its name", path=self.path, place=where)
            parts.append(word)
        return " ".join(parts)

    def number(self, where: str) -> float:
        word = self.take(where)
        try:
            value = float(word)
        except ValueError:
            raise FormatError(
                f"expected a number, found {word[:40]!r}", path=self.path, place=where
            ) from None
        if not math.isfinite(value) or abs(value) > 1e30:
            raise FormatError(f"{word[:40]!r} is not a usable number", path=self.path, place=where)
        return value

    def count(self, where: str) -> int:
        word = self.take(where)
        if not word.isdecimal() or len(word) > 9:
            raise FormatError(f"expected a count, found {word[:40]!r}", path=self.path, place=where)
        return int(word)


def parse_hierarchy(text: str, path: Path, report: ReportBuilder, *, goes_on: bool) -> list[BvhJoint]:
    """The joints in file order, parents before children; End Sites are joints called `<parent>_end`. `goes_on`: whether the
    motion follows, so that braces which are missing at the end are no sign of a file that was cut off."""
    words = _Words(text, path)
    if words.take("HIERARCHY").upper() != "HIERARCHY":
        raise FormatError("does not begin with HIERARCHY: this is not a BVH file", path=path)
    joints: list[BvhJoint] = []
    open_joints: list[int] = []
    while words:
        place = joints[open_joints[-1]].name if open_joints else "HIERARCHY"
        word = words.take(place)
        key = word.upper()
        if key == "}" and open_joints:
            open_joints.pop()
        elif key == "}" and joints:
            report.add("repaired", "HIERARCHY", "has a '}' too many")
        elif key == "OFFSET" and open_joints:
            where = f"OFFSET of {place!r}"
            joints[open_joints[-1]].offset = (words.number(where), words.number(where), words.number(where))
        elif key == "CHANNELS" and open_joints:
            joints[open_joints[-1]].channels = _channels(words, place)
        elif key in ("ROOT", "JOINT", "END", "ENDSITE"):
            if key == "JOINT" and not open_joints:
                report.add(
                    "repaired", "HIERARCHY", "a JOINT stands outside of every ROOT; it was taken as one"
                )
            elif (key == "ROOT") is bool(open_joints):
                raise FormatError(
                    f"{word} is not allowed {'inside a joint' if open_joints else 'outside a ROOT'}",
                    path=path,
                    place=place,
                )
            joints.append(_joint(words, key, joints, open_joints[-1] if open_joints else -1))
            open_joints.append(len(joints) - 1)
            if len(joints) > MAX_JOINTS:
                raise ResourceLimitError(f"has more than {MAX_JOINTS} joints", path=path)
        else:
            raise FormatError(
                f"found {word[:40]!r} where a joint, OFFSET, CHANNELS or '}}' belongs", path=path, place=place
            )
    if open_joints and not goes_on:
        raise FormatError(
            "the file ends in the middle of the hierarchy",
            path=path,
            place=repr(joints[open_joints[-1]].name),
        )
    if open_joints:
        report.add("repaired", "HIERARCHY", f"{len(open_joints)} '}}' are missing at its end")
    if not joints:
        raise FormatError("has no ROOT", path=path)
    return joints


def _joint(words: _Words, key: str, joints: list[BvhJoint], parent: int) -> BvhJoint:
    where = f"joint {len(joints)}"
    name = words.name(where)
    if not key.startswith("END"):
        return BvhJoint(name or f"joint_{len(joints)}", parent)
    above = joints[parent]
    above.end_sites += 1
    suffix = f"_end_{above.end_sites}" if above.end_sites > 1 else "_end"
    return BvhJoint(above.name + suffix, parent)


def _channels(words: _Words, place: str) -> list[Channel]:
    where = f"CHANNELS of {place!r}"
    count = words.count(where)
    if count > _MAX_CHANNELS:
        raise FormatError(f"{count} channels on one joint", path=words.path, place=where)
    channels: list[Channel] = []
    for _ in range(count):
        word = words.take(where)
        axis, kind = word[:1].lower(), _KINDS.get(word[1:].lower(), "")
        if axis not in ("x", "y", "z") or not kind:
            raise FormatError(
                f"{word[:40]!r} is not a channel",
                path=words.path,
                place=where,
                remedy="expected Xposition, Yrotation, Zscale and the like",
            )
        if kind != "rotation" and (kind, "xyz".index(axis)) in channels:
            raise FormatError(f"{word} appears twice", path=words.path, place=where)
        channels.append((kind, "xyz".index(axis)))
    return channels
