"""`mw.faces`: a clip of one face on another. Shapes are told by their names (ARKit, VRM, Oculus visemes, VRoid, Reallusion,
MetaHuman, MikuMikuDance), each is known as a mix of ARKit's 52, and weights are found that come nearest to that mix.

    faces.convention(head.skeleton.morph_names)       # "arkit"
    clip = faces.transfer(take, avatar)               # 52 captured curves on the 18 expressions of an avatar
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError, WrongTypeError
from marrow.model import Character, Clip, Curve, Skeleton, Track, Tracks
from marrow.model.clip import PATHS
from marrow.motion.expressions import with_expressions
from marrow.motion.face_names import ARKIT, CONVENTIONS, Recipe, plain, recipes

__all__ = ["ARKIT", "CONVENTIONS", "FaceMap", "convention", "face_map", "shapes", "transfer"]

Array = NDArray[Any]
ROUNDS = 400
"""Of the multiplicative updates that find weights: errors are below 1e-3 by then."""
SPARSE = 1e-3
"""What a weight costs: of two ways to say the same, the one with less is taken."""
FEWEST = 3
"""Shapes by which a family is told, unless it has fewer."""


def shapes(convention: str) -> tuple[str, ...]:
    """The names of the shapes of a family (`CONVENTIONS`)."""
    if convention not in CONVENTIONS:
        raise ValidationError(f"faces.shapes: expected one of {', '.join(CONVENTIONS)}, got {convention!r}")
    return tuple(recipes(convention))


def convention(names: Sequence[str]) -> str | None:
    """The family of faces that most of the names belong to; None where fewer than three do."""
    if len(names) < FEWEST:
        return None
    counts = {c: len(_known(names, c)) for c in CONVENTIONS}
    best = max(CONVENTIONS, key=lambda c: counts[c])
    return best if counts[best] >= FEWEST else None


@functools.cache
def _table(family: str) -> dict[str, Recipe]:
    """The shapes of a family by their plain names."""
    table = {plain(name): recipe for name, recipe in recipes(family).items()}
    if family == "arkit":
        table |= {plain(re.sub("(Left|Right)$", lambda m: m.group()[0], n)): r for n, r in recipes("arkit").items()
                  if n not in ("jawLeft", "jawRight", "mouthLeft", "mouthRight")}  # fmt: skip
    return table


def _known(names: Sequence[str], family: str) -> dict[int, Recipe]:
    """Which names are shapes of a family, by their number: as written, else with `L` for left."""
    table = _table(family)
    found: dict[int, Recipe] = {}
    taken: set[str] = set()
    for k, name in enumerate(names):
        word = plain(str(name))
        if word in table and word not in taken:
            found[k] = table[word]
            taken.add(word)
    return found


def _recipes_of(names: Sequence[str]) -> tuple[str | None, dict[int, Recipe]]:
    """The family of names and what each is made of; visemes and ARKit's shapes are often found beside each other."""
    family = convention(names)
    if family is None:
        return None, {}
    found = _known(names, family)
    for other in CONVENTIONS:
        for k, recipe in _known(names, other).items():
            if other in ("arkit", "oculus") and family in ("arkit", "oculus", "reallusion"):
                found.setdefault(k, recipe)
    return family, found


@dataclass(frozen=True)
class FaceMap:
    """From the shapes of one face to those of another: `apply(weights)`. `source` and `target` are names, `families`
    what they were told to be; `unknown` are names of the source that no family has, `unmatched` those that move
    nothing on the target."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    families: tuple[str, str]
    into: Array
    """`(source, 52)`: ARKit's shapes for each shape of the source."""
    out: Array
    """`(target, 52)`: the same for the target."""
    unknown: tuple[str, ...]
    unmatched: tuple[str, ...]

    def apply(self, weights: ArrayLike) -> Array:
        """Weights `(..., source)` of one face as weights `(..., target)` of the other, 0 to 1, that come nearest in
        ARKit's shapes."""
        given = np.asarray(weights, np.float64)
        if given.shape[-1:] != (len(self.source),):
            raise ValidationError(
                f"FaceMap.apply: expected {len(self.source)} weights in the last axis, got {given.shape}"
            )
        if not np.isfinite(given).all():
            raise ValidationError("FaceMap.apply: weights must be finite")
        wanted = np.clip(given, 0.0, 1.0).reshape(-1, len(self.source)) @ self.into
        if len({tuple(row) for row in (self.out > 0).T.tolist() if sum(row) > 1}) == 0:
            # Every one of ARKit's shapes has one name there: nothing to weigh.
            size = np.maximum((self.out**2).sum(1), 1e-12)
            found = wanted @ self.out.T / size
        else:
            found = _nearest(wanted, self.out)
        return np.clip(found, 0.0, 1.0).reshape(*given.shape[:-1], len(self.target))

    def __str__(self) -> str:
        lost = f", {len(self.unmatched)} without a match" if self.unmatched else ""
        return f"{self.families[0]} ({len(self.source)}) to {self.families[1]} ({len(self.target)}){lost}"


def _nearest(wanted: Array, out: Array) -> Array:
    """Weights `(T, target)`, none below zero, whose mix of `out` is nearest to `wanted (T, 52)`: multiplicative
    updates, since nothing is negative."""
    square = out @ out.T
    goal = wanted @ out.T
    found = np.where(goal > 0, goal, 0.0)
    for _ in range(ROUNDS):
        found *= goal / (found @ square + SPARSE + 1e-12)
        np.minimum(found, 1.0, out=found)
    return found


