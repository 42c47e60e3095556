"""`marrow bake`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from marrow.cli._errors import BAD_CALL, BAD_FILE, FINE, UsageError, note, on_terminal, show_error
from marrow.cli._output import say
from marrow.printing import one_line, printable

if TYPE_CHECKING:
    from rich.progress import Progress

    from marrow.cli._baking import BakedMotion

__all__ = ["bake"]

What = Literal["vertices", "joints", "matrices", "rotations", "6d"]


def bake(
    files: Annotated[list[str], Parameter(negative=())],
    /,
    *,
    out: Annotated[Path, Parameter(name=("--out", "-o"))],
    what: Annotated[list[What] | None, Parameter(negative=())] = None,
    clip: Annotated[list[str] | None, Parameter(negative=())] = None,
    rate: float | None = None,
    times: str | None = None,
    scale: float | None = None,
    units: Literal["metres"] | None = None,
    calibration: Literal["drop", "keep"] | None = None,
    axes: str | None = None,
    springs: bool = True,
    workers: int = 0,
    on: str | None = None,
    allow_outside: Annotated[bool, Parameter(negative=())] = False,
    force: Annotated[bool, Parameter(name=("--force", "-f"), negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Write vertices, joint positions or skinning matrices over time, for other tools and for learning.

    Parameters
    ----------
    files
        Files to bake, folders of them, or names of samples.
    out
        An .npz file (several files go below FILE/ in it), or a folder.
    what
        What to write: vertices (T, V, 3), joints (T, J, 3): positions in the model, matrices (T, P, 3, 4) for
        skinning, rotations (T, J, 4): quaternions xyzw against the parent, 6d (T, J, 6): the first two columns of
        those rotations' matrices; may be given several times. joint_names and parents say which joint is which.
    clip
        Bake only the clip of this name; may be given several times.
    rate
        Frames a second (default: the clip's own rate, 30 where it has none).
    times
        Moments in seconds instead of a rate: 0,0.5,1.25
    scale
        Multiply all lengths, for files whose unit is wrong.
    units
        metres: make metres of the lengths of a BVH, whose unit is told by the size of the body.
    calibration
        Leave out a T-pose before the motion, as capture software writes it, or keep it. By default it is kept with a
        note.
    axes
        Write in the axes and units of another program: unreal, unity, blender, d3d, maya, 3dsmax.
    springs
        Let hair and clothes swing that the file has springs for (VRM).
    workers
        For a folder: processes that share the files (0: none, all in this one).
    on
        For a folder: a Ray cluster that does it, "ray" or "ray://HOST:10001".
    allow_outside
        Let a file refer to others outside its own folder.
    force
        Replace what is there.
    json
        Print what was written as JSON: a list with the source, clip, frames and shapes of each, and the files that
        failed.
    """
    from marrow.cli._files import writable
    from marrow.cli._output import print_json
    from marrow.dataset.file_batch import expanded

    moments = _moments(times, rate)
    single = out.suffix.lower() == ".npz"
    if not single and out.suffix and not out.is_dir():
        raise UsageError(f"{out}: writes .npz files, or a folder (a name without a suffix)")
    if single and (workers or on):
        raise UsageError(f"{out}: --workers and --on are for a folder; an .npz is one file")
    writable(out, force=force, folder=not single)
    options = {
        "clip": clip, "rate": rate, "moments": moments, "scale": scale, "units": units,
        "calibration": calibration, "axes": axes, "springs": springs, "allow_outside": allow_outside,
        "fields": list(dict.fromkeys(what or ["vertices"])),
    }  # fmt: skip
    files = expanded(files)
    if single:
        code, written, failed, summary = _into_npz(files, out, options)
    else:
        code, written, failed, summary = _into_folder(files, out, options, workers, on, force)
    if json:
        print_json([*written, *failed])
    else:
        say(f"{out}: {summary}")
    return code


_Baked = tuple[int, list[dict[str, Any]], list[dict[str, Any]], str]


