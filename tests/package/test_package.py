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
from marrow import errors, studio
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
            # Of a clone; the words of MissingExtraError; Jupyter's own.
            if line.startswith((".", "'.[", "-e .", "{wanted}", "jupyter-server-proxy")):
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
    rooms = (mw, mw.graph, mw.motion, mw.lod, mw.scene, mw.rendering, mw.pictures, mw.windows, studio)
    public = {name for room in rooms for name in room.__all__}
    returned = {kind for name in mw.__all__ for kind in returned_types(getattr(mw, name))}
    generic = {
        "Any",
        "Array",
        "ArrayLike",
        "Iterator",
        "Kind",
        "Literal",
        "Mapping",
        "NDArray",
        "None",
        "Self",
    }
    assert {"Surface", "Bounds", "Pose", "SampledClip", "Palette"} <= returned
    assert not returned - public - generic


def text_of(example):
    return (ROOT / "examples" / example).read_text()


WITHOUT_A_SCREEN = {
    "third_person_game.py": ("--headless", "320", "--pictures", ".", "--every", "150"),
    "small_game.py": ("--headless", "150"),
}
"""What the examples that open a window are called with."""
SAID = {
    "libmarrow_crowd.py": r", 0 of which differ",
    "third_person_game.py": "1 posts fell",
    "small_game.py": r"[2-7] of 7 lizards",
    "artist_pipeline.py": r"(?s)turned.*walk, run, wave; 0 points left",
    "hands_on_rail.py": r"hands on the rail: 0\.0\d mm off",
    "motion_warping.py": r"24 Hz: landed 0\.000 mm.*\n.*60 Hz: landed 0\.000 mm.*\n.*144 Hz: landed 0\.000 mm",
    "training_set.py": r"0 files failed\n.*off by 0\.\d+ degrees; by [4-9]\.",
}
"""What some of them have come to."""
WITHOUT_A_PICTURE = {"libmarrow_crowd.py"}
EXAMPLES = sorted(p.name for p in (ROOT / "examples").glob("*.py"))
WITH_TORCH = [name for name in EXAMPLES if "import torch" in text_of(name)]
ONE_AFTER_THE_OTHER = """import runpy, sys
for file in {!r}:
    print(file, file=sys.stderr)
    runpy.run_path(file, run_name="__main__")
"""
ALONE = [name for name in EXAMPLES if name not in WITH_TORCH]


def run_files(files, folder, *arguments):
    """Scripts in one process, one after the other, each as the main one: starting Torch takes longer than most of them."""
    done = subprocess.run(
        [sys.executable, "-c", ONE_AFTER_THE_OTHER.format([str(file) for file in files]), *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("example", ALONE)
def test_examples_run(example, tmp_path):
    for module in re.findall(
        r"^(?:import|from) (moderngl|pygfx)|^from (marrow) import gpu", text_of(example), re.M
    ):
        needed("wgpu" if module[1] else module[0])
    if re.search(r"mw\.(render|window|contact_sheet)\(", text_of(example)):
        needed("wgpu")
    if "mw.dataset" in text_of(example):
        needed("pyarrow")
    said = run_files([ROOT / "examples" / example], tmp_path, *WITHOUT_A_SCREEN.get(example, ()))
    made = [path.name for path in tmp_path.glob("*.png")]
    assert (made or example in WITHOUT_A_PICTURE) and said, "it says what it did, and makes a picture"
    if example == "third_person_game.py":
        assert len(made) == 3
    else:
        assert all(name in said for name in made)
    assert re.search(SAID.get(example, ""), said), said


def code_of(page, folder):
    """A script of all Python blocks of a page, one after the other. Those of the front page: test_first_steps.py."""
    text = (ROOT / page).read_text()
    script = folder / f"{Path(page).stem}_page.py"
    code = "\n".join(block.partition("```")[0] for block in text.split("```python\n")[1:])
    script.write_text(code, encoding="utf-8")
    return script


def test_examples_and_the_page_of_torch_run(tmp_path):
    needed("torch")
    examples = [ROOT / "examples" / name for name in WITH_TORCH]
    assert len(examples) >= 4
    needed("wgpu")
    said = run_files([code_of("docs/torch.md", tmp_path), *examples], tmp_path)
    made = [path.name for path in tmp_path.glob("*.png")]
    assert len(made) == len(examples) and all(name in said for name in made), "a picture each"
    assert float(re.search(r"the end : ([\d.]+) mm", said)[1]) < 5


@pytest.mark.parametrize("page", ["docs/engine.md", "docs/graph.md", "docs/kernels.md", "docs/gpu.md"])
def test_code_on_the_page_runs(page, tmp_path):
    if page == "docs/gpu.md":
        needed("wgpu")
    run_files([code_of(page, tmp_path)], tmp_path)


def test_kernels_keep_nan():
    assert np.isnan(
        mw.Skeleton(("a",), [-1]).to_model(mw.Pose([[np.nan] * 3], [[0, 0, 0, 1]], [[1] * 3]))[0, 0, 3]
    )
