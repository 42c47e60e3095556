"""`mw.lod.build`: what a level keeps, and that its stated error is true."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from lod_worlds import arm, boundary_edges, distances, surface_points

import marrow as mw
from marrow.errors import MarrowError, UnknownNameError, ValidationError
from surroundings import needed

needed("meshoptimizer")
ARM = arm()
LEVELS = mw.lod.build(ARM, (0.4, 0.1, 0.03))
SMALL = arm(rings=16, sides=10)
"""What is built again and again: a quarter of the triangles, the same joints, sections and clips."""


def drawn(character: mw.Character) -> np.ndarray:
    pieces = [m.triangles.astype(np.int64) + o for m, o in zip(character.meshes, character.vertex_offsets)]
    return np.concatenate(pieces)


def source_rows(level: mw.Character) -> np.ndarray:
    """Which vertex of the arm each vertex of a level is, by everything it has."""
    whole, part = ARM.meshes[0], level.meshes[0]

    def keys(m: mw.Mesh) -> list[bytes]:
        rows = np.concatenate([m.positions, m.uvs[0], m.normals, m.colors], axis=1)
        return [r.tobytes() for r in rows]

    known = {key: i for i, key in enumerate(keys(whole))}
    return np.array([known[key] for key in keys(part)])


def test_arm_is_a_fair_test():
    assert boundary_edges(ARM) == 0 and ARM.triangle_count == 2 * 16 * 31 + 32


def test_level_zero_is_the_character():
    assert LEVELS.levels[0] is LEVELS and len(LEVELS.levels) == 4 and ARM.levels == (ARM,)
    assert LEVELS.meshes == ARM.meshes and LEVELS.skeleton == ARM.skeleton
    counts = [level.lod.triangles for level in LEVELS.levels]
    assert counts[0] == ARM.triangle_count
    for count, part in zip(counts[1:], (0.4, 0.1, 0.03)):
        assert 0.9 * part <= count / counts[0] <= 1.03 * part


@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_level_is_a_valid_character(k):
    level = LEVELS.levels[k]
    assert level == dataclasses.replace(level)  # validated anew
    assert boundary_edges(level) == 0
    mesh = level.meshes[0]
    assert np.abs(mesh.weights.sum(axis=1) - 1).max() < 1e-6 and mesh.joint_list.max() < len(level.skeleton)
    assert set(np.unique(mesh.triangles)) == set(range(mesh.vertex_count))
    lod = level.lod
    assert lod.triangles == level.triangle_count and lod.vertices == level.vertex_count
    assert lod.sections == 2 and lod.joints == 6 and lod.influences == 3


@pytest.mark.parametrize("k", [1, 2, 3])
def test_kept_vertices_keep_all_they_have(k):
    level, whole = LEVELS.levels[k], ARM.meshes[0]
    mesh, rows = level.meshes[0], source_rows(level)
    for field in ("positions", "normals", "tangents", "colors", "joints", "weights"):
        assert np.array_equal(getattr(mesh, field), getattr(whole, field)[rows]), field
    for mine, theirs in zip(mesh.morph_targets, whole.morph_targets):
        assert np.array_equal(mine.dense(mesh.vertex_count), theirs.dense(whole.vertex_count)[rows])


@pytest.mark.parametrize("k", [1, 2, 3])
def test_skinning_a_level_is_skinning_the_character_bit_for_bit(k):
    level, poses = LEVELS.levels[k], ARM.clips["bend"].sample(np.linspace(0, 1, 7))
    poses = poses.replace(morphs=np.random.default_rng(0).random((7, 2)).astype(np.float32))
    mine, theirs = mw.skin(level, poses), mw.skin(ARM, poses)
    rows = source_rows(level)
    for field in ("positions", "normals", "tangents"):
        assert np.array_equal(getattr(mine, field), getattr(theirs, field)[:, rows]), field


def test_triangles_stay_in_their_sections():
    split = 0.7
    for level in LEVELS.levels[1:]:
        mesh = level.meshes[0]
        assert [s.name for s in mesh.sections] == ["skin", "hand"]
        for s, beyond in zip(mesh.sections, (False, True)):
            x = mesh.positions[mesh.triangles[s.first : s.first + s.count]][:, :, 0].mean(axis=1)
            assert ((x > split - 0.06) if beyond else (x < split + 0.06)).all()


@pytest.mark.parametrize(
    "built",
    [
        pytest.param(LEVELS, id="triangles"),
        pytest.param(mw.lod.build(ARM, (0.3, 0.1), joints=(4, 3), influences=(2, 1)), id="joints"),
    ],
)
def test_the_stated_error_bounds_one_that_is_measured_otherwise(built):
    """Random points on both surfaces at times that were not looked at, distances by brute force."""
    rng = np.random.default_rng(5)
    for level in built.levels[1:]:
        n, worst, means = len(level.skeleton), 0.0, []
        for clip in built.clips.values():
            for time in rng.random(3) * clip.duration:
                pose = clip.sample(time)
                short = level.clips[clip.name].sample(time)
                assert np.array_equal(short.rotation, pose.rotation[:n])
                theirs, mine = mw.skin(built, pose).positions, mw.skin(level, short).positions
                one = distances(surface_points(theirs, drawn(built), 80), mine, drawn(level))
                other = distances(surface_points(mine, drawn(level), 40), theirs, drawn(built))
                worst = max(worst, one.max(), other.max())
                means.append((one.mean() + other.mean()) / 2)
        assert worst <= level.lod.error
        assert level.lod.error < 4 * worst  # and it is no idle boast the other way
        assert 0.4 * np.mean(means) < level.lod.mean_error < 2.5 * np.mean(means)
        assert level.lod.relative_error == pytest.approx(level.lod.error / 1.0, rel=0.2)


def test_poses_make_better_levels():
    """Bent elbows show what the rest pose hides."""
    blind = mw.lod.build(ARM, (0.15, 0.06), poses=False)
    seeing = mw.lod.build(ARM, (0.15, 0.06))
    for a, b in zip(seeing.reduced, blind.reduced):
        assert a.lod.error < b.lod.error


def test_error_finds_the_triangles():
    built = mw.lod.build(SMALL, error=(0.01, 0.03))
    first, second = (level.lod for level in built.reduced)
    assert (
        first.error <= 0.01
        and second.error <= 0.03
        and second.triangles < first.triangles < SMALL.triangle_count
    )
    # Fewer would not do: three quarters of them are farther off.
    fewer = mw.lod.build(SMALL, (int(0.7 * first.triangles),)).reduced[0].lod
    assert fewer.error > 0.01


def test_an_error_that_cannot_be_met_is_said():
    built = mw.lod.build(ARM, error=(1e-6,), joints=(2,))
    level = built.reduced[0]
    assert level.lod.triangles == ARM.triangle_count and level.lod.error > 1e-6
    assert "asked for" in str(level.report)


# -- joints ---------------------------------------------------------------------------------------------------------
def test_joints_go_that_move_the_surface_least():
    built = mw.lod.build(SMALL, joints=(5, 4, 2))
    assert built.skeleton.names[:2] == ("root", "shoulder")
    assert [level.lod.joints for level in built.levels] == [6, 5, 4, 2]
    assert "twist" not in built.levels[1].skeleton.names and "finger" not in built.levels[2].skeleton.names
    errors = [level.lod.error for level in built.levels]
    assert errors == sorted(errors)
    for level in built.levels:
        assert level.skeleton.names == built.skeleton.names[: len(level.skeleton)]
        assert level.triangle_count == SMALL.triangle_count


def test_the_order_is_found_by_measuring():
    """What goes first costs least: the other joint at an end could not have gone for less."""
    first, other = (
        mw.lod.build(SMALL, (1.0,), remove=[name]).reduced[0].lod.error for name in ("twist", "finger")
    )
    assert first < other and mw.lod.build(SMALL, joints=(5,)).reduced[0].lod.error == first


def test_another_order_of_joints_is_the_same_character():
    built = mw.lod.build(SMALL, joints=(5,))
    assert sorted(built.skeleton.names) == sorted(SMALL.skeleton.names)
    assert built.skeleton.names != SMALL.skeleton.names
    time = np.linspace(0, 1, 5)
    for name in SMALL.clips:
        a, b = mw.skin(SMALL, SMALL.clips[name].sample(time)), mw.skin(built, built.clips[name].sample(time))
        # Matrices are summed up in the order of the joints: the last bit may differ.
        np.testing.assert_allclose(a.positions, b.positions, atol=3e-7)
    for socket in SMALL.skeleton.sockets:
        joint = built.skeleton.socket(socket.name).joint
        assert built.skeleton.names[joint] == SMALL.skeleton.names[socket.joint]


def test_weights_move_to_the_nearest_joint_above():
    built = mw.lod.build(SMALL, joints=(2,))
    level = built.levels[1]
    old = SMALL.meshes[0]
    dense = np.zeros((old.vertex_count, 2))
    stand_in = {"root": 0, "shoulder": 1, "elbow": 1, "wrist": 1, "finger": 1, "twist": 1}
    for j, name in enumerate(SMALL.skeleton.names):
        dense[:, stand_in[name]] += np.where(old.joints == j, old.weights, 0).sum(axis=1)
    mesh = level.meshes[0]
    found = np.zeros_like(dense)
    for k in range(mesh.influences):
        found[np.arange(mesh.vertex_count), mesh.joint_list[mesh.joints[:, k]]] += mesh.weights[:, k]
    np.testing.assert_allclose(found, dense, atol=1e-6)
    assert mesh.influences == 2 and mw.lod.joint_map(built, 1).tolist() == [0, 1, 1, 1, 1, 1]


def test_keep_and_remove_overrule_the_measure():
    kept = mw.lod.build(SMALL, joints=(5, 4), keep=["twist"])
    assert all("twist" in level.skeleton.names for level in kept.levels)
    by_level = mw.lod.build(SMALL, joints=(5, 3), keep={1: ["twist"]})
    assert "twist" in by_level.levels[1].skeleton.names and "twist" not in by_level.levels[2].skeleton.names
    gone = mw.lod.build(SMALL, (0.5, 0.2), remove={2: ["elbow"]})
    assert [len(level.skeleton) for level in gone.levels] == [6, 6, 2]
    named = mw.lod.build(SMALL, joints=(["wrist"],))
    assert set(named.levels[1].skeleton.names) == {"root", "shoulder", "elbow", "wrist"}


def test_sockets_clips_events_and_morphs_are_there_at_every_level():
    built = mw.lod.build(ARM, (0.5, 0.2), joints=(4, 2))
    for level in built.levels:
        n = len(level.skeleton)
        assert (
            list(level.clips) == ["bend", "wave"] and level.clips["bend"].events == ARM.clips["bend"].events
        )
        assert level.clips["bend"].duration == ARM.clips["bend"].duration
        a = mw.Animator(level)
        a.play("bend")
        a.update(0.5)
        whole = mw.Animator(built)
        whole.play("bend")
        whole.update(0.5)
        assert np.array_equal(a.model_matrices, whole.model_matrices[:n])
        assert len(a.events) == len(whole.events) == 1
        at_rest = mw.Animator(level).socket("tip"), mw.Animator(built).socket("tip")
        np.testing.assert_allclose(at_rest[0][..., 3], at_rest[1][..., 3], atol=1e-6)
        np.testing.assert_array_equal(
            level.skeleton.mask(["shoulder"]), built.skeleton.mask(["shoulder"])[:n]
        )
        assert level.clips["wave"].sample(1.0).morphs.tolist() == [1.0, 0.0]


def test_influences_shrink_with_their_error():
    built = mw.lod.build(ARM, influences=(2, 1))
    assert [level.lod.influences for level in built.levels] == [3, 2, 1]
    assert 0 < built.reduced[0].lod.error < built.reduced[1].lod.error


# -- materials ------------------------------------------------------------------------------------------------------
def test_sections_take_another_material_or_go():
    built = mw.lod.build(SMALL, (0.5, 0.3, 0.1), materials={2: {"glove": "skin"}, 3: {"glove": None}})
    sections = [[(s.material, s.name) for s in level.meshes[0].sections] for level in built.levels[1:]]
    assert sections == [[(0, "skin"), (1, "hand")], [(0, "skin")], [(0, "skin")]]
    assert built.levels[2].meshes[0].positions[:, 0].max() > 0.99
    last = built.levels[3]
    assert last.meshes[0].positions[:, 0].max() < 0.8
    assert last.lod.error < 0.1  # what was switched off on purpose does not count


# -- strange meshes -------------------------------------------------------------------------------------------------
def one_mesh(positions, triangles, **options):
    skeleton = mw.Skeleton(("root",), [-1])
    materials = tuple(mw.Material(f"m{k}") for k in range(options.pop("materials", 0)))
    return mw.Character(
        skeleton, (mw.Mesh.rigid("thing", positions, triangles, 0, **options),), materials=materials
    )


def test_one_triangle_stays():
    built = mw.lod.build(one_mesh(np.eye(3), [[0, 1, 2]]), (0.5, 0.1))
    assert [level.triangle_count for level in built.levels] == [1, 1, 1] and built.reduced[0].lod.error < 1e-6


def test_no_clips_no_triangles_no_meshes():
    bare = mw.lod.build(ARM.replace(clips=()), (0.2,))
    assert 0 < bare.reduced[0].lod.error < 0.05
    empty = mw.lod.build(one_mesh(np.zeros((0, 3)), np.zeros((0, 3), np.uint32)), (0.5,))
    assert empty.levels[1].triangle_count == 0 == empty.reduced[0].lod.error
    assert len(mw.lod.build(mw.Character(ARM.skeleton), (0.5,)).levels) == 2


def soup(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Closed boxes, none touching another: small ones and one large."""
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    box = np.array([[q[0], q[1], q[2]] for q in quads] + [[q[0], q[2], q[3]] for q in quads])
    rng = np.random.default_rng(seed)
    sizes = np.concatenate([[1.0], rng.uniform(0.001, 0.02, count - 1)])
    places = np.concatenate([[[0, 0, 0]], rng.uniform(2, 4, (count - 1, 3))])
    return (corners[None] * sizes[:, None, None] + places[:, None]).reshape(-1, 3), np.concatenate(
        [box + 8 * k for k in range(count)]
    )


