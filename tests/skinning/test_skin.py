"""Skinning: every kernel against the float64 reference, and what it must do whatever the input."""

import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import marrow as mw
from builders import character, mesh, pose, reference_surface, skeleton
from marrow.errors import ValidationError
from marrow.math import affine, quaternion
from marrow.skinning.layout import layout_of

METHODS = ("linear", "dual_quaternion")
SCALES = {
    "none": lambda rng, shape: np.ones(shape),
    "uniform": lambda rng, shape: np.broadcast_to(rng.uniform(0.5, 2, shape[:-1])[..., None], shape),
    "non-uniform": lambda rng, shape: rng.uniform(0.5, 2, shape),
    "mirrored": lambda rng, shape: rng.uniform(0.5, 2, shape) * np.where(rng.random(shape) < 0.3, -1, 1),
    "some zero": lambda rng, shape: (
        np.where(rng.random(shape[:-1])[..., None] < 0.2, 0.0, 1.0) * np.ones(shape)
    ),
}


def assert_matches(surface, expected, blended):
    positions, normals, tangents = expected
    size = 1 + np.abs(positions).max()
    np.testing.assert_allclose(surface.positions.reshape(positions.shape), positions, atol=3e-6 * size)
    # A direction is only as good as the matrix that carries it: nearly flat matrices lose digits.
    cofactor = affine.cofactor(blended)
    norm = np.linalg.norm(blended[..., :3], axis=(-2, -1)) ** 2
    strength = np.abs(np.linalg.det(cofactor)) ** (1 / 3) / np.maximum(norm, 1e-30)
    good = strength > 1e-2
    got_n, got_t = surface.normals.reshape(normals.shape), surface.tangents.reshape(tangents.shape)
    np.testing.assert_allclose(got_n[good], normals[good], atol=2e-3)
    np.testing.assert_allclose(got_t[good], tangents[good], atol=2e-3)
    assert np.abs(got_n[good] - normals[good]).mean() < 1e-5 if good.any() else True


@pytest.mark.parametrize("skinning", [*METHODS, "blended"])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    seed=st.integers(0, 10**6),
    influences=st.integers(1, 12),
    joints=st.integers(1, 20),
    vertices=st.integers(1, 80),
    morphs=st.integers(0, 3),
    scale=st.sampled_from(sorted(SCALES)),
    frames=st.integers(1, 4),
)
def test_kernels_match_the_reference(skinning, seed, influences, joints, vertices, morphs, scale, frames):
    share = np.random.default_rng(seed).random(vertices) if skinning == "blended" else None
    who = character(
        seed,
        joints=joints,
        morphs=morphs,
        vertices=vertices,
        influences=influences,
        dual_quaternion_weights=share,
    )
    rng = np.random.default_rng(seed + 1)
    if scale == "some zero" and skinning != "linear":
        scale = "non-uniform"  # what has no extent has no rotation either: nothing to compare
    posed = pose(rng, who.skeleton, (frames,), SCALES[scale](rng, (frames, joints, 3)))
    *expected, blended = reference_surface(who, posed, skinning)
    assert_matches(mw.skin(who, posed, skinning=skinning), expected, blended)


@pytest.mark.parametrize("skinning", METHODS)
def test_batch_equals_singles_bit_for_bit(skinning):
    who = character(3, vertices=100, morphs=2)
    batch = pose(np.random.default_rng(4), who.skeleton, (3, 2))
    together = mw.skin(who, batch, skinning=skinning)
    assert together.positions.shape == (3, 2, 100, 3) and together.tangents.shape == (3, 2, 100, 4)
    for i in np.ndindex(3, 2):
        alone = mw.skin(who, batch[i], skinning=skinning)
        np.testing.assert_array_equal(alone.positions, together.positions[i])
        np.testing.assert_array_equal(alone.normals, together.normals[i])
        np.testing.assert_array_equal(alone.tangents, together.tangents[i])


def test_rest_pose_at_bind_changes_nothing():
    who = character(5)
    surface = mw.skin(who, who.skeleton.rest)
    np.testing.assert_allclose(surface.positions, who.meshes[0].positions, atol=2e-6)
    np.testing.assert_allclose(surface.normals, who.meshes[0].normals, atol=2e-6)
    np.testing.assert_allclose(surface.tangents, who.meshes[0].tangents, atol=2e-6)


