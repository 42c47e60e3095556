"""Methods of the nouns whose work is done by a layer above.

`clip.sample(t)` and `skeleton.to_model(pose)` read best as methods, but sampling and kinematics live above the model.
Those methods look their function up by name on first use; it is the only way in which the model reaches upward.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any


@cache
def function(module: str, name: str) -> Any:
    """`marrow.<module>.<name>`, imported on first use."""
    return getattr(importlib.import_module(f"marrow.{module}"), name)
