"""Markers on the skin, as optical capture records them (Vicon's Plug-in Gait and sets like it), as joints inside the body.

Hip joints lie inside and below the front of the pelvis (Bell and others, 1990: 14 % of the distance between the front
markers inwards, 22 % back, 30 % down). Knees, ankles and elbows are half a joint's width inside their outer markers,
shoulders below theirs, wrists between two. Widths go by the bones, since a file does not tell them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["joints_of_markers"]

Array = NDArray[Any]
_SAME = {
    "FWT": "ASI", "IAS": "ASI", "ASIS": "ASI", "BWT": "PSI", "IPS": "PSI", "PSIS": "PSI", "KNEE": "KNE", "LFC": "KNE",
    "ANKLE": "ANK", "LMAL": "ANK", "HEEL": "HEE", "CAL": "HEE", "TOES": "TOE", "MT2": "TOE", "ACR": "SHO",
    "SHOULDER": "SHO", "ELBOW": "ELB", "WRI": "WRA", "WRIST": "WRA", "IWR": "WRA", "OWR": "WRB", "RSP": "WRA", "USP": "WRB",
}  # fmt: skip
_NEEDED = tuple(side + name for name in ("ASI", "KNE", "ANK", "SHO", "ELB", "WRA") for side in "LR")
HIP = (0.14, 0.22, 0.30)
"""Inwards, back and down from a front marker of the pelvis, by the distance between both."""
KNEE, ANKLE, ELBOW, SHOULDER = 0.12, 0.09, 0.12, 0.13
"""From a marker to the middle of its joint: by the length of the shin, of the shin, of the forearm, of the shoulders."""
BENT = 0.3
"""The sine of the bend from which on an elbow shows its axis."""


def joints_of_markers(names: Sequence[str], places: Array) -> tuple[tuple[str, ...], Array] | None:
    """Points of a body `(T, P, 3)` from markers `(T, M, 3)`, with the names that `point_layouts.py` has; None where these
    are no such markers. Where a marker is not seen, nor is what follows from it."""
    at = {_plain(name): np.asarray(places[:, k], np.float64) for k, name in reversed(list(enumerate(names)))}
    back = [at[n] for n in ("LPSI", "RPSI", "SACR") if n in at]
    if any(name not in at for name in _NEEDED) or not back:
        return None
    found: dict[str, Array] = {}
    front = (at["LASI"] + at["RASI"]) / 2
    width = np.linalg.norm(at["LASI"] - at["RASI"], axis=-1, keepdims=True)
    left = _unit(at["LASI"] - at["RASI"])
    forward = front - np.mean(back, axis=0)
    forward = _unit(forward - left * _dot(forward, left))
    up = np.cross(forward, left)
    for letter, side, out in (("L", "left", 1.0), ("R", "right", -1.0)):
        m = {n: at[letter + n] for n in ("ASI", "KNE", "ANK", "SHO", "ELB", "WRA")}
        found[f"{side}_hip"] = m["ASI"] - width * (out * HIP[0] * left + HIP[1] * forward + HIP[2] * up)
        shin = np.linalg.norm(m["KNE"] - m["ANK"], axis=-1, keepdims=True)
        inward = _across(-out * left, m["KNE"] - found[f"{side}_hip"])
        found[f"{side}_knee"] = m["KNE"] + KNEE * shin * inward
        found[f"{side}_ankle"] = m["ANK"] + ANKLE * shin * _across(inward, m["ANK"] - m["KNE"])
        across = np.linalg.norm(at["LSHO"] - at["RSHO"], axis=-1, keepdims=True)
        trunk = _unit((at["LSHO"] + at["RSHO"]) / 2 - np.mean([front, *back], axis=0))
        found[f"{side}_shoulder"] = m["SHO"] - SHOULDER * across * trunk
        wrist = (m["WRA"] + at[f"{letter}WRB"]) / 2 if f"{letter}WRB" in at else m["WRA"]
        found[f"{side}_wrist"] = wrist
        upper, fore = m["ELB"] - found[f"{side}_shoulder"], wrist - m["ELB"]
        axis = np.cross(_unit(upper), _unit(fore))
        shown = np.clip(np.linalg.norm(axis, axis=-1, keepdims=True) / BENT, 0.0, 1.0)
        size = np.linalg.norm(fore, axis=-1, keepdims=True)
        found[f"{side}_elbow"] = m["ELB"] + ELBOW * size * shown * out * _unit(axis)
        for name, point in (("HEE", "heel"), ("TOE", "foot")):
            if letter + name in at:
                found[f"{side}_{point}"] = at[letter + name]
        if f"{letter}FHD" in at and f"{letter}BHD" in at:
            found[f"{side}_ear"] = (at[f"{letter}FHD"] + at[f"{letter}BHD"]) / 2
    found["pelvis"] = (found["left_hip"] + found["right_hip"]) / 2
    if "C7" in at and "CLAV" in at:
        found["neck"] = (at["C7"] + at["CLAV"]) / 2
    return tuple(found), np.stack(list(found.values()), axis=1)


def _plain(name: str) -> str:
    """`Subject:LASI`, `l_asis` and `LFWT` are `LASI`."""
    word = "".join(c for c in name.rpartition(":")[2].upper() if c.isalnum())
    return word[:1] + _SAME.get(word[1:], word[1:]) if word[:1] in ("L", "R") else word


def _unit(v: Array) -> Array:
    return v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-12)


def _dot(a: Array, b: Array) -> Array:
    return np.asarray((a * b).sum(axis=-1, keepdims=True))


def _across(way: Array, bone: Array) -> Array:
    """The direction `way` made square to a bone."""
    along = _unit(bone)
    return _unit(way - along * _dot(way, along))