def test_disconnected_pieces_small_ones_go_first_and_none_is_torn():
    thing = one_mesh(*soup(60))
    level = mw.lod.build(thing, (0.1,)).levels[1]
    assert boundary_edges(level) == 0 and level.triangle_count < 0.15 * thing.triangle_count
    assert np.ptp(level.meshes[0].positions, axis=0).max() > 0.9


def test_many_sections_that_vanish_are_reported():
    positions, triangles = soup(40)
    sections = tuple(mw.Section(12 * k, 12, k, f"box {k}") for k in range(40))
    built = mw.lod.build(one_mesh(positions, triangles, sections=sections, materials=40), (0.2,))
    level = built.levels[1]
    left = {s.name for s in level.meshes[0].sections}
    dropped = {line.message.split("'")[1] for line in level.report if line.kind == "dropped"}
    assert left | dropped == {f"box {k}" for k in range(40)} and not left & dropped and dropped
    for s in level.meshes[0].sections:
        assert s.name == f"box {s.material}"


def test_unwelded_and_duplicate_vertices():
    """A mesh in which every triangle has vertices of its own, as flat shading has it, and each of them twice."""
    mesh = ARM.meshes[0]
    flat = mesh.triangles.ravel()
    rows = np.concatenate([flat, flat])
    fields = {f: getattr(mesh, f)[rows] for f in ("positions", "joints", "weights", "tangents", "colors")}
    a, b, c = (mesh.positions[mesh.triangles[:, k]] for k in range(3))
    facing = np.repeat(np.cross(b - a, c - a), 3, axis=0)
    facing /= np.linalg.norm(facing, axis=1, keepdims=True)
    torn = mesh.replace(
        **fields, normals=np.concatenate([facing, facing]), uvs=(mesh.uvs[0][rows],), morph_targets=(),
        triangles=np.arange(len(flat)).reshape(-1, 3),
    )  # fmt: skip
    built = mw.lod.build(ARM.replace(meshes=(torn,)), (0.2,))
    level = built.levels[1]
    assert level.triangle_count <= 0.21 * ARM.triangle_count and boundary_edges(level) == 0
    assert level.lod.error < 2.5 * mw.lod.build(ARM, (0.2,)).reduced[0].lod.error
    assert "seams" in str(level.report)


