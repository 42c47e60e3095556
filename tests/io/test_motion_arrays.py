"""Motion in bare numbers: what is recognised, what is refused, and that the same motion is the same in every form."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

import marrow as mw
import point_worlds
from marrow.cli.app import run
from marrow.errors import FormatError, ResourceLimitError, ValidationError
from marrow.math import quaternion
from marrow.motion.point_layouts import LAYOUTS

SMPL = LAYOUTS["smpl-joints"].points


def points(name: str) -> np.ndarray:
    return point_worlds.key_points(LAYOUTS[name].points).astype(np.float32)


def saved(path: Path, array: np.ndarray) -> Path:
    np.save(path, array)
    return path


def load(path: Path, **options: object) -> mw.Character:
    return mw.load(path, cache=False, **options)


def told(character: mw.Character, place: str) -> str:
    return " | ".join(str(line) for line in character.report if line.place == place)


def places(character: mw.Character, frames: int = 31, rate: float = 30.0) -> np.ndarray:
    clip = character.clips[0]
    return character.skeleton.to_model(clip.sample(np.arange(frames) / rate))[..., 3]


def assert_same(a: mw.Character, b: mw.Character, far: float = 1e-4) -> None:
    assert a.skeleton.names == b.skeleton.names
    np.testing.assert_allclose(places(a), places(b), atol=far)


@pytest.mark.parametrize("name", LAYOUTS)
def test_key_points_are_recognised_and_followed(tmp_path: Path, name: str) -> None:
    given = points(name)
    character = load(saved(tmp_path / "points.npy", given), rate=30)
    assert f"({name})" in told(character, "motion") and "30 frames a second (as it was said)" in told(
        character, "motion"
    )
    assert "y is up" in told(character, "up") and "1 m" in told(character, "units")
    found = places(character)
    for point in ("left_knee", "right_wrist", "left_shoulder"):
        wanted = given[:, LAYOUTS[name].points.index(point)]
        assert np.linalg.norm(found[:, character.skeleton.index(point)] - wanted, axis=-1).max() < 0.015
    assert character.clips[0].name == "motion" and character.skeleton.humanoid["leftFoot"] >= 0


def test_frames_last_flat_and_several_recordings_are_the_same(tmp_path: Path) -> None:
    given = points("smpl-joints")
    wanted = load(saved(tmp_path / "a.npy", given), rate=30)
    for form in (given.transpose(1, 2, 0), given.reshape(31, 66), given[None]):
        clips = load(saved(tmp_path / "b.npy", form), rate=30)
        np.testing.assert_allclose(places(clips), places(wanted), atol=1e-6)
    two = load(saved(tmp_path / "b.npy", np.stack([given, given[::-1]]).transpose(0, 2, 3, 1)), rate=30)
    assert list(two.clips) == ["motion_0", "motion_1"]
    np.savez(tmp_path / "c.npz", joints=given, fps=30.0)
    assert_same(load(tmp_path / "c.npz"), wanted)
    assert "as the file says" in told(load(tmp_path / "c.npz"), "motion")


def encoded(given: np.ndarray, yaw: np.ndarray) -> np.ndarray:
    """HumanML3D's features of joints `(T, 22, 3)` whose root is turned by `yaw (T,)`, worked out frame by frame."""
    out = np.zeros((len(given) - 1, 263))
    for t in range(len(out)):
        c, s = np.cos(yaw[t]), np.sin(yaw[t])
        back = np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])  # what the root sees of the world
        after = np.array(
            [
                [np.cos(yaw[t + 1]), 0, -np.sin(yaw[t + 1])],
                [0, 1, 0],
                [np.sin(yaw[t + 1]), 0, np.cos(yaw[t + 1])],
            ]
        )
        out[t, 0] = -(yaw[t + 1] - yaw[t]) / 2  # half angles, of the turn from the world to the root
        out[t, 1:3] = (after @ (given[t + 1, 0] - given[t, 0]))[[0, 2]]
        out[t, 3] = given[t, 0, 1]
        seen = (given[t, 1:] - given[t, 0] * (1, 0, 1)) @ back.T
        out[t, 4:67] = seen.reshape(-1)
    return out