def twisted_tube(skinning):
    """A tube around x whose far end is turned by 150 degrees: radius of its middle ring after skinning."""
    bones = mw.Skeleton(("near", "far"), [-1, -1])
    ring = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    circle = np.stack([np.full(16, 0.5), np.cos(ring), np.sin(ring)], axis=1)
    tube = mw.Mesh(
        "tube", circle, np.zeros((0, 3), int), [[0, 1]] * 16, [[0.5, 0.5]] * 16, [0, 1], affine.identity((2,))
    )
    turn = quaternion.from_axis_angle([1.0, 0, 0], np.radians(150))
    posed = mw.Pose(np.zeros((2, 3)), np.stack([[0, 0, 0, 1], turn]), np.ones((2, 3)))
    return np.linalg.norm(
        mw.skin(mw.Character(bones, (tube,)), posed, skinning=skinning).positions[:, 1:], axis=1
    )


def test_dual_quaternion_keeps_the_volume_of_a_twist_that_linear_loses():
    np.testing.assert_allclose(twisted_tube("dual_quaternion"), 1, atol=1e-6)
    np.testing.assert_allclose(twisted_tube("linear"), np.cos(np.radians(75)), atol=1e-6)


def in_units(body, unit):
    """The same mesh with its vertices in other units; the inverse bind matrices bring them back."""
    binds = body.inverse_bind.copy()
    binds[..., :3] /= unit
    return body.replace(positions=body.positions * unit, inverse_bind=binds)


@pytest.mark.parametrize("skinning", [*METHODS, "blended"])
@pytest.mark.parametrize("unit", [0.01, 39.37, 100.0])
def test_the_units_of_a_mesh_do_not_matter(skinning, unit):
    who = character(3, vertices=80, dual_quaternion_weights=np.linspace(0, 1, 80))
    posed = pose(np.random.default_rng(1), who.skeleton, (3,))
    other = who.replace(meshes=(in_units(who.meshes[0], unit),))
    want, got = (mw.skin(one, posed, skinning=skinning) for one in (who, other))
    np.testing.assert_allclose(got.positions, want.positions, atol=2e-5)
    good = np.linalg.norm(got.normals - want.normals, axis=-1) < 1e-2
    assert good.mean() > 0.98  # where the blend is nearly flat a normal has few digits


@pytest.mark.parametrize("skinning", METHODS)
@pytest.mark.parametrize("size", [0.5, 3.0])
def test_a_character_scaled_as_a_whole_is_the_same_but_larger(skinning, size):
    who = character(4, vertices=80)
    posed = pose(np.random.default_rng(1), who.skeleton, (3,))
    matrices = mw.skinning_matrices(who, who.skeleton.to_model(posed))
    got = mw.skin(who, matrices * np.float32(size), skinning=skinning).positions
    np.testing.assert_allclose(got, size * mw.skin(who, posed, skinning=skinning).positions, atol=3e-5)


def test_blended_skinning_lies_between():
    who = character(6, vertices=40)
    share = np.linspace(0, 1, 40).astype(np.float32)
    body = who.meshes[0].replace(skinning="blended", dual_quaternion_weights=share)
    mixed = who.replace(meshes=(body,))
    posed = pose(np.random.default_rng(1), who.skeleton, (2,))
    linear, dual = (mw.skin(mixed, posed, skinning=m) for m in METHODS)
    got = mw.skin(mixed, posed)
    want = linear.positions * (1 - share[:, None]) + dual.positions * share[:, None]
    np.testing.assert_allclose(got.positions, want, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(got.normals, axis=-1), 1, atol=1e-5)
    np.testing.assert_array_equal(np.abs(got.tangents[..., 3]), 1)


