"""Features against definitions of their own, in float64."""

import numpy as np
import pytest
from motion_files import body, motion
from scipy.spatial.transform import Rotation

import marrow as mw
from marrow import dataset

FPS = 30.0
ALL = [n for n in dataset.FEATURES if n not in ("matrices", "vertices", "morphs", "text", "tags")]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """One clip as a row, and its poses sampled by hand: local rotations, joints in model space."""
    folder = tmp_path_factory.mktemp("one")
    skeleton = body()
    clip = motion(skeleton, 3, 90)
    mw.save(mw.Character(skeleton, clips=[clip], name="person"), folder / "walk.marrow")
    out = folder / "out"
    found = dataset.build(
        folder / "walk.marrow", out, features=ALL, split=1, mirror=True, workers=0, rate=FPS
    )
    rows = {row["mirrored"]: row for row in found["train"]}
    T = rows[False]["frames"]
    pose = clip.sample(np.arange(T) / FPS)
    turns = Rotation.from_quat(pose.rotation.reshape(-1, 4).astype(np.float64))
    model = np.zeros((T, len(skeleton), 4, 4))
    for t in range(T):
        for j, p in enumerate(skeleton.parents):
            local = np.eye(4)
            local[:3, :3] = turns[t * len(skeleton) + j].as_matrix()
            local[:3, 3] = pose.translation[t, j]
            model[t, j] = local if p < 0 else model[t, p] @ local
    return skeleton, clip, rows, turns, model, found


def test_rotations_in_every_form_are_the_same_turns(made):
    skeleton, _, rows, turns, _, _ = made
    row = rows[False]
    T, J = row["frames"], len(skeleton)
    matrices = turns.as_matrix().reshape(T, J, 3, 3)
    stored = Rotation.from_quat(row["rotations"].reshape(-1, 4)).as_matrix()
    np.testing.assert_allclose(stored.reshape(T, J, 3, 3), matrices, atol=1e-6)
    six = np.concatenate([matrices[..., 0], matrices[..., 1]], axis=-1)
    np.testing.assert_allclose(row["rotations_6d"], six, atol=1e-6)
    np.testing.assert_allclose(row["rotations_axis_angle"].reshape(-1, 3), turns.as_rotvec(), atol=1e-6)
    np.testing.assert_allclose(row["rotations_euler"].reshape(-1, 3), turns.as_euler("ZXY"), atol=1e-5)


def test_positions_and_velocities(made):
    row, places = made[2][False], made[4][..., :3, 3]
    np.testing.assert_allclose(row["positions"], places, atol=1e-5)
    np.testing.assert_allclose(row["velocities"], np.gradient(places, 1 / FPS, axis=0), atol=1e-3)


def test_angular_velocity_turns_a_frame_into_the_next_but_one(made):
    _, _, rows, turns, _, _ = made
    row = rows[False]
    T, J = row["frames"], row["rotations"].shape[1]
    found = row["angular_velocities"].astype(np.float64)
    q = np.array(turns.as_quat()).reshape(T, J, 4)
    before, after = Rotation.from_quat(q[:-2].reshape(-1, 4)), Rotation.from_quat(q[2:].reshape(-1, 4))
    turned = Rotation.from_rotvec(found[1:-1].reshape(-1, 3) * 2 / FPS) * before
    assert (turned * after.inv()).magnitude().max() < 1e-5


def test_heading_frames_undo_the_heading(made):
    skeleton, row, places = made[0], made[2][False], made[4][..., :3, 3]
    heading = row["root_trajectory"][:, 3].astype(np.float64)
    left = sum(
        places[:, skeleton.index(f"left_upper_{part}")] - places[:, skeleton.index(f"right_upper_{part}")]
        for part in ("leg", "arm")
    )
    ahead = np.cross(left, [0.0, 1.0, 0.0])
    level = ahead[:, [0, 2]] / np.linalg.norm(ahead[:, [0, 2]], axis=1)[:, None]
    np.testing.assert_allclose(np.stack([np.sin(heading), np.cos(heading)]).T, level, atol=1e-5)
    np.testing.assert_allclose(row["root_trajectory"][:, :3], places[:, 0], atol=1e-5)
    back = Rotation.from_euler("Y", heading[:, None])
    seen = row["positions_heading"].astype(np.float64)
    for t in range(0, row["frames"], 7):
        np.testing.assert_allclose(back[t].apply(seen[t]) + places[t, 0] * [1, 0, 1], places[t], atol=1e-5)
        np.testing.assert_allclose(
            back[t].apply(row["velocities_heading"][t]), row["velocities"][t], atol=1e-4
        )
        np.testing.assert_allclose(
            back[t].apply(row["root_velocity"][t, :3]),
            np.gradient(places[:, 0], 1 / FPS, axis=0)[t],
            atol=1e-3,
        )
    yaw = np.gradient(np.unwrap(heading), 1 / FPS)
    np.testing.assert_allclose(row["root_velocity"][:, 3], yaw, atol=1e-3)


