"""A sheet of random samples, each a strip of pictures over time, drawn by the renderer."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from marrow.dataset.characters import character_at
from marrow.dataset.dataset import Dataset, Split
from marrow.dataset.pictures import chosen_rows
from marrow.dataset.sample_poses import fits, rotations_of, sample_character
from marrow.errors import ValidationError
from marrow.model import Character
from marrow.rendering.frame import Frame

__all__ = ["film_strips", "mesh_of"]

MOMENTS = 6
SIZE = (130, 160)
FEET = ("left", "right")


def mesh_of(dataset: Dataset, path: str | None) -> tuple[Character | None, str]:
    """The character whose meshes rows can be shown with, or None, and what is worth knowing of that.

    A manifest has the name of the character's file, not its folder: `path` says where it is, else it is looked for in
    the current folder.
    """
    import hashlib

    manifest = dataset.manifest
    name = path or manifest.character
    if name is None:
        return None, ""
    if path is None and manifest.character_sha256 and not os.path.exists(name):
        return None, f"{name}, the character of the data set, is not here: --character FILE shows its meshes"
    source, character = character_at(name, manifest.recipe)
    other = source is not None and hashlib.sha256(source.data).hexdigest() != manifest.character_sha256
    if other and path is None:
        return None, f"{name} is not the file the data set was built with: --character {name} shows it anyway"
    row = next((split[0] for split in (dataset[n] for n in manifest.splits) if len(split)), None)
    if not character.meshes:
        return None, "" if path is None else f"{name} has no mesh"
    if row is None:
        return None, ""
    if not fits(character, dataset, row):
        raise ValidationError(f"{name}: its joints are not those of the data set")
    if rotations_of(dataset, row, np.zeros(1, int)) is None:
        return None, "a mesh needs the rotations of all joints: build with --features rotations positions"
    return character, ""


def film_strips(
    split: Split,
    *,
    count: int = 12,
    seed: int = 0,
    character: Character | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Frame:
    """`count` random rows, a strip of moments each: the meshes of `character` (see `mesh_of`), or bodies made of bones;
    below them the time in the clip, and which feet stand where the row has contacts."""
    from marrow.pictures.picture import render_moments
    from marrow.pictures.sheet import Cell, Row, page

    rows: list[Row] = []
    chosen = chosen_rows(split, count, seed)
    for k, index in enumerate(chosen):
        row = split[index]
        frames = np.unique(np.linspace(0, row["frames"] - 1, MOMENTS).round().astype(int))
        who = sample_character(split.dataset, row, frames, character)
        clip = next(iter(who.clips))
        drawn = render_moments(who, list(frames / row["rate"]), clip=clip, size=SIZE)
        cells = [Cell(_words(row, int(t)), frame.pixels) for t, frame in zip(frames, drawn)]
        rows.append((_title(row), cells))
        if progress is not None:
            progress(k + 1, len(chosen))
    if all(len(cells) == 1 for _, cells in rows):  # rows of one frame: side by side
        single = [replace(cells[0], label=title) for title, cells in rows]
        rows = [("", single[i : i + MOMENTS]) for i in range(0, len(single), MOMENTS)]
    return page(rows, SIZE)


def _title(row: dict[str, Any]) -> str:
    mirrored = ", mirrored" if row["mirrored"] else ""
    clip = f"  {row['clip']}" if row["clip"] else ""
    return f"{row['source']}{clip}  {row['start']}..{row['start'] + row['frames'] - 1}{mirrored}"


def _words(row: dict[str, Any], frame: int) -> str:
    text = f"{(row['start'] + frame) / row['rate']:.2f} s"
    if "contacts" not in row:
        return text
    stand = np.asarray(row["contacts"][frame]).reshape(2, 2).max(axis=1).tolist()
    return f"{text}  {' '.join(foot for foot, down in zip(FEET, stand) if down)}".rstrip()
