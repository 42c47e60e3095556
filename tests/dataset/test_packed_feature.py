"""Packed motion in data sets: by marrow and by the page of NumPy in the docs."""

import re
from pathlib import Path

import numpy as np
import pytest

import marrow as mw
from marrow.animation.kinematics import to_model
from marrow.errors import ValidationError
from surroundings import needed

PAGE = Path(__file__).resolve().parents[2] / "docs" / "compression.md"


def decoder():
    code = next(
        c for c in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL) if "def decode" in c
    )
    names = {}
    exec(code, names)
    return names["decode"]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    hero = mw.samples.mannequin()
    path = tmp_path_factory.mktemp("packed") / "hero.marrow"
    mw.save(hero.replace(clips=[hero.clips["walk"], hero.clips["turn_left"]], meshes=(), reduced=()), path)
    return path


@pytest.mark.filterwarnings("ignore:build")
@pytest.mark.parametrize(("form", "window"), [("parquet", None), ("npz", 32), ("webdataset", None)])
def test_rows_hold_packed_motion(source, tmp_path, form, window):
    needed("pyarrow") if form == "parquet" else None
    decode = decoder()
    made = mw.dataset.build(
        source, tmp_path / form, features=["packed", "rotations", "translations", "positions"], rate=60, window=window,
        format=form, split=1.0, workers=0,
    )  # fmt: skip
    for row in made["train"]:
        packed = row["packed"]
        assert (
            packed.dtype == np.uint8
            and 6 * packed.nbytes < row["rotations"].nbytes + row["translations"].nbytes
        )
        J = row["rotations"].shape[1]
        pose = mw.dataset.unpacked(packed, J)
        t, q, s = (a[:, :J] for a in decode(packed))
        np.testing.assert_allclose(pose.translation, t, atol=1e-6)
        np.testing.assert_allclose(pose.scale, s, atol=1e-6)
        side = np.sign((pose.rotation * q).sum(-1, keepdims=True))
        np.testing.assert_allclose(pose.rotation * side, q, atol=2e-6)
        places = to_model(mw.samples.mannequin().skeleton, pose)[..., 3]
        assert np.linalg.norm(places - row["positions"], axis=-1).max() <= 1e-4


def test_what_is_no_packed_motion_is_refused():
    for wrong in (b"", bytes(10), bytes(80)):
        with pytest.raises(ValidationError):
            mw.dataset.unpacked(np.frombuffer(wrong, np.uint8), 5)
