"""The wheel, installed where there is neither a compiler nor llvmlite: it skins, animates and serves the studio."""

import os
import re
import signal
import subprocess
import sys
import urllib.request
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

import marrow as mw
import wheels
from marrow.kernels import build
from marrow.kernels.targets import TARGETS, target_here

ROOT = Path(__file__).resolve().parents[2]
USE = """
import sys
import numpy as np
import marrow as mw
from marrow.kernels.backend import backend
figure = mw.load(sys.argv[1])
walk = figure.clips[0]
surface = mw.skin(figure, walk.sample(np.linspace(0, 1, 5)), skinning="dual_quaternion")
assert np.isfinite(surface.positions).all() and np.ptp(surface.positions, axis=0).max() > 0
solo = mw.Animator(figure)
solo.play(walk.name)
solo.update(0.1)
crowd = mw.Animator(figure, mw.graph.Graph(walk.name), count=40)
crowd.update(0.1)
assert np.isfinite(solo.matrices).all() and np.array_equal(crowd.matrices[0], crowd.matrices[39])
print(mw.__file__)
print(backend().name)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from what is here; the kernels and the page are, so this takes a few seconds."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        str(ROOT),
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "-q",
    ]
    done = subprocess.run([*command, "-w", str(folder)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def elsewhere(wheel, tmp_path_factory):
    """The environment of a machine that has Python, the dependencies and this wheel; no compiler, no llvmlite."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as files:
        files.extractall(folder)
    (folder / "sitecustomize.py").write_text(
        "import sys\nsys.modules['llvmlite'] = sys.modules['numba'] = None\n"
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MARROW_") or k == "MARROW_CACHE"}
    return {**environment, "PYTHONPATH": str(folder), "PATH": "", "CC": ""}


def test_the_wheel_is_for_every_python_and_carries_kernels_and_page(wheel):
    assert re.search(r"-cp311-abi3-\w+\.whl$", wheel.name)
    with zipfile.ZipFile(wheel) as files:
        names = files.namelist()
        text = next(files.read(n).decode() for n in names if n.endswith("METADATA"))
    for level in build.levels():
        assert f"marrow/kernels/{build.module_file(level).name}" in names
    page = {n.removeprefix("marrow/studio/static/") for n in names if "/static/" in n}
    assert {"index.html", "studio.js", "studio.css", "page.js", "page.css", "licenses.txt"} <= page
    engine = {n for n in names if n.startswith("marrow/runtime/built/")}
    assert engine == {"marrow/runtime/built/marrow.wasm", "marrow/runtime/built/marrow-strict.wasm"}
    assert not [n for n in names if "node_modules" in n or n.endswith(".ts")]
    samples = {n.removeprefix("marrow/samples/") for n in names if n.startswith("marrow/samples/")}
    built = {"built/lizard.marrow", "built/mannequin.marrow", "built/sources"}
    assert samples == {"__init__.py", "graphs.py", "moves.py", *built}, (
        "the modeller is no part of the package"
    )
    assert not [n for n in names if n.startswith("tests/") or n.endswith((".o", ".ll"))]
    needed = [line for line in message_from_string(text).get_all("Requires-Dist") if "extra ==" not in line]
    assert not [line for line in needed if line.startswith(("llvmlite", "numba"))]


def test_a_wheel_of_this_machine_alone_says_so_and_what_is_in_it_is_checked(wheel):
    """Its name is not one for others; of all the rest nothing is wrong, but everything as a wheel for another machine."""
    here = target_here()
    assert [line.split(" ")[:2] for line in wheels.check(wheel, here)] == [["it", "is"], ["its", "tags"]]
    other = TARGETS["windows-arm64"]
    assert other is not here
    said = "\n".join(wheels.check(wheel, other))
    for level in here.levels:
        name = f"marrow/kernels/{here.module_name(level)}"
        assert f"{name} is for {here.name}" in said
    assert "its modules are" in said


def test_a_machine_without_a_name_cannot_be_built_for(monkeypatch):
    code = "import hatchling.build; hatchling.build.build_wheel('unused')"
    environment = {**os.environ, "MARROW_TARGET": "amiga"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert "MARROW_TARGET must be one of linux-x86_64, linux-aarch64" in done.stderr
    assert done.returncode == 1 and "Traceback" not in done.stderr


@pytest.fixture
def figure(tmp_path):
    """A file with a skin and a clip."""
    lizard = mw.samples.lizard()
    mw.save(lizard.replace(reduced=()), tmp_path / "figure.glb")
    return tmp_path / "figure.glb"


def test_it_skins_and_animates_without_a_compiler(elsewhere, figure, tmp_path):
    command = [sys.executable, "-c", USE, str(figure)]
    done = subprocess.run(command, env=elsewhere, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    place, level = done.stdout.split()
    assert place.startswith(elsewhere["PYTHONPATH"])
    assert level in build.levels()


def test_it_serves_the_studio_without_a_compiler(elsewhere, figure, tmp_path):
    command = [
        sys.executable,
        "-u",
        "-m",
        "marrow",
        "view",
        str(figure),
        "--no-browser",
        "--port",
        "0",
    ]
    server = subprocess.Popen(
        command, env=elsewhere, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        said = ""
        for line in server.stdout:
            said += line
            if found := re.search(r"http://\S+", line):
                break
        else:
            pytest.fail(f"no address: {said}")
        with urllib.request.urlopen(found[0]) as page:
            assert b"<script" in page.read()
    finally:
        server.send_signal(signal.SIGINT)
        rest = server.communicate()[0]
    assert "Traceback" not in said + rest
