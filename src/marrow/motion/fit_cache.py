"""How two skeletons stand to each other, found once and kept: `mw.retarget` of many short clips asks the same every time.

What is kept lies beside the character (or skeleton) that motion goes onto, is known by identity, and holds neither of the
two: it goes when the target goes, and is not found again when the source has gone.
"""

from __future__ import annotations

import weakref
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from marrow.model import Character, Skeleton
from marrow.model._derived import derived
from marrow.motion.bone_map import BoneMap, known_map
from marrow.report import Report

if TYPE_CHECKING:
    from marrow.motion.retarget_setup import Fit

__all__ = ["MOST_FITS", "recall", "remember"]

MOST_FITS = 8
"""Sources, or ways to map one, that are kept for a target."""
_OWN = {
    "source", "target", "source_character", "target_character", "map", "names", "calibration_lines",
    "_lines", "_given_scale", "_units", "_example", "_by_example", "robot", "weights",
    "profiles", "_profile_places", "_pose_transfer", "_given",
}  # fmt: skip
"""What belongs to one retargeter; everything else was found out and is kept."""


def _kept(onto: Character | Skeleton) -> dict[Hashable, Any]:
    found: dict[Hashable, Any] = derived(onto, "retarget fits", dict)
    return found


def _key(source: object, given: object, key: Hashable) -> Hashable:
    return (id(source), id(given), key)


def recall(
    fit: Fit, source: object, onto: Character | Skeleton, given: BoneMap | None, key: Hashable
) -> bool:
    """Gives `fit` what was found out for the same source, map and settings; False where nothing is known."""
    kept = _kept(onto)
    entry = kept.pop(_key(source, given, key), None)
    if entry is None or entry[0]() is not source or (given is not None and entry[1]() is not given):
        return False
    kept[_key(source, given, key)] = entry  # the last that was used is the last to go
    _, _, state, chains, lines = entry
    fit.__dict__.update(state)
    fit.map = known_map(fit.source, fit.target, *chains)
    fit._lines.extend(lines)
    return True


def remember(
    fit: Fit, source: object, onto: Character | Skeleton, given: BoneMap | None, key: Hashable
) -> None:
    """Keeps what `fit` has found out, in place of the oldest where there is much already."""
    kept = _kept(onto)
    for old, entry in list(kept.items()):
        if entry[0]() is None:
            kept.pop(old, None)
    while len(kept) >= MOST_FITS:
        kept.pop(next(iter(kept)), None)
    state = {name: value for name, value in vars(fit).items() if name not in _OWN}
    chains = fit.map.chains, fit.map.notes, fit.map.humanoid
    lines: Report = fit._lines.build()
    of = weakref.ref(source), None if given is None else weakref.ref(given)
    kept[_key(source, given, key)] = (*of, state, chains, lines)
