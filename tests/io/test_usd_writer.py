"""USD out: read back, it is the same surface in every frame."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import marrow as mw
from marrow.errors import MarrowError
from surroundings import needed

needed("pxr")


def again(character: mw.Character, folder: Path, suffix: str = ".usda", **options: object) -> mw.Character:
    mw.save(character, folder / f"out{suffix}", **options)
    return mw.load(folder / f"out{suffix}", cache=False)


def by_mesh(character: mw.Character, pose: mw.Pose) -> dict[str, np.ndarray]:
    surface = mw.skin(character, pose, normals=False, tangents=False)
    ends = [*character.vertex_offsets, character.vertex_count]
    return {m.name: surface.positions[ends[i] : ends[i + 1]] for i, m in enumerate(character.meshes)}


@pytest.mark.parametrize("suffix", [".usda", ".usdc"])
def test_the_mannequin_moves_as_it_did(tmp_path: Path, suffix: str) -> None:
    hero = mw.samples.mannequin()
    hero = hero.replace(clips=tuple(hero.clips[n] for n in ("run", "wave")))
    found = again(hero, tmp_path, suffix, rate=30)
    assert set(found.clips) == {"run", "wave"}
    for name in ("run", "wave"):
        for frame in (0, 7, 13):
            # The format keeps one corner for each vertex, in order.
            ours = by_mesh(hero, hero.clips[name].sample(frame / 30))
            theirs = by_mesh(found, found.clips[name].sample(frame / 30))
            for mesh, points in ours.items():
                other = theirs[
                    next(m.name for m in found.meshes if m.name.startswith(mesh.replace(" ", "_")))
                ]
                assert nearest(points, other) < 2e-4


def nearest(a: np.ndarray, b: np.ndarray) -> float:
    from scipy.spatial import cKDTree

    return float(max(cKDTree(a).query(b)[0].max(), cKDTree(b).query(a)[0].max()))


def test_corpus_characters_keep_their_surface(corpus: Path, tmp_path: Path) -> None:
    for name in ("Fox.glb", "CesiumMan.glb", "AnimatedMorphCube.glb", "RiggedSimple.glb", "Soldier.glb"):
        here = mw.load(corpus / name)
        there = again(here, tmp_path)
        for clip, other in zip(here.clips.values(), there.clips.values()):
            rate = other.rate or 30
            frame = int(clip.duration * rate / 2)
            ours = mw.skin(here, clip.sample(frame / rate)).positions
            theirs = mw.skin(there, other.sample(frame / rate)).positions
            size = float(np.ptp(ours, axis=0).max())
            assert nearest(ours, theirs) < 1e-3 * size, (name, clip.name)


def test_materials_and_textures_come_back(tmp_path: Path, corpus: Path) -> None:
    fox = mw.load(corpus / "Fox.glb")
    found = again(fox, tmp_path)
    used = fox.materials[0].base_color_texture.image
    assert found.images[found.materials[0].base_color_texture.image].data == fox.images[used].data
    assert found.materials[0].roughness == pytest.approx(fox.materials[0].roughness)


def test_wrong_calls_leave_nothing_behind(tmp_path: Path) -> None:
    for path, options in ((tmp_path / "a.usda", {"rate": -1}), (tmp_path / "no" / "a.usda", {})):
        with pytest.raises(MarrowError):
            mw.save(mw.samples.mannequin().replace(clips=()), path, **options)
    with pytest.raises(MarrowError, match="usdz"):
        mw.save(mw.samples.mannequin(), tmp_path / "a.usdz")
    assert not list(tmp_path.iterdir())
