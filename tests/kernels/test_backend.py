"""Who runs the kernels: what was built, what was changed since, what does not fit this machine, and what is left then."""

import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

import marrow
from marrow.kernels import build
from marrow.kernels.backend import Built, backend
from marrow.kernels.targets import target_here

PACKAGE = Path(marrow.__file__).parent
MOVE = """
import sys
{before}
import numpy as np
import marrow as mw
from marrow.animation.kinematics import to_model
rest = mw.Pose(np.ones((2, 3)), np.tile([0, 0, 0, 1.0], (2, 1)), np.ones((2, 3)))
bones = mw.Skeleton(("a", "b"), np.array([-1, 0]), rest)
print(to_model(bones, bones.rest)[1, :, 3].tolist())
from marrow.kernels.backend import backend
print(backend().name)
"""
NO_COMPILER = "sys.modules['llvmlite'] = None"


def run(package=None, code=MOVE, before="", **environment):
    """The lines a process prints, and what it says."""
    path = os.pathsep.join([str(package or PACKAGE.parent), *sys.path])
    environment = {
        **os.environ,
        "PYTHONPATH": path,
        "PYTHONDONTWRITEBYTECODE": "1",
        "MARROW_KERNELS": "",
        **environment,
    }
    done = subprocess.run(
        [sys.executable, "-c", code.format(before=before)], env=environment, capture_output=True, text=True
    )
    return done.stdout.splitlines(), done.stderr


@pytest.fixture
def clone(tmp_path):
    """The package somewhere else, with its compiled kernels."""
    shutil.copytree(PACKAGE, tmp_path / "marrow", ignore=shutil.ignore_patterns("static", "samples", "tests"))
    return tmp_path


def modules(folder):
    return sorted((folder / "marrow" / "kernels").glob("_*.so")) + sorted(
        (folder / "marrow" / "kernels").glob("_*.pyd")
    )


def test_kernels_are_built():
    assert isinstance(backend(), Built), "run `python -m marrow.kernels.build`"


def test_importing_marrow_loads_no_compiler_and_no_module():
    kinds = ("llvmlite", "numba", "marrow.kernels._")
    code = f"import sys, marrow; print([m for m in sys.modules if m.startswith({kinds})])"
    assert run(code=code) == (["[]"], "")


def test_machine_code_runs_without_a_word(clone):
    assert run(clone, before=NO_COMPILER) == (["[2.0, 2.0, 2.0]", backend().name], "")


def change(clone):
    """Another formula: translations count three times."""
    file = clone / "marrow" / "kernels" / "poses.py"
    text = file.read_text()
    old = "out[at + 11] = t[f, j, 0], t[f, j, 1], t[f, j, 2]"
    assert old in text
    file.write_text(text.replace(old, "out[at + 11] = 3.0 * t[f, j, 0], 3.0 * t[f, j, 1], 3.0 * t[f, j, 2]"))


def test_changed_kernels_are_compiled_on_the_spot_with_words(clone):
    pytest.importorskip("llvmlite")
    change(clone)
    printed, said = run(clone)
    assert printed == ["[6.0, 6.0, 6.0]", "jit"]
    assert "changed since they were built" in said
    assert "compiled kernel to_model in" in said


def test_changed_kernels_without_a_compiler_run_in_numpy_with_one_line_of_advice(clone):
    change(clone)
    printed, said = run(clone, before=NO_COMPILER)
    assert printed == ["[6.0, 6.0, 6.0]", "numpy"]
    assert len(said.splitlines()) == 1
    assert "pip install 'marrow-engine[jit]'" in said


def test_without_modules_and_compiler_numpy_answers_with_one_line_of_advice(clone):
    for file in modules(clone):
        file.unlink()
    printed, said = run(clone, before=NO_COMPILER)
    assert printed == ["[2.0, 2.0, 2.0]", "numpy"]
    assert len(said.splitlines()) == 1
    assert "no compiled kernels" in said and "pip install 'marrow-engine[jit]'" in said


def damaged(data, how):
    if how == "empty":
        return b""
    if how == "text":
        return b"not a module\n" * 99
    if how == "cut":
        return data[:300]
    # Byte 18 of an ELF file names the processor: this one is not ours.
    return data[:18] + struct.pack("<H", 0x1234) + data[20:]


@pytest.mark.parametrize("how", ["empty", "text", "cut", "another processor"])
def test_a_module_that_cannot_be_loaded_gives_way_to_the_next_with_words(clone, how):
    best, *others = sorted(modules(clone), key=lambda file: file.name, reverse=True)
    level = best.name.split(".")[0].lstrip("_")
    best.write_bytes(damaged(best.read_bytes(), how))
    printed, said = run(clone, before=NO_COMPILER)
    rest = "v3" if others else "numpy"
    assert printed == ["[2.0, 2.0, 2.0]", rest]
    assert f"the kernels for {level} cannot be loaded" in said
    if how == "empty":
        _, said = run(clone, before=NO_COMPILER, MARROW_KERNELS=level)
        assert f"MarrowError: MARROW_KERNELS={level}" in said