def test_twelve_influences():
    rng = np.random.default_rng(3)
    mesh = ARM.meshes[0]
    joints = np.tile(np.arange(12) % 6, (mesh.vertex_count, 1))
    weights = mw.normalize_weights(rng.random((mesh.vertex_count, 12)))[0]
    many = ARM.replace(meshes=(mesh.replace(joints=joints, weights=weights),))
    built = mw.lod.build(many, (0.3, 0.1), joints=(6, 3), influences=(12, 4))
    assert built.levels[1].lod.influences == 12 and built.levels[2].lod.influences <= 4
    for level in built.levels:
        assert np.abs(level.meshes[0].weights.sum(axis=1) - 1).max() < 1e-5


# -- wrong calls ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"triangles": 0.5}, r"triangles=\(0.5,\)"),
        ({"triangles": ()}, "at least one level"),
        ({"triangles": (1.5,)}, "at most 1"),
        ({"triangles": (float("nan"),)}, "finite"),
        ({"triangles": (0,)}, "at least 1"),
        ({"triangles": ("half",)}, "whole number"),
        ({"triangles": (0.5,), "error": (0.1,)}, "not both"),
        ({"error": (-1,)}, "at least 0"),
        ({"joints": (0,)}, "at least 1"),
        ({"joints": ([],)}, "at least one joint"),
        ({"joints": (3,), "keep": 3}, "expected names"),
        ({"joints": (3,), "keep": ["wrist"], "remove": ["elbow"]}, "cannot keep"),
        ({"influences": (0,)}, "at least 1"),
        ({"triangles": (0.5,), "materials": {1: "glove"}}, "material: other"),
        ({"triangles": (0.5,), "materials": {2: {"glove": None}}}, "no level 2"),
        ({"triangles": (0.5,), "keep": {3: ["elbow"]}}, "no level 3"),
    ],
)  # fmt: skip
def test_wrong_wishes_are_errors_that_say_what_was_expected(options, said):
    with pytest.raises(ValidationError, match=said):
        mw.lod.build(ARM, **options)


