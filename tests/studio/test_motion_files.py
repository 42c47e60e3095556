"""Motion without a mesh in the studio: in metres, with a body, and code that gives the same."""

from __future__ import annotations

import pytest

import marrow as mw
from marrow.studio.code import python_code
from marrow.studio.makers import maker_of
from marrow.studio.session import Session


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory):
    path = tmp_path_factory.mktemp("studio") / "walk.bvh"
    mw.save(mw.samples.mannequin(), path, clip="walk", scale=100)
    return path


def test_a_bvh_is_shown_in_metres_with_a_body(walk) -> None:
    actor = maker_of(str(walk), 0)()
    low, high = actor.asset.info.bounds
    assert 1.4 < high[1] - low[1] < 2.1
    assert actor.asset.info.vertices > 1000
    assert actor.character.vertex_count == 0  # the body is not part of it, and not exported


def test_its_code_loads_it_in_metres(walk) -> None:
    session = Session()
    session.put(maker_of(str(walk), 0)())
    assert "units='metres'" in python_code(session)
