"""`Locomotion`: the clips of a character that make it walk, found, measured and joined to a graph."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import to_model
from marrow.controller.clip_names import Role, named_clips
from marrow.controller.gait import PERSON, Gait, body_height, carrier_of, measure_gait
from marrow.controller.graph import locomotion_graph
from marrow.controller.standing_feet import free_feet, with_standing_feet
from marrow.errors import MarrowError, ValidationError
from marrow.graph import Graph
from marrow.graph.root_tracks import carried_by_hips
from marrow.model import Character, Clip
from marrow.motion.facing import axis_name, find_facing
from marrow.motion.retarget import Retargeter
from marrow.motion.rig import find_rig
from marrow.report import Report, ReportBuilder

__all__ = ["Locomotion", "find_locomotion"]

Array = NDArray[Any]
WALKING, RUNNING = 0.75, 2.0
"""Body heights a second, where feet do not tell how fast a clip goes."""
FASTER = 1.6
"""How much faster a walk is played where there is no run."""
AHEAD = math.radians(50)
"""A walk goes ahead up to this angle; a step aside must be further off."""
RUNS = 1.45
"""Body heights a second from which a clip without a name is a run."""
MOST_UNNAMED = 16
LONGEST = 20.0


@dataclass(frozen=True, eq=False)
class Locomotion:
    """A character that can be steered: `character` with clips that travel, the `graph` over them, where it looks in its own
    space (`ahead (3,)`), what it can do, and how fast. `report` says what was found, made and taken from elsewhere."""

    character: Character
    graph: Graph
    ahead: Array
    carrier: int
    clips: dict[Role, str]
    velocities: dict[Role, Array]
    turns: dict[Role, float]
    report: Report

    @property
    def walk_speed(self) -> float:
        return float(np.linalg.norm(self.velocities["walk"]))

    @property
    def run_speed(self) -> float:
        return float(np.linalg.norm(self.velocities["run"]))

    @property
    def sideways(self) -> bool:
        """Whether it can walk without looking where it goes."""
        return bool({"left", "right", "back"} & set(self.velocities))


@dataclass
class _Finding:
    """What is known so far."""

    character: Character
    carrier: int
    ahead: Array | None
    lines: ReportBuilder
    clips: dict[Role, Clip] = field(default_factory=dict)
    gaits: dict[Role, Gait] = field(default_factory=dict)

    def say(self, text: str, kind: Any = "info") -> None:
        self.lines.add(kind, "play", text)

    def measured(self, clip: Clip, way: Array | None = None) -> Gait:
        return measure_gait(self.character, clip, self.carrier, way)


def find_locomotion(character: Character) -> Locomotion:
    """Finds what a character needs to be played; refused in words where there is nothing to walk with."""
    found = _Finding(
        character, _checked_carrier(character), find_facing(character).direction, ReportBuilder()
    )
    named = named_clips(character.clips.values())
    _gaits_by_name(found, named)
    if not found.gaits:
        _gaits_by_measure(found)
    if not found.gaits:
        _from_mannequin(found, ("walk", "run", *(() if "idle" in named else ("idle",)), "jump"))
    _look_ahead(found)
    _stand(found, named)
    for role in ("jump",):
        if role in named and role not in found.clips:
            found.clips[role] = named[role][0]
    _aside(found, named)
    turns = _turns(found, named)
    _both_speeds(found)
    return _made(found, turns)


def _checked_carrier(character: Character) -> int:
    if not len(character.skeleton):
        raise ValidationError(_refusal(character, "it has no joints"))
    return carrier_of(character)


def _refusal(character: Character, why: str) -> str:
    name = character.name or "this"
    return (
        f"{name} is no character to play: {why}. It needs a clip that walks, or a body on two legs that the mannequin's "
        "clips fit (marrow info shows what was found in it)"
    )


def _gaits_by_name(found: _Finding, named: dict[Role, list[Clip]]) -> None:
    for role in ("walk", "run"):
        for clip in named.get(role, ())[:3]:
            gait = found.measured(clip, found.ahead)
            if gait.speed > 0 and (found.ahead is None or _angle(gait.velocity, found.ahead) < AHEAD):
                found.gaits[role], found.clips[role] = gait, clip
                _look_ahead(found)
                break
        else:
            if named.get(role):
                _assumed(found, role, named[role][0])


def _assumed(found: _Finding, role: Role, clip: Clip) -> None:
    """A clip that is called a walk and whose feet do not tell how fast: it flies, or floats."""
    height = body_height(found.character)
    speed = (WALKING if role == "walk" else RUNNING) * height
    way = found.ahead if found.ahead is not None else np.array([0.0, 0.0, 1.0])
    gait = found.measured(clip, found.ahead)
    path = gait.times[:, None] * way * speed
    found.gaits[role] = Gait(clip, gait.times, gait.pose, path, way * speed, False)
    found.clips[role] = clip
    found.say(
        f"{clip.name!r}: what touches the ground does not tell how fast it goes; {speed:.2f} m/s are assumed"
    )


def _gaits_by_measure(found: _Finding) -> None:
    """Walks and runs among clips whose names say nothing."""
    height = body_height(found.character)
    clips = [c for c in found.character.clips.values() if not c.additive and 0.2 < c.duration < LONGEST]
    for clip in clips[:MOST_UNNAMED]:
        gait = found.measured(clip)
        if not gait.steady or gait.speed < 0.25 * height:
            continue
        if found.ahead is not None and _angle(gait.velocity, found.ahead) > AHEAD:
            continue
        role: Role = "run" if gait.speed > RUNS * height else "walk"
        if role not in found.gaits:
            found.gaits[role], found.clips[role] = gait, clip
            found.say(f"{clip.name!r} is taken for the {role}, by what its feet do")


def _from_mannequin(found: _Finding, roles: tuple[Role, ...]) -> None:
    """The mannequin's clips, on a body on two legs."""
    from marrow import samples

    character = found.character
    rig = find_rig(character.skeleton)
    if not rig.complete:
        few = ", ".join(rig.missing[:4]) + (", ..." if len(rig.missing) > 4 else "")
        missing = f" (missing: {few})" if few and rig.kind != "quadruped" else ""
        why = "none of its clips walks" if character.clips else "it has no clips"
        raise ValidationError(_refusal(character, f"{why}, and it has no body on two legs{missing}"))
    mannequin = samples.mannequin()
    try:
        tool = Retargeter(mannequin, character, names=("the mannequin", character.name or "the character"))
        for role in roles:
            made = tool.retarget(mannequin.clips[role])
            clip = made.renamed(_free_name(character, role))
            found.clips[role] = clip
            if role in ("walk", "run"):
                found.gaits[role] = found.measured(clip, found.ahead)
    except MarrowError as error:
        raise ValidationError(
            _refusal(character, f"none of its clips walks, and the mannequin's do not fit: {error}")
        ) from error
    found.say(f"{', '.join(roles)} {'are' if len(roles) > 1 else 'is'} the mannequin's, by retargeting")


