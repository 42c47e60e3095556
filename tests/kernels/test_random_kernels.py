"""Random kernels give the same bits as machine code and as Python. tests/gpu has them as WGSL."""

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from compiling import MachineCode, assert_same
from random_kernels import TEXTS, random_kernel, random_work


@pytest.mark.parametrize("shared", [False, True], ids=["full", "shared"])
def test_random_kernels_give_the_same_bits_as_machine_code_and_as_python(shared):
    kernels = [random_kernel(seed, shared=shared) for seed in range(50)]
    machine = MachineCode(kernels)
    rng = np.random.default_rng(0)
    for kernel in kernels:
        for hostile in (False, True):
            work = random_work(rng, shared=shared, hostile=hostile)
            try:
                assert_same(machine, kernel, work=work)
            except AssertionError as error:
                raise AssertionError(f"{error}\n{TEXTS[kernel.name]}") from None
