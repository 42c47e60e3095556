"""`marrow bench`."""

from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
import sys
from typing import Annotated, Literal

from cyclopts import Parameter

__all__ = ["bench"]

# The comparison is one thread against one thread: the libraries' own pools are told so before they start.
ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)


def bench(
    what: Literal[
        "core",
        "io",
        "graph",
        "threads",
        "motion",
        "ik",
        "matching",
        "constraints",
        "springs",
        "lod",
        "studio",
        "gpu",
        "render",
        "dataset",
        "torch",
        "web",
    ] = "core",
    *,
    seconds: float = 1.0,
    growth: bool = True,
    json: Annotated[bool, Parameter(negative=())] = False,
    markdown: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Measure marrow on this machine, next to C++ twins and whatever else is installed.

    Parameters
    ----------
    what
        core: skinning and poses. io: loading files. graph: animation graphs. threads: crowds on 1 to all
        cores, in a loop and at 60 Hz. motion: retargeting. ik: inverse kinematics. matching: motion matching.
        constraints: those on joints. springs: hair that swings.
        lod: levels of detail. studio: its server. gpu: skinning on the GPU. render: pictures. torch: with
        gradients. dataset: data sets. web: the runtimes for pages and C.
    seconds
        How long each comparison runs.
    growth
        Also measure how time grows with size, memory beside the output, and start-up.
    json
        Print JSON.
    markdown
        Print the table as Markdown, as docs/benchmarks.md has it.
    """
    if any(os.environ.get(name) != value for name, value in ONE_THREAD.items()):
        code = subprocess.run(
            [sys.executable, "-m", "marrow", *sys.argv[1:]], env={**os.environ, **ONE_THREAD}
        ).returncode
        sys.exit(code)

    from marrow.bench import report
    from marrow.cli._output import console, print_json
    from marrow.kernels.backend import backend

    group = importlib.import_module(f"marrow.bench.{what}")
    results = report.run_all(group.contests(), seconds)
    more = group.measurements() if growth and hasattr(group, "measurements") else {}
    if json:
        print_json({"machine": report.machine(), "contests": results, "measurements": more})
    elif markdown:
        print(report.as_markdown(results, more, report.machine()))
    else:
        out = console()
        out.print(", ".join(f"{k} {v}" for k, v in report.machine().items()), style="dim")
        report.show(results, out)
        report.show_measurements(more, out)
    if what == "core" and not json and not os.environ.get("MARROW_KERNELS") and backend().name == "v4":
        # The same for processors without AVX-512, against twins built for those.
        sys.stdout.flush()
        again = {**os.environ, "MARROW_KERNELS": "v3"}
        subprocess.run([sys.executable, "-m", "marrow", *sys.argv[1:], "--no-growth"], env=again, check=True)