@pytest.mark.parametrize("skinning", [*METHODS, "blended"])
@pytest.mark.parametrize("mirror", [1, -1])
def test_normals_and_tangents_follow_the_deformed_surface(skinning, mirror):
    """Finite differences on a curved patch under non-uniform (and mirrored) scale."""
    rng = np.random.default_rng(2)
    bones = skeleton(rng, 3)
    u, v = rng.uniform(-1, 1, (2, 30))

    def patch(u, v):
        return np.stack([u, v, 0.3 * np.sin(2 * u) * np.cos(v)], axis=1)

    h = 1e-3
    du, dv = (patch(u + h, v) - patch(u - h, v)) / (2 * h), (patch(u, v + h) - patch(u, v - h)) / (2 * h)
    normal = np.cross(du, dv)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    tangent = du / np.linalg.norm(du, axis=1, keepdims=True)
    weights = np.full((30, 3), 1 / 3)  # constant weights: the blended matrix does not vary over the patch
    args = {
        "joints": [[0, 1, 2]] * 30,
        "weights": mw.normalize_weights(weights)[0],
        "joint_list": [0, 1, 2],
        "inverse_bind": affine.invert(bones.rest_model),
        "dual_quaternion_weights": np.full(30, 0.4),
    }
    scale = rng.uniform(0.5, 2, (3, 3)) * [mirror, 1, 1]
    scale[1:, 0] *= mirror  # the root alone mirrors, all that follows is mirrored once
    posed = pose(rng, bones, (), scale)

    def carried(points, **more):
        return mw.skin(
            mw.Character(bones, (mw.Mesh("patch", points, np.zeros((0, 3), int), **args, **more),)),
            posed,
            skinning=skinning,
        )

    surface = carried(
        patch(u, v), normals=normal, tangents=np.concatenate([tangent, np.ones((30, 1))], axis=1)
    )
    along_u = carried(patch(u + h, v)).positions.astype(float) - carried(patch(u - h, v)).positions
    along_v = carried(patch(u, v + h)).positions.astype(float) - carried(patch(u, v - h)).positions
    facing = np.cross(along_u, along_v)
    facing /= np.linalg.norm(facing, axis=1, keepdims=True)
    # What was outside stays outside, whichever way the moved triangles wind.
    outside = carried(patch(u, v) + h * normal).positions.astype(float) - carried(patch(u, v)).positions
    wound = np.sign((facing * outside).sum(1, keepdims=True))
    assert (wound == mirror).all()
    np.testing.assert_allclose(surface.normals, facing * wound, atol=5e-3)
    t = surface.tangents
    np.testing.assert_allclose((t[:, :3] * surface.normals).sum(1), 0, atol=1e-5)
    assert ((t[:, :3] * along_u).sum(1) > 0).all()
    bitangent = np.cross(surface.normals, t[:, :3]) * t[:, 3:]
    assert ((bitangent * along_v).sum(1) > 0).all()


