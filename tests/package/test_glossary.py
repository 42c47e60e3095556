"""docs/glossary.md: words of the trade are found, and lead to names that exist."""

import importlib
import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "glossary.md").read_text(encoding="utf-8")
NAMES = sorted(set(re.findall(r"`((?:mw|marrow)\.[\w.]+)`", PAGE)))
WORDS = (
    "frustum culling", "ambient occlusion", "bounding box", "view matrix", "skinning palette", "G-buffer", "retarget",
    "blend tree", "root motion", "foot locking", "pole vector", "fps",
)  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
def test_a_word_that_newcomers_search_for_is_found(word):
    assert any(word in row.split("|")[1] for row in PAGE.splitlines() if row.startswith("| "))


def test_every_name_of_the_glossary_exists():
    assert len(NAMES) > 40
    for name in NAMES:
        thing = importlib.import_module("marrow")
        path = "marrow"
        for part in name.split(".")[1:]:
            path += f".{part}"
            if not hasattr(thing, part):
                importlib.import_module(path)  # a module that nothing has imported yet
            thing = getattr(thing, part)
