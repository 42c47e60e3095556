"""A browser's Python, as far as it can be had here: without the packages, threads, processes and maps that it lacks.

`make pyodide` runs the real one.
"""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LACKS = """
import sys
sys.platform = "emscripten"

import os, threading, subprocess, mmap, socket
def absent(*arguments, **named):
    raise RuntimeError("a browser's Python cannot do that")
threading.Thread.start = subprocess.Popen.__init__ = absent
os.fork = mmap.mmap = socket.socket.bind = absent
del os.geteuid
for name in ("ufbx", "cyclopts", "starlette", "uvicorn", "websockets", "wgpu", "av", "llvmlite", "torch", "meshoptimizer"):
    sys.modules[name] = None
os.umask(0o777)

from marrow.kernels import backend
backend.MODULES = ("v4", "v3", "arm64", "host")  # for those of a browser, which no other Python loads
import numpy as np
import marrow as mw
from marrow.errors import MarrowError

def told(call, *words):
    try:
        call()
    except MarrowError as error:
        missing = [word for word in words if word not in str(error)]
        assert not missing, f"{error}: without {missing}"
    else:
        raise AssertionError(f"no error with {words}")
"""
WORKS = """
import tempfile
folder = tempfile.mkdtemp()
os.chmod(folder, 0o700)
os.chdir(folder)

hero = mw.samples.mannequin(influences=4).replace(lod=None)
small = hero.replace(clips=[hero.clips["walk"], hero.clips["run"]])
crowd = mw.Animator(small, mw.graph.Graph("walk"), count=300, threads=8)
crowd.update(0.1)
assert crowd.matrices.shape == (300, len(hero.skeleton), 3, 4)
solo = mw.Animator(hero, mw.samples.mannequin_graph())
solo.update(0.1)
surface = mw.skin(hero, hero.clips["run"].sample([0.1, 0.2]), threads=4)
assert np.isfinite(surface.positions).all()

mw.save(small, "hero.glb")
assert os.stat("hero.glb").st_mode & 0o600 == 0o600, "its owner can read it"
assert list(mw.load("hero.glb").clips) == ["walk", "run"]
mw.save(small, "hero.bvh", clip="walk")
assert len(mw.load("hero.bvh").clips) == 1
mw.save(small, "hero.marrow")
mw.load("hero.marrow")

from marrow.io import cache_folder
assert cache_folder.folder() is None, "what is in memory need not be cached there"

from marrow.pictures.video import VideoWriter
with VideoWriter("run.gif", (32, 16), rate=10) as video:
    for k in range(3):
        video.add(np.full((16, 32, 3), 60 * k, np.uint8))
assert open("run.gif", "rb").read(3) == b"GIF"

from marrow.dataset.pool import run_tasks
assert len(list(run_tasks("marrow.dataset.shard_task:run", [{}, {}], workers=4))) == 2, "one after the other, failures told"
shown = mw.view("lizard")._repr_html_()
assert shown.startswith("<iframe ") and shown.endswith("</iframe>") and "srcdoc=" in shown
assert shown.count('"') == shown[: shown.index("srcdoc")].count('"') + 2, "the page cannot end its frame"
print("works")
"""
SAYS = """
import tempfile, pathlib
path = pathlib.Path(tempfile.mkdtemp()) / "hero.fbx"
os.chmod(path.parent, 0o700)
path.write_bytes(b"Kaydara FBX Binary  \\x00\\x1a\\x00" + bytes(200))
os.chmod(path, 0o600)
told(lambda: mw.load(path), "hero.fbx", "ufbx", "its own process", "marrow convert", "GLB")
told(lambda: mw.render(mw.samples.lizard()), "wgpu", "browser", "on a computer")
told(lambda: mw.view("lizard", window=True), "browser")
told(lambda: mw.view("lizard", compare="lizard"), "browser", "compare")
from marrow import errors
def raised():
    raise errors.MissingExtraError("pyarrow", "dataset", "it")
told(raised, "await micropip.install('marrow-engine[dataset]')")
from marrow.cli import main
try:
    main()
except SystemExit as end:
    assert "no command line" in str(end.code)
print("says")
"""


@pytest.mark.parametrize("code", [WORKS, SAYS], ids=["works", "says"])
def test_what_a_browser_lacks_has_a_way_around_or_words(code, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "MARROW_KERNELS": "", "HOME": str(tmp_path)}
    environment.pop("MARROW_CACHE", None)
    done = subprocess.run(
        [sys.executable, "-c", LACKS + code], env=environment, capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] in ("works", "says")


def test_a_browser_is_asked_for_no_package_that_it_has_not():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    from packaging.requirements import Requirement

    asked = [Requirement(text) for text in project["dependencies"]]
    there = {r.name for r in asked if r.marker is None or r.marker.evaluate({"sys_platform": "emscripten"})}
    assert there == {"numpy", "msgspec", "platformdirs", "pillow", "rich"}
    here = {r.name for r in asked if r.marker is None or r.marker.evaluate({"sys_platform": "linux"})}
    assert here - there == {"cyclopts", "ufbx", "starlette", "uvicorn", "websockets"}


def test_who_starts_threads_or_processes_knows_that_a_browser_has_none():
    """What is new asks `marrow.pyodide`, or is reached only by what does: a server, a GPU, a cluster, the command line."""
    starts = re.compile(
        r"threading\.Thread\(|subprocess\.(?:Popen|run)\(|os\.fork\(|mmap\.mmap\(|np\.memmap\(|ThreadPool|ProcessPool"
    )
    reached = re.compile(
        r"^(?:studio|cli|bench|gpu|torch|windows)/|^(?:kernels|runtime)/build|^io/reader_worker|^dataset/(?:worker|cluster|pool)"
    )
    for path in sorted((ROOT / "src" / "marrow").rglob("*.py")):
        name, text = path.relative_to(ROOT / "src" / "marrow").as_posix(), path.read_text(encoding="utf-8")
        if starts.search(text) and not reached.search(name):
            assert "IN_BROWSER" in text or "a browser's Python has no threads" in text, name
