"""Whether two characters are the same, part by part."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.testing import assert_array_equal

from marrow.model import Character, Clip, Mesh


def assert_same(a: Character, b: Character) -> None:
    """Bit for bit, but for joints that have no weight and columns of influences nobody uses."""
    assert a.name == b.name
    assert a.skeleton.names == b.skeleton.names
    assert a.skeleton.morph_names == b.skeleton.morph_names
    assert_array_equal(a.skeleton.parents, b.skeleton.parents)
    for field in ("translation", "rotation", "scale", "morphs"):
        assert_array_equal(getattr(a.skeleton.rest, field), getattr(b.skeleton.rest, field), field)
    assert [(s.name, s.joint) for s in a.skeleton.sockets] == [(s.name, s.joint) for s in b.skeleton.sockets]
    for s, t in zip(a.skeleton.sockets, b.skeleton.sockets):
        for field in ("translation", "rotation", "scale"):
            assert_array_equal(getattr(s, field), getattr(t, field))
    assert len(a.meshes) == len(b.meshes)
    for m, n in zip(a.meshes, b.meshes):
        assert_same_mesh(m, n)
    assert list(a.clips) == list(b.clips)
    for name in a.clips:
        assert_same_clip(a.clips[name], b.clips[name])
    assert a.materials == b.materials
    assert a.images == b.images


def assert_same_mesh(a: Mesh, b: Mesh) -> None:
    for field in ("name", "node", "visible", "skinning", "sections"):
        assert getattr(a, field) == getattr(b, field), field
    for field in ("positions", "triangles", "normals", "tangents", "colors", "joint_list", "inverse_bind"):
        optional(getattr(a, field), getattr(b, field), field)
    optional(a.dual_quaternion_weights, b.dual_quaternion_weights, "dual_quaternion_weights")
    assert len(a.uvs) == len(b.uvs)
    for u, v in zip(a.uvs, b.uvs):
        assert_array_equal(u, v)
    K = min(a.influences, b.influences)
    for mesh in (a, b):
        assert not mesh.weights[:, K:].any()
    assert_array_equal(a.weights[:, :K], b.weights[:, :K])
    used = a.weights[:, :K] > 0
    assert_array_equal(a.joints[:, :K][used], b.joints[:, :K][used])
    assert len(a.morph_targets) == len(b.morph_targets)
    for s, t in zip(a.morph_targets, b.morph_targets):
        assert (s.name, s.channel, s.full_weight) == (t.name, t.channel, t.full_weight)
        for field in ("positions", "normals", "tangents"):
            optional(s.dense(a.vertex_count, field), t.dense(b.vertex_count, field), field)


def assert_same_clip(a: Clip, b: Clip) -> None:
    assert (a.duration, a.events, a.rate, a.additive) == (b.duration, b.events, b.rate, b.additive)
    left = {(t.path, t.target): t for t in a.tracks}
    right = {(t.path, t.target): t for t in b.tracks}
    assert left.keys() == right.keys()
    for key, track in left.items():
        assert track.interpolation == right[key].interpolation, key
        assert_array_equal(track.times, right[key].times)
        assert_array_equal(track.values, right[key].values)


def optional(a: Any, b: Any, field: str) -> None:
    assert (a is None) == (b is None), field
    if a is not None:
        assert_array_equal(np.asarray(a), np.asarray(b), field)
