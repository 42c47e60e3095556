"""The rigid prop: a baton in the right hand's socket."""

from __future__ import annotations

import numpy as np

from marrow.math import affine, transform
from marrow.model import Mesh, Skeleton
from samples_modeller import rig
from samples_modeller.assembly import sections_by_material
from samples_modeller.grid import on_grid
from samples_modeller.paint import ACCENT, JOINT, SHELL
from samples_modeller.sdf import Array
from samples_modeller.uv import tangents

__all__ = ["baton", "lathe"]

SIDES = 24
# Radius and height of the outline, from the pommel up; the material of the part above each point.
OUTLINE = [
    (0.0, -0.115, ACCENT), (0.009, -0.113, ACCENT), (0.015, -0.105, ACCENT), (0.0165, -0.092, ACCENT),
    (0.0115, -0.080, JOINT), (0.0108, -0.040, JOINT), (0.0108, 0.040, JOINT), (0.0115, 0.075, JOINT),
    (0.0140, 0.082, SHELL), (0.0140, 0.180, SHELL), (0.0145, 0.300, SHELL), (0.0150, 0.400, SHELL),
    (0.0165, 0.405, ACCENT), (0.0180, 0.430, ACCENT), (0.0180, 0.455, ACCENT), (0.0150, 0.472, ACCENT),
    (0.0080, 0.481, ACCENT), (0.0, 0.483, ACCENT),
]  # fmt: skip


def lathe(radius: Array, height: Array, sides: int) -> tuple[Array, Array, Array, Array]:
    """Positions, normals, uvs and quads `(rows, sides, 4)` of an outline turned about +Y.

    The slit of the texture doubles one column, and each pole is a row of vertices at one point.
    """
    angle = 2 * np.pi * np.arange(sides + 1) / sides
    # The first and the last column are the same to the byte.
    ring = np.stack([np.sin(angle), np.zeros_like(angle), np.cos(angle)], axis=1)
    ring[-1] = ring[0]
    positions = radius[:, None, None] * ring + height[:, None, None] * np.array([0, 1.0, 0])
    slope = np.stack([np.gradient(radius), np.gradient(height)], axis=1)
    slope /= np.linalg.norm(slope, axis=1, keepdims=True)
    slope[0], slope[-1] = (1, 0), (-1, 0)
    normals = slope[:, 1, None, None] * ring - slope[:, 0, None, None] * np.array([0, 1.0, 0])
    v = (height - height[0]) / (height[-1] - height[0])
    uv = np.stack(np.broadcast_arrays(angle[None] / (2 * np.pi), v[:, None]), axis=-1)
    row, column = np.meshgrid(np.arange(len(radius) - 1), np.arange(sides), indexing="ij")
    start = row * (sides + 1) + column
    quads = np.stack([start, start + 1, start + sides + 2, start + sides + 1], axis=-1)
    return positions.reshape(-1, 3), normals.reshape(-1, 3), uv.reshape(-1, 2), quads


def baton(skeleton: Skeleton) -> Mesh:
    """The baton, standing upright in the socket `hand_r_grip`. Its vertices are where it is at bind, so it shares the
    hand's skinning matrix with the body."""
    radius, height, paint = (np.array(column) for column in zip(*OUTLINE))
    positions, normals, uv, quads = lathe(radius, height, SIDES)
    socket = skeleton.socket("hand_r_grip")
    bind = rig.bind_frames()[2][socket.joint]
    grip = affine.multiply(
        bind, transform.compose(socket.translation, socket.rotation, socket.scale).astype(float)
    )
    positions = on_grid(affine.apply(grip, positions))
    normals = on_grid(affine.apply_vectors(grip, normals))
    material = np.repeat(paint[:-1].astype(int)[:, None], SIDES, axis=1)
    corners = np.concatenate([quads[..., [0, 1, 2]].reshape(-1, 3), quads[..., [0, 2, 3]].reshape(-1, 3)])
    material = np.tile(material.ravel(), 2)
    # At the poles one of the two triangles of a quad has no area.
    a, b, c = (positions[corners[:, k]] for k in range(3))
    solid = np.linalg.norm(np.cross(b - a, c - a), axis=1) > 1e-12
    triangles, sections = sections_by_material(corners[solid], material[solid], ["shell", "joint", "accent"])
    return Mesh.rigid(
        "baton",
        positions.astype(np.float32),
        triangles.astype(np.uint32),
        socket.joint,
        inverse_bind=affine.invert(bind[None]).astype(np.float32),
        node=-1,
        normals=normals.astype(np.float32),
        tangents=tangents(positions, normals, uv, triangles).astype(np.float32),
        uvs=(uv.astype(np.float32),),
        sections=sections,
    )
