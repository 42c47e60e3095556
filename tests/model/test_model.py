"""The nouns: what they check, what they say when it is wrong, and that they stay as they are."""

import numpy as np
import pytest

import marrow as mw
from builders import character, mesh, skeleton
from marrow.errors import MarrowError, UnknownNameError, ValidationError
from marrow.math import affine

BODY = mw.Skeleton(
    ("root", "spine", "arm", "hand", "leg"),
    [-1, 0, 1, 2, 0],
    sockets=(mw.Socket("grip", 3),),
    morph_names=("smile",),
)


def box(**changes):
    fields = {
        "positions": np.zeros((3, 3)),
        "triangles": [[0, 1, 2]],
        "joints": [[0, 1]] * 3,
        "weights": [[0.5, 0.5]] * 3,
        "joint_list": [0, 1],
        "inverse_bind": affine.identity((2,)),
    }
    return mw.Mesh("box", **(fields | changes))


class TestSkeleton:
    def test_finds_joints_children_and_descendants(self):
        assert BODY.index("arm") == 2 and BODY.index(3) == 3 and "leg" in BODY and "tail" not in BODY
        assert BODY.children("root") == (1, 4)
        assert BODY.descendants("spine").tolist() == [1, 2, 3]
        assert BODY.ancestors("hand") == (2, 1, 0)
        assert BODY.depth.tolist() == [0, 1, 2, 3, 1]

    def test_unknown_joint_is_named_with_a_guess(self):
        with pytest.raises(UnknownNameError, match=r"no joint called 'spin'; did you mean 'spine'"):
            BODY.index("spin")
        with pytest.raises(UnknownNameError, match="known: root, spine, arm, hand, leg"):
            BODY.index("xyzzy")
        with pytest.raises(ValidationError, match=r"joint 5 does not exist: expected 0\.\.4"):
            BODY.index(5)
        with pytest.raises(UnknownNameError, match="no socket called 'grap'; did you mean 'grip'"):
            BODY.socket("grap")
        with pytest.raises(UnknownNameError, match="no morph"):
            BODY.morph_index("frown")

    def test_mask_with_falloff_grows_downward(self):
        assert BODY.mask("spine").tolist() == [0, 1, 1, 1, 0]
        np.testing.assert_allclose(BODY.mask("spine", depth_falloff=2), [0, 1 / 3, 2 / 3, 1, 0], rtol=1e-6)
        np.testing.assert_allclose(BODY.mask(["arm", "leg"], weight=0.5), [0, 0, 0.5, 0.5, 0.5])
        np.testing.assert_allclose(
            BODY.mask("arm", depth_falloff=lambda steps: 0.25 * steps), [0, 0, 0, 0.25, 0]
        )
        with pytest.raises(ValidationError, match="depth_falloff: expected at least 0"):
            BODY.mask("arm", depth_falloff=-1)

    def test_parents_come_first(self):
        with pytest.raises(
            ValidationError, match=r"Skeleton.parents\[1\] \('b'\) is 1: a parent must come before"
        ):
            mw.Skeleton(("a", "b"), [-1, 1])
        with pytest.raises(ValidationError, match=r"Skeleton.parents: expected shape \(2,\)"):
            mw.Skeleton(("a", "b"), [-1])
        with pytest.raises(ValidationError, match=r"Skeleton\.rest: expected 2 joints, got 3"):
            mw.Skeleton(("a", "b"), [-1, 0], mw.Pose.identity(3))
        with pytest.raises(ValidationError, match=r"Socket\('x'\).joint is 9"):
            mw.Skeleton(("a",), [-1], sockets=(mw.Socket("x", 9),))

    def test_duplicate_names_answer_with_the_first(self):
        assert mw.Skeleton(("a", "b", "b"), [-1, 0, 0]).index("b") == 1

    def test_repr_is_short(self):
        assert repr(BODY) == "Skeleton(5 joints, roots=['root'], 1 morphs, 1 sockets)"


