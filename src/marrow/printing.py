"""What marrow prints: names come from files, and no file speaks to a terminal.

A joint may be called `\\x1b]0;...`, which sets a window's title, or hold characters that turn the order of a line round.
Whatever is printed goes through `printable`: errors and report lines say it themselves, warnings and log lines are made
by `warn` and `logger`, and the `marrow` command and its workers print through `guarded` streams.
"""

from __future__ import annotations

import contextlib
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TextIO, cast

if TYPE_CHECKING:
    import logging

__all__ = ["CONTROL", "as_text", "guarded", "is_text", "logger", "one_line", "printable", "unguarded", "warn"]

# Control characters but newline and tab; separators of lines; marks and overrides of writing direction, and other
# characters without a width, but those that join and part letters and emoji; halves of surrogate pairs, which is
# what Python makes of the bytes of a file's name that are no UTF-8.
CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\ud800-\udfff\U000e0000-\U000e007f]"
)


def printable(text: object) -> str:
    """The text with control characters shown as Python writes them (`\\x1b`, `\\u202e`); newlines and tabs stay."""
    return CONTROL.sub(_escaped, str(text))


def one_line(text: object) -> str:
    """The same for a name, which has one line."""
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def is_text(text: str) -> bool:
    """Whether it can be written as UTF-8. Names of files need not: other bytes in them are halves of surrogate pairs."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def as_text(text: str) -> str:
    """The text with replacement characters for what cannot be written as UTF-8."""
    return re.sub("[\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", text)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a file's name
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def warn(message: str) -> None:
    """`warnings.warn` for messages with names in them, told of the line outside marrow that led here."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "marrow":
        level, frame = level + 1, frame.f_back
    warnings.warn(printable(message), stacklevel=level)


def logger(name: str) -> logging.Logger:
    """`logging.getLogger` for marrow's own loggers and those of libraries it runs: their lines, tracebacks too, show
    control characters escaped."""
    import logging

    found = logging.getLogger(name)
    found.addFilter(_filter)  # once, however often it is added
    return found


def _filter(record: logging.LogRecord) -> bool:
    import logging

    record.msg, record.args = printable(record.getMessage()), None
    if record.exc_info and not record.exc_text:
        record.exc_text = printable(logging.Formatter().formatException(record.exc_info))
    return True


class _Guard:
    """A text stream that shows control characters escaped. It is no terminal: whoever styles text for terminals needs
    the stream itself (`unguarded`), and has to see to names himself."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        self.stream.write(printable(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def isatty(self) -> bool:
        return False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def unguarded(stream: TextIO) -> TextIO:
    """The stream behind a guarded one; itself where it is not guarded."""
    return stream.stream if isinstance(stream, _Guard) else stream


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """While the block runs, what is printed on stdout and stderr shows control characters escaped, and letters that the
    stream's encoding does not have."""
    with contextlib.ExitStack() as stack:
        for name, redirect in (
            ("stdout", contextlib.redirect_stdout),
            ("stderr", contextlib.redirect_stderr),
        ):
            stream = getattr(sys, name)
            if stream is None or isinstance(stream, _Guard):
                continue
            errors = getattr(stream, "errors", None)
            if errors and hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
                stack.callback(_restore, stream, errors)
            stack.enter_context(redirect(cast(TextIO, _Guard(stream))))  # type: ignore[operator]
        yield


def _restore(stream: Any, errors: str) -> None:
    with contextlib.suppress(ValueError, OSError):  # closed meanwhile
        stream.reconfigure(errors=errors)
