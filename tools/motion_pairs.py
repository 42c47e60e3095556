"""Motions of many families on characters of many families: `python tools/motion_pairs.py --files FOLDER`.

`tools/motion_pairs.txt` names the families: which files of which public repositories, cloned into FOLDER, are motions,
characters or both. What is not there is left out. 60 motions meet 40 characters; `--pairs 200` takes that many of the 2,400
pairs, each motion and each character about as often; `--all` takes all. Figures are those of `check_pairs.py`, measured on
the skin by code that shares nothing with the retargeter.

    python tools/motion_pairs.py --files ~/repositories --pairs 200 --sheets /tmp/sheets --json /tmp/pairs.json
    python tools/motion_pairs.py --files ~/repositories --all --docs          writes docs/motion_pairs.md and its pictures
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import re
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import marrow as mw
from check_pairs import measure
from docs.pair_page import summary, write_page
from docs.pair_sheets import draw_pair, save_sheet
from marrow.motion import Retargeter, find_rig
from marrow.motion.contacts import LEG
from marrow.motion.quality_figures import figures_of

LIST = Path(__file__).with_name("motion_pairs.txt")
SOURCES, TARGETS, SECONDS, JOINTS = 60, 40, 8.0, 12
LIKED = (
    "walk",
    "run",
    "jump",
    "dance",
    "attack",
    "idle",
    "wave",
    "punch",
    "kick",
    "death",
    "sit",
    "crouch",
    "roll",
)


@dataclass
class Body:
    """A file of a family, and for a motion its clip."""

    family: str
    file: Path
    character: mw.Character
    clip: mw.Clip | None = None

    @property
    def name(self) -> str:
        return f"{self.file.stem[:28]}" + (
            f": {self.clip.name[:20]}" if self.clip and len(self.character.clips) > 1 else ""
        )


def listed(folder: Path) -> dict[str, dict[str, list[Path]]]:
    """The files of each family, `motions` and `characters`."""
    found: dict[str, dict[str, list[Path]]] = {"motions": {}, "characters": {}}
    files = sorted(Path(top, name) for top, _, names in os.walk(folder, followlinks=True) for name in names)
    plain = {str(path.relative_to(folder)): path for path in files}
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        kind, family, pattern = re.split(r"  +", line.strip(), maxsplit=2)
        matching = [path for name, path in plain.items() if fnmatch.fnmatch(name, pattern.strip())]
        for role in ("motions", "characters"):
            if kind in (role, "both") and matching:
                found[role].setdefault(family, []).extend(matching)
    return found


def spread(families: dict[str, list[Path]], most: int) -> list[tuple[str, Path]]:
    """About as many files of each family, spread over its list."""
    left = {name: list(paths) for name, paths in families.items()}
    shares: dict[str, int] = dict.fromkeys(left, 0)
    while sum(shares.values()) < most and any(shares[n] < len(p) for n, p in left.items()):
        for name, paths in left.items():
            if shares[name] < len(paths) and sum(shares.values()) < most:
                shares[name] += 1
    return [
        (name, paths[int(k)])
        for name, paths in left.items()
        for k in np.linspace(0, len(paths) - 1, shares[name]).round()
    ]


def clip_of(character: mw.Character, turn: int) -> mw.Clip | None:
    """A clip of a file: its only one, else one that people use."""
    clips = [c for c in character.clips.values() if not c.additive and c.duration > 0.2 and len(c.tracks)]
    liked = [c for word in LIKED for c in clips if word in c.name.lower()]
    if not clips:
        return None
    return liked[turn % len(liked)] if liked else max(clips, key=lambda c: c.duration)


def opened(role: str, families: dict[str, list[Path]], most: int, told: dict[str, str]) -> list[Body]:
    """So many that are bodies, of all families; why others are not is told."""
    known: dict[Path, Body | None] = {}
    for count in range(most, 4 * most, max(most // 8, 1)):
        chosen = spread(families, count)
        for turn, (family, path) in enumerate(chosen):
            if path not in known:
                known[path] = body(role, family, path, turn, told)
        out = [found for _, path in chosen if (found := known[path]) is not None]
        if len(out) >= most or len(chosen) < count:
            break
    return out[:most] if len(out) <= most else [out[int(k)] for k in np.linspace(0, len(out) - 1, most)]


def body(role: str, family: str, path: Path, turn: int, told: dict[str, str]) -> Body | None:
    why = ""
    try:
        character = mw.load(path)
    except (mw.MarrowError, ValueError) as error:
        why = str(error).splitlines()[0][:160]
    else:
        clip = clip_of(character, turn) if role == "motions" else None
        if role == "motions" and clip is None:
            why = "no motion"
        elif role == "characters" and (not character.meshes or len(character.skeleton) < JOINTS):
            why = "no skin" if not character.meshes else "no skeleton"
        elif find_rig(character.skeleton).kind == "quadruped":
            why = "walks on four legs"
        else:
            clip = clip.trimmed(0.0, SECONDS) if clip is not None and clip.duration > SECONDS else clip
            return Body(family, path, character, clip)
    told[f"{family}/{path.name}"] = why
    return None


def chosen_pairs(motions: list[Body], characters: list[Body], count: int) -> list[tuple[Body, Body]]:
    """So many pairs, the motions one after the other, each time on another character."""
    S, T = len(motions), len(characters)
    step = next((k for k in (7, 11, 13, 17, 3, 1) if T % k), 1)
    out = []
    for n in range(min(count, S * T)):
        k, turn = n % S, n // S
        out.append((motions[k], characters[(step * k + turn) % T]))
    return out


def measured(a: Body, b: Body) -> dict[str, Any]:
    """The figures of a pair, and whether the retargeter's own report calls it well."""
    row: dict[str, Any] = {"from": a.family, "motion": a.name, "to": b.family, "character": b.file.stem[:28]}
    try:
        if a.file == b.file or Retargeter(a.character, b.character, clip=a.clip).exact:
            return row | {"same": True}
        row |= measure(a.character, a.clip, b.character, whole=False)
        tool = Retargeter(a.character, b.character, clip=a.clip)
        quality = tool.quality(a.clip, tool.retarget(a.clip))
    except mw.MarrowError as error:
        return row | {"refused": str(error).splitlines()[0][:200]}
    if quality is not None:
        figures = figures_of(quality, tool.leg_t / LEG)
        row["told"] = [f"{f.name} {f.value}" for f in figures if f.verdict != "good"]
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=Path, required=True)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--sheets", type=Path, help="folder for contact sheets")
    parser.add_argument("--drawn", type=int, default=100, help="pairs on the sheets")
    parser.add_argument("--json", type=Path, help="writes the figures")
    parser.add_argument(
        "--rows", type=Path, help="figures that --json wrote, of the same pairs, instead of measuring"
    )
    parser.add_argument("--docs", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    found, told = listed(given.files), dict[str, str]()
    motions = opened("motions", found["motions"], SOURCES, told)
    characters = opened("characters", found["characters"], TARGETS, told)
    print(f"{len(motions)} motions, {len(characters)} characters; left out: {len(told)}")
    for name, why in told.items():
        print(f"  {name}: {why}")
    if not motions or not characters:
        print("no files: clone the repositories of tools/motion_pairs.txt into --files", file=sys.stderr)
        return 1
    count = len(motions) * len(characters) if given.all else given.pairs
    pairs, rows, begin = chosen_pairs(motions, characters, count), [], time.time()
    if given.rows:
        rows = json.loads(given.rows.read_text())
        if [(r["motion"], r["character"]) for r in rows] != [(a.name, b.file.stem[:28]) for a, b in pairs]:
            print(f"{given.rows}: figures of other pairs", file=sys.stderr)
            return 1
    for n, (a, b) in enumerate(pairs[len(rows) :], len(rows)):
        rows.append(measured(a, b))
        if n % 20 == 19:
            print(f"{n + 1} of {len(pairs)} pairs, {time.time() - begin:.0f} s", flush=True)
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1))
    drawn = [pair for pair, row in zip(pairs, rows) if "refused" not in row and "same" not in row]
    if given.sheets:
        given.sheets.mkdir(parents=True, exist_ok=True)
        for first in range(0, min(given.drawn, len(drawn)), 10):
            some = [draw_pair(a, b) for a, b in drawn[first : min(first + 10, given.drawn)]]
            save_sheet(some, given.sheets / f"pairs_{first + 1:03}.webp")
    if given.docs:
        write_page(rows, drawn, told, motions, characters)
    else:
        print(summary(rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
