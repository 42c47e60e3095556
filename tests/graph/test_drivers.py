"""`PoseDriver` and `CombineMorphs`: examples come out as they were given, between them as SciPy has it."""

import numpy as np
import pytest
from scipy.interpolate import RBFInterpolator

import marrow as mw
from marrow.errors import MarrowError
from marrow.graph import (
    CombineMorphs,
    DriverExample,
    Graph,
    Parameter,
    PoseDriver,
    PoseNode,
    load_graph,
    save_graph,
)
from marrow.math import quaternion

BONES = mw.Skeleton(
    ("root", "arm", "hand", "helper"),
    [-1, 0, 1, 0],
    mw.Pose(
        np.float32([[0, 0, 0], [0, 1, 0], [0.5, 0, 0], [0.1, 1, 0]]),
        np.float32([[0, 0, 0, 1]] * 4),
        np.ones((4, 3), np.float32),
    ),
    morph_names=("bulge", "crease", "both"),
)
X = np.array([1.0, 0, 0])


def about(axis, degrees):
    return quaternion.from_axis_angle(np.asarray(axis, float), np.radians(degrees)).astype(np.float32)


def posed(arm, helper=(0, 0, 0, 1), place=None):
    rotation = np.float32([[0, 0, 0, 1]] * 4)
    rotation[1], rotation[3] = arm, helper
    translation = BONES.rest.translation.copy()
    if place is not None:
        translation[3] = place
    return mw.Pose(translation, rotation, np.ones((4, 3), np.float32), np.zeros(3, np.float32))


def held(rotations):
    """A clip with one pose a second."""
    times = np.arange(len(rotations), dtype=float)
    return mw.Clip("turn", BONES, [mw.Track(1, "rotation", times, rotations)], max(times[-1], 1.0))


def driven(driver, rotations, second=None):
    """The morphs and the pose at each of the rotations of the arm."""
    tracks = [mw.Track(1, "rotation", np.arange(len(rotations)), rotations)]
    if second is not None:
        tracks.append(mw.Track(2, "rotation", np.arange(len(rotations)), second))
    clip = mw.Clip("turn", BONES, tracks, max(len(rotations) - 1, 1))
    node = driver.replace(source=PoseNode("turn", "t"))
    a = mw.Animator(mw.Character(BONES, clips=[clip]), Graph(node, {"t": Parameter()}), count=len(rotations))
    a["t"] = np.arange(len(rotations))
    a.update(0.0)
    return a.pose


def twists(degrees):
    return np.stack([about(X, d) for d in degrees])


@pytest.mark.parametrize("kernel", ["gaussian", "thin_plate"])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_twist_is_what_scipy_makes_of_points_on_a_circle(kernel, smoothing):
    at, bulge = [-60, 0, 45, 100], [0.2, 0.0, 0.7, 1.0]
    driver = PoseDriver.from_examples(
        "turn", BONES, [posed(q) for q in twists(at)], {"bulge": bulge}, joints="arm", measure="twist", kernel=kernel,
        radius=0.8, regularization=smoothing, clamp=False,
    )  # fmt: skip
    tried = np.linspace(-80, 120, 23)

    def circle(degrees):
        return np.stack([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))], axis=-1) / 0.8

    names = {"gaussian": "gaussian", "thin_plate": "thin_plate_spline"}
    scipy = RBFInterpolator(
        circle(at), np.array(bulge), kernel=names[kernel], epsilon=1.0, degree=-1,
        smoothing=smoothing,
    )  # fmt: skip
    found = driven(driver, twists(tried)).morphs[:, 0]
    np.testing.assert_allclose(found, scipy(circle(tried)), atol=2e-5)


def test_several_joints_add_their_squares():
    rng = np.random.default_rng(3)
    arm, hand = rng.uniform(-90, 90, (2, 6))
    values = rng.random(6)
    examples = tuple(
        DriverExample({"arm": tuple(about(X, a)), "hand": tuple(about(X, h))}, {"crease": v})
        for a, h, v in zip(arm, hand, values)
    )
    driver = PoseDriver("turn", ("arm", "hand"), examples, "twist", radius=1.1, axis=(1, 0, 0), clamp=False)
    a, h = rng.uniform(-90, 90, (2, 20))

    def places(a, h):
        a, h = np.radians(a), np.radians(h)
        return np.stack([np.cos(a), np.sin(a), np.cos(h), np.sin(h)], axis=-1)

    scipy = RBFInterpolator(places(arm, hand), values, kernel="gaussian", epsilon=1 / 1.1, degree=-1)
    found = driven(driver, twists(a), twists(h)).morphs[:, 1]
    np.testing.assert_allclose(found, scipy(places(a, h)), atol=1e-4)


