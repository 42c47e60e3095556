"""`mend`: what is safe is done and said, the rest is left with its reason, and vertices stay where they were."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

import marrow as mw
from marrow.io import lint as package
from marrow.io.lint import RULE_NAMES, RULES, lint
from marrow.math import quaternion
from marrow.report import Report, ReportLine

SKELETON = mw.Skeleton(("hips", "spine"), [-1, 0])
TURN = np.array([[0, 0, 0, 1], [0, 0, 1, 0]], "f4")
MOVING = mw.Track(1, "rotation", [0, 1], TURN)


def body(**changes) -> mw.Mesh:
    options = {
        "joints": np.array([[0, 1], [0, 1], [1, 0]]),
        "weights": np.array([[1, 0], [0.5, 0.5], [1, 0]], "f4"),
        "joint_list": [0, 1],
        "inverse_bind": np.tile(np.eye(3, 4, dtype="f4"), (2, 1, 1)),
        "normals": np.tile(np.float32([0, 0, 1]), (3, 1)),
    } | changes
    return mw.Mesh("body", np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "f4"), [[0, 1, 2]], **options)


def character(*tracks: mw.Track, skeleton=SKELETON, meshes=None, **clip) -> mw.Character:
    made = mw.Clip("move", skeleton, tracks or (MOVING,), **clip)
    return mw.Character(skeleton, (body(),) if meshes is None else meshes, [made])


def done(report: Report) -> list[str]:
    return [line.message for line in report if line.kind == "repaired"]


def positions(who: mw.Character, times=None) -> np.ndarray:
    clip = next(iter(who.clips.values()))
    times = np.linspace(0, clip.duration, 10) if times is None else times
    return mw.skin(who, clip.sample(times)).positions


def mended_once(who: mw.Character, rule: str) -> mw.Character:
    """Mends one thing, sees that it was said, that a second time changes nothing, and that no vertex moved."""
    made, report = mw.mend(who)
    (line,) = done(report)
    assert line.endswith(f"[{rule}]")
    again = mw.mend(made)
    assert done(again.report) == [] and again.character == made
    return made


def test_a_sound_character_is_returned_as_it_is():
    who = character(MOVING, mw.Track(0, "rotation", [0, 1], TURN))
    made, report = mw.mend(who)
    assert made is who and len(report) == 0


def test_every_finding_of_every_rule_says_what_mend_does():
    written = set()
    for path in Path(package.__file__).parent.glob("*_rules.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Finding":
                first = node.args[0]
                written |= {first.value} if isinstance(first, ast.Constant) else set()
    assert written <= set(RULE_NAMES)
    for rule in RULES:
        assert rule.mending and all(mending.reason for mending in rule.mending.values())


def test_weights_are_made_to_sum_to_one():
    weights = np.array([[1, 0], [0.5, 0.4995], [1, 0]], "f4")
    made = mended_once(character(meshes=(body(weights=weights),)), "weight-sums")
    np.testing.assert_allclose(made.meshes[0].weights[1], [0.50025013, 0.49974987], atol=1e-7)


def test_a_constant_track_keeps_one_key_and_the_clip_its_length():
    still = mw.Track(0, "translation", [0, 1, 2], [[0, 3, 0]] * 3)
    who = character(MOVING, still)
    made = mended_once(who, "constant-tracks").clips["move"]
    assert [len(track.times) for track in made.tracks] == [2, 2], "the last key tells other programs the end"
    assert made.duration == 2.0
    short = character(mw.Track(1, "rotation", [0, 2], TURN), still)
    made = mended_once(short, "constant-tracks")
    assert [len(track.times) for track in made.clips["move"].tracks] == [2, 1]
    np.testing.assert_array_equal(positions(made), positions(short))


def test_lengths_that_are_small_for_their_skeleton_are_no_rounding():
    """A millionth is a tenth of this skeleton: the track moves."""
    tiny = mw.Track(0, "translation", [0, 1], [[1e-5, 0, 0], [1.09e-5, 0, 0]])
    assert done(mw.mend(character(MOVING, tiny)).report) == []


def test_of_doubled_tracks_the_one_that_counts_stays():
    first = mw.Track(0, "translation", [0, 1], [[0, 0, 0], [5, 0, 0]])
    last = mw.Track(0, "translation", [0, 1], [[0, 0, 0], [0, 2, 0]])
    who = character(first, MOVING, last)
    assert "doubled-tracks" in {finding.rule for finding in lint(who)}
    made = mended_once(who, "doubled-tracks")
    assert [(t.target, t.path) for t in made.clips["move"].tracks] == [(1, "rotation"), (0, "translation")]
    np.testing.assert_array_equal(positions(made), positions(who))


def skeleton_of(**ends: int) -> mw.Skeleton:
    return mw.Skeleton(("hips", *ends, "spine"), [-1, *ends.values(), 0])


def with_ends(*tracks: mw.Track, **ends: int) -> mw.Character:
    """Hips and spine carry the mesh; `ends` lie between them in the list, and in the list of the mesh."""
    skeleton = skeleton_of(**ends)
    spine = len(skeleton) - 1
    mesh = body(
        joints=np.array([[0, spine], [0, spine], [spine, 1]]),
        joint_list=np.arange(len(skeleton)),
        inverse_bind=np.tile(np.eye(3, 4, dtype="f4"), (len(skeleton), 1, 1)),
    )
    moving = mw.Track(spine, "rotation", [0, 1], TURN)
    return character(moving, *tracks, skeleton=skeleton, meshes=(mesh,))


def test_joints_that_nothing_needs_go_and_vertices_stay():
    who = with_ends(tip=0, tip_end=1)
    made = mended_once(who, "unused-joints")
    assert made.skeleton.names == ("hips", "spine")
    assert made.meshes[0].joint_list.tolist() == [0, 1]
    np.testing.assert_array_equal(positions(made), positions(who))


@pytest.mark.parametrize("name", ["weapon_r", "hand_socket", "IK_target"])
def test_joints_that_things_hang_from_stay(name):
    made, report = mw.mend(with_ends(**{name: 0}))
    assert name in made.skeleton.names and done(report) == []
    assert "things may be attached" in report[0].message


def test_joints_that_clips_move_stay():
    waving = mw.Track(1, "rotation", [0, 1], TURN)
    assert "tip" in mw.mend(with_ends(waving, tip=0)).character.skeleton.names


def test_joints_of_levels_and_notes_stay():
    noted = with_ends(tip=0).replace(extras={"joints": {"tip": {"author": "me"}}})
    assert "tip" in mw.mend(noted).character.skeleton.names
    numbered = with_ends(tip=0).replace(extras={"joints": {"[1]": {"author": "me"}}})
    assert "tip" in mw.mend(numbered).character.skeleton.names


def test_what_loading_put_right_is_done_and_what_it_dropped_is_left():
    report = Report(
        (
            ReportLine("repaired", "mesh 'a'", "the weights of 2 vertices did not sum to 1"),
            ReportLine("dropped", "node 3", "a camera"),
            ReportLine("repaired", "mesh 'a'", "2 vertices without weights follow their node"),
        )
    )
    made, told = mw.mend(character().replace(report=report))
    assert done(told) == ["the weights of 2 vertices did not sum to 1 [weight-sums]"]
    assert [line.place for line in told if line.kind == "warning"] == ["node 3", "mesh 'a'"]
    assert [line.kind for line in made.report] == ["dropped", "repaired"]
    assert done(mw.mend(made).report) == []


@pytest.fixture(scope="module")
def person() -> mw.Character:
    hero = mw.samples.load("mannequin")
    return hero.replace(clips=(hero.clips["walk"],), reduced=(), lod=None)


def only(report: Report, rule: str) -> list[str]:
    return [message for message in done(report) if message.endswith(f"[{rule}]")]


def test_a_person_of_180_metres_was_in_centimetres(person):
    from marrow.io.scaling import scaled

    made, report = mw.mend(scaled(person, 100.0))
    assert only(report, "units") == ["all lengths were multiplied by 0.01, to be metres [units]"]
    assert np.abs(positions(made) - positions(person)).max() < 1e-5
    small, report = mw.mend(scaled(person, 0.01))
    assert only(report, "units") == ["all lengths were multiplied by 100, to be metres [units]"]
    assert np.abs(positions(small) - positions(person)).max() < 1e-5


def test_a_thing_without_a_body_keeps_its_size():
    huge = body().replace(positions=np.array([[0, 0, 0], [90, 0, 0], [0, 90, 0]], "f4"))
    _, report = mw.mend(character(meshes=(huge,)))
    assert done(report) == [] and "nothing tells the unit" in report[0].message


def test_who_looks_back_is_turned(person):
    made, report = mw.mend(person.turned_to("-z"))
    assert only(report, "facing") == ["it looked along -z and was turned to +z [facing]"]
    assert np.abs(positions(made) - positions(person)).max() < 1e-5
    kept, report = mw.mend(person.turned_to("-z"), skip="facing")
    assert only(report, "facing") == [] and kept.facing[2] < 0
    assert any("it was to be skipped" in line.message for line in report)


def test_a_seam_is_closed_and_all_before_it_stays(person):
    walk, arm = person.clips["walk"], person.skeleton.index("@left_arm")
    times = np.arange(round(walk.duration * 60) + 1) / 60
    pose = walk.sample(times)
    turn = quaternion.from_axis_angle([1.0, 0.0, 0.0], np.radians(12) * times / times[-1])
    pose.rotation[:, arm] = quaternion.multiply(pose.rotation[:, arm], turn)
    open_one = mw.Clip.from_poses("walk", walk.skeleton, pose, 60)
    who = person.replace(clips=(open_one,))
    assert "loop-seam" in {finding.rule for finding in lint(who)}
    made, report = mw.mend(who)
    assert len(only(report, "loop-seam")) == 1
    assert "loop-seam" not in {finding.rule for finding in lint(made)}
    before = np.linspace(0, walk.duration - 0.25, 10)
    assert np.abs(positions(made, before) - positions(who, before)).max() < 1e-5
    first, last = made.clips["walk"].sample([0.0, walk.duration]).rotation[:, arm]
    assert abs(float(first @ last)) > 1 - 1e-6
    assert only(mw.mend(made).report, "loop-seam") == []


def test_a_calibration_frame_is_cut_off_and_the_unit_is_made_metres(person):
    walk = person.clips["walk"]
    times = np.arange(round(walk.duration * 30) + 1) / 30
    pose, rest = walk.sample(times), person.skeleton.rest
    for part in ("translation", "rotation"):
        getattr(pose, part)[0] = getattr(rest, part)
    arm = person.skeleton.index("@left_upper_arm")
    turn = quaternion.from_axis_angle([0.0, 0.0, 1.0], np.radians(80.0))
    pose.rotation[1:, arm] = quaternion.multiply(pose.rotation[1:, arm], turn)
    taken = person.replace(clips=(mw.Clip.from_poses("take", person.skeleton, pose, 30),), unit=0.5)
    made, report = mw.mend(taken)
    assert only(report, "units") == ["its unit of 0.5 m was made metres [units]"] and made.unit == 1
    (line,) = only(report, "calibration-frame")
    assert line.startswith("1 frame of a calibration pose")
    assert made.clips["take"].duration == pytest.approx(walk.duration - 1 / 30, abs=1e-5)
    assert done(mw.mend(made).report) == []


def test_a_seam_of_cubic_keys_is_left_with_the_way_to_close_it():
    from marrow.motion.loop_seam import close_seam

    flat = np.zeros((2, 3, 3), "f4")
    cubic = mw.Track(0, "translation", [0, 1], flat, "cubic")
    assert close_seam(character(cubic).clips["move"]) is None


def test_tangents_are_made_for_a_normal_texture():
    uvs = (np.array([[0, 0], [1, 0], [0, 1]], "f4"),)
    section = mw.Section(0, 1, material=0)
    mesh = body(uvs=uvs, sections=(section,))
    image = mw.Image("bumps", "image/png", b"")
    paint = mw.Material("paint", normal_texture=mw.Texture(0))
    who = character(meshes=()).replace(meshes=(mesh,), materials=(paint,), images=(image,))
    made = mended_once(who, "missing-tangents")
    np.testing.assert_allclose(made.meshes[0].tangents, [[1, 0, 0, -1]] * 3, atol=1e-6)
    bare = who.replace(meshes=(mesh.replace(normals=None),))
    assert any("no normals or UVs" in line.message for line in mw.mend(bare).report)


def test_wrong_calls_are_told():
    with pytest.raises(mw.MarrowError, match="loop-seam"):
        mw.mend(character(), skip="loop-seams")
    with pytest.raises(mw.MarrowError, match="skip"):
        mw.mend(character(), skip=3)
    with pytest.raises(mw.MarrowError, match="character"):
        mw.mend("hero.glb")


def test_check_names_mend_only_where_it_would_act():
    """Joints that move nothing: one that nobody misses goes, one that things may hang from stays."""

    def said(name: str) -> list[bool]:
        bones = mw.Skeleton(("hips", "spine", name), [-1, 0, 0])
        who = character(MOVING, mw.Track(0, "rotation", [0, 1], TURN), skeleton=bones)
        (found,) = [f for f in lint(who) if f.rule == "unused-joints"]
        return [found.mended, any("[unused-joints]" in line for line in done(mw.mend(who).report))]

    assert said("spare") == [True, True]
    assert said("weapon_slot") == [False, False]
