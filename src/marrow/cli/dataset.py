"""`marrow dataset`: build, info, check and show."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from marrow.cli._errors import BAD_FILE, FINE, UsageError, note, on_terminal, show_error, write_over
from marrow.cli._output import say
from marrow.printing import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from marrow.dataset import Dataset, Progress

__all__ = ["build", "check", "features", "info", "show"]

_Names = Annotated[list[str] | None, Parameter(negative=(), consume_multiple=True)]
_Flag = Annotated[bool, Parameter(negative=())]
SHOWN_FAILURES = 20
SHOWN_LEFT_OUT = 3


def build(
    sources: Annotated[list[str], Parameter(negative=())],
    /,
    *,
    out: Annotated[str, Parameter(name=("--out", "-o"))],
    features: _Names = None,
    rate: float = 30.0,
    character: str | None = None,
    window: int | None = None,
    stride: int | None = None,
    mirror: _Flag = False,
    split: Annotated[str, Parameter(allow_leading_hyphen=True)] = "0.8,0.1,0.1",
    split_by: Literal["source", "folder"] = "source",
    clip: _Names = None,
    joints: _Names = None,
    skeletons: Literal["same", "any"] = "same",
    euler_order: str = "zxy",
    contact_height: float | None = None,
    contact_speed: float | None = None,
    scale: float | None = None,
    calibration: Literal["drop", "keep"] = "drop",
    springs: bool = True,
    format: Literal["parquet", "webdataset", "safetensors", "npz", "zarr"] = "parquet",
    compression: Literal["none", "zstd"] = "none",
    shard_mb: float = 8.0,
    workers: int | None = None,
    on: str | None = None,
    allow_outside: _Flag = False,
    force: Annotated[bool, Parameter(name=("--force", "-f"), negative=())] = False,
    json: _Flag = False,
) -> int:
    """Make training data of motion files, or go on where the same command was interrupted.

    Parameters
    ----------
    sources
        Folders, patterns ("mocap/**/*.bvh"), files or URLs.
    out
        The folder or URL to write to. What is finished there and still good is kept.
    features
        What rows hold; `marrow dataset features` lists all. Where nothing is said: rotations root_trajectory positions.
    rate
        Frames a second.
    character
        A file, or the name of a sample, that all motion is retargeted to.
    window
        Frames of a row. Without it a row is a whole clip.
    stride
        Frames from one window to the next (default: one window).
    mirror
        Each clip also as in a mirror, where the rig allows.
    split
        Parts for training, validation and test; each source goes where the hash of its name says.
    split_by
        folder: all files of a folder go to the same split; the folder counts whichever way its files were named.
    clip
        Only clips of these names or patterns.
    joints
        Only joints of these names or patterns; one with a ! before it is left out ("!*_end").
    skeletons
        any: sources may have different joints, and rows their own number of them.
    euler_order
        The axes of rotations_euler.
    contact_height
        A foot is down below this height, in metres (default: 0.05 for a leg of 0.85 m, more for longer ones).
    contact_speed
        ... and slower than this, in metres a second (default: 0.2, likewise).
    scale
        Multiply all lengths. Without it lengths of files that name no unit (BVH) are made metres by the size of the body.
    calibration
        Leave out a T-pose before the motion, as capture software writes it, or keep it.
    springs
        Let hair and clothes swing that the sources have springs for (VRM).
    format
        The files to write.
    compression
        Of parquet and zarr.
    shard_mb
        Megabytes of sources that make one file, about.
    workers
        Local processes (default: one for each processor; 0: none).
    on
        "ray" for the cluster this machine belongs to (or one of its own), "ray://HOST:10001" for another.
    allow_outside
        Let files refer to others outside their own folder.
    force
        Build all anew.
    json
        Print a summary as JSON, and progress as JSON lines on stderr.
    """
    from marrow import dataset
    from marrow.cli._output import print_json

    meter = _Meter(json)
    began = time.perf_counter()
    made = dataset.build(
        sources, out, features=features or dataset.DEFAULT_FEATURES, rate=rate, character=character, window=window,
        stride=stride, mirror=mirror, split=split, split_by=split_by, clips=clip, joints=joints, skeletons=skeletons,
        euler_order=euler_order, contact_height=contact_height, contact_speed=contact_speed, scale=scale,
        calibration=calibration, springs=springs, format=format, compression=compression, shard_mb=shard_mb,
        workers=workers, on=on, allow_outside=allow_outside, force=force, progress=meter.show,
    )  # fmt: skip
    meter.end()
    failed, left_out = [], _LeftOut()
    for source in made.sources():
        left_out.add(source)
        if "error" in source:
            failed.append(source)
    if json:
        facts = {"seconds": time.perf_counter() - began, "errors": failed, "left_out": left_out.clips}
        print_json(_facts(made) | facts)
    else:
        for source in failed[:SHOWN_FAILURES]:
            show_error(f"{source['name']}: {source['error']}")
        if len(failed) > SHOWN_FAILURES:
            note(f"{len(failed) - SHOWN_FAILURES} more failed: marrow dataset info {out} --failed")
        if left_out.clips:
            note(left_out.words(out))
        for line in _about_units(made.sources(), out) if character is None else ():
            note(line)
        if not len(made):
            show_error(f"{out}: has no rows: nothing of {made.manifest.sources:,} sources could be used")
        if meter.last is None:
            note(f"{out}: nothing to do: all is there")
        say(_summary(made))
    return BAD_FILE if failed or not len(made) else FINE


def info(
    path: Annotated[str, Parameter(name="DATASET")],
    /,
    *,
    failed: _Flag = False,
    report: _Flag = False,
    json: _Flag = False,
) -> None:
    """Show what a data set holds.

    Parameters
    ----------
    path
        The folder or URL of a data set.
    failed
        List the sources and clips that could not be used, and why.
    report
        List what is worth knowing of each source and clip.
    json
        Print JSON.
    """
    from marrow import dataset
    from marrow.cli._output import bytes_text, console, print_json

    found = dataset.open(path)
    wanted = [s for s in found.sources() if (failed and _failures(s)) or (report and _lines(s))]
    if json:
        print_json(_facts(found) | ({"listed": wanted} if failed or report else {}))
        return
    from rich.table import Table

    out = console()
    out.print(one_line(_summary(found)))
    table = Table(box=None, header_style="bold cyan")
    for heading in ("field", "type", "shape", ""):
        table.add_column(heading)
    for field in found.schema.fields:
        shape = ", ".join(axis if n is None else f"{n}" for n, axis in zip(field.shape, field.axes))
        table.add_row(field.name, field.dtype.strip("<|"), f"({shape})", field.words)
    for name in found.schema.tables:
        table.add_row(name, "list", "", dataset.FEATURES[name].words)
    out.print(table)
    table = Table(box=None, header_style="bold cyan")
    for heading in ("split", "sources", "rows", "frames", "shards", "size"):
        table.add_column(heading, justify="right")
    for name, part in found.manifest.splits.items():
        size = bytes_text(sum(s.bytes for s in part.shards))
        table.add_row(
            name, *(f"{n:,}" for n in (part.sources, part.rows, part.frames, len(part.shards))), size
        )
    out.print(table)
    for source in wanted:
        for line in _lines(source) if report else _failures(source):
            out.print(one_line(f"{source['name']}: {line}"))


def check(path: Annotated[str, Parameter(name="DATASET")], /, *, json: _Flag = False) -> int:
    """Read every file of a data set: its bytes as the manifest has them, its rows whole and finite.

    Parameters
    ----------
    path
        The folder or URL of a data set.
    json
        Print JSON.
    """
    from marrow import dataset
    from marrow.cli._output import print_json
    from marrow.dataset.verification import problems

    found = dataset.open(path)
    told = list(problems(found))
    if json:
        print_json({"dataset": path, "rows": len(found), "problems": told})
    else:
        for line in told:
            show_error(f"{path}: {line}")
        if told:
            note(f"delete the files named here from {path} and run the same build again: it makes them anew")
        else:
            say(f"{path}: {len(found):,} rows, all as they should be")
    return BAD_FILE if told else FINE


def show(
    path: Annotated[str, Parameter(name="DATASET")],
    /,
    *,
    out: Annotated[Path, Parameter(name=("--out", "-o"))],
    split: Literal["train", "validation", "test"] = "train",
    count: int = 12,
    seed: int = 0,
    character: str | None = None,
    force: Annotated[bool, Parameter(name=("--force", "-f"), negative=())] = False,
) -> None:
    """Draw random samples of a data set on one sheet, a strip of moments each, and when their feet stand.

    Parameters
    ----------
    path
        The folder or URL of a data set with positions (or rotations and translations of all joints).
    out
        The picture to write.
    split
        Which rows to take from.
    count
        How many.
    seed
        Another number, other rows.
    character
        The file, or the name of a sample, whose meshes are shown, where it is no longer found by the name it was built
        with. Rows need the rotations of all its joints.
    force
        Replace the picture if it exists.
    """
    from marrow import dataset
    from marrow.cli._files import writable
    from marrow.cli.render import progress_bar
    from marrow.dataset.film_strips import film_strips, mesh_of
    from marrow.dataset.pictures import contact_sheet
    from marrow.errors import GpuError, MissingExtraError
    from marrow.rendering.frame import STILL_SUFFIXES

    if out.suffix.lower() not in STILL_SUFFIXES:
        raise UsageError(f"{out}: expected a file that ends in {', '.join(STILL_SUFFIXES)}")
    if not 1 <= count <= 500:
        raise UsageError(f"--count: expected 1 to 500, got {count}")
    writable(out, force=force)
    found = dataset.open(path)
    mesh, told = mesh_of(found, character)
    if told:
        note(told)
    sheet: Any
    try:
        with progress_bar(out.name) as progress:
            sheet = film_strips(found[split], count=count, seed=seed, character=mesh, progress=progress)
    except (GpuError, MissingExtraError) as error:
        note(f"stick figures, for the renderer cannot be used here: {error}")
        sheet = contact_sheet(found[split], count=count, seed=seed)
    try:
        sheet.save(out)
    except (OSError, ValueError) as error:
        raise UsageError(f"{out}: {error}") from None
    say(f"{out}: {min(count, len(found[split]))} of {len(found[split]):,} rows of {split}")


def features(*, json: _Flag = False) -> None:
    """List the features that rows can hold.

    Parameters
    ----------
    json
        Print JSON.
    """
    from marrow import dataset
    from marrow.cli._output import console, print_json

    if json:
        print_json({n: {"axes": ["T", *f.axes], "words": f.words} for n, f in dataset.FEATURES.items()})
        return
    from rich.table import Table

    table = Table(box=None, show_header=False)
    for name, feature in dataset.FEATURES.items():
        axes = f"({', '.join(['T', *map(str, feature.axes)])})" if feature.make is not None else "list"
        table.add_row(name, axes, feature.words)
    console().print(table)


def _lines(source: dict[str, Any]) -> list[str]:
    if "error" in source:
        return [source["error"]]
    clips = [f"clip {clip['name']!r}: {line}" for clip in source["clips"] for line in clip["report"]]
    return [*source["report"], *clips]


def _about_units(sources: Iterable[dict[str, Any]], out: str) -> list[str]:
    """A line for the sources that were made metres, and one for those that are not in metres."""
    from marrow.dataset.rows import MADE_METRES, NOT_METRES

    found: dict[str, list[str]] = {MADE_METRES: [], NOT_METRES: []}
    for source in sources:
        for line in source.get("report", ()):
            for words in found:
                if words in line:
                    found[words].append(source["name"])
    return [
        f"{names[0]}{f' and {len(names) - 1:,} more' if len(names) > 1 else ''}: {words}, by the size of the body "
        f"(marrow dataset info {out} --report)"
        for words, names in found.items()
        if names
    ]


def _failures(source: dict[str, Any]) -> list[str]:
    """Why a source, or a clip of it, is not in the rows."""
    if "error" in source:
        return [source["error"]]
    return [f"clip {name!r}: {line}" for name, line in _left_out(source)]


def _left_out(source: dict[str, Any]) -> list[tuple[str, str]]:
    """Clips that were left out, and the line that says why."""
    return [
        (clip["name"], line)
        for clip in source.get("clips", ())
        for line in clip["report"]
        if line.startswith("left out")
    ]


class _LeftOut:
    """How many clips were left out, of how many sources, and why the first few were."""

    def __init__(self) -> None:
        self.clips = self.sources = 0
        self.first: list[str] = []

    def add(self, source: dict[str, Any]) -> None:
        found = _left_out(source)
        self.clips += len({name for name, _ in found})
        self.sources += bool(found)
        room = max(SHOWN_LEFT_OUT - len(self.first), 0)
        self.first += [
            f"{source['name']} ({name}): {line.removeprefix('left out: ')}" for name, line in found[:room]
        ]

    def words(self, out: str) -> str:
        more = f"; all: marrow dataset info {out} --failed" if self.clips > len(self.first) else ""
        count = f"{self.clips:,} clip{'s' * (self.clips > 1)} of {self.sources:,} source{'s' * (self.sources > 1)}"
        return f"{count} left out: {'; '.join(self.first)}{more}"


def _facts(found: Dataset) -> dict[str, Any]:
    import msgspec

    plain: dict[str, Any] = msgspec.to_builtins(found.manifest)
    return {"dataset": found.store.url, "rows": len(found)} | plain


def _summary(found: Dataset) -> str:
    m = found.manifest
    frames = sum(s.frames for s in m.splits.values())
    failed = f", {m.failed:,} failed" if m.failed else ""
    parts = ", ".join(f"{name} {s.rows:,}" for name, s in m.splits.items())
    return (
        f"{found.store.url}: {len(found):,} rows ({parts}), {frames:,} frames at {m.recipe.rate:g} a second, "
        f"of {m.sources:,} sources{failed}"
    )


class _Meter:
    """How far it is, on stderr: one line that is written over on a terminal, else a line now and then."""

    def __init__(self, json: bool) -> None:
        self.json, self.terminal = json, on_terminal() and not json
        self.last: Progress | None = None
        self._next = 0.0

    def show(self, progress: Progress) -> None:
        self.last = progress
        now = time.perf_counter()
        if now < self._next:
            return
        self._next = now + (0.2 if self.terminal else 5.0)
        self._print(progress)

    def end(self) -> None:
        if self.last is not None:
            self._print(self.last)
            if self.terminal:
                print(file=sys.stderr)

    def _print(self, p: Progress) -> None:
        if self.json:
            import json

            line = {
                "done": p.done,
                "sources": p.sources,
                "failed": p.failed,
                "frames": p.frames,
                "seconds": p.seconds,
            }
            print(json.dumps(line | {"seconds_left": p.seconds_left}), file=sys.stderr, flush=True)
            return
        new = p.done - p.kept
        rate = (
            f", {new / p.seconds:.3g} files/s, {p.frames / p.seconds:,.0f} frames/s"
            if new and p.seconds
            else ""
        )
        left = f", {_clock(p.seconds_left)} left" if p.seconds_left and p.done < p.sources else ""
        failed = f", {p.failed} failed" if p.failed else ""
        text = f"{p.done:,}/{p.sources:,} files{rate}{failed}{left}"
        if self.terminal:
            write_over(f"{text:<100}")
        else:
            print(text, file=sys.stderr, flush=True)


def _clock(seconds: float) -> str:
    whole = int(seconds)
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"
