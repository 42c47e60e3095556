"""The cache among a user's own things: it deletes, follows and believes nothing but what it made itself."""

from __future__ import annotations

import os
import stat
import warnings
from pathlib import Path

import pytest

import marrow as mw
from marrow.cli.app import run
from marrow.io import cache, cache_folder, registry

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
1 0 0
"""
DIGITS = "0123456789abcdef" * 4


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of somebody's that `MARROW_CACHE` names."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("MARROW_CACHE", str(folder))
    monkeypatch.delenv("MARROW_CACHE_LIMIT", raising=False)
    return folder


@pytest.fixture
def walk(tmp_path: Path) -> Path:
    path = tmp_path / "walk.bvh"
    path.write_text(BVH)
    return path


@pytest.fixture
def imports(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A line for each time a file was really imported."""
    seen: list[str] = []
    load_module = registry.Format.load_module

    def spied(self: registry.Format) -> object:
        seen.append(self.name)
        return load_module(self)

    monkeypatch.setattr(registry.Format, "load_module", spied)
    return seen


def snapshot(folder: Path) -> dict[str, tuple[bytes | str, float]]:
    """Everything below a folder with its contents, targets of links and times of change, but what is in the cache's own."""
    found: dict[str, tuple[bytes | str, float]] = {}
    for at, folders, files in os.walk(folder):
        folders[:] = [f for f in folders if f != "marrow-cache"]
        for name in (*folders, *files):
            path = Path(at, name)
            what = (
                os.readlink(path) if path.is_symlink() else b"folder" if path.is_dir() else path.read_bytes()
            )
            found[str(path.relative_to(folder))] = what, os.lstat(path).st_mtime
    return found


def grow_old(folder: Path) -> None:
    for at, folders, files in os.walk(folder, topdown=False):
        for name in (*folders, *files):
            os.utime(Path(at, name), (0, 0), follow_symlinks=False)


def neighbourhood(folder: Path, outside: Path) -> None:
    """What people have: old folders, old characters, links to elsewhere, names that look like the cache's."""
    (folder / "photos" / "2009").mkdir(parents=True)
    (folder / "photos" / "2009" / "one.jpg").write_bytes(b"a picture")
    (folder / "hero.marrow").write_bytes(b"a character")
    (folder / f"{DIGITS}.marrow").write_bytes(b"a character with an odd name")
    (folder / f"{DIGITS[:32]}.marrow").write_bytes(b"an entry of an older version")
    (folder / ".unsaved.tmp").write_bytes(b"work in progress")
    outside.mkdir(exist_ok=True)
    (outside / f"{DIGITS}.marrow").write_bytes(b"far away")
    (folder / "link to a folder").symlink_to(outside, target_is_directory=True)
    (folder / "link.marrow").symlink_to(outside / f"{DIGITS}.marrow")
    grow_old(folder)
    grow_old(outside)


