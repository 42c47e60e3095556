"""`plan_springs`: joints that swing, laid out in blocks of 16 for `SPRINGS`.

A joint is solved after the joint it hangs on, and after those that its colliders and its center hang on. Blocks are
filled with joints that wait for none of the same block, those with the longest chains below them first. A joint lies
in the same lane as the joint it hangs on where that is in the block before: its frame need not be looked for then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from marrow.kernels.operations.limbs import TICKS
from marrow.kernels.operations.spring_lanes import CONSTANT_ROWS
from marrow.kernels.operations.spring_set import ALONG, CAPSULE, CENTERS, LIMITS, PLANE, SPHERE, kept_size
from marrow.kernels.operations.springs_reference import SwingingJoint, TouchedCollider
from marrow.math.elementary import sincos
from marrow.model.skeleton import Skeleton

__all__ = ["UNLIMITED", "SpringPlan", "named_chains", "plan_springs", "retuned"]

LANES = 16
UNLIMITED = np.pi - 1e-6
"""Who may turn as far or further has no limit."""
UNTOUCHED = -1e30
"""The radius of a joint that a collider does not touch."""
SHORTEST = 1e-6
"""Metres: a joint whose tail is nearer has no direction, and does not swing."""

SMALL, LARGE = 0.3, 3.0
"""How large rigs in metres are."""


@dataclass(frozen=True, eq=False)
class SpringPlan:
    """What swings, in the order in which it is solved, and the `fields` of `SPRING_SET` but for where things lie;
    `kept` numbers an instance keeps. `dropped` says what does not swing or touch, and why."""

    joints: tuple[SwingingJoint, ...]
    colliders: tuple[TouchedCollider, ...]
    fields: dict[str, Any]
    kept: int
    dropped: tuple[str, ...]
    place: dict[str, int] = field(default_factory=dict)
    """The fields that say where things lie, in the graph it was laid out for; and where in that graph's constants it is
    (`at`), and which of its vectors of the world the wind is (`wind`)."""
    at: int = -1
    wind: int = -1


def retuned(plan: SpringPlan, joints: Sequence[SwingingJoint]) -> SpringPlan:
    """The same plan with other settings of its joints."""
    own = {s.joint: s for s in joints}
    fields = plan.fields
    lanes, radii, lists = (np.array(fields[n]) for n in ("lanes", "radii", "lists"))
    for b, row in enumerate(fields["lane_joint"]):
        first, count, kind = lists[b]
        here = {lane: own[int(j)] for lane, j in enumerate(row) if j >= 0}
        for lane, s in here.items():
            lanes[b, :, lane] = _constants(s)
            hits = radii[first : first + count]
            if count:
                hits[hits[:, lane] > UNTOUCHED, lane] = s.radius
        lists[b, 2] = CENTERS * (kind in (CENTERS, CENTERS + LIMITS)) + LIMITS * _limited(here.values())
    return replace(
        plan, joints=tuple(joints), fields={**fields, "lanes": lanes, "radii": radii, "lists": lists}
    )


def named_chains(plans: Mapping[str, SpringPlan]) -> dict[str, tuple[str, tuple[int, ...]]]:
    """What swings by the names of its chains: the path of the plan, and joints by number. A name that two plans have has
    the path of the second before it there."""
    found: dict[str, tuple[str, tuple[int, ...]]] = {}
    for path, plan in plans.items():
        joints: dict[str, list[int]] = {}
        for spring in sorted(plan.joints, key=lambda s: s.joint):
            joints.setdefault(spring.chain, []).append(spring.joint)
        for name, those in joints.items():
            found[name if name not in found else f"{path}: {name}"] = path, tuple(those)
    return found


def _limited(joints: Iterable[SwingingJoint]) -> bool:
    return any(s.limit < UNLIMITED for s in joints)


class _Layout:
    """Who waits for whom."""

    def __init__(
        self, skeleton: Skeleton, joints: list[SwingingJoint], colliders: Sequence[TouchedCollider]
    ) -> None:
        self.skeleton, self.colliders = skeleton, colliders
        self.of = {s.joint: k for k, s in enumerate(joints)}
        self.joints = joints

    def swinging(self, joint: int) -> int:
        """The joint that swings at or above a joint: its number, -1 where none does."""
        while joint >= 0:
            if joint in self.of:
                return self.of[joint]
            joint = int(self.skeleton.parents[joint])
        return -1

    def root(self, joint: int) -> int:
        """What does not swing nor hangs on what does, above a joint that does: its number, -1 where there is nothing."""
        while (k := self.swinging(joint)) >= 0:
            joint = int(self.skeleton.parents[self.joints[k].joint])
        return joint

    def above(self, k: int) -> int:
        return self.swinging(int(self.skeleton.parents[self.joints[k].joint]))

    def waits_for(self, k: int) -> set[int]:
        """The joints that are solved before one."""
        spring = self.joints[k]
        found = {self.above(k), self.swinging(spring.center)}
        found |= {self.swinging(self.colliders[c].joint) for c in spring.hits}
        return found - {-1}


def plan_springs(
    skeleton: Skeleton, joints: Sequence[SwingingJoint], colliders: Sequence[TouchedCollider], body: int = -1
) -> SpringPlan:
    """Lays springs out; `body` is the joint that the whole body travels with (-1: none)."""
    dropped: list[str] = []
    names = skeleton.names
    swing: list[SwingingJoint] = []
    taken: set[int] = set()
    for spring in joints:
        if spring.joint in taken:
            dropped.append(f"{names[spring.joint]!r} swings in two springs: the first counts")
        elif float(np.linalg.norm(spring.tail)) < SHORTEST:
            dropped.append(f"{names[spring.joint]!r} has no length, and does not swing")
        else:
            swing.append(spring)
            taken.add(spring.joint)
    layout = _Layout(skeleton, swing, colliders)
    _cut_circles(layout, dropped)
    blocks = _blocks(layout)
    return _packed(layout, blocks, body, tuple(dropped))


def _cut_circles(layout: _Layout, dropped: list[str]) -> None:
    """Leaves out colliders and centers that hang on joints that would wait for them."""
    swing, names = layout.joints, layout.skeleton.names
    order: list[int] = []
    done = [False] * len(swing)

    def hangs(k: int, on: int) -> bool:
        while k >= 0:
            if k == on:
                return True
            k = layout.above(k)
        return False

    for k, spring in enumerate(swing):
        kept = tuple(c for c in spring.hits if not hangs(layout.swinging(layout.colliders[c].joint), k))
        if len(kept) < len(spring.hits):
            dropped.append(f"{names[spring.joint]!r} is not touched by colliders on its own chain")
        center = spring.center
        if center >= 0 and hangs(layout.swinging(center), k):
            dropped.append(f"{names[spring.joint]!r} swings in the world: its center hangs on it")
            center = -1
        swing[k] = replace(spring, hits=kept, center=center)

    def visit(k: int, path: tuple[int, ...]) -> None:
        """Depth first; what leads back is cut where it closes the circle."""
        if done[k]:
            return
        for other in sorted(layout.waits_for(k)):
            if other in path or other == k:
                spring = swing[k]
                hits = tuple(c for c in spring.hits if layout.swinging(layout.colliders[c].joint) != other)
                center = -1 if layout.swinging(spring.center) == other else spring.center
                swing[k] = replace(spring, hits=hits, center=center)
                dropped.append(
                    f"{names[spring.joint]!r} and {names[swing[other].joint]!r} wait for each other's colliders: "
                    "the first is not touched by the other's"
                )
            else:
                visit(other, (*path, k))
        done[k] = True
        order.append(k)

    for k in range(len(swing)):
        visit(k, ())


def _in_lanes(layout: _Layout, chosen: list[int], before: list[int]) -> list[int]:
    """The joints of a block by their lanes (-1: none): behind what they hang on, where that is in the block before."""
    lanes = [-1] * LANES
    parents = layout.skeleton.parents.tolist()
    lane_of = {layout.joints[k].joint: lane for lane, k in enumerate(before) if k >= 0}
    rest = []
    for k in chosen:
        lane = lane_of.get(parents[layout.joints[k].joint], -1)
        if lane >= 0 and lanes[lane] < 0:
            lanes[lane] = k
        else:
            rest.append(k)
    for k in rest:
        lanes[lanes.index(-1)] = k
    return lanes


def _blocks(layout: _Layout) -> list[list[int]]:
    """Joints in blocks by their lanes (-1: none), each after those it waits for."""
    count = len(layout.joints)
    waits = [layout.waits_for(k) for k in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    for k in range(count):
        for other in waits[k]:
            below[other].append(k)
    height: dict[int, int] = {}

    def measured(k: int) -> int:
        if k not in height:
            height[k] = 1 + max((measured(b) for b in below[k]), default=0)
        return height[k]

    left = [len(w) for w in waits]
    ready = [k for k in range(count) if not left[k]]
    blocks: list[list[int]] = []
    while ready:
        ready.sort(key=lambda k: (-measured(k), layout.joints[k].center >= 0, k))
        block, ready = _in_lanes(layout, ready[:LANES], blocks[-1] if blocks else []), ready[LANES:]
        blocks.append(block)
        for k in filter(lambda k: k >= 0, block):
            for b in below[k]:
                left[b] -= 1
                if not left[b]:
                    ready.append(b)
    return blocks


def _packed(layout: _Layout, blocks: list[list[int]], body: int, dropped: tuple[str, ...]) -> SpringPlan:
    swing, parents = layout.joints, layout.skeleton.parents.tolist()
    block_of = {k: b for b, block in enumerate(blocks) for k in block if k >= 0}

    def ready(joint: int) -> int:
        k = layout.swinging(joint)
        return 0 if k < 0 else block_of[k] + 1

    # Frames: all that joints, centers and colliders hang on and that does not swing.
    wanted = (
        {parents[s.joint] for s in swing} | {s.center for s in swing} | {c.joint for c in layout.colliders}
    )
    frames: set[int] = set()
    for joint in wanted:
        while joint >= 0 and joint not in layout.of:
            frames.add(joint)
            joint = parents[joint]
    ordered = sorted(frames, key=lambda j: (ready(j), j))
    inputs = sum(layout.swinging(j) < 0 for j in ordered)
    while body >= 0 and body not in ordered[:inputs]:
        body = parents[body]
    order = [k for block in blocks for k in block if k >= 0]
    slot = {j: k for k, j in enumerate(ordered)}
    slot |= {swing[k].joint: len(ordered) + n for n, k in enumerate(order)}
    slot[-1] = -1
    places = sorted(range(len(layout.colliders)), key=lambda c: (ready(layout.colliders[c].joint), c))
    new = {old: at for at, old in enumerate(places)}
    colliders = tuple(layout.colliders[c] for c in places)
    swing = [replace(s, hits=tuple(new[c] for c in s.hits)) for s in swing]
    fields: dict[str, Any] = {
        "needs": max([*(j for j in slot), -1]) + 1,
        "blocks": len(blocks),
        "joints": len(order),
        "inputs": inputs,
        "body": ordered.index(body) if body >= 0 else -1,
        "frames": len(ordered),
        "size": _size(layout.skeleton),
        "colliders": len(colliders),
        "frame": [(j, slot[parents[j]] if parents[j] >= 0 else -1, ready(j)) for j in ordered],
        "collider": [(slot[c.joint], _kind(c), ready(c.joint)) for c in colliders],
        "shape": [(*c.offset, *c.way, c.radius, -1.0 if c.inside else 1.0) for c in colliders],
    }
    lanes = np.full((5, len(blocks), LANES), -1)
    constants = np.zeros((len(blocks), CONSTANT_ROWS, LANES))
    constants[:, 7], constants[:, 13], constants[:, 15] = 1.0, -2.0, 1.0
    # Joints whose frames somebody else asks for.
    asked = {parents[j] for j in ordered} | {c.joint for c in colliders} | {s.center for s in swing}
    hits: list[int] = []
    radii: list[np.ndarray[Any, Any]] = []
    lists = []
    for b, block in enumerate(blocks):
        own = {lane: swing[k] for lane, k in enumerate(block) if k >= 0}
        for lane, s in own.items():
            above = parents[s.joint]
            if b and above >= 0 and lanes[0, b - 1, lane] == above:
                hangs = ALONG
            else:
                hangs = slot[above]
                asked.add(above)
            lanes[:, b, lane] = s.joint, slot[s.joint], hangs, slot[s.center], slot[layout.root(s.joint)]
            constants[b, :, lane] = _constants(s)
        first = len(hits)
        for collider, rows in _merged(own):
            hits.append(collider)
            radii.append(rows)
        what = CENTERS * any(s.center >= 0 for s in own.values())
        what += LIMITS * _limited(own.values())
        lists.append((first, len(hits) - first, what))
    lanes[1][~np.isin(lanes[0], [j for j in asked if j >= 0])] = -1
    fields |= dict(zip(("lane_joint", "lane_slot", "lane_parent", "lane_center", "lane_root"), lanes))
    fields |= {"lists": lists, "hits": len(hits), "hit": hits, "radii": np.array(radii), "lanes": constants}
    return SpringPlan(
        tuple(swing[k] for k in order),
        colliders,
        fields,
        int(kept_size(len(blocks), inputs, len(colliders))),  # type: ignore[no-untyped-call]
        dropped,
    )


def _kind(collider: TouchedCollider) -> int:
    if collider.plane:
        return PLANE
    return CAPSULE if np.abs(collider.way).max(initial=0.0) > 0 else SPHERE


def _size(skeleton: Skeleton) -> float:
    """How large a metre is to a rig: 1, unless it is too large or too small to be in metres."""
    extent = float(np.ptp(skeleton.rest_model[:, :, 3], axis=0).max(initial=0.0))
    return extent / min(max(extent, SMALL), LARGE) if extent > 0 else 1.0


def _constants(s: SwingingJoint) -> list[float]:
    """The numbers of a joint, see `spring_lanes.CONSTANT_ROWS`."""
    length = float(np.linalg.norm(s.tail))
    # Who may turn as far as it likes is never beyond its limit.
    sine, cosine = sincos(s.limit)
    limit = (float(cosine), float(sine)) if s.limit < UNLIMITED else (-2.0, 0.0)
    return [
        *(s.tail / length), length, *s.rest, s.stiffness / TICKS, 1.0 - s.drag, *(s.gravity / TICKS), *limit,
        float(s.center < 0),
    ]  # fmt: skip


def _merged(block: dict[int, SwingingJoint]) -> list[tuple[int, np.ndarray[Any, Any]]]:
    """The colliders of a block, its joints by their lanes, with the radius of each joint, each joint's in its own order."""
    left = {lane: list(s.hits) for lane, s in block.items()}
    out = []
    while any(left.values()):
        heads = [hits[0] for hits in left.values() if hits]
        collider = max(sorted(set(heads)), key=heads.count)
        radii = np.full(LANES, UNTOUCHED)
        for lane, hits in left.items():
            if hits and hits[0] == collider:
                radii[lane] = block[lane].radius
                hits.pop(0)
        out.append((collider, radii))
    return out
