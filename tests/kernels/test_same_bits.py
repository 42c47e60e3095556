"""The same bits everywhere: whatever runs the kernels and whatever NumPy makes of the processor, hashes are golden."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import replay

from compiling import as_python
from marrow.kernels.build import levels
from marrow.kernels.language import elementary
from marrow.math import affine
from marrow.math import elementary as arrays

HERE = Path(__file__).parent
HINT = "if results were meant to change, run `python tests/kernels/replay.py --write` and say so in the changelog"


def runnable() -> list[str]:
    """The levels this package was built for that this processor has."""
    found = []
    for level in levels():
        try:
            importlib.import_module(f"marrow.kernels._{level}")
        except ImportError:
            continue
        found.append(level)
    return found


def run(*parts, **environment):
    """Hashes from a process of its own."""
    command = [sys.executable, str(HERE / "replay.py"), *parts]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def goldens():
    return json.loads(replay.GOLDENS.read_text())


def assert_golden(found):
    known = goldens()
    wrong = [name for name, value in found.items() if known.get(name) != value]
    assert not wrong, f"{', '.join(wrong)} differ from the goldens; {HINT}"


@pytest.mark.parametrize("level", runnable())
def test_every_level_gives_the_golden_results(level):
    found = run(*replay.OWN, MARROW_KERNELS=level)
    assert set(found) == {name for name in goldens() if not Path(name).suffix}
    assert_golden(found)


@pytest.mark.parametrize("level", runnable())
def test_every_level_gives_the_golden_results_for_real_files(corpus, level):
    found = run(*replay.REAL, MARROW_KERNELS=level)
    assert set(found) == {name for name in goldens() if Path(name).suffix}
    assert_golden(found)


@pytest.mark.parametrize("backend", ["jit", "numpy"])
def test_the_compiler_and_numpy_give_the_golden_results(backend):
    assert_golden(run("few", MARROW_KERNELS=backend))


LESSER = {"MARROW_CACHE": "off", "OPENBLAS_CORETYPE": "Nehalem", "PYTHONWARNINGS": "ignore"}


def lesser():
    """NumPy and its matrix library told that they run on a processor of 2008."""
    from numpy._core._multiarray_umath import __cpu_dispatch__ as optional  # type: ignore[import-not-found]

    return {**LESSER, "NPY_DISABLE_CPU_FEATURES": " ".join(optional)}


def test_numpy_on_a_lesser_processor_gives_the_golden_results():
    assert_golden(run(*replay.OWN, **lesser()))


def test_numpy_on_a_lesser_processor_gives_the_golden_results_for_real_files(corpus):
    assert_golden(run(*replay.REAL, **lesser()))


# -- the Python side ------------------------------------------------------------------------------------------------------


def test_functions_of_arrays_are_those_of_the_kernels():
    rng = np.random.default_rng(0)
    special = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e300, 5e-324, 0.4375, 1.1875, -2.4375]
    x = np.array([*rng.uniform(-9, 9, 400), *(k * np.pi / 4 for k in range(-8, 9)), *special])
    y = np.array([*rng.normal(size=len(x) - 10), *special[::-1]])
    sine, cosine = arrays.sincos(x)
    for name, mine, arguments in (
        ("sin", sine, (x,)),
        ("cos", cosine, (x,)),
        ("atan2", arrays.arctan2(y, x), (y, x)),
        ("arccos", arrays.arccos(x / 9), (x / 9,)),
    ):
        theirs = np.array(
            [
                as_python(getattr(elementary, name), len(arguments))(*row)
                for row in zip(*(a.tolist() for a in arguments))
            ]
        )
        np.testing.assert_array_equal(mine, theirs, err_msg=name)


def test_written_out_products_are_products():
    rng = np.random.default_rng(1)
    a, b, p = rng.normal(size=(5, 7, 3, 4)), rng.normal(size=(7, 3, 4)), rng.normal(size=(5, 7, 11, 3))
    whole = affine.to_4x4(a) @ affine.to_4x4(b)
    np.testing.assert_allclose(affine.multiply(a, b), whole[..., :3, :], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(
        affine.apply(a, p),
        np.einsum("...ij,...vj->...vi", a[..., :3], p) + a[..., None, :, 3],
        rtol=1e-12,
        atol=1e-13,
    )
    np.testing.assert_allclose(
        affine.multiply(affine.invert(a), a), np.broadcast_to(affine.identity(), a.shape), atol=1e-9
    )
    np.testing.assert_allclose(arrays.dot(p, p), (p * p).sum(-1), rtol=1e-14)


SOURCES = Path(importlib.import_module("marrow").__file__).parent
FREE = {"kernels/reference.py", "math/transform.py"}
"""The specification, and what only it uses."""


@pytest.mark.parametrize("folder", ["math", "animation", "graph"])
def test_no_library_sums_where_poses_are_made(folder):
    """Sums of products and elementary functions of libraries differ from processor to processor."""
    banned = (
        "np.einsum",
        "np.matmul",
        "np.dot",
        "np.sin(",
        "np.cos(",
        "np.exp(",
        "np.arccos",
        "np.arctan2",
        "np.hypot",
        " @ ",
    )
    found = []
    for path in sorted((SOURCES / folder).rglob("*.py")):
        if path.relative_to(SOURCES).as_posix() in FREE:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            code = line.split("#")[0]
            if any(word in code for word in banned) and '"""' not in code and "`" not in code:
                found.append(f"{path.name}:{number}: {line.strip()}")
    assert not found, "use marrow.math.elementary instead:\n" + "\n".join(found)
