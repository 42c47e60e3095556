"""Whatever an FBX file does to its reader, the caller gets a character or an error in words."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest
from handmade import SQUARE, Fbx, flag

import marrow as mw
from marrow.errors import MarrowError
from marrow.io.fbx.diagnosis import diagnosed


@pytest.fixture
def path(tmp_path: Path) -> Path:
    target = tmp_path / "flag.fbx"
    target.write_bytes(flag().text())
    return target


def load(path: Path) -> mw.Character:
    return mw.load(path, cache=False)


def is_character_or_error(path: Path) -> bool:
    try:
        return isinstance(load(path), mw.Character)
    except MarrowError as error:
        return path.name in str(error)


def test_the_caller_does_not_load_ufbx_or_numba(path: Path) -> None:
    code = "import sys, marrow as mw; mw.load(sys.argv[1], cache=False); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert not {"ufbx", "numba"} & set(done.stdout.split())


HOSTILE = {
    "huge array": flag().text().replace(b"Vertices: *12", b"Vertices: *4000000000", 1),
    "index out of range": flag().text().replace(b"a: 0,1,2,-4", b"a: 0,1,2000000000,-4", 1),
    "negative cluster index": flag().text().replace(b"Indexes: *2 { a: 0,1", b"Indexes: *2 { a: -7,99999", 1),
    "deep nesting": b"; FBX 7.4.0 project file\nFBXHeaderExtension: {\n" + b"A: {\n" * 100_000,
    "no end": flag().text()[:900],
    "header only": b"Kaydara FBX Binary  \x00\x1a\x00\xe8\x1c\x00\x00",
    "wrong version": b"Kaydara FBX Binary  \x00\x1a\x00\xff\xff\xff\x7f" + bytes(200),
    "zeros": b"Kaydara FBX Binary  \x00\x1a\x00" + bytes(5000),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_give_a_character_or_an_error(name: str, tmp_path: Path) -> None:
    path = tmp_path / "hostile.fbx"
    path.write_bytes(HOSTILE[name])
    assert is_character_or_error(path)


def test_a_node_cycle_gives_a_character_or_an_error(tmp_path: Path) -> None:
    fbx = Fbx()
    a = fbx.node("a", "LimbNode")
    b = fbx.node("b", "LimbNode", a)
    fbx.connect(a, b)
    path = tmp_path / "cycle.fbx"
    path.write_bytes(fbx.text())
    assert is_character_or_error(path)


def test_a_bone_that_is_the_mesh_itself_loads(tmp_path: Path) -> None:
    fbx = Fbx()
    node = fbx.node("self", "Mesh")
    fbx.skin(fbx.mesh(node, SQUARE, [[0, 1, 2, 3]]), [(node, dict.fromkeys(range(4), 1.0), (0, 0, 0))])
    path = tmp_path / "self.fbx"
    path.write_bytes(fbx.text())
    assert load(path).meshes[0].vertex_count == 4


@pytest.mark.parametrize("seed", range(20))
def test_mutations_give_a_character_or_an_error(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    data = bytearray(flag().text())
    for _ in range(rng.randrange(1, 12)):
        at = rng.randrange(len(data))
        kind = rng.randrange(3)
        if kind == 0:
            data[at] = rng.randrange(256)
        elif kind == 1:
            del data[at : at + rng.randrange(1, 40)]
        else:
            data[at:at] = data[at : at + rng.randrange(1, 40)]
    path = tmp_path / "mutant.fbx"
    path.write_bytes(bytes(data))
    assert is_character_or_error(path)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("header only", "without the mark that closes the file"),
        ("no end", "ends inside this section: 2 braces are not closed"),
        ("deep nesting", "braces|depth"),
    ],
)
def test_errors_say_what_was_expected_and_seen(name: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "hostile.fbx"
    path.write_bytes(HOSTILE[name])
    with pytest.raises(MarrowError, match=says) as caught:
        load(path)
    assert "Failed to load" not in str(caught.value)
    assert "unknown" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (HOSTILE["zeros"], "version 0"),
        (HOSTILE["wrong version"], "version 2147483647"),
        (
            b"Kaydara FBX Binary  \x00\x1a\x00"
            + (7400).to_bytes(4, "little")
            + (9999).to_bytes(4, "little")
            + bytes(8)
            + b"\x07Objects"
            + bytes(60),
            "'Objects' should end at byte 9999, and the file has",
        ),
        (b"PNG or so", "it begins with b'PNG or so'"),
    ],
)
def test_what_is_wrong_is_seen_from_outside(data: bytes, says: str) -> None:
    assert says in diagnosed(data)
