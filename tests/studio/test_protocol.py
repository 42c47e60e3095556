"""The protocol: what pages may say, how frames are packed, and that the page's definitions are the server's."""

import json
from pathlib import Path

import hypothesis.extra.numpy as hnp
import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marrow.errors import ValidationError
from marrow.studio import frames
from marrow.studio import protocol as p
from marrow.studio.typescript import typescript
from surroundings import repeats

ROOT = Path(__file__).resolve().parents[2]
MESSAGES = [
    p.Play(True),
    p.PickClip("Run", 0.3),
    p.PickClip("Run", slot=1),
    p.Seek(1.25),
    p.Step(-2),
    p.SetSpeed(0.5),
    p.SetLoop(False),
    p.SetMode("graph"),
    p.SetParameter("speed", 1.5),
    p.SetParameter("armed", True),
    p.SetParameter("aim", (0.0, 1.0, 2.0)),
    p.Fire("jump"),
    p.Steer(0.5, -1.0, True, False),
    p.SetCount(200),
    p.Spread(True),
    p.SetTravel(True),
    p.Select(-1),
    p.Look([1.0] * 16, [0.5] * 16, 720.0, 2.0, 3),
    p.SetEffector(3, (0.1, 0.2, 0.3), 2),
    p.FreeEffector(3, 2),
    p.ResetEffectors(),
    p.SetSpring("hair", stiffness=2.0, limit=0.5),
    p.SetWind((1.0, 0.0, -0.5)),
    p.ResetSprings(),
    p.SetLevel(2),
    p.Accept(True),
    p.Advance(0.04),
    p.SetViews(
        [p.ViewChoice("bones"), p.ViewChoice("weights", "hips")], method="linear", picked=3, mask="layer"
    ),
    p.SetRange(0.5, None),
    p.ReadyGraph(),
    p.EditClip("Run", "trim", start=0.1, end=0.5),
    p.EditClip("Run", "events", events=[p.EventEntry(0.5, "step", 0.1, "left")]),
    p.Undo(),
    p.Redo(),
    p.Open("mannequin", 1),
    p.Settle(3, "add", 0),
    p.CloseSlot(1),
    p.Ack(4_294_967_295),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda m: type(m).__name__)
def test_message_survives_the_wire(message):
    assert p.decode(msgspec.json.encode(message)) == message


def test_every_message_of_a_page_is_tried():
    assert {type(m) for m in MESSAGES} == set(p.ClientMessage.__args__)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        '{"type":"dance"}',
        '{"type":"play"}',
        '{"type":"play","playing":1}',
        '{"type":"play","playing":true,"more":1}',
        '{"type":"seek","time":1e999}',
        '{"type":"seek","time":1e300}',
        '{"type":"seek","time":NaN}',
        '{"type":"step","frames":1.5}',
        '{"type":"count","value":0}',
        '{"type":"count","value":2001}',
        '{"type":"count","value":"5"}',
        '{"type":"mode","value":"dance"}',
        '{"type":"parameter","name":"aim","value":[1,2]}',
        '{"type":"parameter","name":"aim","value":[1,2,1e300]}',
        '{"type":"open","sample":"mannequin","slot":2}',
        '{"type":"close","slot":0}',
        '{"type":"ack","frame":-1}',
        '{"type":"clip","name":"' + "x" * 600 + '"}',
        "[" * 5000,
        '{"type":"play","playing":true}' + " " * p.MAX_MESSAGE_BYTES,
        b"\xff\xfe\x00",
        "\ud800",
    ],
)
def test_anything_else_is_refused_in_words(text):
    with pytest.raises(ValidationError, match=r"not a message of the studio|at most"):
        p.decode(text)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
tags = [m.__struct_config__.tag for m in p.ClientMessage.__args__]
near_misses = st.builds(
    lambda tag, fields: {"type": tag, **fields},
    st.sampled_from(tags),
    st.dictionaries(
        st.sampled_from(["playing", "name", "value", "time", "frames", "frame", "slot", "on"]), anything
    ),
)


