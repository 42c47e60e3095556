"""Which joint of a skeleton is across from which: by names, and by what hangs from what."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.model import Skeleton
from marrow.motion.joint_names import labels, other_side
from marrow.printing import warn

__all__ = ["find_partners"]

Array = NDArray[Any]
_NUMBER = re.compile(r"[\s_.\-]*\d+[\s_.\-)\]]*$")
MIDDLE, ACROSS = 0.01, 0.05
"""Joints further than this from the middle are beside it, and two this near to each other's mirror image are across from
each other: shares of the skeleton's size."""


def find_partners(skeleton: Skeleton, table: Mapping[str, str], axis: int) -> tuple[Array, Array]:
    """The partner of each joint, `(J,)` (its own where it has none), by `table`, else by name; and which are `alone`,
    `(J,)` bool: ends on one side that the other lacks.

    Names go first as they are, then without regard to case, then without a number at their end; the latter two among the
    joints that hang from partners, where there is one such name on each side."""
    partner = _by_name(skeleton, table)
    alone = np.zeros(len(skeleton), bool)
    # Ends without a partner, down to the last below them.
    loose = [label.end and int(partner[j]) == j for j, label in enumerate(labels(skeleton.names))]
    for j in range(len(skeleton) - 1, -1, -1):
        above = int(skeleton.parents[j])
        if above >= 0:
            loose[above] = loose[above] and loose[j]
    for j in range(len(skeleton)):
        k, above = int(partner[j]), int(skeleton.parents[j])
        if int(partner[k]) != j:
            raise ValidationError(
                f"mirrored: {skeleton.names[j]!r} is paired with {skeleton.names[k]!r}, which is paired with "
                f"{skeleton.names[partner[k]]!r}; give pairs= for them"
            )
        there = int(skeleton.parents[k])
        if (above < 0) == (there < 0) and (above < 0 or (int(partner[above]) == there and not alone[above])):
            continue
        if j == k and (loose[j] or not len(skeleton.children(j))):
            alone[j] = True
            continue
        raise ValidationError(
            f"mirrored: {skeleton.names[j]!r} and {skeleton.names[k]!r} hang from joints that do not mirror "
            "each other; give pairs= for them"
        )
    if alone.any():
        names = [skeleton.names[j] for j in np.flatnonzero(alone)]
        warn(
            f"mirrored: nothing is across from {', '.join(map(repr, names[:4]))}"
            + (f" and {len(names) - 4} more" if len(names) > 4 else "")
            + ", which does as it did; pairs= tells what is",
        )
    if not table and (partner == np.arange(len(skeleton))).all():
        _refuse_sides(skeleton, axis)
    return partner, alone


def _by_name(skeleton: Skeleton, table: Mapping[str, str]) -> Array:
    names, J = skeleton.names, len(skeleton)
    partner = np.full(J, -1, np.int32)
    table = {names[skeleton.index(a)]: b for a, b in table.items()}  # what is named as a part has a name, too
    for j, name in enumerate(names):
        if name in table:
            partner[j] = skeleton.index(table[name])
    families: dict[int, list[int]] = {}
    for j, p in enumerate(skeleton.parents.tolist()):
        families.setdefault(p, []).append(j)
    # Parents come before their children: whose family is across from whose is known by then.
    for above in range(-1, J):
        mine = families.get(above, [])
        across = int(partner[above]) if above >= 0 else -1
        theirs = families.get(across, [])
        for key in (str, str.casefold, lambda name: _NUMBER.sub("", name).casefold()):
            _pair(names, partner, mine, theirs, key)
        for j in mine:
            if partner[j] < 0:
                # One elsewhere is none to go by, but says that the names are not understood.
                other = other_side(names[j])
                known = other != names[j] and other in skeleton
                k = skeleton.index(other) if known else j
                partner[j] = k if partner[k] < 0 else j
    return partner


def _pair(
    names: tuple[str, ...], partner: Array, mine: list[int], theirs: list[int], key: Callable[[str], str]
) -> None:
    """Makes those partners that have no other and of which one name each is, by `key`, the other side's."""
    free = [j for j in mine if partner[j] < 0]
    there = [k for k in theirs if partner[k] < 0]
    own = {k: key(names[k]) for k in {*free, *there}}
    here, across = Counter(own[j] for j in free), Counter(own[k] for k in there)
    found = {own[k]: k for k in there}
    for j in free:
        other = key(other_side(names[j]))
        if other != own[j] and here[own[j]] == 1 and across[other] == 1 and partner[j] < 0:
            k = found[other]
            if partner[k] < 0 and key(other_side(names[k])) == own[j]:
                partner[j], partner[k] = k, j


def _refuse_sides(skeleton: Skeleton, axis: int) -> None:
    """A skeleton without a single pair may be one without sides; one with joints across from each other is not."""
    at = skeleton.rest_model[..., 3].astype(np.float64)
    size = float(np.ptp(at, axis=0).max(initial=0.0))
    beside = np.flatnonzero(np.abs(at[:, axis]) > MIDDLE * size)
    if not len(beside) or size <= 0:
        return
    image = at[beside] * np.where(np.arange(3) == axis, -1.0, 1.0)
    gaps = np.linalg.norm(image[:, None] - at[beside][None], axis=-1)
    i, k = (int(beside[n]) for n in np.unravel_index(int(np.argmin(gaps)), gaps.shape))
    hint = "give pairs=, a table of the names that are across from each other"
    if i != k and gaps.min() < ACROSS * size:
        raise ValidationError(
            f"mirrored: no joint's name says which is across from it; {hint}, such as "
            f"{{{skeleton.names[i]!r}: {skeleton.names[k]!r}}}"
        )
    warn(f"mirrored: no joint has a partner, each mirrors itself; {hint}")