def test_humanml3d_features_and_joints_are_one_motion(tmp_path: Path) -> None:
    given = points("smpl-joints").astype(np.float64)
    given[:, :, [0, 2]] -= given[0, 0, [0, 2]]
    yaw = np.linspace(0, 1.2, 31)
    turned = np.stack(
        [quaternion.rotate(quaternion.from_axis_angle([0.0, 1, 0], a), g) for a, g in zip(yaw, given)]
    )
    features = saved(tmp_path / "features.npy", encoded(turned, yaw).astype(np.float32))
    character = load(features)
    assert "HumanML3D" in told(character, "motion") and "20 frames a second" in told(character, "motion")
    assert character.clips[0].duration == pytest.approx(29 / 20)
    joints = load(saved(tmp_path / "joints.npy", turned[:-1].astype(np.float32)))
    assert "20 frames a second" in told(joints, "motion")
    np.testing.assert_allclose(places(character, 30, 20), places(joints, 30, 20), atol=2e-4)
    found = places(character, 30, 20)
    knee = SMPL.index("left_knee")
    np.testing.assert_allclose(found[:, character.skeleton.index("left_knee")], turned[:-1, knee], atol=2e-3)
    with pytest.raises(FormatError, match="normalised"):
        load(
            saved(tmp_path / "normal.npy", np.random.default_rng(0).normal(size=(20, 263)).astype(np.float32))
        )


def test_axes_units_and_hands_are_told_by_the_body(tmp_path: Path) -> None:
    given = points("body25")
    wanted = load(saved(tmp_path / "a.npy", given), rate=30)
    for name, form, word in (
        ("z up", given[..., [0, 2, 1]] * (1, -1, 1), "z is up"),
        ("y down", given * (1, -1, -1), "-y is up"),
        ("millimetres", given * 1000, "0.001 m"),
        ("left-handed", given * (1, 1, -1), "left hand"),
    ):
        character = load(saved(tmp_path / f"{name}.npy", form.astype(np.float32)), rate=30)
        assert word in str(character.report), name
        assert_same(character, wanted, 2e-4)
    flat = given[..., [0, 2, 1]] * (1, -1, 1)
    said = load(saved(tmp_path / "z.npy", flat.astype(np.float32)), rate=30, up="z")
    assert "as it was said" in told(said, "up")
    assert_same(said, wanted, 2e-4)


def test_places_from_the_hips_are_put_on_the_ground(tmp_path: Path) -> None:
    given = points("mediapipe")
    hips = given[:, [23, 24]].mean(axis=1, keepdims=True)
    character = load(saved(tmp_path / "hips.npy", given - hips))
    assert "stand on the ground" in told(character, "ground")
    assert -0.05 < places(character)[..., 1].min() < 0.15


def test_what_could_be_several_things_is_asked_for(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).normal(size=(9, 17, 3)).astype(np.float32)
    with pytest.raises(FormatError, match=r"motion='coco'.*motion='h36m'.*--motion"):
        load(saved(tmp_path / "noise.npy", noise))
    with pytest.raises(FormatError, match="motion='smpl'"):
        load(saved(tmp_path / "turns.npy", noise.reshape(-1)[: 6 * 72].reshape(6, 72)))
    with pytest.raises(FormatError, match=r"\(9, 18, 3\) is no motion.*17 \(coco\)"):
        load(saved(tmp_path / "odd.npy", np.zeros((9, 18, 3))))
    with pytest.raises(FormatError, match="expected \\(T, 33, 3\\)"):
        load(tmp_path / "noise.npy", motion="mediapipe")
    with pytest.raises(ValidationError, match=r"load\.motion: expected one of"):
        load(tmp_path / "noise.npy", motion="dance")
    turns = load(tmp_path / "turns.npy", motion="smpl", rate=30)
    assert len(turns.skeleton) == 24 and "one place" in str(turns.report)
    picture = points("body25").copy() * 300 + 500
    picture[..., 2] = 0.9
    with pytest.raises(FormatError, match="points in a picture"):
        load(saved(tmp_path / "picture.npy", picture))


