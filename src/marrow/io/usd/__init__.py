"""USD, through the `usd` extra: UsdSkel skeletons with their animations and blend shapes, meshes and their
materials.

A stage becomes one character: every transformable prim and every joint is a joint of its skeleton, and
everything that moves on the stage's one timeline is one clip. USD is native code that opens layers by itself
and does not survive every damaged file, so it runs in a short-lived process with limits on time and memory.
"""

from marrow.io.usd.process import read

__all__ = ["read"]
