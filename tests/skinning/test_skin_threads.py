"""`mw.skin` on several threads: the same bits on any number of them, and memory that is used again."""

import numpy as np
import pytest

import marrow as mw
from marrow.kernels import jobs
from marrow.samples import mannequin


@pytest.fixture
def all_threads(monkeypatch):
    """However little work there is, it is shared out."""
    monkeypatch.setattr(jobs, "WORTH_SECONDS", 1e-9)


@pytest.mark.parametrize("workers", [2, 3, 7, 16])
@pytest.mark.parametrize("skinning", ["linear", "dual_quaternion"])
@pytest.mark.parametrize("poses", [(), (3,), (40,)])
def test_threads_do_not_show_in_the_result(all_threads, workers, skinning, poses):
    who = mannequin()
    times = np.linspace(0, 0.7, 40)[: poses[0]] if poses else 0.3
    pose = who.clips["walk"].sample(times)
    alone, many = (mw.skin(who, pose, skinning=skinning, threads=t) for t in (1, workers))
    for name in ("positions", "normals", "tangents"):
        one, other = getattr(alone, name), getattr(many, name)
        assert one is None or np.array_equal(one, other)


def test_results_nobody_holds_are_written_again():
    """A program that skins every frame asks the system for memory once; what it keeps is left alone."""
    who = mannequin()
    poses = who.clips["walk"].sample([0.1, 0.2])
    kept = mw.skin(who, poses).normals[0]
    copy, places = kept.copy(), set()
    for k in range(12):
        again = mw.skin(who, poses[::-1] if k % 2 else poses, tangents=False)
        assert not np.shares_memory(again.normals, kept)
        places |= {a.__array_interface__["data"][0] for a in (again.positions, again.normals)}
        del again
    assert len(places) <= 3  # two results, and one that was there before
    np.testing.assert_array_equal(kept, copy)
