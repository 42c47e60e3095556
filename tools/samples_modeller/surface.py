"""The mannequin's surface: head, body and hand polygonised each at its own fineness, joined, mirrored,
painted.

A grid fine enough for fingers would spend all its vertices on the back, so the hand and the head have finer
grids of their own and are stitched to the body at wrist and neck.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from samples_modeller import body, paint, rig
from samples_modeller.assembly import Surface, mirrored_surface
from samples_modeller.cutting import cut
from samples_modeller.polygonize import (
    boundary_loop,
    half_surface,
    relax,
    stitch,
    surface_nets,
    triangulate,
    without,
)
from samples_modeller.sdf import Array

__all__ = ["surface"]

BODY_SPACING, HEAD_SPACING, HAND_SPACING = 0.0138, 0.0082, 0.0046
NECK_HEIGHT = 1.515
WRIST_OFFSET = -0.03  # the hand's grid begins this far up the forearm


def _hand_piece() -> tuple[Array, Array]:
    hand = rig.hand_frame()
    axes = np.column_stack([hand.along, hand.thumb, hand.palm])
    origin = axes.T @ hand.wrist
    low = origin + np.array([WRIST_OFFSET, -0.075, -0.045])
    high = origin + np.array([0.225, 0.125, 0.085])
    vertices, quads = surface_nets(body.parts().whole, low, high, HAND_SPACING, axes=axes)
    return vertices, triangulate(vertices, quads)


def _joined() -> tuple[Array, Array]:
    """The left half in one piece, open only at x = 0."""
    hand, whole = rig.hand_frame(), body.parts().whole
    vertices, triangles = half_surface(
        whole, np.array([0, -0.03, -0.19]), np.array([0.80, NECK_HEIGHT + 0.03, 0.24]), BODY_SPACING
    )
    along = (vertices - hand.wrist) @ hand.along
    off = np.linalg.norm(vertices - hand.wrist - along[:, None] * hand.along, axis=1)
    beyond_wrist = (along > WRIST_OFFSET - 0.3 * HAND_SPACING) & (off < 0.2) & (vertices[:, 0] > 0.4)
    vertices, triangles = without(vertices, triangles, beyond_wrist | (vertices[:, 1] > NECK_HEIGHT))
    for piece_vertices, piece_triangles, at_seam in (
        (
            *half_surface(
                whole, np.array([0, NECK_HEIGHT, -0.16]), np.array([0.14, 1.85, 0.17]), HEAD_SPACING
            ),
            _near_neck,
        ),
        (*_hand_piece(), _near_wrist),
    ):
        offset = len(vertices)
        vertices = np.concatenate([vertices, piece_vertices])
        both = np.concatenate([triangles, piece_triangles + offset])
        is_piece = np.arange(len(vertices)) >= offset
        seam = at_seam(vertices)
        one = boundary_loop(vertices, triangles, seam & ~is_piece)
        other = boundary_loop(vertices, piece_triangles + offset, seam & is_piece)
        triangles = stitch(vertices, both, one, other)
    return vertices, triangles


def _near_neck(p: Array) -> Array:
    return np.abs(p[:, 1] - NECK_HEIGHT) < 0.03


def _near_wrist(p: Array) -> Array:
    hand = rig.hand_frame()
    return (np.abs((p - hand.wrist) @ hand.along - WRIST_OFFSET) < 0.04) & (p[:, 0] > 0.4)


@cache
def surface() -> Surface:
    """The finished surface."""
    whole = body.parts().whole
    vertices, triangles = _joined()
    vertices = relax(whole, vertices, triangles, rounds=6)
    return mirrored_surface(whole, *cut(whole, vertices, triangles, paint.regions()))
