"""The formats marrow knows: how to tell them by their content, and which module reads and writes each.

A module is imported when its format is first met, so that loading a GLB costs nothing of what FBX or USD
need.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from marrow.errors import FormatError

__all__ = ["FORMATS", "FOUND_IN_FOLDERS", "Format", "for_writing", "identify"]

_HEAD = 4096


@dataclass(frozen=True)
class Format:
    """A file format: its `name`, `suffixes`, the `module` that reads it, and the suffixes that one `writes`.

    `matches` looks at the beginning of a file (and at the whole of it where the beginning cannot tell).
    """

    name: str
    suffixes: tuple[str, ...]
    module: str
    writes: tuple[str, ...]
    matches: Callable[[bytes, bytes | memoryview], bool]

    def load_module(self) -> ModuleType:
        return importlib.import_module(self.module)

    def __str__(self) -> str:
        return f"{self.name} ({', '.join(self.suffixes)})"


def _is_marrow(head: bytes, data: bytes | memoryview) -> bool:
    return head[8:].startswith(b'{"__metadata__":{"format":"marrow"')


def _is_gltf(head: bytes, data: bytes | memoryview) -> bool:
    if head.startswith(b"glTF"):
        return True
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return text.startswith(b"{") and re.search(rb'"asset"\s*:\s*\{', data) is not None


def _is_fbx(head: bytes, data: bytes | memoryview) -> bool:
    if head.startswith(b"Kaydara FBX Binary"):
        return True
    # ASCII: a banner in a comment or the header node, whichever the exporter wrote first.
    return (
        re.match(rb"\s*;\s*FBX ", head) is not None
        or re.search(rb"(?m)^\s*FBXHeaderExtension:", head) is not None
    )


def _is_bvh(head: bytes, data: bytes | memoryview) -> bool:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        head = head.decode("utf-16", "replace").encode()
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    while text.startswith((b"#", b"//")):  # remarks
        text = text.partition(b"\n")[2].lstrip()
    return text[:9].upper() == b"HIERARCHY"


def _is_usd(head: bytes, data: bytes | memoryview) -> bool:
    return head.startswith((b"PXR-USDC", b"#usda")) or (
        head.startswith(b"PK\x03\x04") and re.search(rb"\.usd[ac]?", head[:512]) is not None
    )


def _is_smpl(head: bytes, data: bytes | memoryview) -> bool:
    if not head.startswith(b"PK\x03\x04"):
        return False
    from marrow.io.smpl import is_smpl

    return is_smpl(data)


def _is_numbers(head: bytes, data: bytes | memoryview) -> bool:
    return head.startswith((b"\x93NUMPY", b"PathFileType\t", b"PathFileType ", b"PathFileType,")) or (
        head.startswith(b"PK\x03\x04") and re.search(rb"[\w./-]+\.npy", head[:512]) is not None
    )


def _root_element(data: bytes | memoryview) -> bytes:
    """The name of the first element of an XML file; nothing for another file."""
    text = bytes(data[:65536]).removeprefix(b"\xef\xbb\xbf").lstrip()
    while text.startswith((b"<?", b"<!")):  # what may stand before it, passed over piece by piece
        end = b"?>" if text.startswith(b"<?") else b"-->" if text.startswith(b"<!--") else b">"
        if end == b">" and b"[" in text.partition(b">")[0]:
            text = text.partition(b"]")[2]
        text = text.partition(end)[2].lstrip()
    found = re.match(rb"<(\w+)", text)
    return found[1] if found else b""


def _is_urdf(head: bytes, data: bytes | memoryview) -> bool:
    return _root_element(data) == b"robot"


def _is_mjcf(head: bytes, data: bytes | memoryview) -> bool:
    return _root_element(data) == b"mujoco"


def _is_obj(head: bytes, data: bytes | memoryview) -> bool:
    text = head.removeprefix(b"\xef\xbb\xbf")
    return re.match(rb"(?:\s|#[^\n]*\n)*(?:mtllib|usemtl|o|g|v|vt|vn)[ \t]+[^\n]*\n", text) is not None


def _is_ply(head: bytes, data: bytes | memoryview) -> bool:
    return re.match(rb"ply[ \t]*[\r\n]", head) is not None


def _is_never(head: bytes, data: bytes | memoryview) -> bool:
    """For formats that are only written: they hold no character."""
    return False


FORMATS = (
    Format("marrow", (".marrow",), "marrow.io.marrow_file", (".marrow",), _is_marrow),
    Format(
        "glTF",
        (".glb", ".gltf", ".vrm", ".vrma"),
        "marrow.io.gltf",
        (".glb", ".gltf", ".vrm", ".vrma"),
        _is_gltf,
    ),
    Format("FBX", (".fbx",), "marrow.io.fbx", (".fbx",), _is_fbx),
    Format("BVH", (".bvh",), "marrow.io.bvh", (".bvh",), _is_bvh),
    Format("SMPL", (), "marrow.io.smpl", (), _is_smpl),
    Format("OBJ", (".obj",), "marrow.io.surfaces", (".obj",), _is_obj),
    Format("PLY", (".ply",), "marrow.io.surfaces", (".ply",), _is_ply),
    Format("URDF", (".urdf",), "marrow.io.robots.urdf", (), _is_urdf),
    Format("MJCF", (".xml", ".mjcf"), "marrow.io.robots.mjcf", (".xml", ".mjcf"), _is_mjcf),
    Format("joint angles", (), "marrow.io.robots.joint_angles", (".csv", ".npz"), _is_never),
    Format(
        "USD",
        (".usd", ".usda", ".usdc", ".usdz"),
        "marrow.io.usd",
        (".usda", ".usdc", ".usd", ".usdz"),
        _is_usd,
    ),
    Format(
        "motion in numbers",
        (".npy", ".npz", ".json", ".csv", ".trc", ".c3d"),
        "marrow.io.motion_arrays",
        (),
        _is_numbers,
    ),
)
FOUND_IN_FOLDERS = frozenset(s for form in FORMATS for s in form.suffixes) - {
    ".npy", ".npz", ".json", ".csv", ".xml", ".mjcf", ".urdf", ".obj", ".ply",
}  # fmt: skip
"""Suffixes of files that hold characters or motion. Others may hold anything: such a file is named, not found."""


_FOREIGN = (
    (b"Ogawa", ".abc", "an Alembic file, which marrow does not read", "export it as USD or FBX (geometry caches are read)"),
    (b"BLENDER", ".blend", "a Blender file, which Blender alone reads", "save a .glb, or use the add-on (docs/blender.md)"),
    (b"//Maya ASCII", ".ma", "a Maya scene, which Maya alone reads", "export it as FBX or USD"),
)  # fmt: skip
"""What people try: how such a file begins, its suffix, what it is, and the way out."""


def identify(data: bytes | memoryview, path: Path) -> Format:
    """The format of a file by its content; by its suffix where the content says nothing."""
    if not len(data):
        raise FormatError("is empty", path=path)
    head = bytes(data[:_HEAD])
    for begins, suffix, what, remedy in _FOREIGN:
        if head.startswith(begins) or path.suffix.lower() == suffix:
            raise FormatError(f"is {what}", path=path, remedy=remedy)
    for form in FORMATS:
        if form.matches(head, data):
            return form
    for form in FORMATS:
        if path.suffix.lower() in form.suffixes:
            # Its reader knows best what is wrong with it.
            return form
    raise FormatError(
        "is of a format marrow does not know",
        path=path,
        remedy=f"it reads {', '.join(str(f) for f in FORMATS if f.suffixes)}",
    )


def for_writing(path: Path) -> Format:
    """The format a file of that name is written in."""
    suffix = path.suffix.lower()
    for form in FORMATS:
        if suffix in form.writes:
            return form
    known = ", ".join(f"{f.name} ({', '.join(f.writes)})" for f in FORMATS if f.writes)
    what = f"cannot write {suffix} files" if suffix else "has no suffix to tell the format by"
    raise FormatError(what, path=path, remedy=f"marrow writes {known}")
