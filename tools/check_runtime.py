"""A long look at hostile files: baked files that were changed on purpose, under kernels that look at every index.

PYTHONPATH=tests python tools/check_runtime.py [MUTANTS]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from marrow.kernels.targets import target_here
from marrow.runtime.build import build_library

ROOT = Path(__file__).resolve().parents[1]


def main(mutants: int) -> None:
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "graph"), str(ROOT / "tests" / "runtime")]
    from runtime_worlds import worlds  # type: ignore[import-not-found]

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library = folder / target_here().library_name("marrow-checked")
        build_library(target_here(), library, checked=True)
        found = 0
        for world, (data, _) in worlds().items():
            file = folder / f"{world}.mrt"
            file.write_bytes(data)
            at = 0
            while at < mutants:
                command = [
                    sys.executable,
                    str(ROOT / "tests" / "runtime_hostile.py"),
                    str(library),
                    str(file),
                ]
                done = subprocess.run([*command, str(at), str(mutants)], capture_output=True, text=True)
                last = int([line for line in done.stdout.splitlines() if line.isdigit()][-1])
                if done.returncode == 0:
                    break
                found += 1
                print(
                    f"{world}: mutant {last} ended with {done.returncode}: {done.stderr.strip()[-200:]}",
                    flush=True,
                )
                at = last + 1
            print(f"{world}: {mutants} mutants", flush=True)
    sys.exit(f"{found} mutants were not refused and did not play" if found else 0)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