class TestPose:
    def test_indexing_picks_from_the_batch(self):
        batch = mw.Pose.identity(4, 2, (5, 6))
        assert (
            batch[2].batch_shape == (6,)
            and batch[2, 3].batch_shape == ()
            and batch[:, 1:3].batch_shape == (5, 2)
        )
        assert batch.morphs.shape == (5, 6, 2) and len(batch) == 5
        with pytest.raises(IndexError):
            batch[0, 0, 0]

    def test_shapes_must_agree(self):
        with pytest.raises(
            ValidationError, match=r"Pose.rotation: expected shape \(..., J, 4\), got \(2, 3\)"
        ):
            mw.Pose(np.zeros((2, 3)), np.zeros((2, 3)), np.ones((2, 3)))
        with pytest.raises(ValidationError, match=r"must agree on \(..., J\)"):
            mw.Pose(np.zeros((2, 3)), np.zeros((3, 4)), np.ones((2, 3)))
        with pytest.raises(ValidationError, match=r"Pose\.morphs"):
            mw.Pose(np.zeros((2, 3)), np.zeros((2, 4)), np.ones((2, 3)), np.zeros((4, 1)))
        with pytest.raises(ValidationError, match="expected numbers"):
            mw.Pose([["a", "b", "c"]], np.zeros((1, 4)), np.ones((1, 3)))


class TestMesh:
    @pytest.mark.parametrize(
        ("changes", "text"),
        [
            (
                {"positions": np.zeros((3, 2))},
                r"Mesh\('box'\).positions: expected shape \(V, 3\), got \(3, 2\)",
            ),
            ({"normals": np.zeros((2, 3))}, r"normals: expected shape \(3, 3\), got \(2, 3\)"),
            ({"triangles": [[0, 1, 3]]}, "triangles: index 3 is out of range for 3 vertices"),
            ({"triangles": [[0.5, 1, 2]]}, "triangles: expected integers"),
            ({"joints": [[0, 2]] * 3}, "joints: index 2 is out of range for a joint list of 2"),
            ({"joints": [[0, -1]] * 3}, "out of range"),
            ({"weights": [[np.nan, 1]] * 3}, "vertex 0 has a weight that is not finite"),
            ({"weights": [[0, 0]] * 3}, "those of vertex 0 sum to zero; use mw.normalize_weights"),
            ({"weights": [[0.5, 0.6]] * 3}, "sum to 1.1, not 1"),
            ({"weights": [[-0.5, 1.5]] * 3}, "vertex 0 has a negative weight"),
            ({"weights": np.zeros((3, 0)), "joints": np.zeros((3, 0), int)}, "at least one influence"),
            ({"inverse_bind": affine.identity((3,))}, r"inverse_bind: expected shape \(2, 3, 4\)"),
            ({"skinning": "magic"}, "skinning: expected one of linear, dual_quaternion, blended"),
            ({"skinning": "blended"}, "blended skinning needs dual_quaternion_weights"),
            ({"sections": (mw.Section(0, 2),)}, r"sections\[0\]: triangles 0..2 are outside 0..1"),
            ({"morph_targets": (mw.MorphTarget("m", 0, np.zeros((2, 3))),)}, "the mesh has 3 vertices"),
        ],
    )
    def test_what_is_wrong_is_said(self, changes, text):
        with pytest.raises(ValidationError, match=text):
            box(**changes)

    def test_frozen_arrays_are_copies(self):
        mine = np.zeros((3, 3), np.float32)
        made = box(positions=mine)
        mine[0] = 7
        assert (made.positions == 0).all()
        with pytest.raises(ValueError):
            made.positions[0] = 1
        with pytest.raises(AttributeError):
            made.name = "other"

    def test_read_only_arrays_of_the_right_type_are_kept(self):
        mine = np.zeros((3, 3), np.float32)
        mine.flags.writeable = False
        assert np.shares_memory(box(positions=mine).positions, mine)

    def test_rigid_mesh_names_its_joint(self):
        assert mw.Mesh.rigid("prop", np.zeros((3, 3)), [[0, 1, 2]], 4).rigid_joint == 4
        assert box().rigid_joint is None

    def test_reordered_is_the_same_surface(self):
        who = character(1, vertices=200, morphs=2)
        mixed = who.replace(meshes=(who.meshes[0].reordered(),))
        posed = who.skeleton.rest
        a, b = mw.skin(who, posed).positions, mw.skin(mixed, posed).positions
        np.testing.assert_array_equal(a[np.lexsort(a.T)], b[np.lexsort(b.T)])


