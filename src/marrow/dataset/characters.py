"""The character that motion is put on."""

from __future__ import annotations

import os

from marrow import samples
from marrow.dataset.recipe import Recipe
from marrow.dataset.rows import loaded
from marrow.dataset.sources import opened
from marrow.io.source import Source
from marrow.model import Character

__all__ = ["character_at"]


def character_at(path: str, recipe: Recipe) -> tuple[Source | None, Character]:
    """The character in a file, or a built-in one by its name, and the file."""
    if path in samples.NAMES and not os.path.exists(path):
        return None, samples.load(path)
    source = opened(path, allow_outside=recipe.allow_outside)
    return source, loaded(source, recipe)
