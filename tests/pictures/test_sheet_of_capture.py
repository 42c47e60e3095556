"""A contact sheet of motion capture: without its calibration pose, with a line that says so."""

from __future__ import annotations

import numpy as np
import pytest

import marrow as mw
from marrow.pictures.sheet import _cut_poses, planned, rows_of


@pytest.fixture(scope="module")
def capture() -> mw.Character:
    hero = mw.samples.mannequin()
    clip, rest = hero.clips["run"], hero.skeleton.rest
    moving = clip.sample(np.arange(30) / 60)
    parts = {
        name: np.concatenate([getattr(rest, name)[None], getattr(moving, name)])
        for name in ("translation", "rotation", "scale")
    }
    take = mw.Clip.from_poses("take", hero.skeleton, mw.Pose(**parts), times=np.arange(31) / 60)
    return hero.replace(clips=[take], meshes=(), materials=(), images=())


def test_its_moments_are_those_of_the_motion(capture: mw.Character) -> None:
    shown, said = _cut_poses(capture)
    assert shown.clips["take"].duration == pytest.approx(29 / 60, abs=1e-4)
    assert list(said) == ["take"]


def test_the_sheet_says_what_it_leaves_out(capture: mw.Character) -> None:
    def rows(**options: object) -> list:
        plan = planned(capture, clips=None, times=[0.0], columns=None, size=(32, 32), options={}, **options)
        return rows_of(plan, 0)

    (_, (cell,)), (note, nothing) = rows()
    assert "calibration" in note and nothing == []
    ((_, (kept,)),) = rows(calibration="keep")
    assert np.abs(cell.picture.astype(int) - kept.picture.astype(int)).max() > 20
