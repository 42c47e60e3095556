"""`marrow matching build` and `show`, and what they are made of."""

import json

import numpy as np
import pytest

import marrow as mw
from marrow.cli.app import run
from marrow.matching.coverage import SPEEDS, TURNS, coverage, typical_shares


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("moves") / "hero.motion"
    clips = ["idle", "walk", "run", "turn_left"]
    call = [
        "matching",
        "build",
        "mannequin",
        "-o",
        str(path),
        "--clip",
        *clips,
        "--tags",
        "walk=slow,calm",
        "-q",
    ]
    assert run(call) == 0
    return path


def test_build_packs_the_clips_within_a_tenth_of_a_millimetre(file, tmp_path):
    made, hero = mw.matching.load(file), mw.samples.mannequin()
    assert [c.name for c in made.clips] == ["idle", "walk", "run", "turn_left"]
    assert made.tags == ("calm", "slow")
    assert all(made.character.clips[c.name].packed is not None for c in made.clips)
    times = np.linspace(0, hero.clips["run"].duration, 37)
    one, two = (
        np.asarray(c.skeleton.to_model(c.clips["run"].sample(times)))[..., 3] for c in (hero, made.character)
    )
    assert np.abs(one - two).max() < 1e-4
    loose = tmp_path / "loose.motion"
    assert (
        run(["matching", "build", "mannequin", "-o", str(loose), "--clip", "walk", "--no-packed", "-q"]) == 0
    )
    assert mw.matching.load(loose).character.clips["walk"].packed is None


def test_show_says_what_there_is_motion_for(file, tmp_path, capsys):
    picture = tmp_path / "hero.png"
    assert run(["matching", "show", str(file), "--json", "-o", str(picture)]) == 0
    told = json.loads(capsys.readouterr().out)
    database = mw.matching.load(file)
    assert told["frames"] == len(database) and told["tags"] == ["calm", "slow"]
    assert np.sum(told["seconds"]) == pytest.approx(len(database) / database.rate)
    assert sum(told["shares"].values()) == pytest.approx(1)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert run(["matching", "show", str(file)]) == 0
    words = capsys.readouterr().out
    assert "4 clips" in words and "a choice costs" in words


def test_coverage_has_each_frame_where_its_speed_and_turn_are(file):
    database = mw.matching.load(file)
    found = coverage(database)
    size = np.ptp(database.character.skeleton.rest_model[:, 1, 3]) / 1.7
    for clip, turns in (("walk", False), ("run", False), ("turn_left", True)):
        part = next(c for c in database.clips if c.name == clip)
        way = database.rows[part.begin : part.end, database.path_columns]
        speed = np.linalg.norm(way[:, :2], axis=1) / database.features.times[0] / size
        row = np.searchsorted(SPEEDS, np.median(speed), "right") - 1
        middle = len(TURNS) // 2 - 1
        assert found.seconds[row, middle] > 0 or turns
        if turns:
            assert found.seconds[:, middle + 1 :].sum() > 0.2 and found.seconds[:, :middle].sum() == 0
    assert any("m/s, -" in hole for hole in found.holes), (
        "a turn to the left alone leaves a hole to the right"
    )
    cost, shares = typical_shares(database)
    assert cost > 0 and set(shares) == {g.name for g in database.groups}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (["build", "mannequin", "-o", "x.mot"], "ends with .motion"),
        (["build", "mannequin", "fox", "-o", "x.motion"], "need --character"),
        (["build", "mannequin", "-o", "x.motion", "--tags", "walk"], "PATTERN=TAG"),
        (["build", "mannequin", "-o", "x.motion", "--clip", "nothing"], "no motion to choose from"),
        (["show", "missing.motion"], "does not exist"),
    ],
)
def test_wrong_calls_get_words(call, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["matching", *call]) != 0
    assert words in capsys.readouterr().err
