"""Keyboard, mouse and gamepads: what a frame sees of what happened."""

import math

import pytest

from marrow.errors import UnknownNameError
from marrow.windows.inputs import GAMEPAD_BUTTONS, KEYS, Inputs, InputState, dead_zone


def test_a_key_is_pressed_once_and_held_until_it_is_let_go():
    inputs = Inputs()
    inputs.key("space", True)
    first, second = inputs.take(), inputs.take()
    inputs.key("space", False)
    third, fourth = inputs.take(), inputs.take()
    assert [s.pressed("space") for s in (first, second, third, fourth)] == [True, False, False, False]
    assert [s.down("space") for s in (first, second, third, fourth)] == [True, True, False, False]
    assert [s.released("space") for s in (first, second, third, fourth)] == [False, False, True, False]


def test_a_tap_between_two_frames_is_not_lost():
    inputs = Inputs()
    inputs.tap("j")
    state = inputs.take()
    assert state.pressed("j") and state.released("j") and not state.down("j")
    assert not inputs.take().pressed("j")


def test_a_key_that_repeats_is_pressed_only_once():
    inputs = Inputs()
    inputs.key("right", True)
    assert inputs.take().repeated == {"right"}
    inputs.key("right", True, repeated=True)
    state = inputs.take()
    assert state.repeated == {"right"} and not state.pressed("right") and state.down("right")
    assert inputs.take().repeated == frozenset()


def test_a_window_that_loses_the_keyboard_holds_nothing():
    inputs = Inputs()
    inputs.key("w", True)
    inputs.button("left", True)
    inputs.take()
    inputs.let_go()
    state = inputs.take()
    assert not state.keys and not state.mouse.buttons
    assert state.released("w") and state.mouse.released == {"left"}


def test_the_mouse_moves_by_what_it_was_moved_inside():
    inputs = Inputs()
    inputs.move(100, 50)  # it comes in
    assert (inputs.take().mouse.dx, inputs.take().mouse.dy) == (0, 0)
    inputs.move(110, 45)
    inputs.move(112, 40)
    inputs.wheel(2)
    mouse = inputs.take().mouse
    assert (mouse.x, mouse.y, mouse.dx, mouse.dy, mouse.wheel) == (112, 40, 12, -10, 2)
    inputs.leave()
    inputs.move(500, 500)  # comes in elsewhere
    assert inputs.take().mouse.dx == 0
    inputs.button("left", True)
    inputs.leave()  # but a drag is followed outside
    inputs.move(600, 500)
    assert inputs.take().mouse.dx == 100
    inputs.move(math.nan, 0)
    inputs.wheel(math.inf)
    mouse = inputs.take().mouse
    assert (mouse.x, mouse.dx, mouse.wheel) == (600, 0, 0)


def test_opposite_keys_cancel():
    inputs = Inputs()
    inputs.key("a", True)
    assert inputs.take().axis("a", "d") == -1
    inputs.key("d", True)
    assert inputs.take().axis("a", "d") == 0


@pytest.mark.parametrize("angle", [0.0, 0.3, 1.0, 2.0, 4.5])
def test_dead_zone_keeps_directions_and_grows_evenly(angle):
    def at(length):
        x, y = dead_zone(length * math.cos(angle), length * math.sin(angle))
        if x or y:
            assert math.cos(math.atan2(y, x) - angle) == pytest.approx(1)
        return math.hypot(x, y)

    assert at(0.0) == at(0.149) == 0
    assert at(0.151) == pytest.approx(0.001 / 0.8, abs=1e-9)  # it begins at nothing: no jump
    assert at(0.55) == pytest.approx(0.5)
    assert [at(0.95), at(1.0), at(1.42)] == pytest.approx(
        [1, 1, 1]
    )  # corners of square sticks are not faster


def test_several_gamepads_come_and_go():
    inputs = Inputs()
    assert not inputs.take().gamepad.connected
    inputs.gamepad(3, "second", (0, 0, 0, 0, 0, 0), ["a"])
    inputs.gamepad(1, "first", (1, 0, 0.05, -0.05, 0.02, 1.0))
    state = inputs.take()
    assert [pad.name for pad in state.gamepads] == ["first", "second"]
    pad = state.gamepad
    assert pad.connected and pad.left == (1, 0) and pad.right == (0, 0)
    assert (pad.left_trigger, pad.right_trigger) == (0, 1)
    assert state.gamepads[1].pressed == {"a"}
    inputs.gamepad(3, "second", (0, 0, 0, 0, 0, 0), ["a", "start"])
    assert inputs.take().gamepads[1].pressed == {"start"}
    inputs.gamepad(3, "second", (math.nan,) * 6)
    assert inputs.take().gamepads[1].left == (0, 0)
    inputs.no_gamepad(3)
    inputs.no_gamepad(3)
    assert [pad.name for pad in inputs.take().gamepads] == ["first"]


def test_unknown_names_are_errors_that_help():
    state = InputState()
    with pytest.raises(UnknownNameError, match="did you mean 'space'"):
        state.pressed("spcae")
    with pytest.raises(UnknownNameError, match="no key"):
        state.down(["a"])
    with pytest.raises(UnknownNameError, match="mouse button"):
        Inputs().button("front", True)
    with pytest.raises(UnknownNameError, match="gamepad button"):
        Inputs().gamepad(0, "", (0,) * 6, ["z"])
    assert len(KEYS) > 80 and len(GAMEPAD_BUTTONS) == 15
