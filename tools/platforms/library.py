"""Plays recorded calls of libmarrow on machines that are not there: the library of another machine, loaded by its own
Python, must answer to the bit what `mw.Animator` answers here."""

from __future__ import annotations

import json
import sys

import numpy as np

import marrow as mw
from marrow.kernels.targets import TARGETS
from marrow.runtime.build import build_library
from platforms import linux_arm, windows
from platforms.foreign import LAB, ROOT, Foreign

sys.path.append(str(ROOT / "tests"))

from runtime_replays import play_python, recording

__all__ = ["LIBRARIES", "check"]

LIBRARIES = {"libmarrow-linux-aarch64": linux_arm.bare, "libmarrow-windows-x86_64": windows.bare}
UPDATES = 600
THERE = """
import json, sys
folder, library = sys.argv[1:3]
from marrow.runtime.native import NativeRuntime
from runtime_replays import play_native
runtime = NativeRuntime(library)
found = {}
for name, (count, steps) in json.load(open(folder + "/calls.json")).items():
    hero = runtime.load(open(folder + "/hero.mrt", "rb").read())
    found[name] = play_native(hero.create(count), steps)
print(json.dumps({"level": runtime.level, "found": found}))
"""


def check(name: str) -> str:
    """Builds the library, plays a mannequin under its graph and a crowd there and here; says what came out."""
    target = TARGETS[name.removeprefix("libmarrow-")]
    folder = LAB / name
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / target.library_name("marrow")
    build_library(target, file)
    hero, graph = mw.samples.mannequin(), mw.samples.mannequin_graph()
    mw.bake_runtime(hero, graph, folder / "hero.mrt")
    known = {
        "numbers": ("speed", "strafe", "upper", "aim_yaw", "aim_pitch", "look", "reach"),
        "vectors": ("look_at", "reach_for"),
        "bools": ("crouch",),
        "triggers": ("jump", "turn_left", "turn_right"),
        "slots": (("action", "attack"), ("body", "wave")),
    }
    calls = {
        "one": (1, recording(np.random.default_rng(31), 1, UPDATES, **known)),
        "crowd": (7, recording(np.random.default_rng(32), 7, UPDATES // 4, crowd=True, **known)),
    }
    answers = {key: play_python(hero, graph, count, steps) for key, (count, steps) in calls.items()}
    (folder / "calls.json").write_text(json.dumps(calls))
    (folder / "there.py").write_text(THERE)
    foreign: Foreign = LIBRARIES[name](ROOT / "src", ROOT / "tests")
    said = []
    for level in target.levels:
        told = foreign.run(
            *(f"{foreign.drive}{path}" for path in (folder / "there.py", folder, file)),
            MARROW_LEVEL=level,
            MARROW_KERNELS="numpy",
        )
        there = json.loads(told.splitlines()[-1])
        looks = wrong = 0
        for key in calls:
            looks += len(answers[key])
            wrong += sum(a != b for a, b in zip(answers[key], there["found"][key], strict=True))
        said.append(f"{there['level']}: {wrong} of {looks} looks differ")
        if wrong:
            raise RuntimeError(f"{name}: {'; '.join(said)}")
    return "; ".join(said)
