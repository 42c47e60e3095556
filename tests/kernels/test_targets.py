"""Modules for other machines: made here of one small kernel, and looked into."""

import platform
import sys

import pytest

from marrow.kernels import build
from marrow.kernels.language.extension import PYTHON, glue_code
from marrow.kernels.language.machine import LEVELS
from marrow.kernels.poses import to_model
from marrow.kernels.targets import MODULE_TARGETS, TARGETS, target_here

MAGIC = {
    "linux-x86_64": (b"\x7fELF", 18, b"\x3e\x00"),
    "linux-aarch64": (b"\x7fELF", 18, b"\xb7\x00"),
    "windows-x86_64": (b"MZ", None, b"PE\0\0\x64\x86"),
    "windows-arm64": (b"MZ", None, b"PE\0\0\x64\xaa"),
    "macos-x86_64": (b"\xcf\xfa\xed\xfe", 4, b"\x07\x00\x00\x01"),
    "macos-arm64": (b"\xcf\xfa\xed\xfe", 4, b"\x0c\x00\x00\x01"),
}
"""How a file of each begins, and what says which processor it is for, and where."""


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
    data = modules[name][0].read_bytes()
    begins, at, processor = MAGIC[name]
    assert data.startswith(begins)
    at = int.from_bytes(data[60:64], "little") if at is None else at
    assert data[at : at + len(processor)] == processor
    assert f"PyInit__{TARGETS[name].levels[0]}".encode() in data


@pytest.mark.parametrize("name", MODULE_TARGETS)
def test_the_same_objects_give_the_same_bytes_in_any_folder(modules, name, tmp_path):
    file, parts = modules[name]
    again = tmp_path / file.name
    build.link(TARGETS[name], parts, again, imports=PYTHON)
    assert again.read_bytes() == file.read_bytes()


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
