"""Animations to clips: keys, interpolation, repairs, names, morph weights."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from maker import Maker, triangle
from numpy.testing import assert_allclose

import marrow as mw
from marrow.errors import FormatError


def animated(
    *samplers: tuple[str, str, Any, Any], dtype: Any = np.float32, name: str | None = "move", **output: Any
) -> Maker:
    """One node, `samplers` as (path, interpolation, times, values)."""
    maker = Maker(nodes=[{"name": "root"}])
    animation: dict[str, Any] = {"samplers": [], "channels": []}
    if name is not None:
        animation["name"] = name
    for path, interpolation, times, values in samplers:
        animation["samplers"].append(
            {
                "input": maker.accessor(np.asarray(times, np.float32)[:, None]),
                "output": maker.accessor(values, dtype, **output),
                "interpolation": interpolation,
            }
        )
        channel = {"sampler": len(animation["samplers"]) - 1, "target": {"node": 0, "path": path}}
        animation["channels"].append(channel)
    maker.add("animations", animation)
    return maker


def test_keys_and_interpolation_are_kept():
    cubic = np.arange(18).reshape(6, 3)
    clip = (
        animated(
            ("translation", "CUBICSPLINE", [0.5, 2], cubic),
            ("scale", "STEP", [0, 1, 3], [[1, 1, 1], [2, 2, 2], [3, 3, 3]]),
        )
        .load()
        .clips["move"]
    )
    first, second = clip.tracks
    assert (first.path, first.interpolation, first.times.tolist()) == ("translation", "cubic", [0.5, 2])
    assert first.values.tolist() == cubic.reshape(2, 3, 3).tolist()
    assert (second.path, second.interpolation) == ("scale", "step")
    assert clip.duration == 3
    assert clip.sample(0.0).translation.tolist() == [[3, 4, 5]], "the first key is held, not shifted"


def test_rotation_keys_become_unit_but_splines_stay():
    straight = animated(("rotation", "LINEAR", [0, 1], [[0, 0, 0, 2], [0, 3, 0, 4]])).load()
    assert_allclose(straight.clips[0].tracks[0].values, [[0, 0, 0, 1], [0, 0.6, 0, 0.8]], atol=1e-7)
    assert "unit length" in str(straight.report)
    keys = np.arange(24, dtype=np.float32).reshape(6, 4)
    spline = animated(("rotation", "CUBICSPLINE", [0, 1], keys)).load()
    assert np.array_equal(spline.clips[0].tracks[0].values, keys.reshape(2, 3, 4))


def test_integer_rotations_are_decoded():
    keys = np.array([[0, 0, 0, 32767], [0, 19660, 0, 26213]])
    track = (
        animated(("rotation", "LINEAR", [0, 1], keys), dtype=np.int16, normalized=True)
        .load()
        .clips[0]
        .tracks[0]
    )
    assert_allclose(track.values, [[0, 0, 0, 1], [0, 0.6, 0, 0.8]], atol=1e-4)
    assert_allclose(np.linalg.norm(track.values, axis=1), 1, atol=1e-6)


def test_key_times_that_do_not_increase_are_sorted_and_reported():
    character = animated(("scale", "STEP", [0, 2, 1, 2, np.nan], np.arange(15).reshape(5, 3))).load()
    track = character.clips[0].tracks[0]
    assert track.times.tolist() == [0, 1, 2]
    assert track.values[:, 0].tolist() == [0, 6, 9], "of keys at one time the last counts"
    assert "2 keys were dropped" in str(character.report)


def test_keys_that_are_not_finite_are_dropped_and_reported():
    character = animated(("scale", "LINEAR", [0, 1, 2], [[1, 1, 1], [np.nan, 1, 1], [2, 2, 2]])).load()
    assert character.clips[0].tracks[0].times.tolist() == [0, 2]
    assert "not finite" in str(character.report)


def test_clip_names():
    maker = animated(("scale", "STEP", [0], [[1, 1, 1]]), name=None)
    (one,) = maker.document["animations"]
    maker.document["animations"] = [
        {**one, "name": "Walk"},
        one,
        {**one, "name": "Walk"},
        {**one, "channels": []},
    ]
    character = maker.load()
    assert list(character.clips) == ["Walk", "clip_1", "Walk_2"]
    assert "'Walk_2'" in str(character.report)
    assert "clip_3: the animation moves nothing" in str(character.report)


def test_channels_without_a_target_are_dropped_and_reported():
    maker = animated(("scale", "STEP", [0], [[1, 1, 1]]), ("scale", "STEP", [0], [[2, 2, 2]]))
    channels = maker.document["animations"][0]["channels"]
    channels += [
        {"sampler": 0, "target": {"path": "scale"}},
        {"sampler": 0, "target": {"node": 0, "path": "pointer"}},
    ]
    channels.append({"sampler": 0, "target": {"node": 99, "path": "scale"}})
    character = maker.load()
    (track,) = character.clips[0].tracks
    assert track.values.tolist() == [[1, 1, 1]]
    assert "2 channels" in str(character.report)


@pytest.mark.parametrize(
    ("sampler", "message"),
    [
        ({"interpolation": "BEZIER"}, "BEZIER"),
        ({"input": 99}, r"accessors\[99\]"),
        ({"output": 0}, "expected VEC3"),
        ({"interpolation": "CUBICSPLINE"}, "should have 6 values"),
    ],
)
def test_samplers_that_make_no_sense_are_refused(sampler, message):
    maker = animated(("scale", "STEP", [0, 1], np.ones((2, 3))))
    maker.document["animations"][0]["samplers"][0] |= sampler
    with pytest.raises(FormatError, match=message):
        maker.load()


def test_sampler_that_does_not_exist_is_refused():
    maker = animated(("scale", "STEP", [0], [[1, 1, 1]]))
    maker.document["animations"][0]["channels"][0]["sampler"] = 5
    with pytest.raises(FormatError, match="samplers"):
        maker.load()


@pytest.mark.parametrize("interpolation", ["LINEAR", "CUBICSPLINE"])
def test_weights_become_a_track_for_each_target(interpolation):
    per_key = 3 if interpolation == "CUBICSPLINE" else 1
    weights = np.arange(2 * per_key * 2)[:, None]
    maker = animated(("weights", interpolation, [0, 1], weights))
    primitive = triangle(maker)
    delta = maker.accessor(np.ones((3, 3)))
    primitive["targets"] = [{"POSITION": delta}, {"POSITION": delta}]
    maker.add("meshes", {"primitives": [primitive]})
    maker.document["nodes"][0]["mesh"] = 0
    first, second = maker.load().clips[0].tracks
    assert (first.path, first.target, second.target) == ("morph", 0, 1)
    table = weights.reshape(2, per_key, 2)
    assert np.array_equal(first.values.reshape(2, per_key), table[..., 0])
    assert np.array_equal(second.values.reshape(2, per_key), table[..., 1])


def test_scale_option_reaches_translation_keys_only():
    clip = (
        animated(
            ("translation", "LINEAR", [0, 1], [[2, 2, 2], [4, 4, 4]]),
            ("scale", "LINEAR", [0, 1], np.ones((2, 3))),
        )
        .load(scale=0.5)
        .clips[0]
    )
    assert clip.tracks[0].values.tolist() == [[1, 1, 1], [2, 2, 2]]
    assert clip.tracks[1].values.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_events_outside_the_clip_are_dropped_with_a_line(tmp_path):
    bones = mw.Skeleton(("a",), [-1])
    clip = mw.Clip("c", bones, duration=2.0, events=(mw.Event(1.0, "in"), mw.Event(2.0, "end")))
    path = tmp_path / "a.gltf"
    mw.save(mw.Character(bones, clips=[clip]), path)
    document = json.loads(path.read_text())
    document["animations"][0]["extras"]["marrow"]["events"][0][0] = -3.0
    path.write_text(json.dumps(document))
    loaded = mw.load(path, cache=False)
    assert [e.name for e in loaded.clips[0].events] == ["end"]
    assert any("'in' at -3 s is outside" in line.message for line in loaded.report)
