"""Levels as the choices that made them: the order of the joints, and for each level how many of them and which
triangles.

From these a character gets its levels again without meshoptimizer and without measuring. The built-in samples come
with their choices, so that building the package needs neither.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.lod.assembly import assembled
from marrow.lod.joint_removal import moved_weights, reordered
from marrow.lod.meshoptimizer import MeshPart, drawn_parts
from marrow.model import Character, Level, Lod, limit_influences
from marrow.model.level import joint_map
from marrow.report import ReportBuilder

__all__ = ["LevelChoices", "chosen", "read_choices", "shape_digest", "with_choices", "write_choices"]

Array = NDArray[Any]


class _Figures(msgspec.Struct):
    joints: int
    influences: int
    error: float | None
    mean_error: float | None


class _Description(msgspec.Struct):
    shape: str
    joints: list[str]
    size: float | None
    levels: list[_Figures]


@dataclass(frozen=True)
class LevelChoices:
    """`description`, and for each level the triangles of each drawn section, of the vertices of all meshes."""

    description: _Description
    triangles: list[list[Array]]


def shape_digest(character: Character) -> str:
    """The shape that choices are made for, as one number: vertices, triangles, sections and weights."""
    digest = hashlib.sha256()
    for mesh in character.meshes:
        names = [character.skeleton.names[j] for j in mesh.joint_list]
        digest.update(repr([names, [(s.first, s.count) for s in mesh.sections]]).encode())
        for array in (mesh.positions, mesh.triangles, mesh.joints, mesh.weights):
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def chosen(character: Character, built: Character) -> LevelChoices:
    """What was chosen to make the levels of `built` from `character`, both with the same vertices."""
    offsets, levels = character.vertex_offsets, []
    keys = [_rows(m.positions, m.normals, *m.uvs) for m in character.meshes]
    by_name = {m.name: k for k, m in enumerate(character.meshes)}
    parts = drawn_parts(character)
    for level in built.reduced:
        found = [np.zeros((0, 3), np.int64) for _ in parts]
        for mesh in level.meshes:
            k = by_name[mesh.name]
            where = {key: i for i, key in enumerate(keys[k])}
            rows = np.array([where[key] for key in _rows(mesh.positions, mesh.normals, *mesh.uvs)])
            for s in mesh.sections:
                at = [
                    i for i, p in enumerate(parts) if (p.mesh, p.name, p.material) == (k, s.name, s.material)
                ]
                found[at[0]] = rows[mesh.triangles[s.first : s.first + s.count]] + offsets[k]
        levels.append(found)
    figures = [
        _Figures(l.lod.joints, l.lod.influences, _short(l.lod.error), _short(l.lod.mean_error))
        for l in built.reduced
    ]  # fmt: skip
    names = list(built.skeleton.names)
    return LevelChoices(_Description(shape_digest(character), names, _short(built.lod.size), figures), levels)


def _short(metres: float | None) -> float | None:
    """Rounded up to micrometres, so that it is the same wherever it is measured."""
    return None if metres is None else float(np.ceil(metres * 1e6)) / 1e6


def _rows(*arrays: Array | None) -> list[bytes]:
    joined = np.concatenate([a for a in arrays if a is not None], axis=1)
    return [row.tobytes() for row in joined]


def with_choices(character: Character, choices: LevelChoices) -> Character:
    """The character with the levels that were chosen for it."""
    told = choices.description
    if told.shape != shape_digest(character):
        raise ValidationError("the levels of detail were made for another shape")
    names = {name: j for j, name in enumerate(character.skeleton.names)}
    character = reordered(character, np.array([names[name] for name in told.joints]))
    parts, levels = drawn_parts(character), []
    for figures, triangles in zip(told.levels, choices.triangles):
        mapped = joint_map(character.skeleton.parents, figures.joints)
        skinned = tuple(
            limit_influences(moved_weights(m, character.skeleton, mapped), figures.influences).mesh
            for m in character.meshes
        )
        report = ReportBuilder()
        kept = [MeshPart(p.mesh, p.material, p.name, t, p.variants) for p, t in zip(parts, triangles)]
        meshes = assembled(skinned, character.vertex_offsets, kept, report)
        lod = Lod.of(
            meshes, figures.joints, error=figures.error, mean_error=figures.mean_error, size=told.size
        )
        levels.append(Level(meshes, lod, report.build()))
    lod = Lod.of(character.meshes, len(character.skeleton), error=0.0, mean_error=0.0, size=told.size)
    return character.replace(reduced=tuple(levels), lod=lod)


def write_choices(choices: LevelChoices, path: Any) -> None:
    """Writes choices into a compressed file of NumPy's."""
    arrays = {"description": np.frombuffer(msgspec.json.encode(choices.description), np.uint8)}
    for k, level in enumerate(choices.triangles):
        for p, triangles in enumerate(level):
            # Differences are small numbers, which pack well.
            flat = np.diff(triangles.ravel(), prepend=0)
            arrays[f"{k}.{p}"] = flat.astype(np.int32)
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]


def read_choices(path: Any) -> LevelChoices:
    """What `write_choices` wrote."""
    with np.load(path, allow_pickle=False) as file:
        told = msgspec.json.decode(file["description"].tobytes(), type=_Description)
        triangles = [
            [
                np.cumsum(file[f"{k}.{p}"].astype(np.int64)).reshape(-1, 3)
                for p in range(sum(n.startswith(f"{k}.") for n in file.files))
            ]
            for k in range(len(told.levels))
        ]
    return LevelChoices(told, triangles)
