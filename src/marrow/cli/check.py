"""`marrow check`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from marrow.cli._errors import BAD_FILE, FINE, is_quiet, show_error
from marrow.printing import one_line

if TYPE_CHECKING:
    from marrow.dataset.file_batch import Making
    from marrow.io.lint import Finding
    from marrow.model import Character

__all__ = ["check"]

_OF_ONE_RULE = 3
"""Findings of one rule that are shown; a file may have a hundred clips."""
_STYLE = {"error": "bold red", "warning": "yellow", "info": "dim"}


def check(
    files: Annotated[list[str], Parameter(negative=())],
    /,
    *,
    strict: Annotated[bool, Parameter(negative=())] = False,
    all: Annotated[bool, Parameter(name="--all", negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
    html: Path | None = None,
    pictures: Annotated[bool, Parameter(negative="--no-pictures")] = True,
    force: Annotated[bool, Parameter(name=("--force", "-f"), negative=())] = False,
    workers: int = 0,
    on: str | None = None,
    allow_outside: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Find what a technical artist would want to mend before a character ships.

    Parameters
    ----------
    files
        Files to check, folders of them, or names of samples.
    strict
        Let warnings fail the check too.
    all
        Show every finding, also what is only worth knowing.
    json
        Print a JSON list with one object per file; a file that cannot be read has an "error".
    html
        Write a page with everything that was found, and pictures of it.
    pictures
        Draw pictures for that page.
    force
        Replace that page if it exists.
    workers
        Processes that share the files (0: none, all in this one).
    on
        A Ray cluster that does it, "ray" or "ray://HOST:10001".
    allow_outside
        Let a file refer to others outside its own folder.
    """
    from marrow.cli._files import open_character
    from marrow.cli._many import failure_code, shown_progress, told
    from marrow.dataset.file_batch import each_file, expanded
    from marrow.io.lint import Finding

    if html is not None:
        from marrow.cli._files import writable

        writable(html, force=force)
    code = FINE
    found: list[dict[str, Any]] = []
    shown: list[tuple[Character, list[Finding]]] = []
    files = expanded(files)
    options = [{"allow_outside": allow_outside}] * len(files)
    done = each_file("marrow.cli.check:check_file", files, options, workers=workers, on=on)
    for item in shown_progress(done, len(files)):
        if item.error:
            show_error(told(item))
            code = max(code, failure_code(item))
            found.append({"file": item.file, "error": item.error})
            continue
        findings = [Finding(**plain) for plain in item.result]
        failing = {"error", "warning"} if strict else {"error"}
        if any(finding.severity in failing for finding in findings):
            code = max(code, BAD_FILE)
        found.append({"file": item.file, "findings": item.result})
        if html is not None and pictures:
            shown.append((open_character(item.file, allow_outside=allow_outside), findings))
        if not json:
            _print(item.file, findings, all=all)
    if json:
        from marrow.cli._output import print_json

        print_json(found)
    if html is not None:
        from marrow.cli._html import findings_page
        from marrow.io.atomic import replacing

        if shown:
            from marrow.cli._evidence import add_pictures

            add_pictures([entry for entry in found if "findings" in entry], shown)
        with replacing(html) as page:
            page.write(findings_page(found).encode())
    return code


def check_file(path: str, making: Making, options: dict[str, Any]) -> list[dict[str, Any]]:
    """What is found in one file. For `marrow.dataset.file_batch`."""
    from marrow.cli._files import open_character
    from marrow.io.lint import lint

    return [_plain(finding) for finding in lint(open_character(path, **options))]


def _plain(finding: Finding) -> dict[str, Any]:
    out = {
        name: getattr(finding, name) for name in ("rule", "severity", "place", "message", "remedy", "mended")
    }
    return out if finding.time is None else out | {"time": finding.time}


def _print(file: str, findings: list[Finding], *, all: bool) -> None:
    from rich.text import Text

    from marrow.cli._output import console

    out = console()
    counts = {s: sum(f.severity == s for f in findings) for s in ("error", "warning", "info")}
    if is_quiet() and not counts["error"] and not counts["warning"]:
        return
    told = [f"{n} {word}{'s' if n > 1 and word != 'info' else ''}" for word, n in counts.items() if n]
    out.print(Text.assemble((one_line(file), "bold"), f"  {', '.join(told) or 'nothing to mend'}"))
    if is_quiet():  # one line for a file that needs something
        return
    shown, folded = (findings, []) if all else _folded(findings)
    for finding in shown:
        out.print(
            Text.assemble(
                "  ",
                (finding.severity, _STYLE[finding.severity]),
                f" {finding.place}: {finding.message} ",
                (f"[{finding.rule}]", "dim"),
            )
        )
        out.print(Text(f"      {finding.remedy}", "dim"))
    if folded:
        rules = Counter(finding.rule for finding in folded)
        names = ", ".join(f"{rule} {count}" if count > 1 else rule for rule, count in rules.items())
        out.print(Text(f"  {len(folded)} more: {names} (--all shows them)", "dim"))
    mended = sorted({finding.rule for finding in findings if finding.mended})
    if mended:
        out.print(Text(f"  marrow mend does what is safe about {', '.join(mended)}", "dim"))


def _folded(findings: list[Finding]) -> tuple[list[Finding], list[Finding]]:
    """Errors and warnings, the first few of each rule; and the rest, of which it is enough to know that it is there."""
    shown: list[Finding] = []
    folded: list[Finding] = []
    seen: Counter[tuple[str, str]] = Counter()
    for finding in findings:
        kind = (finding.rule, finding.severity)
        seen[kind] += 1
        (folded if finding.severity == "info" or seen[kind] > _OF_ONE_RULE else shown).append(finding)
    return shown, folded