def test_points_that_are_missing_now_and_then_are_filled_in(tmp_path: Path) -> None:
    given = points("coco")
    wanted = load(saved(tmp_path / "a.npy", given))
    holes = given.copy()
    holes[10:12, 9] = np.nan
    character = load(saved(tmp_path / "b.npy", holes))
    assert "2 places are missing" in str(character.report) and "left wrist" in str(character.report)
    assert np.abs(places(character) - places(wanted)).max() < 0.02
    unsure = np.concatenate([given, np.ones((31, 17, 1))], axis=2)
    unsure[10:12, 9, :3], unsure[10:12, 9, 3] = 0.0, 0.0
    np.testing.assert_allclose(
        places(load(saved(tmp_path / "c.npy", unsure.astype(np.float32)))), places(character), atol=1e-5
    )


def test_points_that_are_always_missing_are_named(tmp_path: Path) -> None:
    given = points("coco")
    given[:, 0] = np.nan  # the nose: a body can do without
    assert "nose: missing in every frame" in str(load(saved(tmp_path / "a.npy", given)).report)
    given[:, 13] = np.nan
    with pytest.raises(FormatError, match="left knee: missing in every frame"):
        load(saved(tmp_path / "b.npy", given), motion="coco")
    with pytest.raises(FormatError, match="no frame shows the whole body"):
        load(tmp_path / "b.npy")


def test_json_csv_trc_and_c3d_are_the_same_motion(tmp_path: Path) -> None:
    names = ("Hip", "RHip", "RKnee", "RAnkle", "LHip", "LKnee", "LAnkle", "Neck", "Nose", "RShoulder", "RElbow", "RWrist",
             "LShoulder", "LElbow", "LWrist")  # fmt: skip
    known = ("pelvis", "right_hip", "right_knee", "right_ankle", "left_hip", "left_knee", "left_ankle", "neck", "nose",
             "right_shoulder", "right_elbow", "right_wrist", "left_shoulder", "left_elbow", "left_wrist")  # fmt: skip
    given = point_worlds.key_points(known)
    frames = [{name: p.tolist() for name, p in zip(names, frame)} for frame in given]
    (tmp_path / "a.json").write_text(json.dumps({"fps": 30, "frames": frames}))
    wanted = load(tmp_path / "a.json")
    assert "told by their names" in told(wanted, "motion")
    listed = [[{"x": p[0], "y": p[1], "z": p[2], "visibility": 1.0} for p in frame] for frame in given]
    (tmp_path / "b.json").write_text(json.dumps({"fps": 30, "names": names, "frames": listed}))
    head = ",".join(f"{name}_{c}" for name in names for c in "xyz")
    rows = "\n".join(
        f"{t / 30:.6f}," + ",".join(f"{v:.6f}" for v in f.reshape(-1)) for t, f in enumerate(given)
    )
    (tmp_path / "c.csv").write_text(f"time,{head}\n{rows}\n")
    (tmp_path / "d.trc").write_text(trc(names, given * 1000))
    (tmp_path / "e.c3d").write_bytes(c3d(names, given * 1000))
    for name in ("b.json", "c.csv", "d.trc", "e.c3d"):
        character = load(tmp_path / name)
        assert "30 frames a second (as the file says)" in told(character, "motion"), name
        assert_same(character, wanted, 1e-3)
    assert "0.001 m, as the file says" in told(load(tmp_path / "d.trc"), "units")


def trc(names: tuple[str, ...], given: np.ndarray) -> str:
    T, P, _ = given.shape
    lines = [
        "PathFileType\t4\t(X/Y/Z)\tx.trc",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits",
        f"30\t30\t{T}\t{P}\tmm",
        "Frame#\tTime\t" + "\t\t\t".join(names),
        "\t\t" + "\t".join(f"{c}{k + 1}" for k in range(P) for c in "XYZ"),
        "",
    ]
    for t, frame in enumerate(given):
        lines.append(f"{t + 1}\t{t / 30:.5f}\t" + "\t".join(f"{v:.3f}" for v in frame.reshape(-1)))
    return "\n".join(lines)


