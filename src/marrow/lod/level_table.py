"""The levels of a character as a table, to read or to print."""

from __future__ import annotations

from marrow.errors import WrongTypeError
from marrow.model import Character, Lod, _validate

__all__ = ["HEADINGS", "millimetres", "rows", "table"]

HEADINGS = (
    "level", "triangles", "vertices", "joints", "influences", "sections", "worst error", "mean error", "screen size",
)  # fmt: skip


def millimetres(metres: float | None) -> str:
    """A length as a person reads it."""
    return (
        "not measured" if metres is None else f"{1000 * metres:.3g} mm" if metres < 1 else f"{metres:.3g} m"
    )


def rows(character: Character) -> list[tuple[str, ...]]:
    """The figures of every level as texts, in the order of `HEADINGS`."""
    if not isinstance(character, Character):
        raise WrongTypeError(f"lod.table: expected a Character, got {_validate.shown(character)}")
    first = character.lod.triangles
    return [_row(k, lod, first) for k, lod in enumerate([character.lod, *(l.lod for l in character.reduced)])]


def _row(number: int, lod: Lod, all_triangles: int) -> tuple[str, ...]:
    share = f" ({100 * lod.triangles / all_triangles:.3g} %)" if number and all_triangles else ""
    relative = lod.relative_error
    worst = millimetres(lod.error) if number else "-"
    if number and relative is not None:
        worst += f" ({100 * relative:.2g} %)"
    return (
        str(number),
        f"{lod.triangles:,}{share}",
        f"{lod.vertices:,}",
        str(lod.joints),
        str(lod.influences),
        str(lod.sections),
        worst,
        millimetres(lod.mean_error) if number else "-",
        "-" if lod.screen_size is None else f"{lod.screen_size:.3g}",
    )


def table(character: Character) -> str:
    """The levels of a character, one a line: what each has and how far it is off over all clips."""
    lines = [HEADINGS, *rows(character)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(HEADINGS))]
    return "\n".join("  ".join(cell.rjust(w) for cell, w in zip(line, widths)) for line in lines)
