"""docs/motion_pairs.md: figures of `tools/motion_pairs.py` by family, what is refused, the worst pairs, a few pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

DOCS = Path(__file__).resolve().parents[2] / "docs"
Row = dict[str, Any]
LIMITS = {"knee": 1.3, "sink": 12.0, "drift": 5.0, "legs": 5.0, "arms": 5.0}
SEEN = {"knee": 2.0, "sink": 24.0, "drift": 20.0}
"""Faults that everybody sees."""
SHOWN, SHEET = 24, 12
HEAD = "| | pairs | refused | knees | soles deep, mm | drift, mm | legs off, degrees | arms off, degrees | within |"


def within(row: Row) -> bool:
    """Whether knees, soles and plants keep to their limits."""
    return all(row.get(name, 0.0) <= LIMITS[name] for name in ("knee", "sink", "drift"))


def hidden(row: Row) -> bool:
    """Whether everybody sees a fault of which the retargeter's own report says nothing."""
    return not row.get("told", ["?"]) and any(row.get(name, 0.0) > most for name, most in SEEN.items())


def explained(row: Row) -> bool:
    """Whether the retargeter's own report names what is outside a limit."""
    words = {"knee": "knees against", "sink": "in the ground", "drift": "soles slide"}
    said = row.get("told", [])
    over = [word for name, word in words.items() if row.get(name, 0.0) > LIMITS[name]]
    return all(any(word in line for line in said) for word in over)


def _plain(name: str) -> str:
    """A name in a table."""
    return name.replace("|", " ")


def _line(name: str, rows: Sequence[Row]) -> str:
    done = [r for r in rows if "knee" in r]
    cells = [name, str(len(rows)), str(sum("refused" in r for r in rows))]
    for figure, form in (
        ("knee", ".2f"),
        ("sink", ".1f"),
        ("drift", ".1f"),
        ("legs", ".1f"),
        ("arms", ".1f"),
    ):
        key = f"{figure} median" if figure in ("legs", "arms") else figure
        middle = [r[key] for r in done if key in r]
        most = [r[figure] for r in done if figure in r]
        cells.append(f"{np.median(middle):{form}} / {np.percentile(most, 90):{form}}" if most else "")
    cells.append(f"{sum(map(within, done)) / len(done):.0%}" if done else "")
    return "| " + " | ".join(cells) + " |"


def summary(rows: Sequence[Row]) -> str:
    """Tables by the family of the motion and of the character."""
    rows = [r for r in rows if "same" not in r]
    parts = []
    for role, words in (("from", "motions of"), ("to", "characters of")):
        families = sorted({r[role] for r in rows})
        table = [HEAD.replace("| | ", f"| {words} | ", 1), "| --- |" + " --: |" * 8]
        table += [_line(f, [r for r in rows if r[role] == f]) for f in families]
        parts.append("\n".join([*table, _line("**all**", rows)]))
    return "\n\n".join(parts)


def write_page(
    rows: Sequence[Row], drawn: Sequence[tuple[Any, Any]], told: dict[str, str], motions: Any, characters: Any
) -> None:
    """The page and its pictures."""
    from docs.pair_sheets import draw_pair, save_sheet

    rows = [r for r in rows if "same" not in r]
    done = [r for r in rows if "knee" in r]
    picked = [drawn[int(k)] for k in np.linspace(0, len(drawn) - 1, min(SHOWN, len(drawn))).round()]
    folder, sheets = DOCS / "motion", []
    for old in folder.glob("pairs_*"):
        old.unlink()
    for n, first in enumerate(range(0, len(picked), SHEET)):
        name = f"pairs_{n + 1}.webp"
        save_sheet([draw_pair(a, b) for a, b in picked[first : first + SHEET]], folder / name, 60)
        sheets.append(f"![Motions above, their results below](motion/{name})")
    reasons: dict[tuple[str, str], list[str]] = {}
    for r in rows:
        if "refused" in r:
            words = r["refused"].partition(": ")[2] or r["refused"]
            reasons.setdefault((f"{r['to']} `{r['character']}`", words), []).append(r["from"])
    refused = [f"- {who}, {len(of)} motions: {why}" for (who, why), of in reasons.items()]
    worst = sorted(
        done, key=lambda r: max(r["knee"] / 1.3, r.get("sink", 0) / 12, r["drift"] / 5), reverse=True
    )
    text = PAGE.format(
        pairs=len(rows), motions=len(motions), characters=len(characters), table=summary(rows),
        good=sum(map(within, done)), done=len(done), share=sum(map(within, done)) / max(len(done), 1),
        said=sum(not within(r) and explained(r) for r in done), hidden=sum(map(hidden, done)),
        refused="\n".join(refused) or "None.", sheets="\n\n".join(sheets),
        worst="\n".join(
            f"| {r['from']} `{_plain(r['motion'])}` | {r['to']} `{r['character']}` | {r['knee']:.2f} | "
            f"{r.get('sink', 0):.1f} | {r['drift']:.1f} | {r['legs']:.1f} | "
            f"{'; '.join(r.get('told', [])) or 'nothing'} |" for r in worst[:12]
        ),
    )  # fmt: skip
    (DOCS / "motion_pairs.md").write_text(text, encoding="utf-8")
    print(summary(rows))


PAGE = """# Motion on other rigs, pair by pair

Made by `python tools/motion_pairs.py --files FOLDER --docs`, which takes the families of `tools/motion_pairs.txt` from
clones of public repositories and measures on the skin, by code that shares nothing with the retargeter ([what the report
itself says](motion.md#how-good-it-is)). Nothing was configured. Here: {pairs} pairs of {motions} motions and {characters}
characters. The 31 pairs that the tests hold to their figures are in `tests/motion/pairs.py`.

Figures are medians, and after the stroke the value that 9 of 10 pairs keep to. Knees: the fastest by the source's fastest
(limit 1.3). Soles: how deep the skin of the feet is in 95 of 100 frames (limit 12 mm for a person's size). Drift: how far a
planted sole moves more than the source's does (limit 5 mm). Legs and arms: degrees between bones here and there, the median
of a clip and its 95th of 100. Within: pairs that keep the first three limits: {good} of {done}, {share:.1%}; of {said} more
the report of `marrow retarget` says what is outside. In {hidden} pairs a fault that everybody sees (knees twice
as fast, soles 24 mm deep, plants that drift by 20 mm) is missing in it.

{table}

## Refused

{refused}

## The worst

| motion | on | knees | soles, mm | drift, mm | legs, degrees | what the report says |
| --- | --- | --: | --: | --: | --: | --- |
{worst}

## Pictures

In each pair of rows the motion is above, the same moments on the other character below.

{sheets}
"""