def c3d(names: tuple[str, ...], given: np.ndarray) -> bytes:
    """A C3D file of float points: a header block, two blocks of parameters, frames."""
    T, P, _ = given.shape
    labels = "".join(name.ljust(12) for name in names).encode()

    def entry(name: str, group: int, body: bytes) -> bytes:
        return struct.pack("<bb", len(name), group) + name.encode() + struct.pack("<H", 2 + len(body)) + body

    parameters = b"\x00\x00\x02\x54" + entry("POINT", -1, b"\x00")
    parameters += entry("LABELS", 1, struct.pack("<bBBB", -1, 2, 12, P) + labels + b"\x00")
    parameters += entry("UNITS", 1, struct.pack("<bBB", -1, 1, 2) + b"mm" + b"\x00") + b"\x00\x00"
    header = struct.pack("<BB4HH", 2, 0x50, P, 0, 1, T, 10) + struct.pack("<fHHf", -1.0, 4, 0, 30.0)
    rows = np.concatenate([given, np.zeros((T, P, 1))], axis=2).astype("<f4")
    return header.ljust(512, b"\0") + parameters.ljust(1024, b"\0") + rows.tobytes()


def test_damaged_c3d_files_are_refused(tmp_path: Path) -> None:
    names = tuple(f"p{k}" for k in range(4))
    good = c3d(names, np.zeros((3, 4, 3)))
    no_unit = good.replace(struct.pack("<bBB", -1, 1, 2) + b"mm", struct.pack("<bBB", -1, 1, 0) + b"mm")
    for data, word in (
        (good, "none of them is called"),
        (no_unit, "none of them is called"),
        (good[:-9], "cut short"),
        (good[:600], "no C3D"),
        (good[:515] + b"\x55" + good[516:], "DEC or SGI"),
        (good[:2] + b"\0\0" + good[4:], "no points"),
        (b"\xff" + good[1:], "outside the file"),
    ):
        (tmp_path / "a.c3d").write_bytes(data)
        with pytest.raises(FormatError, match=word):
            load(tmp_path / "a.c3d")


def test_openpose_frames_without_a_person_are_filled_in(tmp_path: Path) -> None:
    given = points("body25")
    frames: list[object] = [
        {
            "people": [
                {"pose_keypoints_3d": np.concatenate([f, np.ones((25, 1))], axis=1).reshape(-1).tolist()}
            ]
        }
        for f in given
    ]
    frames[4] = {"people": []}
    (tmp_path / "a.json").write_text(json.dumps(frames))
    character = load(tmp_path / "a.json")
    assert "BODY_25" in told(character, "motion") and "25 places are missing" in str(character.report)


WRONG_JSON = [
    "", "{", "[]", "[[]]", '{"frames": []}', '[["a"]]', '{"a": 1}', "[1, 2]", "[" * 20000, "[null]", '[[{"x": 1}]]',
    "[[[0, 1, 2]], [[0, 1, 2], [0, 1, 2]]]", '{"people": [{}]}', "[[1e999, 2, 3]]",
]  # fmt: skip


@pytest.mark.parametrize("text", WRONG_JSON)
def test_wrong_json_is_an_error_in_words(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(FormatError):
        load(path)


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n",
        "a_x,a_y\n1,2\n",
        "1,2\n3\n",
        "nose_x,nose_y,nose_z\n1,2,c\n",
        "nose_x,nose_y,nose_z\n1,2\n",
        ",,,\n",
        "1,2,3\n",
    ],
)
def test_wrong_tables_are_an_error_in_words(tmp_path: Path, text: str) -> None:
    for suffix in (".csv", ".trc"):
        path = tmp_path / f"a{suffix}"
        path.write_text(text if suffix == ".csv" else "PathFileType\t4\n" + text)
        with pytest.raises(FormatError):
            load(path)


