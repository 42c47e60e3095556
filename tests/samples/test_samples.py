"""The samples as a user meets them: by name, limited, cached, and the same every time."""

from __future__ import annotations

import math

import measures
import numpy as np
import pytest

import marrow as mw
from marrow.errors import MissingFileError, UnknownNameError, ValidationError
from marrow.samples import graphs
from samples_modeller import character, reptile
from samples_modeller.__main__ import digest
from samples_modeller.levels import with_levels
from samples_modeller.locomotion import PLACES
from samples_modeller.poses import AIM_PITCH, AIM_YAW


def test_names_are_known_and_described():
    assert mw.samples.NAMES == ("mannequin", "lizard")
    assert set(mw.samples.describe()) == set(mw.samples.NAMES)
    with pytest.raises(UnknownNameError, match="mannequin"):
        mw.samples.load("manequin")


def test_influences_can_be_limited():
    four = mw.samples.mannequin(influences=4)
    assert four.mesh("body").influences == 4
    np.testing.assert_allclose(four.mesh("body").weights.sum(1), 1, atol=1e-6)
    assert mw.samples.mannequin().mesh("body").influences == 8
    with pytest.raises(ValidationError):
        mw.samples.mannequin(influences=0)


def test_loading_a_sample_does_not_hide_its_function():
    mw.samples.load("lizard")
    assert callable(mw.samples.mannequin)
    assert callable(mw.samples.lizard)


def test_a_sample_that_was_not_built_is_an_error_with_the_remedy(monkeypatch, tmp_path):
    monkeypatch.setattr(mw.samples, "BUILT", tmp_path)
    mw.samples._built.cache_clear()
    with pytest.raises(MissingFileError, match="make samples"):
        mw.samples.mannequin()


def test_what_the_package_carries_is_what_the_modeller_makes(mannequin, lizard):
    """To the byte, though another process built it: nothing hangs on the order of sets or on what ran before."""
    assert (mw.samples.BUILT / "sources").read_text() == digest(), "make samples"
    made = {"mannequin": (mannequin, character.build()), "lizard": (lizard, reptile.build())}
    for name, (carried, plain) in made.items():
        again = with_levels(name, plain)
        assert measures.digest(carried) == measures.digest(again)
        assert [level.lod for level in carried.levels] == [level.lod for level in again.levels]


def test_graphs_know_how_fast_and_how_far_the_clips_were_made():
    assert list(graphs.PLACES.items()) == list(PLACES.items())
    assert (math.radians(AIM_YAW), math.radians(AIM_PITCH)) == (graphs.AIM_YAW, graphs.AIM_PITCH)


@pytest.mark.parametrize("name", ["mannequin", "lizard"])
def test_survives_the_native_format_and_gltf(tmp_path, request, name):
    character = request.getfixturevalue(name)
    for suffix in (".marrow", ".glb"):
        mw.save(character, tmp_path / f"sample{suffix}")
        again = mw.load(tmp_path / f"sample{suffix}", cache=False)
        assert list(again.clips) == list(character.clips)
        clip = "walk"
        for time in (0.1, 0.45):
            here = mw.skin(character, character.clips[clip].sample(time)).positions
            there = mw.skin(again, again.clips[clip].sample(time)).positions
            a, b = (np.unique(p.round(4), axis=0) for p in (here, there))
            np.testing.assert_allclose(a.min(0), b.min(0), atol=2e-4)
            np.testing.assert_allclose(a.max(0), b.max(0), atol=2e-4)