def test_swing_knows_no_twist_and_twist_no_swing():
    lift = about([0, 0, 1], 70)
    turned = quaternion.multiply(lift, about(X, 50)).astype(np.float32)
    for measure, same in (("swing", lift), ("twist", about(X, 50))):
        driver = PoseDriver.from_examples(
            "turn", BONES, [posed((0, 0, 0, 1)), posed(same)], {"bulge": [0, 1]}, joints="arm", measure=measure, radius=0.5
        )  # fmt: skip
        found = driven(driver, np.stack([turned, np.float32([0, 0, 0, 1])])).morphs[:, 0]
        np.testing.assert_allclose(found, [1, 0], atol=1e-4)


def test_a_helper_goes_where_the_poses_have_it():
    up = about([0, 0, 1], 80)
    helper, place = about([0, 1, 0], 30), np.float32([0.3, 1.2, -0.1])
    driver = PoseDriver.from_examples(
        "turn", BONES, [posed((0, 0, 0, 1)), posed(up, helper, place)], joints="arm", helpers="helper"
    )
    pose = driven(driver, np.stack([np.float32([0, 0, 0, 1]), up, -up]))
    np.testing.assert_allclose(pose.translation[:, 3], [BONES.rest.translation[3], place, place], atol=1e-5)
    assert quaternion.angle(pose.rotation[1:, 3], helper).max() < 1e-3
    assert quaternion.angle(pose.rotation[0, 3], np.array([0, 0, 0, 1.0])) < 1e-4


def test_far_from_all_examples_a_gaussian_fades_and_a_normalized_one_holds():
    examples = {"joints": "arm", "radius": 0.3}
    poses, values = [posed(about([0, 0, 1], d)) for d in (0, 20)], {"bulge": [0.5, 1.0]}
    far = np.stack([about([0, 0, 1], 170)])
    faded = PoseDriver.from_examples("turn", BONES, poses, values, **examples)
    assert driven(faded, far).morphs[0, 0] == pytest.approx(0, abs=1e-4)
    held = PoseDriver.from_examples("turn", BONES, poses, values, normalized=True, **examples)
    assert driven(held, far).morphs[0, 0] == pytest.approx(1.0, abs=1e-3)


def test_what_comes_out_stays_within_what_examples_say():
    rng = np.random.default_rng(5)
    turns = quaternion.normalize(rng.normal(size=(12, 4))).astype(np.float32)
    values = rng.random(12)
    driver = PoseDriver.from_examples(
        "turn", BONES, [posed(q) for q in turns], {"bulge": values}, joints="arm"
    )
    tried = quaternion.normalize(rng.normal(size=(200, 4))).astype(np.float32)
    found = driven(driver, np.concatenate([turns, tried])).morphs[:, 0]
    np.testing.assert_allclose(found[:12], values, atol=1e-4)
    assert found.min() >= 0 and found.max() <= values.max() + 1e-6
    assert driven(driver.replace(clamp=False, radius=2.0), tried).morphs[:, 0].min() < 0


def test_a_driver_is_kept_in_a_file(tmp_path):
    driver = PoseDriver.from_examples(
        "turn", BONES, [posed(q) for q in twists([0, 90])], [{"bulge": 0.0}, {"bulge": 1.0}], joints=("arm",)
    )
    save_graph(Graph(driver), tmp_path / "g.json")
    assert load_graph(tmp_path / "g.json").root == driver


