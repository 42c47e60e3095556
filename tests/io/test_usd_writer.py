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


def test_the_mannequin_moves_as_it_did(tmp_path: Path) -> None:
    hero = mw.samples.mannequin().replace(reduced=())
    hero = hero.replace(clips=tuple(hero.clips[n] for n in ("run", "wave")))
    found = again(hero, tmp_path, ".usdc", rate=30)
    assert set(found.clips) == {"run", "wave"}
    for name in ("run", "wave"):
        frames = np.array([0, 7, 13]) / 30
        ours = mw.skin(hero, hero.clips[name].sample(frames)).positions
        theirs = mw.skin(found, found.clips[name].sample(frames)).positions
        np.testing.assert_allclose(theirs, ours, atol=1e-5)


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
    assert not list(tmp_path.iterdir())
