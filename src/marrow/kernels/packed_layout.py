"""How packed motion lies in memory: clips in a tenth to a fiftieth of the room of their frames, from which the pose kernel samples.

A *record* is a row of 32-bit words; bits and octets count from the lowest of a word. Joints lie in groups of 16, as they do in lanes. Of each
group there is a *cell* for translations, rotations and scales, and of each 16 morph channels one for their weights; it says which of its 16
joints have which components. A component of a joint is a *channel*. Frames come in *segments* of up to 64, so that any of them is reached
at once; of each cell that has channels a segment has a *block*.

Head, in words: how many frames, groups of joints, groups of morph channels, and blocks in each segment there are; where the table of segments
begins; how many words there are; the frames of a segment; nothing; two words of zeros, an empty cell. Then, in halves of words, for each group of
joints: where the cell of its translations begins, and the number of its block (65535 for none); the same for rotations and scales. Then the same
for each group of morph channels. The table of segments has for each where it begins. All are counted in words from the beginning of the record.

Cell: four masks of 16 bits: which joints have a channel of the first, the second and the third component, and which have a value of their own to
start from in place of that of the clip's base pose. Then for each joint that has a channel an octet: the code of its step. Then the own values: of
rotations nine planes, three octets for each component; of others, from the next whole word on, a float for each component.

Segment: a half with the code of what all steps are multiplied by, a half of nothing, and for each block in a half where it begins, counted in
halves of words from the segment.

Block: an octet: in its bits 0 and 1 how many octets more than two a constant has; in bits 2 and 3 of how many degrees, the lowest ones, coefficients have two octets (others
have one); in bits 4 and 5 the degree; bit 6 where it is *broad*: where a joint has more than 32 bits in a frame, or all have more than 480. Then *planes*, which have an octet for each channel,
those of the first component in front, then those of the second, the third: the widths; the lowest octets of the constants, the next; for each coefficient its lowest
octets, and the next. Then the frames, one behind the other without a gap: for each joint, each of its channels, as many bits as its width says; 57
for a joint at most.

Constants and coefficients have the sign of their highest bit. A constant of four octets is a float. The k-th frame of a segment of S frames has in a
channel the whole number `constant + (a x + b y + c z + 512 >> 10) + bits`, where a, b and c are the coefficients and x, y and z are `shapes_at(k, S)`: Legendre
polynomials. That is multiplied by the step and by the segment's factor; a constant that is a float counts as zero there, and is added
after. The codes of steps are `8 (exponent + 28) + eighths`: the step is `(1 + eighths / 8) 2^exponent`.

Translations, scales and morph weights are added to where they start from. A rotation's three numbers m are its modified Rodrigues
parameters, `(2 m, 1 - |m|^2) / (1 + |m|^2)`, seen from where it starts; so are own values of rotations, in steps of 2^-23.
Two frames are mixed straight, the second on the side of the first.
"""

from __future__ import annotations

__all__ = [
    "BLOCKS",
    "EMPTY",
    "FRAMES",
    "GROUPS",
    "HEAD",
    "LENGTH",
    "MORPH_GROUPS",
    "NO_BLOCK",
    "SEGMENTS",
    "SPARE",
    "WORDS",
    "shapes_at",
    "step_of",
]

FRAMES, GROUPS, MORPH_GROUPS, BLOCKS, SEGMENTS, WORDS, LENGTH, _, EMPTY = range(9)
"""Where in the head of a record its sizes are, and the empty cell."""
HEAD = 10
"""Words of the head."""
SPARE = 16
"""Words that must lie behind a record, whatever they are: octets are read 64 at a time."""
LONGEST = 64
"""Frames of a segment, at most."""
NEAR_BITS, NEAR_ROW = 32, 480
"""Bits of a joint and of all joints of a block in a frame, at most, where it is not broad."""
NO_BLOCK = 0xFFFF
WIDEST = 24
"""Bits of a channel, at most."""
MOST_BITS = 57
"""Bits of a joint, at most."""
STEP_ONE = 28 * 8
"""The code of a step of 1."""
STEP_BASE = (127 - 28) << 3
"""What is added to a code to make it the upper bits of a float32."""
OWN_BITS = 24
"""Bits of each number of an own rotation."""


def step_of(code: int) -> float:
    """The step that a code stands for."""
    return float((8 + (code & 7)) * 2.0 ** ((code >> 3) - 31))


def shapes_at(k, length):
    """1024 times the Legendre polynomials of degrees 1 to 3 at a frame of a segment, as whole numbers."""
    x = (2 * k - length + 1) * (32768 // length)
    squared = (x * x) >> 15
    return x >> 5, ((3 * squared) >> 6) - 512, (5 * ((squared * x) >> 15) - 3 * x) >> 6
