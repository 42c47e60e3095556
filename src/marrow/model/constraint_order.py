"""In which order constraints are solved: each after those that move what it looks at."""

from __future__ import annotations

from collections.abc import Sequence

from marrow.errors import ValidationError
from marrow.model.constraints import Constraint, DriveChannel
from marrow.model.skeleton import Skeleton

__all__ = ["circle_path", "constraint_order", "found_circle", "refuse_itself"]


def refuse_itself(constraint: Constraint, skeleton: Skeleton, where: str) -> None:
    """Refuses a constraint that looks at the joint it moves. A channel may drive another channel of its joint."""
    moved = {skeleton.index(j) for j in constraint.moves()}
    if isinstance(constraint, DriveChannel) and constraint.channel != constraint.source_channel:
        return
    for name in constraint.reads():
        joint = skeleton.index(name)
        if joint in moved:
            raise ValidationError(
                f"{where}: it looks at the joint that it moves, {skeleton.names[joint]!r}: name another source"
            )


def constraint_order(constraints: Sequence[Constraint], skeleton: Skeleton, where: str) -> list[int]:
    """The numbers of constraints in the order of who depends on whom, else as they are given; those of one joint stay
    in their order. A circle is an error that names its joints."""
    before = _before(constraints, skeleton)
    done: list[int] = []
    ready = set[int]()
    waiting = list(range(len(constraints)))
    while waiting:
        k = next((k for k in waiting if before[k] <= ready), None)
        if k is None:
            circle = found_circle(constraints, skeleton) or []
            path = circle_path(circle, constraints, skeleton)
            raise ValidationError(f"{where}: constraints depend on each other in a circle: {path}")
        waiting.remove(k)
        ready.add(k)
        done.append(k)
    return done


def circle_path(circle: Sequence[int], constraints: Sequence[Constraint], skeleton: Skeleton) -> str:
    """A circle in words: the joints of its constraints; where one looks at a joint below what it moves, that joint too."""
    if len(circle) == 2:
        alone = constraints[circle[0]]
        own = {skeleton.index(j) for j in alone.moves()}
        for looked in map(skeleton.index, alone.reads()):
            above = own.intersection(skeleton.ancestors(looked))
            if above:
                name = skeleton.names[max(above)]
                return f"{name} -> {skeleton.names[looked]} (below it) -> {name}"
    moved = [constraints[k].moves()[0] for k in circle]
    return " -> ".join(skeleton.names[skeleton.index(joint)] for joint in moved)


def found_circle(constraints: Sequence[Constraint], skeleton: Skeleton) -> list[int] | None:
    """The numbers of constraints of which each depends on the one before, the first once more at the end; None where
    none do so."""
    before = _before(constraints, skeleton)
    state = [0] * len(constraints)
    for first in range(len(constraints)):
        if state[first]:
            continue
        path, rest = [first], [iter(sorted(before[first]))]
        state[first] = 1
        while path:
            other = next(rest[-1], None)
            if other is None:
                state[path.pop()] = 2
                rest.pop()
            elif state[other] == 1:
                circle = path[path.index(other) :]
                return [*circle, other][::-1]
            elif state[other] == 0:
                state[other] = 1
                path.append(other)
                rest.append(iter(sorted(before[other])))
    return None


def _before(constraints: Sequence[Constraint], skeleton: Skeleton) -> list[set[int]]:
    """For each constraint those that come before it; itself where it looks at what it moves."""
    moved = [frozenset(skeleton.index(j) for j in c.moves()) for c in constraints]
    writers: dict[int, list[int]] = {}
    for k, joints in enumerate(moved):
        for j in joints:
            writers.setdefault(j, []).append(k)
    before: list[set[int]] = []
    for k, c in enumerate(constraints):
        looked, own, circular = {skeleton.index(j) for j in c.reads()}, moved[k], False
        if c.in_model_space:
            looked |= {a for j in looked for a in skeleton.ancestors(j)}
            circular = bool(looked & own)
            for j in own:
                looked.update(skeleton.ancestors(j))
        found = {i for j in looked - own for i in writers.get(j, ()) if not (moved[i] & own)}
        # Of those that move the same joint the earlier one comes first.
        found |= {i for j in own for i in writers[j] if i < k}
        if circular:
            found.add(k)
        before.append(found)
    return before
