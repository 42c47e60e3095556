"""The samples, built once for all tests of this folder and never taken from a cache."""

from __future__ import annotations

import pytest

from marrow.model import Character
from samples_modeller import character, reptile


@pytest.fixture(scope="session")
def mannequin() -> Character:
    return character.build()


@pytest.fixture(scope="session")
def lizard() -> Character:
    return reptile.build()
