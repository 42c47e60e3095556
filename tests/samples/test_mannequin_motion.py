"""The mannequin's clips: they loop, keep their speed and their footing, and stay human."""

from __future__ import annotations

import measures
import numpy as np
import pytest

import marrow as mw
from marrow.math import affine, quaternion
from samples_modeller.locomotion import GAITS, SPEEDS

STILL = ("idle", "crouch")
TRAVELLING = tuple(GAITS)
TURNING = ("turn_left", "turn_right")
ONCE = ("jump", "wave", "attack")
AIMS = [
    ["aim_up_left", "aim_up", "aim_up_right"],
    ["aim_left", "aim_center", "aim_right"],
    ["aim_down_left", "aim_down", "aim_down_right"],
]
LOOPS = (*STILL, *TRAVELLING, *TURNING)
MOVING = (*LOOPS, *ONCE)
STEP = 1 / 240
# A foot is on the ground where its skin is lower than this.
GROUND = 0.002


@pytest.fixture(scope="session")
def played(mannequin):
    """Times and model matrices of each clip, four times as dense as its keys."""
    out = {}
    for name in MOVING:
        clip = mannequin.clips[name]
        times = np.arange(0, clip.duration + STEP / 2, STEP)
        out[name] = (times, measures.model(mannequin.skeleton, clip.sample(times)))
    return out


@pytest.fixture(scope="session")
def trod(mannequin):
    """The undersides of both feet, left and right, `(T, V, 3)` each, over the same times."""
    bare, left = measures.soles(mannequin)
    out = {}
    for name in MOVING:
        clip = mannequin.clips[name]
        times = np.arange(0, clip.duration + STEP / 2, STEP)
        under = mw.skin(bare, clip.sample(times), normals=False).positions
        out[name] = {"l": under[:, left], "r": under[:, ~left]}
    return out


def test_all_clips_are_there(mannequin):
    expected = {*MOVING, *(name for row in AIMS for name in row), "breathe"}
    assert set(mannequin.clips) == expected


@pytest.mark.parametrize("name", MOVING)
def test_keys_are_ordinary_and_finite(mannequin, name):
    clip = mannequin.clips[name]
    assert np.isfinite(clip.tracks.values).all()
    assert clip.rate == 60
    assert not clip.additive
    moving = [t for t in clip.tracks if len(t.times) > 1]
    assert len(moving) > 20
    for track in moving:
        assert track.times[0] == 0
        assert track.times[-1] == pytest.approx(clip.duration, abs=1e-6)


@pytest.mark.parametrize("name", LOOPS)
def test_loops_close_in_place_and_in_speed(mannequin, played, name):
    _, matrices = played[name]
    body = affine.multiply(affine.invert(matrices[:, :1]), matrices)  # without the travel of the root
    place = body[..., 3]
    np.testing.assert_allclose(place[-1], place[0], atol=2e-3)
    np.testing.assert_allclose(body[-1, ..., :3], body[0, ..., :3], atol=5e-3)
    key = round(1 / 60 / STEP)
    frames = place[::key]
    speed = np.diff(frames, axis=0) * 60
    change = np.linalg.norm(np.diff(speed, axis=0), axis=-1).max(0)
    across = np.linalg.norm(speed[0] - speed[-1], axis=-1)
    # Speed changes not much more across the seam, where a foot lands, than it does somewhere inside.
    assert (across < 1.7 * change + 0.05).all()


@pytest.mark.parametrize("name", TRAVELLING)
def test_root_travels_at_the_stated_speed(played, name):
    times, matrices = played[name]
    root = matrices[:, 0, :, 3]
    velocity = (root[-1] - root[0]) / times[-1]
    heading = np.radians(GAITS[name].heading)
    way = np.array([np.sin(heading), 0, np.cos(heading)])
    np.testing.assert_allclose(velocity, SPEEDS[name] * way, atol=1e-3)
    np.testing.assert_allclose(root, times[:, None] * velocity, atol=1e-3)


@pytest.mark.parametrize(("name", "degrees"), [("turn_left", 90), ("turn_right", -90)])
def test_turns_turn_the_root_by_a_quarter(played, name, degrees):
    _, matrices = played[name]
    ahead = matrices[-1, 0, :, 2]
    assert np.degrees(np.arctan2(ahead[0], ahead[2])) == pytest.approx(degrees, abs=0.1)


@pytest.mark.parametrize("name", MOVING)
def test_planted_feet_stay_planted(trod, name):
    for under in trod[name].values():
        assert measures.longest_slide(under, GROUND) < 0.01
        assert under[..., 1].min() > -0.003


