"""The samples as a user meets them: by name, limited, cached, and the same every time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import measures
import numpy as np
import pytest

import marrow as mw
from marrow.errors import UnknownNameError, ValidationError
from marrow.samples import store


@pytest.fixture
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("MARROW_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(store, "BUILT", tmp_path / "built")
    return tmp_path / "cache"


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


def test_built_once_then_taken_from_the_cache(own_cache, lizard):
    built = []

    def build():
        built.append(1)
        return lizard

    first, second = store.stored("lizard", build), store.stored("lizard", build)
    assert built == [1]
    assert first is lizard
    assert measures.digest(second) == measures.digest(lizard)


def test_what_came_with_the_package_is_taken_while_its_sources_are_the_same(monkeypatch, tmp_path, lizard):
    monkeypatch.setattr(store, "BUILT", tmp_path)
    monkeypatch.setenv("MARROW_CACHE", "off")
    mw.save(lizard, tmp_path / "lizard.marrow")
    (tmp_path / "sources").write_text(store.digest())
    kept = store.stored("lizard", lambda: pytest.fail("it was there"))
    assert measures.digest(kept) == measures.digest(lizard)
    (tmp_path / "sources").write_text("of other sources")
    built = []
    store.stored("lizard", lambda: built.append(1) or lizard)
    assert built == [1]


def test_works_without_a_cache(monkeypatch, tmp_path, lizard):
    monkeypatch.setenv("MARROW_CACHE", "off")
    monkeypatch.setattr(store, "BUILT", tmp_path)
    assert store.stored("lizard", lambda: lizard) is lizard


def test_built_the_same_to_the_byte_in_another_process(mannequin, lizard):
    code = (
        "import measures; from marrow.samples import character, reptile;"
        "print(measures.digest(character.build()), measures.digest(reptile.build()))"
    )
    paths = [str(Path(__file__).parent), str(Path(mw.__file__).parents[1])]
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [measures.digest(mannequin), measures.digest(lizard)]


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
