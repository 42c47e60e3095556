"""Characters with levels made by hand: the first joints, every so many triangles, weights moved to the joint above."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np

import marrow as mw
from marrow.model.level import Level, Lod, joint_map


def cut(character, joints, every, error):
    """A level of the first `joints` joints with every `every`-th triangle."""
    stand_in = joint_map(character.skeleton.parents, joints)
    meshes = []
    for mesh in character.meshes:
        listed = stand_in[mesh.joint_list]
        binds = character.palette.inverse_bind[listed]
        meshes.append(
            mesh.replace(
                joint_list=listed,
                inverse_bind=binds,
                triangles=mesh.triangles[::every],
                sections=(),
                node=int(stand_in[mesh.node]) if mesh.node >= 0 else -1,
            )
        )
    return Level(tuple(meshes), Lod.of(meshes, joints, error=error))


def with_levels(character, *levels):
    return character.replace(reduced=tuple(cut(character, *level) for level in levels))


@cache
def mannequin():
    """The mannequin at 61, 40, 20 and 9 joints."""
    plain = mw.samples.mannequin()
    plain = plain.replace(reduced=(), lod=None)
    return with_levels(plain, (40, 2, 0.002), (20, 8, 0.01), (9, 40, 0.03))


def measured(character, *errors):
    """The same levels with other errors."""
    return character.replace(
        reduced=tuple(
            Level(level.meshes, dataclasses.replace(level.lod, error=error), level.report)
            for level, error in zip(character.reduced, errors)
        )
    )


def standing(places, scale=1.0):
    """Transforms `(N, 3, 4)` of instances at these places."""
    places = np.atleast_2d(np.asarray(places, np.float32))
    out = np.zeros((len(places), 3, 4), np.float32)
    out[:, [0, 1, 2], [0, 1, 2]] = scale
    out[:, :, 3] = places
    return out
