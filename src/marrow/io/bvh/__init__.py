"""BVH, the motion-capture format: a skeleton of OFFSETs and one motion of Euler angles, in text.

`read` takes files in any dialect met in the wild; `write` stores one clip of a character.
"""

from marrow.io.bvh.reader import read
from marrow.io.bvh.writer import write

__all__ = ["read", "write"]
