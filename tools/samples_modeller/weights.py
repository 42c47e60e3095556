"""The mannequin's skin weights: parametric blends along each limb, gated by the body's parts, then smoothed
over the mesh.

Along a limb a weight depends on how far along the bone a vertex lies. The parts' fields say which limb a
vertex belongs to, so that nothing leaks from one finger to the next or from the arm to the flank; smoothing
runs along the surface and cannot jump gaps either.
"""

from __future__ import annotations

import numpy as np

from samples_modeller import body, rig
from samples_modeller.assembly import Surface, smooth_weights, strongest
from samples_modeller.joints import mirrored_name
from samples_modeller.rig import FINGERS, LANDMARKS
from samples_modeller.sdf import Array
from samples_modeller.sdf import folded as fold

__all__ = ["skin_weights", "step"]

SMOOTHING_ROUNDS = 10
SOFT_ROUNDS = 14
SMALLEST = 0.0007


def step(low: float | Array, high: float | Array, x: Array) -> Array:
    """Smoothstep: 0 below `low`, 1 above `high`, with no slope at either end."""
    t = np.clip((x - low) / (np.asarray(high) - low), 0, 1)
    return t * t * (3 - 2 * t)


def _along(p: Array, start: Array, end: Array) -> Array:
    """Metres along the bone from `start` to `end`."""
    return (p - start) @ ((end - start) / np.linalg.norm(end - start))


def skin_weights(surface: Surface, influences: int = 8) -> tuple[Array, Array]:
    """Joints `(V, K)` and weights `(V, K)`, strongest first."""
    names, _, _ = rig.bind_frames()
    left = _left_and_middle(surface.vertices)
    dense = np.zeros((len(surface.vertices), len(names)))
    for name, w in left.items():
        dense[:, names.index(name)] += w
        if name.endswith("_l"):
            dense[:, names.index(mirrored_name(name))] += w[surface.image]
    dense /= dense.sum(1, keepdims=True)
    dense = smooth_weights(surface, dense, SMOOTHING_ROUNDS)
    dense = smooth_weights(surface, dense, SOFT_ROUNDS, _soft_places(surface.vertices)[:, None])
    return strongest(surface, dense, names, influences, SMALLEST)


def _soft_places(p: Array) -> Array:
    """Where many bones meet, in shoulders, hips and palms, weights are smoothed further: 1 there, 0
    elsewhere."""
    folded = fold(p)
    shoulder, _, _ = rig.arm_points()
    places = (
        (shoulder, 0.15),
        (np.array(LANDMARKS["hip"]), 0.16),
        (rig.hand_frame().point((0.085, 0.0, 0.0)), 0.05),
    )
    return np.max([1 - step(0.55 * r, r, np.linalg.norm(folded - c, axis=1)) for c, r in places], axis=0)


def _left_and_middle(p: Array) -> dict[str, Array]:
    """Unnormalised weights `(V,)` of every joint of the middle and the left."""
    at = {k: np.array(v) for k, v in LANDMARKS.items()}
    folded = fold(p)
    shoulder, _, _ = rig.arm_points()

    arm = _arm_share(p, shoulder)
    both_arms = np.maximum(arm, _arm_share(p * [-1, 1, 1], shoulder))

    # The crease of the hip rises outward; below the crotch the legs share nothing.
    crease = at["hip"][1] + 0.5 * (folded[:, 0] - at["hip"][0])
    leg = step(-0.085, 0.075, crease - p[:, 1]) * (1 - both_arms)
    share = np.where(p[:, 1] > 0.86, 0.035, 0.003)
    leg_side = step(-share, share, p[:, 0])

    weights = _trunk(folded, (1 - both_arms) * (1 - leg))
    weights.update(_arm(p, arm))
    weights.update(_leg(p, leg * leg_side))
    # Only the shoulder's own half of the chest follows its collar bone.
    weights["clavicle_l"] = weights["clavicle_l"] * (p[:, 0] > 0)
    return weights


def _arm_share(p: Array, shoulder: Array) -> Array:
    """How far a vertex belongs to the left arm: past a plane through the shoulder, and nearer to the arm
    than to the trunk, so that the flank below the armpit stays with the ribs."""
    parts, folded = body.parts(), fold(p)
    from_trunk = np.minimum(parts.trunk(folded), parts.leg(folded)) - parts.arm(p)
    outward = (p - shoulder) @ np.array([0.93, -0.36, 0.0])
    near = step(-0.05, 0.055, outward) * step(-0.022, 0.012, from_trunk)
    far = step(0.05, 0.09, (p - shoulder) @ np.array([0.68, -0.73, 0.0])) * (p[:, 0] > 0.25)
    return np.maximum(near, far)