def test_a_folder_of_the_users_is_left_as_it_is(
    base: Path, walk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MARROW_CACHE_LIMIT", "1")
    neighbourhood(base, tmp_path / "outside")
    before, outside = snapshot(base), snapshot(tmp_path / "outside")
    for scale in (1.0, 2.0, 3.0):
        mw.load(walk, scale=scale)
    assert run(["cache", "clear"]) == 0
    assert snapshot(base) == before
    assert snapshot(tmp_path / "outside") == outside


def test_strangers_in_the_own_folder_are_left_as_they_are(
    base: Path, walk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mw.load(walk)
    place = base / "marrow-cache"
    neighbourhood(place / "inside", tmp_path / "outside")
    (place / "hero.marrow").write_bytes(b"a character")
    (place / f"{DIGITS.upper()}.marrow").write_bytes(b"no name of an entry")
    (place / f"{DIGITS}.marrow.bak").write_bytes(b"nor this")
    (place / f"{'f' * 64}.marrow").symlink_to(tmp_path / "outside" / f"{DIGITS}.marrow")
    (place / f"{'e' * 64}.marrow").mkdir()
    (place / ".unsaved.tmp").write_bytes(b"work in progress")
    grow_old(place)
    mine = {kept.path.name for kept in cache_folder.entries(place)}
    before, outside = snapshot(place), snapshot(tmp_path / "outside")
    monkeypatch.setenv("MARROW_CACHE_LIMIT", "1")
    mw.load(walk, scale=2.0)
    assert cache.clear() == 1
    gone = set(before) - set(snapshot(place))
    assert gone == mine
    assert len(gone) == 1
    assert {k: v for k, v in snapshot(place).items() if k in before} == {
        k: v for k, v in before.items() if k not in gone
    }
    assert snapshot(tmp_path / "outside") == outside


def test_nobody_else_can_read_or_write(base: Path, walk: Path) -> None:
    umask = os.umask(0)
    try:
        mw.load(walk)
    finally:
        os.umask(umask)
    place = base / "marrow-cache"
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert {stat.S_IMODE(p.stat().st_mode) for p in place.iterdir()} == {0o600}
    assert {p.name for p in place.iterdir()} == {"CACHEDIR.TAG", cache_folder.entries(place)[0].path.name}


def test_the_mark_is_the_standard_one(base: Path, walk: Path) -> None:
    mw.load(walk)
    tag = (base / "marrow-cache" / "CACHEDIR.TAG").read_bytes()
    assert tag.startswith(b"Signature: 8a477f597d28d172789f06886806bc55\n")
    assert list(base.iterdir()) == [base / "marrow-cache"]


@pytest.mark.parametrize("where", ["unmarked", "foreign tag", "link", "file", "open to all"])
def test_a_folder_that_is_not_its_own_is_not_used_and_named(
    where: str, base: Path, walk: Path, tmp_path: Path, imports: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    place = base / "marrow-cache"
    mw.load(walk)
    (entry,) = cache_folder.entries(place)
    if where == "unmarked":
        (place / "CACHEDIR.TAG").unlink()
    elif where == "foreign tag":
        (place / "CACHEDIR.TAG").write_bytes(
            b"Signature: 8a477f597d28d172789f06886806bc55\n# of another program\n"
        )
    elif where == "link":
        place.rename(tmp_path / "elsewhere")
        place.symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    elif where == "file":
        place.rename(tmp_path / "elsewhere")
        place.write_bytes(b"a file")
    else:
        place.chmod(0o777)
    before = snapshot(tmp_path)
    inside = sorted(p.name for p in place.iterdir()) if place.is_dir() else []
    imports.clear()
    mw.load(walk)
    mw.load(walk)
    assert len(imports) == 2  # the entry that is there is not believed
    assert cache.clear() == 0
    assert snapshot(tmp_path) == before
    assert (sorted(p.name for p in place.iterdir()) if place.is_dir() else []) == inside
    capsys.readouterr()
    assert run(["cache", "info"]) == 0
    assert "not used: this folder" in capsys.readouterr().out
    assert cache.info().problem
    assert entry.path.name in inside or where == "file"


def test_what_belongs_to_another_user_is_not_believed(
    base: Path, walk: Path, imports: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    mw.load(walk)
    mw.load(walk)
    assert imports == ["BVH"]
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    mw.load(walk)
    assert imports == ["BVH"] * 2
    assert cache.info() == cache.CacheInfo(
        base / "marrow-cache", 0, 0, cache.DEFAULT_LIMIT, "belongs to another user"
    )
    assert cache.clear() == 0
    monkeypatch.undo()
    monkeypatch.setenv("MARROW_CACHE", str(base))
    assert cache.info().entries == 1


@pytest.mark.parametrize("kind", ["of another", "written by all", "link", "pipe"])
def test_an_entry_that_is_not_its_own_is_not_believed(
    kind: str, base: Path, walk: Path, imports: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mw.load(walk)
    (entry,) = cache_folder.entries(base / "marrow-cache")
    if kind == "of another":
        real = os.fstat

        def foreign(handle: int) -> os.stat_result:
            found = real(handle)
            if found.st_ino != entry.path.stat().st_ino:
                return found
            return os.stat_result([*found[:4], found.st_uid + 1, *found[5:10]])

        monkeypatch.setattr(os, "fstat", foreign)
    elif kind == "written by all":
        entry.path.chmod(0o666)
    else:
        entry.path.rename(tmp_path / "elsewhere.marrow")
        if kind == "link":
            entry.path.symlink_to(tmp_path / "elsewhere.marrow")
        else:
            os.mkfifo(entry.path)
    mw.load(walk)
    assert imports == ["BVH"] * 2
    if kind == "link":
        assert entry.path.is_symlink()  # nor written to
        assert (tmp_path / "elsewhere.marrow").stat().st_mtime == entry.used


def test_a_place_where_no_folder_can_be_made_is_no_error(
    walk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.write_text("a file")
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    shut = tmp_path / "shut"
    shut.mkdir(mode=0o555)
    right = mw.load(walk, cache=False)
    for where in (file, file / "deeper", loop, tmp_path / ("x" * 300), "~nobody-of-this-name\udcff", shut):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("MARROW_CACHE", str(where))
        assert mw.load(walk) == mw.load(walk) == right
        assert run(["cache", "info"]) == run(["cache", "info", "--json"]) == run(["cache", "clear"]) == 0
    monkeypatch.setenv("MARROW_CACHE", str(file))
    assert cache.info().problem == f"cannot be made: {file} is not a folder"
    assert file.read_text() == "a file"


def test_a_named_folder_that_cannot_be_written_is_said_once(
    walk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(
        *_: object, **__: object
    ) -> str:  # as /proc does, also to root, whose permissions allow everything
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setenv("MARROW_CACHE", str(tmp_path))
    monkeypatch.setattr("tempfile.mkdtemp", refused)
    with pytest.warns(UserWarning, match="loaded without a cache: .* cannot be written to"):
        mw.load(walk)
    with warnings.catch_warnings(action="error"):
        mw.load(walk)
    assert run(["cache", "info"]) == 0 and "not used: this folder cannot be made" in capsys.readouterr().out


def test_a_relative_folder_and_a_linked_one_work(
    walk: Path, tmp_path: Path, imports: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("MARROW_CACHE", ".")
    mw.load(walk)
    (tmp_path / "linked").symlink_to(tmp_path / "work", target_is_directory=True)
    monkeypatch.setenv("MARROW_CACHE", str(tmp_path / "linked"))
    mw.load(walk)
    assert imports == ["BVH"]


def test_a_second_process_that_makes_the_folder_first_wins(
    base: Path, walk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.rename

    def late(source: str, target: Path) -> None:
        monkeypatch.setattr(os, "rename", real)
        assert cache_folder.prepared() == base / "marrow-cache"
        real(source, target)

    monkeypatch.setattr(os, "rename", late)
    mw.load(walk)
    assert [p.name for p in base.iterdir()] == ["marrow-cache"]
    assert cache.info().entries == 1


def test_the_driver_file_of_the_gpu_lies_where_no_other_user_writes(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from marrow.gpu import drivers

    for name in ("VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"):
        monkeypatch.delenv(name, raising=False)
    for off in (False, True):
        if off:
            monkeypatch.setenv("MARROW_CACHE", "off")
        (path,) = drivers._point_to("libx.so", alone=False).values()
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700
        assert os.path.dirname(path) == str(base / "marrow-cache") or off
