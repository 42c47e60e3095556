"""A folder of motion that several tests build from."""

from __future__ import annotations

from pathlib import Path

import pytest
from motion_files import write_corpus


@pytest.fixture(scope="session")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """30 files, three of them broken. Nobody writes here."""
    folder = tmp_path_factory.mktemp("clips")
    assert write_corpus(folder, 30) == 3
    return folder
