"""Characters that are played: which clips are taken, how fast they go, and where a controller takes them."""

import math

import numpy as np
import pytest

import marrow as mw
from marrow.controller import find_locomotion
from marrow.controller.clip_names import role_of
from marrow.controller.gait import measure_gait
from marrow.errors import ValidationError
from marrow.graph.description import from_json, to_json
from marrow.math import quaternion
from player_world import box, stilts

STEP = 1 / 60


def walked(player, way, seconds=2.0, **options):
    """Where it went in the second half, and how far."""
    half = round(seconds / STEP / 2)
    for _ in range(half):
        player.move(way, STEP, **options)
    before = player.place
    for _ in range(half):
        player.move(way, STEP, **options)
    return player.place - before


def degrees_between(a, b):
    return math.degrees(math.acos(np.clip(a @ b / np.linalg.norm(a) / np.linalg.norm(b), -1, 1)))


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("Idle", "idle"), ("Armature|TRex_Walk", "walk"), ("mixamo_running", "run"), ("WalkingBack", "back"),
        ("Running_Strafe_Left", "left"), ("turn_right", "turn_right"), ("Jump_Full_Short", "jump"), ("Attack", None),
        ("Gallop", "run"), ("Turn", None),
    ],
)  # fmt: skip
def test_a_name_says_what_a_clip_is_for(name, role):
    found = role_of(name)
    assert (found[0] if found else None) == role


def test_the_plainest_name_is_taken():
    hero = mw.samples.mannequin()
    found = find_locomotion(hero)
    assert {r: found.clips[r] for r in ("idle", "walk", "run", "back", "left", "jump")} == {
        "idle": "idle", "walk": "walk", "run": "run", "back": "walk_back", "left": "strafe_left", "jump": "jump",
    }  # fmt: skip


@pytest.mark.parametrize("speed", [0.8, 1.6])
def test_what_touches_the_ground_tells_how_fast_a_clip_goes(speed):
    hero = stilts(speed)
    gait = measure_gait(hero, hero.clips["Walk"], 0)
    assert gait.steady
    assert np.allclose(gait.velocity, (0, 0, speed), atol=0.03 * speed)


def test_a_clip_that_travels_already_keeps_its_way():
    hero = stilts(1.2)
    moved = hero.clips["Walk"].with_travel(velocity=(0.0, 0.0, 1.2), joint="base")
    gait = measure_gait(hero, moved, 0)
    assert np.allclose(gait.velocity, (0, 0, 1.2), atol=1e-3)
    assert np.allclose(gait.travelling(0).sample(0.5).translation[0], (0, 0, 0.6), atol=1e-3)


def test_a_body_nobody_knows_walks_where_it_is_told_and_looks_there():
    player = mw.Controller(stilts(1.2, turned=math.radians(40)))
    assert "where it looks is not known" in str(player.report)
    for way in ((1.0, 0.0, 0.0), (-0.7, 0.0, -0.7)):
        gone = walked(player, way)
        assert degrees_between(gone, np.array(way)) < 3
        assert degrees_between(gone, player.facing) < 3
        assert np.linalg.norm(gone) == pytest.approx(1.2, rel=0.05)


def test_poles_that_stand_do_not_slide():
    player = mw.Controller(stilts(1.2))
    walked(player, (0.0, 0.0, 1.0))
    places = []
    for _ in range(60):
        player.move((0.0, 0.0, 1.0), STEP)
        world = player.animator.root.matrices
        places.append(world[:, :3] @ player.animator.model_matrices[2, :, 3] + world[:, 3])
    places = np.array(places)
    stands = np.flatnonzero(places[:, 1] < 1e-3)
    runs = np.split(stands, np.flatnonzero(np.diff(stands) > 1) + 1)
    assert max(np.ptp(places[run, 2]) for run in runs if len(run) > 5) < 0.02


def test_a_walk_alone_stands_and_runs():
    player = mw.Controller(stilts(1.0))
    for _ in range(30):
        player.move((0.0, 0.0), STEP)
    assert np.allclose(player.place, 0, atol=1e-6)
    assert player.run_speed == pytest.approx(1.6 * player.walk_speed)
    assert np.linalg.norm(walked(player, (0.0, 1.0), run=True)) == pytest.approx(player.run_speed, rel=0.05)
    assert not player.can_jump and not player.jump()


def test_a_clip_without_a_name_is_found_by_its_feet():
    player = mw.Controller(stilts(1.2, name="Take 001"))
    assert player.locomotion.clips["walk"] == "Take 001"
    assert "by what its feet do" in str(player.report)


@pytest.fixture(scope="module")
def bare():
    """The mannequin without clips, as many files are."""
    return mw.samples.mannequin().replace(clips=())


def test_a_body_on_two_legs_without_clips_gets_the_mannequins(bare):
    player = mw.Controller(bare)
    assert "the mannequin's, by retargeting" in str(player.report)
    gone = walked(player, (0.0, 0.0, -1.0))
    assert np.linalg.norm(gone) == pytest.approx(1.25, rel=0.05)  # the mannequin's walk
    assert degrees_between(gone, np.array([0.0, 0.0, -1.0])) < 2


