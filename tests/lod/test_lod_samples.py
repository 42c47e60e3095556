"""The levels that the built-in samples come with."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from lod_worlds import boundary_edges, distances, surface_points

import marrow as mw
from marrow.lod.level_choices import chosen, read_choices, with_choices, write_choices


@pytest.mark.parametrize("name", mw.samples.NAMES)
def test_samples_come_with_four_levels(name):
    hero = mw.samples.load(name)
    assert not len(hero.report), hero.report
    assert [len(level.skeleton) for level in hero.levels[2:]] == [32, 16] and len(hero.levels) == 4
    counts = [level.lod.triangles for level in hero.levels]
    assert all(b < 0.5 * a for a, b in pairwise(counts))
    assert [level.lod.influences for level in hero.levels] == [8, 4, 2, 1]
    errors = [level.lod.error for level in hero.levels]
    assert errors == sorted(errors) and errors[0] == 0
    assert boundary_edges(hero) == 0
    for level in hero.levels[1:]:
        assert boundary_edges(level) == 0
        assert level.skeleton.names == hero.skeleton.names[: len(level.skeleton)]


@pytest.mark.parametrize("name", mw.samples.NAMES)
def test_their_stated_errors_hold_at_other_times(name):
    hero, rng = mw.samples.load(name), np.random.default_rng(7)
    clips = [hero.clips[k] for k in rng.choice(len(hero.clips), min(2, len(hero.clips)), replace=False)]
    poses = [clip.sample(rng.random() * clip.duration) for clip in clips if not clip.additive]
    triangles = [
        np.concatenate([m.triangles + o for m, o in zip(c.meshes, c.vertex_offsets)]) for c in hero.levels
    ]
    for level, own in list(zip(hero.levels, triangles))[2:]:
        n = len(level.skeleton)
        for pose in poses:
            short = mw.Pose(pose.translation[:n], pose.rotation[:n], pose.scale[:n], pose.morphs)
            theirs, mine = mw.skin(hero, pose).positions, mw.skin(level, short).positions
            assert distances(surface_points(theirs, triangles[0], 60), mine, own).max() <= level.lod.error


def test_fewer_influences_keep_the_levels():
    assert [level.lod.influences for level in mw.samples.lizard(2).levels] == [2, 2, 2, 1]


def test_choices_make_the_same_levels_again(tmp_path):
    from samples_modeller import reptile

    plain, hero = reptile.build(), mw.samples.lizard()
    choices = chosen(plain, hero)
    write_choices(choices, tmp_path / "lizard.npz")
    again = with_choices(plain, read_choices(tmp_path / "lizard.npz"))
    assert again.skeleton == hero.skeleton and again.levels[1:] == hero.levels[1:]
    other = plain.replace(meshes=tuple(m.replace(positions=m.positions * 2) for m in plain.meshes))
    with pytest.raises(mw.errors.ValidationError, match="another shape"):
        with_choices(other, choices)


def test_a_sample_whose_shape_changed_says_that_its_levels_are_gone(monkeypatch, tmp_path):
    from samples_modeller import levels

    monkeypatch.setattr(levels, "FOLDER", tmp_path)
    found = levels.with_levels("lizard", mw.samples.lizard().replace(reduced=(), lod=None))
    assert len(found.levels) == 1 and "samples_modeller.levels" in str(found.report)