def test_the_mirrored_row_is_the_mirrored_clip(made):
    skeleton, clip, rows, _, _, _ = made
    other = clip.mirrored()
    pose = other.sample(np.arange(rows[True]["frames"]) / FPS)
    np.testing.assert_allclose(rows[True]["positions"], skeleton.to_model(pose)[..., 3], atol=1e-5)
    assert [e["name"] for e in rows[True]["events"]] == [e.name for e in other.events] == ["foot_r", "clap"]
    # A straight reflection: left joints are where right ones were, seen in a mirror.
    a, b = rows[False]["positions"], rows[True]["positions"]
    pair = [skeleton.index("left_hand"), skeleton.index("right_hand")]
    np.testing.assert_allclose(a[:, pair[0]] * [-1, 1, 1], b[:, pair[1]], atol=1e-5)


def test_contacts_are_low_and_slow_points(tmp_path):
    """A foot that stands for a second, then swings up: down only while it stands."""
    skeleton = body()
    T = 61
    pose = skeleton.rest.broadcast_to((T,)).copy()
    pose.translation[:, 0, 1] += 0.01  # a centimetre over where it rests
    lift = np.clip(np.arange(T) - 30, 0, None) / 30.0
    pose.translation[:, skeleton.index("left_upper_leg"), 1] += (0.5 * lift).astype(np.float32)
    mw.save(
        mw.Character(skeleton, clips=[mw.Clip.from_poses("lift", skeleton, pose, 30.0)]),
        tmp_path / "a.marrow",
    )
    found = dataset.build(tmp_path / "a.marrow", tmp_path / "out", features="contacts", split=1, workers=0)
    contacts = found["train"][0]["contacts"]
    assert contacts.dtype == np.uint8
    assert contacts[:28].all() and contacts[:, 2:].all() and not contacts[36:, :2].any()
    assert found.manifest.contacts == {"height": 0.05, "speed": 0.2, "leg": 0.85}
    strict = dataset.build(
        tmp_path / "a.marrow",
        tmp_path / "strict",
        features="contacts",
        split=1,
        workers=0,
        contact_height=0.005,
    )
    assert not strict["train"][0]["contacts"].any()


def test_meshes_give_vertices_matrices_and_morphs(tmp_path):
    hero = mw.samples.lizard()
    clip = next(iter(hero.clips.values()))
    mw.save(hero.replace(clips=(clip,)), tmp_path / "hero.marrow")
    found = dataset.build(
        tmp_path / "hero.marrow",
        tmp_path / "out",
        features="vertices matrices times",
        window=8,
        rate=20,
        split=1,
        workers=0,
    )
    row = found["train"][1]
    pose = clip.sample((8 + np.arange(8)) / 20)
    np.testing.assert_array_equal(
        row["vertices"], mw.skin(hero, pose, normals=False, tangents=False).positions
    )
    np.testing.assert_array_equal(row["matrices"], mw.skinning_matrices(hero, hero.skeleton.to_model(pose)))
    np.testing.assert_allclose(row["times"], (8 + np.arange(8)) / 20, atol=1e-6)
    mw.save(mw.Character(body(), clips=[motion(body(), 1, 20)]), tmp_path / "bare.marrow")
    with pytest.raises(mw.errors.ValidationError, match="no mesh"):
        dataset.build(tmp_path / "bare.marrow", tmp_path / "other", features="vertices", workers=0)


def test_a_skeleton_that_is_no_body_has_a_heading_too(tmp_path):
    """One joint that turns by a known angle."""
    bones = mw.Skeleton(("root",), [-1])
    t = np.linspace(0, 1, 31)
    turn = np.stack([0 * t, np.sin(t), 0 * t, np.cos(t)], axis=-1)  # two radians in a second
    clip = mw.Clip("turn", bones, [mw.Track(0, "rotation", t, turn)])
    mw.save(mw.Character(bones, clips=[clip]), tmp_path / "a.marrow")
    out = tmp_path / "out"
    found = dataset.build(
        tmp_path / "a.marrow", out, features="root_trajectory root_velocity", split=1, mirror=True, workers=0
    )
    np.testing.assert_allclose(found["train"][0]["root_trajectory"][:, 3], 2 * t, atol=1e-4)
    np.testing.assert_allclose(found["train"][0]["root_velocity"][:, 3], 2.0, atol=1e-3)
    (source,) = found.sources()
    assert len(found) == 1 and "not mirrored" in source["clips"][0]["report"][0]


@pytest.mark.parametrize(
    ("size", "scale", "words"), [(1.0, None, ""), (1 / 0.0254, None, "0.0254 m"), (100, 0.01, "")]
)
def test_lengths_that_are_no_metres_are_said_to_be_none(tmp_path, size, scale, words) -> None:
    skeleton = body(size)
    mw.save(mw.Character(skeleton, clips=(motion(skeleton, 0, 20),)), tmp_path / "take.bvh")
    found = dataset.build(
        tmp_path / "take.bvh",
        tmp_path / "out",
        features="positions",
        rate=10,
        split=1,
        scale=scale,
        workers=0,
    )
    (source,) = found.sources()
    lines = [line for line in source["report"] if "metres" in line]
    assert bool(lines) == bool(words) and all(words in line for line in lines)
