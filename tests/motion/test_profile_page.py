"""What docs/motion.md says of profiles and of retargeting while a graph runs, run as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import marrow as mw

PAGE = Path(__file__).parents[2] / "docs/motion.md"


def blocks(heading: str) -> list[str]:
    text = PAGE.read_text(encoding="utf-8").split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sample = mw.samples.mannequin()
    few = sample.replace(clips=[sample.clips["walk"]], reduced=())
    mw.save(few, "hero.glb")
    moved = mw.Character(sample.skeleton, clips=[sample.clips["run"].trimmed(0.0, 0.4)])
    world = {"mw": mw, "np": np, "hero": mw.load("hero.glb"), "mocap": moved}
    for heading, count in (("Motion in bare numbers", 1), ("Profiles", None), ("While a graph runs", None)):
        for code in blocks(heading)[:count]:
            exec(compile(code, "motion.md", "exec"), world)
    clip = world["on_the_spot"]
    root = clip.skeleton.index("root")
    assert np.ptp(clip.sample(np.linspace(0, 0.4, 5)).translation[:, root], axis=0).max() < 1e-3
    assert np.linalg.norm(world["crowd"].root.translation, axis=-1)[[0, -1]].tolist()[1] > 0.3
    assert world["shown"].joint_count == len(world["hero"].skeleton)
