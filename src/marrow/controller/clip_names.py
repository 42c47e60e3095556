"""What a clip is for, by its name: idle, walk, run, jump, a turn, a step aside."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from marrow.model import Clip

__all__ = ["Role", "named_clips", "role_of"]

Role = Literal["idle", "walk", "run", "jump", "back", "left", "right", "turn_left", "turn_right"]

_MEANINGS: dict[str, tuple[str, ...]] = {
    "jump": ("jump", "jumping", "hop", "leap"),
    "turn": ("turn", "turning"),
    "strafe": ("strafe", "strafing", "sidestep", "sidewalk"),
    "run": ("run", "running", "sprint", "gallop", "jog", "jogging", "trot"),
    "walk": ("walk", "walking", "walks", "walkcycle"),
    "idle": ("idle", "stand", "standing", "breathing", "wait", "waiting", "rest", "survey"),
}
_SIDES = {"left": "left", "right": "right", "l": "left", "r": "right"}
_SIDES |= {"back": "back", "backward": "back", "backwards": "back", "bwd": "back"}
_PLAIN = {
    "a", "anim", "animation", "anm", "armature", "base", "basic", "clip", "cycle", "default", "forward", "forwards", "full",
    "fwd", "in", "inplace", "layer", "loop", "mixamo", "com", "neutral", "normal", "place", "rig", "straight", "take",
}  # fmt: skip
"""Words that say nothing else about a motion."""
_OTHER = {
    "aim", "aiming", "attack", "block", "carry", "crawl", "crouch", "crouching", "dance", "death", "die",
    "dodge", "down", "end", "fall", "fast", "gun", "headlow", "hit", "hitreact", "holding", "injured", "jump",
    "land", "melee", "no", "pistol", "pose", "punch", "rifle", "roll", "sad", "shoot", "shooting", "sit",
    "slow", "sneak", "soft", "start", "stop", "sword", "tall", "to", "up", "wave", "yes",
}  # fmt: skip
"""Words that make a motion another one: taken only where nothing plainer is there."""
_LATER = {"jog", "jogging", "trot", "rest", "wait", "waiting", "stand", "standing", "strafe", "hop"}
"""Second choices."""


def _words(name: str) -> list[str]:
    parts = name.split("|")
    if len(parts) > 1 and re.search(r"armature|rig|skeleton", parts[0], re.IGNORECASE):
        parts = parts[1:]
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", " ".join(parts))
    return [word.lower() for word in re.findall(r"[^\W\d_]+", spaced)]


def role_of(name: str) -> tuple[Role, float] | None:
    """What a clip of this name is for, and how much else its name says; None where it says nothing known."""
    words = _words(name)
    kind = next((k for k, known in _MEANINGS.items() if any(w in known for w in words)), None)
    if kind is None:
        return None
    side = next((_SIDES[w] for w in words if w in _SIDES and len(w) > 1), None)
    side = side or next((_SIDES[w] for w in words if w in _SIDES), None)
    cost = 0.0
    known = {w for meaning in _MEANINGS.values() for w in meaning}
    for word in words:
        if word in _LATER:
            cost += 0.5
        elif word in _OTHER and word not in _MEANINGS[kind]:
            cost += 3.0
        elif word in known and word not in _MEANINGS[kind] and kind != "strafe":
            cost += 2.0
        elif word not in _PLAIN and word not in known and word not in _SIDES:
            cost += 1.0
    role: str | None = kind
    if kind == "turn":
        role = f"turn_{side}" if side in ("left", "right") else None
    elif kind == "strafe":
        role = side
    elif side is not None and kind in ("walk", "run"):
        role, cost = side, cost + (0.25 if kind == "run" else 0.0)
    elif side is not None:
        cost += 3.0
    return None if role is None else (role, cost)  # type: ignore[return-value]


def named_clips(clips: Iterable[Clip]) -> dict[Role, list[Clip]]:
    """The clips of each role, the plainest name first; those that only add to others, or have no length, are none."""
    found: dict[Role, list[tuple[float, int, Clip]]] = {}
    for order, clip in enumerate(clips):
        told = role_of(clip.name)
        if told is not None and not clip.additive and (clip.duration > 0 or told[0] == "idle"):
            found.setdefault(told[0], []).append((told[1], order, clip))
    return {role: [c for *_, c in sorted(few, key=lambda f: f[:2])] for role, few in found.items()}