def header(shape: str, kind: str = "<f4") -> bytes:
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    text = text.ljust(118 - 1) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (header("(1000000000000, 22, 3)") + b"\0" * 99, "cut short"),
        (header("(5, 22, 3)") + b"\0" * 99, "cut short"),
        (header("(-5, 22, 3)"), "shape|header"),
        (header("(5, 22, 3)", "|O") + b"\0" * 9999, "Python objects"),
        (header("(0, 22, 3)"), "no frames"),
        (header("(22, 3, 0)"), "no frames"),
        (header("(3,)", "<U4") + b"\0" * 48, "not numbers"),
        (b"\x93NUMPY\x09\x00rubbish", "header"),
        (b"\x93NUMPY", "header"),
        (header("(5, 22, 3)").replace(b")", b"("), "header"),
    ],
)
def test_damaged_and_hostile_arrays_are_refused(tmp_path: Path, data: bytes, word: str) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(data)
    with pytest.raises(FormatError, match=word):
        load(path)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("joints.npy", data)
    (tmp_path / "a.npz").write_bytes(archive.getvalue())
    with pytest.raises(FormatError, match=word):
        load(tmp_path / "a.npz")


def test_nothing_but_gaps_and_rubbish_is_refused(tmp_path: Path) -> None:
    for value in (np.nan, np.inf, 0.0, 1e30):
        with pytest.raises(FormatError):
            load(saved(tmp_path / "a.npy", np.full((5, 22, 3), value)))
        with pytest.raises(FormatError):
            load(tmp_path / "a.npy", motion="smpl-joints")


def test_archives_that_unpack_to_too_much_are_refused(tmp_path: Path) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("joints.npy", header("(2000000, 22, 3)") + bytes(100 << 20))
    (tmp_path / "bomb.npz").write_bytes(archive.getvalue())
    with pytest.raises(ResourceLimitError, match="unpacks to"):
        load(tmp_path / "bomb.npz")


