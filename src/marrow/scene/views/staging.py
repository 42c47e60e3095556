"""From the actors of a scene, as they are when a picture is drawn, to what views see of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.graph.spring_plan import SpringPlan
from marrow.graph.spring_sets import SpringSet, own_springs
from marrow.math import quaternion
from marrow.model.character import Character
from marrow.model.pose import Pose
from marrow.scene.actor_state import ActorState, model_matrices
from marrow.scene.views.stage import Posed, PosedChoice, PosedEffector, PosedTarget, Stage

__all__ = ["posed_of", "stage_of"]

Array = NDArray[Any]


def stage_of(
    states: Sequence[ActorState], levels: Sequence[Array], compare: Character | None = None
) -> Stage:
    """What views see: instances by actor and level; those at no level (-1) are not seen."""
    things = [
        posed
        for number, (state, chosen) in enumerate(zip(states, levels))
        for posed in posed_of(number, state, chosen)
    ]
    return Stage(tuple(things), compare)


def posed_of(number: int, state: ActorState, levels: Array) -> list[Posed]:
    """An actor's instances, by level of detail."""
    actor, whole = state.actor, state.actor.character
    if not whole.vertex_count:
        levels = np.zeros(state.count, np.int64)  # bones alone have no box that could be outside
    model = model_matrices(state)
    morphs = _morphs(state)
    targets, effectors, choices = _targets(state), _effectors(state), _choices(state)
    times = np.zeros(0)
    if actor.clip is not None:
        times = np.broadcast_to(np.asarray(actor.time, np.float64).reshape(-1), (state.count,))
    out = []
    for level in np.unique(levels[levels >= 0]).tolist():
        who = np.flatnonzero(levels == level)
        character = whole.levels[level]
        out.append(
            Posed(
                number,
                character,
                np.ascontiguousarray(model[who][:, : len(character.skeleton)], np.float32),
                state.world[who],
                None if morphs is None else np.ascontiguousarray(morphs[who], np.float32),
                level,
                who,
                actor.clip,
                times[who] if len(times) else times,
                actor.skinning,
                tuple(_chosen(t, who) for t in targets if t.joint < len(character.skeleton)),
                tuple(
                    e._replace(target=e.target[who]) for e in effectors if e.joint < len(character.skeleton)
                ),
                _springs(state),
                tuple(
                    PosedChoice(c.wanted[who], c.found[who], tuple(c.words[n] for n in who)) for c in choices
                ),
            )
        )
    return out


def _morphs(state: ActorState) -> Array | None:
    if state.morphs is not None or state.crowd is None:
        return state.morphs
    pose: Pose = state.crowd.animator.pose
    return pose.morphs.reshape(-1, pose.morph_count) if pose.morph_count else None


def _chosen(target: PosedTarget, who: Array) -> PosedTarget:
    """The target of some instances."""
    facing = None if target.facing is None else target.facing[who]
    return PosedTarget(target.translation[who], facing, target.progress[who], target.joint)


def _effectors(state: ActorState) -> list[PosedEffector]:
    """The joints of an actor that have targets: given ones, and those of its graph."""
    actor, out = state.actor, []
    if actor.animator is not None:
        for e in actor.animator.evaluation.effectors:
            out.append(PosedEffector(e.joint, e.translation, tuple(e.point.tolist())))
    for name, given in (actor.targets or {}).items():
        places = np.asarray(given, np.float64).reshape(-1, 3)
        if len(places) not in (1, state.count):
            raise ValidationError(
                f"{actor!r}: expected as many of each, or one: got {len(places)} targets of {name!r}, {state.count} "
                "instances"
            )
        joint = actor.character.skeleton.index(name)
        out.append(PosedEffector(joint, np.broadcast_to(places, (state.count, 3))))
    return out


def _choices(state: ActorState) -> list[PosedChoice]:
    """What the motion databases of an actor's graph are asked for, and play."""
    animator, out = state.actor.animator, []
    for playback in animator.matching.values() if animator is not None else ():
        wanted, found = (
            np.atleast_3d(x).reshape(state.count, -1, 4) for x in (playback.trajectory, playback.found)
        )
        clips, costs = np.atleast_1d(np.array(playback.clip, object)), np.atleast_1d(playback.cost)
        words = tuple("nothing" if c is None else f"{c}, cost {v:.2f}" for c, v in zip(clips, costs))
        out.append(PosedChoice(wanted, found, words))
    return out


def _springs(state: ActorState) -> tuple[SpringSet | SpringPlan, ...]:
    """What swings of an actor: in its graph, or by its file."""
    if state.actor.animator is not None:
        return state.actor.animator.springs.plans
    return (own_springs(state.actor.character),)


def _targets(state: ActorState) -> list[PosedTarget]:
    """The targets of the motion warps of an actor's graph, in the space of each instance."""
    animator = state.actor.animator
    if animator is None:
        return []
    root = animator.root
    place, back = root.translation.reshape(-1, 3), quaternion.conjugate(root.rotation.reshape(-1, 4))
    return [
        PosedTarget(
            quaternion.rotate(back, target.translation - place),
            None if target.facing is None else quaternion.rotate(back, target.facing),
            target.progress,
            -1 if target.joint is None else animator.character.skeleton.index(target.joint),
        )
        for target in root.targets
    ]
