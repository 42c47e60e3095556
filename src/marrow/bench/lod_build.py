"""Part of `marrow bench lod`: how long levels take to make, and how good they are."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from marrow.bench.body import corpus_folder
from marrow.bench.harness import Contest
from marrow.bench.report import in_words
from marrow.lod.builder import build
from marrow.model import Character
from marrow.samples import lizard, mannequin

__all__ = ["contests", "measurements", "morph_measurements"]

LEVELS = (0.4, 0.1, 0.02)
MAKING, MEASURING = 2.0, 6.0
"""Seconds of one core that four levels of 20,000 triangles may take, without and with the error report."""
SOLDIER = {0.5: 0.011, 0.1: 0.032}
"""How far the Soldier may be off at worst over its clips, as a part of its extent, by the part of its triangles left."""
MORPHS, MOST_MEASURING = ("MorphStressTest.glb", "RobotExpressive.glb"), 2.0
"""Characters with morph clips, and how many times as long as to make their levels it may take to measure them."""
CORPUS = ("Soldier.glb", "Xbot.glb", "Samba_Dancing.fbx")


def contests() -> list[Contest]:
    """None: what takes seconds is measured once or twice."""
    return []


def measurements() -> dict[str, Any]:
    """Times and errors, each with its goal."""
    body = lizard().replace(reduced=(), lod=None)
    share = body.triangle_count / 20_000
    made = _best(lambda: build(body, LEVELS, measure=False)) / share
    told = _best(lambda: build(body, LEVELS)) / share
    found: dict[str, Any] = {
        "20,000 triangles to four levels, time of one core": {
            "levels": _timed(made, MAKING),
            "levels and their errors": _timed(told, MEASURING),
        }
    } | morph_measurements()
    bodies = {"mannequin": mannequin()} | _corpus()
    for name, character in bodies.items():
        plain = character.replace(reduced=(), lod=None)
        blind, seeing = (build(plain, (0.5, 0.1), poses=p).reduced for p in (False, True))
        found[f"{name}, worst error over its clips, with poses and without"] = {
            f"{100 * part:.0f} %": _compared(a.lod.relative_error, b.lod.relative_error)
            for part, a, b in zip((0.5, 0.1), seeing, blind)
        }
        if name == "Soldier":
            found["Soldier, error of its extent"] = {
                f"{100 * part:.0f} %": f"{100 * (a.lod.relative_error or 0):.2f} % (goal {100 * goal:.1f} %, "
                f"{'met' if (a.lod.relative_error or 1) <= goal else 'missed'})"
                for (part, goal), a in zip(SOLDIER.items(), seeing)
            }
    return found


def morph_measurements() -> dict[str, Any]:
    """What it takes to measure the levels of characters that move by morphs, next to making them."""
    found = {}
    for name, character in _corpus(MORPHS).items():
        plain = character.replace(reduced=(), lod=None)
        made = _best(lambda: build(plain, LEVELS, measure=False))  # noqa: B023
        measuring = max(_best(lambda: build(plain, LEVELS)) - made, 0.0)  # noqa: B023
        ratio = measuring / made
        found[f"{name}, {len(LEVELS)} levels, time of one core"] = {
            "levels": in_words(made),
            "measuring them": in_words(measuring),
            "measuring against making": f"{ratio:.2f}x (goal {MOST_MEASURING:g}x, "
            f"{'met' if ratio <= MOST_MEASURING else 'missed'})",
        }
    return found


def _best(call: Callable[[], object], times: int = 2) -> float:
    taken = []
    for _ in range(times):
        start = time.process_time()  # it takes seconds: others on the machine must not count
        call()
        taken.append(time.process_time() - start)
    return min(taken)


def _timed(seconds: float, goal: float) -> str:
    return f"{in_words(seconds)} (goal {in_words(goal)}, {'met' if seconds <= goal else 'missed'})"


def _compared(seeing: float | None, blind: float | None) -> str:
    a, b = seeing or 0.0, blind or 0.0
    return f"{100 * a:.2f} % against {100 * b:.2f} % ({'better' if a < b else 'no better'})"


def _corpus(names: Sequence[str] = CORPUS) -> dict[str, Character]:
    """Characters of the corpus, where there is one."""
    from marrow.io import load

    folder = corpus_folder()
    return {Path(n).stem: load(folder / n) for n in names if (folder / n).is_file()}
