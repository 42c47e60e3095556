"""Rules about levels of detail."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from marrow.io.lint.finding import Finding
from marrow.io.lint.mesh_rules import not_finite, weight_sums
from marrow.model import Character

__all__ = ["level_figures", "level_meshes"]


def level_figures(character: Character) -> Iterator[Finding]:
    """Levels that save nothing, whose error nobody knows, or that are switched to in no order."""
    lods = [character.lod, *(level.lod for level in character.reduced)]
    for k, (before, lod) in enumerate(pairwise(lods), 1):
        same = lod.triangles >= before.triangles and lod.joints >= before.joints
        if same and lod.influences >= before.influences and lod.sections >= before.sections:
            yield Finding(
                "level-saves-nothing", "warning", f"level {k}", "it has as much as the level before it",
                "ask for fewer triangles or joints, or leave the level out",
            )  # fmt: skip
        if lod.error is None:
            yield Finding(
                "level-not-measured", "info", f"level {k}", "nobody measured how far it is off",
                "mw.lod.measured(character) does; without, levels are chosen by screen size",
            )  # fmt: skip
        elif before.error is not None and lod.error < before.error:
            yield Finding(
                "level-order", "warning", f"level {k}", "it is closer to the character than the level before it",
                "put the levels in order, finest first",
            )  # fmt: skip
        sizes = before.screen_size, lod.screen_size
        if sizes[0] is not None and sizes[1] is not None and sizes[1] >= sizes[0]:
            yield Finding(
                "level-screen-size", "warning", f"level {k}",
                f"it is used below {sizes[1]:g} of the picture's height, the level before it below {sizes[0]:g}",
                "let screen sizes fall from level to level",
            )  # fmt: skip


def level_meshes(character: Character) -> Iterator[Finding]:
    """What is wrong with the meshes of levels."""
    for k, level in enumerate(character.levels[1:], 1):
        for rule in (not_finite, weight_sums):
            for finding in rule(level):
                yield replace(finding, place=f"level {k}, {finding.place}")
        if character.triangle_count and not level.triangle_count:
            yield Finding(
                "level-empty", "warning", f"level {k}", "nothing of the character is left",
                "ask for more triangles, or leave the level out",
            )  # fmt: skip
