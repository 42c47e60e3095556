"""Runs of frames in which feet stand, and heights of skin: what is found for all at once, one by one."""

from __future__ import annotations

import numpy as np
import pytest
import rigs

import marrow as mw
from marrow.motion import Retargeter, contacts, tall_products
from marrow.motion.contacts import FeetPoints, planted_frames, windows
from marrow.motion.tall_products import tall_product


def stands_by_hand(low: list[bool], loose: list[bool], gap: int, shortest: int, edge: int) -> list[bool]:
    """The frames in which one point is planted, walking along them."""

    def runs(mask: list[bool], value: bool) -> list[tuple[int, int]]:
        out, begin = [], 0
        for t in range(1, len(mask) + 1):
            if t == len(mask) or mask[t] != mask[begin]:
                out += [(begin, t)] if mask[begin] == value else []
                begin = t
        return out

    inside = range(1, len(low))
    out = list(low)
    for a, b in runs(out, False):
        if a in inside and b in inside and b - a <= gap:
            out[a:b] = [True] * (b - a)
    for a, b in runs(out, True):
        if a in inside and b in inside and b - a < shortest:
            out[a:b] = [False] * (b - a)
    for a, b in runs(out, True):
        for t in range(a - 1, max(a - edge, 0) - 1, -1):
            if not loose[t]:
                break
            out[t] = True
        for t in range(b, min(b + edge, len(low))):
            if not loose[t]:
                break
            out[t] = True
    return out


@pytest.mark.parametrize("rate", [15, 24, 60, 240])
def test_planted_frames_are_those_that_walking_along_them_finds(rate: int) -> None:
    rng = np.random.default_rng(rate)
    found = 0
    for _ in range(100):
        T, feet = int(rng.integers(2, 90)), int(rng.integers(1, 4))
        steps = rng.normal(size=(T, feet, 2, 3)) * rng.choice([0.06, 0.15, 0.4]) / rate
        place = np.cumsum(steps, axis=0)
        place[..., 1] = np.abs(place[..., 1]) + rng.uniform(-0.02, 0.05)
        times = np.arange(T) / rate
        points = FeetPoints(place, np.zeros((feet, 2)), contacts.LEG)
        fast, low = contacts.speeds(place, times), points.height < contacts.LOW
        limits = (
            round(contacts.GAP * rate),
            max(round(contacts.SHORTEST * rate), 2),
            round(contacts.EDGE * rate),
        )
        planted = planted_frames(points, times)
        for k in np.ndindex(feet, 2):
            at = (slice(None), *k)
            slow, loose = (low & (fast < n * contacts.SLOW) for n in (1, contacts.LOOSE))
            assert planted[at].tolist() == stands_by_hand(slow[at].tolist(), loose[at].tolist(), *limits)
            found += len(windows(planted[at]))
    assert found > 100


def test_windows_are_the_runs_of_true() -> None:
    mask = np.array([1, 1, 0, 1, 0, 0, 1], bool)
    assert windows(mask) == [(0, 2), (3, 4), (6, 7)]
    assert windows(mask[:0]) == [] and windows(~mask[:2]) == []
    assert all(type(at) is int for run in windows(mask) for at in run)


def test_a_product_in_pieces_is_the_product(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    rows, table = rng.normal(size=(100, 8)), rng.normal(size=(8, 5))
    monkeypatch.setattr(tall_products, "SMALL", 17 * 40)
    np.testing.assert_allclose(tall_product(rows, table), rows @ table, rtol=1e-12)
    assert tall_product(rows.astype(np.float32), table.astype(np.float32)).dtype == np.float32
    assert tall_product(rows[:0], table).shape == (0, 5) and tall_product(rows, table[:, :0]).shape == (
        100,
        0,
    )


def test_the_lowest_skin_of_a_foot_is_the_lowest_of_its_places() -> None:
    hero = mw.samples.mannequin()
    clip = hero.clips["run"]
    soles = Retargeter(rigs.body({n: n for n in rigs.PARTS}), hero).soles_t
    assert soles is not None
    model = hero.skeleton.to_model(clip.sample(np.linspace(0, clip.duration, 40)))
    for k, sole in enumerate(soles.feet):
        assert sole is not None
        high = soles.places(model, k)[..., 1] - sole.ground
        np.testing.assert_allclose(sole.heights(model), high, atol=1e-5)
        np.testing.assert_allclose(sole.lowest(model), high.min(axis=1), atol=1e-5)
        np.testing.assert_allclose(
            sole.lowest(model.astype(np.float64), np.array([0.0, 1.0, 0.0])), high.min(axis=1), atol=1e-6
        )
        some = np.arange(len(sole.ground)) % 3 == 0
        np.testing.assert_array_equal(sole.places(model, some), soles.places(model, k)[:, some])