class TestMorphs:
    def test_in_between_targets_take_over_from_each_other(self):
        from marrow.model.morph import target_weights

        half = mw.MorphTarget("half", 0, np.zeros((1, 3)), full_weight=0.5)
        full = mw.MorphTarget("full", 0, np.zeros((1, 3)))
        got = target_weights([half, full], np.array([[0.0], [0.25], [0.5], [0.75], [1.0], [1.5]]))
        np.testing.assert_allclose(got, [[0, 0], [0.5, 0], [1, 0], [0.5, 0.5], [0, 1], [-1, 2]])

    def test_negative_weight_runs_along_the_first_line(self):
        from marrow.model.morph import target_weights

        pair = [
            mw.MorphTarget("half", 0, np.zeros((1, 3)), full_weight=0.5),
            mw.MorphTarget("f", 0, np.zeros((1, 3))),
        ]
        np.testing.assert_allclose(target_weights(pair, np.array([-0.25])), [-0.5, 0])


class TestClip:
    def test_tracks_are_packed_and_shown_again(self):
        tracks = [
            mw.Track(1, "rotation", [0, 1], [[0, 0, 0, 1], [0, 0, 1, 0]]),
            mw.Track(0, "translation", [0.5], np.ones((1, 3, 3)), "cubic"),
            mw.Track(0, "morph", [0, 2], [0.0, 1.0], "step"),
            mw.Track(2, "scale", [], np.zeros((0, 3))),
        ]
        clip = mw.Clip("c", BODY, tracks)
        assert len(clip.tracks) == 3 and clip.duration == 2
        assert [t.path for t in clip.tracks] == ["rotation", "translation", "morph"]
        assert clip.tracks[1].values.shape == (1, 3, 3) and clip.tracks[2].values.tolist() == [[0], [1]]

    @pytest.mark.parametrize(
        ("make", "text"),
        [
            (lambda: mw.Track(0, "spin", [0], [[0, 0, 0]]), "path: expected one of"),
            (lambda: mw.Track(0, "scale", [0], [[0, 0]]), r"values: expected shape \(1, 3\)"),
            (lambda: mw.Track(0, "scale", [0], [[0, 0, 0]], "smooth"), "interpolation: expected one of"),
            (
                lambda: mw.Clip("c", BODY, [mw.Track(9, "scale", [0], [[1, 1, 1]])]),
                "scale of 9 does not exist",
            ),
            (
                lambda: mw.Clip("c", BODY, [mw.Track(0, "scale", [1, 0], np.ones((2, 3)))]),
                "must not decrease",
            ),
            (lambda: mw.Clip("c", BODY, [mw.Track(0, "scale", [np.nan], np.ones((1, 3)))]), "must be finite"),
            (lambda: mw.Clip("c", BODY, duration=-1), "duration: expected at least 0"),
        ],
    )
    def test_what_is_wrong_is_said(self, make, text):
        with pytest.raises(ValidationError, match=text):
            make()

    def test_two_tracks_may_each_start_at_zero(self):
        later = mw.Track(0, "scale", [0, 5], np.ones((2, 3)))
        assert mw.Clip("c", BODY, [later, mw.Track(1, "scale", [0, 1], np.ones((2, 3)))]).duration == 5

    def test_events_are_sorted(self):
        clip = mw.Clip("c", BODY, duration=1, events=(mw.Event(0.5, "b"), mw.Event(0.1, "a")))
        assert [e.name for e in clip.events] == ["a", "b"]

    @pytest.mark.parametrize(("times", "words"), [([0, np.nan], "finite"), ([1, 0], "decrease")])
    def test_a_track_refuses_times_that_are_none(self, times, words):
        with pytest.raises(ValidationError, match=words):
            mw.Track(0, "rotation", times, [[0, 0, 0, 1]] * 2)

    def test_a_rate_that_would_fill_the_memory_is_refused(self):
        clip = mw.Clip("turn", BODY, [mw.Track(0, "rotation", [0, 1], [[0, 0, 0, 1]] * 2)])
        for tool in (clip.resampled, clip.at_rate):
            with pytest.raises(ValidationError, match="at most 10000"):
                tool(1e6)


@pytest.mark.parametrize("noun", [BODY.rest, character(0), character(0).meshes[0], mw.Clip("a", BODY)])
def test_an_unknown_field_is_named(noun):
    with pytest.raises(UnknownNameError, match=f"field of {type(noun).__name__} called 'nope'"):
        noun.replace(nope=3)


