"""Tangents: hand-made surfaces, and agreement with MikkTSpace itself."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

import marrow as mw
from marrow.errors import ValidationError
from marrow.io.tangents import compute_tangents, generate_tangents, with_tangents


def quad() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A square in the XY plane facing +Z, its picture upright (V points down)."""
    p = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], np.float32)
    uv = np.array([[0, 1], [1, 1], [1, 0], [0, 0]], np.float32)
    return p, np.tile(np.float32([0, 0, 1]), (4, 1)), uv, np.array([[0, 1, 2], [0, 2, 3]])


def wavy(size: int = 14) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    x, y = np.meshgrid(np.linspace(-1, 1, size), np.linspace(-1, 1, size))
    p = np.stack([x, y, 0.3 * np.sin(3 * x) * np.cos(2 * y)], -1).reshape(-1, 3)
    n = np.stack(
        [-0.9 * np.cos(3 * x) * np.cos(2 * y), 0.6 * np.sin(3 * x) * np.sin(2 * y), np.ones_like(x)], -1
    )
    n = n.reshape(-1, 3) / np.linalg.norm(n.reshape(-1, 3), axis=1, keepdims=True)
    uv = np.stack([x + 0.2 * y * y, y + 0.1 * x], -1).reshape(-1, 2)
    i = np.arange(size * size).reshape(size, size)
    a, b, c, d = i[:-1, :-1].ravel(), i[:-1, 1:].ravel(), i[1:, 1:].ravel(), i[1:, :-1].ravel()
    triangles = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    return p.astype(np.float32), n.astype(np.float32), uv.astype(np.float32), triangles


def test_tangent_points_along_u_and_the_bitangent_up_the_picture():
    made = compute_tangents(*quad())
    np.testing.assert_allclose(made.values, [[1, 0, 0, 1]] * 4, atol=1e-7)
    assert (made.split, made.undefined) == (0, 0)


def test_mirrored_uvs_turn_the_handedness_round():
    p, n, uv, triangles = quad()
    made = compute_tangents(p, n, uv * np.float32([-1, 1]), triangles)
    np.testing.assert_allclose(made.values, [[-1, 0, 0, -1]] * 4, atol=1e-7)


