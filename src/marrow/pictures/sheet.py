"""`mw.contact_sheet`: clips x times, or many files, in one picture."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from marrow.display.progress import Progress, Step, shown_progress
from marrow.errors import GpuError, MarrowError, ValidationError, told_at_the_call
from marrow.model import _validate
from marrow.model.character import Character
from marrow.motion.calibration import checked_calibration, cut_calibration
from marrow.rendering.frame import Frame

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

__all__ = [
    "Cell",
    "Row",
    "SheetPlan",
    "all_rows",
    "contact_sheet",
    "failed_row",
    "files_in",
    "laid_out",
    "notes_of",
    "page",
    "planned",
    "rows_of",
]

Array = NDArray[Any]
TIMES = 6
PAGE = 72
"""Pictures on a page of a sheet that shows the clips of one character."""
GAP = 4
TEXT = 15
"""Pixels: between the pictures, and of the letters."""
PAPER, INK, FAINT, BAD = (246, 247, 249), (28, 32, 38), (104, 112, 122), (176, 30, 42)
MOST_PIXELS, MOST_PICTURES = 120_000_000, 3000
"""A sheet that is larger does not fit into memory, and no viewer shows it."""


@dataclass(frozen=True)
class Cell:
    """One picture of a sheet, or what kept it from being drawn, and what is written below it."""

    label: str
    picture: Array | None = None
    error: str = ""


Row = tuple[str, list[Cell]]
"""A title and the pictures below it; without pictures it is a note for the end of the sheet."""


@dataclass(frozen=True)
class SheetPlan:
    """What a sheet shows: names and things; the other fields as in `contact_sheet`. `single`: just one thing; `page`: None
    for all of it."""

    things: tuple[tuple[str, Any], ...]
    clips: str | list[str] | None
    times: int | list[float]
    columns: int | None
    size: tuple[int, int]
    single: bool
    options: dict[str, Any]
    page: int | None = None
    calibration: str = "drop"


@told_at_the_call
def contact_sheet(
    things: Any,
    *,
    clips: str | Sequence[str] | None = None,
    times: int | Sequence[float] | None = None,
    columns: int | None = None,
    size: tuple[int, int] = (200, 240),
    page: int | Literal["all"] = 1,
    calibration: str = "drop",
    progress: Progress = None,
    **options: Any,
) -> Frame:
    """One picture of many: the clips of a character from top to bottom, moments of each from left to right; or several
    characters, files or a folder of them, a picture each.

    `clips` chooses clips by name; `"*"` shows every clip of every file. `times` is how many moments of each clip (6, or for
    several things 1), or the moments themselves, in seconds. `size` is that of one picture, `columns` how many are side by
    side. Other `options` are those of `mw.render`. What cannot be read or drawn takes one place, with the reason in it.

    A T-pose before the motion, as capture software writes it, is left out, with a line below the pictures;
    `calibration="keep"` keeps it.

    The clips of one character fill pages of 72 pictures, and the last line of a page says which of them it shows: `page=2`
    is the next one, `page="all"` all on one sheet. `progress(done, total)` is told how far it is; left out, a call that
    takes long shows that by itself, and with False nothing.
    """
    plan = planned(
        things, clips=clips, times=times, columns=columns, size=size, page=page, calibration=calibration, options=options
    )  # fmt: skip
    label = f"sheet of {plan.things[0][0]}" if plan.single else "sheet"
    with shown_progress(label, progress) as step:
        return laid_out(plan, all_rows(plan, step))


def planned(
    things: Any,
    *,
    clips: Any,
    times: Any,
    columns: Any,
    size: Any,
    options: dict[str, Any],
    page: Any = "all",
    calibration: Any = "drop",
) -> SheetPlan:
    """What a sheet is to show, once it is known to make sense; nothing is read yet."""
    many = _things(things)
    clips = _names(clips)
    columns = None if columns is None else _validate.integer("sheet", "columns", columns, low=1)
    single = len(many) == 1
    try:
        width, height = size
    except (TypeError, ValueError):
        raise ValidationError(f"sheet: size: expected (width, height), got {_validate.shown(size)}") from None
    cell = (
        _validate.integer("sheet", "size", width, low=16),
        _validate.integer("sheet", "size", height, low=16),
    )
    wanted = _times(times) if times is not None else (TIMES if single or clips is not None else 1)
    checked_calibration("sheet", calibration)
    return SheetPlan(
        tuple(many), clips, wanted, columns, cell, single, options, _page(page, single), calibration
    )


def _page(page: Any, single: bool) -> int | None:
    """Which page; None for all that there is."""
    if isinstance(page, str):
        if page != "all":
            raise ValidationError(f'sheet: page: expected a number or "all", got {_validate.shown(page)}')
        return None
    number = _validate.integer("sheet", "page", page, low=1)
    if single:
        return number
    if number > 1:
        raise ValidationError(
            "sheet: page: pages are for the clips of one character; several things have one"
        )
    return None


def all_rows(plan: SheetPlan, progress: Step | None) -> list[Row]:
    """The rows of all things of a sheet, one after the other; of a single one `progress` is told clip by clip."""
    rows: list[Row] = []
    for k in range(len(plan.things)):
        rows += rows_of(plan, k, progress if plan.single else None)
        if progress is not None and not plan.single:
            progress(k + 1, len(plan.things))
    return rows


def rows_of(plan: SheetPlan, k: int, step: Step | None = None) -> list[Row]:
    """The rows of one thing of a sheet. One of several that cannot be drawn is one cell, with the reason in it."""
    label, thing = plan.things[k]
    try:
        return _rows_of(plan, thing, "" if plan.single else label, step)
    except Exception as error:  # one bad file costs one cell, also where the fault is marrow's
        if plan.single or isinstance(error, GpuError):
            raise
        text = f"a fault inside marrow: {error!r}"
        if isinstance(error, (MarrowError, MemoryError)):
            text = str(error) if isinstance(error, MarrowError) else "needs more memory than there is"
        return [failed_row(label, text)]


def failed_row(label: str, text: str) -> Row:
    """What is seen of a thing that could not be drawn: what went wrong, without the name that stands below it."""
    head, colon, rest = text.partition(": ")
    return label, [Cell(label, error=rest if colon and head.endswith(label) else text)]


def laid_out(plan: SheetPlan, rows: Sequence[Row]) -> Frame:
    """The sheet of all rows."""
    cell, notes = plan.size, notes_of(rows)
    rows = [row for row in rows if row[1]]
    lonely = all(len(cells) == 1 for _, cells in rows)
    if lonely:  # a picture each: they fill rows of their own
        cells = [cell for _, row in rows for cell in row]
        best = min(len(cells), max(1, round(math.sqrt(len(cells) * cell[1] / cell[0] * 1.6))))
        across = plan.columns or best
        return page([("", cells[i : i + across]) for i in range(0, len(cells), across)], cell, notes)
    return page(rows, cell, notes)


def notes_of(rows: Sequence[Row]) -> list[str]:
    """What stands at the end of a sheet."""
    return [title for title, cells in rows if not cells]


def _names(clips: Any) -> str | list[str] | None:
    if clips is None or isinstance(clips, str):
        return clips
    found = list(_validate.items("sheet", "clips", clips, str))
    if not found:
        raise ValidationError("sheet: clips: the list is empty: there is nothing to draw")
    return found


def _times(times: Any) -> int | list[float]:
    """How many moments, or which."""
    if isinstance(times, (int, np.integer)) and not isinstance(times, bool):
        return _validate.integer("sheet", "times", times, low=1)
    found = np.asarray(_validate.numbers("sheet: times", times), np.float64)
    if found.ndim != 1 or not len(found) or not np.isfinite(found).all() or found.min() < 0:
        raise ValidationError(f"sheet: times: expected how many, or seconds, got {_validate.shown(times)}")
    return [float(time) for time in found]


def files_in(folder: Path) -> list[Path]:
    """The files of a folder that are characters by their suffix; where there are none, those of the folders in it."""
    from marrow.io.registry import FOUND_IN_FOLDERS

    known = FOUND_IN_FOLDERS

    def those(pattern: str) -> list[Path]:
        return sorted(p for p in folder.glob(pattern) if p.suffix.lower() in known and p.is_file())

    found = those("*") or those("**/*")
    if not found:
        raise ValidationError(
            f"{folder}: there is no file in it that marrow reads ({', '.join(sorted(known))})"
        )
    return found


def _things(things: Any) -> list[tuple[str, Any]]:
    """What is to be shown, with a name for each."""
    if isinstance(things, (list, tuple)):
        if not things:
            raise ValidationError("sheet: the list is empty: there is nothing to draw")
        return [pair for thing in things for pair in _things(thing)]
    if isinstance(things, (str, os.PathLike)):
        path = Path(things)
        if path.is_dir():
            return [(str(file.relative_to(path)), file) for file in files_in(path)]
        return [(path.name, things)]
    name = things.name if isinstance(things, Character) else type(things).__name__
    return [(name, things)]


def _rows_of(plan: SheetPlan, thing: Any, label: str, step: Step | None) -> list[Row]:
    """The rows that one thing takes: a title and pictures for each."""
    from marrow.scene.timed_scene import character_of

    clips, times, size, options = plan.clips, plan.times, plan.size, plan.options
    if isinstance(thing, (str, os.PathLike)):
        thing = character_of(thing)
    if not isinstance(thing, Character):
        return [(label, [Cell(label, _drawn(thing, None, [None], size, options)[0])])]
    thing, cut = _cut_poses(thing) if plan.calibration == "drop" else (thing, {})
    each = times if isinstance(times, int) else len(times)
    chosen, notes = _cut(_chosen(thing, clips, plan.single), each, plan.page)
    count = len(chosen) * each
    if count > MOST_PICTURES or count * size[0] * size[1] > MOST_PIXELS:
        raise ValidationError(
            f"sheet: {len(chosen):,} clips make {count:,} pictures of {size[0]} x {size[1]} pixels, more than a sheet has "
            f"({MOST_PICTURES:,}, and {MOST_PIXELS:,} pixels); choose clips (--clip), fewer moments (--times) or a smaller "
            "size"
        )
    rows: list[Row] = []
    for done, name in enumerate(chosen, 1):
        clip = None if name is None else thing.clips[name]
        if clip is None:
            at: list[float | None] = [None]
        elif isinstance(times, int):
            at = [clip.duration * (k + 0.5) / times for k in range(times)]
        else:
            at = list(times)
        title = " ".join(part for part in (label, name or "") if part)
        if clip is not None:
            title += f"  {clip.duration:.2f} s"
        pictures = _drawn(thing, name, at, size, options)
        if len(at) == 1:
            rows.append((title, [Cell(label if clips is None and label else title, pictures[0])]))
        else:
            rows.append((title, [Cell(f"{t:.2f} s", p) for t, p in zip(at, pictures)]))
        if step is not None:
            step(done, len(chosen))
    notes += [f"{label or thing.name}: clip {name!r}: {cut[name]}" for name in chosen if name in cut]
    return [*rows, *((note, []) for note in notes)]


def _cut_poses(character: Character) -> tuple[Character, dict[str, str]]:
    """The character without the calibration poses in its clips, and what is said of each."""
    cut = {clip.name: cut_calibration(clip) for clip in character.clips.values()}
    said = {name: line for name, (_, line) in cut.items() if line is not None}
    return (character.replace(clips=tuple(clip for clip, _ in cut.values())) if said else character), said


def _cut(chosen: list[str | None], each: int, page: int | None) -> tuple[list[str | None], list[str]]:
    """The clips of a page, of which `each` takes so many pictures, and what the page says of the others."""
    most = max(1, PAGE // each)
    if page is None or (page == 1 and len(chosen) <= most):
        return chosen, []
    pages, first = math.ceil(len(chosen) / most), most * (page - 1)
    if page > pages:
        raise ValidationError(
            f"sheet: page: {len(chosen)} clips fill {pages} page{'s' if pages > 1 else ''}, got page {page}"
        )
    shown = chosen[first : first + most]
    return shown, [f"clips {first + 1} to {first + len(shown)} of {len(chosen)}, page {page} of {pages}"]


def _chosen(character: Character, clips: str | Sequence[str] | None, single: bool) -> list[str | None]:
    """Names of the clips to show; None is the rest pose."""
    every = [c.name for c in character.clips.values()]
    if clips is None:
        if single:
            return list(every) or [None]
        moving = [c.name for c in character.clips.values() if c.duration > 0 and not c.additive]
        return [moving[0] if moving else None]
    if clips == "*":
        return list(every) or [None]
    names = [clips] if isinstance(clips, str) else list(clips)
    return [character.clips[name].name for name in names]


def _drawn(
    thing: Any,
    clip: str | None,
    times: Sequence[float | None],
    size: tuple[int, int],
    options: dict[str, Any],
) -> list[Array]:
    """Pictures of one clip, all from as far: the camera sees what it needs in any of them, and follows."""
    from marrow.pictures.picture import render_moments

    return [frame.pixels for frame in render_moments(thing, times, clip=clip, size=size, **options)]


# -- layout ---------------------------------------------------------------------------------------------------------------
def page(rows: Sequence[Row], size: tuple[int, int], notes: Sequence[str] = ()) -> Frame:
    """A picture of all rows, and of `notes` below them; `size` is that of one cell."""
    from PIL import Image, ImageDraw, ImageFont

    width, height = size
    columns = max(len(cells) for _, cells in rows)
    line = TEXT + 7
    titled = [bool(title) and len(cells) > 1 for title, cells in rows]
    tall = [height + line + GAP + (line if t else 0) for t in titled]
    whole = (columns * (width + GAP) + GAP, sum(tall) + GAP + line * len(notes))
    if whole[0] * whole[1] > MOST_PIXELS:
        raise ValidationError(
            f"sheet: it would have {whole[0]} x {whole[1]} pixels; show fewer, or smaller (--size 96x120)"
        )
    paper = Image.new("RGB", whole, PAPER)
    draw = ImageDraw.Draw(paper)
    font: Any = ImageFont.load_default(TEXT)
    small: Any = ImageFont.load_default(TEXT - 2)
    y = GAP
    for (title, cells), has_title, tallness in zip(rows, titled, tall):
        top = y
        if has_title:
            draw.text((GAP + 4, y + 3), _fitted(draw, title, font, whole[0] - 2 * GAP), INK, font)
            top += line
        for k, cell in enumerate(cells):
            x = GAP + k * (width + GAP)
            _place(paper, draw, cell, (x, top), size, small)
            text = _fitted(draw, cell.label, small, width - 6)
            draw.text((x + 4, top + height + 3), text, BAD if cell.error else FAINT, small)
        y += tallness
    for k, note in enumerate(notes):
        draw.text((GAP + 4, y + line * k), _fitted(draw, note, small, whole[0] - 2 * GAP), INK, small)
    pixels = np.dstack([np.asarray(paper), np.full(whole[::-1], 255, np.uint8)])
    return Frame(pixels)


def _place(
    paper: Image, draw: ImageDraw, cell: Cell, at: tuple[int, int], size: tuple[int, int], font: Any
) -> None:
    from PIL import Image

    x, y = at
    if cell.picture is None:
        draw.rectangle(
            (x, y, x + size[0] - 1, y + size[1] - 1), fill=(252, 238, 239), outline=(222, 170, 174)
        )
        lines = _wrapped(draw, cell.error or "nothing to see", font, size[0] - 16)
        most = max(1, (size[1] - 12) // (TEXT + 2))
        if len(lines) > most:
            lines = [*lines[: most - 1], "..."]
        draw.multiline_text((x + 8, y + 7), "\n".join(lines), BAD, font, spacing=3)
        return
    picture = Image.fromarray(np.ascontiguousarray(cell.picture), "RGBA")
    paper.paste(picture, at, picture)


def _fitted(draw: ImageDraw, text: str, font: Any, width: float) -> str:
    """Text that is no wider than that; its end counts more than its middle."""
    if draw.textlength(text, font) <= width:
        return text
    keep = len(text)
    while keep > 4:
        keep -= 1
        short = f"{text[: keep * 2 // 3]}...{text[len(text) - keep // 3 :]}"
        if draw.textlength(short, font) <= width:
            return short
    return "..."


def _wrapped(draw: ImageDraw, text: str, font: Any, width: float) -> list[str]:
    lines, line = [], ""
    for word in text.split():
        while draw.textlength(word, font) > width and len(word) > 4:  # a path: cut it where the line ends
            cut = next(
                n for n in range(len(word), 0, -1) if draw.textlength(word[:n], font) <= width or n == 1
            )
            lines += [line] if line else []
            lines.append(word[:cut])
            line, word = "", word[cut:]
        longer = f"{line} {word}".strip()
        if draw.textlength(longer, font) <= width:
            line = longer
        else:
            lines.append(line)
            line = word
    return [*lines, line] if line else lines
