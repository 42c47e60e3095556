"""What `SPRINGS` is made of: the constants of joints that swing, how they are checked, and frames in memory.

A *frame* is a place (3 numbers), a rotation (4) and a scale (1)."""

from __future__ import annotations

from marrow.kernels.language.constants import ConstantField, Constants, column, memory, number, whole
from marrow.kernels.operations.limbs import HEADER

__all__ = [
    "ALONG", "BLOCK_CONSTANTS", "BLOCK_STATE", "CAPSULE", "CENTERS", "FRAME", "HEAD", "INPUT", "LIMITS", "MODEL", "PLANE", "SINGLE",
    "SINGLE_FLOATS", "SPHERE", "SPRING_SET", "WORLD_VECTORS", "frame_place", "frame_rotation", "half_size", "kept_size", "put_frame",
]  # fmt: skip

WORLD_VECTORS = 12
"""The axes of the world and the wind, in model space."""
BLOCK_STATE, BLOCK_CONSTANTS = 96, 256
SINGLE, SINGLE_FLOATS = 11, 1
"""Whole numbers of the constants that there is one of, and floats."""
HEAD = 16
"""Where in a half of what is kept the tails begin."""
FRAME = 8
INPUT = 24
"""What is kept of an input: its frame, how fast it changed in the last update, and how fast that did."""
MODEL, ALONG = -1, -2
"""What a joint hangs on, where that is no slot: model space; the joint in the same lane of the block before, whose frame lies where it
is needed."""
CENTERS, LIMITS = 1, 2
"""What is the matter with the joints of a block: some swing in a center, some turn only so far."""
SPHERE, PLANE, CAPSULE = 0, 1, 2
"""Kinds of colliders."""


def half_size(blocks, inputs):
    return HEAD + BLOCK_STATE * blocks + INPUT * inputs


def kept_size(blocks, inputs, colliders):
    """Numbers that an instance keeps."""
    return 2 + 2 * half_size(blocks, inputs) + FRAME + INPUT * inputs + FRAME * colliders


def set_memory(work, springs):
    return kept_size(springs.blocks, springs.inputs, springs.colliders)


def within(work, springs):
    """Whether all numbers that name something name what is there."""
    J, slots = len(work.parents), springs.frames + springs.joints
    if springs.inputs < 0 or springs.frames < springs.inputs or springs.joints < 1 or springs.needs < 0:
        return False
    if springs.blocks < 1 or springs.blocks > springs.joints:
        return False
    if springs.colliders < 0 or springs.hits < 0 or slots > springs.needs or springs.body >= springs.inputs:
        return False
    if springs.needs > J:  # a level of detail that has none of them
        return True
    for k in range(springs.frames):
        j, p, b = springs.frame[k, 0], springs.frame[k, 1], springs.frame[k, 2]
        if j < 0 or j >= J or p >= slots or b < 0:
            return False
        if k < springs.inputs and p >= k:
            return False
    for b in range(springs.blocks):
        if (
            springs.lists[b, 0] < 0
            or springs.lists[b, 1] < 0
            or springs.lists[b, 0] + springs.lists[b, 1] > springs.hits
        ):
            return False
        for lane in range(16):
            at = 16 * b + lane
            j, p, c, own = (
                springs.lane_joint[b, lane],
                springs.lane_parent[b, lane],
                springs.lane_center[b, lane],
                springs.lane_slot[b, lane],
            )
            if j >= J or p >= slots or c >= slots or own >= slots or at < 0:
                return False
            if springs.lane_root[b, lane] >= springs.inputs or p < ALONG or (b == 0 and p == ALONG):
                return False
    for k in range(springs.colliders):
        if springs.collider[k, 0] >= slots or springs.collider[k, 2] < 0:
            return False
    sound = True
    for k in range(springs.hits):
        if springs.hit[k] < 0 or springs.hit[k] >= springs.colliders:
            sound = False
    return sound


def _wholes(meaning: str, width: int, each: str) -> ConstantField:
    return ConstantField(meaning, "i", width, each)


SPRING_SET = Constants(
    "springs",
    "joints that swing, what they hang on and what they hit",
    (within,),
    needs=whole("as many joints as a level of detail must have"),
    blocks=whole("blocks of 16 joints"),
    joints=whole("joints that swing"),
    inputs=whole("frames that the pose has, parents first"),
    frames=whole("these, and those that hang on joints that swing"),
    colliders=whole("colliders"),
    hits=whole("colliders of all blocks"),
    body=whole("the input that the body travels with (below zero: none)"),
    memory=memory("what is kept", set_memory),
    header=column("the header of the instance", HEADER),
    vectors=column("the axes of the world and the wind, in model space", WORLD_VECTORS),
    size=number("how large its metre is: 100 for a rig in centimetres"),
    lane_joint=_wholes("joints (below zero: none)", 16, "blocks"),
    lane_slot=_wholes("their slots (below zero: nothing else asks for them)", 16, "blocks"),
    lane_parent=_wholes("the slots they hang on (-1: model space, -2: the same lane of the block before)", 16, "blocks"),
    lane_center=_wholes("the slots of their centers (below zero: the world)", 16, "blocks"),
    lane_root=_wholes("the inputs that their chains hang on (below zero: model space)", 16, "blocks"),
    lists=_wholes("the first of its hits and how many, and 1 for centers, 2 for limits", 3, "blocks"),
    frame=_wholes("joint, the slot it hangs on (below zero: model space), the block before which it is known", 3, "frames"),
    collider=_wholes("the slot it moves with, 0: sphere, 1: plane, 2: capsule, the block before which it is known", 3, "colliders"),
    hit=_wholes("colliders", 1, "hits"),
    lanes=number("rows of 16 numbers, see `spring_lanes`", BLOCK_CONSTANTS, each="blocks"),
    shape=number("offset, way to the other end (or normal), radius, side (1: outside, -1: inside)", 8, each="colliders"),
    radii=number("radius of each joint of the block, far below zero for those that it does not hit", 16, each="hits"),
)  # fmt: skip


def put_frame(slots, at, p, q, scale):
    slots[at], slots[at + 1], slots[at + 2] = p[0], p[1], p[2]
    slots[at + 3], slots[at + 4], slots[at + 5], slots[at + 6] = q[0], q[1], q[2], q[3]
    slots[at + 7] = scale


def frame_place(slots, at):
    return (slots[at], slots[at + 1], slots[at + 2])


def frame_rotation(slots, at):
    return (slots[at + 3], slots[at + 4], slots[at + 5], slots[at + 6])
