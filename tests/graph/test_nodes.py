"""Every node, on characters small enough to know the answer."""

import numpy as np
import pytest
from worlds import BONES, character, place, ramp, still

import marrow as mw
from marrow.graph import (
    Additive,
    Blend,
    BlendSpace1D,
    BlendSpace2D,
    ClipNode,
    Graph,
    LayerBlend,
    Parameter,
    PoseNode,
    Speed,
    Switch,
)
from marrow.math import quaternion

STICK = character(
    still("zero", 0.0), still("one", 1.0, 40.0, 1.0), still("two", 2.0), still("ten", 10.0), ramp("up", 0, 1),
    ramp("slow", 0, 4, 4.0), mw.additive(still("plus", 3.0, 20.0, 0.5), still("zero")),
)  # fmt: skip
X = {"x": Parameter(), "y": Parameter()}


def run(root, dt=0.0, parameters=X, **values):
    animator = mw.Animator(STICK, Graph(root, parameters))
    for name, value in values.items():
        animator[name] = value
    animator.update(dt)
    return animator


def test_clip_plays_from_its_start_at_its_rate_and_loops():
    assert place(run(ClipNode("up", start=0.5), 0.25)) == pytest.approx(0.75)
    assert place(run(ClipNode("up", speed=0.5), 0.5)) == pytest.approx(0.25)
    assert place(run(ClipNode("up"), 3.25)) == pytest.approx(0.25)
    assert place(run(ClipNode("up", loop=False), 3.25)) == pytest.approx(1.0)
    assert place(run(ClipNode("up", speed="x"), 0.25, x=-1.0)) == pytest.approx(0.75)


def test_a_name_is_a_clip():
    assert place(run("up", 0.25)) == pytest.approx(0.25)


def test_pose_node_stands_still():
    np.testing.assert_array_equal(run(PoseNode(), 1.0).pose.translation, BONES.rest.translation)
    assert place(run(PoseNode("up", 0.5), 0.3)) == pytest.approx(0.5)


def test_blend_of_two_and_of_many():
    assert place(run(Blend(("zero", "ten"), ("x",)), x=0.3)) == pytest.approx(3.0)
    assert place(run(Blend(("zero", "two", "ten"), (1.0, "x", "y")), x=1.0, y=2.0)) == pytest.approx(22 / 4)
    assert place(run(Blend(("one", "ten"), ("x", "y")), x=0.0, y=0.0)) == pytest.approx(1.0), (
        "all zero: the first"
    )
    assert place(run(Blend(("one", "ten"), ("x", "y")), x=-5.0, y=2.0)) == pytest.approx(10.0), (
        "negative counts as zero"
    )


def test_nested_blends_are_one_sum():
    inner = Blend(("two", "ten"), (0.5,))
    assert place(run(Blend(("zero", inner), ("x",)), x=0.5)) == pytest.approx(3.0)
    assert len(run(Blend(("zero", inner), ("x",)), x=0.5).evaluation.program.operations(0)) == 3


def test_a_layer_inside_a_blend_is_a_pose_of_its_own():
    layered = LayerBlend("two", "ten", joints=("spine",))
    animator = run(Blend((layered, "zero", layered), (1.0, 2.0, 1.0)))
    assert place(animator, 1) == pytest.approx(1.0) and place(animator, 4) == pytest.approx(5.0)


def test_blend_space_1d_is_exact_at_points_linear_between_and_held_outside():
    root = BlendSpace1D.of("x", {2.0: "ten", 0.0: "zero", 1.0: "two"})
    for x, expected in ((-3, 0), (0, 0), (0.25, 0.5), (1, 2), (1.5, 6), (2, 10), (7, 10)):
        assert place(run(root, x=x)) == pytest.approx(expected), x


def test_blend_space_2d_by_hand():
    root = BlendSpace2D.of("x", "y", {(0, 0): "zero", (1, 0): "one", (0, 1): "ten"})
    for x, y, expected in (
        (0, 0, 0),
        (1, 0, 1),
        (0, 1, 10),
        (0.25, 0.5, 5.25),
        (-1, 0.5, 5),
        (2, -1, 1),
        (1, 1, 5.5),
    ):
        assert place(run(root, x=x, y=y)) == pytest.approx(expected, abs=1e-5), (x, y)


def test_layer_keeps_lower_body_of_base_and_takes_upper_body_of_overlay():
    base, over = STICK.clips["one"].sample(0.0), STICK.clips["two"].sample(0.0)
    pose = run(LayerBlend("one", "two", joints=("spine",))).pose
    for j, name in enumerate(BONES.names):
        expected = over if name in ("spine", "arm", "hand") else base
        np.testing.assert_array_equal(pose.translation[j], expected.translation[j])
        np.testing.assert_allclose(pose.rotation[j], expected.rotation[j], atol=1e-6)
    alone = run("one").pose
    lower = [j for j, n in enumerate(BONES.names) if n in ("root", "hips", "leg")]
    np.testing.assert_array_equal(pose.rotation[lower], alone.rotation[lower])
    np.testing.assert_array_equal(pose.morphs, alone.morphs)


