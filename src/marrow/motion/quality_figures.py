"""The figures of a retargeted clip against what people notice: each with its limit, its moment and a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from marrow.motion.quality import MotionQuality

__all__ = ["FEET", "Figure", "figures_of"]

Verdict = Literal["good", "look", "bad"]
FEET = ("skin of the feet in the ground", "soles slide", "contacts lost")
"""Figures that are seen at the feet."""
BAD = 2.0
"""A figure is bad from this many times its limit on; between the limit and there it is worth a look."""
SINK, SLIDE, KNEE, LIMBS, REACH = 0.012, 0.005, 1.3, 5.0, 0.25
"""Limits: metres (for a person's legs), times the source's speed, degrees, lengths of an arm."""


@dataclass(frozen=True, slots=True)
class Figure:
    """`value` in words, the `limit` it is held to, when it is the worst (`at`, seconds; None: nowhere in particular), and
    whether it is `good`, worth a `look` or `bad`."""

    name: str
    value: str
    limit: str
    at: float | None
    verdict: Verdict


def figures_of(quality: MotionQuality, size: float) -> list[Figure]:
    """The figures of a clip; `size` is how large the body is by a person's, for lengths."""
    seen, out = quality.visible, list[Figure]()

    def add(name: str, value: float, limit: float, at: float | None, unit: str = "") -> None:
        verdict: Verdict = "good" if value <= limit else "look" if value <= BAD * limit else "bad"
        out.append(Figure(name, _words(value, unit), _words(limit, unit), at, verdict))

    add(FEET[0], seen.sink, SINK * size, seen.sink_at, "mm")
    add("any skin in the ground", seen.depth, SINK * size, seen.depth_at, "mm")
    add(FEET[1], seen.slide, SLIDE * size, seen.slide_at, "mm")
    add("knees against the source's", seen.knee_ratio, KNEE, seen.knee_speed_at, "times as fast")
    for name, degrees, at in (("legs", seen.legs, seen.legs_at), ("arms", seen.arms, seen.arms_at)):
        if degrees is None:
            out.append(Figure(f"{name} off the source's", "not measured", _words(LIMBS, "°"), None, "look"))
        else:
            add(f"{name} off the source's", degrees, LIMBS, at, "°")
    lost = Figure(
        FEET[2], f"{seen.lost} of {seen.contacts}", "0", seen.lost_at if seen.lost else None, "good"
    )
    if seen.lost:
        lost = Figure(lost.name, lost.value, "0", lost.at, "bad" if 2 * seen.lost > seen.contacts else "look")
    out.append(lost)
    add("knees the wrong way", quality.knees, 0.0, None, "%")
    if quality.reach is not None:
        add("hands off the source's", quality.reach, REACH, None, "of an arm")
    return out


def _words(value: float, unit: str) -> str:
    if unit == "mm":
        return f"{value * 1000:.1f} mm"
    if unit == "%":
        return f"{value:.1%}"
    if unit == "°":
        return f"{value:.1f}°"
    return f"{value:.2f} {unit}"
