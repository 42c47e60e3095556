"""`marrow check` on motion: what is wrong is found, what is right is left alone."""

from __future__ import annotations

import json

import numpy as np
import pytest

import marrow as mw
from marrow.cli.app import run
from marrow.io.lint import lint
from marrow.math import quaternion


@pytest.fixture(scope="module")
def hero() -> mw.Character:
    return mw.samples.mannequin()


def rules(hero: mw.Character, *clips: mw.Clip) -> set[str]:
    found = lint(hero.replace(clips=clips))
    return {f.rule for f in found} & {
        "loop-seam", "foot-slide", "pop", "frozen-track", "far-from-rest", "root-contract", "gait-phase",
    }  # fmt: skip


def changed(clip: mw.Clip, change, rate: float = 60) -> mw.Clip:
    """The clip with its frames changed by `change(times, pose)`."""
    times = np.arange(round(clip.duration * rate) + 1) / rate
    pose = clip.sample(times)
    change(times, pose)
    return mw.Clip.from_poses(clip.name, clip.skeleton, pose, rate, events=clip.events)


def test_good_clips_are_left_alone(hero: mw.Character) -> None:
    assert rules(hero, hero.clips["walk"], hero.clips["idle"]) <= {"frozen-track"}


def test_a_seam_that_shows(hero: mw.Character) -> None:
    arm = hero.skeleton.index("upperarm_l")

    def drift(times, pose):
        turn = quaternion.from_axis_angle([1.0, 0.0, 0.0], np.radians(12) * times / times[-1])
        pose.rotation[:, arm] = quaternion.multiply(pose.rotation[:, arm], turn)

    whole = hero.clips["walk"]
    crooked = changed(whole, drift)
    assert "loop-seam" in rules(hero, crooked)
    assert "loop-seam" not in rules(hero, whole)
    assert "loop-seam" not in rules(hero, crooked.looped())


def test_sliding_feet(hero: mw.Character) -> None:
    def skate(times, pose):
        pose.translation[:, 0, 0] += 0.8 * times

    assert "foot-slide" in rules(hero, changed(hero.clips["walk"], skate))
    assert "foot-slide" not in rules(hero, hero.clips["walk"].in_place()), "a treadmill is no fault"


def test_a_pop_is_named_with_its_time(hero: mw.Character) -> None:
    hand = hero.skeleton.index("upperarm_l")

    def pop(times, pose):
        pose.rotation[31, hand] = [0, 0, 1, 0]

    found = [f for f in lint(hero.replace(clips=[changed(hero.clips["idle"], pop)])) if f.rule == "pop"]
    assert len(found) == 1 and "0.5" in found[0].message


def test_a_tracker_that_was_lost(hero: mw.Character) -> None:
    arm = hero.skeleton.index("upperarm_l")

    def freeze(times, pose):
        pose.rotation[10:50, arm] = pose.rotation[10, arm]

    walk = hero.clips["walk"]
    assert "frozen-track" in rules(hero, changed(walk, freeze))


def test_a_body_taken_apart(hero: mw.Character) -> None:
    def burst(times, pose):
        pose.translation[:, hero.skeleton.index("head")] *= 30

    assert "far-from-rest" in rules(hero, changed(hero.clips["idle"], burst))


def test_clips_that_disagree_about_who_travels(hero: mw.Character) -> None:
    hips = hero.skeleton.index("pelvis")

    def by_hips(times, pose):
        pose.translation[:, hips] += pose.translation[:, 0] @ hero.skeleton.rest_model[0, :, :3]
        pose.translation[:, 0] = 0

    other = changed(hero.clips["run"], by_hips)
    assert "root-contract" in rules(hero, hero.clips["walk"], other)
    assert "root-contract" not in rules(hero, hero.clips["walk"], hero.clips["run"])


def test_steps_that_do_not_fall_together(hero: mw.Character) -> None:
    walk = hero.clips["walk"].in_place()
    times = np.arange(61) / 60 * walk.duration
    half = mw.Clip.from_poses(
        "walk_late", hero.skeleton, walk.sample(times + walk.duration / 2, loop=True), times=times
    )
    assert "gait-phase" in rules(hero, walk, half)
    assert "gait-phase" not in rules(hero, walk, walk.replace(name="walk_again"))


