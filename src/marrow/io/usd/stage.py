"""Opens a stage, and keeps it inside its folder."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from marrow.errors import FormatError, MissingExtraError
from marrow.io.source import Source
from marrow.report import ReportBuilder

__all__ = ["StageFacts", "beside", "facts_of", "first_line", "opened"]

_SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")


@dataclass(frozen=True, slots=True)
class StageFacts:
    """What holds for the whole stage: its range in time codes, their rate, whether values between samples are
    held."""

    begin: float | None
    end: float | None
    codes_per_second: float
    held: bool

    def seconds(self, code: float) -> float:
        return (code - (self.begin or 0.0)) / self.codes_per_second


@contextlib.contextmanager
def opened(source: Source, report: ReportBuilder) -> Iterator[Any]:
    """The composed stage. What USD itself has to say goes to the report instead of the terminal."""
    try:
        from pxr import Tf, Usd, UsdUtils
    except ImportError:
        raise MissingExtraError("usd-core", "usd", "reading USD files") from None
    path = source.path
    if path.suffix.lower() not in _SUFFIXES:
        raise FormatError(
            "USD needs its own suffix", path=path, remedy=f"rename it to one of {', '.join(_SUFFIXES)}"
        )
    messages = UsdUtils.CoalescingDiagnosticDelegate()
    try:
        stage = Usd.Stage.Open(str(path))
        if stage is None:
            raise FormatError("is not a USD file", path=path)
        _check_layers(stage, source)
        yield stage
    except Tf.ErrorException as error:
        raise FormatError(f"USD could not read it: {first_line(error, path)}", path=path) from None
    finally:
        for message in messages.TakeUncoalescedDiagnostics()[:20]:
            text = str(getattr(message, "commentary", message)).strip().replace("\n", " ")
            report.add("warning", "USD", text[:300])


def facts_of(stage: Any) -> StageFacts:
    """The stage's timing."""
    from pxr import Usd

    rate = float(stage.GetTimeCodesPerSecond()) or 24.0
    held = stage.GetInterpolationType() == Usd.InterpolationTypeHeld
    begin = float(stage.GetStartTimeCode()) if stage.HasAuthoredTimeCodeRange() else None
    end = float(stage.GetEndTimeCode()) if stage.HasAuthoredTimeCodeRange() else None
    if begin is not None and end is not None and not begin <= end:
        begin = end = None
    return StageFacts(begin, end, rate, held)


def _check_layers(stage: Any, source: Source) -> None:
    """Layers come from the folder of the file (the cache needs to know of them, and nothing else may be
    read)."""
    own = source.path.resolve()
    for layer in stage.GetUsedLayers():
        if layer.HasTimeCodesPerSecond() and not 0 < layer.timeCodesPerSecond < 1e9:
            # Time samples of other layers are scaled by it, and USD does not come back from that.
            raise FormatError(
                f"timeCodesPerSecond is {layer.timeCodesPerSecond:g}",
                path=source.path,
                remedy="correct the file",
            )
        if layer.anonymous or not layer.realPath:
            continue
        # A layer inside a package is called package.usdz[inner.usdc].
        real = Path(layer.realPath.split("[", 1)[0]).resolve()
        if real != own:
            source.neighbour(beside(real, own))


def beside(path: Path, own: Path) -> str:
    """A resolved path as a reference from the folder of the file, for `Source.neighbour`."""
    return os.path.relpath(path, own.parent).replace("%", "%25")


def first_line(error: Any, path: Path) -> str:
    """USD's own words, without the path and the names of its internals."""
    first = str(getattr(error.args[0], "commentary", error.args[0])) if error.args else "unknown error"
    text = re.sub(r"pxrInternal_\w+::", "", first.replace(f"{path}:", "line ").strip().replace("\n", " "))
    return text[:300]
