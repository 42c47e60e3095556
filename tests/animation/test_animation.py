"""Sampling, resampling, kinematics: against hand-computed numbers and the float64 reference."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import marrow as mw
from builders import pose, rotations, skeleton
from marrow.errors import ValidationError
from marrow.kernels import reference
from marrow.math import affine, quaternion, transform

ARM = mw.Skeleton(
    ("upper", "lower"), [-1, 0], mw.Pose([[0, 0, 0], [1, 0, 0]], [[0, 0, 0, 1]] * 2, np.ones((2, 3)))
)


def clip(*tracks, **options):
    return mw.Clip("test", ARM, tracks, **options)


class TestSampling:
    def test_linear_holds_outside_and_interpolates_inside(self):
        c = clip(mw.Track(1, "translation", [1, 3], [[0, 0, 0], [4, 8, 2]]))
        got = c.sample([-1, 0, 1, 2, 2.5, 3, 9]).translation[:, 1]
        np.testing.assert_allclose(got, [[0, 0, 0]] * 3 + [[2, 4, 1], [3, 6, 1.5], [4, 8, 2], [4, 8, 2]])

    def test_joints_without_tracks_keep_the_rest_pose(self):
        p = clip(mw.Track(1, "rotation", [0], [[0, 0, 1, 0]])).sample(0.3)
        assert (
            p.batch_shape == ()
            and p.translation[1].tolist() == [1, 0, 0]
            and p.rotation[0].tolist() == [0, 0, 0, 1]
        )

    def test_times_of_any_shape(self):
        c = clip(mw.Track(0, "scale", [0, 1], [[1, 1, 1], [3, 3, 3]]))
        assert c.sample(np.zeros((2, 5))).scale.shape == (2, 5, 2, 3)
        assert c.sample(1).scale.shape == (2, 3)

    def test_loop_wraps(self):
        c = clip(mw.Track(0, "translation", [0, 2], [[0, 0, 0], [2, 0, 0]]))
        np.testing.assert_allclose(
            c.sample([-0.5, 0.5, 2.5, 4.25], loop=True).translation[:, 0, 0], [1.5, 0.5, 0.5, 0.25]
        )

    def test_step_holds_until_the_next_key(self):
        c = clip(mw.Track(0, "translation", [0, 1, 2], [[0, 0, 0], [1, 0, 0], [2, 0, 0]], "step"))
        assert c.sample([0, 0.99, 1, 1.5, 2, 3]).translation[:, 0, 0].tolist() == [0, 0, 1, 1, 2, 2]

    def test_rotation_turns_at_constant_speed_the_short_way(self):
        turn = quaternion.from_axis_angle([0.0, 0, 1], 1.0)
        for sign in (1, -1):
            c = clip(mw.Track(0, "rotation", [0, 1], [[0, 0, 0, 1], sign * turn]))
            got = c.sample([0.25, 0.5, 0.75]).rotation[:, 0].astype(float)
            np.testing.assert_allclose(quaternion.angle([0, 0, 0, 1.0], got), [0.25, 0.5, 0.75], atol=1e-6)

    def test_keys_of_any_length_are_made_unit(self):
        c = clip(mw.Track(0, "rotation", [0, 1], [[0, 0, 0, 2], [0, 0, 3, 3]]))
        np.testing.assert_allclose(np.linalg.norm(c.sample([0, 0.5, 1]).rotation[:, 0], axis=1), 1, atol=1e-6)
        zero = clip(mw.Track(0, "rotation", [0], [[0, 0, 0, 0]]))
        assert zero.sample(0).rotation[0].tolist() == [0, 0, 0, 1]

    def test_cubic_is_the_hermite_spline_of_gltf(self):
        # One interval of two seconds: p(u) with m0 = 2 * out-tangent, m1 = 2 * in-tangent.
        values = np.zeros((2, 3, 3))
        values[0, 1], values[0, 2] = [1, 0, 0], [0.5, 0, 0]
        values[1, 0], values[1, 1] = [-1, 0, 0], [3, 0, 0]
        c = clip(mw.Track(0, "translation", [0, 2], values, "cubic"))
        u = 0.25
        h = (2 * u**3 - 3 * u**2 + 1, u**3 - 2 * u**2 + u, -2 * u**3 + 3 * u**2, u**3 - u**2)
        expected = h[0] * 1 + h[1] * 2 * 0.5 + h[2] * 3 + h[3] * 2 * -1
        assert c.sample(0.5).translation[0, 0] == pytest.approx(expected, abs=1e-6)
        assert c.sample([0, 2]).translation[:, 0, 0].tolist() == [1, 3]

    def test_morph_tracks(self):
        bones = mw.Skeleton(("a",), [-1], morph_names=("smile", "blink"))
        c = mw.Clip("c", bones, [mw.Track(1, "morph", [0, 1], [0.0, 1.0])])
        np.testing.assert_allclose(c.sample([0.25, 0.5]).morphs, [[0, 0.25], [0, 0.5]])

    def test_no_tracks_no_keys_no_duration(self):
        empty = mw.Clip("empty", ARM)
        assert empty.duration == 0
        np.testing.assert_array_equal(empty.sample([0, 5], loop=True).translation[1], ARM.rest.translation)
        assert empty.sample([]).batch_shape == (0,)

    def test_nan_time_gives_nan_and_nonsense_an_error(self):
        c = clip(mw.Track(0, "translation", [0, 1], np.ones((2, 3))))
        assert np.isnan(c.sample(np.nan).translation[0]).all()
        with pytest.raises(ValidationError, match="expected a time in seconds"):
            c.sample("noon")

    def test_two_keys_at_one_time_take_the_later(self):
        c = clip(mw.Track(0, "translation", [0, 1, 1, 2], [[0, 0, 0], [1, 0, 0], [5, 0, 0], [6, 0, 0]]))
        np.testing.assert_allclose(c.sample([0.5, 1, 1.5]).translation[:, 0, 0], [0.5, 5, 5.5])

    @settings(max_examples=40, deadline=None)
    @given(st.integers(0, 10**6))
    def test_kernel_matches_the_reference(self, seed):
        rng = np.random.default_rng(seed)
        bones = skeleton(rng, 5, 2)
        tracks = []
        for joint in range(5):
            for path, width in (("translation", 3), ("rotation", 4), ("scale", 3)):
                T = int(rng.integers(1, 6))
                kind = ("step", "linear", "cubic")[rng.integers(3)]
                values = rng.normal(size=(T, 3, width) if kind == "cubic" else (T, width))
                tracks.append(mw.Track(joint, path, np.sort(rng.uniform(0, 2, T)), values, kind))
        tracks.append(mw.Track(1, "morph", [0.5, 1], rng.random(2)))
        c = mw.Clip("c", bones, tracks)
        times = rng.uniform(-0.5, 2.5, 30)
        got = c.sample(times)
        rest = bones.rest
        want = reference.sample_tracks(
            c.tracks.table, c.tracks.times, c.tracks.values,
            (rest.translation, rest.rotation, rest.scale, rest.morphs), times,
        )  # fmt: skip
        for a, b in zip((got.translation, got.scale, got.morphs), (want[0], want[2], want[3])):
            np.testing.assert_allclose(a, b, atol=2e-5)
        assert quaternion.angle(got.rotation.astype(float), want[1]).max() < 2e-3


class TestResampling:
    def test_keyed_clip_is_exact_at_its_own_rate(self):
        times = np.arange(31) / 30
        c = clip(mw.Track(1, "translation", times, np.random.default_rng(0).normal(size=(31, 3))))
        assert c.key_rate == 30
        frames = c.resampled()
        assert frames.frame_count == 31 and frames.rate == pytest.approx(30)
        assert frames.error.metres < 1e-5 and frames.error.radians < 1e-5
        np.testing.assert_allclose(frames.sample(0.35).translation, c.sample(0.35).translation, atol=1e-5)

    def test_coarse_frames_say_what_they_cost(self):
        c = clip(
            mw.Track(0, "translation", [0, 0.5, 1], [[0, 0, 0], [1, 0, 0], [0, 0, 0]]),
            mw.Track(1, "rotation", [0, 0.5, 1], [[0, 0, 0, 1], [0, 0, 0.6, 0.8], [0, 0, 0, 1]]),
        )
        coarse = c.resampled(1)
        assert coarse.frame_count == 2
        assert coarse.error.metres == pytest.approx(1, abs=1e-3)
        assert coarse.error.radians == pytest.approx(2 * np.arcsin(0.6), abs=1e-3)
        assert c.resampled(120).error.metres < 0.01

    def test_frames_interpolate_and_wrap(self):
        c = clip(mw.Track(0, "translation", [0, 1], [[0, 0, 0], [1, 0, 0]]))
        np.testing.assert_allclose(
            c.resampled(2).sample([0.25, 1.25], loop=True).translation[:, 0, 0], [0.25, 0.25]
        )

    def test_neighbouring_rotations_share_a_sign(self):
        q = quaternion.from_axis_angle(np.array([0.0, 0, 1]), np.linspace(0, 6, 61))
        q[20:40] *= -1
        frames = clip(mw.Track(0, "rotation", np.linspace(0, 2, 61), q)).resampled()
        r = frames.rows[:, : 10 * 16].reshape(-1, 10, 16)[:, 3:7, 0]
        assert ((r[1:] * r[:-1]).sum(axis=1) > 0).all()

    def test_a_still_clip_is_one_frame(self):
        frames = clip(mw.Track(0, "translation", [0], [[1, 2, 3]])).resampled()
        assert frames.frame_count == 1
        assert frames.sample([0.0, 3.0], loop=True).translation[1, 0].tolist() == [1, 2, 3]

    def test_bad_rates(self):
        with pytest.raises(ValidationError, match="rate: expected more than 0"):
            clip().resampled(0)
        with pytest.raises(ValidationError, match=r"frames of .* joints.*ask for fewer"):
            clip(duration=1e6).resampled(60)

    def test_uneven_keys_have_no_rate(self):
        assert clip(mw.Track(0, "scale", [0, 0.1, 0.77], np.ones((3, 3)))).key_rate is None


class TestKinematics:
    def test_child_follows_parent(self):
        quarter = quaternion.from_axis_angle([0.0, 0, 1], np.pi / 2)
        posed = ARM.rest.replace(rotation=np.stack([quarter, [0, 0, 0, 1]]))
        np.testing.assert_allclose(ARM.to_model(posed)[1, :, 3], [0, 1, 0], atol=1e-6)

    def test_non_uniform_scale_above_a_rotation_shears(self):
        eighth = quaternion.from_axis_angle([0.0, 0, 1], np.pi / 4)
        posed = mw.Pose(np.zeros((2, 3)), np.stack([[0, 0, 0, 1], eighth]), [[2, 1, 1], [1, 1, 1]])
        c = np.sqrt(0.5)
        np.testing.assert_allclose(ARM.to_model(posed)[1, :2, :2], [[2 * c, -2 * c], [c, c]], atol=1e-6)

    @settings(max_examples=30, deadline=None)
    @given(st.integers(0, 10**6), st.integers(1, 40))
    def test_kernel_matches_the_reference(self, seed, joints):
        rng = np.random.default_rng(seed)
        bones = skeleton(rng, joints)
        p = pose(rng, bones, (3,), rng.uniform(-1.5, 1.5, (3, joints, 3)))
        want = reference.to_model(
            bones.parents, *(np.asarray(a, np.float64) for a in (p.translation, p.rotation, p.scale))
        )
        np.testing.assert_allclose(bones.to_model(p), want, atol=1e-5 * (1 + np.abs(want).max()))

    def test_updating_from_a_joint_down_equals_the_whole(self):
        rng = np.random.default_rng(5)
        bones = skeleton(rng, 20)
        before, after = pose(rng, bones, (2,)), pose(rng, bones, (2,))
        below = bones.descendants(3)
        mixed = before.copy()
        mixed.rotation[:, below] = after.rotation[:, below]
        model = bones.to_model(before)
        bones.to_model(mixed, from_joint=3, out=model)
        np.testing.assert_array_equal(model, bones.to_model(mixed))
        with pytest.raises(ValidationError, match="out=, which is missing"):
            bones.to_model(mixed, from_joint=3)

    def test_out_is_checked(self):
        with pytest.raises(ValidationError, match=r"out: expected a float32 array of shape \(2, 3, 4\)"):
            ARM.to_model(ARM.rest, out=np.zeros((2, 3, 4)))
        with pytest.raises(ValidationError, match="C-contiguous"):
            ARM.to_model(ARM.rest, out=np.zeros((2, 3, 8), np.float32)[:, :, ::2])
        with pytest.raises(ValidationError, match="expected a Pose"):
            ARM.to_model(np.zeros((2, 3)))

    def test_model_matrices_decompose_to_the_pose_without_shear(self):
        rng = np.random.default_rng(0)
        bones = mw.Skeleton(("a", "b"), [-1, -1])
        p = mw.Pose(rng.normal(size=(2, 3)), rotations(rng, (2,)), rng.uniform(0.5, 2, (2, 3)))
        t, r, s = transform.decompose(bones.to_model(p))
        np.testing.assert_allclose(t, p.translation, atol=1e-6)
        np.testing.assert_allclose(s, p.scale, atol=1e-5)
        assert quaternion.angle(r.astype(float), p.rotation).max() < 2e-3

    def test_pose_comes_back_from_model_space(self):
        rng = np.random.default_rng(6)
        bones = skeleton(rng, 15)
        p = pose(rng, bones, (4,), rng.uniform(0.5, 2, (4, 15, 1)))  # uniform scale: no shear anywhere
        back = bones.from_model(bones.to_model(p))
        np.testing.assert_allclose(bones.to_model(back), bones.to_model(p), atol=1e-4)
        np.testing.assert_allclose(back.translation, p.translation, atol=1e-3)
        with pytest.raises(ValidationError, match=r"expected model matrices \(..., 15, 3, 4\)"):
            bones.from_model(np.zeros((2, 3, 4)))
        with pytest.raises(ValidationError, match="'lower' has no transform of its own"):
            ARM.from_model(np.zeros((2, 3, 4)))

    def test_skinning_matrices_are_model_times_inverse_bind(self):
        rng = np.random.default_rng(1)
        bones = skeleton(rng, 4)
        body = mw.Mesh.rigid(
            "b", np.zeros((1, 3)), np.zeros((0, 3), int), 2, inverse_bind=rng.normal(size=(1, 3, 4))
        )
        who = mw.Character(bones, (body,))
        model = bones.to_model(pose(rng, bones, (2,)))
        got = mw.skinning_matrices(who, model)
        np.testing.assert_allclose(got[:, 2], affine.multiply(model[:, 2], body.inverse_bind[0]), atol=1e-5)
        with pytest.raises(ValidationError, match="expected model matrices"):
            mw.skinning_matrices(who, np.zeros((3, 4)))


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10**6), st.sampled_from(["step", "linear", "cubic"]), st.sampled_from([7.0, 24.0, 60.0])
)
def test_the_error_of_resampling_is_the_largest_there_is(seed, interpolation, rate):
    """Looked for in two hundred places of every frame, with keys that fall anywhere between them."""
    rng = np.random.default_rng(seed)
    bones = skeleton(rng, 4)
    tracks = []
    for joint in range(4):
        T = int(rng.integers(2, 9))
        times = np.sort(rng.uniform(0, 1, T))
        turns = (
            np.stack([rotations(rng, (T,))] * 3, axis=1) if interpolation == "cubic" else rotations(rng, (T,))
        )
        tracks.append(mw.Track(joint, "rotation", times, turns, interpolation))
    clip = mw.Clip("c", bones, tracks, duration=1.0)
    frames = clip.resampled(rate)
    times = np.linspace(0, 1, int(200 * rate))
    exact, mine = clip.sample(times), frames.sample(times)
    apart = bones.to_model(exact)[..., 3] - bones.to_model(mine)[..., 3]
    metres = np.linalg.norm(apart, axis=-1).max()
    radians = quaternion.angle(exact.rotation.astype(float), mine.rotation.astype(float)).max()
    assert frames.error.metres >= 0.98 * metres - 1e-5
    assert frames.error.radians >= 0.98 * radians - 2e-3
