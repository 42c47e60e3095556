"""Real files: saved, validated and read again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from same import assert_same

from marrow.io import gltf
from marrow.io.gltf.clips import _Reader
from marrow.io.source import LoadOptions, Source
from surroundings import missing


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
        missing("the corpus holds no GLB files")
    assert errors_of(*files) == []


def test_tracks_read_at_once_are_those_read_one_by_one(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = {f: gltf.read(Source.open(f), LoadOptions(scale=2.0)) for f in sorted(corpus.glob("*.glb"))}
    used = []
    monkeypatch.setattr(_Reader, "plain_tracks", lambda self, animation, place: used.append(animation))
    for file, character in at_once.items():
        assert_same(character, gltf.read(Source.open(file), LoadOptions(scale=2.0)))
    assert used
