"""The samples as the package carries them: `test_samples.py` holds them to what the modeller makes."""

from __future__ import annotations

import pytest

import marrow as mw
from marrow.model import Character


@pytest.fixture(scope="session")
def mannequin() -> Character:
    return mw.samples.mannequin()


@pytest.fixture(scope="session")
def lizard() -> Character:
    return mw.samples.lizard()
