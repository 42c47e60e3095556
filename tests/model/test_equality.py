"""`==` of every noun: by value, always an answer, never an exception."""

import copy
import pickle
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import marrow as mw
from marrow.model._asset import same

NAN = float("nan")


def square(**fields):
    flat = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
    return mw.Mesh.rigid("square", flat, [[0, 1, 2]], 0, **fields)


def zoo():
    """Of every noun some that are alike but for their shapes, their missing parts or a NaN."""
    bones = mw.Skeleton(("a", "b"), [-1, 0], morph_names=("smile",), rest=mw.Pose.identity(2, 1))
    sparse = mw.MorphTarget("smile", 0, [[1, 0, 0], [2, 0, 0]], vertices=[0, 2])
    dense = mw.MorphTarget("smile", 0, [[1, 0, 0], [0, 0, 0], [2, 0, 0]])
    moved = mw.Track(0, "translation", [0, 1], [[0, 0, 0], [1, 0, 0]])
    cubic = mw.Track(0, "translation", [0, 1], np.zeros((2, 3, 3)), "cubic")
    walk, still = mw.Clip("walk", bones, [moved]), mw.Clip("walk", bones)
    meshes = [
        square(),
        square(normals=np.zeros((3, 3))),
        square(normals=np.full((3, 3), NAN)),
        square(morph_targets=(sparse,)),
        square(morph_targets=(dense,)),
        square(uvs=(np.zeros((3, 2)),)),
        square(colors=np.zeros((3, 4))),
        square(sections=(mw.Section(0, 1, 0),)),
    ]
    who = mw.Character(bones, (square(),), [walk], (mw.Material(),))
    return [
        bones, mw.Skeleton(("a",), [-1]), mw.Socket("grip", 0), mw.Socket("grip", 0, [NAN, 0, 0]),
        mw.Pose.identity(2), mw.Pose.identity(2, 1), mw.Pose.identity(2, shape=(3,)), bones.rest,
        *meshes, sparse, dense, moved, cubic, walk, still, walk.tracks, still.tracks,
        who, who.replace(meshes=meshes[4:5]), who.replace(meshes=()), who.clips, mw.Clips(), who.palette, who.lod,
        mw.Level(who.meshes, who.lod), mw.Curve("c", [0], [1]), mw.Curve("c", [0, 1], [1, 1]), mw.Event(0, "e"),
        mw.Material(), mw.Material(metallic=NAN), mw.Material(extensions={"x": [1, {"y": NAN}]}),
        mw.Material(extensions={"x": [1, {"y": [NAN]}]}), mw.Texture(0), mw.Texture(0, rotation=NAN),
        mw.Image("i", "image/png", b""), mw.Image("i", "image/png", b"x"), mw.Section(0, 1), mw.Section(0, 1, 2),
        mw.Report(), mw.Report((mw.ReportLine("info", "", "x"),)), mw.ReportLine("info", "", "x"),
        mw.Graph("walk"), mw.Graph("run"),
    ]  # fmt: skip


OTHERS = [
    None,
    0,
    1.5,
    NAN,
    "walk",
    b"",
    (),
    [1],
    {},
    np.zeros(3),
    np.zeros((2, 3)),
    np.zeros(0),
    object(),
    int,
]


def test_any_two_nouns_compare_with_a_plain_answer():
    for a, b in product(zoo(), [*zoo(), *OTHERS]):
        forth, back = a == b, b == a
        assert (type(forth), type(back)) == (bool, bool), (a, b)
        assert forth == back and (a != b) is (not forth), (a, b)
        assert not forth or (isinstance(a, (mw.Pose, mw.Graph)) or hash(a) == hash(b)), (a, b)


def test_only_what_has_the_same_values_is_equal():
    here, there = zoo(), zoo()
    for (i, a), (j, b) in product(enumerate(here), enumerate(there)):
        # A pose at rest is the identity here.
        assert (a == b) == (i == j or {repr(a), repr(b)} == {repr(here[5])}), (a, b)


@pytest.mark.parametrize(
    "how", [copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))], ids=["deepcopy", "pickle"]
)
def test_copies_of_nouns_with_nan_are_equal(how):
    for noun in zoo():
        assert how(noun) == noun, noun


def test_how_a_character_came_to_be_is_no_part_of_it():
    who = mw.Character(mw.Skeleton(("a",), [-1]), (square(),))
    told = who.replace(report=mw.Report((mw.ReportLine("info", "", "x"),)), source="a.glb")
    assert told == who and hash(told) == hash(who) and told.report != who.report
    level = mw.Level(who.meshes, who.lod)
    assert mw.Level(who.meshes, who.lod, told.report) == level


def test_tracks_are_compared_and_not_what_lies_beside_them():
    bones = mw.Skeleton(("a", "b"), [-1, 0])
    both = [mw.Track(j, "scale", [0, 1], np.full((2, 3), j + 1)) for j in range(2)]
    packed = mw.Clip("c", bones, both).tracks
    first = mw.Tracks(packed.table[:1], packed.times, packed.values)
    assert first == mw.Clip("c", bones, both[:1]).tracks != packed


numbers = arrays(
    st.sampled_from([np.float32, np.int32, np.uint8, np.float64]),
    array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=2),
)


def nested(inner):
    few = st.lists(inner, max_size=2)
    return few | few.map(tuple) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)


values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.floats() | st.sampled_from(["", "a"]) | numbers,
    nested,
    max_leaves=4,
)


@given(values, values)
def test_fields_of_any_kind_compare(a, b):
    assert type(same(a, b)) is bool and same(a, b) == same(b, a)
    assert same(a, copy.deepcopy(a))


def test_a_number_anywhere_makes_another_material():
    kept = {"KHR_materials_ior": {"ior": 1.5, "list": [1, [2, 3]]}}
    changed = copy.deepcopy(kept)
    changed["KHR_materials_ior"]["list"][1][1] = 4
    one = mw.Material(extensions=kept)
    assert one == mw.Material(extensions=copy.deepcopy(kept)) != mw.Material(extensions=changed)
    assert replace(one, roughness=0.5) != one
