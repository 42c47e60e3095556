"""Real files: saved, validated and read again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from same import assert_same

from marrow.io import gltf
from marrow.io.source import LoadOptions, Source


def test_corpus_files_come_back_and_pass_the_validator(
    corpus: Path, tmp_path: Path, errors_of: Callable[..., list[str]]
):
    files = []
    for source in sorted(corpus.glob("*.glb")):
        character = gltf.read(Source.open(source), LoadOptions())
        suffix = ".gltf" if len(files) % 4 == 0 else ".glb"
        files.append(tmp_path / f"{source.stem}{suffix}")
        gltf.write(character, files[-1])
        assert_same(character, gltf.read(Source.open(files[-1]), LoadOptions()))
    if not files:
        pytest.skip("the corpus holds no GLB files")
    assert errors_of(*files) == []
