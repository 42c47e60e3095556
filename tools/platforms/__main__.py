"""Runs what the wheels hold, on machines that are not there: `python -m platforms [PLATFORM ...]` (`make platforms`).

Each is a Python of that platform, or a loader of its files, in which `tests/kernels/replay.py` must give the golden hashes.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable

from marrow.kernels.targets import TARGETS
from platforms import linux_arm, macos, windows
from platforms.foreign import ROOT, Foreign, Missing

sys.path.append(str(ROOT / "tests"))

from surroundings import corpus_folder

PYTHONS: dict[str, Callable[[], Foreign]] = {
    "macos-x86_64": macos.x86_64,
    "windows-x86_64": windows.python,
    "linux-aarch64": linux_arm.python,
    "macos-arm64": macos.arm64,
}


def compare(name: str, level: str, found: dict[str, str]) -> bool:
    known = json.loads((ROOT / "tests" / "kernels" / "replay.json").read_text())
    wrong = sorted(key for key, value in found.items() if known.get(key) != value)
    print(f"{name} {level}: {len(found) - len(wrong)} of {len(found)} hashes are golden", flush=True)
    for key in wrong:
        print(f"  differs: {key}")
    return not wrong


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description="runs wheels of other machines on this one")
    parser.add_argument("platforms", nargs="*", metavar="PLATFORM", help=", ".join(PYTHONS))
    options = parser.parse_args(arguments)
    corpus = corpus_folder() if corpus_folder().is_dir() else None
    good = True
    for name in options.platforms or PYTHONS:
        began = time.perf_counter()
        try:
            foreign = PYTHONS[name]()
            for level in TARGETS[name].levels:
                good &= compare(name, level, foreign.hashes(level, corpus))
        except (Missing, RuntimeError) as error:
            good = False
            print(f"{name}: not run: {error}")
        print(f"{name}: {time.perf_counter() - began:.0f} s", flush=True)
    raise SystemExit(not good)


if __name__ == "__main__":
    main(sys.argv[1:])
