"""A BVH file names no unit: it is told by the size of the body, said, and used wherever lengths count."""

from __future__ import annotations

import numpy as np
import pytest

import marrow as mw
from marrow.errors import ValidationError
from marrow.io.lint import lint


@pytest.fixture(scope="module")
def hero() -> mw.Character:
    return mw.samples.mannequin()


@pytest.fixture(scope="module")
def inches(hero: mw.Character, tmp_path_factory: pytest.TempPathFactory):
    """The mannequin's walk as CMU has it: a unit is an inch / 0.45."""
    path = tmp_path_factory.mktemp("units") / "walk.bvh"
    mw.save(hero, path, clip="walk", scale=0.45 / 0.0254)
    return path


def height(character: mw.Character) -> float:
    return float(np.ptp(character.skeleton.rest_model[:, 1, 3]))


@pytest.mark.parametrize("unit", [1.0, 0.01, 0.0254 / 0.45, 0.0254, 0.001])
def test_the_unit_of_a_bvh_is_found_and_said(hero: mw.Character, tmp_path, unit: float) -> None:
    mw.save(hero, tmp_path / "walk.bvh", clip="idle", scale=1 / unit)
    found = mw.load(tmp_path / "walk.bvh", cache=False)
    assert found.unit == pytest.approx(unit)
    assert height(found) == pytest.approx(height(hero) / unit, rel=0.02)  # the numbers are the file's
    (line,) = [line for line in found.report if line.place == "units"]
    assert line.kind == "info" and f"{unit:.4g} m" in line.message


@pytest.mark.parametrize("tall", [21.5, 23.0, 30.0])
def test_a_small_body_with_its_legs_spread_has_the_unit_of_the_others(tall: float) -> None:
    """CMU's recordings rest 21.5 to 31 units tall, joint to joint; one unit serves all."""
    from marrow.motion.sizes import metres

    assert metres(tall) == pytest.approx(0.0254 / 0.45)


def test_units_in_metres_converts_skeleton_and_clips(hero: mw.Character, inches) -> None:
    found = mw.load(inches, units="metres", cache=False)
    assert found.unit == 1.0
    assert height(found) == pytest.approx(height(mw.load(inches, cache=False)) * 0.0254 / 0.45)
    clip, same = found.clips[0], hero.clips["walk"]
    head = [
        c.skeleton.to_model(k.sample(0.3))[c.skeleton.index("head"), :, 3]
        for c, k in ((found, clip), (hero, same))
    ]
    np.testing.assert_allclose(head[0], head[1], atol=2e-4)
    with pytest.raises(ValidationError, match="units"):
        mw.load(inches, units="feet")


def test_files_that_say_their_unit_are_in_metres(hero: mw.Character, tmp_path) -> None:
    """A giant is a giant, where the format says metres."""
    mw.save(hero.replace(clips=()), tmp_path / "giant.glb")
    giant = mw.load(tmp_path / "giant.glb", scale=15.0, units="metres", cache=False)
    assert giant.unit == 1.0 and height(giant) > 20


def test_a_bvh_without_a_body_says_that_its_unit_is_not_known(tmp_path) -> None:
    bones = mw.Skeleton(("a", "b"), [-1, 0])
    mw.save(mw.Character(bones), tmp_path / "rope.bvh")
    found = mw.load(tmp_path / "rope.bvh", units="metres", cache=False)
    assert found.unit == 1.0
    assert any(line.place == "units" and "not known" in line.message for line in found.report)


def test_the_unit_goes_through_the_cache_and_a_marrow_file(inches, tmp_path) -> None:
    found = mw.load(inches, cache=False)
    mw.save(found, tmp_path / "walk.marrow")
    assert mw.load(tmp_path / "walk.marrow").unit == found.unit


def test_check_measures_a_bvh_in_metres(inches) -> None:
    found = lint(mw.load(inches, cache=False))
    assert not [f for f in found if f.rule == "units"]
    assert any(f.rule == "import" and "0.05644" in f.message for f in found)


def test_a_bvh_stands_beside_a_person_at_a_persons_size(hero: mw.Character, inches) -> None:
    from marrow.scene.bounds import AXES
    from marrow.scene.timed_scene import timed_scene_of

    for options in ({}, {"clip": 0, "time": 0.2}, {"crowd": 2}):
        scenes = [
            timed_scene_of(thing, **options)
            for thing in (mw.load(inches), mw.load(inches).clips[0])[: 1 + (options == {})]
        ]
        for timed in scenes:
            points = timed.survey(np.array([0.2]), AXES)[1][0]
            assert 1.4 < np.ptp(points[:, 1]) < 2.0


def test_info_gives_metres_and_the_unit(inches) -> None:
    from marrow.cli._facts import facts_of

    found = facts_of(mw.load(inches, cache=False), inches)
    assert found["unit"] == pytest.approx(0.0254 / 0.45)
    assert 1.2 < found["size"]["extent"][1] < 2.0


def test_convert_makes_metres(inches, tmp_path) -> None:
    from marrow.cli.convert import convert

    assert convert([str(inches), str(tmp_path / "walk.glb")], units="metres") == 0
    assert 1.2 < height(mw.load(tmp_path / "walk.glb", cache=False)) < 2.0


def test_lengths_that_are_multiplied_take_their_unit_along(inches) -> None:
    from marrow.io.scaling import scaled

    found = mw.load(inches, cache=False)
    assert scaled(found, 2.0).unit == pytest.approx(found.unit / 2)
    assert scaled(found, found.unit).unit == 1.0
    assert scaled(mw.samples.mannequin(), 2.0).unit == 1.0  # a file whose unit was wrong is put right
