"""Skinning on the GPU: vertex shader = compute pass = CPU = float64, for every skinning, influence count and level."""

import numpy as np
import pytest

import marrow as mw
from builders import character, pose, reference_surface
from marrow import gpu
from marrow.errors import DeviceLostError, GpuError, GpuMemoryError, ValidationError
from marrow.gpu.vertices import OCTAHEDRAL_ERROR, TANGENT_ERROR

METHODS = ("linear", "dual_quaternion", "blended")


def size_of(surface):
    return 1 + float(np.abs(surface.positions).max())


def assert_like_the_cpu(got, who, posed, skinning=None, tolerance=1e-5, **options):
    want = mw.skin(who, posed, skinning=skinning, **options)
    np.testing.assert_allclose(
        got.positions, want.positions.reshape(got.positions.shape), atol=tolerance * size_of(want)
    )
    for name in ("normals", "tangents"):
        a, b = getattr(got, name), getattr(want, name)
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(a, b.reshape(a.shape), atol=100 * tolerance)
            assert np.abs(a - b.reshape(a.shape)).mean() < tolerance


@pytest.mark.parametrize("skinning", METHODS)
@pytest.mark.parametrize(("influences", "seed"), [(1, 0), (3, 1), (4, 2), (8, 3), (11, 4)])
@pytest.mark.parametrize("scale", ["none", "alike", "any", "mirrored"])
def test_compute_equals_cpu_and_reference(device, skinning, influences, seed, scale):
    rng = np.random.default_rng(seed)
    who = character(
        seed,
        joints=14,
        morphs=2,
        vertices=70,
        influences=influences,
        dual_quaternion_weights=rng.random(70),
    )
    scales = {"none": None, "alike": 1.7, "any": rng.uniform(0.5, 2, (3, 14, 3)), "mirrored": [-1, 1, 1]}
    posed = pose(rng, who.skeleton, (3,), scales[scale])
    got = gpu.Skinner(who, device, skinning=skinning).update(posed).surface()
    assert_like_the_cpu(got, who, posed, skinning)
    positions, *_ = reference_surface(who, posed, skinning)
    np.testing.assert_allclose(got.positions, positions, atol=1e-5 * size_of(got))


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_dual_quaternions_under_scales_that_multiply(device, scale):
    who = character(3, joints=8, vertices=60)
    posed = pose(np.random.default_rng(3), who.skeleton, (3,), scale)
    got = gpu.Skinner(who, device, skinning="dual_quaternion", normals=False).update(posed).surface()
    assert_like_the_cpu(got, who, posed, "dual_quaternion", normals=False)


@pytest.mark.parametrize("skinning", METHODS)
@pytest.mark.parametrize("influences", [4, 9])
def test_vertex_shader_equals_compute(device, skinning, influences):
    rng = np.random.default_rng(influences)
    who = character(
        7, vertices=50, joints=9, morphs=2, influences=influences, dual_quaternion_weights=rng.random(50)
    )
    posed = pose(rng, who.skeleton, (3,), rng.uniform(0.8, 1.2, (3, 9, 3)))
    skinner = gpu.Skinner(who, device, skinning=skinning).update(posed)
    got, row = skinner.surface(), 1
    for part in skinner.vertex_parts(group=0):
        drawn = draw_points(device, part, row)
        rows = slice(part.first, part.first + part.count)
        for values, want in zip(drawn, (got.positions, got.normals, got.tangents)):
            np.testing.assert_allclose(values[:, : want.shape[-1]], want[row, rows], atol=1e-6)