class TestInputs:
    def test_any_array_will_do(self):
        who = character(7, vertices=50)
        posed = pose(np.random.default_rng(0), who.skeleton)
        matrices = mw.skinning_matrices(who, who.skeleton.to_model(posed))
        expected = mw.skin(who, posed).positions
        strided = np.zeros((len(matrices) * 2, 3, 4), np.float64)[::2]
        strided[:] = matrices
        frozen = matrices.copy()
        frozen.flags.writeable = False
        for given_matrices in (matrices, strided, frozen, matrices.astype(np.float64), matrices.tolist()):
            np.testing.assert_array_equal(mw.skin(who, given_matrices).positions, expected)

    def test_integer_matrices(self):
        who = character(7, vertices=5)
        moved = np.tile(np.array([[1, 0, 0, 2], [0, 1, 0, 0], [0, 0, 1, 0]]), (12, 1, 1))
        np.testing.assert_allclose(
            mw.skin(who, moved).positions, who.meshes[0].positions + np.array([2, 0, 0]), atol=1e-6
        )

    def test_empty_mesh_and_empty_batch(self):
        bones = mw.Skeleton(("a",), [-1])
        empty = mw.Mesh.rigid("none", np.zeros((0, 3)), np.zeros((0, 3), int), 0)
        assert mw.skin(mw.Character(bones, (empty,)), bones.rest).positions.shape == (0, 3)
        assert mw.skin(mw.Character(bones), bones.rest).positions.shape == (0, 3)
        nobody = mw.Skeleton((), [])
        assert mw.skin(mw.Character(nobody), nobody.rest).positions.shape == (0, 3)
        who = character(1)
        none = pose(np.random.default_rng(0), who.skeleton, (0,))
        assert mw.skin(who, none).positions.shape == (0, 60, 3)

    def test_seventy_thousand_joints(self):
        J = 70_000
        bones = mw.Skeleton(tuple(map(str, range(J))), np.full(J, -1))
        body = mw.Mesh(
            "swarm", np.zeros((J, 3)), np.zeros((0, 3), int), np.arange(J)[:, None], np.ones((J, 1)), np.arange(J),
            affine.identity((J,)),
        )  # fmt: skip
        assert body.joints.dtype == np.uint32
        places = np.random.default_rng(0).normal(size=(J, 3)).astype(np.float32)
        posed = mw.Pose(places, np.tile([0, 0, 0, 1], (J, 1)), np.ones((J, 3)))
        np.testing.assert_array_equal(mw.skin(mw.Character(bones, (body,)), posed).positions, places)

    def test_opposite_quaternions_are_the_same_rotation(self):
        who = character(8)
        posed = pose(np.random.default_rng(1), who.skeleton)
        flipped = posed.replace(rotation=posed.rotation * np.where(np.arange(12) % 2, -1, 1)[:, None])
        for skinning in METHODS:
            a, b = mw.skin(who, posed, skinning=skinning), mw.skin(who, flipped, skinning=skinning)
            np.testing.assert_allclose(a.positions, b.positions, atol=1e-5)

    def test_a_joint_listed_twice_counts_with_both_weights(self):
        rng = np.random.default_rng(0)
        bones = skeleton(rng, 3)
        twice = mesh(rng, bones, 1, 3, joints=[[0, 1, 0]], weights=[[0.25, 0.5, 0.25]])
        once = twice.replace(joints=[[0, 1]], weights=[[0.5, 0.5]])
        posed = pose(rng, bones)
        for skinning in METHODS:
            a, b = (mw.skin(mw.Character(bones, (m,)), posed, skinning=skinning) for m in (twice, once))
            np.testing.assert_allclose(a.positions, b.positions, atol=1e-6)

    def test_one_mesh_by_itself(self):
        who = character(9)
        body, posed = who.meshes[0], pose(np.random.default_rng(0), who.skeleton)
        expected = mw.skin(who, posed).positions
        np.testing.assert_array_equal(mw.skin(body, posed, skeleton=who.skeleton).positions, expected)
        matrices = mw.skinning_matrices(who, who.skeleton.to_model(posed))
        np.testing.assert_array_equal(mw.skin(body, matrices).positions, expected)
        with pytest.raises(ValidationError, match="needs its skeleton"):
            mw.skin(body, posed)

    def test_limiting_influences(self):
        who = character(10, influences=8)
        posed = pose(np.random.default_rng(0), who.skeleton)
        limited = who.replace(meshes=(mw.limit_influences(who.meshes[0], 4).mesh,))
        np.testing.assert_allclose(
            mw.skin(who, posed, influences=4).positions, mw.skin(limited, posed).positions, atol=1e-6
        )

    def test_meshes_of_all_kinds_in_one_character(self):
        rng = np.random.default_rng(11)
        bones = skeleton(rng)
        first = mesh(rng, bones, 20)
        bare = mesh(rng, bones, 15, normals=None, tangents=None)
        dual = mesh(rng, bones, 33, skinning="dual_quaternion", tangents=None)
        who = mw.Character(bones, (first, bare, dual))
        posed = pose(rng, bones, (2,))
        whole = mw.skin(who, posed)
        assert whole.positions.shape == (2, 68, 3)
        for part, rows in ((first, slice(0, 20)), (bare, slice(20, 35)), (dual, slice(35, 68))):
            alone = mw.skin(mw.Character(bones, (part,)), posed)
            np.testing.assert_allclose(whole.positions[:, rows], alone.positions, atol=1e-6)
        assert (whole.normals[:, 20:35] == 0).all() and (whole.tangents[:, 20:] == 0).all()
        assert np.isfinite(whole.normals).all() and np.isfinite(whole.tangents).all()

    @pytest.mark.parametrize(
        ("call", "text"),
        [
            (
                lambda c: mw.skin(c, np.zeros((3, 3, 4))),
                r"skinning matrices \(..., 12, 3, 4\), got shape \(3, 3, 4\)",
            ),
            (lambda c: mw.skin(c, mw.Pose.identity(5)), "the pose has 5 joints, the skeleton has 12"),
            (lambda c: mw.skin(c, c.skeleton.rest, skinning="magic"), "skinning must be one of linear"),
            (lambda c: mw.skin(c, c.skeleton.rest, skinning="blended"), "has no dual_quaternion_weights"),
            (lambda c: mw.skin(c, c.skeleton.rest, influences=0), "influences: expected at least 1"),
            (lambda c: mw.skin(c, c.skeleton.rest, threads=0), "threads: expected at least 1"),
            (lambda c: mw.skin("hero.fbx", c.skeleton.rest), "expected a Character or a Mesh, got .hero.fbx"),
            (
                lambda c: mw.skin(c, c.skeleton.rest, out=mw.Surface(np.zeros((3, 3)))),
                r"out.positions: expected",
            ),
        ],
    )
    def test_what_is_wrong_is_said(self, call, text):
        with pytest.raises(ValidationError, match=text):
            call(character(0))