def face_map(source: Sequence[str], target: Sequence[str]) -> FaceMap:
    """How the shapes of one face say those of another, by names alone. ValidationError where one of the two is no
    known face."""
    sides = []
    for side, names in (("source", source), ("target", target)):
        if isinstance(names, str) or not all(isinstance(n, str) for n in names):
            raise WrongTypeError(f"faces.face_map: expected a list of names for the {side}, got {names!r}")
        family, found = _recipes_of(names)
        if family is None:
            known = ", ".join(CONVENTIONS)
            raise ValidationError(
                f"faces.face_map: too few names of the {side} are those of a known face ({known}): {', '.join(names[:6])}"
            )
        matrix = np.zeros((len(names), len(ARKIT)))
        for k, recipe in found.items():
            for shape, amount in recipe.items():
                matrix[k, ARKIT.index(shape)] = amount
        sides.append((family, found, matrix))
    (a, shapes_of, into), (b, _, out) = sides
    reached = out.max(axis=0, initial=0.0) > 0
    unmatched = tuple(
        n for k, n in enumerate(source) if k in shapes_of and into[k].any() and not into[k][reached].any()
    )
    unknown = tuple(n for k, n in enumerate(source) if k not in shapes_of)
    return FaceMap(tuple(source), tuple(target), (a, b), into, out, unknown, unmatched)


def _face_of(owner: Character | Skeleton) -> tuple[tuple[str, ...], bool]:
    """The names of a face, and whether they are expressions of a VRM."""
    if isinstance(owner, Character):
        given = owner.vrm.get("expressions")
        if isinstance(given, dict) and convention(tuple(given)) is not None:
            return tuple(given), True
        owner = owner.skeleton
    return owner.morph_names, False


def transfer(clip: Clip, target: Character, *, rate: float = 60.0) -> Clip:
    """`clip` with the motion of its face for the face of `target`: from its morphs, or its curves (`expression:happy`,
    or ARKit's names), to the expressions of a VRM or to morphs. All else of the clip is left out; `mw.retarget` does
    this by itself. ValidationError where either is no known face."""
    if not isinstance(clip, Clip) or not isinstance(target, Character):
        raise WrongTypeError(
            f"faces.transfer: expected a Clip and a Character, got {type(clip).__name__} and {type(target).__name__}"
        )
    names, weights, times = face_of_clip(clip, rate)
    wanted, expressions = _face_of(target)
    if not names:
        raise ValidationError(
            f"faces.transfer: clip {clip.name!r} moves no face (no morphs, no curves of a known family)"
        )
    found = face_map(names, wanted).apply(weights).astype(np.float32)
    moved = [k for k in range(len(wanted)) if found[:, k].any()]
    if expressions:
        curves = tuple(Curve(f"expression:{wanted[k]}", times, found[:, k]) for k in moved)
        bare = Clip(clip.name, target.skeleton, Tracks.pack(()), clip.duration, clip.events, curves=curves)
        return with_expressions(bare, target)
    tracks = [Track(target.skeleton.morph_index(wanted[k]), "morph", times, found[:, k]) for k in moved]
    return Clip(clip.name, target.skeleton, Tracks.pack(tracks), clip.duration, clip.events)


def face_for(names: Sequence[str], target: Character | Skeleton) -> FaceMap | None:
    """The map from shapes of these names to the face of `target`; None where either is no known face."""
    if convention(names) is None:
        return None
    wanted, _ = _face_of(target)
    if convention(wanted) is None:
        return None
    return face_map(tuple(names), wanted)


def with_face(
    made: Clip, clip: Clip, face: FaceMap, target: Character | Skeleton, rate: float = 60.0
) -> Clip:
    """`made`, a clip for `target`, with what the shapes of `clip` that `face` begins with mean there; what moves
    already stays as it is."""
    count = max(int(np.ceil(clip.duration * rate)) + 1, 1)
    times = np.linspace(0.0, clip.duration, count).astype(np.float32)
    columns = [clip.skeleton.morph_index(name) for name in face.source]
    found = face.apply(clip.sample(times).morphs[:, columns]).astype(np.float32)
    moved = [k for k in range(len(face.target)) if found[:, k].any()]
    if _face_of(target)[1]:
        taken = {c.name for c in made.curves}
        curves = [Curve(f"expression:{face.target[k]}", times, found[:, k]) for k in moved]
        return made.replace(curves=(*made.curves, *(c for c in curves if c.name not in taken)))
    driven = {t.target for t in made.tracks if t.path == "morph"}
    skeleton = target.skeleton if isinstance(target, Character) else target
    channels = [(k, skeleton.morph_index(face.target[k])) for k in moved]
    tracks = [Track(m, "morph", times, found[:, k]) for k, m in channels if m not in driven]
    return made.replace(tracks=(*made.tracks, *tracks), duration=made.duration) if tracks else made


def face_of_clip(clip: Clip, rate: float = 60.0) -> tuple[tuple[str, ...], Array, Array]:
    """The names, the weights `(T, names)` and the times of what a clip does with a face; no names where it does
    nothing of the kind."""
    table = clip.tracks.table
    channels = np.unique(table["target"][table["path"] == PATHS.index("morph")]).tolist()
    morphs = [clip.skeleton.morph_names[m] for m in channels]
    curves = {c.name.removeprefix("expression:"): c for c in clip.curves}
    use_curves = convention(tuple(curves)) is not None and (
        convention(morphs) is None or any(c.name.startswith("expression:") for c in clip.curves)
    )
    if not use_curves and convention(clip.skeleton.morph_names if channels else ()) is None:
        return (), np.zeros((0, 0)), np.zeros(0)
    count = max(int(np.ceil(clip.duration * rate)) + 1, 1)
    times = np.linspace(0.0, clip.duration, count).astype(np.float32)
    if use_curves:
        return tuple(curves), np.stack([c.sample(times) for c in curves.values()], axis=1), times
    names = clip.skeleton.morph_names
    return tuple(names), clip.sample(times).morphs, times
