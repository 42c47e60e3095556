"""Runs what the wheels hold, on machines that are not there: `python -m platforms [PLATFORM ...]` (`make platforms`).

Each is a Python of that platform, or of its processor with a loader for its files, in which `tests/kernels/replay.py`
must give the golden hashes; on musl, a driver that runs recorded calls; of libmarrow, calls of a crowd under its graph.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import marrow as mw
from marrow.kernels.targets import TARGETS
from platforms import library, linux_arm, macos, musl, windows
from platforms.foreign import LAB, ROOT, Foreign, Missing

sys.path.append(str(ROOT / "tests"))

from surroundings import corpus_folder

PYTHONS: dict[str, Callable[[], Foreign]] = {
    "macos-x86_64": macos.x86_64,
    "windows-x86_64": windows.python,
    "linux-aarch64": linux_arm.python,
    "macos-arm64": macos.arm64,
}
MUSL = {f"musl-{name}": name for name in musl.ARCHITECTURES}
ALL = [*PYTHONS, *MUSL, *library.LIBRARIES]
FBX = "maya_dq_weights_7500_binary.fbx"
"""Of the real files the one that ufbx reads, whose build for ARM rounds otherwise."""
READ_HERE = """
import json, sys
sys.path[:0] = sys.argv[1:2]
import replay
import marrow as mw
print(json.dumps(replay.skinned({sys.argv[3]: mw.load(sys.argv[2])})))
"""


def hashes(foreign: Foreign, level: str, corpus: Path | None) -> dict[str, str]:
    """Of all parts. What ufbx reads otherwise there is read here, and skinned there."""
    found = foreign.hashes(level, corpus)
    if corpus and foreign.name.endswith(("aarch64", "arm64")):
        file, script = LAB / "read_here.marrow", LAB / "read_here.py"
        mw.save(mw.load(corpus / FBX), file)
        script.write_text(READ_HERE)
        theirs = found.pop(f"skin {FBX}")
        arguments = [str(script), str(ROOT / "tests" / "kernels"), str(file), FBX]
        found |= json.loads(foreign.run(*arguments, MARROW_KERNELS=level))
        same = theirs == found[f"skin {FBX}"]
        print(
            f"{foreign.name} {level}: {FBX} was read here; read there it {'is the same' if same else 'differs'}"
        )
    return found


def compare(name: str, level: str, found: dict[str, str]) -> bool:
    known = json.loads((ROOT / "tests" / "kernels" / "replay.json").read_text())
    wrong = sorted(key for key, value in found.items() if known.get(key) != value)
    print(f"{name} {level}: {len(found) - len(wrong)} of {len(found)} hashes are golden", flush=True)
    for key in wrong:
        print(f"  differs: {key}")
    return not wrong


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description="runs wheels of other machines on this one")
    parser.add_argument("platforms", nargs="*", metavar="PLATFORM", help=", ".join(ALL))
    options = parser.parse_args(arguments)
    corpus = corpus_folder() if corpus_folder().is_dir() else None
    good = True
    if unknown := set(options.platforms) - {*ALL}:
        parser.error(f"no platform {', '.join(sorted(unknown))}: there are {', '.join(ALL)}")
    for name in options.platforms or ALL:
        began = time.perf_counter()
        try:
            if name in MUSL:
                print(f"{name}: {musl.check(MUSL[name])}", flush=True)
                continue
            if name in library.LIBRARIES:
                print(f"{name}: {library.check(name)}", flush=True)
                continue
            foreign = PYTHONS[name]()
            for level in TARGETS[name].levels:
                good &= compare(name, level, hashes(foreign, level, corpus))
        except (Missing, RuntimeError) as error:
            good = False
            print(f"{name}: not run: {error}")
        print(f"{name}: {time.perf_counter() - began:.0f} s", flush=True)
    raise SystemExit(not good)


if __name__ == "__main__":
    main(sys.argv[1:])