def test_vertices_on_a_mirror_seam_are_counted_and_take_the_larger_side():
    # Two squares side by side, the left one narrower; U runs away from the seam on both sides.
    p = np.array([[-0.2, 0, 0], [0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [-0.2, 1, 0]], np.float32)
    uv = np.stack([np.abs(p[:, 0]), 1 - p[:, 1]], 1)
    triangles = np.array([[0, 1, 4], [0, 4, 5], [1, 2, 3], [1, 3, 4]])
    made = compute_tangents(p, np.tile(np.float32([0, 0, 1]), (6, 1)), uv, triangles)
    assert made.split == 2
    np.testing.assert_allclose(made.values[[0, 5]], [[-1, 0, 0, -1]] * 2, atol=1e-6)
    np.testing.assert_allclose(made.values[[2, 3]], [[1, 0, 0, 1]] * 2, atol=1e-6)


def test_vertices_without_uv_area_get_a_unit_vector_in_their_plane():
    p, n, uv, triangles = wavy(5)
    made = compute_tangents(p, n, np.zeros_like(uv), triangles)
    assert made.undefined == 25
    np.testing.assert_allclose(np.linalg.norm(made.values[:, :3], axis=1), 1, atol=1e-6)
    np.testing.assert_allclose((made.values[:, :3] * n).sum(1), 0, atol=1e-6)


def test_no_triangles_and_no_vertices_are_fine():
    p, n, uv, _ = quad()
    assert compute_tangents(p, n, uv, np.zeros((0, 3), int)).undefined == 4
    assert compute_tangents(p[:0], n[:0], uv[:0], np.zeros((0, 3), int)).values.shape == (0, 4)


@pytest.fixture(scope="module")
def mikktspace(node_tools):
    def run(p: np.ndarray, n: np.ndarray, uv: np.ndarray) -> np.ndarray:
        raw = np.concatenate([a.ravel() for a in (p, n, uv)]).astype("<f4").tobytes()
        done = subprocess.run(
            ["node", str(node_tools / "mikktspace.cjs")], input=raw, capture_output=True, check=True
        )
        # glTF's V points down, MikkTSpace's up: the handedness is the other one.
        return np.frombuffer(done.stdout, "<f4").reshape(-1, 4) * np.float32([1, 1, 1, -1])

    return run


def surfaces():
    p, n, uv, triangles = wavy()
    rng = np.random.default_rng(1)
    yield pytest.param((p, n, uv, triangles), id="wavy")
    mirrored = np.stack([np.abs(uv[:, 0]), uv[:, 1]], 1)
    yield pytest.param((p, n, mirrored, triangles), id="mirrored")
    yield pytest.param((p, n, rng.uniform(size=uv.shape).astype(np.float32), triangles), id="scrambled")
    pinched = p.copy()
    pinched[20:25] = pinched[20]
    yield pytest.param((pinched, n, uv, triangles), id="triangles without extent")
    backs = np.concatenate([triangles, triangles[:40, ::-1]])
    yield pytest.param((p, n, uv, backs), id="triangles with a back side")
    twice = np.concatenate([triangles, triangles[:30]])
    yield pytest.param((p, n, uv, twice), id="triangles that occur twice")


@pytest.mark.parametrize("surface", list(surfaces()))
def test_unindexed_triangles_agree_with_mikktspace(surface, mikktspace):
    p, n, uv, triangles = surface
    corner = triangles.ravel()
    expected = mikktspace(p[corner], n[corner], uv[corner])
    made = compute_tangents(p[corner], n[corner], uv[corner], np.arange(len(corner)).reshape(-1, 3))
    assert made.split == 0
    np.testing.assert_allclose(made.values, expected, atol=1e-5)


@pytest.mark.parametrize("surface", list(surfaces()))
def test_indexed_vertices_that_need_no_split_agree_with_mikktspace(surface, mikktspace):
    p, n, uv, triangles = surface
    corner = triangles.ravel()
    expected = mikktspace(p[corner], n[corner], uv[corner])
    low, high = np.full((len(p), 4), np.inf), np.full((len(p), 4), -np.inf)
    np.minimum.at(low, corner, expected)
    np.maximum.at(high, corner, expected)
    whole = (high - low).max(axis=1) < 1e-5
    made = compute_tangents(p, n, uv, triangles)
    both_sides = (low[:, 3] < 0) & (high[:, 3] > 0)
    assert made.split == both_sides.sum()
    np.testing.assert_allclose(made.values[corner][whole[corner]], expected[whole[corner]], atol=1e-5)


def textured(**mesh_options) -> mw.Character:
    p, n, uv, triangles = quad()
    options = {"normals": n, "uvs": (uv,)} | mesh_options
    mesh = mw.Mesh.rigid("wall", p, triangles, 0, sections=(mw.Section(0, 2, 0),), **options)
    picture = mw.Image("bumps", "image/png", b"")
    material = mw.Material("brick", normal_texture=mw.Texture(0))
    return mw.Character(mw.Skeleton(("root",), [-1]), (mesh,), materials=(material,), images=(picture,))


def test_characters_get_tangents_where_a_normal_texture_needs_them():
    character = with_tangents(textured())
    np.testing.assert_allclose(character.meshes[0].tangents, [[1, 0, 0, 1]] * 4, atol=1e-7)
    assert "tangents were generated" in str(character.report)


def test_tangents_of_the_file_and_meshes_without_normal_texture_stay_as_they_are():
    own = np.tile(np.float32([0, 1, 0, -1]), (4, 1))
    kept = textured(tangents=own)
    assert with_tangents(kept) is kept
    plain = textured().replace(materials=(mw.Material("plain"),))
    assert with_tangents(plain) is plain


def test_a_normal_texture_without_uvs_or_normals_is_reported():
    assert "no UV set 0" in str(with_tangents(textured(uvs=())).report)
    assert "no normals" in str(with_tangents(textured(normals=None)).report)


def test_generate_tangents_names_what_is_missing():
    mesh = textured().meshes[0]
    assert generate_tangents(mesh).tangents is not None
    with pytest.raises(ValidationError, match="UV set 3"):
        generate_tangents(mesh, uv_set=3)
    with pytest.raises(ValidationError, match="normals"):
        generate_tangents(textured(normals=None).meshes[0])