class TestCharacter:
    def test_clips_by_name_number_and_error(self):
        who = mw.Character(BODY, clips=[mw.Clip("run", BODY), mw.Clip("walk", BODY)])
        assert who.clips["walk"] is who.clips[1] and list(who.clips) == ["run", "walk"]
        with pytest.raises(UnknownNameError, match="no clip called 'ran'; did you mean 'run'"):
            who.clips["ran"]
        with pytest.raises(ValidationError, match="two clips are called 'run'"):
            mw.Character(BODY, clips=[mw.Clip("run", BODY), mw.Clip("run", BODY)])

    def test_references_are_checked(self):
        with pytest.raises(ValidationError, match="joint 7 is outside the skeleton's 5"):
            mw.Character(BODY, (box(joint_list=[0, 7]),))
        with pytest.raises(ValidationError, match="material 0 does not exist"):
            mw.Character(BODY, (box(sections=(mw.Section(0, 1, 0),)),))
        with pytest.raises(ValidationError, match="is on channel 3"):
            mw.Character(BODY, (box(morph_targets=(mw.MorphTarget("m", 3, np.zeros((3, 3))),)),))
        with pytest.raises(ValidationError, match="image 0 does not exist"):
            mw.Character(BODY, materials=(mw.Material("m", base_color_texture=mw.Texture(0)),))

    def test_palette_has_one_entry_per_joint_until_binds_differ(self):
        moved = affine.identity((2,))
        moved[:, 0, 3] = 1
        who = mw.Character(BODY, (box(), box(), box(inverse_bind=moved)))
        assert len(who.palette) == 7
        assert who.palette.joints.tolist() == [0, 1, 2, 3, 4, 0, 1]
        assert [s.tolist() for s in who.palette.mesh_slots] == [[0, 1], [0, 1], [5, 6]]

    def test_all_errors_are_marrow_errors(self):
        assert issubclass(ValidationError, MarrowError) and issubclass(UnknownNameError, MarrowError)
        assert issubclass(ValidationError, ValueError) and issubclass(UnknownNameError, KeyError)


class TestWeights:
    def test_limit_keeps_the_strongest_and_reports(self):
        rng = np.random.default_rng(0)
        bones = skeleton(rng)
        made = mesh(
            rng, bones, 2, 3, weights=[[0.2, 0.5, 0.3], [0.7, 0.3, 0.0]], joints=[[0, 1, 2], [3, 4, 5]],
        )  # fmt: skip
        done = mw.limit_influences(made, 2)
        np.testing.assert_allclose(done.mesh.weights, [[0.625, 0.375], [0.7, 0.3]], rtol=1e-6)
        assert done.mesh.joints.tolist() == [[1, 2], [3, 4]]
        assert done.largest_dropped == pytest.approx(0.2) and done.vertices_changed == 1
        assert mw.limit_influences(made, 8).mesh is made
        with pytest.raises(ValidationError, match="at least 1"):
            mw.limit_influences(made, 0)

    @pytest.mark.parametrize("bits", [8, 16])
    def test_packed_weights_sum_exactly(self, bits):
        weights = mw.normalize_weights(np.random.default_rng(1).random((500, 7)) ** 4)[0]
        packed = mw.pack_weights(weights, bits)
        assert (packed.sum(axis=1, dtype=np.int64) == 2**bits - 1).all()
        assert np.abs(mw.unpack_weights(packed) - weights).max() <= 1.01 / (2**bits - 1)
        zero = mw.pack_weights([[1 / 3, 1 / 3, 1 / 3, 0]], bits)
        assert zero[0, 3] == 0

    def test_packing_refuses_nonsense(self):
        with pytest.raises(ValidationError, match="sum to zero"):
            mw.pack_weights([[0, 0]])
        with pytest.raises(ValidationError, match="8 or 16"):
            mw.pack_weights([[1.0]], 4)
        with pytest.raises(ValidationError, match="finite"):
            mw.pack_weights([[np.nan]])

    def test_normalising_clamps_and_marks_bare_vertices(self):
        weights, bare = mw.normalize_weights([[2, 2], [0, 0], [np.nan, 1], [-1, 3]])
        np.testing.assert_allclose(weights, [[0.5, 0.5], [1, 0], [0, 1], [0, 1]])
        assert bare.tolist() == [False, True, False, False]