def draw_points(device, part, row):
    """Draws each vertex to a pixel of its own that says where it was put, with its normal and tangent."""
    import wgpu

    code = f"""{part.source}
struct Out {{ @builtin(position) place: vec4f, @location(0) p: vec4f, @location(1) n: vec4f, @location(2) t: vec4f }}
@vertex fn vs(@builtin(vertex_index) v: u32) -> Out {{
  let s = skin(v, {row}u);
  let x = (f32(v) + 0.5) / f32(part.count) * 2.0 - 1.0;
  return Out(vec4f(x, 0.0, 0.0, 1.0), vec4f(s.position, 1.0), vec4f(s.normal, 1.0), s.tangent);
}}
struct Colors {{ @location(0) p: vec4f, @location(1) n: vec4f, @location(2) t: vec4f }}
@fragment fn fs(o: Out) -> Colors {{ return Colors(o.p, o.n, o.t); }}
"""
    raw = device.raw
    module = raw.create_shader_module(code=code)
    colour = {"format": "rgba32float"}
    pipeline = raw.create_render_pipeline(
        layout="auto",
        vertex={"module": module, "entry_point": "vs"},
        fragment={"module": module, "entry_point": "fs", "targets": [colour] * 3},
        primitive={"topology": "point-list"},
    )
    flags = wgpu.TextureUsage.RENDER_ATTACHMENT | wgpu.TextureUsage.COPY_SRC
    size = (part.count, 1, 1)
    targets = [raw.create_texture(size=size, format="rgba32float", usage=flags) for _ in range(3)]
    encoder = raw.create_command_encoder()
    attachments = [
        {"view": t.create_view(), "load_op": "clear", "store_op": "store", "clear_value": (9, 9, 9, 9)}
        for t in targets
    ]
    step = encoder.begin_render_pass(color_attachments=attachments)
    step.set_pipeline(pipeline)
    step.set_bind_group(0, device.bind(pipeline, part.buffers))
    step.draw(part.count)
    step.end()
    raw.queue.submit([encoder.finish()])
    layout = {"bytes_per_row": 16 * part.count}
    return [
        np.frombuffer(raw.queue.read_texture({"texture": t}, layout, size), np.float32).reshape(-1, 4)
        for t in targets
    ]


@pytest.mark.parametrize("name", ["mannequin", "lizard"])
def test_samples_skin_as_on_the_cpu(device, name):
    who = mw.samples.load(name)
    clip = who.clips[0]
    posed = clip.sample(np.linspace(0, clip.duration, 3))
    posed = posed.replace(morphs=np.random.default_rng(1).random(posed.morphs.shape))
    skinner = gpu.Skinner(who, device).update(posed)
    assert_like_the_cpu(skinner.surface(), who, posed)
    boxes, want = skinner.read_bounds(), mw.bounds(who, posed)
    np.testing.assert_allclose(boxes.low, want.low, atol=1e-5)
    np.testing.assert_allclose(boxes.high, want.high, atol=1e-5)


def test_morphs_with_in_betweens(device):
    rng = np.random.default_rng(5)
    who = character(5, morphs=2, vertices=40)
    shape = rng.normal(size=(40, 3))
    targets = [mw.MorphTarget(f"t{f}", 0, f * shape, full_weight=f) for f in (-0.5, 0.3, 0.7, 1.0)]
    targets += [mw.MorphTarget("sparse", 1, np.ones((2, 3)), vertices=np.array([3, 17]), full_weight=2.0)]
    who = who.replace(meshes=(who.meshes[0].replace(morph_targets=tuple(targets)),))
    weights = np.stack([np.linspace(-1, 1.5, 26), np.linspace(-2, 3, 26)], 1)
    posed = pose(rng, who.skeleton, (26,)).replace(morphs=weights)
    got = gpu.Skinner(who, device).update(posed).surface()
    assert_like_the_cpu(got, who, posed)


def test_targets_that_are_off_and_joints_without_weight_do_nothing(device):
    who = character(6, morphs=1, vertices=30, influences=6)
    mesh = who.meshes[0]
    broken = mw.MorphTarget("nan", 0, np.full((30, 3), np.nan))
    weights = np.zeros_like(mesh.weights)
    weights[:, 0] = 1
    joints = np.array(mesh.joints)
    joints[:, 0], joints[:, 1:] = 0, 5
    who = who.replace(meshes=(mesh.replace(morph_targets=(broken,), weights=weights, joints=joints),))
    matrices = np.tile(np.eye(3, 4, dtype=np.float32), (len(who.palette), 1, 1))
    matrices[5] = np.nan
    for bits in (32, 8):
        for skinning in ("linear", "dual_quaternion"):
            got = gpu.Skinner(who, device, skinning=skinning, weights=bits).update(matrices).surface()
            np.testing.assert_allclose(got.positions[0], mesh.positions, atol=1e-6)


# -- packing --------------------------------------------------------------------------------------------------------


def test_octahedral_vectors_are_as_exact_as_stated():
    rng = np.random.default_rng(0)
    v = rng.normal(size=(200_000, 3))
    corners = np.array(np.meshgrid([-1, 0, 1], [-1, 0, 1], [-1, 0, 1])).reshape(3, -1).T
    v = np.concatenate([v, corners[(corners != 0).any(1)]])
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    hands = np.where(rng.random(len(v)) < 0.5, -1.0, 1.0)

    def angles(got):
        return 2 * np.arcsin(np.minimum(np.linalg.norm(got.astype(np.float64) - v, axis=1) / 2, 1))

    normals = gpu.unpack_octahedral(gpu.pack_octahedral(v))
    assert angles(normals).max() < OCTAHEDRAL_ERROR
    tangents = gpu.unpack_tangents(gpu.pack_tangents(np.concatenate([v, hands[:, None]], 1)))
    assert angles(tangents[:, :3]).max() < TANGENT_ERROR
    np.testing.assert_array_equal(tangents[:, 3], hands)
    np.testing.assert_array_equal(gpu.unpack_octahedral(gpu.pack_octahedral(np.zeros((2, 3)))), 0)