@pytest.mark.parametrize("name", TRAVELLING)
def test_feet_come_down_and_leave_at_their_events(mannequin, trod, name):
    clip = mannequin.clips[name]
    assert {e.name for e in clip.events} == {"foot_l", "foot_r", "foot_l_lift", "foot_r_lift"}
    frames = round(clip.duration / STEP)
    for event in clip.events:
        low = trod[name][event.name[5]][..., 1].min(axis=1)
        at = round(event.time / STEP)
        assert low[at] < 0.008
        away = 1 if event.name.endswith("lift") else -1
        assert low[(at + away * round(0.06 / STEP)) % frames] > 0.005


@pytest.mark.parametrize("name", TRAVELLING)
def test_toes_bend_as_toes_do(mannequin, played, name):
    for side in "lr":
        joint = mannequin.skeleton.index(f"ball_{side}")
        turn = mannequin.clips[name].sample(played[name][0]).rotation[:, joint]
        assert np.degrees(quaternion.angle(mannequin.skeleton.rest.rotation[joint], turn)).max() < 60


def test_walk_always_has_a_foot_down_and_run_does_not(trod):
    lows = {
        name: np.min([u[..., 1].min(axis=1) for u in trod[name].values()], axis=0) for name in ("walk", "run")
    }
    assert lows["walk"].max() < 0.005
    assert lows["run"].max() > 0.02


def test_between_the_clips_feet_keep_to_the_ground_and_speed_to_what_was_asked(mannequin):
    """Over the whole blend space, by the lowest vertices of the soles: a grid that comes between all clips, and places at
    random."""
    rng = np.random.default_rng(0)
    wide, back, fast = SPEEDS["strafe_right"], -SPEEDS["walk_back"], SPEEDS["run"]
    grid = np.stack(np.meshgrid(np.linspace(-wide, wide, 6), np.linspace(back, fast, 22)), axis=-1).reshape(
        -1, 2
    )
    near = rng.uniform([-0.3, -0.3], [0.3, 0.4], (20, 2))  # between standing and the slowest walks
    asked = np.concatenate([grid, near, rng.uniform([-wide, back], [wide, fast], (20, 2))])
    crowd = mw.Animator(mannequin, mw.samples.locomotion_graph(), count=len(asked))
    crowd["strafe"], crowd["speed"] = asked.T
    for _ in range(60):
        crowd.update(0.1)
    bare, left = measures.soles(mannequin)
    place, under = np.zeros((len(asked), 3)), []
    for _ in range(240):
        crowd.update(1 / 120)
        place = place + crowd.root.motion.translation
        points = mw.skin(bare, crowd.matrices, normals=False).positions
        under.append(points + place[:, None])
    under = np.stack(under)
    # Right is positive for who steers; in space it is -X.
    off = np.linalg.norm(place[:, [0, 2]] / 2.0 - asked * [-1, 1], axis=1) / np.linalg.norm(asked, axis=1)
    assert off.max() < 0.005
    depth = -under[..., 1].min(axis=(0, 2))
    assert depth.max() < 0.005
    slide = np.maximum(*(measures.longest_slide(under[:, :, side], GROUND) for side in (left, ~left)))
    assert slide.max() < 0.010


def bend(skeleton, matrices, upper, lower):
    """The angle between two bones, 0 when they are in line."""
    a, b = (matrices[:, skeleton.index(n), :, 1] for n in (upper, lower))
    return np.degrees(np.arccos(np.clip((a * b).sum(-1), -1, 1)))


@pytest.mark.parametrize("name", MOVING)
def test_joints_stay_within_human_range(mannequin, played, name):
    _, matrices = played[name]
    skeleton = mannequin.skeleton
    for side in "lr":
        knee = bend(skeleton, matrices, f"thigh_{side}", f"calf_{side}")
        elbow = bend(skeleton, matrices, f"upperarm_{side}", f"lowerarm_{side}")
        assert knee.max() < 145
        assert elbow.max() < 145
        # The knee bends back and never through: its hinge turns the calf behind the thigh.
        thigh, calf = (matrices[:, skeleton.index(f"{n}_{side}")] for n in ("thigh", "calf"))
        assert (np.einsum("ti,ti->t", calf[:, :, 1], thigh[:, :, 2]) < 0.02).all()
        assert bend(skeleton, matrices, f"calf_{side}", f"foot_{side}").min() > 10
        rest = skeleton.rest
        for joint, most in (("hand", 85), ("clavicle", 45), ("foot", 70), ("upperarm", 175)):
            j = skeleton.index(f"{joint}_{side}")
            turn = mannequin.clips[name].sample(played[name][0]).rotation[:, j]
            assert np.degrees(quaternion.angle(rest.rotation[j], turn)).max() < most
    for joint, most in (("spine_01", 30), ("spine_02", 30), ("spine_03", 30), ("neck", 45), ("head", 50)):
        j = skeleton.index(joint)
        turn = mannequin.clips[name].sample(played[name][0]).rotation[:, j]
        assert np.degrees(quaternion.angle(skeleton.rest.rotation[j], turn)).max() < most


