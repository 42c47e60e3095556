"""The mannequin's skin: closed, clean, symmetric, well weighted, and good to bend."""

from __future__ import annotations

from itertools import pairwise

import measures
import numpy as np
import pytest

import marrow as mw
from marrow.math import affine, quaternion


def test_body_has_a_sensible_number_of_vertices(mannequin):
    assert 15_000 <= mannequin.mesh("body").vertex_count <= 25_000


@pytest.mark.parametrize("name", ["body", "baton"])
def test_surface_is_closed_and_manifold(mannequin, name):
    assert measures.is_closed_manifold(mannequin.mesh(name))


def test_body_is_one_piece(mannequin):
    positions, triangles = measures.welded(mannequin.mesh("body"))
    label = np.arange(len(positions))
    for _ in range(500):
        low = label[triangles].min(1)
        before = label.copy()
        np.minimum.at(label, triangles, low[:, None])
        label = label[label]
        if (label == before).all():
            break
    assert len(np.unique(label)) == 1


@pytest.mark.parametrize("name", ["body", "baton"])
def test_no_triangle_is_degenerate_or_inverted(mannequin, name):
    mesh = mannequin.mesh(name)
    facing, area = measures.face_normals(mesh)
    assert area.min() > 1e-8
    agreement = np.einsum("fi,fki->fk", facing, mesh.normals[mesh.triangles])
    assert agreement.min() > 0.2
    if name == "body":
        quality = measures.shape_quality(mesh)
        assert quality.min() > 0.1
        assert np.quantile(quality, 0.02) > 0.6


def test_outside_is_out(mannequin):
    mesh = mannequin.mesh("body")
    a, b, c = (mesh.positions[mesh.triangles[:, k]].astype(float) for k in range(3))
    volume = np.einsum("fi,fi->f", a, np.cross(b, c)).sum() / 6
    assert 0.05 < volume < 0.1  # a person of this size takes 60 to 80 litres


def test_it_stands_on_the_ground_facing_forward(mannequin):
    mesh, skeleton = mannequin.mesh("body"), mannequin.skeleton
    low, high = mesh.positions.min(0), mesh.positions.max(0)
    assert abs(low[1]) < 0.003
    assert high[1] == pytest.approx(1.8, abs=0.02)
    rest = skeleton.rest_model[:, :, 3]
    assert rest[skeleton.index("ball_l"), 2] > rest[skeleton.index("foot_l"), 2] + 0.1
    assert rest[skeleton.index("hand_l"), 0] > 0.4  # left is +X when +Z is forward and +Y up


def test_left_and_right_are_mirror_images_to_the_byte(mannequin):
    mesh = mannequin.mesh("body")
    positions, first = np.unique(mesh.positions, axis=0, return_index=True)
    mirrored, order = np.unique(positions * np.float32([-1, 1, 1]), axis=0, return_index=True)
    np.testing.assert_array_equal(positions, mirrored)
    np.testing.assert_array_equal(
        np.abs(mesh.normals[first] - mesh.normals[first][order] * np.float32([-1, 1, 1])).max(), 0
    )
    names = mannequin.skeleton.names
    dense = measures.dense_weights(mesh, len(names))[first]
    swap = [names.index(measures.mirror_name(n)) for n in names]
    np.testing.assert_allclose(dense, dense[order][:, swap], atol=1e-6)


def test_normals_and_tangents_are_unit_and_square_to_each_other(mannequin):
    for mesh in mannequin.meshes:
        np.testing.assert_allclose(np.linalg.norm(mesh.normals, axis=1), 1, atol=1e-5)
        np.testing.assert_allclose(np.linalg.norm(mesh.tangents[:, :3], axis=1), 1, atol=1e-5)
        assert np.abs((mesh.normals * mesh.tangents[:, :3]).sum(1)).max() < 1e-4
        assert set(np.unique(mesh.tangents[:, 3])) <= {-1.0, 1.0}


def test_texture_coordinates_fill_the_square_without_gaps_in_a_triangle(mannequin):
    mesh = mannequin.mesh("body")
    (uv,) = mesh.uvs
    assert uv.min() >= 0
    assert uv.max() <= 1
    corners = uv[mesh.triangles]
    # A triangle torn across a seam would span a large part of the texture.
    assert (corners.max(1) - corners.min(1)).max() < 0.12


def test_tangents_follow_the_texture(mannequin):
    mesh = mannequin.mesh("body")
    (uv,) = mesh.uvs
    a, b, c = mesh.triangles[::7].T
    e1, e2 = mesh.positions[b] - mesh.positions[a], mesh.positions[c] - mesh.positions[a]
    d1, d2 = uv[b] - uv[a], uv[c] - uv[a]
    det = d1[:, 0] * d2[:, 1] - d2[:, 0] * d1[:, 1]
    good = np.abs(det) > 1e-9
    along_u = ((e1 * d2[:, 1:] - e2 * d1[:, 1:]) / det[:, None])[good]
    along_u /= np.linalg.norm(along_u, axis=1, keepdims=True)
    agreement = (along_u * mesh.tangents[a][good][:, :3]).sum(1)
    assert np.quantile(agreement, 0.05) > 0.8


def test_three_materials_or_more_cover_every_triangle_once(mannequin):
    mesh = mannequin.mesh("body")
    assert len({s.material for s in mesh.sections}) >= 3
    ends = sorted((s.first, s.first + s.count) for s in mesh.sections)
    assert ends[0][0] == 0
    assert ends[-1][1] == mesh.triangle_count
    assert all(a[1] == b[0] for a, b in pairwise(ends))


