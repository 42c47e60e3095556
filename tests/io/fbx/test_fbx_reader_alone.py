"""The process that reads FBX files: what it imports, how it ends, who may share it, what the caller makes of its answer."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from handmade import SQUARE, Fbx, flag

import marrow as mw
import marrow.io.fbx as fbx
from marrow.errors import FormatError, MissingExtraError, ResourceLimitError
from marrow.io import reader_process, reader_worker
from marrow.io.fbx import polygons
from marrow.io.fbx.blocks import LENGTHS, Blocks
from marrow.io.fbx.plain_scene import parse_answer

posix = pytest.mark.skipif(os.name != "posix", reason="needs processes that split")


@pytest.fixture(autouse=True)
def no_readers_left() -> Iterator[None]:
    reader_process.end_all()
    yield
    reader_process.end_all()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    target = tmp_path / "flag.fbx"
    target.write_bytes(flag().text())
    return target


def test_the_reader_imports_neither_numpy_nor_marrows_packages(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads the file as ever, and then tells what it has imported."""
    tells = """
import importlib, json
reader = importlib.import_module(module)
read = reader.answer
def answer(data, options):
    assert read(data, options)
    return json.dumps([[name, getattr(m, "__file__", None)] for name, m in sys.modules.items()]).encode()
reader.answer = answer
serve(module)
"""
    code = reader_process._START_ALONE.replace("serve(module)", tells)
    monkeypatch.setattr(reader_process, "_START_ALONE", code)
    asked = {"scale": None, "rate": None}
    answer = reader_process.ask(fbx.READER, path.read_bytes(), asked, size=1, path=path)
    files = dict(json.loads(answer))
    assert "ufbx" in files
    assert not {name for name in files if name.split(".")[0] in ("numpy", "msgspec")}
    # The packages are empty stand-ins; only the reader's own modules were executed.
    assert files["marrow"] is None and files["marrow.io"] is None and files["marrow.io.fbx"] is None
    own = {name for name, file in files.items() if name.startswith("marrow") and file is not None}
    walks = {"scene_walk", "attribute_walk", "mesh_walk", "material_walk", "stack_walk"}
    helpers = {"child_process", "blocks", "ufbx_binding", "ufbx_import", "keyed_properties"}
    assert own == {"marrow.io.reader_worker", *(f"marrow.io.fbx.{name}" for name in walks | helpers)}


def test_files_called_ufbx_that_lie_in_the_way_are_passed_by(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "script").mkdir()
    (tmp_path / "script" / "ufbx.py").write_text("raise SystemExit('this is not the library')")
    (tmp_path / "data" / "ufbx").mkdir(parents=True)
    for name in ("script", "data"):
        monkeypatch.syspath_prepend(str(tmp_path / name))
    assert mw.load(path, cache=False).meshes


def test_a_library_that_is_not_installed_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_process, "_folder_of", lambda library: [])
    with pytest.raises(MissingExtraError, match=r"^reading FBX files needs the package 'ufbx'"):
        mw.load(path, cache=False)


def test_an_idle_reader_ends_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    soon = "import marrow.io.reader_worker as worker; worker.IDLE_SECONDS = 0.01; serve(module)"
    code = reader_process._START_ALONE.replace("serve(module)", soon)
    monkeypatch.setattr(reader_process, "_START_ALONE", code)
    if not reader_worker._SPLITS:
        pytest.skip("one process for each file here")
    server, fresh = reader_process._take(fbx.READER, Path("x.fbx"))
    assert fresh
    assert server.process.wait(60) == 0
    server.end()


def test_only_a_few_readers_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_process, "MAX_IDLE", 2)
    taken = [reader_process._take(fbx.READER, Path("x.fbx"))[0] for _ in range(3)]
    for server in taken:
        reader_process._give_back(server)
    assert reader_process._idle[fbx.READER] == taken[:2]
    assert taken[2].process.returncode is not None, "the third was ended, and waited for"