@pytest.mark.parametrize("bits", [8, 16])
def test_packed_weights_cost_what_is_stated(device, bits):
    rng = np.random.default_rng(bits)
    who = character(bits, vertices=120, influences=8, joints=12)
    posed = pose(rng, who.skeleton, (2,))
    skinner = gpu.Skinner(who, device, weights=bits, vectors="octahedral").update(posed)
    exact = mw.skin(who, posed)
    got = skinner.surface()
    # Each weight is off by a unit at most, so a vertex by that part of the way to where each of its joints would take it.
    mesh = who.meshes[0]
    matrices = mw.skinning_matrices(who, who.skeleton.to_model(posed))
    places = np.einsum(
        "fvkij,vj->fvki", matrices[:, mesh.joints], np.concatenate([mesh.positions, np.ones((120, 1))], 1)
    )
    reach = np.linalg.norm(places - exact.positions[:, :, None], axis=-1) * (mesh.weights > 0)
    allowed = reach.sum(axis=-1) / (2**bits - 1) + 1e-5
    assert (np.linalg.norm(got.positions - exact.positions, axis=-1) <= allowed).all()


def test_packed_vectors_are_off_by_their_rounding_only(device):
    who = mw.samples.lizard()
    posed = who.clips[0].sample(0.4)
    got = gpu.Skinner(who, device, vectors="octahedral").update(posed).surface()
    want = mw.skin(who, posed)
    np.testing.assert_allclose(got.positions[0], want.positions, atol=1e-5)
    # Rounded when stored and when written; deforming may widen an angle, on a body hardly.
    for values, exact, error in (
        (got.normals, want.normals, OCTAHEDRAL_ERROR),
        (got.tangents, want.tangents, TANGENT_ERROR),
    ):
        angle = np.linalg.norm(values[0][:, :3] - exact[:, :3], axis=1)
        assert np.median(angle) < error and angle.max() < 4 * error
    np.testing.assert_array_equal(got.tangents[0][:, 3], want.tangents[:, 3])


def test_records_are_as_small_as_joints_allow(device):
    def words(joints, used, influences=4, **options):
        who = character(1, joints=joints, vertices=20, influences=influences)
        mesh = who.meshes[0]
        own = np.random.default_rng(2).choice(used, mesh.joints.shape)
        who = who.replace(meshes=(mesh.replace(joints=own),))
        skinner = gpu.Skinner(who, device, normals=False, **options)
        posed = pose(np.random.default_rng(3), who.skeleton)
        exact = gpu.Skinner(who, device, normals=False).update(posed).surface().positions
        got = skinner.update(posed).surface().positions
        np.testing.assert_allclose(got, exact, atol=0.2 if options else 0)
        (part,) = skinner.levels[0].vertices.parts
        return part.variant.used_words - 3

    assert words(200, np.arange(200), weights=8) == 2  # 8 bytes
    assert words(200, np.arange(200), 8, weights=8) == 4  # 16 bytes
    assert words(700, np.arange(600, 700), weights=8) == 2  # few of many joints: through a table
    assert words(700, np.arange(700), weights=8) == 2  # 80 influences cannot name more than 256 joints
    assert words(700, np.arange(700), weights=16) == 3
    assert words(200, np.arange(200)) == 5


# -- instances ------------------------------------------------------------------------------------------------------