def test_unknown_names_are_named():
    for options in ({"joints": (["elbw"],)}, {"triangles": (0.5,), "remove": ["elbw"]}):
        with pytest.raises(UnknownNameError, match="elbow"):
            mw.lod.build(ARM, **options)
    with pytest.raises(UnknownNameError, match="glove"):
        mw.lod.build(ARM, (0.5,), materials={1: {"glov": None}})
    with pytest.raises(MarrowError):
        mw.lod.build("arm")
    with pytest.raises(MarrowError, match="level 4"):
        mw.lod.joint_map(LEVELS, 4)


def test_vertices_that_are_no_numbers_are_refused():
    mesh = ARM.meshes[0]
    broken = mesh.positions.copy()
    broken[3] = np.nan
    with pytest.raises(ValidationError, match="marrow check"):
        mw.lod.build(ARM.replace(meshes=(mesh.replace(positions=broken),)), (0.5,))


def test_other_meshes_have_other_levels_and_clips_keep_them():
    changed = LEVELS.replace(meshes=ARM.meshes)
    assert changed.levels == (changed,) and "levels" in str(changed.report)
    more = LEVELS.replace(clips=[*LEVELS.clips.values(), LEVELS.clips["bend"].renamed("again")])
    assert len(more.levels) == 4 and "again" in more.levels[3].clips


