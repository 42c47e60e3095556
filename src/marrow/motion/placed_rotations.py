"""Rotations made anew from where the joints of a body are.

Motion that was solved from positions, or made by a network, often has joints in the right places that turn arbitrarily: the
hips may look aside while the hip joints and the spine, turned back by joints in between, walk on. Rotations that are taken
to another body from there lean and twist it. Here every joint is turned so that what hangs from it is where it is: a joint
with several bones by the best fit, one with a single bone the shortest way, and arms and legs are rolled so that elbows and
knees bend about their hinges.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import to_model
from marrow.animation.sampling import sample
from marrow.math import quaternion, transform
from marrow.model import Clip, Pose, Skeleton
from marrow.model.clip import PATHS
from marrow.motion.frames import frame_times, pack_uniform
from marrow.motion.limb_alignment import hinge
from marrow.motion.posture import Posture, leg_length
from marrow.motion.retarget_rotations import model_of
from marrow.motion.rig import SIDES
from marrow.motion.tree import path_down

__all__ = ["placed_clip", "turns_freely"]

Array = NDArray[Any]
Chains = Mapping[str, tuple[int, ...]]
FREE = 30.0
"""Hips whose joints say that they turn this many degrees off, in half of the frames, turn arbitrarily."""
BENT = 0.35
"""The sine of the bend from which on a limb shows the plane that it bends in."""
STRAIGHT_PRIOR = 0.05
"""What a limb that is never bent weighs: it is not rolled."""
SMOOTH = 0.06
"""Seconds over which the roll of a limb is averaged."""
FEW = 24
SHORT = 1e-3
"""Bones shorter than this share of a leg have no direction."""


def turns_freely(skeleton: Skeleton, chains: Chains, rest: Posture, clip: Clip, pose: Pose) -> bool:
    """Whether the hips turn otherwise than the joints around them say; `pose` are frames of `clip`."""
    hips, tops = chains["hips"][0], [chains[f"{side}_leg"][0] for side in SIDES]
    between = {j for top in tops for j in path_down(skeleton, hips, top)}
    if hips in between or not between & _moved_between(clip, between, tops):
        return False
    few = pose[:: max(len(pose) // FEW, 1)]
    points = _points(skeleton, rest, hips, leg_length(rest.place, chains))
    if len(points) < 3:
        return False
    model = model_of(skeleton, few, hips)
    at = np.stack([model_of(skeleton, few, j)[..., 3] for j in points], axis=-2)
    turned = transform.decompose(model)[1]
    fitted = _fit(rest.place[points] - rest.place[hips], at - model[..., None, :, 3])
    own = quaternion.multiply(turned, quaternion.conjugate(rest.rotation[hips]))
    off = quaternion.multiply(quaternion.conjugate(fitted), own)
    angle = 2 * np.degrees(np.arctan2(np.linalg.norm(off[..., :3], axis=-1), np.abs(off[..., 3])))
    return bool(np.median(angle) > FREE)


def _moved_between(clip: Clip, between: Collection[int], tops: list[int]) -> set[int]:
    """The joints between hips and legs that may change where the legs begin: all that turn, and legs that slide."""
    table = clip.tracks.table
    turned = set(table["target"][table["path"] == PATHS.index("rotation")].tolist()) - set(tops)
    return turned | set(table["target"][table["path"] == PATHS.index("translation")].tolist())


def placed_clip(skeleton: Skeleton, chains: Chains, rest: Posture, clip: Clip) -> Clip:
    """`clip` with the joints of the body where they were, and turned as those places say."""
    times = frame_times(clip)
    pose = sample(clip, times)
    model = to_model(skeleton, pose).astype(np.float64)
    at, size = model[..., 3], leg_length(rest.place, chains)
    hips = chains["hips"][0]
    body = [int(j) for j in skeleton.descendants(hips)]
    limbs = {chains[f"{s}_{limb}"][0]: (chains[f"{s}_{limb}"], limb == "leg")
             for s in SIDES for limb in ("arm", "leg") if len(chains[f"{s}_{limb}"]) >= 3}  # fmt: skip
    above = int(skeleton.parents[hips])
    turns = {above: transform.decompose(model[:, above])[1]} if above >= 0 else {}
    moved: dict[int, Array] = {}
    tracks: list[tuple[int, int, Array]] = []
    for j in body:
        parent = int(skeleton.parents[j])
        carried = moved.get(parent, np.broadcast_to(quaternion.identity(dtype=np.float64), (len(times), 4)))
        turn = _turned(skeleton, rest, at, j, carried, size)
        if j in limbs:
            turn = _rolled(rest, at, turn, *limbs[j], times)
        moved[j] = turn
        turns[j] = quaternion.multiply(turn, rest.rotation[j])
        own = turns[j]
        if parent in turns:
            own = quaternion.multiply(quaternion.conjugate(turns[parent]), own)
            offset = quaternion.rotate(quaternion.conjugate(turns[parent]), at[:, j] - at[:, parent])
            if j != hips and np.abs(offset - skeleton.rest.translation[j]).max() > 1e-4 * size:
                tracks.append((j, 0, offset.astype(np.float32)))
        tracks.append((j, 1, _unrolled(own).astype(np.float32)))
    made = {(j, path) for j, path, _ in tracks} | {(j, 1) for j in body}
    kept = [t for t in clip.tracks if t.path == "morph" or (t.target, PATHS.index(t.path)) not in made]
    return clip.replace(tracks=pack_uniform(times, tracks, kept))


def _points(skeleton: Skeleton, rest: Posture, joint: int, size: float) -> list[int]:
    """The nearest joints below one that are elsewhere."""
    out: list[int] = []
    for child in skeleton.children(joint):
        apart = float(np.linalg.norm(rest.place[child] - rest.place[joint])) > SHORT * size
        out += [child] if apart else _points(skeleton, rest, child, size)
    return out


def _turned(skeleton: Skeleton, rest: Posture, at: Array, joint: int, carried: Array, size: float) -> Array:
    """How a joint turns from the reference posture, `(T, 4)`: with a single bone as its parent, then the shortest way."""
    points = _points(skeleton, rest, joint, size)
    was = rest.place[points] - rest.place[joint]
    now = at[:, points] - at[:, [joint]]
    if len(points) >= 2 and np.linalg.svd(was, compute_uv=False)[1] > 0.05 * size:
        return _fit(was, now)
    if not points:
        return carried
    bone = quaternion.rotate(carried, was.mean(axis=0))
    return quaternion.multiply(quaternion.between(bone, now.mean(axis=1)), carried)


def _fit(was: Array, now: Array) -> Array:
    """The turns that bring points `(P, 3)` nearest to where they are now, `(T, P, 3)`."""
    u, _, v = np.linalg.svd(np.einsum("pi,tpj->tij", was, now))
    sign = np.sign(np.linalg.det(u) * np.linalg.det(v))
    v = np.concatenate([v[:, :2], v[:, 2:] * sign[:, None, None]], axis=1)
    return quaternion.from_matrix(np.swapaxes(u @ v, -1, -2))


def _rolled(rest: Posture, at: Array, turn: Array, limb: tuple[int, ...], knee: bool, times: Array) -> Array:
    """A thigh or upper arm rolled so that the limb bends about its hinge, over moments in which it is straight too."""
    upper, lower = at[:, limb[1]] - at[:, limb[0]], at[:, limb[2]] - at[:, limb[1]]
    upper, lower = (b / np.maximum(np.linalg.norm(b, axis=-1, keepdims=True), 1e-12) for b in (upper, lower))
    normal = np.cross(upper, lower)
    bent = np.linalg.norm(normal, axis=-1)
    axis = quaternion.rotate(turn, hinge(rest, limb, knee=knee)[0])
    across = np.cross(upper, axis)
    plane = (axis * normal).sum(axis=-1) + 1j * (across * normal).sum(axis=-1)
    shown = np.clip(bent / BENT, 0.0, 1.0) ** 2 * plane / np.maximum(np.abs(plane), 1e-12)
    step = float(np.median(np.diff(times))) if len(times) > 1 else 1.0
    reach = max(int(np.ceil(3 * SMOOTH / max(step, 1e-6))), 1) if len(times) > 2 else 0
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) * step / SMOOTH) ** 2)
    mean = np.convolve(np.pad(shown, reach, mode="edge"), weights / weights.sum(), mode="valid")
    angle = np.angle(mean + STRAIGHT_PRIOR)
    return quaternion.multiply(quaternion.from_axis_angle(upper, angle), turn)


def _unrolled(q: Array) -> Array:
    """Quaternions `(T, 4)` whose signs do not jump."""
    flips = np.where((q[1:] * q[:-1]).sum(axis=-1) < 0, -1.0, 1.0)
    return np.concatenate([q[:1], q[1:] * np.cumprod(flips)[:, None]])
