"""The character that motion is put on."""

from __future__ import annotations

import hashlib
import os

from marrow import samples
from marrow.dataset.recipe import Recipe
from marrow.dataset.rows import loaded
from marrow.dataset.sources import opened
from marrow.io.source import Source
from marrow.model import Character
from marrow.motion.profile import profile_file

__all__ = ["character_at", "character_digest"]


def character_at(path: str, recipe: Recipe) -> tuple[Source | None, Character]:
    """The character in a file, or a built-in one by its name, and the file."""
    if path in samples.NAMES and not os.path.exists(path):
        return None, samples.load(path)
    source = opened(path, allow_outside=recipe.allow_outside)
    return source, loaded(source, recipe)


def character_digest(source: Source, path: str) -> str:
    """The SHA-256 of a character's file, and of the retarget profile beside it, where there is one."""
    digest = hashlib.sha256(source.data)
    if "://" not in path and (profile := profile_file(path)).is_file():
        digest.update(profile.read_bytes())
    return digest.hexdigest()