def test_threads_that_load_at_once_get_what_one_gets(path: Path) -> None:
    expected = mw.load(path, cache=False)
    found: list[mw.Character] = []
    threads = [threading.Thread(target=lambda: found.append(mw.load(path, cache=False))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    for other in found:
        assert other == expected
    assert len(reader_process._idle[fbx.READER]) <= reader_process.MAX_IDLE


@posix
def test_a_forked_process_loads_with_a_reader_of_its_own(path: Path) -> None:
    mw.load(path, cache=False)
    (server,) = reader_process._idle[fbx.READER]
    child = os.fork()
    if not child:
        code = 1
        try:
            assert not reader_process._idle
            mw.load(path, cache=False)
            (own,) = reader_process._idle[fbx.READER]
            code = 0 if own.process.pid != server.process.pid else 2
            reader_process.end_all()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert mw.load(path, cache=False).meshes, "the reader of the first is still its own"
    assert reader_process._idle[fbx.READER] == [server]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_no_reader_is_left_when_its_caller_is_killed(path: Path) -> None:
    code = (
        "import sys, marrow as mw; from marrow.io import reader_process;"
        "mw.load(sys.argv[1], cache=False);"
        "print(*(s.process.pid for s in reader_process._reader_of), flush=True); sys.stdin.read()"
    )
    caller = subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, sys.path))},
    )
    assert caller.stdout is not None
    reader = int(caller.stdout.readline())
    caller.kill()
    caller.communicate()
    while Path(f"/proc/{reader}").exists():  # a hang here would be the failure
        if Path(f"/proc/{reader}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            break


def test_a_file_that_unfolds_without_measure_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fbx, "BASE_BYTES", 0)
    monkeypatch.setattr(fbx, "BYTES_PER_BYTE", 0)
    with pytest.raises(ResourceLimitError, match=r"flag.fbx: unfolds to more than a file of its size"):
        mw.load(path, cache=False)


def comb(teeth: int) -> list[float]:
    """The outline of a comb: no fan covers it."""
    top = [(x, x % 2, 0) for x in range(2 * teeth, -1, -1)]
    return [float(x) for point in [(0, -1, 0), (2 * teeth, -1, 0), *top] for x in point]


def test_polygons_that_take_too_long_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points = comb(4)
    n = len(points) // 3
    scene = Fbx()
    scene.mesh(scene.node("comb", "Mesh"), points, [list(range(n))])
    path = tmp_path / "comb.fbx"
    path.write_bytes(scene.text())
    assert len(mw.load(path, cache=False).meshes[0].triangles) == n - 2
    monkeypatch.setattr(polygons, "_BASE_SECONDS", -1.0)
    with pytest.raises(ResourceLimitError, match=r"seconds to cut into triangles.*triangulate it"):
        mw.load(path, cache=False)


def test_numbers_out_of_range_are_no_warnings(tmp_path: Path) -> None:
    """What NumPy would warn of while a file is worked out says nothing to the user; the report does."""
    scene = Fbx()
    node = scene.node("wide", "Mesh")
    scene.mesh(node, [1e300 * x for x in SQUARE], [[0, 1, 2, 3]])
    path = tmp_path / "wide.fbx"
    path.write_bytes(scene.text())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(FormatError, match=r"wide.fbx: does not fit together: .*not finite"):
            mw.load(path, cache=False)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"short",
        LENGTHS.pack(1 << 60, 0),
        LENGTHS.pack(2, 0) + b"{}",
        LENGTHS.pack(8, 0) + b"not json",
        LENGTHS.pack(16, 8) + b'{"blocks":[16]} ' + bytes(8),
        LENGTHS.pack(24, 8) + b'{"blocks":[-8,8,8]}     ' + bytes(8),
    ],
)
def test_an_answer_that_is_not_whole_is_an_error(answer: bytes) -> None:
    with pytest.raises(FormatError, match="no whole answer"):
        parse_answer(answer)


def test_blocks_come_back_as_they_were_sent() -> None:
    blocks = Blocks()
    large = np.arange(100_000, dtype=np.float64)
    sent = [
        blocks.put(struct.pack("<3I", 1, 2, 3)),
        blocks.put(memoryview(large).cast("B")),
        blocks.put(b""),
        blocks.doubles(0.5, float("inf")),
        blocks.put_once(b"picture"),
        blocks.put_once(b"picture"),
    ]
    answer = b"".join(blocks.answer({"application": "x"}))
    scene = parse_answer(answer)
    assert scene.integers(sent[0]).tolist() == [1, 2, 3]
    np.testing.assert_array_equal(scene.reals(sent[1]), large)
    assert len(scene.bytes_at(sent[2])) == 0
    assert scene.reals(sent[3]).tolist() == [0.5, float("inf")]
    assert sent[4] == sent[5] and bytes(scene.bytes_at(sent[4])) == b"picture"