def test_a_module_for_a_better_processor_refuses_and_the_next_answers(clone, monkeypatch):
    pytest.importorskip("llvmlite")
    from marrow.kernels.backend import sources_digest
    from marrow.kernels.language import extension
    from marrow.kernels.language.machine import LEVELS, object_code, target_machine, written
    from marrow.kernels.poses import to_model

    if "v3" not in build.levels():
        return  # levels are those of x86-64
    # Instructions of AMD's K6, which no processor with AVX-512 has any more.
    needs = (*extension._NEEDS["v4"], (0x80000001, 3, 1 << 30 | 1 << 31))
    monkeypatch.setitem(extension._NEEDS, "v4", needs)
    kernels, machine = [to_model], target_machine(LEVELS["v4"])
    objects = {
        "kernels.o": object_code(written(kernels, machine), machine),
        "glue.o": extension.glue_code("_v4", kernels, LEVELS["v4"], sources_digest()),
    }
    file = clone / "marrow" / "kernels" / build.module_file("v4").name
    build.link(target_here(), objects, file, command=build.linker())
    assert run(clone) == (["[2.0, 2.0, 2.0]", "v3"], "")
    _, said = run(clone, MARROW_KERNELS="v4")
    assert "MARROW_KERNELS=v4: _v4 needs a processor with AVX-512 (x86-64-v4)" in said


@pytest.mark.parametrize("wanted", ["nonsense", "V3", "base", "riscv64"])
def test_what_is_asked_for_must_exist(wanted):
    _, said = run(MARROW_KERNELS=wanted)
    assert f"MARROW_KERNELS must be one of v4, v3, arm64, host, debug, jit, numpy; got '{wanted}'" in said


def test_asking_for_numpy_or_the_compiler_is_heard():
    assert run(MARROW_KERNELS="numpy") == (["[2.0, 2.0, 2.0]", "numpy"], "")
    printed, said = run(MARROW_KERNELS="jit")
    assert printed == ["[2.0, 2.0, 2.0]", "jit"]
    assert [line.split(" in ")[0] for line in said.splitlines()] == ["marrow: compiled kernel to_model"]


@pytest.mark.parametrize(
    ("machine", "levels"),
    [
        ("x86_64", ("v3", "v4")),
        ("AMD64", ("v3", "v4")),
        ("aarch64", ("arm64",)),
        ("arm64", ("arm64",)),
        ("riscv64", ("host",)),
    ],
)
def test_modules_are_built_for_levels_rather_than_for_the_builders_processor(machine, levels, monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: machine)
    assert build.levels() == levels


def test_the_level_of_arm_is_for_any_of_them():
    """Made here for there: an object of that processor, with no instruction that some lack."""
    pytest.importorskip("llvmlite")
    from marrow.kernels.language.extension import glue_code
    from marrow.kernels.language.machine import LEVELS, object_code, target_machine, written
    from marrow.kernels.poses import to_model

    level, triple = LEVELS["arm64"], "aarch64-unknown-linux-gnu"
    assert (level.cpu, level.features) == ("generic", "")
    machine = target_machine(level, triple=triple)
    text = written([to_model], machine)
    for code in (object_code(text, machine), glue_code("_arm64", [to_model], level, "digest", triple=triple)):
        assert code[:4] == b"\x7fELF" and struct.unpack("<H", code[18:20]) == (183,)
    assert "target-cpu" not in text  # no function asks for more than the level has


def session_of(process):
    """The processes whose session is that of a process that has ended."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == process.pid:
                found.append(entry.name)
    return found


def test_eight_cold_processes_at_once_leave_nothing_running():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "MARROW_KERNELS": ""}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", MOVE.format(before="")], env=environment, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True,
        )
        for _ in range(8)
    ]  # fmt: skip
    for process in started:
        printed, said = process.communicate()
        assert (printed.splitlines(), said) == (["[2.0, 2.0, 2.0]", backend().name], "")
    if Path("/proc/self/stat").exists():
        assert [s for p in started for s in session_of(p)] == []


def test_building_again_does_nothing(capfd):
    test_kernels_are_built()
    stamps = {file: file.stat().st_mtime_ns for file in build.build()}
    build.build()
    assert {file: file.stat().st_mtime_ns for file in stamps} == stamps
    assert capfd.readouterr().err == ""
