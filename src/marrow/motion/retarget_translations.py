"""Where the joints of the target are: hips and root in model space, everything else as it slides against its parent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import affine, quaternion, transform
from marrow.model import Clip, Pose
from marrow.motion.alignment import Driver
from marrow.motion.bone_map import PARTS
from marrow.motion.retarget_rotations import model_of

if TYPE_CHECKING:
    from marrow.motion.retarget import Retargeter

__all__ = ["places"]

Array = NDArray[Any]


def places(
    tool: Retargeter,
    clip: Clip,
    pose: Pose,
    rotations: Mapping[int, Array],
    found: Mapping[int, Driver],
    world: Array,
) -> dict[int, Array]:
    """Translations `(T, 3)` of the joints that need them."""
    table = clip.tracks.table
    slides = {int(j) for j in np.unique(table["target"][table["path"] == 0])}
    out = _of_body(tool, pose, rotations, found, world, slides) if tool.map.humanoid else {}
    for c in tool.map:
        if len(c.source) != len(c.target) or c.name in ("hips", "root"):
            continue
        if c.name in PARTS and tool.map.humanoid and not tool.same_proportions:
            continue  # bones of another body keep their own length
        for s, t in zip(c.source, c.target):
            if s in slides and t not in out:
                top = not tool.map.humanoid and (tool.source.parents[s] < 0 or tool.target.parents[t] < 0)
                out[t] = top_place(tool, pose, s, t) if top else offset(tool, pose, s, t)
    return out


def _of_body(
    tool: Retargeter,
    pose: Pose,
    rotations: Mapping[int, Array],
    found: Mapping[int, Driver],
    world: Array,
    slides: set[int],
) -> dict[int, Array]:
    """The root, where it moves, and the joint that carries the body."""
    out: dict[int, Array] = {}
    hips = tool.map["hips"].target[0]
    root = tool.map["root"].target[0] if "root" in tool.map else -1
    carrier = next(j for j in (*reversed(tool.target.ancestors(hips)), hips) if j in rotations and j != root)
    above: dict[int, tuple[Array | None, Array]] = {}
    if root in found:
        source = tool.map["root"].source[0]
        if source in slides:
            way = model_of(tool.source, pose, source)[..., 3] - tool.rest_s.place[source]
            way = quaternion.rotate(world, way) * tool.scale
            out[root] = local_place(tool, root, way + tool.rest_t.place[root], {})
        above[root] = out.get(root), rotations[root]
    out[carrier] = local_place(tool, carrier, hips_place(tool, pose, rotations, world, carrier), above)
    return out


def hips_place(
    tool: Retargeter, pose: Pose, rotations: Mapping[int, Array], world: Array, carrier: int
) -> Array:
    """Where the target's hips are `(T, 3)`: the middle between the hip joints, its height over the ankles and its way
    scaled by the length of the legs."""
    hips_s = tool.map["hips"].source[0]
    here = model_of(tool.source, pose, hips_s)
    between_s, between_t = (
        (place[legs[0]] + place[legs[1]]) / 2
        for place, legs in (
            (
                tool.source.rest_model[..., 3].astype(np.float64),
                (tool.map["left_leg"].source[0], tool.map["right_leg"].source[0]),
            ),
            (tool.rest_t.place, (tool.map["left_leg"].target[0], tool.map["right_leg"].target[0])),
        )
    )
    inside = affine.apply(affine.invert(tool.source.rest_model[hips_s].astype(np.float64)), between_s[None])[
        0
    ]
    middle = here[..., :3] @ inside + here[..., 3]
    middle = quaternion.rotate(world, middle)
    middle[:, 1] -= tool.feet_s.ankle + tool.ground(pose, world)
    middle = middle * tool.scale
    middle[:, 1] += tool.feet_t.ankle
    turned = model_rotation(tool, carrier, rotations)
    aside = quaternion.rotate(
        quaternion.conjugate(tool.rest_t.rotation[carrier]), between_t - tool.rest_t.place[carrier]
    )
    return middle - quaternion.rotate(turned, aside)


def model_rotation(tool: Retargeter, joint: int, rotations: Mapping[int, Array]) -> Array:
    rest = np.asarray(tool.target.rest.rotation, np.float64)
    out: Array = quaternion.identity(dtype=np.float64)
    for j in (*reversed(tool.target.ancestors(joint)), joint):
        out = quaternion.multiply(out, rotations[j].astype(np.float64) if j in rotations else rest[j])
    return out


def local_place(
    tool: Retargeter, joint: int, place: Array, above: Mapping[int, tuple[Array | None, Array]]
) -> Array:
    """A place in model space as translation relative to the joint's parent; `above` are ancestors that move."""
    parent = int(tool.target.parents[joint])
    if parent < 0:
        return place
    chain = [*reversed(tool.target.ancestors(joint))]
    rest = tool.target.rest
    if not any(j in above for j in chain):
        return affine.apply(affine.invert(tool.target.rest_model[parent].astype(np.float64)), place)
    model = affine.identity(dtype=np.float64)
    for j in chain:
        way, turn = above.get(j, (None, rest.rotation[j]))
        way = rest.translation[j] if way is None else way
        own = transform.compose(*(np.asarray(a, np.float64) for a in (way, turn, rest.scale[j])))
        model = affine.multiply(model, own)
    inverse = affine.invert(model)
    return np.einsum("tij,tj->ti", inverse[..., :3], place) + inverse[..., 3]


def offset(tool: Retargeter, pose: Pose, s: int, t: int) -> Array:
    """A joint that slides against its parent slides as far, for the target's size, seen from outside at rest."""
    slid = pose.translation[:, s].astype(np.float64) - tool.source.rest.translation[s]
    ps, pt = int(tool.source.parents[s]), int(tool.target.parents[t])
    if ps >= 0:
        slid = slid @ tool.source.rest_model[ps, :, :3].astype(np.float64).T
    bodies = quaternion.from_matrix(tool.rest_t.frame @ tool.rest_s.frame.T)
    slid = quaternion.rotate(bodies, slid) * tool.scale
    if pt >= 0:
        slid = slid @ np.linalg.pinv(tool.target.rest_model[pt, :, :3].astype(np.float64)).T
    return np.asarray(tool.target.rest.translation[t], np.float64) + slid


def top_place(tool: Retargeter, pose: Pose, s: int, t: int) -> Array:
    """The way of a joint without a parent, in model space. A BVH's rest pose has it at zero, whatever its height; there
    the place itself counts, elsewhere how far it is from rest."""
    place = model_of(tool.source, pose, s)[..., 3] * tool.scale
    if float(np.abs(tool.rest_s.place[s]).max()) > 1e-9 and tool.scale != 1:
        place = place - tool.rest_s.place[s] * tool.scale + tool.rest_t.place[t]
    return local_place(tool, t, place, {})
