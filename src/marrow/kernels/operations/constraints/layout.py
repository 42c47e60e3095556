"""How a set of constraints lies among the constants of a graph, and the names of what its numbers mean."""

from __future__ import annotations

from marrow.kernels.language.constants import Constants, choice, column, joint, memory, number, whole
from marrow.kernels.operations.limbs import HEADER, keeps

__all__ = [
    "AIM", "ALL_AXES", "AXES", "CHAIN", "CONSTRAINED", "COPY", "COPY_MODEL", "DISTANCE", "DRIVE", "FOLLOW", "FOLLOW_STATE", "HAS_UP",
    "LIMIT", "OVER_REST", "POLE", "ROTATION", "SCALE", "SPLINE", "TRANSLATION", "UP_SOURCE",
]  # fmt: skip

COPY, COPY_MODEL, AIM, POLE, FOLLOW, LIMIT, DRIVE, DISTANCE, SPLINE, CHAIN = range(10)
"""What a constraint does."""
TRANSLATION, ROTATION, SCALE = 1, 2, 4
"""Channels, parts of `option`."""
AXES, ALL_AXES = 8, 56
"""The axis x in `option`; y and z are the next bits."""
OVER_REST, HAS_UP, UP_SOURCE = 64, 128, 256
"""It works on the rest pose of its joint; it has a way up; that is the last of its sources."""
FOLLOW_STATE = 15
"""What a joint that follows keeps: whether it does, place, goal, rotation, rotation of the goal."""


def follow_numbers(work, record):
    return record.followers * (1 + 2 * FOLLOW_STATE)


def vector_numbers(work, record):
    return record.vector_count


def in_place(work, c):
    """Whether the parts of every constraint lie inside those of the set."""
    if c.count < 0 or c.source_count < 0 or c.refresh_count < 0 or c.key_count < 0 or c.vector_count < 0:
        return False
    for k in range(c.count):
        sources, refreshes, keys = c.sources[k], c.refreshes[k], c.keys[k]
        if c.first_source[k] < 0 or sources < 0 or c.first_source[k] + sources > c.source_count:
            return False
        if c.first_refresh[k] < 0 or refreshes < 0 or c.first_refresh[k] + refreshes > c.refresh_count:
            return False
        if c.first_key[k] < 0 or keys < 0 or c.first_key[k] + keys > c.key_count:
            return False
        if c.weight[k] < 0 or c.weight[k] >= c.vector_count:
            return False
        if c.target[k] >= 0 and c.target[k] + 3 > c.vector_count:
            return False
        kind, extra = c.kind[k], c.extra[k]
        if kind == FOLLOW and (extra < 0 or extra >= c.followers or c.memory < 0):
            return False
        if kind == DRIVE and (extra >= work.Mp or sources < 1 or keys < 1):
            return False
        if kind >= SPLINE and (extra < 2 or extra > sources):
            return False
        if kind == SPLINE and sources - extra < 2:
            return False
        if kind == POLE and sources < 2:
            return False
        if kind <= COPY_MODEL and sources < 1:
            return False
    return True


CONSTRAINED = Constants(
    "constraint set",
    "constraints, each after those it depends on",
    (in_place,),
    count=whole("how many constraints"),
    source_count=whole("how many sources all of them have"),
    refresh_count=whole("how many joints all of them refresh"),
    key_count=whole("how many keys all of them have"),
    vector_count=whole("how many numbers its vectors have"),
    followers=whole("how many constraints follow"),
    vectors=column("weights, and targets that are no joints", vector_numbers),
    memory=memory("where those are that follow", follow_numbers, none="none does"),
    header=column("the header of the instance", HEADER, where=keeps),
    kind=choice("what it does: copy, copy in model space, aim, pole, follow, limit, drive, distance, spline, chain", 10, each="count"),
    joint=joint("the joint it moves", each="count"),
    parent=joint("the parent of that", each="count", none="none"),
    option=whole("channels, axes and switches: a sum", each="count"),
    extra=whole("a morph, how many sources are of one kind, or who it is among those that follow", each="count"),
    weight=whole("which of the vectors is its weight", each="count"),
    target=whole("where in the vectors its target is; below zero: its sources are", each="count"),
    first_source=whole("its first source", each="count"),
    sources=whole("how many it has", each="count"),
    first_refresh=whole("its first joint to refresh", each="count"),
    refreshes=whole("how many it has", each="count"),
    first_key=whole("its first key", each="count"),
    keys=whole("how many it has", each="count"),
    rest=number("the rest pose of the joint: translation, rotation, scale", 10, each="count"),
    numbers=number("what they are depends on `kind`", 24, each="count"),
    source=joint("a joint that is looked at", each="source_count"),
    refresh=joint("a joint whose place in model space is worked out, parents first", each="refresh_count"),
    share=number("how much of a source counts", each="source_count"),
    before=number("a rotation before that of the source", 4, each="source_count"),
    after=number("one behind it", 4, each="source_count"),
    offset=number("an offset in its frame, or factors", 3, each="source_count"),
    key=number("a key of a curve: where, and what", 2, each="key_count"),
)  # fmt: skip
