"""The frame of an FBX file: header, settings, objects, connections and takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow._version import __version__
from marrow.io.fbx.keyed_properties import APPLICATION
from marrow.io.fbx.writing.properties import Properties
from marrow.io.fbx.writing.records import FbxRecord, RecordBlock, TemplateBlock, hole
from marrow.io.fbx.writing.space import FileSpace

__all__ = ["TICKS", "FbxDocument", "Take", "object_title"]

TICKS = 46_186_158_000
"""FBX's units of time in a second."""
_FIRST_ID = 1_000_000
_SEPARATOR = "\0\1"
# The footer belongs to this moment, and the same character gives the same bytes at any time.
_CREATED = "1970-01-01 10:00:00:000"
_FILE_ID = bytes.fromhex("28b32aebb624ccc2bfc8b02aa92bfcf1")
_TIME_MODES = {120: 1, 100: 2, 60: 3, 50: 4, 48: 5, 30: 6, 25: 10, 24: 11, 1000: 12}
_CUSTOM_RATE = 14


def object_title(name: str, kind: str) -> str:
    """The name of an object as files have it: with its kind."""
    return f"{name.replace(chr(0), '')}{_SEPARATOR}{kind}"


@dataclass
class Take:
    """A take by its name, from and to in ticks."""

    name: str
    begin: int
    end: int


@dataclass
class FbxDocument:
    """The objects of a file and what connects them. Objects have numbers in the order they are made."""

    space: FileSpace
    rate: float
    objects: list[FbxRecord | RecordBlock] = field(default_factory=list)
    connections: FbxRecord = field(default_factory=lambda: FbxRecord("Connections"))
    takes: list[Take] = field(default_factory=list)
    _numbers: int = _FIRST_ID

    def numbers(self, count: int) -> int:
        """The first of so many numbers for new objects."""
        first = self._numbers
        self._numbers += count
        return first

    def object(self, kind: str, name: str, what: str, kind_in_name: str = "") -> tuple[int, FbxRecord]:
        """A new object, and its number."""
        number = self.numbers(1)
        record = FbxRecord(kind, number, object_title(name, kind_in_name or kind), what)
        self.objects.append(record)
        return number, record

    def connect(self, child: int, parent: int, prop: str = "") -> None:
        """Puts an object below another (0: the scene), or to a property of it."""
        if prop:
            self.connections.leaf(b"C", "OP", child, parent, prop)
        else:
            self.connections.leaf(b"C", "OO", child, parent)

    def connect_all(self, children: NDArray[Any], parents: NDArray[Any], prop: str = "") -> None:
        """Puts each of many objects below another, or to a property of it."""
        end = (prop,) if prop else ()
        record = FbxRecord("C", "OP" if prop else "OO", hole("L", 0), hole("L", 1), *end)
        self.connections.children.append(TemplateBlock(record, [children, parents]))

    def records(self) -> list[FbxRecord]:
        """The file's top records."""
        objects = FbxRecord("Objects")
        objects.children = list(self.objects)
        return [
            _header(),
            FbxRecord("FileId", _FILE_ID),
            FbxRecord("CreationTime", _CREATED),
            FbxRecord("Creator", f"{APPLICATION} {__version__}"),
            self._settings(),
            _documents(),
            FbxRecord("References"),
            self._definitions(),
            objects,
            self.connections,
            self._takes(),
        ]

    def _settings(self) -> FbxRecord:
        top = FbxRecord("GlobalSettings")
        top.add("Version", np.int32(1000))
        props = Properties(top)
        space = self.space
        for name, (axis, sign) in (
            ("Up", space.up_axis),
            ("Front", space.front_axis),
            ("Coord", space.side_axis),
        ):
            props.integer(f"{name}Axis", axis)
            props.integer(f"{name}AxisSign", sign)
        props.integer("OriginalUpAxis", space.up_axis[0])
        props.integer("OriginalUpAxisSign", space.up_axis[1])
        props.number("UnitScaleFactor", space.centimetres)
        props.number("OriginalUnitScaleFactor", space.centimetres)
        props.text("DefaultCamera", "Producer Perspective")
        mode = _TIME_MODES.get(self.rate, _CUSTOM_RATE)  # type: ignore[call-overload]
        props.enum("TimeMode", mode)
        props.number("CustomFrameRate", self.rate if mode == _CUSTOM_RATE else -1.0)
        props.time("TimeSpanStart", min((t.begin for t in self.takes), default=0))
        props.time("TimeSpanStop", max((t.end for t in self.takes), default=TICKS))
        return top

    def _definitions(self) -> FbxRecord:
        counts: dict[str, int] = {}
        for record in self.objects:
            many = record.count if isinstance(record, RecordBlock) else 1
            counts[record.name] = counts.get(record.name, 0) + many
        top = FbxRecord("Definitions")
        top.add("Version", np.int32(100))
        top.add("Count", np.int32(1 + sum(counts.values())))
        for kind, count in (("GlobalSettings", 1), *counts.items()):
            top.add("ObjectType", kind).add("Count", np.int32(count))
        return top

    def _takes(self) -> FbxRecord:
        top = FbxRecord("Takes")
        top.add("Current", self.takes[0].name if self.takes else "")
        for take in self.takes:
            one = top.add("Take", take.name)
            one.add("FileName", f"{take.name}.tak")
            one.add("LocalTime", take.begin, take.end)
            one.add("ReferenceTime", take.begin, take.end)
        return top


def _header() -> FbxRecord:
    top = FbxRecord("FBXHeaderExtension")
    top.add("FBXHeaderVersion", np.int32(1003))
    top.add("FBXVersion", np.int32(7400))
    top.add("EncryptionType", np.int32(0))
    stamp = top.add("CreationTimeStamp")
    stamp.add("Version", np.int32(1000))
    when: tuple[tuple[str, int], ...] = (
        ("Year", 1970), ("Month", 1), ("Day", 1), ("Hour", 10), ("Minute", 0), ("Second", 0), ("Millisecond", 0),
    )  # fmt: skip
    for name, value in when:
        stamp.add(name, np.int32(value))
    top.add("Creator", f"{APPLICATION} {__version__}")
    info = top.add("SceneInfo", f"GlobalInfo{_SEPARATOR}SceneInfo", "UserData")
    info.add("Type", "UserData")
    info.add("Version", np.int32(100))
    data = info.add("MetaData")
    data.add("Version", np.int32(100))
    for name in ("Title", "Subject", "Author", "Keywords", "Revision", "Comment"):
        data.add(name, "")
    props = Properties(info)
    values: tuple[tuple[str, Any], ...] = (
        ("ApplicationVendor", APPLICATION), ("ApplicationName", APPLICATION), ("ApplicationVersion", __version__),
    )  # fmt: skip
    for side in ("Original", "LastSaved"):
        for name, value in values:
            props.text(f"{side}|{name}", value)
    return top


def _documents() -> FbxRecord:
    top = FbxRecord("Documents")
    top.add("Count", np.int32(1))
    scene = top.add("Document", _FIRST_ID - 1, "Scene", "Scene")
    props = Properties(scene)
    props.text("ActiveAnimStackName", "")
    scene.add("RootNode", 0)
    return top
