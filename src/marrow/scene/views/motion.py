"""Views of time: `trails` of joints, `ghosts` of other moments, `contacts` of the feet with the ground."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.additive import sample_shown
from marrow.animation.kinematics import to_model
from marrow.model._derived import derived
from marrow.model.clip import Clip
from marrow.model.skeleton import Skeleton
from marrow.motion import find_rig
from marrow.motion.contacts import clip_contacts, windows
from marrow.scene.colors import LEFT, RIGHT, TELLING, color_map
from marrow.scene.views.drawing import Drawing, Ghost, Legend
from marrow.scene.views.kind import ViewKind, count_of
from marrow.scene.views.stage import Posed, Stage, no_joint

__all__ = ["CONTACTS", "GHOSTS", "TRAILS", "contact_places", "event_places", "trail_joints", "trail_points"]

Array = NDArray[Any]
STEP = 1 / 60
"""Seconds between the points of a trail."""
MOST_POINTS = 600
ENDS = (("left_arm", 2), ("right_arm", 2), ("left_leg", 2), ("right_leg", 2), ("head", -1))
MOST_GHOSTS = 24
MOST_EVENTS = 4


def trail_joints(skeleton: Skeleton, names: str, model: Array) -> list[int]:
    """The joints that `names` says, with commas between them; without any the hands, the feet and the head of a body, or
    of anything else the four ends that travel farthest in `model (T, J, 3, 4)`."""
    wanted = [n.strip() for n in names.split(",") if n.strip()]
    if wanted:
        return [skeleton.index(n) for n in wanted]
    rig = find_rig(skeleton)
    found = [rig.joint(part, k) for part, k in ENDS]
    if rig.complete:
        return [j for j in found if j >= 0]
    way = np.linalg.norm(np.diff(model[..., 3].astype(np.float64), axis=0), axis=-1).sum(axis=0)
    leaves = np.setdiff1d(np.arange(len(skeleton)), skeleton.parents)
    farthest = leaves[np.argsort(-way[leaves], kind="stable")][:4]
    return sorted(int(j) for j in farthest if way[j] > 0)


def trail_times(clip: Clip) -> Array:
    count = int(np.clip(np.ceil(clip.duration / STEP), 1, MOST_POINTS))
    return np.linspace(0.0, clip.duration, count + 1)


def trail_points(clip: Clip, names: str) -> tuple[list[int], Array, Array]:
    """The joints, the times `(T,)`, and where the joints are then in model space, `(T, joints, 3)` float64."""

    def build() -> tuple[list[int], Array, Array]:
        times = trail_times(clip)
        model = to_model(clip.skeleton, sample_shown(clip, times))
        joints = trail_joints(clip.skeleton, names, model)
        return joints, times, model[..., 3][:, joints].astype(np.float64)

    found: tuple[list[int], Array, Array] = derived(clip, ("trails", names), build)
    return found


def _with_clips(stage: Stage, view: str, drawing: Drawing) -> list[Posed]:
    out = [p for p in stage.things if p.clip is not None and p.clip.duration > 0]
    if not out:
        drawing.notes.append(f"{view}: no clip is played here; name one with clip=")
    return out


def _in_world(posed: Posed, points: Array) -> Array:
    """Points of model space `(T, ..., 3)` where each instance stands, `(N, T, ..., 3)`."""
    return posed.placed(np.broadcast_to(points, (posed.count, *points.shape)))


def draw_trails(stage: Stage, argument: str, drawing: Drawing) -> None:
    words: dict[str, tuple[float, ...]] = {}
    playing = _with_clips(stage, "trails", drawing)
    wanted = [n.strip() for n in argument.split(",") if n.strip()]
    for name in wanted:
        if playing and not any(name in p.clip.skeleton for p in playing if p.clip is not None):
            no_joint(name, [p.clip.skeleton for p in playing if p.clip is not None])
    for posed in playing:
        clip = posed.clip
        assert clip is not None
        mine = [n for n in wanted if n in clip.skeleton]
        if wanted and not mine:
            continue
        joints, times, points = trail_points(clip, ",".join(mine))
        at = _in_world(posed, points)
        for k, joint in enumerate(joints):
            color = TELLING[k % len(TELLING)]
            words.setdefault(clip.skeleton.names[joint], tuple(color.tolist()))
            for n in range(posed.count):
                now = float(np.clip(posed.times[n], 0, clip.duration)) if len(posed.times) else 0.0
                # What lies behind fades with age; what is to come is thin.
                middle = (times[1:] + times[:-1]) / 2
                past = middle <= now
                age = np.abs(middle - now) / clip.duration
                alpha = np.where(past, 1.0 - 0.6 * age, 0.45)
                rgba = np.concatenate([np.tile(color, (len(middle), 1)), alpha[:, None]], axis=1)
                wide = np.where(past, 3.5, 1.5)[:, None] * np.ones(2)
                drawing.lines(at[n, :-1, k], at[n, 1:, k], rgba, width=wide, hidden=0.5)
                if joint < posed.joints.shape[1]:
                    drawing.points(posed.joints[n, joint], color, size=9.0)
    if words:
        entries = tuple((name, color) for name, color in words.items())
        drawing.legends.append(Legend("trails", entries=entries))  # type: ignore[arg-type]


def draw_ghosts(stage: Stage, argument: str, drawing: Drawing) -> None:
    count = count_of("ghosts", argument, 6, MOST_GHOSTS)
    longest = 0.0
    for posed in _with_clips(stage, "ghosts", drawing):
        clip = posed.clip
        assert clip is not None
        longest = max(longest, clip.duration)
        times = clip.duration * np.arange(count) / max(count - 1, 1)
        rgb = color_map(times / clip.duration)
        colors = np.concatenate([rgb, np.full((count, 1), 0.35)], axis=1)
        for n, instance in enumerate(posed.instances.tolist()):
            # The moment that is shown itself needs none.
            away = np.abs(times - np.clip(posed.times[n], 0.0, clip.duration)) > 0.3 * clip.duration / count
            drawing.ghosts.append(Ghost(posed.actor, int(instance), times[away], colors[away]))
    if longest:
        drawing.legends.append(Legend("time", ramp="viridis", high=longest, unit="s"))


def contact_places(clip: Clip) -> list[tuple[int, float, float, Array]]:
    """Where a clip's feet stand: for each time one is planted its side (0 left, 1 right), when it begins and ends, and the
    place of the planted point on the ground, in model space; for a body with two legs."""
    found: list[tuple[int, float, float, Array]] = derived(
        clip, "contact places", lambda: _contact_places(clip)
    )
    return found


def _contact_places(clip: Clip) -> list[tuple[int, float, float, Array]]:
    times = trail_times(clip)
    points, planted = clip_contacts(clip, times)
    out = []
    for side in range(2):
        for first, last in windows(np.asarray(planted[:, side].any(axis=1))):
            steady = planted[first:last, side]  # (frames, heel or ball)
            at = points.place[first:last, side][steady].mean(axis=0)
            out.append((side, float(times[first]), float(times[last - 1]), at))
    return sorted(out, key=lambda c: c[1])


def _words(name: str) -> frozenset[str]:
    return frozenset(re.split(r"[\W_]+", name.lower()))


def event_places(clip: Clip) -> list[tuple[int, float, float, Array]]:
    """Contacts as a clip's events tell them, for what is no body with two legs: an event is of the joint that has the same
    words in its name (`foot_front_l`, `front_foot_l`), and lasts until that of the same name with `_lift`."""
    by_words = {_words(name): j for j, name in reversed(list(enumerate(clip.skeleton.names)))}
    out = []
    for event in clip.events:
        joint = by_words.get(_words(event.name))
        if joint is None:
            continue
        lifts = [e.time for e in clip.events if e.name == f"{event.name}_lift" and e.time > event.time]
        end = min(lifts, default=event.end)
        at = to_model(clip.skeleton, sample_shown(clip, event.time))[joint, :, 3].astype(np.float64)
        side = 1 if _words(event.name) & {"r", "right"} else 0
        out.append((side, float(event.time), float(end), at))
    return out


def draw_contacts(stage: Stage, argument: str, drawing: Drawing) -> None:
    number = 0
    for posed in _with_clips(stage, "contacts", drawing):
        clip = posed.clip
        assert clip is not None
        two_legs = find_rig(clip.skeleton).complete
        places = contact_places(clip) if two_legs else event_places(clip)
        if clip.events:
            told = ", ".join(f"{e.name} {e.time:.2f} s" for e in clip.events[:MOST_EVENTS])
            drawing.notes.append(f"events: {told}{', ...' if len(clip.events) > MOST_EVENTS else ''}")
        if not places:
            why = (
                "its feet never stand still on the ground"
                if two_legs
                else "no body with two legs, no events of joints"
            )
            drawing.notes.append(f"contacts: {clip.name}: {why}")
        number += len(places) * posed.count
        for side, begin, end, at in places:
            color = (LEFT, RIGHT)[side]
            ground = at * [1.0, 0.0, 1.0]
            radius = 0.045 * posed.size
            turn = np.linspace(0, 2 * np.pi, 33)
            ring = ground + radius * np.stack([np.cos(turn), 0 * turn, np.sin(turn)], axis=1)
            circle = _in_world(posed, ring)
            for n in range(posed.count):
                now = bool(len(posed.times)) and begin - 1e-9 <= posed.times[n] <= end + 1e-9
                drawing.lines(circle[n, :-1], circle[n, 1:], color, width=5.0 if now else 2.5, hidden=0.6)
                center = posed.placed(np.broadcast_to(ground, (posed.count, 3)))[n]
                if now:
                    drawing.points(center, color, size=16.0, hidden=0.8)
                drawing.label(f"{begin:.2f} - {end:.2f} s", center, 0.7 + 0.3 * color, 1.0 + now)
    if number:
        sides = (("left foot", tuple(LEFT.tolist())), ("right foot", tuple(RIGHT.tolist())))
        drawing.legends.append(Legend("contacts", entries=sides))


TRAILS = ViewKind(
    "trails",
    "where joints go in the clip; `trails:hand_l,hand_r` names them, else hands, feet and head",
    draw_trails,
    "[JOINT,JOINT]",
    whole_clip=True,
    key="P",
)
GHOSTS = ViewKind(
    "ghosts",
    "the character at several moments of the clip; `ghosts:8` at eight",
    draw_ghosts,
    "[COUNT]",
    whole_clip=True,
)
CONTACTS = ViewKind(
    "contacts",
    "where and when the feet stand on the ground in the clip",
    draw_contacts,
    whole_clip=True,
    key="J",
)