def test_one_channel_drives_targets_of_several_meshes():
    """Targets of different meshes are not in-betweens of each other, those of one mesh are."""
    rng = np.random.default_rng(15)
    bones = skeleton(rng, 3, 1)
    half, full = rng.normal(size=(2, 10, 3))
    targets = (mw.MorphTarget("half", 0, half, full_weight=0.5), mw.MorphTarget("full", 0, full))
    one = mesh(rng, bones, 10, morph_targets=targets)
    two = mesh(rng, bones, 10, morph_targets=targets[1:])
    posed = bones.rest.replace(morphs=np.array([0.75], np.float32))
    surface = mw.skin(mw.Character(bones, (one, two)), posed).positions
    np.testing.assert_allclose(surface[:10], one.positions + (half + full) / 2, atol=1e-5)
    np.testing.assert_allclose(surface[10:], two.positions + 0.75 * full, atol=1e-5)
    loose = mw.bounds(mw.Character(bones, (one, two)), posed, exact=False)
    assert (loose.low <= surface.min(axis=0)).all() and (loose.high >= surface.max(axis=0)).all()


class TestOutputs:
    def test_out_is_written_and_returned(self):
        who = character(2)
        posed = pose(np.random.default_rng(0), who.skeleton)
        first = mw.skin(who, who.skeleton.rest)
        again = mw.skin(who, posed, out=first)
        assert again.positions is first.positions
        np.testing.assert_array_equal(again.tangents, mw.skin(who, posed).tangents)

    def test_only_what_is_asked_for(self):
        who = character(2)
        assert mw.skin(who, who.skeleton.rest, normals=False).normals is None
        some = mw.skin(who, who.skeleton.rest, tangents=False)
        assert some.normals is not None and some.tangents is None

    def test_nan_stays_with_the_joint_it_is_on(self):
        who = character(12, vertices=150, influences=6)
        posed = pose(np.random.default_rng(0), who.skeleton)
        matrices = mw.skinning_matrices(who, who.skeleton.to_model(posed))
        clean = mw.skin(who, matrices)
        for poison in (np.nan, np.inf):
            matrices[5] = poison
            touched = ((who.meshes[0].joints == 5) & (who.meshes[0].weights > 0)).any(axis=1)
            for skinning in METHODS:
                surface = mw.skin(who, matrices, skinning=skinning)
                assert not np.isfinite(surface.positions[touched]).all(axis=-1).any()
                assert not np.isfinite(surface.normals[touched]).all(axis=-1).any()
            linear = mw.skin(who, matrices)
            np.testing.assert_array_equal(linear.positions[~touched], clean.positions[~touched])

    def test_threads_change_nothing(self):
        who = character(13, vertices=40_000)
        batch = pose(np.random.default_rng(0), who.skeleton, (4,))
        for posed in (batch, batch[0]):
            one, many = mw.skin(who, posed), mw.skin(who, posed, threads=None)
            np.testing.assert_array_equal(one.positions, many.positions)
            np.testing.assert_array_equal(one.tangents, many.tangents)

    def test_several_python_threads_at_once(self):
        who = character(14, vertices=20_000)
        poses = pose(np.random.default_rng(0), who.skeleton, (6,))
        expected = [mw.skin(who, poses[i]).positions for i in range(6)]
        wrong = []

        def work(i):
            for _ in range(5):
                if not np.array_equal(mw.skin(who, poses[i], threads=2).positions, expected[i]):
                    wrong.append(i)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not wrong


