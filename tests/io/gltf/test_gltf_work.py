"""What a load does not do: nothing is checked twice, and what nobody asks for is not worked out."""

from __future__ import annotations

import os
import pickle
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from maker import Maker, one_triangle

import marrow as mw
from marrow.io import cache, marrow_file
from marrow.io.source import Source
from marrow.model import Character, Clip, Mesh
from marrow.motion import facing
from marrow.report import Report, ReportLine


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many assets were checked, by kind."""
    found: Counter[str] = Counter()

    def counted(kind: type) -> None:
        check = kind.__post_init__

        def spied(self: object) -> None:
            found[kind.__name__] += 1
            check(self)

        monkeypatch.setattr(kind, "__post_init__", spied)

    for kind in (Character, Clip, Mesh):
        counted(kind)
    return found


def crowd() -> Maker:
    """One mesh under three nodes, and a clip that moves two of them."""
    maker = one_triangle()
    maker.document["nodes"] = [{"name": f"node {k}", "mesh": 0} for k in range(3)]
    maker.document["scenes"] = [{"nodes": [0, 1, 2]}]
    times = maker.accessor(np.array([[0.0], [0.5], [2.0]]))
    moves = [maker.accessor(np.arange(9).reshape(3, 3) + k) for k in range(2)]
    maker.add(
        "animations",
        {
            "name": "walk",
            "samplers": [{"input": times, "output": move} for move in moves],
            "channels": [{"sampler": k, "target": {"node": k, "path": "translation"}} for k in range(2)],
        },
    )
    return maker


def saved(tmp_path: Path, maker: Maker) -> Path:
    path = tmp_path / "crowd.glb"
    path.write_bytes(maker.glb())
    return path


def test_a_mesh_under_many_nodes_and_its_character_are_checked_once(tmp_path, checks):
    character = mw.load(saved(tmp_path, crowd()), cache=False)
    assert len(character.meshes) == 3 and character.clips["walk"].duration == 2.0
    assert character.source.endswith("crowd.glb") and character.name == "crowd"
    assert dict(checks) == {"Character": 1, "Mesh": 1}
    rebuilt = character.replace(meshes=tuple(m.replace() for m in character.meshes))
    assert rebuilt == character, "what was not checked is right"
    clip = character.clips["walk"]
    assert clip.replace() == clip and clip.tracks[1].values.tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]


def test_where_it_looks_is_found_when_the_report_is_read(tmp_path, monkeypatch):
    asked = []

    def line(character: Character, *, rigid: bool) -> str:
        asked.append(character)
        return "it looks away"

    monkeypatch.setattr(facing, "facing_line", line)
    character = mw.load(saved(tmp_path, crowd()), cache=False)
    assert not asked
    assert "it looks away" in str(character.report) and len(character.report) >= 1
    assert len(asked) == 1


def test_a_report_that_comes_later_is_like_any_other():
    lines = (ReportLine("info", "a", "b"), ReportLine("warning", "c", "d"))
    made = []
    later = Report.later(lambda: made.append(1) or Report(lines))
    assert not made
    assert pickle.loads(pickle.dumps(later)) == Report(lines) == later and later[1].place == "c"
    assert made == [1] and hash(later) == hash(Report(lines)) and len(later + later) == 4
    with pytest.raises(AttributeError):
        later.lines = ()


def test_morphs_and_joints_of_a_clip_are_read_together():
    maker = one_triangle()
    delta = maker.accessor(np.eye(3))
    maker.document["meshes"][0]["primitives"][0]["targets"] = [{"POSITION": delta}, {"POSITION": delta}]
    times = maker.accessor(np.array([[0.0], [1.0], [3.0]]))
    weights = maker.accessor(np.array([[0.1], [0.2], [0.3], [0.4], [0.5], [0.6]]))
    turns = maker.accessor(np.array([[0, 0, 0, 1], [0, 0, 0, 2], [0, 0, 1, 0]]))
    maker.add(
        "animations",
        {
            "samplers": [
                {"input": times, "output": weights, "interpolation": "STEP"},
                {"input": times, "output": turns},
            ],
            "channels": [
                {"sampler": 0, "target": {"node": 0, "path": "weights"}},
                {"sampler": 1, "target": {"node": 0, "path": "rotation"}},
            ],
        },
    )
    character = maker.load()
    clip = character.clips[0]
    told = [(t.path, t.target, t.interpolation, t.times.tolist()) for t in clip.tracks]
    assert told == [
        ("morph", 0, "step", [0, 1, 3]),
        ("morph", 1, "step", [0, 1, 3]),
        ("rotation", 0, "linear", [0, 1, 3]),
    ]
    odd, even = (clip.tracks[k].values.ravel() for k in range(2))
    np.testing.assert_array_equal(odd, np.float32([0.1, 0.3, 0.5]))
    np.testing.assert_array_equal(even, np.float32([0.2, 0.4, 0.6]))
    assert clip.tracks[2].values.tolist() == [[0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 1, 0]]
    assert "1 rotation keys were not of unit length" in str(character.report)
    assert clip.replace() == clip and clip.duration == 3


def test_what_the_cache_wrote_is_not_checked_again(tmp_path, monkeypatch, checks):
    monkeypatch.setenv("MARROW_CACHE", str(tmp_path / "cache"))
    path = saved(tmp_path, crowd())
    first = mw.load(path)
    checks.clear()
    seen = []
    monkeypatch.setattr(marrow_file, "check_finite", seen.append)
    again = mw.load(path)
    assert not checks and not seen
    assert again == first and again.report == first.report and again.source == first.source
    assert not again.meshes[0].positions.flags.writeable
    assert not again.clips[0].tracks.values.flags.writeable


def test_a_file_that_lies_still_is_hashed_once_and_a_changed_one_again(tmp_path, monkeypatch):
    path = tmp_path / "a.glb"
    hashed = []
    sha256 = cache.hashlib.sha256
    monkeypatch.setattr(cache.hashlib, "sha256", lambda data: hashed.append(len(data)) or sha256(data))
    monkeypatch.setattr(cache, "_digests", {})

    def key() -> bytes:
        return cache._content_digest(Source.open(path))

    path.write_bytes(b"first")
    assert key() == key() == sha256(b"first").digest() and len(hashed) == 2, "it was written just now"
    monkeypatch.setattr(cache.time, "time_ns", lambda: os.stat(path).st_ctime_ns + 4_000_000_000)
    assert key() == key() == sha256(b"first").digest() and len(hashed) == 3
    then = os.stat(path)
    (tmp_path / "b.glb").write_bytes(b"other")
    os.replace(tmp_path / "b.glb", path)
    os.utime(path, ns=(then.st_atime_ns, then.st_mtime_ns))
    assert key() == sha256(b"other").digest() and len(hashed) == 4
    assert cache._content_digest(Source.of_bytes(b"other", "memory")) == sha256(b"other").digest()
    monkeypatch.setattr(cache, "_MOST_DIGESTS", 1)
    (tmp_path / "c.glb").write_bytes(b"third")
    cache._content_digest(Source.open(tmp_path / "c.glb"))
    assert len(cache._digests) == 1
