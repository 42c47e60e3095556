"""The package as a whole: what importing it loads, how kernels are kept, what the examples do."""

import inspect
import os
import pickle
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import marrow as mw
from marrow import errors
from surroundings import needed

ROOT = Path(__file__).resolve().parents[2]
HEAVY = (
    "numba", "llvmlite", "torch", "wgpu", "av", "starlette", "uvicorn", "ray", "pxr", "DracoPy", "meshoptimizer",
    "ufbx", "scipy", "rich", "cyclopts", "PIL", "safetensors",
)  # fmt: skip


def run(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done


def test_importing_marrow_loads_nothing_heavy():
    code = f"import sys, marrow; print([m for m in {HEAVY!r} if m in sys.modules])"
    assert run(code).stdout.strip() == "[]"


def test_every_public_name_is_there():
    for name in mw.__all__:
        assert getattr(mw, name) is not None
    assert set(mw.__all__) <= set(dir(mw))
    with pytest.raises(AttributeError, match="no attribute 'laod'"):
        _ = mw.laod


def test_every_pip_line_names_the_distribution_and_an_extra_that_exists():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["name"] == errors.DISTRIBUTION == "marrow-engine"
    extras = set(project["optional-dependencies"])
    pages = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    pages += [*(ROOT / "examples").rglob("*.py"), *(ROOT / "web" / "src").rglob("*.ts")]
    hints = []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for line in re.findall(r"pip install ([^\n`<]+)", text):
            if line.startswith(
                (".", "'.[", "-e .", "{wanted}")
            ):  # of a clone; the words of MissingExtraError
                continue
            found = re.match(r"'?marrow-engine(?:\[([a-z,]+)\])?'?", line)
            assert found, f"{page}: pip install {line}"
            hints += (found[1] or "").split(",")
        hints += re.findall(r'MissingExtraError\([^,()]+, "([a-z]*)"', text)
        assert not re.search(r"\bmarrow\[[a-z]", text), f"{page}: the distribution is called marrow-engine"
    assert {"usd", "draco", "meshopt"} <= set(hints) <= extras | {""}
    assert "pip install marrow-engine" in str(errors.MissingExtraError("ufbx", "", "reading"))


def test_errors_come_back_from_other_processes():
    made = [
        errors.UnknownNameError("clip", "rn", ["run"]),
        errors.FormatError("is broken", path="a.fbx", place="here", remedy="mend it"),
        errors.ResourceLimitError("is too large", path="b.fbx"),
        errors.MissingFileError("no such file", path="c.fbx", remedy="look again"),
        errors.MissingExtraError("usd-core", "usd", "reading"),
        errors.ValidationError("wrong"),
        errors.WrongTypeError("a clip, not a character"),
        errors.OutOfRangeError("too far"),
        errors.NotEnoughMemoryError("too large"),
        errors.GpuError("refused"),
        errors.NoAdapterError("none"),
        errors.DeviceLostError("lost"),
        errors.GpuMemoryError("full"),
        errors.InUseError("busy"),
    ]
    for error in made:
        twin = pickle.loads(pickle.dumps(error))
        assert type(twin) is type(error) and str(twin) == str(error) and vars(twin) == vars(error)
    assert {type(e).__name__ for e in made} | {"MarrowError"} == set(errors.__all__)


def returned_types(thing):
    """The names of classes in the return annotations of a class's methods and properties, or of a function."""
    members = [thing]
    if inspect.isclass(thing):
        bases = [c for c in thing.__mro__ if c.__module__.startswith("marrow")]
        members = [m for c in bases for n, m in vars(c).items() if n[0] != "_"]
    for member in members:
        found = (getattr(member, name, None) for name in ("fget", "func", "__func__"))
        function = next((f for f in found if f is not None), member)
        if inspect.isfunction(function):
            yield from re.findall(r"[A-Z]\w+", str(inspect.signature(function).return_annotation))


def test_types_that_calls_return_can_be_named():
    rooms = (mw, mw.graph, mw.motion, mw.lod, mw.scene, mw.rendering, mw.pictures, mw.windows)
    public = {name for room in rooms for name in room.__all__}
    returned = {kind for name in mw.__all__ for kind in returned_types(getattr(mw, name))}
    generic = {"Any", "Array", "ArrayLike", "Iterator", "Kind", "Literal", "NDArray", "None", "Self"}
    assert {"Surface", "Bounds", "Pose", "SampledClip", "Palette"} <= returned
    assert not returned - public - generic


def text_of(example):
    return (ROOT / "examples" / example).read_text()


WITHOUT_A_SCREEN = {"third_person_game.py": ("--headless", "320", "--pictures", ".", "--every", "150")}
"""What examples that open a window are called with."""


@pytest.mark.parametrize("example", sorted(p.name for p in (ROOT / "examples").glob("*.py")))
def test_examples_run(example, tmp_path):
    for module in re.findall(
        r"^(?:import|from) (moderngl|pygfx)|^from (marrow) import gpu", text_of(example), re.M
    ):
        needed("wgpu" if module[1] else module[0])
    if "import torch" in text_of(example):
        needed("torch")
    if "mw.render(" in text_of(example):
        needed("wgpu")
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / example), *WITHOUT_A_SCREEN.get(example, ())],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    made = [path.name for path in tmp_path.glob("*.png")]
    assert made and any(name in done.stdout for name in made), "it says what it did, and makes a picture"
    if example == "torch_fit_pose.py":
        assert float(re.search(r"the end : ([\d.]+) mm", done.stdout)[1]) < 5
    if example == "third_person_game.py":
        assert "1 posts fell" in done.stdout and len(list(tmp_path.glob("*.png"))) == 3


@pytest.mark.parametrize(
    "page",
    ["docs/engine.md", "docs/graph.md", "docs/kernels.md", "docs/gpu.md", "docs/torch.md"],
)
def test_code_on_the_page_runs(page, tmp_path):
    """All Python blocks of a page, one after the other. Those of the front page: test_first_steps.py."""
    if page in ("docs/gpu.md", "docs/torch.md"):
        needed("wgpu" if page == "docs/gpu.md" else "torch")
    text = (ROOT / page).read_text()
    code = "\n".join(block.partition("```")[0] for block in text.split("```python\n")[1:])
    (tmp_path / "page.py").write_text(code, encoding="utf-8")
    done = subprocess.run([sys.executable, "page.py"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_kernels_keep_nan():
    assert np.isnan(
        mw.Skeleton(("a",), [-1]).to_model(mw.Pose([[np.nan] * 3], [[0, 0, 0, 1]], [[1] * 3]))[0, 0, 3]
    )
