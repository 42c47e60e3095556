"""`marrow mend`."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from marrow.cli._errors import FINE, is_quiet, note

if TYPE_CHECKING:
    from marrow.report import Report

__all__ = ["mend"]


def mend(
    source: Annotated[str, Parameter(name="IN")],
    target: Annotated[Path, Parameter(name="OUT")],
    /,
    *,
    skip: Annotated[list[str] | None, Parameter(negative=(), consume_multiple=True)] = None,
    all: Annotated[bool, Parameter(name="--all", negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
    allow_outside: Annotated[bool, Parameter(negative=())] = False,
    force: Annotated[bool, Parameter(name=("--force", "-f"), negative=())] = False,
) -> int:
    """Do what check lists and what is safe.

    Parameters
    ----------
    source
        Any file marrow reads, or the name of a sample.
    target
        The file to write; its suffix says the format.
    skip
        Rules whose findings stay as they are: facing, unused-joints, ... (marrow check prints their names).
    all
        Show everything that is left, also what is only worth knowing.
    json
        Print what was done and what is left as JSON.
    allow_outside
        Let a file refer to others outside its own folder.
    force
        Replace OUT if it exists.
    """
    from marrow.cli._captured import named_take
    from marrow.cli._files import open_character
    from marrow.cli._output import bytes_text, print_json, say
    from marrow.cli._progress import working
    from marrow.cli.convert import writable_or_refused
    from marrow.io import registry, save
    from marrow.io.atomic import replacing
    from marrow.io.lint import mend as mended

    writable_or_refused(target, force)
    with working(f"mend {source}"):
        own = named_take(open_character(source, allow_outside=allow_outside), source)
        character, report = mended(own, skip=[*(skip or ()), *_not_in(target)])
        report = _without_rules(report, set(_not_in(target)) - set(skip or ()))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if any(line.kind == "repaired" for line in report) or not _both_text(source, target):
                save(character, target)
            else:  # written anew, the last digits would be others
                data = Path(source).read_bytes()
                with replacing(target) as file:
                    file.write(data)
    if json:
        lines = [{"kind": line.kind, "place": line.place, "message": line.message} for line in report]
        done = [line for line in lines if line["kind"] == "repaired"]
        print_json(
            {"file": str(target), "mended": done, "left": [line for line in lines if line not in done]}
        )
        return FINE
    if is_quiet():
        return FINE
    for warning in caught:
        note(f"{target}: {warning.message}")
    say(f"{target}: {registry.for_writing(target).name}, {bytes_text(target.stat().st_size)}")
    _print(report, all=all)
    return FINE


def _not_in(target: Path) -> tuple[str, ...]:
    """Rules about what a format cannot have otherwise: a BVH has a key for every joint in every frame."""
    return ("constant-tracks",) if target.suffix.lower() == ".bvh" else ()


def _both_text(source: str, target: Path) -> bool:
    return Path(source).suffix.lower() == target.suffix.lower() == ".bvh"


def _without_rules(report: Report, rules: set[str]) -> Report:
    from marrow.report import Report

    return Report(tuple(line for line in report if not any(f"[{rule}]" in line.message for rule in rules)))


def _print(report: Report, *, all: bool) -> None:
    from rich.text import Text

    from marrow.cli._output import console

    out = console()
    folded = 0
    for line in report:
        if line.kind == "info" and not all:
            folded += 1
            continue
        label, style = ("mended", "green") if line.kind == "repaired" else ("left", "yellow")
        out.print(Text.assemble("  ", (label, style), f" {line.place}: {line.message}"))
    if not len(report):
        out.print(Text("  nothing to mend", "dim"))
    if folded:
        out.print(
            Text(
                f"  {folded} more left that {'is' if folded == 1 else 'are'} only worth knowing (--all)",
                "dim",
            )
        )
