"""A long run of `make fuzz`: 2,000 clips, broken ones among them, 50 kills at random moments, and the bytes of an
undisturbed build."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
from test_fuzz import SECONDS

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "dataset"))


def run(clips: Path, out: Path, kills: int) -> None:
    from motion_files import bytes_of
    from test_building import OPTIONS, command, interrupted

    from marrow import dataset

    dataset.build(clips, out / "calm", workers=1, **OPTIONS)
    while kills > 0:
        kills -= interrupted(clips, out / "killed", kills, seed=kills)
        if (out / "killed" / "manifest.json").exists() and kills > 0:
            shutil.rmtree(out / "killed")  # it was finished before all had been killed: from the beginning
    subprocess.run(command(clips, out / "killed", 2), check=False, capture_output=True)
    assert bytes_of(out / "killed") == bytes_of(out / "calm")
    found = dataset.open(out / "killed")
    for name, known in found.statistics.items():
        values = np.concatenate([row[name] for row in found["train"]]).astype(np.float64)
        np.testing.assert_allclose(known.mean, values.mean(axis=0), rtol=1e-11, atol=1e-14)
        np.testing.assert_allclose(known.std, values.std(axis=0), rtol=1e-9, atol=1e-9)


if SECONDS:

    def test_two_thousand_clips_and_fifty_kills(tmp_path):
        from motion_files import write_corpus

        assert write_corpus(tmp_path / "in", 2000) == 200
        run(tmp_path / "in", tmp_path, 50)