def test_a_crowd_has_the_bits_of_its_singles():
    turns = quaternion.normalize(np.random.default_rng(1).normal(size=(40, 4))).astype(np.float32)
    driver = PoseDriver.from_examples(
        "turn",
        BONES,
        [posed(q) for q in turns[:8]],
        {"bulge": np.arange(8.0)},
        joints="arm",
        helpers="helper",
    )
    character = mw.Character(BONES, clips=[held(turns)])
    graph = Graph(driver.replace(source=PoseNode("turn", "t")), {"t": Parameter()})
    crowd = mw.Animator(character, graph, count=40)
    crowd["t"] = np.arange(40)
    crowd.update(0.0)
    for n in (0, 7, 39):
        alone = mw.Animator(character, graph)
        alone["t"] = n
        alone.update(0.0)
        assert np.array_equal(alone.pose.morphs, crowd.pose.morphs[n])
        assert np.array_equal(alone.pose.rotation, crowd.pose.rotation[n])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"examples": ()}, "expected 1 to"),
        ({"radius": 0.0}, "radius"),
        ({"regularization": -1.0}, "regularization"),
        ({"kernel": "thin_plate", "normalized": True}, "thin plates"),
        ({"joints": ()}, "at least one"),
        ({"joints": ("nobody",)}, "nobody"),
        ({"examples": (DriverExample({"hand": (0, 0, 0, 1)}, {"bulge": 1.0}),)}, "'arm' is missing"),
        ({"examples": (DriverExample({"arm": (0, 0, 0, 0)}, {"bulge": 1.0}),)}, "expected a quaternion"),
        ({"examples": (DriverExample({"arm": (0, 0, 0, 1)}, {"nose": 1.0}),)}, "nose"),
        ({"examples": (DriverExample({"arm": (0, 0, 0, 1)}),)}, "what is to follow"),
        ({"examples": (DriverExample({"arm": (0, 0, 0, 1)}, {"bulge": float("nan")}),)}, "finite"),
        ({"examples": (DriverExample({"arm": (0, 0, 0, 1)}, {"bulge": 1.0}),) * 2}, "0 and 1 are the same"),
        ({"measure": "swing", "joints": ("helper",), "examples": (DriverExample({"helper": (0, 0, 0, 1)}, {"bulge": 1}),),
              "axis": (0, 0, 0)}, "axis"),
    ],
)  # fmt: skip
def test_wrong_drivers_are_told(change, said):
    good = PoseDriver("turn", ("arm",), (DriverExample({"arm": (0, 0, 0, 1)}, {"bulge": 1.0}),))
    with pytest.raises(MarrowError) as error:
        driven(good.replace(**change), twists([0, 1]))
    assert said in str(error.value)


def morphed(node, smile, frown):
    tracks = [mw.Track(0, "morph", [0, 1], [smile] * 2), mw.Track(1, "morph", [0, 1], [frown] * 2)]
    a = mw.Animator(mw.Character(BONES, clips=[mw.Clip("face", BONES, tracks)]), Graph(node))
    a.update(0.1)
    return a.pose.morphs.tolist()


@pytest.mark.parametrize(
    ("settings", "value"),
    [
        ({}, 0.125), ({"combine": "min"}, 0.25), ({"combine": "max"}, 0.5), ({"combine": "sum"}, 0.75),
        ({"combine": "mean"}, 0.375), ({"weight": 0.5}, 0.0625),
        ({"combine": "max", "curve": ((0.25, 0.0), (0.75, 2.0), (1.0, 0.0))}, 1.0),
        ({"combine": "min", "curve": ((0.5, 0.0), (1.0, 1.0))}, 0.0),
    ],
)  # fmt: skip
def test_morphs_combine(settings, value):
    node = CombineMorphs("face", "both", ("bulge", "crease"), **settings)
    np.testing.assert_allclose(morphed(node, 0.25, 0.5), [0.25, 0.5, value], atol=1e-6)


def test_modes_of_a_combined_morph():
    for mode, value in (("set", 0.5), ("add", 0.75), ("multiply", 0.125)):
        node = CombineMorphs("face", "bulge", "crease", mode=mode)
        assert morphed(node, 0.25, 0.5)[0] == pytest.approx(value, abs=1e-6)
    for wrong, said in (
        ({"inputs": ()}, "at least one"),
        ({"morph": "nose"}, "nose"),
        ({"curve": ((0, 1),)}, "points"),
    ):
        with pytest.raises(MarrowError) as error:
            morphed(CombineMorphs("face", "both", ("bulge",)).replace(**wrong), 0, 0)
        assert said in str(error.value)