def test_table_says_it_all():
    text = mw.lod.table(LEVELS)
    assert len(text.splitlines()) == 5 and "worst error" in text and "mm" in text
    assert str(LEVELS.levels[2].triangle_count) in text


def test_measured_fills_in_what_a_file_does_not_say():
    unknown = LEVELS.replace(
        reduced=tuple(
            mw.Level(level.meshes, dataclasses.replace(level.lod, error=None, mean_error=None, size=None))
            for level in LEVELS.reduced
        )
    )
    assert "not measured" in mw.lod.table(unknown)
    for a, b in zip(mw.lod.measured(unknown).reduced, LEVELS.reduced):
        assert a.lod == b.lod


def test_progress_is_told():
    told = []
    mw.lod.build(ARM, (0.5, 0.2), measure=False, progress=lambda what, part: told.append((what, part)))
    parts = [part for _, part in told]
    assert parts == sorted(parts) and parts[-1] == 1 and any("level 2" in what for what, _ in told)


def test_a_bound_over_all_points_is_close_to_the_truth():
    """A tent over a square: only the ridge is far, and no vertex of the square is below it."""
    from marrow.lod.distance import SurfaceParts, SurfaceTree, farthest

    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], np.float32)
    tent = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.3, 0.4, 0.2]], np.float32)
    sides = np.array([[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]])
    tree = SurfaceTree(tent, sides)
    tree.fit(tent)
    corners = square[[[0, 1, 2], [0, 2, 3]]]
    assert tree.distances(corners.reshape(-1, 3), np.full(6, -1, np.int32)).max() == 0
    found, pieces = farthest(tree, corners, SurfaceParts.whole(np.full((2, 3), -1, np.int32)), 0.0)
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 200)] * 2, [0.0]), axis=-1).reshape(-1, 3)
    truth = distances(grid, tent, sides).max()
    assert truth <= found <= 1.05 * truth
    # The parts that told it cover the square, and tell it again.
    area = np.linalg.norm(np.cross(*np.diff(pieces.corners(corners), axis=1).swapaxes(0, 1)), axis=-1) / 2
    assert len(pieces.owner) > 2 and area.sum() == pytest.approx(1)
    again, _ = farthest(tree, corners, pieces, 0.0)
    assert truth <= again <= 1.05 * truth


