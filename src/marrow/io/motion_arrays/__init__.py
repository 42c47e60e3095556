"""Motion as bare numbers: key points in 3D (NumPy, JSON, CSV, TRC, C3D), HumanML3D's features, Kimodo's arrays.

`read` tells what they are by their shape, names and proportions, and says it in the report; where two things are possible
it is an error that lists them. `motion=` of `mw.load` says it instead.
"""

from __future__ import annotations

from marrow.io.motion_arrays.reader import read

__all__ = ["read"]