@settings(max_examples=repeats(120), deadline=None)
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200), (anything | near_misses).map(json.dumps)))
def test_no_input_gets_past_the_decoder_or_breaks_it(data):
    try:
        message = p.decode(data)
    except ValidationError:
        return
    assert type(message) in p.ClientMessage.__args__


floats = st.floats(-1e6, 1e6, width=32)


@settings(max_examples=repeats(50), deadline=None)
@given(
    st.tuples(st.integers(0, 4), st.integers(0, 5), st.integers(0, 3)),
    st.booleans(),
    st.integers(0, 2**32 - 1),
    st.data(),
)
def test_frame_survives_the_wire(sizes, placed, number, data):
    N, P, M = sizes
    matrices, morphs, places = (
        data.draw(hnp.arrays(np.float32, shape, elements=floats))
        for shape in ((N, P, 3, 4), (N, M), (N, 3, 4))
    )
    packed = frames.pack_frame(
        frame=number,
        slot=1,
        time=2.5,
        matrices=matrices,
        morphs=morphs,
        placements=places if placed else None,
    )
    frame = frames.unpack_frame(packed)
    assert (frame.frame, frame.slot, frame.time) == (number, 1, 2.5)
    np.testing.assert_array_equal(frame.matrices, matrices)
    np.testing.assert_array_equal(frame.morphs, morphs)
    assert (frame.placements is not None) == placed
    if placed:
        np.testing.assert_array_equal(frame.placements, places)
    assert len(packed) == 32 + 4 * (N * P * 12 + N * M + (N * 12 if placed else 0))


@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 3), st.integers(0, 4)), max_size=4),
    st.integers(0, 2),
)
def test_frame_by_levels_survives_the_wire(groups, M):
    rng = np.random.default_rng(len(groups))
    made, first = [], 0
    for level, n, entries in groups:
        made.append(
            (level, np.arange(first, first + n), rng.normal(size=(n, entries, 3, 4)).astype(np.float32))
        )
        first += n
    morphs = rng.normal(size=(first, M)).astype(np.float32)
    packed = frames.pack_frame(frame=7, slot=0, time=0.5, groups=made, morphs=morphs, palette=9)
    frame = frames.unpack_frame(packed)
    assert frame.matrices is None and len(frame.groups) == len(made)
    for (level, who, matrices), (level2, who2, matrices2) in zip(made, frame.groups):
        assert level == level2
        np.testing.assert_array_equal(who, who2)
        assert not len(who) or not matrices.size or (matrices == matrices2).all()
    np.testing.assert_array_equal(frame.morphs, morphs)
    for cut in (packed[:-4], packed[:36], packed[:33]):
        if len(cut) < len(packed):
            with pytest.raises(ValidationError):
                frames.unpack_frame(cut)


@given(st.binary(max_size=100))
def test_what_is_no_frame_is_refused(data):
    with pytest.raises(ValidationError):
        frames.unpack_frame(data)


def test_a_truncated_frame_is_refused():
    packed = frames.pack_frame(
        frame=1, slot=0, time=0.0, matrices=np.zeros((1, 2, 3, 4)), morphs=np.zeros((1, 0))
    )
    with pytest.raises(ValidationError):
        frames.unpack_frame(packed[:-4])


def test_numbers_json_does_not_know_become_null():
    stats = json.loads(p.encode(p.Stats(float("nan"), float("inf"), 0.0, 0.0, 1, 0.0, 0.0)))
    assert stats["ms_per_update"] is None and stats["us_per_character"] is None


def test_typescript_knows_every_message():
    text = typescript()
    for message in (*p.ClientMessage.__args__, *p.ServerMessage.__args__):
        assert f'type: "{message.__struct_config__.tag}";' in text
        assert f"export interface {message.__name__} {{" in text
