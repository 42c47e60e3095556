"""OBJ and PLY: read by another library, they are the surface that marrow skins."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree

import marrow as mw
from marrow.errors import MarrowError, ResourceLimitError
from marrow.io import surfaces
from surroundings import needed


@pytest.fixture(scope="module")
def hero() -> mw.Character:
    return mw.samples.mannequin()


@pytest.mark.parametrize("suffix", [".obj", ".ply"])
def test_another_library_reads_the_skinned_surface(hero: mw.Character, tmp_path: Path, suffix: str) -> None:
    trimesh = needed("trimesh")
    mw.save(hero, tmp_path / f"a{suffix}", clip="run", time=0.3)
    found = trimesh.load(tmp_path / f"a{suffix}", force="mesh", process=False)
    surface = mw.skin(hero, hero.clips["run"].sample(0.3))
    triangles = np.concatenate([m.triangles + o for m, o in zip(hero.meshes, hero.vertex_offsets)])
    theirs = np.asarray(found.vertices)[np.asarray(found.faces)].reshape(-1, 9)
    ours = surface.positions[triangles].reshape(-1, 9)
    assert len(theirs) == len(ours)
    # Faces may come in another order, by material.
    for one, other in ((theirs, ours), (ours, theirs)):
        assert cKDTree(one).query(other)[0].max() < 1e-5


def test_a_sequence_is_a_file_for_each_frame(hero: mw.Character, tmp_path: Path) -> None:
    clip = hero.clips["walk"]
    mw.save(hero, tmp_path / "walk.ply", clip="walk", rate=5)
    files = sorted(tmp_path.iterdir())
    assert [f.name for f in files[:2]] == ["walk.0000.ply", "walk.0001.ply"]
    assert len(files) == int(clip.duration * 5 + 1e-3) + 1


def test_texture_coordinates_and_materials_are_named(tmp_path: Path) -> None:
    mesh = mw.Mesh.rigid("two words", [[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], 0)
    mesh = mesh.replace(uvs=(np.float32([[0, 0], [1, 0], [0, 0.25]]),), sections=(mw.Section(0, 1, 0),))
    skeleton = mw.Skeleton(("a",), [-1])
    mw.save(mw.Character(skeleton, (mesh,), materials=(mw.Material("skin"),)), tmp_path / "a.obj")
    text = (tmp_path / "a.obj").read_text()
    assert "o two_words" in text
    assert "usemtl skin" in text
    assert "vt 0 0.75" in text
    assert "f 1/1 2/2 3/3" in text


@pytest.mark.parametrize(
    "options",
    [
        {"time": 1.0},
        {"rate": 3.0},
        {"clip": "runn"},
        {"clip": "run", "rate": -1.0},
        {"clip": "run", "rate": 1e6},
        {"clip": "run", "rate": 5.0, "time": 0.1},
        {"clip": "run", "time": float("nan")},
        {"clip": "run", "time": "soon"},
    ],
)
def test_calls_that_make_no_sense_are_refused(hero: mw.Character, tmp_path: Path, options: dict) -> None:
    with pytest.raises(MarrowError):
        mw.save(hero, tmp_path / "a.obj", **options)
    with pytest.raises(MarrowError, match="triangles"):
        mw.save(hero.replace(meshes=()), tmp_path / "a.obj")
    assert not list(tmp_path.iterdir())


def test_points_and_lines_are_written_as_vertices(tmp_path: Path) -> None:
    place = np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    dots = mw.Mesh.rigid("dots", place, np.zeros((0, 3), np.uint32), 0)
    face = mw.Mesh.rigid("face", place + 5, [[0, 1, 2]], 0)
    skeleton = mw.Skeleton(("a",), [-1])
    mw.save(mw.Character(skeleton, (dots, face)), tmp_path / "a.obj")
    lines = (tmp_path / "a.obj").read_text().splitlines()
    assert [line for line in lines if line[0] in "of"] == ["o dots", "o face", "f 4 5 6"]
    assert len([line for line in lines if line.startswith("v ")]) == 6
    for name in ("b.obj", "b.ply"):
        with pytest.raises(MarrowError, match="holds triangles, and the character has none"):
            mw.save(mw.Character(skeleton, (dots,)), tmp_path / name)


@pytest.mark.parametrize("suffix", [".obj", ".ply"])
def test_meshes_are_skinned_some_at_a_time(
    hero: mw.Character, tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    trimesh = needed("trimesh")
    found = []
    for name, most in (("all", 1 << 20), ("few", 100)):
        monkeypatch.setattr(surfaces, "_VERTICES", most)
        mw.save(hero, tmp_path / f"{name}{suffix}", clip="run", time=0.3)
        found.append(trimesh.load(tmp_path / f"{name}{suffix}", force="mesh", process=False))
    np.testing.assert_allclose(found[1].vertices, found[0].vertices, atol=1e-6)
    np.testing.assert_array_equal(found[1].faces, found[0].faces)


@pytest.mark.parametrize("suffix", [".obj", ".ply"])
def test_one_mesh_on_very_many_nodes_is_refused_with_the_numbers(tmp_path: Path, suffix: str) -> None:
    mesh = mw.Mesh.rigid("grid", np.zeros((70_000, 3)), np.zeros((90_000, 3), np.uint32), 0)
    crowd = mw.Character(mw.Skeleton(("a",), [-1]), (mesh,) * 600)
    with pytest.raises(ResourceLimitError, match=r"600 meshes have 42,000,000 vertices and 54,000,000.*glb"):
        mw.save(crowd, tmp_path / f"crowd{suffix}")
    assert not list(tmp_path.iterdir())
