"""The levels of detail of the samples: chosen once, kept beside their sources, put together whenever they are built.

`python -m samples_modeller.levels` chooses anew, which needs the `[lod]` extra. That is due when the shape of a sample has
changed (its levels do not fit any more), or its clips (its errors were measured over others).
"""

from __future__ import annotations

import sys
from pathlib import Path

from marrow.model import Character
from marrow.report import Report, ReportLine

__all__ = ["FOLDER", "with_levels"]

FOLDER = Path(__file__).parent / "levels_of"
TRIANGLES = (0.3, 0.05, 0.012)
JOINTS = (48, 32, 16)
INFLUENCES = (4, 2, 1)


def with_levels(name: str, character: Character) -> Character:
    """A sample with the levels that were chosen for it; without, and with a line that says so, where they do not fit."""
    from marrow.errors import ValidationError
    from marrow.lod.level_choices import read_choices, with_choices

    try:
        return with_choices(character, read_choices(FOLDER / f"{name}.npz"))
    except (OSError, ValidationError, KeyError) as error:
        line = ReportLine("warning", "levels", f"{error}; python -m samples_modeller.levels makes them")
        return character.replace(report=character.report + Report((line,)))


def choose() -> None:
    """Chooses the levels of all samples."""
    from marrow.lod.builder import build
    from marrow.lod.level_choices import chosen, write_choices
    from marrow.lod.level_table import table
    from samples_modeller import character, reptile

    FOLDER.mkdir(exist_ok=True)
    for name, make in {"mannequin": character.build, "lizard": reptile.build}.items():
        plain = make()
        counts = [min(n, len(plain.skeleton)) for n in JOINTS]
        built = build(plain, TRIANGLES, joints=counts, influences=INFLUENCES)
        write_choices(chosen(plain, built), FOLDER / f"{name}.npz")
        print(f"{name}\n{table(built)}", file=sys.stderr)


if __name__ == "__main__":
    choose()
