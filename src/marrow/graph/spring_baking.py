"""`bake_springs`: a clip in which the springs of a character have swung."""

from __future__ import annotations

import math

import numpy as np

from marrow.errors import ValidationError
from marrow.graph.animator.animator import Animator
from marrow.graph.description import Graph
from marrow.graph.nodes import AnyNode, ClipNode, Springs
from marrow.graph.root_tracks import travelling_joint
from marrow.graph.spring_sets import has_springs
from marrow.model import _validate
from marrow.model._derived import derived
from marrow.model.character import Character
from marrow.model.clip import Clip, Track

__all__ = ["bake_springs", "swung"]

RATE = 60.0
MOST_SECONDS = 3600.0
CLOSED = 1e-2
"""How far the first and the last pose of a clip that goes round may differ: metres, and numbers of rotations."""
SHORT, STEADY = 1 / 60, 0.5
"""Seconds in which a speed is measured; how much it may change (metres a second) where a clip that travels goes round."""


def bake_springs(
    character: Character, clip: str | Clip, springs: Springs | None = None, *, rate: float = RATE
) -> Clip:
    """A clip with rotation tracks, at `rate` keys a second, for joints that swing in it: those of the character's file,
    or those of a `Springs` node. What else the clip moves stays as it is. A clip that goes round begins as it ends,
    swinging."""
    _validate.instance("bake_springs", "character", character, Character)
    if isinstance(clip, str):
        clip = character.clips[clip]
    _validate.instance("bake_springs", "clip", clip, Clip)
    rate = _validate.frame_rate("bake_springs", rate)
    if clip.skeleton is not character.skeleton and clip.skeleton.names != character.skeleton.names:
        raise ValidationError(
            f"bake_springs: the clip {clip.name!r} is of another skeleton: retarget it first"
        )
    if clip.additive:
        raise ValidationError(
            f"bake_springs: the clip {clip.name!r} is additive: springs swing in whole poses"
        )
    if clip.duration > MOST_SECONDS:
        raise ValidationError(
            f"bake_springs: the clip {clip.name!r} is {clip.duration:.0f} s long: cut it to at most {MOST_SECONDS:.0f} s"
        )
    if springs is None and not has_springs(character):
        raise ValidationError(
            f"bake_springs: {character!r} has no springs of its own: name chains with springs="
        )
    whole = character.replace(clips=[clip])
    round_again = clip.duration > 0 and _goes_round(clip, travelling_joint(whole))
    source: AnyNode = ClipNode(clip.name, loop=True)
    node = Springs(source) if springs is None else springs.replace(source=source)
    animator = Animator(whole, Graph(node), threads=1)
    (plan,) = animator.evaluation.compiled.springs.values()
    joints = [s.joint for s in plan.joints]
    frames = max(1, round(clip.duration * rate))
    # As often as springs are stepped at least: what they hang on is known at every step then, whatever the rate.
    fine = max(1, math.ceil(RATE / rate - 1e-9))
    step = clip.duration / (frames * fine) if clip.duration > 0 else 0.0
    if round_again:
        for _ in range(frames * fine):
            animator.update(step)
    turns = [animator.pose.rotation[joints]]
    for _ in range(frames if step > 0 else 0):
        for _ in range(fine):
            animator.update(step)
        turns.append(animator.pose.rotation[joints])
    rows = np.array(turns, np.float32)
    times = np.linspace(0.0, clip.duration, len(rows)).astype(np.float32)
    kept = [t for t in clip.tracks if not (t.target in joints and t.path == "rotation")]
    made = [Track(j, "rotation", times, np.ascontiguousarray(rows[:, k])) for k, j in enumerate(joints)]
    return clip.replace(tracks=[*kept, *made])


def swung(character: Character, clip: Clip) -> Clip:
    """The clip as springs of the character's file swing in it, made once; the clip itself where there are none."""
    if clip.additive or clip.duration > MOST_SECONDS or not has_springs(character):
        return clip
    if clip.skeleton.names != character.skeleton.names:
        return clip
    kept: dict[int, tuple[Clip, Clip]] = derived(character, "swung clips", dict)
    if id(clip) not in kept:
        kept[id(clip)] = (clip, bake_springs(character, clip))
    return kept[id(clip)][1]


def _goes_round(clip: Clip, body: int) -> bool:
    """Whether a clip can begin again where it ends; what the `body` travels with may be elsewhere if it goes on as fast."""
    first, last = clip.sample(0.0), clip.sample(clip.duration)
    turns = np.abs(np.abs((first.rotation * last.rotation).sum(-1)) - 1)
    apart = np.abs(first.translation - last.translation).max(axis=-1)
    if apart[body] >= CLOSED:
        second, before = clip.sample(SHORT), clip.sample(max(clip.duration - SHORT, 0.0))
        change = (second.translation - first.translation) - (last.translation - before.translation)
        apart[body] = 0.0 if float(np.linalg.norm(change[body])) < STEADY * SHORT else np.inf
    return bool(turns.max(initial=0.0) < CLOSED and apart.max(initial=0.0) < CLOSED)