@pytest.mark.parametrize("name", MOVING)
def test_nothing_jumps_between_frames(mannequin, name):
    clip = mannequin.clips[name]
    for track in clip.tracks:
        if track.path == "rotation" and len(track.times) > 1:
            assert (track.values[1:] * track.values[:-1]).sum(1).min() > 0.955
        if track.path == "translation" and len(track.times) > 1:
            assert np.linalg.norm(np.diff(track.values, axis=0), axis=1).max() < 0.1


def test_arms_swing_against_the_legs(mannequin, played):
    skeleton = mannequin.skeleton
    for name in ("walk", "run"):
        _, matrices = played[name]
        ahead = matrices[..., 2, 3] - matrices[:, :1, 2, 3]
        for side in "lr":
            hand, foot = (ahead[:, skeleton.index(f"{n}_{side}")] for n in ("hand", "foot"))
            assert np.corrcoef(hand, foot)[0, 1] < -0.5


def test_hips_and_chest_turn_against_each_other(mannequin, played):
    skeleton = mannequin.skeleton
    for name in ("walk", "run"):
        _, matrices = played[name]
        yaw = [
            np.arctan2(*matrices[:, skeleton.index(n), :, 2][:, [0, 2]].T)
            for n in ("pelvis", "spine_03", "head")
        ]
        assert np.corrcoef(yaw[0], yaw[1])[0, 1] < -0.5
        assert np.ptp(yaw[2]) < 0.5 * np.ptp(yaw[1])  # the head stays ahead


def test_a_jump_leaves_the_ground_and_comes_back(mannequin, played, trod):
    times, matrices = played["jump"]
    clip = mannequin.clips["jump"]
    leave, land = (next(e.time for e in clip.events if e.name == n) for n in ("jump", "foot_l"))
    low = np.min([under[..., 1].min(axis=1) for under in trod["jump"].values()], axis=0)
    assert low[(times > leave + 0.1) & (times < land - 0.1)].min() > 0.08
    assert low[(times < leave - 0.02) | (times > land + 0.02)].max() < 0.005
    pelvis = matrices[:, mannequin.skeleton.index("pelvis"), 1, 3]
    assert pelvis[times < leave].min() < pelvis[0] - 0.15  # it gathers itself first
    assert pelvis.max() > pelvis[0] + 0.2
    np.testing.assert_allclose(matrices[-1], matrices[0], atol=2e-3)


def test_aim_poses_form_a_grid(mannequin):
    skeleton = mannequin.skeleton
    head, hand, shoulder = (skeleton.index(n) for n in ("head", "hand_r", "upperarm_r"))
    look, point = np.zeros((3, 3, 2)), np.zeros((3, 3, 2))
    for r, row in enumerate(AIMS):
        for c, name in enumerate(row):
            matrices = measures.model(skeleton, mannequin.clips[name].sample(0.0))
            arm = matrices[hand, :, 3] - matrices[shoulder, :, 3]
            for out, way in ((look, matrices[head, :, 2]), (point, arm)):
                out[r, c] = np.degrees(
                    [np.arctan2(way[0], way[2]), np.arctan2(way[1], np.hypot(way[0], way[2]))]
                )
    for grid in (look, point):
        assert (np.diff(grid[..., 0], axis=1) < -30).all()  # left, centre, right
        assert (np.diff(grid[..., 1], axis=0) < -20).all()  # up, level, down
    assert np.abs(look[1, 1]).max() < 5


def test_breath_is_a_difference_that_starts_and_ends_at_nothing(mannequin):
    clip = mannequin.clips["breathe"]
    assert clip.additive
    for track in clip.tracks:
        assert track.path in ("rotation", "morph")
        nothing = [0, 0, 0, 1] if track.path == "rotation" else [0]
        np.testing.assert_allclose(track.values[[0, -1]], [nothing, nothing], atol=2e-3)
    middle = clip.sample(clip.duration / 2)
    assert middle.morphs[mannequin.skeleton.morph_names.index("breathe")] > 0.5
    legs = [
        j for j, n in enumerate(mannequin.skeleton.names) if n.startswith(("thigh", "calf", "foot", "pelvis"))
    ]
    np.testing.assert_allclose(middle.rotation[legs], np.tile([0, 0, 0, 1], (len(legs), 1)), atol=1e-6)
    np.testing.assert_allclose(middle.translation, 0, atol=1e-6)
