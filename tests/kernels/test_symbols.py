"""What the extension modules show to the process they are loaded into: their init function, and nothing else."""

import ctypes
import os
import shutil
import subprocess
import sys

import pytest

from marrow.kernels import build, catalogue
from marrow.kernels.backend import Built, backend
from surroundings import missing

HOSTILE = "".join(
    f"void {kernel.name}(long long *frame) {{ frame[0] = 0; __builtin_trap(); }}\n"
    for kernel in catalogue.kernels()
)
MOVE = """
import numpy as np
import marrow as mw
from marrow.animation.kinematics import to_model
rest = mw.Pose(np.ones((2, 3)), np.tile([0, 0, 0, 1.0], (2, 1)), np.ones((2, 3)))
bones = mw.Skeleton(("a", "b"), np.array([-1, 0]), rest)
print(to_model(bones, bones.rest)[1, :, 3].tolist())
"""


def test_no_kernel_can_be_looked_up_in_a_module():
    assert isinstance(backend(), Built), "run `python -m marrow.kernels.build`"
    library = ctypes.CDLL(str(build.module_file(backend().name)))
    assert getattr(library, f"PyInit__{backend().name}")
    for kernel in catalogue.kernels():
        with pytest.raises(AttributeError):
            getattr(library, kernel.name)


def test_functions_of_the_host_process_do_not_replace_kernels(tmp_path):
    """A library that is there before us has functions of the same names."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not sys.platform.startswith("linux"):
        missing("there is no C compiler, or no LD_PRELOAD")
    (tmp_path / "hostile.c").write_text(HOSTILE)
    library = tmp_path / "hostile.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, tmp_path / "hostile.c"], check=True)
    environment = {**os.environ, "LD_PRELOAD": str(library), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", MOVE], env=environment, capture_output=True, text=True)
    assert done.stdout == "[2.0, 2.0, 2.0]\n", done.stderr
