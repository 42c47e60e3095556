"""An animator is a small object that owns parts; a name that is mistyped is told."""

import re
from pathlib import Path

import pytest
from worlds import character, ramp, still

import marrow as mw
from marrow.errors import UnknownNameError, ValidationError
from marrow.graph import Graph, JointOverride, Montage, Parameter, Slot

STICK = character(ramp("up", 0, 1), still("one", 1.0))
GRAPH = Graph(
    JointOverride(Slot("body", "up"), ("arm",), name="aim"),
    {"x": Parameter(default=0.5)},
    montages={"combo": Montage("one", "body", {"first": 0.0, "last": 0.5})},
)
PARTS = ("parameters", "slots", "montages", "overrides", "root", "instances", "playback", "evaluation")


def test_an_animator_has_few_members_and_derives_from_nothing():
    public = [name for name in dir(mw.Animator) if not name.startswith("_")]
    assert len(public) <= 31 and set(PARTS) < set(public)
    assert mw.Animator.__mro__ == (mw.Animator, object)


def test_parts_go_by_name():
    who = mw.Animator(STICK, GRAPH)
    assert [list(getattr(who, part)) for part in PARTS[:4]] == [["x"], ["body"], ["combo"], ["aim"]]
    assert "body" in who.slots and "head" not in who.slots and len(who.montages) == 1
    assert who.parameters["x"] == who["x"] == 0.5
    for part in PARTS[:4]:
        with pytest.raises(UnknownNameError, match="nobody"):
            getattr(who, part)["nobody"]
    assert who.slots["body"].play("one") and who.slots["body"].clip is None
    who.update(0.1)
    assert who.slots["body"].clip == "one" and "one" in repr(who.slots["body"])


def test_an_animator_without_a_graph_says_what_is_missing():
    solo = mw.Animator(STICK)
    assert [len(getattr(solo, part)) for part in PARTS[:3]] == [0, 0, 0]
    for part in PARTS[:3]:
        with pytest.raises(ValidationError, match="runs no graph"):
            getattr(solo, part)["body"]
    assert list(solo.overrides) == list(STICK.skeleton.names)
    with pytest.raises(ValidationError, match="runs a graph"):
        _ = mw.Animator(STICK, GRAPH).playback.clip


def test_what_is_mistyped_is_told():
    who = mw.Animator(STICK, GRAPH)
    with pytest.raises(ValidationError, match="did you mean 'speed'"):
        who.sped = 2.0
    for name in ("slots", "character"):
        with pytest.raises(ValidationError, match="cannot be exchanged"):
            setattr(who, name, None)
    with pytest.raises(AttributeError):
        who.instances.seed = 3


def test_parts_hold_after_another_graph_took_over():
    who = mw.Animator(STICK, GRAPH)
    slot = who.slots["body"]
    who.replace_graph(Graph(Slot("head", Slot("body", "up")), {"y": Parameter()}))
    assert list(who.slots) == ["head", "body"] and list(who.parameters) == ["y"]
    assert slot.play("one")
    who.update(0.1)
    assert slot.clip == "one"


def test_nothing_outside_the_animator_uses_its_private_parts():
    source = Path(mw.__file__).parent
    files = [f for f in source.rglob("*.py") if f.parent != source / "graph" / "animator"]
    private = re.compile(r"\b(?:animator|crowd)\._(?!_)\w+|\._runtime\b")
    assert {f.name: found for f in files if (found := private.findall(f.read_text(encoding="utf-8")))} == {}
