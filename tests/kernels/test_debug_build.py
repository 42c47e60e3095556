"""The debug build looks at every index, and says file, line, array, index and size."""

import inspect

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from compiling import make
from marrow.kernels.backend import Checked, KernelFault
from marrow.kernels.language.annotations import F, N, Out, f4, f8
from marrow.kernels.language.kernel import CallFrame
from marrow.kernels.language.lanes import block


def inner(x, k):
    return x[k]


def elements(x: f8[N], grid: f4[F, N], out: Out[f8[N]], k: int) -> int:
    out[0] = 1.0
    out[0] = inner(x, k) + grid[k, 0] if k < 99 else grid[0, k]
    out[1] = 2.0
    return 7


def slices(x: f8[N], low: int, high: int, out: Out[f8[N]]) -> None:
    part = x[low:high]
    out[0] = len(part)


@block
def copied(e, i, x, out):
    e.store(out, i, e.load(x, i))


def lanes(x: f4[N], out: Out[f4[N]], n: int) -> None:
    copied.each(0, n, 16, x, out)


def line_of(function, text):
    lines, first = inspect.getsourcelines(function)
    return first + next(k for k, line in enumerate(lines) if text in line)


@pytest.fixture(scope="module")
def backend():
    return Checked()


def run(backend, function, **arguments):
    frame = CallFrame(make(function))
    frame.put(**arguments)
    entry, place = backend.entry(frame)
    entry(place)
    return frame


def test_sound_kernels_run_as_ever(backend):
    x, grid, out = np.arange(4.0), np.ones((4, 4), np.float32), np.zeros(4)
    frame = run(backend, elements, x=x, grid=grid, out=out, k=2)
    assert out[:2].tolist() == [3.0, 2.0]
    assert frame.words[frame.kernel.results] == 7
    run(backend, slices, x=x, low=4, high=4, out=out)
    assert out[0] == 0


@pytest.mark.parametrize(
    ("k", "rows", "where", "words"),
    [
        (5, 4, (inner, "x[k]"), "x[k], axis 0 of x: index 5 where there are 4"),
        (-1, 4, (inner, "x[k]"), "x[k], axis 0 of x: index -1 where there are 4"),
        (3, 2, (elements, "inner(x, k)"), "grid[k, 0], axis 0 of grid: index 3 where there are 2"),
        (100, 4, (elements, "inner(x, k)"), "grid[0, k], axis 1 of grid: index 100 where there are 4"),
    ],
)
def test_an_index_outside_is_named_with_its_place(backend, k, rows, where, words):
    grid, out = np.ones((rows, 4), np.float32), np.zeros(4)
    with pytest.raises(KernelFault) as found:
        run(backend, elements, x=np.arange(4.0), grid=grid, out=out, k=k)
    assert f"{__file__}:{line_of(*where)}, in {where[0].__name__}: {words}" in str(found.value)
    # It ends there, also where a function that it called found the mistake.
    assert out.tolist() == [1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(("low", "high", "index"), [(0, 5, 5), (-1, 3, -1), (3, 2, 3)])
def test_slices_stay_inside(backend, low, high, index):
    with pytest.raises(KernelFault, match=f"index {index} where"):
        run(backend, slices, x=np.arange(4.0), low=low, high=high, out=np.zeros(4))


def test_lane_formulas_stay_inside(backend):
    x, out = np.ones(32, np.float32), np.zeros(32, np.float32)
    run(backend, lanes, x=x, out=out, n=32)
    assert (out == 1).all()
    with pytest.raises(
        KernelFault, match=r"test_debug_build\.py:\d+, in copied: 16 of x: index 32 where there are 32"
    ):
        run(backend, lanes, x=x, out=out, n=33)
    assert isinstance(KernelFault("x"), IndexError)
