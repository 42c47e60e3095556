"""Real files are fetched whole, once, and only as the manifest knows them."""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path
from typing import Any

import fetch
import pytest

from marrow.bench import body
from surroundings import corpus_folder

AT = fetch.PUBLIC + "somebody/models/0123abc/"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def world(tmp_path: Path) -> tuple[list[dict[str, Any]], Path]:
    """Two files and one in parts, and a mirror that has them."""
    mirror = tmp_path / "mirror"
    there = mirror / "somebody/models/0123abc"
    there.mkdir(parents=True)
    (there / "a b.bin").write_bytes(b"first")
    (there / "c.bin").write_bytes(b"second")
    gltf = {
        "asset": {"version": "2.0"},
        "buffers": [{"uri": "one.bin", "byteLength": 6}, {"uri": "two.bin", "byteLength": 4}],
        "bufferViews": [{"buffer": 0, "byteLength": 6}, {"buffer": 1, "byteLength": 4}],
        "images": [{"uri": "skin.png"}],
    }
    parts = {
        "tri.gltf": json.dumps(gltf).encode(),
        "one.bin": b"123456",
        "two.bin": b"7890",
        "skin.png": b"image",
    }
    for name, data in parts.items():
        (there / name).write_bytes(data)
    files: list[dict[str, Any]] = [
        {"name": "a.bin", "url": AT + "a%20b.bin", "sha256": sha256(b"first"), "bytes": 5},
        {"name": "motion/c.bin", "url": AT + "c.bin", "sha256": sha256(b"second"), "bytes": 6},
        {
            "name": "tri.glb",
            "url": AT + "tri.gltf",
            "sha256": sha256(fetch.packed(parts)),
            "parts": {name: sha256(data) for name, data in parts.items()},
            "bytes": 300,
        },
    ]
    return files, mirror


def test_files_come_from_a_folder_or_an_address_of_one(world, tmp_path: Path) -> None:
    files, mirror = world
    for number, address in enumerate((str(mirror), mirror.as_uri())):
        folder = tmp_path / f"corpus {number}"
        assert fetch.fetch_all(files, folder, mirror=address) == 3
        assert (folder / "a.bin").read_bytes() == b"first" and (
            folder / "motion/c.bin"
        ).read_bytes() == b"second"
        assert not list(folder.rglob(".*")), "no file is left half written"


def test_a_gltf_file_in_parts_becomes_one_glb(world, tmp_path: Path) -> None:
    files, mirror = world
    fetch.fetch_all(files, tmp_path / "corpus", mirror=str(mirror))
    data = (tmp_path / "corpus" / "tri.glb").read_bytes()
    magic, version, size, length = struct.unpack("<4sIII", data[:16])
    gltf, body = json.loads(data[20 : 20 + length]), data[28 + length :]
    assert (magic, version, size) == (b"glTF", 2, len(data)) and gltf["buffers"] == [
        {"byteLength": len(body)}
    ]
    views = [body[v.get("byteOffset", 0) :][: v["byteLength"]] for v in gltf["bufferViews"]]
    assert views == [b"123456", b"7890", b"image"] and {v["buffer"] for v in gltf["bufferViews"]} == {0}
    assert gltf["images"] == [{"bufferView": 2, "mimeType": "image/png"}]


def test_what_is_there_is_kept_and_the_rest_fetched(world, tmp_path: Path) -> None:
    files, mirror = world
    folder = tmp_path / "corpus"
    fetch.fetch_all(files, folder, mirror=str(mirror))
    assert fetch.fetch_all(files, folder, mirror="/nowhere") == 0
    (folder / "a.bin").unlink()
    (folder / "motion").rename(tmp_path / "motion")  # beside the folder will do
    assert fetch.fetch_all(files, folder, mirror=str(mirror)) == 1


def test_another_file_of_that_name_is_never_overwritten(world, tmp_path: Path) -> None:
    files, mirror = world
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "a.bin").write_bytes(b"mine")
    with pytest.raises(fetch.FetchError, match=r"a\.bin is another file than the tests know: move it away"):
        fetch.fetch_all(files, tmp_path / "corpus", mirror=str(mirror))
    assert (tmp_path / "corpus" / "a.bin").read_bytes() == b"mine"


def test_changed_files_are_refused(world, tmp_path: Path) -> None:
    files, mirror = world
    for name in ("a b.bin", "two.bin"):
        path = mirror / "somebody/models/0123abc" / name
        before = path.read_bytes()
        path.write_bytes(b"other")
        with pytest.raises(fetch.FetchError, match=r"5 bytes with the SHA-256 .*, expected"):
            fetch.fetch_all(files, tmp_path / "corpus", mirror=str(mirror))
        path.write_bytes(before)
    assert sorted(p.name for p in (tmp_path / "corpus").rglob("*") if p.is_file()) == ["a.bin", "c.bin"]


def test_without_a_network_the_error_says_what_to_do(world, tmp_path: Path, monkeypatch, capsys) -> None:
    files, _ = world
    monkeypatch.setattr(fetch, "read_manifest", lambda: files)
    monkeypatch.setenv("MARROW_CORPUS_MIRROR", "http://127.0.0.1:9")
    monkeypatch.setenv("MARROW_CORPUS", str(tmp_path / "corpus"))
    assert fetch.main([]) == 1
    said = capsys.readouterr().err
    assert "127.0.0.1:9/somebody/models/0123abc/a%20b.bin" in said and "MARROW_CORPUS_MIRROR" in said
    monkeypatch.setenv("MARROW_CORPUS_MIRROR", str(tmp_path / "nothing"))
    assert fetch.main([]) == 1 and "the mirror has no" in capsys.readouterr().err


def test_the_tests_look_where_files_are_fetched_to(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MARROW_CORPUS", str(tmp_path))
    assert corpus_folder() == fetch.corpus_folder() == body.corpus_folder() == tmp_path
    monkeypatch.delenv("MARROW_CORPUS")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert body.corpus_folder() == tmp_path / "marrow-corpus"
    assert fetch.corpus_folder() == tmp_path / "marrow-corpus"
    assert corpus_folder() in (
        fetch.corpus_folder(),
        Path(__file__).resolve().parents[3] / "shared" / "corpus",
    )