class TestLayout:
    @settings(max_examples=30, deadline=None)
    @given(st.integers(0, 10**6), st.integers(1, 200), st.integers(1, 12), st.booleans())
    def test_every_vertex_keeps_its_influences(self, seed, vertices, influences, lead_first):
        who = character(seed, vertices=vertices, influences=influences)
        layout = layout_of(who, lead_first=lead_first)
        weights = np.zeros((vertices, 12))
        body = who.meshes[0]
        np.add.at(weights, (np.arange(vertices)[:, None], body.joints), body.weights)
        rows = layout.rows.reshape(-1, 16)
        seen = np.zeros(vertices, bool)
        for b, row in enumerate(rows):
            joints = layout.joints[layout.joint_start[b] : layout.joint_start[b + 1]]
            lanes = layout.weights.reshape(-1, 16)[layout.joint_start[b] : layout.joint_start[b + 1]]
            dense = np.zeros((16, 12))
            dense[:, joints] = lanes.T
            np.testing.assert_allclose(dense, weights[row], atol=1e-6)
            if lead_first:
                assert (weights[row, joints[0]] >= weights[row].max(axis=1) - 1e-6).all()
            seen[row] = True
        assert seen.all()

    def test_full_blocks_of_small_sets_are_unrolled(self):
        rng = np.random.default_rng(0)
        bones = skeleton(rng, 6)
        joints = np.repeat([[0, 1, 2], [3, 4, 5]], 32, axis=0)
        body = mesh(rng, bones, 64, 3, joints=joints, weights=np.full((64, 3), 1 / 3, np.float32))
        layout = layout_of(mw.Character(bones, (body,)))
        assert layout.ranges.tolist() == [0, 0, 0, 4, 4, 4]


class TestBounds:
    @settings(max_examples=40, deadline=None)
    @given(
        st.integers(0, 10**6),
        st.sampled_from((*METHODS, "blended")),
        st.sampled_from(["none", "uniform", "non-uniform", "mirrored"]),
        st.integers(1, 6),
    )
    def test_conservative_contains_exact(self, seed, skinning, scale, influences):
        share = np.random.default_rng(seed).random(60)
        who = character(seed, morphs=2, influences=influences, dual_quaternion_weights=share)
        rng = np.random.default_rng(seed)
        batch = pose(rng, who.skeleton, (3,), SCALES[scale](rng, (3, 12, 3)))
        exact, loose = (mw.bounds(who, batch, skinning=skinning, exact=e) for e in (True, False))
        points = mw.skin(who, batch, skinning=skinning).positions
        np.testing.assert_array_equal(exact.low, points.min(axis=-2))
        np.testing.assert_array_equal(exact.high, points.max(axis=-2))
        assert (loose.low <= exact.low).all() and (loose.high >= exact.high).all()

    @pytest.mark.parametrize("unit", [1.0, 100.0])
    @pytest.mark.parametrize("skinning", [*METHODS, "blended"])
    def test_conservative_is_not_much_larger_than_a_bent_limb(self, skinning, unit):
        """A limb of four joints, weights passing from one to the next, bent and twisted up to 70 degrees at each."""
        rng = np.random.default_rng(0)
        rest = mw.Pose.identity(4)
        rest.translation[1:, 1] = 0.3
        bones = mw.Skeleton(tuple("abcd"), [-1, 0, 1, 2], rest)
        y = rng.uniform(0, 1.2, 400)
        turn = rng.uniform(0, 2 * np.pi, 400)
        points = np.stack([0.06 * np.cos(turn), y, 0.06 * np.sin(turn)], axis=1)
        near = np.clip(1 - np.abs(y[:, None] - 0.15 - 0.3 * np.arange(4)) / 0.2, 0, None)
        limb = mw.Mesh(
            "limb",
            points,
            np.zeros((0, 3), int),
            joints=[[0, 1, 2, 3]] * 400,
            weights=mw.normalize_weights(near)[0],
            joint_list=[0, 1, 2, 3],
            inverse_bind=affine.invert(bones.rest_model),
            dual_quaternion_weights=np.full(400, 0.5),
        )
        limb = in_units(limb, unit)
        axis = rng.normal(size=(20, 4, 3))
        axis /= np.linalg.norm(axis, axis=-1, keepdims=True)
        turns = quaternion.from_axis_angle(axis, np.radians(rng.uniform(0, 70, (20, 4))))
        poses = bones.rest.broadcast_to((20,)).replace(rotation=turns.astype(np.float32))
        who = mw.Character(bones, (limb,))
        exact, loose = (mw.bounds(who, poses, skinning=skinning, exact=e) for e in (True, False))
        assert (loose.low <= exact.low).all() and (loose.high >= exact.high).all()
        assert (loose.size / exact.size).max() < 1.7

    def test_joints_without_vertices_and_poses_without_numbers_are_no_trouble(self):
        bones = mw.Skeleton(("a", "b", "c"), [-1, 0, 1])
        prop = mw.Mesh.rigid("prop", [[0, 0, 0], [1, 2, 3]], np.zeros((0, 3), int), 1)
        who = mw.Character(bones, (prop,))
        for skinning in METHODS:
            np.testing.assert_allclose(
                mw.bounds(who, bones.rest, exact=False, skinning=skinning).high, [1, 2, 3], atol=1e-3
            )
            lost = bones.rest.replace(translation=np.full((3, 3), np.nan))
            assert np.isnan(mw.bounds(who, lost, exact=False, skinning=skinning).high).all()

    def test_rigid_prop_is_tight(self):
        bones = mw.Skeleton(("a",), [-1])
        prop = mw.Mesh.rigid("prop", [[0, 0, 0], [1, 2, 3]], np.zeros((0, 3), int), 0)
        loose = mw.bounds(mw.Character(bones, (prop,)), bones.rest, exact=False)
        np.testing.assert_allclose(loose.low, 0, atol=1e-4)
        np.testing.assert_allclose(loose.high, [1, 2, 3], atol=1e-4)
        np.testing.assert_allclose(loose.size, [1, 2, 3], atol=1e-3)


