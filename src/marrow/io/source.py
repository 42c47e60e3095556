"""What a reader is given: the bytes of the file, its neighbours, and the options of `mw.load`."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from marrow.errors import FormatError, MissingFileError, ResourceLimitError, ValidationError
from marrow.model import _validate

__all__ = ["LoadOptions", "Source", "read_bytes", "watched"]

MAX_FILE_BYTES = 4 << 30
MAX_LEVELS = 6
MOTIONS = (
    "smpl",
    "kimodo",
    "humanml3d",
    "smpl-joints",
    "smpl24-joints",
    "coco",
    "h36m",
    "mediapipe",
    "body25",
    "markers",
)
"""What bare numbers may be, as `motion=` calls it."""
UPS = tuple(sign + axis for axis in "yzx" for sign in ("", "+", "-"))
_seen: ContextVar[dict[Path, bytes] | None] = ContextVar("seen", default=None)


@contextlib.contextmanager
def watched() -> Iterator[dict[Path, bytes]]:
    """Every file that is read as a source, or for one, while the block runs, with its bytes."""
    files: dict[Path, bytes] = {}
    token = _seen.set(files)
    try:
        yield files
    finally:
        _seen.reset(token)


def _note(path: Path, data: bytes) -> bytes:
    files = _seen.get()
    if files is not None:
        files[path.absolute()] = data
    return data


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """The options of `mw.load` that change what a reader makes of a file (so they are part of the cache key).

    `scale` multiplies all lengths on top of the format's own units. `influences` limits influences per
    vertex. `rate` is that of formats that are baked, in frames a second (None: the file's own, at least 30).
    `allow_outside` lets a file refer to others outside its own folder. `motion` says what bare numbers are, `up` which axis
    is up in the file, `scene` which of several scenes is read, `subdivide` how often meshes are subdivided (`"file"`:
    as it says), `variants` which of a USD stage are chosen.
    """

    scale: float | None = None
    influences: int | None = None
    rate: float | None = None
    allow_outside: bool = False
    motion: str | None = None
    up: str | None = None
    scene: str | int | None = None
    subdivide: int | str | None = None
    variants: str | tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("scale", "rate"):
            value = getattr(self, name)
            if value is not None:
                _validate.set_fields(self, **{name: _validate.number("load", name, value, low=0, above=True)})
        if self.influences is not None:
            count = _validate.integer("load", "influences", self.influences, low=1)
            _validate.set_fields(self, influences=count)
        _validate.flag("load", "allow_outside", self.allow_outside)
        if self.scene is not None and not isinstance(self.scene, str):
            _validate.set_fields(self, scene=_validate.integer("load", "scene", self.scene))
        if self.subdivide is not None and self.subdivide != "file":
            levels = _validate.integer("load", "subdivide", self.subdivide, low=0, hint="or 'file'")
            if levels > MAX_LEVELS:
                raise ValidationError(f"load.subdivide: expected at most {MAX_LEVELS}, got {levels}")
            _validate.set_fields(self, subdivide=levels or None)
        given = (self.variants,) if isinstance(self.variants, str) else self.variants
        _validate.set_fields(self, variants=_validate.items("load", "variants", given, str))
        if self.motion is not None:
            _validate.one_of("load", "motion", self.motion, MOTIONS)
        if self.up is not None:
            _validate.set_fields(self, up=_validate.one_of("load", "up", self.up, UPS).lstrip("+"))


@dataclass(slots=True)
class Source:
    """A file being read. `neighbour()` is the only way to other files; it records them for the cache key.

    `references` holds every reference that was asked for with its bytes, None where there was nothing to be
    had.
    """

    path: Path
    data: bytes | memoryview
    allow_outside: bool = False
    neighbours: dict[Path, bytes] = field(default_factory=dict)
    references: dict[str, bytes | None] = field(default_factory=dict)
    alone: bool = False
    identity: tuple[int, ...] | None = None
    """Which file it is and when it was written, where the system tells: device, number, size, times in nanoseconds."""

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, allow_outside: bool = False) -> Source:
        """Reads the file, or says why it cannot be read."""
        p = Path(path)
        data, found = _read(p, path)
        # Elsewhere the last of these says when it was made, and the other can be set back.
        identity = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        return cls(p, _note(p, data), allow_outside, identity=identity if os.name == "posix" else None)

    @classmethod
    def of_bytes(cls, data: bytes, name: str) -> Source:
        """A file that lies in memory: it has a name and no neighbours."""
        return cls(Path(name.replace("\\", "/").rstrip("/").rpartition("/")[2] or "memory"), data, alone=True)

    def neighbour(self, reference: str) -> bytes:
        """The bytes of a file that this one refers to by a relative URI or path.

        Refused when it leads outside the folder of the file (through `..`, an absolute path or a symbolic
        link) unless `allow_outside` is set.
        """
        self.references.setdefault(reference, None)
        if self.alone:
            raise FormatError(f"refers to {reference!r}, which is not in the bytes given", path=self.path)
        text = unquote(reference, errors="surrogateescape").replace("\\", "/")
        if "\0" in text or "://" in text:
            raise FormatError(f"refers to {reference!r}, which is not a file beside it", path=self.path)
        try:
            folder = self.path.parent.resolve()
            target = (folder / text).resolve()
        except (OSError, RuntimeError):  # links that lead in a circle
            raise FormatError(f"refers to {reference!r}, whose links lead nowhere", path=self.path) from None
        if not self.allow_outside and not target.is_relative_to(folder):
            raise FormatError(
                f"refers to {reference!r}, outside its own folder",
                path=self.path,
                remedy="pass allow_outside=True if you trust the file",
            )
        if target not in self.neighbours:
            self.neighbours[target] = _note(target, read_bytes(target, reference))
        self.references[reference] = self.neighbours[target]
        return self.neighbours[target]

    def picture(self, *references: str) -> tuple[bytes | None, str]:
        """The bytes of a texture the file refers to, by one of several references; or None and why.

        Where none can be had, be it missing or out of bounds, a file of the same name beside this one or in
        `textures/` does: models get moved, and exporters write paths of the author's machine.
        """
        reasons = []
        names = [r.replace("\\", "/").rpartition("/")[2] for r in references]
        moved = [candidate for name in names if name for candidate in (name, f"textures/{name}")]
        for reference in dict.fromkeys((*references, *moved)):
            try:
                return self.neighbour(reference), ""
            except FormatError as error:
                reasons.append(error.message)
        missing = "the file is not there"
        return None, next((r for r in reasons[: len(references)] if r != "no such file"), missing)


def read_bytes(path: Path, shown: object) -> bytes:
    """The whole file; every way it can fail is a `FormatError`."""
    return _read(path, shown)[0]


def _read(path: Path, shown: object) -> tuple[bytes, os.stat_result]:
    """The whole file, and what the system said of it before."""
    try:
        found = os.stat(path)
        if stat.S_ISDIR(found.st_mode):
            raise FormatError("is a folder, not a file", path=shown)
        if not stat.S_ISREG(found.st_mode):
            raise FormatError("is not a regular file", path=shown)
        if found.st_size > MAX_FILE_BYTES:
            raise ResourceLimitError(
                f"is {found.st_size} bytes, more than the {MAX_FILE_BYTES} marrow reads", path=shown
            )
        with open(path, "rb", buffering=0) as file:
            found = os.fstat(file.fileno())
            return file.readall(), found
    except FileNotFoundError:
        raise MissingFileError("no such file", path=shown) from None
    except (OSError, ValueError) as error:
        raise FormatError(
            f"cannot be read: {getattr(error, 'strerror', None) or error}", path=shown
        ) from None
