"""Running contests and showing what came out: a table for people, a dictionary for programs."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from typing import Any

from marrow.bench.harness import Contest, Result

__all__ = ["as_markdown", "machine", "run_all", "show", "show_measurements"]


AGAINST = "time against marrow (medians)"
INSTRUCTIONS = {"v3": "AVX2", "v4": "AVX-512"}
"""What the levels of kernels are made of."""


def machine() -> dict[str, str]:
    """What the numbers were measured on."""
    import numpy

    from marrow._version import __version__
    from marrow.kernels.backend import backend

    level, model = backend().name, platform.processor()
    try:
        with open("/proc/cpuinfo") as file:
            model = next(
                (line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), model
            )
    except OSError:
        pass
    return {
        "marrow": __version__,
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "kernels": level + (f" ({INSTRUCTIONS[level]})" if level in INSTRUCTIONS else ""),
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": f"{model}, {os.cpu_count()} cores",
    }


def run_all(contests: Iterable[Contest], seconds: float) -> list[dict[str, Any]]:
    """Runs every contest; each becomes a dictionary with its rows, ratios and whether its goals were met."""
    return [_summary(contest, contest.run(seconds)) for contest in contests]


def _summary(contest: Contest, results: list[Result]) -> dict[str, Any]:
    marrow = results[0]
    rows = []
    for r in results:
        row: dict[str, Any] = {
            "name": r.name,
            "best": r.best / contest.units,
            "median": r.median / contest.units,
            "runs": r.runs,
            "times_marrow": r.best / marrow.best,
        }
        if r.name in contest.goals:
            row["goal"] = 1 / contest.goals[r.name]
            row["met"] = marrow.best <= contest.goals[r.name] * r.best
        rows.append(row)
    if contest.goal is not None:
        rows[0]["goal_seconds"] = contest.goal
        rows[0]["met"] = marrow.best / contest.units <= contest.goal
    return {"title": contest.title, "unit": contest.unit, "rows": rows, "notes": contest.notes}


def in_words(seconds: float) -> str:
    """A duration with a unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def _ratio(contest: dict[str, Any], row: dict[str, Any]) -> str:
    """The time of an entry as so many times marrow's: best against best, and median against median."""
    return f"{row['times_marrow']:.2f}x ({row['median'] / contest['rows'][0]['median']:.2f}x)"


def _goal(row: dict[str, Any]) -> str:
    if "goal_seconds" in row:
        return f"at most {in_words(row['goal_seconds'])}"
    return f"at least {row['goal']:.3g}x" if "goal" in row else ""


def as_markdown(results: list[dict[str, Any]], measurements: dict[str, Any], about: dict[str, str]) -> str:
    """The same as text for the documentation, with what it was measured on: the `machine()` of the process that ran."""
    lines = [f"| | best | median | {AGAINST} | goal | |", "| --- | --: | --: | --: | --: | --- |"]
    for contest in results:
        lines.append(f"| **{contest['title']}**, per {contest['unit']} | | | | | |")
        for row in contest["rows"]:
            met = {True: "met", False: "missed"}.get(row.get("met"), "")  # type: ignore[arg-type]
            lines.append(
                f"| {row['name']} | {in_words(row['best'])} | {in_words(row['median'])} "
                f"| {_ratio(contest, row)} | {_goal(row)} | {met} |"
            )
    lines += ["", *(f"- {line}" for line in _measured(measurements))] if measurements else []
    return "\n".join(["Measured with " + ", ".join(f"{k} {v}" for k, v in about.items()) + ".", "", *lines])


def _measured(measurements: dict[str, Any]) -> list[str]:
    """Measurements as lines: `{name: {size: seconds, bytes, or why there are none}}`."""
    lines = []
    for name, values in measurements.items():
        words = str if name.endswith("bytes") else in_words
        told = (f"{k}: {v if isinstance(v, str) else words(v)}" for k, v in values.items())
        lines.append(f"{name.replace('_', ' ')}: " + ", ".join(told))
    return lines


def show_measurements(measurements: dict[str, Any], console: Any) -> None:
    """What is not a comparison: growth with size, memory, start-up."""
    for line in _measured(measurements):
        console.print(line)


def show(results: list[dict[str, Any]], console: Any) -> None:
    """One table over all contests."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title="marrow bench: best of many interleaved runs, one thread", title_justify="left")
    for column, style in (
        ("", "bold"),
        ("best", ""),
        ("median", ""),
        (AGAINST, ""),
        ("goal", "dim"),
    ):
        table.add_column(column, style=style, justify="left" if not column else "right")
    for contest in results:
        table.add_row(Text.assemble((contest["title"], "cyan"), f", per {contest['unit']}"))
        for row in contest["rows"]:
            goal = Text(_goal(row))
            if "met" in row:
                goal.append("  met" if row["met"] else "  missed", "green" if row["met"] else "red")
            table.add_row(
                f"  {row['name']}",
                in_words(row["best"]),
                in_words(row["median"]),
                _ratio(contest, row),
                goal,
            )
        for note in contest["notes"]:
            table.add_row(Text(f"  {note}", "dim"))
        table.add_section()
    console.print(table)
