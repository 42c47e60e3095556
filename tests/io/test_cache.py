"""The cache: the second load is the same character, and no mishap ever makes it another one."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from io_worlds import everything, same

import marrow as mw
from marrow.errors import FormatError
from marrow.io import cache, marrow_file, registry

BVH = """HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 3 Xposition Yposition Zposition
  End Site
  {
    OFFSET 0 1 0
  }
}
MOTION
Frames: 2
Frame Time: 0.5
0 0 0
%s 0 0
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("MARROW_CACHE", str(folder))
    monkeypatch.delenv("MARROW_CACHE_LIMIT", raising=False)
    return folder / "marrow-cache"


@pytest.fixture
def imports(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that were really imported, in order."""
    seen: list[Path] = []
    load_module = registry.Format.load_module

    def spied(self: registry.Format) -> object:
        module = load_module(self)

        class Spy:
            def read(source: object, options: object) -> mw.Character:
                seen.append(source.path)
                return module.read(source, options)

        return Spy

    monkeypatch.setattr(registry.Format, "load_module", spied)
    return seen


@pytest.fixture
def walk(tmp_path: Path) -> Path:
    path = tmp_path / "walk.bvh"
    path.write_text(BVH % 1)
    return path


def entries(place: Path) -> list[Path]:
    return sorted(place.glob("*.marrow"))


def end(character: mw.Character) -> float:
    """Where the walk ends."""
    return float(character.clips[0].sample(10.0).translation[0, 0])


def test_the_second_load_is_the_same_and_imports_nothing(walk: Path, imports: list[Path]) -> None:
    first = mw.load(walk)
    same(first, mw.load(walk))
    assert imports == [walk]


def test_a_changed_file_is_imported_again_even_with_its_old_time(walk: Path) -> None:
    before = end(mw.load(walk))
    stat = walk.stat()
    walk.write_text(BVH % 7)
    os.utime(walk, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert end(mw.load(walk)) == pytest.approx(7 * before)


def test_a_file_that_was_written_without_its_times_changing_is_imported_again(
    walk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A memory map writes to a file whose times stay (tmpfs), or change later than what is in it."""
    monkeypatch.setattr(cache, "_SETTLED", -(10**18))  # as if it had lain still for long
    same_times = os.stat(walk)
    monkeypatch.setattr(os, "fstat", lambda descriptor: same_times)
    before = end(mw.load(walk))
    walk.write_text(BVH % 7)
    assert end(mw.load(walk)) == pytest.approx(7 * before)
    assert end(mw.load(walk)) == pytest.approx(7 * before)


def test_options_have_entries_of_their_own(walk: Path, imports: list[Path]) -> None:
    once = end(mw.load(walk))
    assert end(mw.load(walk, scale=2.0)) == pytest.approx(2 * once)
    assert end(mw.load(walk)) == once
    assert len(imports) == 2


def test_the_same_content_elsewhere_is_imported_once(walk: Path, imports: list[Path]) -> None:
    mw.load(walk)
    copy = walk.parent / "elsewhere" / walk.name
    copy.parent.mkdir()
    copy.write_bytes(walk.read_bytes())
    mw.load(copy)
    assert imports == [walk]


def test_the_same_content_under_another_name_keeps_that_name(walk: Path) -> None:
    mw.load(walk)
    copy = walk.with_name("copy.bvh")
    copy.write_bytes(walk.read_bytes())
    same(mw.load(copy, cache=False), mw.load(copy))


def test_cache_false_leaves_nothing(walk: Path, place: Path) -> None:
    mw.load(walk, cache=False)
    assert not place.exists()


def test_off_means_off(walk: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARROW_CACHE", "off")
    mw.load(walk)
    assert not place.exists()
    assert cache.info() == cache.CacheInfo(None, 0, 0, cache.DEFAULT_LIMIT)
    assert cache.clear() == 0


def test_info_counts_and_clear_empties(walk: Path, place: Path) -> None:
    mw.load(walk)
    mw.load(walk, scale=2.0)
    found = cache.info()
    assert (found.path, found.entries) == (place, 2)
    assert found.bytes == sum(p.stat().st_size for p in entries(place))
    assert cache.clear() == 2
    assert cache.info().entries == 0


def test_every_kind_of_damage_ends_in_a_fresh_import(walk: Path, place: Path, imports: list[Path]) -> None:
    right = mw.load(walk)
    whole = entries(place)[0].read_bytes()
    middle = len(whole) // 2
    damages: list[bytes] = [
        b"",
        whole[:4],
        whole[:middle],
        whole[:-1],
        whole + b"more",
        whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:],
        whole[:middle] + bytes([whole[middle] ^ 128]) + whole[middle + 1 :],
        b"\0" * len(whole),
        whole.replace(b'"version":"2"', b'"version":"3"', 1),
    ]
    for damage in damages:
        entries(place)[0].write_bytes(damage)
        before = len(imports)
        same(right, mw.load(walk))
        assert len(imports) == before + 1
        same(right, mw.load(walk))
        assert len(imports) == before + 1


def test_a_folder_in_the_place_of_an_entry_does_no_harm(walk: Path, place: Path) -> None:
    right = mw.load(walk)
    path = entries(place)[0]
    path.unlink()
    path.mkdir()
    same(right, mw.load(walk))


def test_an_unwritable_cache_does_no_harm(
    walk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("MARROW_CACHE", str(blocked / "cache"))
    assert end(mw.load(walk)) == end(mw.load(walk))


def test_a_full_disk_does_no_harm(walk: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(marrow_file, "write_container", full)
    assert end(mw.load(walk)) == end(mw.load(walk))
    assert entries(place) == []
    assert list(place.glob(".*.tmp")) == []


def test_an_entry_under_the_name_of_another_is_refused(walk: Path, place: Path, imports: list[Path]) -> None:
    right = mw.load(walk)
    (mine,) = entries(place)
    other = walk.with_name("other.bvh")
    other.write_text(BVH % 9)
    mw.load(other)
    (theirs,) = set(entries(place)) - {mine}
    mine.write_bytes(theirs.read_bytes())
    same(right, mw.load(walk))
    assert imports == [walk, other, walk]


def test_an_entry_cut_short_while_in_use_leaves_the_character_as_it_is(walk: Path, place: Path) -> None:
    mw.load(walk)
    character = mw.load(walk)
    with open(entries(place)[0], "r+b") as file:
        file.truncate(10)
    same(character, mw.load(walk, cache=False))


def test_another_version_of_a_library_makes_new_entries(
    walk: Path, imports: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    mw.load(walk)
    monkeypatch.setattr(cache, "_libraries", lambda name: [f"{name}-2.0.dist-info"])
    mw.load(walk)
    assert len(imports) == 2


def test_the_version_of_the_fbx_library_is_known() -> None:
    from importlib.metadata import version

    assert cache._libraries("FBX") == [f"ufbx-{version('ufbx')}.dist-info"]
    assert cache._libraries("BVH") == []


def test_an_entry_nobody_used_for_a_month_goes(walk: Path, place: Path) -> None:
    mw.load(walk)
    (old,) = entries(place)
    os.utime(old, (0, 0))
    mw.load(walk, scale=2.0)
    assert not old.exists()
    assert len(entries(place)) == 1


def test_the_least_recently_used_entry_goes_first(
    walk: Path, place: Path, monkeypatch: pytest.MonkeyPatch, imports: list[Path]
) -> None:
    mw.load(walk)
    size = entries(place)[0].stat().st_size
    mw.load(walk, scale=2.0)
    old = time.time() - 1000
    for path in entries(place):
        os.utime(path, (old, old))
    mw.load(walk)  # now the one that was used last
    monkeypatch.setenv("MARROW_CACHE_LIMIT", str(int(size * 2.5)))
    mw.load(walk, scale=3.0)
    assert cache.info().entries == 2
    before = len(imports)
    mw.load(walk)
    mw.load(walk, scale=3.0)
    assert len(imports) == before
    mw.load(walk, scale=2.0)
    assert len(imports) == before + 1


def test_unfinished_files_are_swept_when_they_are_old(walk: Path, place: Path) -> None:
    mw.load(walk)
    name = entries(place)[0].name
    old, young = place / f".{name}.0000000a.tmp", place / f".{name}.0000000b.tmp"
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    mw.load(walk, scale=2.0)
    assert not old.exists()
    assert young.exists()


def test_a_changed_importer_makes_new_entries(
    walk: Path, imports: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    mw.load(walk)
    monkeypatch.setattr(cache, "_importer_stamp", lambda: "another")
    mw.load(walk)
    assert len(imports) == 2


def triangle(folder: Path, x: float) -> Path:
    """A glTF file of one triangle whose vertices lie in a file beside it."""
    positions = np.float32([[0, 0, 0], [x, 0, 0], [0, 1, 0]])
    folder.mkdir(exist_ok=True)
    (folder / "triangle.bin").write_bytes(positions.tobytes())
    view = {"buffer": 0, "byteOffset": 0, "byteLength": 36}
    accessor = {
        "bufferView": 0,
        "componentType": 5126,
        "count": 3,
        "type": "VEC3",
        "min": [0, 0, 0],
        "max": [9, 9, 0],
    }
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "buffers": [{"uri": "triangle.bin", "byteLength": 36}],
        "bufferViews": [view],
        "accessors": [accessor],
    }
    path = folder / "triangle.gltf"
    path.write_text(json.dumps(document))
    return path


def width(character: mw.Character) -> float:
    return float(character.meshes[0].positions[:, 0].max())


def test_a_changed_neighbour_makes_a_fresh_import(tmp_path: Path, imports: list[Path]) -> None:
    path = triangle(tmp_path / "model", 1.0)
    assert width(mw.load(path)) == 1
    assert width(mw.load(path)) == 1
    assert len(imports) == 1
    triangle(tmp_path / "model", 3.0)
    assert width(mw.load(path)) == 3


def test_the_same_file_with_other_neighbours_is_another_character(tmp_path: Path) -> None:
    assert width(mw.load(triangle(tmp_path / "a", 1.0))) == 1
    assert width(mw.load(triangle(tmp_path / "b", 5.0))) == 5
    assert width(mw.load(tmp_path / "a" / "triangle.gltf")) == 1


def test_a_vanished_neighbour_is_an_error_not_a_memory(tmp_path: Path) -> None:
    path = triangle(tmp_path / "model", 1.0)
    mw.load(path)
    (path.parent / "triangle.bin").unlink()
    with pytest.raises(FormatError):
        mw.load(path)


def test_a_neighbour_that_was_missing_and_appears_is_read(tmp_path: Path, imports: list[Path]) -> None:
    path = triangle(tmp_path / "model", 1.0)
    document = json.loads(path.read_text())
    document |= {
        "images": [{"uri": "skin.png"}],
        "textures": [{"source": 0}],
        "materials": [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}],
    }
    document["meshes"][0]["primitives"][0]["material"] = 0
    path.write_text(json.dumps(document))
    try:
        missing = mw.load(path)
    except FormatError:
        missing = None  # a reader may also insist on its textures
    picture = base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    )
    (path.parent / "skin.png").write_bytes(picture)
    found = mw.load(path)
    assert found.images[0].data == picture
    assert missing is None or not missing.images or not missing.images[0].data


# What really happens between processes.

LOAD = "import sys, marrow as mw; print(len(mw.load(sys.argv[1]).clips))"
SLOW_WRITE = """
import sys, time, marrow as mw
from marrow.io import marrow_file
def slow(file, tensors, metadata):
    file.write(b"x" * 5000); file.flush()
    print("writing", flush=True)
    time.sleep(600)
marrow_file.write_container = slow
mw.load(sys.argv[1])
"""


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_two_processes_at_once_both_get_the_character(walk: Path, place: Path) -> None:
    both = [start(LOAD, walk) for _ in range(2)]
    assert [p.communicate()[0].strip() for p in both] == ["1", "1"]
    assert len(entries(place)) == 1
    assert list(place.glob(".*.tmp")) == []
    assert end(mw.load(walk)) == end(mw.load(walk, cache=False))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_kill_in_the_middle_of_writing_leaves_no_entry(walk: Path, place: Path) -> None:
    process = start(SLOW_WRITE, walk)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "writing"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert entries(place) == []
    assert len(list(place.glob(".*.tmp"))) == 1
    assert end(mw.load(walk)) == end(mw.load(walk, cache=False))
    assert len(entries(place)) == 1


def test_everything_survives_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a reader may return comes out of the cache bit for bit."""
    path = tmp_path / "all.bvh"
    path.write_text(BVH % 1)
    made: Callable[[object], object] = lambda self: type("Reader", (), {"read": lambda s, o: everything()})  # noqa: E731
    monkeypatch.setattr(registry.Format, "load_module", made)
    same(everything(), mw.load(path))
    monkeypatch.setattr(registry.Format, "load_module", lambda self: pytest.fail("imported again"))
    same(everything(), mw.load(path))


@pytest.mark.parametrize(
    ("text", "size"),
    [("5MB", 5_000_000), ("1.5 GiB", 3 << 29), ("64k", 64_000), ("7", 7), ("2kib", 2048), ("", 2 << 30)],
)
def test_a_size_may_have_a_unit(monkeypatch: pytest.MonkeyPatch, text: str, size: int) -> None:
    monkeypatch.setenv("MARROW_CACHE_LIMIT", text)
    assert cache.info().limit == size


@pytest.mark.parametrize("text", ["much", "-1", "5 apples", "1e9", "3iB"])
def test_what_is_no_size_is_said_once(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("MARROW_CACHE_LIMIT", text)
    with pytest.warns(UserWarning, match=f"MARROW_CACHE_LIMIT='{text}' is no size") as said:
        assert cache.info().limit == cache.info().limit == 2 << 30
    assert len(said) == 1
