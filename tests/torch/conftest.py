"""Torch is an extra: without it these tests are skipped, except where nothing may be."""

from __future__ import annotations

import os

import pytest

collect_ignore_glob: list[str] = []

try:
    import torch
except (ImportError, OSError) as error:
    if os.environ.get("MARROW_STRICT") == "1":
        raise pytest.UsageError(f"torch cannot be imported: {error}") from None
    collect_ignore_glob = ["test_*.py"]
else:
    # Several test processes share the machine: pools of threads that wait for each other would only be in the way.
    torch.set_num_threads(1)
    if os.environ.get("MARROW_STRICT") == "1" and not torch.cuda.is_available():
        # Strict runs skip nothing; what needs a CUDA GPU is run on one by hand.
        collect_ignore_glob = ["test_cuda.py"]
