"""Rules about meshes: weights, triangles, and what their materials need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.lint.finding import Finding, first
from marrow.io.lint.rest_bounds import distinct
from marrow.math.counting import bincount
from marrow.model import Character, Mesh

__all__ = [
    "degenerate_triangles",
    "influence_counts",
    "missing_attributes",
    "missing_tangents",
    "not_finite",
    "weight_sums",
]

Array = NDArray[Any]
# Exporters round weights to three or four digits; what is further off moves vertices visibly.
SUM_TOLERANCE = 1e-4


def _place(mesh: Mesh, count: int) -> str:
    return f"mesh {mesh.name!r}" + (f" (on {count} nodes)" if count > 1 else "")


def not_finite(character: Character) -> Iterator[Finding]:
    """Vertices that are nowhere."""
    for mesh, count in distinct(character):
        for field in ("positions", "normals", "tangents"):
            values = getattr(mesh, field)
            nowhere = np.zeros(0, bool) if values is None else (~np.isfinite(values)).any(axis=1)
            bad = int(nowhere.sum())
            if bad:
                yield Finding(
                    "not-finite",
                    "error",
                    _place(mesh, count),
                    f"{bad} {field} are not finite numbers",
                    "delete or rebuild these vertices in the modelling tool",
                    vertices=first(nowhere),
                )


def influence_counts(character: Character) -> Iterator[Finding]:
    """Vertices with more influences than engines take."""
    for mesh, count in distinct(character):
        counts = mesh.influence_counts
        for limit, severity in ((8, "warning"), (4, "info")):
            over = int((counts > limit).sum())
            if over:
                yield Finding(
                    "influences",
                    severity,  # type: ignore[arg-type]
                    _place(mesh, count),
                    f"{over} of {mesh.vertex_count} vertices have more than {limit} influences "
                    f"(most: {counts.max()})",
                    f"marrow convert --influences {limit}, if the engine takes no more",
                    vertices=first(counts > limit),
                )
                break


def weight_sums(character: Character) -> Iterator[Finding]:
    """Weights that do not add up to one."""
    for mesh, count in distinct(character):
        off = np.abs(mesh.weights.sum(axis=1, dtype=np.float64) - 1)
        wrong = int((off > SUM_TOLERANCE).sum())
        if wrong:
            yield Finding(
                "weight-sums",
                "warning",
                _place(mesh, count),
                f"the weights of {wrong} vertices do not sum to 1 (off by up to {off.max():.2g})",
                "mw.normalize_weights(mesh.weights)",
                vertices=first(off > SUM_TOLERANCE),
            )


def degenerate_triangles(character: Character) -> Iterator[Finding]:
    """Triangles without area."""
    for mesh, count in distinct(character):
        if not mesh.triangle_count:
            continue
        a, b, c = (mesh.positions[mesh.triangles[:, k]].astype(np.float64) for k in range(3))
        sides = np.stack([b - a, c - b, a - c])
        longest = (sides * sides).sum(-1).max(axis=0)
        normal = np.cross(sides[0], sides[1])
        area = np.sqrt((normal * normal).sum(-1))
        # The height over the longest side is less than a millionth of that side.
        thin = area <= 1e-6 * longest
        flat = int(thin.sum())
        if flat:
            yield Finding(
                "degenerate-triangles",
                "warning" if flat > mesh.triangle_count // 100 else "info",
                _place(mesh, count),
                f"{flat} of {mesh.triangle_count} triangles have no area",
                "merge vertices by distance in the modelling tool; they cost time and break normals",
                vertices=first(bincount(mesh.triangles[thin].ravel(), minlength=mesh.vertex_count) > 0),
            )


def missing_attributes(character: Character) -> Iterator[Finding]:
    """Textures without UVs to lay them out, surfaces without normals to light them."""
    for mesh, count in distinct(character):
        if mesh.triangle_count and mesh.normals is None:
            yield Finding(
                "missing-normals",
                "warning",
                _place(mesh, count),
                "it has no normals",
                "export normals with the mesh",
            )
        wanted = 0
        for section in mesh.sections:
            if section.material is not None:
                textures = character.materials[section.material].textures.values()
                wanted = max([wanted, *(t.uv_set + 1 for t in textures)])
        if wanted > len(mesh.uvs):
            yield Finding(
                "missing-uvs",
                "error",
                _place(mesh, count),
                f"its textures need {wanted} UV sets, it has {len(mesh.uvs)}",
                "unwrap the mesh, or export its UVs",
            )


def missing_tangents(character: Character) -> Iterator[Finding]:
    """Normal maps without the tangents they were baked against."""
    for mesh, count in distinct(character):
        mapped = any(
            s.material is not None and character.materials[s.material].normal_texture is not None
            for s in mesh.sections
        )
        if mapped and mesh.tangents is None:
            yield Finding(
                "missing-tangents",
                "warning",
                _place(mesh, count),
                "it has a normal texture and no tangents",
                "export tangents, or let marrow make them (it needs normals and UVs)",
            )
