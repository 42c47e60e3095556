"""Which joints a data set without a character has: those that most of its sources have.

At most `MOST` sources are looked at, in the order of the hashes of their names, so that one odd file decides nothing
wherever its name sorts, and more files seldom change who is asked. What was seen is kept in `_build/`: the next build
opens only files that are new to it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import msgspec

from marrow.dataset.journal import FOLDER
from marrow.dataset.recipe import Recipe, digest_of
from marrow.dataset.rows import loaded
from marrow.dataset.schema import Schema, schema_of
from marrow.dataset.sources import SourceFile, opened
from marrow.dataset.storage import BuildError, Store
from marrow.errors import MarrowError, MissingExtraError
from marrow.printing import warn

__all__ = ["decided"]

SEEN = f"{FOLDER}/joints.json"
MOST = 31


class Seen(msgspec.Struct):
    """What sources have: by name their `stamp` and the number of their schema, or why they have none."""

    recipe: str
    sources: dict[str, tuple[str, str]] = {}
    schemas: dict[str, Schema] = {}
    decided: str = ""


def decided(store: Store, recipe: Recipe, files: Sequence[SourceFile]) -> Schema:
    """The schema most sources have; of two that are as frequent, the one whose first source comes first by name."""
    known = _known(store, recipe.digest())
    seen = Seen(known.recipe)
    refused: MarrowError | None = None
    first = ""
    votes: dict[str, list[str]] = {}
    count = 0
    for file in sorted(files, key=lambda f: hashlib.sha256(f.name.encode()).digest()):
        number = ""
        if file.problem:
            first = first or f"{file.name}: {file.problem}"
            continue
        if file.name in known.sources and known.sources[file.name][0] == file.stamp:
            number = known.sources[file.name][1]
            schema = known.schemas[number]
        else:
            try:
                character = loaded(opened(file.path, allow_outside=recipe.allow_outside), recipe)
            except MissingExtraError as error:
                refused = refused or error
                continue
            except MarrowError as error:
                first = first or str(error)
                continue
            except Exception as error:  # its own line comes from the worker that reads it
                first = first or f"{file.name}: {type(error).__name__}: {error}"
                continue
            try:
                schema = schema_of(recipe, character)
            except MarrowError as error:
                refused = refused or error
                continue
            number = schema.digest()
        seen.sources[file.name] = file.stamp, number
        seen.schemas[number] = schema
        alike = votes.setdefault(_shape(schema), [])
        alike.append(file.name)
        count += 1
        if count == MOST or len(alike) > MOST // 2:
            break
    if not votes:
        raise refused or BuildError(f"none of {len(files)} files can be read; the first: {first}")
    winners = min(votes.values(), key=lambda names: (-len(names), min(names)))
    seen.decided = seen.sources[min(winners)][1]
    schema = seen.schemas[seen.decided]
    if len(votes) > 1:
        other = min(min(names) for names in votes.values() if names is not winners)
        warn(
            f"sources have different skeletons: {len(winners)} of {count} looked at are like {min(winners)}, whose "
            f"{len(schema.joints)} joints the data set has; {other} is not. character= or skeletons='any' takes all",
        )
    before = known.schemas.get(known.decided)
    if before is not None and _shape(before) != _shape(schema):
        warn(
            f"most sources have another skeleton than before ({len(schema.joints)} joints, before "
            f"{len(before.joints)}): all is made anew",
        )
    if seen != known:
        store.write(SEEN, msgspec.json.encode(seen))
    return schema


def _shape(schema: Schema) -> str:
    """A number for what rows must have in common; the order of joints does not count."""
    above = [schema.joints[p] if p >= 0 else "" for p in schema.parents]
    pairs = sorted(zip(schema.joints, above))
    return digest_of([pairs, schema.palette, schema.vertices, schema.morphs])


def _known(store: Store, recipe: str) -> Seen:
    data = store.read(SEEN)
    try:
        seen = Seen("") if data is None else msgspec.json.decode(data, type=Seen)
    except msgspec.MsgspecError:
        return Seen(recipe)
    whole = all(number in seen.schemas for _, number in seen.sources.values())
    return seen if seen.recipe == recipe and whole else Seen(recipe)