def test_layer_falloff_mask_weight_and_morphs():
    root = LayerBlend("zero", "ten", joints=("spine",), depth_falloff=1.0, mask={"hand": 0.2}, weight="x")
    animator = run(root, x=0.5)
    assert [place(animator, j) for j in range(6)] == pytest.approx([0, 0, 0, 2.5, 5, 1.0])
    smiling = run(LayerBlend("zero", "one", joints=("hand",), morphs=("smile",)))
    assert smiling.pose.morphs[0] == pytest.approx(1.0)


def test_layer_of_rotations_cannot_stretch():
    pose = run(LayerBlend("zero", "one", joints=("spine",), channels=("rotation",))).pose
    np.testing.assert_array_equal(pose.translation, STICK.clips["zero"].sample(0).translation)
    np.testing.assert_allclose(pose.rotation[3], STICK.clips["one"].sample(0).rotation[3], atol=1e-6)


def test_layer_in_model_space_faces_as_the_overlay_faces():
    animator = run(LayerBlend("zero", "one", joints=("spine",), space="model"))
    turns = quaternion.from_matrix(animator.model_matrices[..., :3])
    overlay = quaternion.from_matrix(BONES.to_model(STICK.clips["one"].sample(0.0))[..., :3])
    for j in (3, 4, 5):
        assert quaternion.angle(turns[j], overlay[j]) < 1e-5
    for j in (0, 1, 2):
        assert quaternion.angle(turns[j], np.array([0, 0, 0, 1.0])) < 1e-6


def test_additive_adds_by_weight():
    pose = run(Additive("one", "plus", weight="x"), x=1.0).pose
    assert pose.translation[4, 0] == pytest.approx(4.0)
    assert np.degrees(quaternion.angle(pose.rotation[4], np.array([0, 0, 0, 1.0]))) == pytest.approx(
        60, abs=1e-3
    )
    assert pose.morphs[0] == pytest.approx(1.5)
    assert place(run(Additive("one", "plus", weight="x"), x=0.5)) == pytest.approx(2.5)
    assert place(run(Additive("one", "plus", joints=("spine",), weight="x"), x=1.0)) == pytest.approx(1.0)


def test_switch_picks_and_fades():
    root = Switch("x", ("zero", "ten"), seconds=0.5, ease="linear")
    animator = run(root, x=0.0)
    assert place(animator) == 0
    animator["x"] = 1.0
    animator.update(0.1)
    assert place(animator) == pytest.approx(2.0)
    animator.update(1.0)
    assert place(animator) == pytest.approx(10.0)
    assert place(run(root, x=99.0)) == pytest.approx(10.0)


def test_speed_scales_everything_below():
    assert place(run(Speed(Blend(("up", "up"), (0.5,)), "x"), 0.25, x=2.0)) == pytest.approx(0.5)


def test_parameters_are_smoothed_and_kept_in_range():
    parameters = {"x": Parameter(smoothing=0.5, range=(0.0, 1.0))}
    animator = mw.Animator(STICK, Graph(Blend(("zero", "ten"), ("x",)), parameters))
    animator.update(0.1)
    animator["x"] = 7.0
    animator.update(0.5)
    assert place(animator) == pytest.approx(10 * (1 - np.exp(-3)), rel=1e-5), "95 % of the way"
    fine = mw.Animator(STICK, Graph(Blend(("zero", "ten"), ("x",)), parameters))
    fine.update(0.1)
    fine["x"] = 7.0
    for _ in range(50):
        fine.update(0.01)
    assert place(fine) == pytest.approx(float(place(animator)), rel=1e-5), "whatever the frame rate"


def test_additive_difference_and_reference_give_the_clip_back():
    rng = np.random.default_rng(0)
    q = quaternion.normalize(rng.normal(size=(5, 4)))
    clip = mw.Clip(
        "wild",
        BONES,
        [
            mw.Track(3, "rotation", np.arange(5) / 4, q),
            mw.Track(1, "translation", [0, 1], rng.normal(size=(2, 3))),
        ],
    )
    base = mw.Pose(
        BONES.rest.translation,
        quaternion.normalize(rng.normal(size=(6, 4))).astype(np.float32),
        BONES.rest.scale,
        BONES.rest.morphs,
    )
    delta = mw.additive(clip, base, rate=240).sample(0.6)
    expected = clip.sample(0.6)
    np.testing.assert_allclose(base.translation + delta.translation, expected.translation, atol=1e-5)
    assert (
        quaternion.angle(quaternion.multiply(base.rotation, delta.rotation), expected.rotation).max() < 2e-3
    )
