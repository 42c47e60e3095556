"""Every error marrow raises on purpose.

All of them derive from `MarrowError`, so one `except` catches what went wrong with the data or the call and lets
programming errors through. Each message says what was wrong, where, and what to do about it; names from files are in it
as they may be printed.
"""

from __future__ import annotations

import difflib
import errno
import functools
import os
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

from marrow.printing import printable
from marrow.pyodide import ABSENT, IN_BROWSER

__all__ = [
    "DeviceLostError",
    "FormatError",
    "GpuError",
    "GpuMemoryError",
    "InUseError",
    "MarrowError",
    "MissingExtraError",
    "MissingFileError",
    "NoAdapterError",
    "NotEnoughMemoryError",
    "OutOfRangeError",
    "ResourceLimitError",
    "UnknownNameError",
    "ValidationError",
    "WrongTypeError",
]

Call = TypeVar("Call", bound=Callable[..., Any])
TRACEBACK_VARIABLE = "MARROW_TRACEBACK"

DISTRIBUTION = "marrow-engine"
"""What `pip install` calls the package that is imported as `marrow`."""


class MarrowError(Exception):
    """The root of all errors this package raises on purpose."""

    def __str__(self) -> str:
        return printable(super().__str__())


class ValidationError(MarrowError, ValueError):
    """A value has the wrong shape, type or range; the message names the field and what was expected."""


class WrongTypeError(ValidationError, TypeError):
    """A value is no such thing at all: text where a number is expected, a clip where a character is."""


_LISTED = 12
"""Names that an error lists."""


class UnknownNameError(MarrowError, KeyError):
    """A joint, clip, socket, morph or parameter of that name does not exist; the message names the near ones (`near`, or
    those that read alike), or lists what does (`listed`: in other words)."""

    def __init__(
        self,
        kind: str,
        name: object,
        known: Iterable[object],
        near: Iterable[str] = (),
        listed: str = "",
    ) -> None:
        self.kind, self.name, self.known = kind, name, tuple(known)
        self.near, self.listed = tuple(near), listed
        super().__init__(self._text())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.kind, self.name, self.known, self.near, self.listed)

    def _text(self) -> str:
        names = [str(k) for k in self.known]
        close = self.near or _alike(str(self.name), names[:5000])
        text = f"there is no {self.kind} called {self.name!r}"
        if close:
            return f"{text}; did you mean {' or '.join(repr(c) for c in close)}?"
        if self.listed:
            return f"{text}; {self.listed}"
        if not names:
            return f"{text}; there are none"
        shown = ", ".join(names[:_LISTED]) + (f", ... ({len(names)} in all)" if len(names) > _LISTED else "")
        return f"{text}; known: {shown}"

    def __str__(self) -> str:  # KeyError would print the repr of the message
        return printable(self.args[0])


class OutOfRangeError(ValidationError, IndexError):
    """There are not that many joints, clips, tracks or poses; the message says how many there are."""


class InUseError(MarrowError, RuntimeError):
    """An `Animator` is used while it is at work: by another thread, or by a function that it calls itself."""