def _trunk(folded: Array, share: Array) -> dict[str, Array]:
    x, y, z = folded.T
    rises = {
        "pelvis": np.ones(len(folded)),
        "spine_01": step(1.02, 1.12, y),
        "spine_02": step(1.125, 1.245, y),
        "spine_03": step(1.245, 1.365, y),
        "neck": step(1.435, 1.515, y - 0.25 * z),
        "head": step(-0.028, 0.022, y - 1.583 + 0.27 * z),
    }
    names = list(rises)
    out = {}
    for name, following in zip(names, [*names[1:], None]):
        upper = rises[following] if following else 0
        out[name] = share * rises[name] * (1 - upper)
    clavicle = 0.92 * step(0.025, 0.14, x) * step(1.30, 1.44, y)
    out["clavicle_l"] = (out["spine_03"] + out["neck"]) * clavicle
    out["spine_03"], out["neck"] = out["spine_03"] * (1 - clavicle), out["neck"] * (1 - clavicle)
    return out


def _arm(p: Array, share: Array) -> dict[str, Array]:
    shoulder, elbow, wrist = rig.arm_points()
    hand = rig.hand_frame()
    along_upper, along_lower = _along(p, shoulder, elbow), _along(p, elbow, wrist)
    # The crease of the elbow follows the mean of both bones.
    bend = (along_upper - np.linalg.norm(elbow - shoulder) + along_lower) / 2
    lower = step(-0.04, 0.04, bend)
    palm = step(-0.024, 0.018, (p - hand.wrist) @ hand.along)
    upper_twist, lower_twist = 1 - step(0.07, 0.22, along_upper), step(0.07, 0.20, along_lower)
    out = {
        "upperarm_twist_01_l": share * (1 - lower) * upper_twist,
        "upperarm_l": share * (1 - lower) * (1 - upper_twist),
        "lowerarm_l": share * lower * (1 - palm) * (1 - lower_twist),
        "lowerarm_twist_01_l": share * lower * (1 - palm) * lower_twist,
    }
    out.update(_hand(p, share * lower * palm))
    return out


def _hand(p: Array, share: Array) -> dict[str, Array]:
    parts = body.parts()
    distances = np.stack([parts.fingers[name](p) for name in FINGERS])
    nearest = distances.min(0)
    near = np.maximum(0, 1 - (distances - nearest) / 0.005)
    near /= near.sum(0)
    out = {}
    rest = share.copy()
    for k, name in enumerate(FINGERS):
        points = rig.finger_points(name)
        reach = 0.018 if name == "thumb" else 0.011
        rises = [step(-reach, reach, _along(p, points[0], points[1]))]
        if name == "thumb":
            # The palm lies along the thumb's first bone: only what is nearer to the thumb follows it.
            rises[0] *= step(-0.008, 0.004, parts.palm(p) - distances[k])
        rises += [step(-0.0085, 0.0085, _along(p, points[i], points[i + 1])) for i in (1, 2)]
        finger = share * near[k] * rises[0]
        rest -= finger
        out[f"{name}_01_l"] = finger * (1 - rises[1])
        out[f"{name}_02_l"] = finger * rises[1] * (1 - rises[2])
        out[f"{name}_03_l"] = finger * rises[1] * rises[2]
    out["hand_l"] = np.maximum(rest, 0)
    return out


def _leg(p: Array, share: Array) -> dict[str, Array]:
    hip, knee, ankle, ball = (np.array(LANDMARKS[k]) for k in ("hip", "knee", "ankle", "ball"))
    along_thigh, along_calf = _along(p, hip, knee), _along(p, knee, ankle)
    bend = (along_thigh - np.linalg.norm(knee - hip) + along_calf) / 2
    lower = step(-0.05, 0.05, bend)
    foot = step(-0.032, 0.034, ankle[1] + 0.008 - p[:, 1] + 0.35 * (p[:, 2] - ankle[2]))
    toes = step(-0.024, 0.024, p[:, 2] - ball[2])
    thigh_twist, calf_twist = 1 - step(0.10, 0.30, along_thigh), step(0.12, 0.32, along_calf)
    return {
        "thigh_twist_01_l": share * (1 - lower) * thigh_twist,
        "thigh_l": share * (1 - lower) * (1 - thigh_twist),
        "calf_l": share * lower * (1 - foot) * (1 - calf_twist),
        "calf_twist_01_l": share * lower * (1 - foot) * calf_twist,
        "foot_l": share * lower * foot * (1 - toes),
        "ball_l": share * lower * foot * toes,
    }
