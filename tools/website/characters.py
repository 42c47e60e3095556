"""The characters and graphs of the gallery: what its stills are drawn of, and its pages made of."""

from __future__ import annotations

import sys
from pathlib import Path

import marrow as mw
from marrow.graph import Graph, Parameter, Springs

__all__ = ["another_body", "few_clips", "loose_tail"]

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "docs"))


def few_clips() -> mw.Character:
    """The mannequin with the clips that are retargeted."""
    import front_page

    hero = mw.samples.mannequin()
    return hero.replace(clips=tuple(hero.clips[name] for name in front_page.CLIPS))


def another_body() -> mw.Character:
    """A child of other proportions, with the mannequin's clips."""
    import front_page

    sizes, shell, bands = front_page.BODIES["child"]
    return front_page.painted(front_page.reshaped("child", mw.samples.mannequin(), sizes), shell, bands)


def loose_tail() -> tuple[mw.Character, Graph]:
    """The lizard, whose tail swings behind its walk."""
    tail = Springs("walk", ("tail_02",), stiffness=1.2, drag=0.15, wind="wind")
    return mw.samples.lizard(), Graph(tail, {"wind": Parameter("vector")}, "a loose tail")