def _free_name(character: Character, name: str) -> str:
    while name in character.clips:
        name = f"mannequin {name}"
    return name


def _look_ahead(found: _Finding) -> None:
    """Where nothing tells where it looks, it looks where it walks."""
    if found.ahead is None:
        gait = found.gaits.get("walk") or found.gaits["run"]
        found.ahead = gait.velocity / max(gait.speed, 1e-9)
        found.say(f"where it looks is not known; it walks along {axis_name(found.ahead)}, and that is taken")


def _stand(found: _Finding, named: dict[Role, list[Clip]]) -> None:
    if "idle" in found.clips:
        return
    if named.get("idle"):
        found.clips["idle"] = named["idle"][0]
    elif find_rig(found.character.skeleton).complete:
        try:
            _from_mannequin(found, ("idle",))
        except ValidationError as error:
            found.say(f"it stands as a moment of its walk: {error}", "warning")
    else:
        found.say("there is no idle: it stands as in the moment of its walk that is nearest to its rest pose")


def _aside(found: _Finding, named: dict[Role, list[Clip]]) -> None:
    """Steps aside and backwards, where they go there; all of them or none, as a plane needs them."""
    assert found.ahead is not None
    ways: dict[Role, Gait] = {}
    wanted = {"back": -found.ahead, "left": np.cross([0.0, 1.0, 0.0], found.ahead)}
    wanted["right"] = -wanted["left"]
    for role, way in wanted.items():
        for clip in named.get(role, ())[:3]:  # type: ignore[call-overload]
            gait = found.measured(clip, way)
            if gait.steady and _angle(gait.velocity, way) < AHEAD:
                ways[role] = gait  # type: ignore[index]
                break
    if len(ways) == 3:
        found.gaits |= ways
        found.clips |= {role: gait.clip for role, gait in ways.items()}


