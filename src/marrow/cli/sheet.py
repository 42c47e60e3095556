"""`marrow sheet`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from marrow.cli._errors import UsageError

__all__ = ["sheet"]


def sheet(
    files: Annotated[list[str], Parameter(negative=())],
    /,
    *,
    output: Annotated[Path, Parameter(name=("--output", "-o"))],
    clip: Annotated[list[str] | None, Parameter(negative=())] = None,
    times: str | None = None,
    columns: int | None = None,
    size: str = "200x240",
    camera: str = "three-quarter",
    view: str | None = None,
    background: str | None = None,
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
    camera
        front, back, side, left, right, three-quarter, top, or degrees around and above: 45,20.
    view
        What to show: skeleton, weights:JOINT, normals, wireframe, ... ; several with +.
    background
        studio, dark, sky, or a colour: #20242a, white, ...
    force
        Replace the output if it exists.
    """
    from marrow.cli._files import is_sample, writable
    from marrow.cli.render import color, progress_bar, size_of
    from marrow.rendering.frame import STILL_SUFFIXES
    from marrow.rendering.sheet import contact_sheet

    if output.suffix.lower() not in STILL_SUFFIXES:
        raise UsageError(f"{output}: expected a file that ends in {', '.join(STILL_SUFFIXES)}")
    writable(output, force=force)
    for file in files:
        if not is_sample(file) and not Path(file).exists() and len(files) == 1:
            raise UsageError(f"{file}: no such file or folder")
    clips: Any = "*" if clip and "*" in clip else clip
    with progress_bar(output.name) as progress:
        frame = contact_sheet(
            files, clips=clips, times=_times(times), columns=columns, size=size_of(size), camera=camera, view=view,
            background=color(background), progress=progress,
        )  # fmt: skip
    frame.save(output)
    print(f"{output}: {frame.size[0]} x {frame.size[1]}")


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
