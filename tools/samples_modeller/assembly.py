"""From a painted half surface to a finished mesh: mirrored, textured, skinned, in sections."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from marrow.math import affine
from marrow.model import Mesh, Section, normalize_weights
from samples_modeller.grid import on_grid
from samples_modeller.joints import mirrored_name
from samples_modeller.polygonize import Neighbours, mirror
from samples_modeller.sdf import Array, Field, folded, normals
from samples_modeller.uv import Chart, tangents, unwrap

__all__ = [
    "Surface",
    "mirrored_surface",
    "sections_by_material",
    "skinned_mesh",
    "smooth_weights",
    "strongest",
]


@dataclass(frozen=True)
class Surface:
    """A closed, symmetric surface: `vertices (V, 3)`, unit `normals (V, 3)`, `triangles (F, 3)`, each
    vertex's mirror `image (V,)` and each triangle's `material (F,)`."""

    vertices: Array
    normals: Array
    triangles: Array
    image: Array
    material: Array


def mirrored_surface(field: Field, vertices: Array, triangles: Array, material: Array) -> Surface:
    """The whole surface of a left half, with the normals of the field it was made from."""
    vertices, triangles, image = mirror(vertices, triangles)
    n = on_grid(normals(field, folded(vertices)))
    n[vertices[:, 0] == 0, 0] = 0
    n[vertices[:, 0] < 0, 0] *= -1
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    return Surface(vertices, n, triangles, image, np.concatenate([material, material]))


def smooth_weights(surface: Surface, dense: Array, rounds: int, where: Array | float = 1.0) -> Array:
    """Weights `(V, J)` mixed with those of their neighbours, as far as `where (V, 1)` says."""
    neighbours = Neighbours.in_mesh(surface.triangles)
    for _ in range(rounds):
        dense = dense + 0.5 * where * (neighbours.mean(dense) - dense)
    return dense


def strongest(
    surface: Surface, dense: Array, names: tuple[str, ...], count: int, smallest: float
) -> tuple[Array, Array]:
    """The `count` strongest joints and weights `(V, count)` of each vertex, the right exactly as the left.

    Weights below `smallest` are left out: they cost an influence and move nothing.
    """
    dense = on_grid(dense)
    swap = [names.index(mirrored_name(n)) for n in names]
    x = surface.vertices[:, 0]
    mirrored = dense[surface.image][:, swap]
    # Six decimals: otherwise rounding decides the order of influences that mirror each other at x = 0.
    middle = np.round((dense + mirrored) / 2, 6)
    dense = np.where((x == 0)[:, None], middle, np.where((x > 0)[:, None], dense, mirrored))
    dense = np.where(dense < smallest, 0, dense)
    order = np.argsort(-dense, axis=1, kind="stable")[:, :count]
    weights, _ = normalize_weights(np.take_along_axis(dense, order, 1))
    return np.where(weights > 0, order, 0).astype(np.uint16), weights


def sections_by_material(
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


def skinned_mesh(
    name: str,
    surface: Surface,
    skin: tuple[Array, Array],
    bind: Array,
    charts: tuple[list[Chart], Array],
    materials: list[str],
) -> Mesh:
    """The mesh in its bind pose, skinned to all the joints of `bind (J, 3, 4)`."""
    unwrapped = unwrap(surface.vertices, surface.triangles, *charts)
    source = unwrapped.source
    positions, normal = surface.vertices[source], surface.normals[source]
    triangles, sections = sections_by_material(unwrapped.triangles, surface.material, materials)
    joints, weights = skin
    return Mesh(
        name,
        positions.astype(np.float32),
        triangles.astype(np.uint32),
        joints[source],
        weights[source],
        np.arange(len(bind), dtype=np.int32),
        affine.invert(bind).astype(np.float32),
        normals=normal.astype(np.float32),
        tangents=tangents(positions, normal, unwrapped.uv, unwrapped.triangles).astype(np.float32),
        uvs=(unwrapped.uv.astype(np.float32),),
        sections=sections,
    )