def test_the_page_and_the_list_say_the_same(hero: mw.Character, tmp_path, capsys) -> None:
    page = tmp_path / "check.html"
    mw.save(hero.replace(clips=[hero.clips["walk"].trimmed(0.1, 0.1, name="a<b")]), tmp_path / "x.glb")
    assert run(["check", str(tmp_path / "x.glb"), "--json", "--html", str(page)]) == 0
    findings = json.loads(capsys.readouterr().out)[0]["findings"]
    text = page.read_text()
    assert "a&lt;b" in text and "a<b" not in text
    assert all(f["rule"] in text for f in findings)
    assert run(["check", "mannequin", "--html", str(page)]) == 2


BODY = {
    "Hips": ("", (0, 0, 0)),
    "{}UpLeg": ("Hips", (0, 1, 9)),
    "{}Leg": ("{}UpLeg", (43, 0, 0)),
    "{}Foot": ("{}Leg", (42, 0, 0)),
    "Spine": ("Hips", (7, -3, 0)),
    "Head": ("Spine", (60, 0, 0)),
    "{}Arm": ("Spine", (40, 0, 16)),
    "{}ForeArm": ("{}Arm", (33, 0, 0)),
    "{}Hand": ("{}ForeArm", (25, 0, 0)),
}
"""A body in centimetres whose zero pose is no stance: every bone points along X, as in several collections of BVH files."""


def capture(names: dict[str, tuple[str, tuple[float, ...]]], jump: float, scale: float = 1.0) -> str:
    """A BVH file in which all joints stand still, and the hips jump once by so much."""
    joints = {}
    for name, (parent, at) in names.items():
        for side, turn in (("Left", 1), ("Right", -1)) if "{}" in name else (("", 1),):
            joints[name.format(side)] = (parent.format(side), scale * np.array(at) * [1, 1, turn])
    lines = []

    def write(name: str, depth: int) -> None:
        parent, at = joints[name]
        channels = "3 Zrotation Yrotation Xrotation"
        if not parent:
            channels = "6 Xposition Yposition Zposition Zrotation Yrotation Xrotation"
        lines.extend([f"{'JOINT' if parent else 'ROOT'} {name}", "{", f"OFFSET {at[0]} {at[1]} {at[2]}"])
        lines.append(f"CHANNELS {channels}")
        below = [n for n, (p, _) in joints.items() if p == name]
        for child in below:
            write(child, depth + 1)
        lines.extend([] if below else ["End Site", "{", "OFFSET 0 0 0", "}"])
        lines.append("}")

    write(next(iter(joints)), 0)
    turns = " 0" * 3 * len(joints)
    frames = "\n".join(f"0 {90 * scale + (jump if k == 15 else 0)} 0{turns}" for k in range(60))
    text = "\n".join(lines)
    return f"HIERARCHY\n{text}\nMOTION\nFrames: 60\nFrame Time: 0.0333\n{frames}\n"


@pytest.mark.parametrize(("scale", "words"), [(1.0, " 48 cm"), (1 / 2.54, " 48 cm"), (0.01, " 48 cm")])
def test_lengths_of_motion_in_any_unit_are_said_in_centimetres(tmp_path, scale: float, words: str) -> None:
    """Twice 24 cm, there and back: of a file in centimetres, inches or metres, none of which says so."""
    (tmp_path / "body.bvh").write_text(capture(BODY, 24.0 * scale, scale))
    (pop,) = [f for f in lint(mw.load(tmp_path / "body.bvh", cache=False)) if f.rule == "pop"]
    assert words in pop.message


def test_lengths_in_a_unit_that_nobody_knows_are_said_so(tmp_path) -> None:
    crane = {"Base": ("", (0, 0, 0)), "Boom": ("Base", (0, 300, 0)), "Hook": ("Boom", (240, 0, 0))}
    (tmp_path / "crane.bvh").write_text(capture(crane, 24.0))
    (pop,) = [f for f in lint(mw.load(tmp_path / "crane.bvh", cache=False)) if f.rule == "pop"]
    assert " 48 units of the file" in pop.message and " cm" not in pop.message