def test_only_what_changed_is_skinned_again(device):
    who = character(8, vertices=30, morphs=1)
    posed = pose(np.random.default_rng(8), who.skeleton, (5,))
    matrices = mw.skinning_matrices(who, who.skeleton.to_model(posed))
    skinner = gpu.Skinner(who, device).update(matrices, morphs=posed.morphs)
    before = skinner.surface().positions
    # Marks where results lie: what is not skinned again keeps them.
    for _, _, buffer in skinner.positions:
        device.write(buffer.raw, np.full(5 * 30 * 3, 99, np.float32))
    moved = matrices.copy()
    moved[3] = matrices[1]
    skinner.update(moved, morphs=posed.morphs)
    after = skinner.surface().positions
    assert (after[[0, 1, 2, 4]] == 99).all()
    assert_like_the_cpu(mw.Surface(after[3:4]), who, moved[3:4], morphs=posed.morphs[3:4], normals=False)
    blinked = np.array(posed.morphs)
    blinked[0] += 1
    skinner.update(moved, morphs=blinked)
    assert (skinner.surface().positions[[1, 2, 4]] == 99).all()
    assert (skinner.surface().positions[0] != 99).any()
    skinner.update(moved, morphs=blinked, changed=np.array([False, True, False, False, False]))
    np.testing.assert_array_equal(skinner.surface().positions[1], before[1])
    skinner.update(moved, morphs=blinked, changed=True)
    assert (skinner.surface().positions != 99).all()


def test_instances_come_and_go(device):
    who = character(9, vertices=30)
    posed = pose(np.random.default_rng(9), who.skeleton, (9,))
    skinner = gpu.Skinner(who, device)
    for count in (4, 9, 0, 1, 7):
        got = skinner.update(posed[:count]).surface()
        assert got.positions.shape == (count, 30, 3)
        assert skinner.read_bounds().low.shape == (count, 3)
        if count:
            assert_like_the_cpu(got, who, posed[:count])


def test_levels_of_detail_are_honoured_per_instance(device):
    rng = np.random.default_rng(10)
    who = character(10, vertices=60, morphs=2)
    mesh = who.meshes[0]
    fewer = mw.limit_influences(mesh, 2).mesh
    half = fewer.replace(
        positions=fewer.positions[:25],
        normals=fewer.normals[:25],
        tangents=fewer.tangents[:25],
        joints=fewer.joints[:25],
        weights=fewer.weights[:25],
        morph_targets=(mw.MorphTarget("one", 1, fewer.morph_targets[1].positions[:25]),),
    )
    coarse = who.replace(meshes=(half,))
    posed = pose(rng, who.skeleton, (8,))
    skinner = gpu.Skinner(who, device, levels=[who, coarse])
    for levels in ([0, 1, 1, 0, -1, 1, 0, -1], [1] * 8, [-1] * 8, [0, 1] * 4):
        levels = np.array(levels)
        skinner.update(posed, levels=levels)
        boxes = skinner.read_bounds()
        for number, level in enumerate((who, coarse)):
            some = np.flatnonzero(levels == number)
            np.testing.assert_array_equal(skinner.levels[number].instances, some)
            got = skinner.surface(number)
            assert len(got.positions) == len(some)
            if len(some):
                assert_like_the_cpu(got, level, posed[some])
                np.testing.assert_array_equal(boxes.low[some], got.positions.min(1))
        assert (boxes.low[levels < 0] > boxes.high[levels < 0]).all()
    with pytest.raises(ValidationError, match=r"levels: expected 8 numbers from -1 to 1"):
        skinner.update(posed, levels=[2] * 8)
    other = coarse.replace(meshes=(half.replace(inverse_bind=2 * half.inverse_bind),))
    with pytest.raises(ValidationError, match="binds joint"):
        gpu.Skinner(who, device, levels=[who, other])


@pytest.mark.parametrize("skinning", METHODS)
def test_results_do_not_depend_on_the_limits(device, small, skinning):
    rng = np.random.default_rng(11)
    who = character(
        11, vertices=400, joints=30, morphs=3, dual_quaternion_weights=rng.random(400), influences=2
    )
    mesh = who.meshes[0].replace(morph_targets=who.meshes[0].morph_targets[:1])
    who = who.replace(meshes=(mesh,))
    posed = pose(rng, who.skeleton, (60,))
    large, chunked = gpu.Skinner(who, device, skinning=skinning), gpu.Skinner(who, small, skinning=skinning)
    large.update(posed)
    chunked.update(posed)
    assert len(list(chunked.positions)) > 3 and len(list(large.positions)) == 1
    np.testing.assert_array_equal(chunked.surface().positions, large.surface().positions)
    np.testing.assert_array_equal(chunked.read_bounds().low, large.read_bounds().low)
    some = rng.random(60) < 0.4
    chunked.update(posed, changed=some)
    np.testing.assert_array_equal(chunked.surface().positions, large.surface().positions)


def test_what_the_device_cannot_hold_is_an_error(small, device):
    with pytest.raises(GpuMemoryError, match="its vertices take"):
        gpu.Skinner(character(1, vertices=5000), small)
    skinner = gpu.Skinner(character(1, joints=1, vertices=100_000), device, normals=False)
    with pytest.raises(GpuMemoryError, match=r"positions.* bytes"):
        skinner.update(np.zeros((1_000_000, 1, 3, 4), np.float32))  # 1.2 TB of vertices
    assert skinner.update(np.zeros((1, 3, 4))).surface().positions.shape == (1, 100_000, 3)


