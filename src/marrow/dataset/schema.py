"""What every row of a data set has: the fields with their types and shapes, and the joints they speak of."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from marrow.dataset.features import FEATURES, TABLES, Sizes
from marrow.dataset.recipe import Recipe, digest_of
from marrow.errors import ValidationError
from marrow.model import Character, Skeleton

__all__ = ["RowField", "Schema", "fitted", "kept_joints", "schema_of"]

Array = NDArray[Any]
LETTERS = {"J": "joint", "P": "matrix", "V": "vertex", "M": "morph", "W": "octet"}


class RowField(msgspec.Struct, frozen=True):
    """One array of a row: `shape` has None where rows differ; `axes` names each axis; `channels` axes have
    statistics."""

    name: str
    dtype: str
    shape: tuple[int | None, ...]
    axes: tuple[str, ...]
    channels: int
    words: str

    @property
    def fixed(self) -> bool:
        return None not in self.shape


class Schema(msgspec.Struct, frozen=True):
    """The fields of rows, and what the axes of their arrays are: names of joints with their parents (-1: none), of
    morphs."""

    fields: tuple[RowField, ...]
    tables: tuple[str, ...]
    joints: tuple[str, ...] = ()
    parents: tuple[int, ...] = ()
    palette: tuple[int, ...] = ()
    vertices: int = 0
    morphs: tuple[str, ...] = ()

    def digest(self) -> str:
        return digest_of(msgspec.to_builtins(self))


def schema_of(recipe: Recipe, character: Character | None) -> Schema:
    """The schema of rows like those of `character`; without one, of rows that have each their own number of joints."""
    loose = character is None
    sizes = Sizes(None, None, None, None)
    if character is not None:
        skeleton = character.skeleton
        kept = kept_joints(recipe, skeleton)
        entries = len(character.palette) if "matrices" in recipe.features else None
        sizes = Sizes(len(kept), entries, character.vertex_count, len(skeleton.morph_names))
    fields = []
    for name in recipe.features:
        if name in TABLES:
            continue
        feature = FEATURES[name]
        shape = (1 if feature.together else recipe.window, *sizes.of(feature.axes))
        if 0 in shape:
            assert character is not None
            what = {"V": "no mesh", "M": "no morphs", "J": "no joints", "P": "no joints"}[
                str(feature.axes[0])
            ]
            raise ValidationError(f"{name}: {character.name!r} has {what}")
        axes = (
            "row" if feature.together else "frame",
            *(LETTERS[a] if isinstance(a, str) else f"{k}" for k, a in enumerate(feature.axes, 1)),
        )
        channels = 0 if loose and feature.axes and isinstance(feature.axes[0], str) else feature.channels
        fields.append(RowField(name, feature.dtype, shape, axes, channels, feature.words))
    tables = tuple(name for name in TABLES if name in recipe.features)
    if character is None:
        return Schema(tuple(fields), tables)
    place = {int(j): k for k, j in enumerate(kept)}
    parents = []
    for j in kept.tolist():
        while (j := int(skeleton.parents[j])) >= 0 and j not in place:
            pass
        parents.append(place.get(j, -1))
    return Schema(
        tuple(fields),
        tables,
        tuple(skeleton.names[j] for j in kept.tolist()),
        tuple(parents),
        tuple(character.palette.joints.tolist()) if "matrices" in recipe.features else (),
        character.vertex_count if "vertices" in recipe.features else 0,
        tuple(skeleton.morph_names) if "morphs" in recipe.features else (),
    )


def kept_joints(recipe: Recipe, skeleton: Skeleton) -> Array:
    """The joints that per-joint features have: those that match the recipe's names or patterns, or all; without those
    that match one with a `!` before it."""
    wanted = [w for w in recipe.joints if not w.startswith("!")]
    found = set() if wanted else set(range(len(skeleton)))
    for pattern in wanted:
        matching = _matching(skeleton, pattern)
        found.update(matching or [skeleton.index(pattern)])  # an error names the near one
    for pattern in recipe.joints:
        if pattern.startswith("!"):
            found.difference_update(_matching(skeleton, pattern[1:]))
    if not found:
        if not len(skeleton):
            raise ValidationError("the skeleton of the sources has no joints")
        raise ValidationError(f"joints: {', '.join(recipe.joints)} leaves none of {len(skeleton)}")
    return np.array(sorted(found), np.int64)


def _matching(skeleton: Skeleton, pattern: str) -> list[int]:
    """Joints by name or pattern, or a part such as `@head`."""
    found = [j for j, name in enumerate(skeleton.names) if name == pattern or fnmatchcase(name, pattern)]
    return found or ([skeleton.index(pattern)] if pattern in skeleton else [])


def fitted(mine: Schema, recipe: Recipe, character: Character) -> Array:
    """The joints of `character` that rows of the data set speak of, in its order; or why its rows do not fit."""
    kept = kept_joints(recipe, character.skeleton)
    other = schema_of(recipe, character)
    order = {name: k for k, name in enumerate(other.joints)}
    if (
        other.joints != mine.joints
        and len(order) == len(other.joints)
        and sorted(order) == sorted(mine.joints)
    ):
        # The same joints in another order, as formats have it.
        above = [other.joints[p] if p >= 0 else "" for p in other.parents]
        parents = tuple(mine.joints.index(above[order[n]]) if above[order[n]] else -1 for n in mine.joints)
        kept = kept[[order[name] for name in mine.joints]]
        other = msgspec.structs.replace(other, joints=mine.joints, parents=parents)
    problem = _difference(mine, other)
    if problem:
        raise ValidationError(problem)
    return kept


def _difference(mine: Schema, other: Schema) -> str:
    """Why rows of `other` do not fit into a data set of `mine`; empty where they do."""
    if mine.joints != other.joints or mine.parents != other.parents:
        more = [n for n in other.joints if n not in mine.joints]
        less = [n for n in mine.joints if n not in other.joints]
        if len(mine.joints) != len(other.joints):
            what = f"it has {len(other.joints)} joints, the data set {len(mine.joints)}"
        else:
            what = "its joints are others" if more else "its joints hang together in another way"
        told = [f"it has {', '.join(more[:3])}"] if more else []
        told += [f"it lacks {', '.join(less[:3])}"] if less else []
        cure = "choose with joints=, retarget with character=, or take rows of any shape with skeletons='any'"
        return f"{'; '.join([what, *told])} ({cure})"
    if mine.vertices != other.vertices:
        return f"it has {other.vertices} vertices, the data set {mine.vertices}"
    if mine.palette != other.palette:
        return "its meshes are bound to other joints than those of the data set"
    return "" if mine.morphs == other.morphs else "its morphs are others than those of the data set"
