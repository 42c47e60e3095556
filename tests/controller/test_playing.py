"""What steers a character that is played: keys in a window, messages of a page, a command."""

import math

import numpy as np
import pytest

import marrow as mw
from marrow.cli.app import run
from marrow.errors import ValidationError
from marrow.studio import protocol as p
from marrow.studio.actor import Origin, StudioActor
from marrow.studio.makers import maker_of
from marrow.studio.session import Session
from marrow.windows.inputs import Inputs
from marrow.windows.player_controls import PlayerControls
from player_world import box, stilts

STEP = 1 / 60


def frames(controls, inputs, seconds):
    for _ in range(round(seconds / STEP)):
        controls.step(inputs.take(), STEP, 720)


def test_the_camera_stays_behind_the_shoulder():
    player = mw.Controller(stilts(1.2), facing=(1.0, 0.0, 0.0))
    controls = PlayerControls(player)
    np.testing.assert_allclose(controls.camera.heading, (1, 0, 0), atol=1e-6)
    inputs = Inputs()
    inputs.key("w", True)
    frames(controls, inputs, 3.0)
    assert player.place[0] > 2.5 and abs(player.place[2]) < 0.1
    away = controls.camera.target - player.place
    assert np.linalg.norm(away[[0, 2]]) < 0.5  # it keeps up
    assert (controls.camera.eye - player.place)[0] < -1  # from behind


def test_keys_walk_where_the_camera_looks_and_a_stick_does_too():
    player = mw.Controller(stilts(1.2))
    controls, inputs = PlayerControls(player), Inputs()
    controls.camera.yaw = math.pi / 2  # it stands at +X, and looks along -X
    inputs.key("w", True)
    inputs.key("shift", True)
    frames(controls, inputs, 0.5)
    assert player.place[0] < -0.1
    inputs.let_go()
    inputs.gamepad(0, "pad", [0.0, -1.0, 0.0, 0.0, 0.0, 0.0])
    before = player.place
    frames(controls, inputs, 1.5)
    assert player.place[0] > before[0] + 0.5


def test_a_window_shows_a_controller_and_its_player_steers_it():
    player = mw.Controller(stilts(1.2))
    made = mw.window(player, offscreen=True, frames=90, size=(64, 48))
    made.inputs.key("w", True)
    for frame in made:
        assert frame.camera is made.player.camera
    assert player.place[2] > 0.8


def opened(player):
    session = Session()
    session.put(maker_of(player, 0)())
    return session


def test_a_page_steers_it_until_it_says_otherwise():
    player = mw.Controller(stilts(1.2))
    session = opened(player)
    assert session.state().playable and session.state().mode == "graph"
    session.apply(p.Steer(1.0, 0.0))
    for _ in range(60):
        session.tick(1 / 30)
    session.look()
    placed = session.pictures[0].placements[0]
    assert placed[0, 3] > 1.5 and abs(placed[2, 3]) < 0.3
    np.testing.assert_allclose(placed[:, 3], player.place, atol=1e-5)
    session.apply(p.Steer(0.0, 0.0))
    for _ in range(60):
        session.tick(1 / 30)
    before = player.place
    session.tick(1 / 30)
    np.testing.assert_allclose(player.place, before, atol=1e-3)


def test_a_page_cannot_steer_what_nobody_plays():
    hero = stilts(1.2)
    session = Session()
    session.put(StudioActor(hero, 0, Origin("python", "")))
    assert not session.state().playable
    with pytest.raises(ValidationError, match="marrow play"):
        session.apply(p.Steer(1.0, 0.0))


def test_clips_and_back_to_playing():
    session = opened(mw.Controller(stilts(1.2)))
    session.apply(p.PickClip("Walk"))
    assert not session.state().playable
    session.apply(p.SetMode("graph"))
    assert session.state().playable


def test_the_command_writes_the_graph_and_the_character_it_is_for(tmp_path, capsys):
    mw.save(stilts(1.2), tmp_path / "stilts.glb")
    graph, moves = tmp_path / "stilts.json", tmp_path / "moves.glb"
    call = ["play", str(tmp_path / "stilts.glb"), "--graph", str(graph), "--character", str(moves)]
    assert run(call) == 0
    said = capsys.readouterr()
    assert "walk: 'Walk', 1.20 m/s" in said.err and "speed" in said.out
    again = mw.Animator(mw.load(moves), mw.load_graph(graph))
    again["speed"] = 1.2
    for _ in range(180):
        again.update(STEP)
    assert np.linalg.norm(again.root.motion.translation) / STEP == pytest.approx(1.2, rel=0.1)
    assert run(call) == 2  # both files exist
    assert "--force replaces it" in capsys.readouterr().err


def test_the_command_refuses_what_is_no_character(tmp_path, capsys):
    crate = mw.Character(mw.Skeleton(("crate",), [-1]), (box("crate", 0, (1, 1, 1)),))
    mw.save(crate, tmp_path / "crate.glb")
    assert run(["play", str(tmp_path / "crate.glb"), "--window"]) == 1
    assert "crate is no character to play" in capsys.readouterr().err
