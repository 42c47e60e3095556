"""One name where several are taken means the tuple of it, not its letters."""

import json

import msgspec
import pytest

import marrow as mw
from marrow.graph import (
    Additive,
    CombineMorphs,
    FootLock,
    FootPlacement,
    FullBodyIK,
    Function,
    Graph,
    IKEffector,
    JointOverride,
    LayerBlend,
    PoseDriver,
    Slot,
    State,
    StateMachine,
    StrideWarp,
    Transition,
    known_nodes,
)  # fmt: skip
from marrow.graph.description import from_json, to_json
from marrow.graph.nodes.base import Names

BONES = mw.Skeleton(("hips", "spine", "head"), [-1, 0, 1], morph_names="smile")
CLIP = mw.Clip("nod", BONES, [mw.Track(j, "scale", [0, 1], [[1] * 3] * 2) for j in range(3)])
HERO = mw.Character(BONES, clips=[CLIP])

NODES = {
    Additive: ({"base": "nod", "addition": "nod"}, "joints"),
    CombineMorphs: ({"source": "nod", "morph": "smile"}, "inputs"),
    FootLock: ({"source": "nod"}, "feet"),
    FootPlacement: ({"source": "nod"}, "feet"),
    FullBodyIK: ({"source": "nod", "effectors": (IKEffector("head"),)}, "joints"),
    Function: ({"source": "nod", "function": "f"}, "parameters"),
    JointOverride: ({"source": "nod", "name": "n"}, "joints"),
    LayerBlend: ({"base": "nod", "overlay": "nod"}, "joints morphs"),
    PoseDriver: ({"source": "nod", "examples": ()}, "joints"),
    Slot: ({"source": "nod", "name": "n"}, "joints morphs"),
    StateMachine: ({"states": {"a": State("nod")}}, "conduits"),
    StrideWarp: ({"source": "nod", "scale": 1.0}, "feet"),
    Transition: ({"source": "a", "to": "b"}, "when"),
}


@pytest.mark.parametrize("kind", NODES, ids=lambda kind: kind.__name__)
def test_a_node_keeps_one_name_as_a_tuple(kind):
    given, fields = NODES[kind]
    for field in fields.split():
        alone = kind(**given, **{field: "spine"})
        assert getattr(alone, field) == ("spine",) and alone == kind(**given, **{field: ("spine",)})
        # Files may say so too, and are written with the list.
        data = msgspec.to_builtins(alone)
        assert data[field] in (["spine"], ("spine",))


def test_every_node_with_names_is_tested_here():
    for kind in known_nodes().values():
        if kind.__module__.startswith("marrow.") and kind.__name__ != "GroundQuery":
            of_names = {f.name for f in msgspec.structs.fields(kind) if f.type == Names}
            assert of_names == set(NODES[kind][1].split() if kind in NODES else ()), kind
            raw = {f.name for f in msgspec.structs.fields(kind) if f.type == tuple[str, ...]}
            assert not raw, f"{kind.__name__}: {raw} would iterate over letters"


def test_a_file_may_have_one_name_and_one_rule():
    machine = StateMachine({"a": State("nod"), "b": State("nod")}, (Transition("a", "b", when="speed > 1"),))
    graph = Graph(LayerBlend(machine, "nod", joints="spine"), {"speed": mw.graph.Parameter()})
    text = to_json(graph)
    assert from_json(text) == graph and '"speed > 1"' in text
    data = json.loads(text)
    data["root"]["joints"] = "spine"
    data["root"]["base"]["transitions"][0]["when"] = "speed > 1"
    assert from_json(json.dumps(data)) == graph
    who = mw.Animator(HERO, graph)
    who["speed"] = 2.0
    who.update(0.5)
    assert who.state() == "b"


@pytest.mark.parametrize(
    "call",
    [
        lambda one: mw.Skeleton(one, [-1]).names,
        lambda one: mw.Skeleton(("a",), [-1], morph_names=one).morph_names,
        lambda one: HERO.replace(variants=one).variants,
        lambda one: {t.target for t in CLIP.only(one).tracks},
        lambda one: {t.target for t in CLIP.without(one).tracks},
        lambda one: CLIP.smoothed(joints=one),
        lambda one: BONES.mask(one).tolist(),
        lambda one: mw.lod.build(HERO, joints=(2,), keep=one).levels[1].skeleton.names,
        lambda one: mw.lod.build(HERO, joints=(2,), keep={1: one}).levels[1].skeleton.names,
        lambda one: len(mw.lod.build(HERO, joints=(3,), remove=one).levels),
    ],
)
def test_one_name_is_the_tuple_of_one(call):
    one, several = call("spine"), call(("spine",))
    assert one == several or isinstance(one, mw.Clip)
