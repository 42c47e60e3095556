"""The mannequin, put together: body, baton, morphs, clips."""

from __future__ import annotations

import numpy as np

from marrow.math import affine
from marrow.model import Character, Mesh, Section
from marrow.samples import atlas, paint, rig
from marrow.samples.baton import baton
from marrow.samples.clips import clips
from marrow.samples.morphs import morph_targets
from marrow.samples.sdf import Array
from marrow.samples.surface import surface
from marrow.samples.uv import tangents, unwrap
from marrow.samples.weights import skin_weights

__all__ = ["build"]


def sorted_by_material(
    triangles: Array, material: Array, names: list[str]
) -> tuple[Array, tuple[Section, ...]]:
    """Triangles in runs of one material each, and the sections that name the runs."""
    order = np.argsort(material, kind="stable")
    counts = np.bincount(material, minlength=len(names))
    starts = np.cumsum(counts) - counts
    sections = tuple(
        Section(int(start), int(count), index, names[index])
        for index, (start, count) in enumerate(zip(starts, counts))
        if count
    )
    return triangles[order], sections


def _body() -> Mesh:
    shape = surface()
    joints, weights = skin_weights(shape)
    unwrapped = unwrap(shape.vertices, shape.triangles, *atlas.charts(shape, joints, weights))
    source = unwrapped.source
    positions, normals = shape.vertices[source], shape.normals[source]
    triangles, sections = sorted_by_material(
        unwrapped.triangles, shape.material, [m.name for m in paint.MATERIALS]
    )
    _, _, bind = rig.bind_frames()
    return Mesh(
        "body",
        positions.astype(np.float32),
        triangles.astype(np.uint32),
        joints[source],
        weights[source],
        np.arange(len(bind), dtype=np.int32),
        affine.invert(bind).astype(np.float32),
        normals=normals.astype(np.float32),
        tangents=tangents(positions, normals, unwrapped.uv, unwrapped.triangles).astype(np.float32),
        uvs=(unwrapped.uv.astype(np.float32),),
        sections=sections,
        morph_targets=morph_targets(positions, normals, joints[source], weights[source]),
    )


def build() -> Character:
    """The whole character."""
    skeleton = rig.skeleton()
    return Character(skeleton, (_body(), baton(skeleton)), clips(skeleton), paint.MATERIALS, name="mannequin")  # type: ignore[arg-type]