def many_pieces(flat=30):
    """A figure of 24 balls that hang together nowhere, and triangles without an area."""
    rng = np.random.default_rng(0)
    rings, around = 6, 12
    u, v = np.meshgrid(np.linspace(0, np.pi, rings + 1), np.linspace(0, 2 * np.pi, around + 1), indexing="ij")
    ball = np.stack([np.sin(u) * np.sin(v), np.cos(u), np.sin(u) * np.cos(v)], -1).reshape(-1, 3)
    a = (np.arange(rings)[:, None] * (around + 1) + np.arange(around)).reshape(-1)
    faces = np.concatenate(
        [np.stack([a, a + around + 1, a + 1], 1), np.stack([a + 1, a + around + 1, a + around + 2], 1)]
    )
    centers, radii = rng.uniform([-0.4, 0, -0.15], [0.4, 1.8, 0.15], (24, 3)), rng.uniform(0.05, 0.16, 24)
    points = np.concatenate([ball * r + c for r, c in zip(radii, centers)])
    triangles = np.concatenate([faces + k * len(ball) for k in range(24)] + [np.zeros((flat, 3), int)])
    mesh = mw.Mesh.rigid(
        "balls",
        points,
        triangles,
        0,
        normals=np.tile(ball, (24, 1)),
        sections=(mw.Section(0, len(triangles)),),
    )
    return mw.Character(mw.Skeleton(("root",), [-1]), (mesh,)), centers, radii


def test_a_body_of_many_pieces_stays_whole():
    who, centers, radii = many_pieces()
    levels = mw.lod.build(who, triangles=(0.1, 0.05), progress=False).levels[1:]
    for level, asked, off in zip(levels, (0.1, 0.05), (0.06, 0.1)):
        assert 0.7 * asked < level.triangle_count / who.triangle_count < 1.1 * asked
        assert level.lod.error < off * level.lod.size
        left = level.meshes[0].positions
        for center, radius in zip(centers, radii):
            assert (np.linalg.norm(left - center, axis=1) < 1.01 * radius).any()


def test_a_level_that_is_no_longer_what_it_stands_for_is_a_warning():
    who, *_ = many_pieces(0)
    level = mw.lod.build(who, triangles=(4,), progress=False).levels[1]
    assert any(line.kind == "warning" and "of the character's size" in line.message for line in level.report)