def test_archives_with_several_motions_or_none_say_so(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", joints=points("coco"), positions=points("coco"))
    with pytest.raises(FormatError, match="which of joints, positions"):
        load(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", weights=np.zeros(4), bias=np.zeros(4))
    with pytest.raises(FormatError, match="none of its arrays"):
        load(tmp_path / "b.npz")


def test_kimodo_archives_are_followed_exactly(tmp_path: Path) -> None:
    from marrow.io.motion_arrays.kimodo import _known

    rng = np.random.default_rng(2)
    for J in (22, 30, 34, 77):
        _, tree, _ = _known(J)
        order = {name: k for k, (name, _) in enumerate(tree)}
        offsets = rng.normal(0, 0.1, (J, 3))
        local = quaternion.normalize(np.array([0, 0, 0, 1]) + rng.normal(0, 0.3, (5, J, 4)))
        world, at = np.empty((5, J, 3, 3)), np.empty((5, J, 3))
        for k, (_, parent) in enumerate(tree):
            own = quaternion.to_matrix(local[:, k])
            p = order.get(parent, -1)
            world[:, k] = own if p < 0 else world[:, p] @ own
            at[:, k] = rng.normal(0, 1, (5, 3)) if p < 0 else at[:, p] + world[:, p] @ offsets[k]
        np.savez(
            tmp_path / "k.npz", posed_joints=at.astype(np.float32), global_rot_mats=world.astype(np.float32)
        )
        character = load(tmp_path / "k.npz")
        assert "Kimodo" in told(character, "motion") and character.clips[0].rate == 30
        model = character.skeleton.to_model(character.clips[0].sample(np.arange(5) / 30))
        np.testing.assert_allclose(model[:, :J, :, 3], at, atol=1e-4)
        np.testing.assert_allclose(model[:, :J, :, :3], world, atol=1e-4)
        np.savez(tmp_path / "l.npz", posed_joints=at, local_rot_mats=quaternion.to_matrix(local))
        again = load(tmp_path / "l.npz")
        np.testing.assert_allclose(places(again, 5)[:, :J], at, atol=1e-4)
    np.savez(tmp_path / "m.npz", posed_joints=at)
    with pytest.raises(FormatError, match="no rotations"):
        load(tmp_path / "m.npz")
    np.savez(tmp_path / "m.npz", posed_joints=at[:, :29], global_rot_mats=world)
    with pytest.raises(FormatError, match="29 joints"):
        load(tmp_path / "m.npz")


def test_parts_of_smpl_poses_are_put_together(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    root, body, hands = (rng.normal(0, 0.3, (4, n)) for n in (3, 63, 90))
    np.savez(
        tmp_path / "a.npz",
        poses=np.concatenate([root, body, hands], axis=1),
        trans=np.zeros((4, 3)),
        mocap_frame_rate=60,
    )
    np.savez(
        tmp_path / "b.npz",
        root_orient=root,
        pose_body=body,
        pose_hand=hands,
        trans=np.zeros((4, 3)),
        mocap_frame_rate=60,
    )
    a, b = (load(tmp_path / f"{n}.npz", up="z") for n in "ab")
    np.testing.assert_allclose(places(a, 4, 60), places(b, 4, 60), atol=1e-6)
    np.savez(
        tmp_path / "c.npz", global_orient=root, body_pose=body.reshape(4, 21, 3), transl=np.zeros((4, 3))
    )
    c = load(tmp_path / "c.npz")
    assert "y is up (told by the body)" in told(c, "up") and "120 frames a second (assumed" in told(
        c, "motion"
    )
    np.savez(tmp_path / "d.npz", poses=np.concatenate([root, body], axis=1), trans=np.zeros((4, 3)))
    assert "up='y'" in str(load(tmp_path / "d.npz").report)  # AMASS lies down where it is Y up: that is told


def test_a_motion_of_numbers_goes_onto_a_character(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = saved(tmp_path / "walk.npy", points("coco"))
    out = tmp_path / "out.glb"
    call = [
        "retarget",
        str(path),
        "mannequin",
        "-o",
        str(out),
        "--motion",
        "coco",
        "--motion-rate",
        "30",
        "--motion-only",
    ]
    assert run(call) == 0
    clip = mw.load(out, cache=False).clips[0]
    assert clip.duration == pytest.approx(1.0)
    hero, model = point_worlds.walker()
    found = hero.skeleton.to_model(
        mw.load("mannequin", clips=path).clips["walk_2"].sample(np.arange(31) / 30)
    )
    knee = hero.skeleton.index("@left_lower_leg")
    assert np.median(np.linalg.norm(found[:, knee, :, 3] - model[:, knee, :, 3], axis=-1)) < 0.04
    assert run(["retarget", str(path), "mannequin", "-o", str(out), "--motion", "dance"]) != 0
    assert "motion" in capsys.readouterr().err


def test_a_file_whose_up_is_z_says_so_and_is_righted(tmp_path: Path) -> None:
    hero, _ = point_worlds.walker()
    lying = hero.replace(meshes=(), clips=(hero.clips["walk"],)).converted(up="z")
    mw.save(lying, tmp_path / "z.bvh")
    assert "up='z' rights it" in told(load(tmp_path / "z.bvh"), "up")
    righted = load(tmp_path / "z.bvh", up="z")
    assert "rights it" not in str(righted.report) and "turned to Y up" in told(righted, "up")
    head, feet = righted.skeleton.index("@head"), righted.skeleton.index("@left_foot")
    assert righted.skeleton.rest_model[head, 1, 3] - righted.skeleton.rest_model[feet, 1, 3] > 1
    mw.save(hero.replace(meshes=()), tmp_path / "y.bvh", clip="walk")
    assert told(load(tmp_path / "y.bvh"), "up") == ""
    with pytest.raises(ValidationError, match=r"load\.up"):
        load(tmp_path / "y.bvh", up="w")