class TestMorphWeights:
    WHO = character(5, morphs=2)

    def test_whole_numbers_are_weights_too(self):
        rest = mw.skinning_matrices(self.WHO, self.WHO.skeleton.to_model(self.WHO.skeleton.rest))
        targets = self.WHO.meshes[0].morph_targets
        halves = tuple(
            mw.MorphTarget(t.name, 0, t.positions, t.normals, t.tangents, full_weight=w)
            for t, w in zip(targets, (2.0, 4.0))
        )
        who = self.WHO.replace(meshes=(self.WHO.meshes[0].replace(morph_targets=halves),))
        for weights in ([1, 0], [3, 0], [True, False]):
            want = mw.skin(who, rest, morphs=np.array(weights, float)).positions
            np.testing.assert_array_equal(mw.skin(who, rest, morphs=weights).positions, want)
            box = mw.bounds(who, rest, morphs=weights)
            np.testing.assert_array_equal(box.low, want.min(axis=0))

    @pytest.mark.parametrize("shape", [(), (1,), (3,), (0,), (2, 3), (5, 2)])
    def test_other_widths_and_batches_are_refused(self, shape):
        who, poses = self.WHO, pose(np.random.default_rng(0), self.WHO.skeleton, (4,))
        for call in (mw.skin, mw.bounds):
            with pytest.raises(ValidationError, match="morphs"):
                call(who, poses, morphs=np.ones(shape))

    def test_a_mesh_alone_takes_any_number_it_can_read(self):
        body, bones = self.WHO.meshes[0], self.WHO.skeleton
        one = mw.skin(body, bones.rest, skeleton=bones, morphs=[0.5, 0.25])
        matrices = mw.skinning_matrices(self.WHO, bones.to_model(bones.rest))
        np.testing.assert_array_equal(mw.skin(body, matrices, morphs=[0.5, 0.25, 9]).positions, one.positions)
        with pytest.raises(ValidationError, match="at least 2 morph weights"):
            mw.skin(body, matrices, morphs=[0.5])
        with pytest.raises(ValidationError, match="expected 2 morph weights"):
            mw.skin(body, bones.rest, skeleton=bones, morphs=[0.5, 0.25, 9])


def test_what_does_not_fit_into_memory_is_said(monkeypatch):
    def full(*_, **__):
        raise MemoryError

    hero = mw.samples.mannequin()
    monkeypatch.setattr("marrow.skinning.deform.output", full)
    with pytest.raises(mw.errors.NotEnoughMemoryError, match=r"3 poses of 23,9\d\d vertices take 0.0 GB"):
        mw.skin(hero, hero.clips["walk"].sample([0.0, 0.1, 0.2]))