def _turns(found: _Finding, named: dict[Role, list[Clip]]) -> dict[Role, float]:
    """Turns on the spot whose joint on the ground turns: how far, radians to the left."""
    out: dict[Role, float] = {}
    if carried_by_hips(found.character.skeleton, found.carrier):
        return out
    for role, side in (("turn_left", 1.0), ("turn_right", -1.0)):
        for clip in named.get(role, ())[:1]:  # type: ignore[call-overload]
            model = to_model(clip.skeleton, clip.sample(np.array([0.0, clip.duration])))[:, found.carrier]
            turn = model[1, :, :3].astype(np.float64) @ np.linalg.pinv(model[0, :, :3].astype(np.float64))
            yaw = math.atan2(turn[0, 2], turn[2, 2])
            if 0.35 < yaw * side < 3.5:
                out[role], found.clips[role] = yaw, clip  # type: ignore[index]
    return out if len(out) == 2 else {}


def _both_speeds(found: _Finding) -> None:
    """A walk serves as a run, played faster, and a run as a walk."""
    if "run" not in found.gaits:
        found.say(f"there is no run: {found.clips['walk'].name!r} is played {FASTER:g} times as fast")
    elif "walk" not in found.gaits:
        found.say(f"there is no walk: {found.clips['run'].name!r} is played {FASTER:g} times as slow")


def _made(found: _Finding, turns: dict[Role, float]) -> Locomotion:
    assert found.ahead is not None
    clips = {c.name: c for c in found.character.clips.values()}
    for role, clip in found.clips.items():
        gait = found.gaits.get(role)
        if gait is None:
            clips[clip.name] = clip
            continue
        standing = with_standing_feet(found.character, gait)
        if standing is not gait:
            _say_held(found, role, gait, standing)
        clips[clip.name] = _with_steps(standing.travelling(found.carrier))
    if "idle" in found.clips:
        idle = found.clips["idle"]
        clips[idle.name] = _in_place(found, idle)
    character = found.character.replace(clips=tuple(clips.values()))
    velocities = {role: gait.velocity for role, gait in found.gaits.items()}
    if "run" not in velocities:
        velocities["run"] = velocities["walk"] * FASTER
    if "walk" not in velocities:
        velocities["walk"] = velocities["run"] / FASTER
    names = {role: clip.name for role, clip in found.clips.items()}
    graph = locomotion_graph(
        character,
        names,
        velocities,
        found.ahead,
        found.carrier,
        turns,
        _standing_time(found),
        body_height(character) / PERSON,
    )
    for role in ("walk", "run", "back", "left", "right"):
        if role in names:
            found.say(f"{role}: {names[role]!r}, {float(np.linalg.norm(velocities[role])):.2f} m/s")  # type: ignore[index]
    return Locomotion(
        character, graph, found.ahead, found.carrier, names, velocities, turns, found.lines.build()
    )


def _say_held(found: _Finding, role: Role, gait: Gait, standing: Gait) -> None:
    before, after = (to_model(found.character.skeleton, g.pose)[..., 3] for g in (gait, standing))
    feet = free_feet(found.character, gait)
    far = np.linalg.norm((after - before)[:, feet], axis=-1).max(axis=0)
    held = int((far > 1e-6).sum())
    if held:
        found.say(
            f"{role}: {held} feet hang on no leg and are held where they stand, moved by up to {100 * far.max():.0f} cm"
        )


def _in_place(found: _Finding, idle: Clip) -> Clip:
    """An idle that ends where it begins."""
    if idle.duration <= 0:
        return idle
    gait = found.measured(idle)
    return Gait(idle, gait.times, gait.pose, 0 * gait.path, np.zeros(3), False).travelling(found.carrier)


def _with_steps(clip: Clip) -> Clip:
    """With events for its feet, where it has none and the rig tells what a foot is."""
    names = {e.name for e in clip.events}
    if not find_rig(clip.skeleton).complete or {"foot_l", "foot_r"} <= names:
        return clip
    told = clip.with_contacts()
    steps = [e.name for e in told.events]
    each = {n: steps.count(n) for n in ("foot_l", "foot_l_lift", "foot_r", "foot_r_lift")}
    return told if len(set(each.values())) == 1 and each["foot_l"] > 0 else clip


def _standing_time(found: _Finding) -> float:
    """The moment of a walk that is nearest to the rest pose."""
    gait = found.gaits.get("walk") or found.gaits["run"]
    skeleton = found.character.skeleton
    places = to_model(skeleton, gait.pose)[..., 3].astype(np.float64)
    rest = skeleton.rest_model[..., 3].astype(np.float64)
    away = np.linalg.norm(places - places.mean(axis=1, keepdims=True) - (rest - rest.mean(axis=0)), axis=-1)
    return float(gait.times[int(away.sum(axis=1).argmin())])


def _angle(a: Array, b: Array) -> float:
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return math.acos(min(max(float(a @ b) / size, -1.0), 1.0)) if size > 1e-12 else math.pi