def test_seventy_thousand_joints(device, small):
    joints = 70_000
    rest = mw.Pose(np.zeros((joints, 3)), np.tile([0.0, 0, 0, 1], (joints, 1)), np.ones((joints, 3)))
    bones = mw.Skeleton(tuple(map(str, range(joints))), np.full(joints, -1), rest)
    V = 300
    mesh = mw.Mesh(
        "many",
        np.random.default_rng(0).normal(size=(V, 3)),
        np.zeros((0, 3), np.uint32),
        joints=np.linspace(0, joints - 1, V * 2).astype(np.uint32).reshape(V, 2),
        weights=np.full((V, 2), 0.5),
        joint_list=np.arange(joints),
        inverse_bind=np.tile(np.eye(3, 4), (joints, 1, 1)),
    )
    who = mw.Character(bones, (mesh,), name="many")
    matrices = np.tile(np.eye(3, 4, dtype=np.float32), (joints, 1, 1))
    matrices[:, 0, 3] = np.arange(joints) / joints
    got = gpu.Skinner(who, device).update(matrices).surface()
    np.testing.assert_allclose(got.positions[0], mw.skin(who, matrices).positions, atol=1e-6)
    with pytest.raises(GpuMemoryError, match="matrices: one takes 3,360,000 bytes"):
        gpu.Skinner(who, small)


def test_a_device_that_is_lost_under_way(device):
    mine = gpu.Device.best(limits={"max-bind-groups": 4})
    who = character(1)
    posed = pose(np.random.default_rng(1), who.skeleton)
    skinner = gpu.Skinner(who, mine).update(posed)
    mine.destroy()
    for call in (lambda: skinner.update(posed, changed=True), skinner.surface, skinner.bounds):
        with pytest.raises(DeviceLostError):
            call()


def test_wrong_calls_are_errors_in_words(device):
    who = character(1, morphs=1)
    skinner = gpu.Skinner(who, device)
    with pytest.raises(ValidationError, match="expected a Character"):
        gpu.Skinner("hero.glb")
    with pytest.raises(ValidationError, match="weights: expected 32, 16 or 8"):
        gpu.Skinner(who, device, weights=4)
    with pytest.raises(ValidationError, match="skinning"):
        gpu.Skinner(who, device, skinning="magic")
    with pytest.raises(ValidationError, match=r"skinning matrices \(\.\.\., 12, 3, 4\)"):
        skinner.update(np.zeros((3, 5, 3, 4)))
    with pytest.raises(ValidationError, match="got shape"):
        skinner.update(np.zeros((2, 2, 12, 3, 4)))
    with pytest.raises(ValidationError, match="changed: expected 1 truth values"):
        skinner.update(np.zeros((12, 3, 4)), changed=[1, 2])
    with pytest.raises(ValidationError, match="morphs"):
        skinner.update(np.zeros((12, 3, 4)), morphs=np.zeros(7))
    with pytest.raises(ValidationError, match="no dual_quaternion_weights"):
        gpu.Skinner(who, device, skinning="blended")
    with pytest.raises(ValidationError, match="call update first"):
        gpu.Skinner(who, device).vertex_parts()


def test_characters_without_vertices_or_normals(device):
    bones = character(1).skeleton
    posed = pose(np.random.default_rng(1), bones, (2,))
    nothing = gpu.Skinner(mw.Character(bones), device).update(posed)
    assert nothing.surface().positions.shape == (2, 0, 3)
    bare = character(2)
    bare = bare.replace(meshes=(bare.meshes[0].replace(normals=None, tangents=None), *bare.meshes))
    posed = pose(np.random.default_rng(1), bare.skeleton, (2,))
    skinner = gpu.Skinner(bare, device).update(posed)
    assert_like_the_cpu(skinner.surface(), bare, posed)
    device_without = type("Timeless", (), {"has_timestamps": False, "adapter": "it"})()
    with pytest.raises(GpuError, match="no timestamps"):
        gpu.Clock(device_without)


def test_animators_can_be_skinned(device):
    who = mw.samples.lizard()
    solo = mw.Animator(who)
    solo.play(next(iter(who.clips)))
    solo.update(0.3)
    skinner = gpu.Skinner(who, device).update(solo)
    assert_like_the_cpu(skinner.surface(), who, solo.matrices[None])