class FormatError(MarrowError):
    """A file cannot be read or written. Carries the `path`, the `place` inside it and the `remedy`."""

    def __init__(self, message: str, *, path: object = None, place: str = "", remedy: str = "") -> None:
        self.message, self.path, self.place, self.remedy = message, path, place, remedy
        head = f"{path}: " if path is not None else ""
        at = f"{place}: " if place else ""
        tail = f" ({remedy})" if remedy else ""
        super().__init__(f"{head}{at}{message}{tail}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _format_error, (type(self), self.message, self.path, self.place, self.remedy)


class MissingFileError(FormatError, FileNotFoundError):
    """A file or folder is not there, or the folder that it should be written to."""

    def __init__(self, message: str, *, path: object = None, place: str = "", remedy: str = "") -> None:
        super().__init__(message, path=path, place=place, remedy=remedy)
        self.errno, self.strerror, self.filename = errno.ENOENT, os.strerror(errno.ENOENT), str(path)

    def __str__(self) -> str:  # OSError would print its number
        return printable(self.args[0])


class ResourceLimitError(FormatError):
    """A file asks for more time, memory or nodes than a real character needs, and was refused."""


class NotEnoughMemoryError(MarrowError, MemoryError):
    """A result does not fit into the memory there is; the message says how large it would be."""


class MissingExtraError(MarrowError, ImportError):
    """A package is needed and not installed; the message is the `pip install` line that fixes it. `extra` is empty for
    what marrow always needs."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        self.package, self.extra, self.purpose = package, extra, purpose
        super().__init__(f"{purpose} needs the package {package!r}, which {_remedy(package, extra)}")

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str, str]]:
        return type(self), (self.package, self.extra, self.purpose)


def _remedy(package: str, extra: str) -> str:
    wanted = f"{DISTRIBUTION}[{extra}]" if extra else DISTRIBUTION
    if not IN_BROWSER:
        wanted = f"'{wanted}'" if extra else wanted
        return f"is not installed: pip install {wanted}"
    if package in ABSENT:
        return "a browser's Python does not have: do this with marrow on a computer"
    return f"is not installed: import micropip; await micropip.install({wanted!r})"


class GpuError(MarrowError):
    """Something the GPU or its driver refused; the message says what was asked of it."""


class NoAdapterError(GpuError):
    """There is no GPU that marrow can use, not even one in software; the message says what to install."""


class DeviceLostError(GpuError):
    """The GPU was reset, unplugged or given up. What lived in its memory is gone: make a new `gpu.Device`."""


class GpuMemoryError(GpuError, MemoryError):
    """The GPU has not that much memory, or allows no buffer of that size."""


def _alike(name: str, known: list[str]) -> list[str]:
    """Names that read like `name`, best first: with other capitals, without a prefix (`Spine`, `mixamorig:Spine`)."""
    by_word: dict[str, str] = {}
    for one in known:
        for word in (one, one.lower(), re.split(r"[:|/]", one)[-1].lower()):
            by_word.setdefault(word, one)
    close = difflib.get_close_matches(name, by_word, n=3) + difflib.get_close_matches(
        name.lower(), by_word, n=3
    )
    found = dict.fromkeys(by_word[word] for word in close)
    return list(found or _alike_in_part(name.lower(), known))[:3]


def _alike_in_part(name: str, known: list[str]) -> dict[str, None]:
    """Names one of whose words is, or begins, about as `name` does (`Walking_A` for `Wlak`), best first."""
    by_word: dict[str, list[str]] = {}
    if len(name) < 3:
        return {}
    for one in known:
        for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+", one):
            by_word.setdefault(word.lower()[: len(name)], []).append(one)
    close = difflib.get_close_matches(name, by_word, n=3, cutoff=0.7)
    return dict.fromkeys(one for word in close for one in by_word[word])


def file_error(error: OSError, told: str, path: object, *, remedy: str = "") -> FormatError:
    """What the system says about a file, as an error of ours: `told` ("cannot be read") and the reason."""
    kind = MissingFileError if isinstance(error, FileNotFoundError) else FormatError
    return kind(f"{told}: {error.strerror or error}", path=path, remedy=remedy)


def _format_error(
    kind: type[FormatError], message: str, path: object, place: str, remedy: str
) -> FormatError:
    return kind(message, path=path, place=place, remedy=remedy)


def told_at_the_call(function: Call) -> Call:
    """Has a public function raise marrow's own errors as if it saw the mistake itself: their traceback ends at the call,
    and a notebook shows a line instead of a page. Faults inside marrow keep theirs; `MARROW_TRACEBACK=full` keeps all."""

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        __tracebackhide__ = True  # IPython and pytest leave this frame out
        try:
            return function(*arguments, **options)
        except MarrowError as error:
            if os.environ.get(TRACEBACK_VARIABLE) == "full":
                raise
            error.__suppress_context__ = True
            raise error.with_traceback(None)  # noqa: B904  # MARROW_TRACEBACK=full shows the frames inside marrow

    return cast(Call, call)
