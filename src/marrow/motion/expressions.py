"""What the curves of a clip say of a face (`expression:happy`, `look:yaw`, `look:pitch`), as motion of a VRM character.

The weight of an expression moves the morph channels it is made of; the gaze turns the eyes, or is four expressions,
whichever the character's `lookAt` says. Overrides (a smile that keeps from blinking) are followed as VRM 1.0 has them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import quaternion
from marrow.model import Character, Clip, Track

__all__ = ["with_expressions"]

Array = NDArray[Any]
_BLINK = ("blink", "blinkLeft", "blinkRight")
_LOOK = ("lookUp", "lookDown", "lookLeft", "lookRight")
_MOUTH = ("aa", "ih", "ou", "ee", "oh")
_OVERRIDES = {"overrideBlink": _BLINK, "overrideLookAt": _LOOK, "overrideMouth": _MOUTH}


def with_expressions(clip: Clip, character: Character) -> Clip:
    """`clip` with the tracks that its curves mean for `character`; tracks that are there already stay."""
    given = character.vrm.get("expressions")
    expressions = {k: v for k, v in given.items() if isinstance(v, dict)} if isinstance(given, dict) else {}
    curves = {curve.name: curve for curve in clip.curves}
    named = {name: curves[f"expression:{name}"] for name in expressions if f"expression:{name}" in curves}
    gaze = [curves.get("look:yaw"), curves.get("look:pitch")]
    if not named and gaze == [None, None]:
        return clip
    times = _times([c for c in (*named.values(), *gaze) if c is not None])
    weights = {name: np.clip(curve.sample(times), 0.0, 1.0) for name, curve in named.items()}
    tracks: list[Track] = []
    if gaze != [None, None]:
        yaw, pitch = (np.zeros(len(times)) if c is None else np.degrees(c.sample(times)) for c in gaze)
        look = character.vrm.get("lookAt")
        look = look if isinstance(look, dict) else {}
        if look.get("type") == "expression":
            weights |= _gaze_weights(look, yaw, pitch, expressions)
        elif look:
            tracks += _eye_tracks(look, yaw, pitch, times, character)
    tracks += _morph_tracks(_overridden(weights, expressions), expressions, times, character)
    taken = {(t.target, t.path) for t in clip.tracks}
    added = [t for t in tracks if (t.target, t.path) not in taken]
    return clip.replace(tracks=(*clip.tracks, *added), duration=clip.duration) if added else clip


def _times(curves: list[Any]) -> Array:
    """The key times of all; of a jump the moment before it too, since tracks have one key at a time."""
    found: list[Array] = []
    for curve in curves:
        jumps = np.flatnonzero(np.diff(curve.times) == 0)
        found += [curve.times, np.nextafter(curve.times[jumps], np.float32(-np.inf), dtype=np.float32)]
    times = np.unique(np.concatenate(found))
    return times[times >= 0]


def _number(value: Any, default: float) -> float:
    return float(value) if isinstance(value, (int, float)) and np.isfinite(value) else default


def _mapped(look: dict[str, Any], name: str, angle: Array) -> Array:
    """What a range map of VRM makes of an angle; it is in degrees, as VRM has them."""
    given = look.get(f"rangeMap{name}")
    given = given if isinstance(given, dict) else {}
    most, scale = _number(given.get("inputMaxValue"), 90.0), _number(given.get("outputScale"), 1.0)
    return np.minimum(np.abs(angle), max(most, 1e-3)) / max(most, 1e-3) * scale


def _gaze_weights(look: dict[str, Any], yaw: Array, pitch: Array, known: dict[str, Any]) -> dict[str, Array]:
    sideways = _mapped(look, "HorizontalOuter", yaw)
    found = {
        "lookLeft": np.where(yaw > 0, sideways, 0.0),
        "lookRight": np.where(yaw < 0, sideways, 0.0),
        "lookDown": np.where(pitch > 0, _mapped(look, "VerticalDown", pitch), 0.0),
        "lookUp": np.where(pitch < 0, _mapped(look, "VerticalUp", pitch), 0.0),
    }
    return {name: np.clip(weight, 0.0, 1.0) for name, weight in found.items() if name in known}


def _eye_tracks(
    look: dict[str, Any], yaw: Array, pitch: Array, times: Array, character: Character
) -> list[Track]:
    """Rotations of the eyes: the turn in the axes of the model, seen from where the eye is at rest."""
    skeleton, out = character.skeleton, []
    down = np.where(pitch > 0, _mapped(look, "VerticalDown", pitch), -_mapped(look, "VerticalUp", pitch))
    for eye, outer in (("leftEye", yaw > 0), ("rightEye", yaw < 0)):
        joint = skeleton.humanoid.get(eye)
        if joint is None:
            continue
        side = np.where(outer, _mapped(look, "HorizontalOuter", yaw), _mapped(look, "HorizontalInner", yaw))
        turn = quaternion.multiply(
            quaternion.from_axis_angle(np.array([0.0, 1.0, 0.0]), np.radians(np.sign(yaw) * side)),
            quaternion.from_axis_angle(np.array([1.0, 0.0, 0.0]), np.radians(down)),
        )
        local = np.asarray(skeleton.rest.rotation[joint], np.float64)
        world = local
        for j in skeleton.ancestors(joint):
            world = quaternion.multiply(np.asarray(skeleton.rest.rotation[j], np.float64), world)
        above = quaternion.multiply(world, quaternion.conjugate(local))
        values = quaternion.multiply(
            quaternion.multiply(quaternion.multiply(quaternion.conjugate(above), turn), above), local
        )
        out.append(Track(joint, "rotation", times, values.astype(np.float32)))
    return out


def _overridden(weights: dict[str, Array], expressions: dict[str, Any]) -> dict[str, Array]:
    """Binary expressions are on or off; those that override others take from them."""
    out = {}
    for name, weight in weights.items():
        out[name] = np.where(weight > 0.5, 1.0, 0.0) if expressions[name].get("isBinary") else weight
    left: dict[str, Array] = {}
    for key, group in _OVERRIDES.items():
        for name, weight in out.items():
            how = expressions[name].get(key)
            if how in ("block", "blend") and name not in group:
                rest = np.where(weight > 0, 0.0, 1.0) if how == "block" else 1.0 - weight
                for other in group:
                    left[other] = np.clip(left.get(other, 1.0) - (1.0 - rest), 0.0, 1.0)
    for name, rest in left.items():
        if name in out:
            binary = bool(expressions[name].get("isBinary"))
            out[name] = np.where(rest < 1, 0.0, out[name]) if binary else out[name] * rest
    return out


def _morph_tracks(
    weights: dict[str, Array], expressions: dict[str, Any], times: Array, character: Character
) -> list[Track]:
    skeleton = character.skeleton
    channels: dict[int, Array] = {}
    for name, weight in weights.items():
        binds = expressions[name].get("morphTargetBinds")
        for bind in binds if isinstance(binds, list) else ():
            if isinstance(bind, dict) and bind.get("morph") in skeleton.morph_names:
                at = skeleton.morph_index(bind["morph"])
                channels[at] = channels.get(at, 0.0) + weight * _number(bind.get("weight"), 0.0)
    return [
        Track(channel, "morph", times, np.clip(value, 0.0, 1.0).astype(np.float32)[:, None])
        for channel, value in sorted(channels.items())
    ]
