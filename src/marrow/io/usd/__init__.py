"""USD, through the `usd` extra: UsdSkel skeletons with their animations and blend shapes, meshes and their
materials.

A stage becomes one character: every transformable prim and every joint is a joint of its skeleton, and
everything that moves on the stage's one timeline is one clip.
"""

from marrow.io.usd.reader import read

__all__ = ["read"]
