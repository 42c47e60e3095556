"""The functions of the language itself: what Python calls them, and what they are called in the typed form."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from marrow.kernels.language.types import BOOL, FLOAT, INTEGER, Kind

__all__ = ["INTRINSICS"]

INTRINSICS: dict[str, tuple[tuple[Any, ...], int, Kind]] = {
    "sqrt": ((math.sqrt, np.sqrt), 1, FLOAT),  # rounded once; NaN below zero
    "floor": ((np.floor,), 1, FLOAT),
    "ceil": ((np.ceil,), 1, FLOAT),
    "fabs": ((math.fabs,), 1, FLOAT),
    "single": ((np.float32,), 1, FLOAT),  # rounded to float32
    "isnan": ((math.isnan, np.isnan), 1, BOOL),
    "isfinite": ((math.isfinite,), 1, BOOL),
    "copysign": ((math.copysign,), 2, FLOAT),
    "ldexp": ((math.ldexp,), 2, FLOAT),  # times a power of two, which must be one of a normal number
    "min": ((min,), 0, FLOAT),  # `b if b < a else a`: the first where one is NaN
    "max": ((max,), 0, FLOAT),  # `b if b > a else a`
    "abs": ((abs,), 1, FLOAT),
    "int": ((int, np.int64), 1, INTEGER),  # towards zero; the nearest there is; NaN is 0
    "float": ((float, np.float64), 1, FLOAT),
    "bool": ((bool,), 1, BOOL),
    "len": ((len,), 1, INTEGER),
}
"""By name: the Python functions that mean it, how many arguments it takes (0: any number), and what kind its result is (`min`, `max`
and `abs`: that of their arguments)."""

NAMES: dict[Any, str] = {
    function: name for name, (functions, _, _) in INTRINSICS.items() for function in functions
}
