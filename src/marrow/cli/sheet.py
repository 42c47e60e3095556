"""`marrow sheet`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from marrow.cli._errors import UsageError, note
from marrow.cli._output import say

if TYPE_CHECKING:
    from marrow.dataset.file_batch import Making
    from marrow.pictures.sheet import Row, SheetPlan

__all__ = ["sheet"]

CALL = "marrow.cli.sheet:sheet_file"


def sheet(
    files: Annotated[list[str], Parameter(negative=())],
    /,
    *,
    output: Annotated[Path, Parameter(name=("--output", "-o"))],
    clip: Annotated[list[str] | None, Parameter(negative=())] = None,
    times: str | None = None,
    columns: int | None = None,
    size: str = "200x240",
    page: str = "1",
    camera: str = "three-quarter",
    view: str | None = None,
    background: str | None = None,
    calibration: Literal["drop", "keep"] = "drop",
    workers: int = 0,
    on: str | None = None,
    force: Annotated[bool, Parameter(name=("--force", "-f"), negative=())] = False,
) -> None:
    """Put clips x times, or many files, into one picture.

    Parameters
    ----------
    files
        Files, folders of them, or names of samples. One file shows its clips, several a picture each.
    output
        The picture to write: .png, .jpg or .webp.
    clip
        Show this clip; may be given several times. '*' shows every clip of every file.
    times
        How many moments of each clip, or which, in seconds: 8, or 0,0.5,1.25.
    columns
        How many pictures are side by side, where each file has one.
    size
        Width and height of one picture, in pixels.
    page
        Which 72 pictures of a character with many clips: 1, 2, ... or all.
    camera
        front, back, side, left, right, three-quarter, top, or degrees around and above: 45,20.
    view
        What to show: skeleton, weights:JOINT, normals, wireframe, ... ; several with +.
    background
        studio, dark, sky, or a colour: #20242a, white, ...
    calibration
        Leave out a T-pose before the motion, as capture software writes it, or keep it.
    workers
        Processes that share the files (0: none, all in this one).
    on
        A Ray cluster that draws them, "ray" or "ray://HOST:10001".
    force
        Replace the output if it exists.
    """
    from marrow.cli._files import is_sample, writable
    from marrow.cli.render import color, progress_bar, size_of
    from marrow.pictures.sheet import all_rows, laid_out, notes_of, planned
    from marrow.rendering.frame import STILL_SUFFIXES

    if output.suffix.lower() not in STILL_SUFFIXES:
        raise UsageError(f"{output}: expected a file that ends in {', '.join(STILL_SUFFIXES)}")
    writable(output, force=force)
    for file in files:
        if not is_sample(file) and not Path(file).exists() and len(files) == 1:
            raise UsageError(f"{file}: no such file or folder")
    clips: Any = "*" if clip and "*" in clip else clip
    plan = planned(
        files, clips=clips, times=_times(times), columns=columns, size=size_of(size), page=_page(page),
        calibration=calibration, options={"camera": camera, "view": view, "background": color(background)},
    )  # fmt: skip
    with progress_bar(output.name) as progress:
        if (workers or on) and not plan.single:
            rows = _shared(plan, workers, on, progress)
        else:
            rows = all_rows(plan, progress)
        frame = laid_out(plan, rows)
    frame.save(output)
    say(f"{output}: {frame.size[0]} x {frame.size[1]}")
    for text in notes_of(rows):
        note(f"{text}: --page shows another one, or all" if text.startswith("clips ") else text)


def _shared(
    plan: SheetPlan, workers: int, on: str | None, progress: Callable[[int, int], None] | None
) -> list[Row]:
    """The rows of all files, each drawn in a process of a pool."""
    from marrow import errors
    from marrow.dataset.file_batch import each_file
    from marrow.pictures.sheet import failed_row

    # Everything but the files goes to the workers as plain data.
    plain = {"clips": plan.clips, "times": plan.times, "size": list(plan.size), "options": plan.options,
             "calibration": plan.calibration}  # fmt: skip
    paths = [str(path) for _, path in plan.things]
    each = [plain | {"label": label} for label, _ in plan.things]
    rows: list[Row] = []
    done = each_file(CALL, paths, each, workers=workers, on=on)
    for k, item in enumerate(done):
        if item.error:
            kind = getattr(errors, item.kind or "MarrowError", None)
            if isinstance(kind, type) and issubclass(kind, errors.GpuError):
                raise kind(item.error)  # no file is to blame: as with one process
            rows.append(failed_row(plan.things[k][0], item.error))
        else:
            rows += [_unpacked(row) for row in item.result]
        if progress is not None:
            progress(k + 1, len(paths))
    return rows


def sheet_file(path: str, making: Making, options: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of one file, as plain data. For `marrow.dataset.file_batch`."""
    from marrow.pictures.sheet import SheetPlan, rows_of

    one = SheetPlan(
        ((options["label"], path),), options["clips"], options["times"], None, tuple(options["size"]), False,
        options["options"], calibration=options["calibration"],
    )  # fmt: skip
    return [
        {
            "title": title,
            "cells": [
                {"label": c.label, "error": c.error, "pixels": None if c.picture is None else c.picture.tobytes(),
                 "shape": None if c.picture is None else list(c.picture.shape)}
                for c in cells
            ],
        }
        for title, cells in rows_of(one, 0)
    ]  # fmt: skip


def _unpacked(row: dict[str, Any]) -> Row:
    import numpy as np

    from marrow.pictures.sheet import Cell

    cells = [
        Cell(
            c["label"],
            None if c["pixels"] is None else np.frombuffer(c["pixels"], np.uint8).reshape(c["shape"]),
            c["error"],
        )
        for c in row["cells"]
    ]
    return row["title"], cells


def _page(text: str) -> int | str:
    if text == "all" or (text.isascii() and text.isdigit()):
        return text if text == "all" else int(text)
    raise UsageError(f"--page: expected a number, or all, got {text!r}")


def _times(text: str | None) -> int | list[float] | None:
    if text is None:
        return None
    try:
        if "," not in text and "." not in text:
            return int(text)
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(
            f"--times: expected a number of moments, or seconds such as 0,0.5,1.25, got {text!r}"
        ) from None
