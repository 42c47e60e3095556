"""Compact frames: how exact they are, and that a page which only gets what has changed sees what the engine shows."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from studio_world import serving, small_actor
from test_levels import look

import marrow as mw
from builders import rotations
from lod.level_worlds import mannequin
from marrow.errors import ValidationError
from marrow.math import quaternion
from marrow.studio import client as clients
from marrow.studio import compact, wire
from marrow.studio import protocol as p
from marrow.studio.actor import Origin, StudioActor
from marrow.studio.frames import unpack_frame
from marrow.studio.session import Session
from surroundings import repeats


def matrices_of(turn, place, pivots, scale=1.0):
    """What takes a vertex to `scale * R (v - pivot) + place`."""
    linear = quaternion.to_matrix(turn) * np.broadcast_to(scale, turn.shape[:-1])[..., None, None]
    moved = place - np.einsum("...ij,...j->...i", linear, np.broadcast_to(pivots, place.shape))
    return np.concatenate([linear, moved[..., None]], axis=-1).astype(np.float32)


@settings(max_examples=repeats(60), deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.01, 1.0, 80.0]), st.sampled_from([0.0, 1e3]))
def test_turns_and_places_are_as_exact_as_stated(seed, size, away):
    rng = np.random.default_rng(seed)
    n, E = 7, 9
    pivots = rng.normal(0, size, (E, 3)).astype(np.float32)
    turn = rotations(rng, (n, E))
    turn[0, :4] = np.eye(4)  # each of the four is the largest once
    turn[1, :3] = [[0.5, 0.5, 0.5, 0.5], [0.5, -0.5, 0.5, -0.5], [0, 0, 2**-0.5, -(2**-0.5)]]
    place = away * size + rng.normal(0, size, (n, E, 3))
    found = compact.rigid(matrices_of(turn, place, pivots), pivots)
    assert found is not None and found.scale is None
    center = (found.place.min(axis=2) + found.place.max(axis=2)).T / 2
    reach = float(np.abs(found.place - center.T[..., None]).max())
    q, at = compact.decode(compact.encode(found, center, reach), center, reach)
    noise = 1e-6 * (1 + away) * size * 30  # of float32 matrices far from the origin
    assert np.abs(at - place).max() <= reach / compact.PLACES + noise
    assert np.linalg.norm(q, axis=-1) == pytest.approx(1.0)
    alike = np.abs((q * turn).sum(axis=-1))
    angle = 2 * np.arccos(np.clip(alike, 0, 1))
    assert angle.max() <= compact.turn_error() + 2e-3 * (away > 0) + 1e-5


def test_what_is_no_turn_with_even_scale_is_not_sent_as_one():
    rng = np.random.default_rng(1)
    pivots = rng.normal(0, 1, (3, 3)).astype(np.float32)
    turn, place = rotations(rng, (2, 3)), rng.normal(0, 1, (2, 3, 3))
    good = matrices_of(turn, place, pivots)
    for spoil in (
        lambda m: m[0, 1, :, :3].__imul__([1, 1, 1.01]),
        lambda m: m[0, 1, :, 0].__imul__(-1),
        lambda m: m[1, 2].fill(0),
        lambda m: m[1, 2].fill(np.nan),
        lambda m: m[0, 0, 0].__iadd__(0.01),
    ):
        bad = good.copy()
        spoil(bad)
        assert compact.rigid(bad, pivots) is None
    scaled = compact.rigid(matrices_of(turn, place, pivots, np.full((2, 3), 1.5)), pivots)
    np.testing.assert_allclose(scaled.scale, 1.5, rtol=1e-5)


class Eye:
    """A page: what it has put together from the frames it got."""

    def __init__(self, pivots, inverse=None):
        self.client = clients.Client(None)
        self.client.compact = True
        self.pivots, self.shown, self.level, self.sent = pivots, {}, {}, 0

    def see(self, picture):
        data = self.client.packed(picture)
        frame = unpack_frame(data)
        self.sent += len(data)
        if frame.compact is None:
            self.shown, self.level = {}, {}
            groups = frame.groups or [(0, np.arange(frame.count), frame.matrices)]
            parts = [(level, who, m) for level, who, m in groups]
        else:
            parts = []
            for g in frame.compact:
                q, at = compact.decode(g.words, g.center, frame.reach)
                scale = 1.0 if g.scales is None else g.scales.astype(np.float64)
                parts.append((g.level, g.instances, matrices_of(q, at, self.pivots[: q.shape[1]], scale)))
        for level, who, m in parts:
            for k, i in enumerate(who.tolist()):
                self.shown[i], self.level[i] = m[k], level
        self.shown = {i: m for i, m in self.shown.items() if i < frame.count}
        return frame

    def check(self, picture, bound):
        """All is as the engine has it, up to what compact frames may be off."""
        assert set(self.shown) == set(range(picture.count))
        for i, seen in self.shown.items():
            level, right = picture.of(i)
            assert self.level[i] == level
            np.testing.assert_allclose(seen[:, :, :3], right[:, :, :3], atol=2e-4)
            pivots = self.pivots[: len(right), :, None]
            ends = [(m[:, :, :3] @ pivots)[..., 0] + m[:, :, 3] for m in (seen, right)]
            assert np.abs(ends[0] - ends[1]).max() <= bound


@pytest.mark.parametrize("seed", range(4))
def test_a_page_that_gets_only_what_changed_sees_what_the_engine_shows(seed):
    rng = np.random.default_rng(seed)
    session = Session()
    session.put(StudioActor(mannequin(), 0, Origin("python", ""), graph=mw.samples.mannequin_graph()))
    actor = session.main
    one, two = Eye(actor.wire.pivots), Eye(actor.wire.pivots)
    session.apply(p.SetCount(40))
    session.apply(p.Spread(True))
    for _ in range(30):
        match rng.integers(8):
            case 0:
                session.apply(p.SetCount(int(rng.integers(1, 60))))
            case 1:
                session.look_from("page", look(eye=tuple(rng.normal(0, 20, 3).tolist())))
            case 2:
                session.apply(p.SetLevel(int(rng.integers(-1, 4))))
            case 3:
                session.apply(p.SetParameter("speed", float(rng.uniform(-1, 3))))
            case 4:
                actor.wire.reach *= 0.5  # as if somebody had reached out of the cube
            case 5:
                session.apply(p.Play(bool(rng.integers(2))))
        session.tick(1 / 60)
        (picture,) = session.look()
        one.see(picture)
        if rng.integers(3):  # a slow page is sent fewer
            two.see(picture)
    session.apply(p.Play(False))
    (picture,) = session.look()
    for eye in (one, two):
        eye.see(picture)
        eye.check(picture, 2 * actor.wire.reach / compact.PLACES + 1e-6)
        if picture.count >= wire.COMPACT_FROM:
            again = eye.see(picture)
            assert again.compact == [], "what a page has is not sent again"


def test_a_vertex_is_off_by_no_more_than_stated():
    character = mannequin()
    session = Session()
    session.put(StudioActor(character, 0, Origin("python", ""), graph=mw.samples.mannequin_graph()))
    session.apply(p.SetCount(10))
    session.apply(p.Spread(True))
    session.apply(p.SetParameter("speed", 2.0))
    session.tick(0.1)
    (picture,) = session.look()
    eye = Eye(session.main.wire.pivots)
    eye.see(picture)
    bound = session.main.wire.error
    assert bound < 2e-4
    for i in range(10):
        right = mw.skin(character, picture.matrices[i], normals=False, tangents=False).positions
        seen = mw.skin(character, eye.shown[i], normals=False, tangents=False).positions
        assert np.linalg.norm(right - seen, axis=1).max() <= bound + 2e-6


def test_crowds_take_turns_where_there_are_too_many_joints(monkeypatch):
    monkeypatch.setattr(wire, "MOST_JOINTS", 100)
    session = Session()
    session.put(small_actor())
    session.apply(p.SetCount(60))  # 300 joints and more
    eye = Eye(session.main.wire.pivots)
    eye.see(session.look()[0])
    seen = []
    for _ in range(8):
        session.tick(1 / 60)
        frame = eye.see(session.look()[0])
        seen.append({int(i) for g in frame.compact or [] for i in g.instances})
    assert frame.compact is not None and max(map(len, seen)) < 60
    assert set().union(*seen) == set(range(60))


def test_a_page_that_begins_anew_is_told_all_of_it():
    session = Session()
    session.put(small_actor())
    session.apply(p.SetCount(20))
    session.apply(p.Play(False))
    eye = Eye(session.main.wire.pivots)
    eye.see(session.look()[0])
    session.put(small_actor(), keep=True)
    eye.client.tell(p.Changed(0, True, True, False))
    eye.shown, eye.level = {}, {}
    (picture,) = session.look()
    eye.see(picture)
    eye.check(picture, 1e-3)


def test_joints_that_are_scaled_unevenly_are_sent_as_matrices():
    """The small character's clips are turns; one with uneven scale goes the old way, and back."""
    session = Session()
    session.put(small_actor())
    session.apply(p.SetCount(12))
    (picture,) = session.look()
    eye = Eye(session.main.wire.pivots)
    bent = picture.matrices.copy()
    bent[3, 2, :, :3] *= [1.0, 1.5, 1.0]
    bad = replace(picture, matrices=bent, _packed={}, _encoded={}, _drawings={})
    assert eye.see(bad).compact is None
    assert eye.see(picture).compact is not None
    eye.check(picture, 1e-3)


def test_pages_that_do_not_say_so_get_matrices():
    with serving(small_actor()) as site, site.page() as old, site.page() as new:
        new.send("accept", compact=True)
        old.send("count", value=20)
        while (frame := old.frame()).count != 20:
            pass
        assert frame.compact is None and frame.matrices.shape[0] == 20
        while (frame := new.frame()).compact is None:
            pass
        assert frame.count == 20 and {int(i) for g in frame.compact for i in g.instances} <= set(range(20))
        for cut in range(4, 40, 4):
            with pytest.raises(ValidationError):
                unpack_frame(bytes(40)[:cut])


@settings(max_examples=40, deadline=None)
@given(st.binary(min_size=32, max_size=400), st.integers(4, 15))
def test_junk_is_no_compact_frame(data, flags):
    from marrow.studio.frames import FRAME_HEADER, FRAME_MAGIC

    head = FRAME_HEADER.pack(FRAME_MAGIC, 1, 0, 3, 2, 1, 0.0, flags)
    with pytest.raises(ValidationError):
        unpack_frame(head + data[: len(data) // 4 * 4])