def test_weights_sum_to_one_and_use_up_to_eight_joints(mannequin):
    mesh = mannequin.mesh("body")
    np.testing.assert_allclose(mesh.weights.sum(1), 1, atol=1e-6)
    assert mesh.influence_counts.max() == 8
    limited = mw.limit_influences(mesh, 4)
    assert limited.mesh.influences == 4
    assert limited.largest_total_dropped < 0.15


def test_weights_do_not_leak(mannequin):
    mesh, skeleton = mannequin.mesh("body"), mannequin.skeleton
    dense = measures.dense_weights(mesh, len(skeleton))
    p, names = mesh.positions, skeleton.names

    def total(*prefixes, side=""):
        chosen = [j for j, n in enumerate(names) if n.startswith(prefixes) and n.endswith(side)]
        return dense[:, chosen].sum(1)

    fingers = ("thumb", "index", "middle", "ring", "pinky")
    arm = ("upperarm", "lowerarm", "hand", *fingers)
    for other, s in (("_r", 1), ("_l", -1)):
        mine = p[:, 0] * s > 0.02
        assert total(*arm, side=other)[mine].max() == 0
        assert total("calf", "foot", "ball", side=other)[mine].max() == 0
    hands = total("hand", *fingers)
    legs = total("pelvis", "thigh", "calf", "foot")
    assert (np.minimum(hands, legs)).max() == 0
    assert total("head")[p[:, 1] < 1.45].max() == 0
    # Past its knuckle a finger belongs to itself alone.
    for finger in fingers:
        tip = total(f"{finger}_03") > 0.5
        assert tip.sum() > 50
        others = [f for f in fingers if f != finger]
        assert total(*others)[tip].max() < 0.01


def bent(skeleton, joint, degrees):
    rest = skeleton.rest.copy()
    j = skeleton.index(joint)
    turn = quaternion.from_axis_angle(np.float32([1, 0, 0]), np.float32(np.radians(degrees)))
    rest.rotation[j] = quaternion.multiply(rest.rotation[j], turn)
    return rest


@pytest.mark.parametrize("skinning", ["linear", "dual_quaternion"])
@pytest.mark.parametrize(("joint", "degrees"), [("lowerarm_l", 110), ("calf_l", -110)])
def test_hinges_keep_their_thickness_when_bent(mannequin, skinning, joint, degrees):
    mesh, skeleton = mannequin.mesh("body"), mannequin.skeleton
    place = skeleton.rest_model[skeleton.index(joint)][:, 3]
    axis = skeleton.rest_model[skeleton.index(joint)][:, 1]
    along = (mesh.positions - place) @ axis
    ring = (np.abs(along) < 0.02) & (np.linalg.norm(mesh.positions - place, axis=1) < 0.12)
    assert ring.sum() > 20
    surface = mw.skin(mannequin, bent(skeleton, joint, degrees), skinning=skinning)
    skinned = surface.positions[: mesh.vertex_count][ring]
    before = np.linalg.norm(mesh.positions[ring] - place, axis=1)
    after = np.linalg.norm(skinned - place, axis=1)
    assert after.min() > 0.35 * before.min()
    assert after.mean() > 0.7 * before.mean()
    assert after.max() < 1.6 * before.max()


def test_baton_is_rigid_and_sits_in_the_grip(mannequin):
    baton, skeleton = mannequin.mesh("baton"), mannequin.skeleton
    socket = skeleton.socket("hand_r_grip")
    assert baton.rigid_joint == skeleton.index("hand_r") == socket.joint
    up = quaternion.rotate(socket.rotation, np.float32([0, 1, 0]))
    in_hand = affine.apply(baton.inverse_bind[0], baton.positions)
    off = in_hand - socket.translation
    along = off @ up
    assert along.min() < -0.08
    assert along.max() > 0.4
    assert np.linalg.norm(off - along[:, None] * up, axis=1).max() < 0.025


def test_morphs_are_sparse_named_and_local(mannequin):
    mesh = mannequin.mesh("body")
    targets = {t.name: t for t in mesh.morph_targets}
    assert set(targets) == set(mannequin.skeleton.morph_names) >= {"breathe", "fist_l", "fist_r", "smile"}
    for target in targets.values():
        assert target.normals is not None
        assert 0 < len(target.vertices) < mesh.vertex_count / 2
        assert mannequin.skeleton.morph_names[target.channel] == target.name
    place = mesh.positions[targets["fist_l"].vertices]
    assert (place[:, 0] > 0.5).all()
    assert np.linalg.norm(targets["fist_l"].positions, axis=1).max() > 0.06
    assert mesh.positions[targets["smile"].vertices][:, 1].min() > 1.5
    fists = [np.sort(np.linalg.norm(targets[f].positions, axis=1)) for f in ("fist_l", "fist_r")]
    np.testing.assert_allclose(*fists, atol=1e-6)


def test_a_breath_widens_the_chest(mannequin):
    skeleton = mannequin.skeleton
    pose = skeleton.rest.copy()
    pose.morphs[skeleton.morph_names.index("breathe")] = 1
    still = mw.skin(mannequin, skeleton.rest).positions
    full = mw.skin(mannequin, pose).positions
    chest = (np.abs(still[:, 1] - 1.33) < 0.05) & (np.abs(still[:, 0]) < 0.1)
    depth = [np.ptp(p[chest][:, 2]) for p in (still, full)]
    assert 0.005 < depth[1] - depth[0] < 0.05
