"""The third-person example: what it claims, measured without drawing."""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest

import marrow as mw
from marrow.windows.inputs import Inputs

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "third_person_game.py"
STEP = 1 / 60


@pytest.fixture(scope="module")
def game():
    spec = importlib.util.spec_from_file_location("third_person_game", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def played(game, seconds, act=lambda player, time: None, wish=(0, 0, 1), run=False):
    """What joints did: heights of both balls above the ground below them, frame by frame."""
    player, posts = game.Player(mw.samples.mannequin()), game.Posts()
    bones = player.animator.character.skeleton
    balls = [bones.index(f"ball_{side}") for side in "lr"]
    seen = {"lift": [], "place": [], "state": [], "hand": [], "thigh": []}
    for frame in range(round(seconds / STEP)):
        act(player, frame * STEP)
        player.update(np.array(wish, float), run, STEP, posts)
        posts.update(STEP)
        world = player.animator.root.matrices
        model = player.animator.model_matrices
        toes = model[balls, :, 3] @ world[:, :3].T + world[:, 3]
        seen["lift"].append(toes[:, 1] - game.ground(toes[:, [0, 2]]))
        seen["place"].append(player.place.copy())
        seen["state"].append(player.animator.state())
        seen["hand"].append(model[bones.index("hand_r"), :, 3])
        seen["thigh"].append(model[bones.index("thigh_l"), :, :3])
    return player, posts, {name: np.array(values) for name, values in seen.items()}


def once(moment, call):
    return lambda player, time: call(player) if moment <= time < moment + STEP else None


@pytest.mark.parametrize(("run", "speed"), [(False, 1.4), (True, 3.4)])
def test_it_walks_and_runs_with_its_feet_on_the_hills(game, run, speed):
    _, _, seen = played(game, 2.5, run=run)
    last = seen["place"][-60:]
    assert np.linalg.norm(np.diff(last[:, [0, 2]], axis=0), axis=1).mean() / STEP == pytest.approx(
        speed, rel=0.1
    )
    np.testing.assert_allclose(last[:, 1], game.ground(last[:, [0, 2]]), atol=1e-9)
    lift = seen["lift"][45:]
    assert lift.min() > -0.02  # never in the ground: the ball of a foot is 3 cm above its sole
    assert (lift.min(1) < 0.06).mean() > (0.3 if run else 0.9)  # and one of them on it
    assert lift.max() > 0.07  # while the other swings


def test_it_jumps_with_both_feet_and_goes_on_in_the_air(game):
    _, _, seen = played(game, 3.4, once(1.2, lambda p: p.animator.trigger("jump")), run=True)
    air = seen["lift"].min(1)
    jumping = seen["state"] == "jump"
    assert jumping.any() and not jumping[-30:].any()
    assert air[jumping].max() > 0.15 > air[:60].max()
    way = np.linalg.norm(np.diff(seen["place"][:, [0, 2]], axis=0), axis=1) / STEP
    assert way[jumping[1:]].min() > 2.5


def test_it_strikes_with_the_upper_body_while_the_legs_go_on(game):
    quiet = played(game, 2.0)[2]
    _, _, seen = played(
        game, 2.0, once(1.0, lambda p: p.animator.slots["action"].play("attack", seconds=0.1))
    )
    during = slice(75, 110)
    assert np.abs(seen["hand"] - quiet["hand"])[during].max() > 0.3
    np.testing.assert_allclose(seen["thigh"][during], quiet["thigh"][during], atol=0.06)  # three degrees
    np.testing.assert_allclose(seen["place"], quiet["place"], atol=0.02)


def test_posts_in_front_fall_and_others_stand(game):
    posts = game.Posts()
    posts.places[:] = 50.0
    posts.places[:3] = (0.0, 1.0), (0.0, -1.0), (0.0, 3.0)
    assert posts.strike(np.zeros(3), 0.0) == 1
    for _ in range(120):
        posts.update(STEP)
    assert posts.angle[0] == pytest.approx(math.radians(86)) and not posts.angle[1:].any()
    turns = np.asarray(posts.actor.transforms)[:, :, :3]
    np.testing.assert_allclose(
        turns @ turns.transpose(0, 2, 1), np.tile(np.eye(3), (len(turns), 1, 1)), atol=1e-9
    )
    assert turns[0, 2, 1] > 0.99  # its top points away from who struck it
    assert posts.strike(np.zeros(3), 0.0) == 0  # it lies there already


@pytest.mark.parametrize("by", ["keys", "gamepad"])
def test_keys_and_gamepads_steer_alike(game, by):
    window = mw.window(offscreen=True, controls="orbit", camera=mw.windows.CameraControls(yaw=math.pi))
    inputs: Inputs = window.inputs
    if by == "keys":
        for key in ("w", "shift"):
            inputs.key(key, True)
        inputs.tap("space", "f")
    else:
        inputs.gamepad(0, "pad", (0, 1, 0, 0, 0, 1), ["a", "x"])
    frame = next(turns := iter(window))
    wish, run, jump, strike = game.steer(frame)
    np.testing.assert_allclose(wish, (0, 0, 1), atol=1e-9)  # away from the camera
    assert run and jump and strike
    frame = next(turns)
    assert game.steer(frame)[2:] == (False, False)
    turns.close()
