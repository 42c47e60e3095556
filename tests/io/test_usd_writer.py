"""USD out: read back, it is the same surface in every frame."""

from __future__ import annotations

import warnings
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


def test_what_usd_has_no_place_for_is_said(tmp_path: Path) -> None:
    bones = mw.Skeleton(("a",), (-1,), morph_names=("smile",))
    square = np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    target = mw.MorphTarget("smile", 0, square, attributes={"COLOR_0": np.ones((3, 4), np.float32)})
    rigid = (
        np.zeros((3, 1), np.uint16),
        np.ones((3, 1), np.float32),
        [0],
        np.eye(4, dtype=np.float32)[None, :3],
    )
    plain = mw.Mesh("m", square, [[0, 1, 2]], *rigid)
    for mesh, said in (
        (plain, ""),
        (plain.replace(attributes={"_HEAT": np.float32([1, 2, 3])}), "further attributes of vertices"),
        (plain.replace(morph_targets=(target,)), "morphs of colours and texture coordinates"),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            mw.save(mw.Character(bones, (mesh,)), tmp_path / "x.usda")
        text = "\n".join(str(w.message) for w in caught)
        assert said in text if said else not text
