"""Modules for other machines: made here of one small kernel, and looked into."""

import platform
import sys

import pytest

from marrow.kernels import build
from marrow.kernels.language.extension import PYTHON, glue_code
from marrow.kernels.language.machine import LEVELS
from marrow.kernels.language.pool_code import pool_code
from marrow.kernels.language.stack_probe import stack_probe
from marrow.kernels.poses import to_model
from marrow.kernels.targets import MODULE_TARGETS, TARGETS, target_here
from platforms.binaries import inspect

LOADED_WITH = {"linux": set(), "windows": {"python3.dll"}, "macos": {"/usr/lib/libSystem.B.dylib"}}


@pytest.fixture(scope="module")
def modules(tmp_path_factory):
    """The module of one level of each, and how to make it again."""
    folder = tmp_path_factory.mktemp("targets")
    made = {}
    for name in MODULE_TARGETS:
        target = TARGETS[name]
        level = target.levels[0]
        objects = build.kernel_objects(target, [to_model], [level])
        glue = glue_code(f"_{level}", [to_model], LEVELS[level], "digest", triple=target.triple)
        parts = {"kernels.o": objects[level], "glue.o": glue}
        file = folder / name / target.module_name(level)
        file.parent.mkdir()
        build.link(target, parts, file, imports=PYTHON)
        made[name] = (file, parts)
    return made


@pytest.mark.parametrize("name", MODULE_TARGETS)
def test_a_module_is_for_its_machine_and_shows_only_its_init_function(modules, name):
    target, module = TARGETS[name], inspect(modules[name][0].read_bytes())
    assert module.target == name
    assert module.exports == {f"PyInit__{target.levels[0]}"}
    # Nothing but Python's stable ABI, of a library that its every version has.
    assert module.imports <= {line.split()[0] for line in PYTHON["python3.dll"]} | {"memset"}
    assert module.libraries == LOADED_WITH[target.system]


@pytest.mark.parametrize("name", MODULE_TARGETS)
def test_the_same_objects_give_the_same_bytes_in_any_folder(modules, name, tmp_path):
    file, parts = modules[name]
    again = tmp_path / file.name
    build.link(TARGETS[name], parts, again, imports=PYTHON)
    assert again.read_bytes() == file.read_bytes()


@pytest.mark.parametrize("name", ["windows-x86_64", "windows-arm64"])
def test_windows_can_walk_the_stack_of_every_function(modules, name):
    """Code and glue have tables for it (.pdata), and more than a page of stack is taken page by page."""
    _, parts = modules[name]
    assert all(b".pdata" in part for part in parts.values())
    text = stack_probe(TARGETS[name].triple)
    assert (b"___chkstk_ms" if name == "windows-x86_64" else b"__chkstk") in text


@pytest.mark.parametrize(
    ("triple", "long"), [("x86_64-pc-windows-gnu", "i32"), ("x86_64-unknown-linux-gnu", "i64")]
)
def test_a_thread_number_is_as_wide_as_a_long_of_c(triple, long):
    text = pool_code([("kernel", 1)], triple, "@message")
    assert f"declare {long} @PyThread_start_new_thread" in text
    assert f"icmp eq {long} %id, -1" in text


def test_what_cannot_be_linked_is_said_and_nothing_is_left(tmp_path):
    with pytest.raises(SystemExit, match=r"linking _v3\.pyd for windows-x86_64 failed"):
        build.link(TARGETS["windows-x86_64"], {"glue.o": b"no object"}, tmp_path / "_v3.pyd")
    assert list(tmp_path.iterdir()) == []


def test_a_target_that_is_not_known_is_said():
    with pytest.raises(SystemExit, match="NAME one of linux-x86_64, linux-aarch64, windows-x86_64"):
        build.main(["--target", "amiga", "--into", "x"])


def test_kernels_become_webassembly_too():
    code = build.kernel_objects(TARGETS["wasm"], [to_model])["wasm"]
    assert code.startswith(b"\0asm")


@pytest.mark.parametrize(
    ("system", "machine", "name"),
    [
        ("linux", "x86_64", "linux-x86_64"),
        ("linux", "aarch64", "linux-aarch64"),
        ("win32", "AMD64", "windows-x86_64"),
        ("win32", "ARM64", "windows-arm64"),
        ("darwin", "arm64", "macos-arm64"),
        ("darwin", "x86_64", "macos-x86_64"),
    ],
)
def test_every_machine_with_a_wheel_knows_itself(system, machine, name, monkeypatch):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert target_here() is TARGETS[name]


def test_a_machine_without_a_wheel_builds_for_itself(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    here = target_here()
    assert (here.name, here.triple, here.levels) == ("linux-riscv64", "", ("host",))
    assert here.module_name("host") == "_host.abi3.so"
