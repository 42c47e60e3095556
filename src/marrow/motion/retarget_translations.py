"""Where the joints of the target are: hips and root in model space, everything else as it slides against its parent."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import affine, quaternion
from marrow.motion.alignment import Driver
from marrow.motion.bone_map import PARTS
from marrow.motion.transfer import JointPlace, TransferBuilder

if TYPE_CHECKING:
    from marrow.motion.retarget_setup import Fit

__all__ = ["add_translations"]

Array = NDArray[Any]


def add_translations(
    fit: Fit, builder: TransferBuilder, found: Mapping[int, Driver], world: Array, slides: Collection[int]
) -> None:
    """Adds the translations of the joints that need them, for clips that slide the source joints `slides` and turn those in
    `found`."""
    done = _of_body(fit, builder, found, world, slides) if fit.map.humanoid else set[int]()
    for c in fit.map:
        if len(c.source) != len(c.target) or c.name in ("hips", "root"):
            continue
        if c.name in PARTS and fit.map.humanoid and not fit.same_proportions:
            continue  # bones of another body keep their own length
        for s, t in zip(c.source, c.target):
            if s in slides and t not in done:
                done.add(t)
                top = not fit.map.humanoid and (fit.source.parents[s] < 0 or fit.target.parents[t] < 0)
                if top:
                    builder.place(t, _top_place(fit, s, t))
                else:
                    builder.slide(t, s, *_offset(fit, s, t))


def _of_body(
    fit: Fit, builder: TransferBuilder, found: Mapping[int, Driver], world: Array, slides: Collection[int]
) -> set[int]:
    """The root, where it moves, and the joint that carries the body."""
    hips = fit.map["hips"].target[0]
    root = fit.map["root"].target[0] if "root" in fit.map else -1
    chain = (*reversed(fit.target.ancestors(hips)), hips)
    carrier = next(j for j in chain if j in found and j != root)
    turn = quaternion.to_matrix(world) * fit.scale
    done = {carrier}
    if root in found:
        source = fit.map["root"].source[0]
        if source in slides:
            after = fit.rest_t.place[root] - turn @ fit.rest_s.place[source]
            matrix = np.column_stack([turn, after])
            builder.place(root, JointPlace(source, np.zeros(3), matrix, seen=_out_of_rest(fit, root)))
            done.add(root)
    builder.place(carrier, _hips_place(fit, turn, carrier, root if root in found else -1))
    return done


def _hips_place(fit: Fit, turn: Array, carrier: int, root: int) -> JointPlace:
    """Where the target's hips are: the middle between the hip joints, its height over the ankles and its way scaled by the
    length of the legs."""
    hips_s = fit.map["hips"].source[0]
    between_s, between_t = (
        (place[legs[0]] + place[legs[1]]) / 2
        for place, legs in (
            (
                fit.source.rest_model[..., 3].astype(np.float64),
                (fit.map["left_leg"].source[0], fit.map["right_leg"].source[0]),
            ),
            (fit.rest_t.place, (fit.map["left_leg"].target[0], fit.map["right_leg"].target[0])),
        )
    )
    inside = affine.apply(affine.invert(fit.source.rest_model[hips_s].astype(np.float64)), between_s[None])[0]
    after = np.array([0.0, fit.feet_t.ankle - fit.feet_s.ankle * fit.scale, 0.0])
    aside = quaternion.rotate(
        quaternion.conjugate(fit.rest_t.rotation[carrier]), between_t - fit.rest_t.place[carrier]
    )
    above = tuple(reversed(fit.target.ancestors(carrier)))
    moving = root in above
    seen = np.eye(3, 4) if moving else _out_of_rest(fit, carrier)
    return JointPlace(
        hips_s,
        inside,
        np.column_stack([turn, after]),
        aside,
        carrier,
        seen,
        above if moving else (),
        grounded=True,
    )


def _out_of_rest(fit: Fit, joint: int) -> Array:
    """From model space into the frame of a joint's parent, which rests."""
    parent = int(fit.target.parents[joint])
    return np.eye(3, 4) if parent < 0 else affine.invert(fit.target.rest_model[parent].astype(np.float64))


def _offset(fit: Fit, s: int, t: int) -> tuple[Array, Array, Array]:
    """A joint that slides against its parent slides as far, for the target's size, seen from outside: where it rests
    in the source, the matrix, and where it rests in the target."""
    matrix = quaternion.to_matrix(quaternion.from_matrix(fit.rest_t.frame @ fit.rest_s.frame.T)) * fit.scale
    ps, pt = int(fit.source.parents[s]), int(fit.target.parents[t])
    if ps >= 0:
        matrix = matrix @ fit.source.rest_model[ps, :, :3].astype(np.float64)
    if pt >= 0:
        matrix = np.linalg.pinv(fit.target.rest_model[pt, :, :3].astype(np.float64)) @ matrix
    return fit.source.rest.translation[s], matrix, fit.target.rest.translation[t]


def _top_place(fit: Fit, s: int, t: int) -> JointPlace:
    """The way of a joint without a parent, in model space. A BVH's rest pose has it at zero, whatever its height; there
    the place itself counts, elsewhere how far it is from rest."""
    after = np.zeros(3)
    if float(np.abs(fit.rest_s.place[s]).max()) > 1e-9 and fit.scale != 1:
        after = fit.rest_t.place[t] - fit.rest_s.place[s] * fit.scale
    return JointPlace(
        s, np.zeros(3), np.column_stack([np.eye(3) * fit.scale, after]), seen=_out_of_rest(fit, t)
    )
