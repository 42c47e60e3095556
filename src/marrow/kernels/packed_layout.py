"""How packed motion lies in memory: clips in a tenth to a fiftieth of the room of their frames, from which the pose kernel samples.

A *record* is a row of 32-bit words; offsets count words from its beginning, bits count from the lowest of a word. Joints lie in
groups of 16, as they do in lanes. Of each group there is a *cell* for translations, rotations and scales, and of each 16 morph
channels one for their weights; it says which of its 16 joints have a track, and of which components. Frames come in *segments* of 16,
so that any of them is reached at once; of each cell that has tracks a segment has a *block*.

Head: how many frames, groups of joints, groups of morph channels, and blocks in each segment there are; where the table of segments
begins; how many words there are; two words of zeros, an empty cell. Then, in halves of words, for each group of joints: where
the cell of its translations begins, the number of its block (the last for none), the same for rotations and scales; then the same for
each group of morph channels. The table of segments has for each where it begins.

Cell: four masks of 16 bits: which joints have a track of the first, the second and the third component, and which have a value of their
own to start from in place of that of the clip's base pose. For each joint that has a track, a half: its step (8 bits) and the width of
its constants (5 bits above these). Then, from the next whole word on, the own values: of a rotation three numbers of 21 bits in two
words, else floats.

Segment: a half with the scale of all steps, an empty one, and for each block in a half where it begins, counted from the segment.

Block: for each track in turn the widths of the components (5 bits each), the width of its coefficients (5 bits), its degree (2 bits). Then for
each track and each component that it has: a constant, and as many coefficients as its degree says. Then the frames in turn: for each
track, each of its components, as many bits as its width says.

The k-th frame of a segment has for each component the whole number
`constant + (a (k - 8) 128 + b (24 (k - 8)^2 - 512) + c (5 (k - 8)^3 - 192 (k - 8)) + 512) >> 10 + bits`, where a, b and c are the
coefficients: Legendre polynomials. Constants and coefficients of width w are stored as differences from `-(1 << w >> 1)`. It is multiplied
by the step and the scale. Steps and scales are floats with an exponent of 5 bits and 3 bits behind the point: the code is
`8 (exponent + 28) + eighths`. A constant of width 31 is a float of 32 bits, added after that.

Translations, scales and morph weights are added to where they start from. A rotation's three numbers m are its modified Rodrigues
parameters, `(2 m, 1 - |m|^2) / (1 + |m|^2)`, seen from where it starts; so are own values of rotations, where 2^20 is 0 and steps are 2^-20.
Frames are mixed straight, the second on the side of the first, and made unit.
"""

from __future__ import annotations

__all__ = ["BLOCKS", "FLOAT_WIDTH", "FRAMES", "GROUPS", "HEAD", "MORPH_GROUPS", "NO_BLOCK", "SEGMENT", "SEGMENTS", "WORDS", "step_of"]

SEGMENT = 16
"""Frames of a segment."""
FRAMES, GROUPS, MORPH_GROUPS, BLOCKS, SEGMENTS, WORDS, EMPTY = range(7)
"""Where in the head of a record its sizes are, and the empty cell."""
HEAD = 8
"""Words of the head."""
NO_BLOCK = 0xFFFF
FLOAT_WIDTH = 31
"""The width that says that a constant is a float."""
WIDEST = 24
"""Bits of a number, at most."""
COEFFICIENT_WIDEST = 19
STEP_ONE = 28 * 8
"""The code of a step of 1."""
STEP_BASE = (127 - 28) << 3
"""What is added to a code to make it the upper bits of a float32."""
DESCRIPTOR = 7
"""Bits that describe a track, beside five for each component."""
OWN_BITS = 21
"""Bits of each number of an own rotation."""


def step_of(code: int) -> float:
    """The step that a code stands for."""
    return float((8 + (code & 7)) * 2.0 ** ((code >> 3) - 31))