def test_one_that_looks_the_other_way_does_not_walk_backwards(bare):
    turned = mw.samples.mannequin().turned_to("-z")
    player = mw.Controller(turned.replace(clips=(turned.clips["walk"], turned.clips["idle"])))
    gone = walked(player, (1.0, 0.0, 0.0))
    hips = [player.animator.model_matrices[turned.skeleton.index(f"thigh_{s}"), :, 3] for s in "lr"]
    ahead = np.cross(player.animator.root.matrices[:, :3] @ (hips[0] - hips[1]), [0.0, 1.0, 0.0])
    assert degrees_between(gone, np.array([1.0, 0.0, 0.0])) < 3
    assert degrees_between(ahead, gone) < 15


@pytest.fixture(scope="module")
def player():
    return mw.Controller(mw.samples.mannequin())


def test_steps_aside_leave_the_look_where_it_is(player):
    player.put((0, 0, 0), (0, 0, 1))
    gone = walked(player, (1.0, 0.0, 0.0), look=(0.0, 0.0, 1.0))
    assert degrees_between(gone, np.array([1.0, 0.0, 0.0])) < 5
    assert np.allclose(player.facing, (0, 0, 1), atol=1e-3)


def test_who_stands_turns_with_steps(player):
    for _ in range(60):
        player.move((0, 0), STEP)
    player.put((0, 0, 0), (0, 0, 1))
    states = set()
    for _ in range(180):
        player.move((0, 0), STEP, look=(1.0, 0.0, 0.0))
        states.add(player.animator.state())
    assert "turn_left" in states  # +X is to the left of who looks along +Z
    assert degrees_between(player.facing, np.array([1.0, 0.0, 0.0])) < 5


def test_it_walks_on_the_ground(bare):
    def slope(places):
        return 0.1 * places[:, 1]

    player = mw.Controller(bare, ground=slope)
    walked(player, (0.0, 1.0))
    assert player.place[1] == pytest.approx(0.1 * player.place[2])
    assert player.place[2] > 1


def test_it_walks_on_a_mesh_below_its_roof(bare):
    """A ramp, 10 m wide, with a flat roof 3 m above where it begins: put below the roof it stays below it."""
    x, y, z = (-5, 5, 5, -5), (0, 0, 2, 2, 3, 3, 3, 3), (-2, -2, 18, 18)
    corners = np.column_stack([x * 2, y, z * 2])
    quad = np.array([[0, 1, 2], [0, 2, 3]])
    player = mw.Controller(bare, ground=mw.GroundMesh(corners, np.concatenate([quad, quad + 4])))
    assert player.place[1] == pytest.approx(0.2)
    walked(player, (0.0, 1.0))
    assert player.place[1] == pytest.approx(0.2 + 0.1 * player.place[2])
    assert player.place[2] > 1
    player.put((0, 50, 0), (0, 0, 1))
    assert player.place[1] == 3
    player.put((0, -50, 0), (0, 0, 1))
    assert player.place[1] == 3
    player.put((90, 7, 0), (0, 0, 1))
    assert player.place[1] == 7


def test_its_graph_is_an_ordinary_one(player):
    text = to_json(player.graph)
    again = mw.Animator(player.character, from_json(text))
    again["speed"] = player.walk_speed
    for _ in range(120):
        again.update(STEP)
    assert again.root.motion.translation[2] / STEP == pytest.approx(player.walk_speed, rel=0.05)


def test_what_is_no_character_is_refused_in_words():
    crate = mw.Character(mw.Skeleton(("crate",), [-1]), (box("crate", 0, (1, 1, 1)),), name="crate")
    with pytest.raises(
        ValidationError,
        match="crate is no character to play: it has no clips, and it has no body on two legs",
    ):
        mw.Controller(crate)
    with pytest.raises(ValidationError, match=r"expected .x, z. or .x, y, z., finite"):
        mw.Controller(stilts()).move((math.nan, 0.0), STEP)


def test_the_way_does_not_depend_on_the_frame_rate():
    ends = []
    for rate in (30, 120):
        player = mw.Controller(stilts(1.2))
        for _ in range(2 * rate):
            player.move((0.0, 1.0), 1 / rate)
        ends.append(player.place)
    assert np.allclose(*ends, atol=0.03)
    assert quaternion.rotate(player.animator.root.rotation, np.array([0.0, 0.0, 1.0]))[2] > 0.99


@pytest.mark.parametrize("then", [(0, 0, -1), (0, 0, 0), (1, 0, 0)], ids=["about", "stop", "aside"])
def test_no_joint_jumps_when_the_wish_changes(then):
    """The largest step of a joint in a frame, against that of the steady run and the steady walk."""
    player = mw.Controller(mw.samples.mannequin())
    places = []
    for k in range(240):
        player.move((0, 0, 1) if k < 150 else then, 1 / 60, run=True)
        places.append(player.animator.model_matrices[..., 3].copy())
    steps = np.linalg.norm(np.diff(places, axis=0), axis=-1).max(axis=-1)
    assert steps[149:].max() < 1.3 * steps[90:149].max()


@pytest.mark.parametrize("rate", [24, 240])
def test_a_jump_goes_as_far_at_any_frame_rate(rate):
    """Half a second after it set off, at a run, against 60 frames a second."""

    def end(rate):
        player = mw.Controller(mw.samples.mannequin())
        for k in range(2 * rate):
            if k == rate // 2:
                player.jump()
            player.move((0, 0, 1), 1 / rate, run=True)
        return player.place[2]

    assert end(rate) == pytest.approx(end(60), rel=0.05)