def _into_npz(files: list[str], out: Path, options: dict[str, Any]) -> _Baked:
    from marrow.cli._baking import NpzWriter, opened_motions
    from marrow.dataset.sources import problem_of
    from marrow.errors import FormatError, MarrowError, UnknownNameError

    writer = NpzWriter(out, several=len(files) > 1)
    code, failed = FINE, []
    with writer, _progress() as progress:
        for file in files:
            try:
                if problem := problem_of(file):
                    raise FormatError(problem, path=printable(file))
                character, motions, lines = opened_motions(file, options)
            except MarrowError as error:
                if len(files) == 1:
                    raise
                # One bad file does not cost the others their work.
                show_error(error if not isinstance(error, UnknownNameError) else f"{file}: {error}")
                code = max(code, BAD_CALL if isinstance(error, (UsageError, UnknownNameError)) else BAD_FILE)
                failed.append({"source": printable(file), "error": str(error)})
                continue
            for line in lines:
                note(line)
            writer.begin(file, character, lines)
            for motion in motions:
                _write(writer, motion, progress, f"{Path(file).name}: {motion.name}")
    return code, writer.written, failed, writer.summary()


def _into_folder(
    files: list[str], out: Path, options: dict[str, Any], workers: int, on: str | None, force: bool
) -> _Baked:
    from marrow.cli._baking import write_index
    from marrow.cli._many import failure_code, shown_progress, told
    from marrow.dataset.file_batch import each_file

    counts: dict[str, int] = {}
    each = []
    for file in files:
        stem = Path(file).stem.lower()
        counts[stem] = counts.get(stem, 0) + 1
        each.append(options | {"number": counts[stem]})
    code, written, failed = FINE, [], []
    done = each_file(
        "marrow.cli._baking:bake_file", files, each, out=out, workers=workers, on=on, force=force
    )
    for item in shown_progress(done, len(files)):
        if item.error:
            if len(files) == 1:
                raise told(item)
            show_error(told(item))
            code = max(code, failure_code(item))
            failed.append({"source": item.file, "error": item.error})
        else:
            for line in dict.fromkeys(line for shard in item.result for line in shard.get("notes", ())):
                note(line)
            written += item.result
    write_index(out, written)
    frames = sum(shard["frames"] for shard in written)
    return code, written, failed, f"{len(written)} shard{'s' if len(written) != 1 else ''}, {frames} frames"


def _write(writer: object, motion: BakedMotion, progress: Progress | None, label: str) -> None:
    task = (
        progress.add_task(one_line(label), total=motion.frame_count * len(motion.fields))
        if progress
        else None
    )

    def advance(frames: int) -> None:
        if progress is not None and task is not None:
            progress.advance(task, frames)

    writer.write(motion, advance)  # type: ignore[attr-defined]
    if progress is not None and task is not None:
        progress.remove_task(task)


def _moments(times: str | None, rate: float | None) -> list[float] | None:
    if rate is not None and not 0 < rate < 1e6:
        raise UsageError(f"--rate must be a positive number, got {rate}")
    if times is None:
        return None
    if rate is not None:
        raise UsageError("--rate and --times exclude each other")
    try:
        moments = [float(word) for word in times.replace(",", " ").split()]
    except ValueError:
        raise UsageError(f"--times takes seconds, such as 0,0.5,1.25; got {times!r}") from None
    if not moments or not all(map(math.isfinite, moments)):
        raise UsageError(f"--times takes seconds, such as 0,0.5,1.25; got {times!r}")
    return moments


def _progress() -> Progress | _NoProgress:  # type: ignore[type-arg]
    """A bar on stderr, on a terminal."""
    if not on_terminal():
        return _NoProgress()
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from marrow.cli._console import NameSafeConsole

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:.0f}/{task.total:.0f} frames"),
        TimeRemainingColumn(),
        console=NameSafeConsole(stderr=True),
        transient=True,
    )


class _NoProgress:
    """In place of the bar where nobody is looking."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None
