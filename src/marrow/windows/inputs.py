"""What a player does: keyboard, mouse and gamepads, gathered between two frames and read as one state.

Nothing here knows windows: a display tells `Inputs` what happened, a frame takes an `InputState` of it. Tests and
replays do the same by hand.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from marrow.errors import UnknownNameError, ValidationError
from marrow.model import _validate

__all__ = ["BUTTONS", "GAMEPAD_BUTTONS", "KEYS", "Gamepad", "InputState", "Inputs", "Mouse", "dead_zone"]

KEYS = frozenset(
    [
        *"abcdefghijklmnopqrstuvwxyz0123456789'-,./;=[]\\`",
        *("space", "enter", "tab", "escape", "backspace", "delete", "insert", "home", "end"),
        *("pageup", "pagedown", "left", "right", "up", "down", "shift", "control", "alt", "super"),
        *("capslock", "pause", "menu", "print"),
        *(f"f{i}" for i in range(1, 13)),
        *(f"keypad{i}" for i in range(10)),
        *("keypad.", "keypad/", "keypad*", "keypad-", "keypad+", "keypadenter"),
    ]
)
"""Names of keys. They name the place of a key as on a US keyboard, so that w, a, s and d lie together on all of them."""
BUTTONS = ("left", "right", "middle", "back", "forward")
"""Names of the mouse's buttons."""
GAMEPAD_BUTTONS = (
    *("a", "b", "x", "y", "left_bumper", "right_bumper", "back", "start", "guide"),
    *("left_thumb", "right_thumb", "up", "right", "down", "left"),
)
"""Names of a gamepad's buttons, as on an Xbox controller; the last four are the cross."""
DEAD, FULL = 0.15, 0.95
"""Sticks nearer to their middle than this count as let go, beyond `FULL` as pushed all the way."""
TRIGGER_DEAD = 0.05


def dead_zone(x: float, y: float, dead: float = DEAD, full: float = FULL) -> tuple[float, float]:
    """A stick at `(x, y)` without the slack of its middle and its rim: 0 within `dead`, 1 from `full` on, even in between,
    and never longer than 1, whichever way it points. What is not a number counts as let go."""
    length = math.hypot(x, y)
    if not (math.isfinite(length) and length > dead):
        return 0.0, 0.0
    gain = min((length - dead) / (full - dead), 1.0) / length
    return x * gain, y * gain


@dataclass(frozen=True)
class Mouse:
    """The mouse at one frame, in logical pixels from the top left corner of the window."""

    x: float = 0.0
    y: float = 0.0
    dx: float = 0.0
    """How far it went since the last frame: to the right,"""
    dy: float = 0.0
    """and down."""
    wheel: float = 0.0
    """Clicks of the wheel since the last frame, away from the user positive."""
    buttons: frozenset[str] = frozenset()
    """Which of `BUTTONS` are held down."""
    pressed: frozenset[str] = frozenset()
    """Which of them went down since the last frame,"""
    released: frozenset[str] = frozenset()
    """and which up."""


@dataclass(frozen=True)
class Gamepad:
    """A gamepad at one frame. One that is not there is let go: sticks at 0, no buttons, `connected` false."""

    index: int = -1
    name: str = ""
    left: tuple[float, float] = (0.0, 0.0)
    """The left stick: right and up are positive, at most 1 long, 0 while it is let go (`dead_zone`)."""
    right: tuple[float, float] = (0.0, 0.0)
    """The right stick."""
    left_trigger: float = 0.0
    """From 0 to 1."""
    right_trigger: float = 0.0
    buttons: frozenset[str] = frozenset()
    """Which of `GAMEPAD_BUTTONS` are held down."""
    pressed: frozenset[str] = frozenset()
    """Which of them went down since the last frame."""

    @property
    def connected(self) -> bool:
        return self.index >= 0


@dataclass(frozen=True)
class InputState:
    """Everything at one frame."""

    keys: frozenset[str] = frozenset()
    """The keys that are held down."""
    went_down: frozenset[str] = frozenset()
    went_up: frozenset[str] = frozenset()
    repeated: frozenset[str] = frozenset()
    """The keys that went down, or are held down and repeat as they do in a text."""
    typed: str = ""
    """What was typed, as the keyboard's own layout has it."""
    mouse: Mouse = field(default_factory=Mouse)
    gamepads: tuple[Gamepad, ...] = ()
    files: tuple[str, ...] = ()
    """Paths of files that were dropped on the window."""

    def down(self, *names: str) -> bool:
        """Whether one of these keys is held down."""
        return not self.keys.isdisjoint(_known(names))

    def pressed(self, *names: str) -> bool:
        """Whether one of these keys went down since the last frame, even if it is up again."""
        return not self.went_down.isdisjoint(_known(names))

    def released(self, *names: str) -> bool:
        """Whether one of these keys went up since the last frame."""
        return not self.went_up.isdisjoint(_known(names))

    @property
    def gamepad(self) -> Gamepad:
        """The first gamepad, or one that is let go where there is none."""
        return self.gamepads[0] if self.gamepads else _NO_GAMEPAD

    def axis(self, negative: str, positive: str) -> float:
        """-1, 0 or 1: what two opposite keys say together."""
        return float(self.down(positive)) - float(self.down(negative))


_NO_GAMEPAD = Gamepad()


class Inputs:
    """Gathers what happens between frames; `take` hands it over as one state and begins anew.

    A key that is struck and let go between two frames was still pressed: short taps do not get lost at low frame rates.
    """

    def __init__(self) -> None:
        self._keys: set[str] = set()
        self._down: set[str] = set()
        self._up: set[str] = set()
        self._repeated: set[str] = set()
        self._text: list[str] = []
        self._x, self._y = 0.0, 0.0
        self._inside = False
        self._dx, self._dy, self._wheel = 0.0, 0.0, 0.0
        self._buttons: set[str] = set()
        self._buttons_down: set[str] = set()
        self._buttons_up: set[str] = set()
        self._gamepads: dict[int, Gamepad] = {}
        self._files: list[str] = []

    # -- what happens -----------------------------------------------------------------------------------------------
    def key(self, name: str, down: bool, *, repeated: bool = False) -> None:
        """A key goes down or up, or repeats while it is held."""
        _known((name,))
        if _validate.flag("Inputs.key", "down", down):
            if not repeated and name not in self._keys:
                self._down.add(name)
            self._keys.add(name)
            self._repeated.add(name)
        elif name in self._keys:
            self._keys.discard(name)
            self._up.add(name)

    def tap(self, *names: str) -> None:
        """Keys go down and up again."""
        for name in names:
            self.key(name, True)
            self.key(name, False)

    def type(self, text: str) -> None:
        self._text.append(_validate.name("Inputs", "type", text))

    def move(self, x: float, y: float) -> None:
        """The mouse is at a place; where it comes from outside it has not moved."""
        x, y = (_validate.number("Inputs.move", n, v, finite=False) for n, v in (("x", x), ("y", y)))
        if not (math.isfinite(x) and math.isfinite(y)):
            return
        if self._inside:
            self._dx += x - self._x
            self._dy += y - self._y
        self._x, self._y, self._inside = x, y, True

    def leave(self) -> None:
        """The mouse leaves the window; while a button is held it is still followed."""
        if not self._buttons:
            self._inside = False

    def button(self, name: str, down: bool) -> None:
        if not isinstance(name, str) or name not in BUTTONS:
            raise UnknownNameError("mouse button", name, BUTTONS)
        down = _validate.flag("Inputs.button", "down", down)
        if down and name not in self._buttons:
            self._buttons.add(name)
            self._buttons_down.add(name)
        elif not down and name in self._buttons:
            self._buttons.discard(name)
            self._buttons_up.add(name)

    def wheel(self, clicks: float) -> None:
        clicks = _validate.number("Inputs", "wheel", clicks, finite=False)
        if math.isfinite(clicks):
            self._wheel += clicks

    def drop(self, files: Iterable[str]) -> None:
        self._files.extend(_validate.items("Inputs", "drop", files, str))

    def gamepad(
        self,
        index: int,
        name: str,
        axes: Sequence[float],
        buttons: Iterable[str] = (),
    ) -> None:
        """How a gamepad is: `axes` are left x and y, right x and y (up positive), left and right trigger (0 to 1), as the
        hardware has them. A button that is down now and was not at the last frame was pressed."""
        index = _validate.integer("Inputs.gamepad", "index", index, low=0)
        held = frozenset(_validate.items("Inputs.gamepad", "buttons", buttons, str))
        for button in held:
            if button not in GAMEPAD_BUTTONS:
                raise UnknownNameError("gamepad button", button, GAMEPAD_BUTTONS)
        if not isinstance(axes, (tuple, list)) or len(axes) != 6:
            raise ValidationError(f"Inputs.gamepad.axes: expected six numbers, got {_validate.shown(axes)}")
        axes = [_validate.number("Inputs.gamepad", "axes", a, finite=False) for a in axes]
        before = self._gamepads.get(index, _NO_GAMEPAD)
        self._gamepads[index] = Gamepad(
            index=index,
            name=_validate.name("Inputs.gamepad", "name", name),
            left=dead_zone(axes[0], axes[1]),
            right=dead_zone(axes[2], axes[3]),
            left_trigger=_trigger(axes[4]),
            right_trigger=_trigger(axes[5]),
            buttons=held,
            pressed=before.pressed | (held - before.buttons),
        )

    def no_gamepad(self, index: int) -> None:
        """A gamepad was unplugged."""
        self._gamepads.pop(_validate.integer("Inputs.no_gamepad", "index", index), None)

    def let_go(self) -> None:
        """The window lost the keyboard: nothing is held any more, as nobody will say when it is let go."""
        for name in tuple(self._keys):
            self.key(name, False)
        for name in tuple(self._buttons):
            self.button(name, False)
        self._inside = False

    # -- what a frame sees ------------------------------------------------------------------------------------------
    def take(self) -> InputState:
        """What there is now and what happened since the last call."""
        state = InputState(
            keys=frozenset(self._keys),
            went_down=frozenset(self._down),
            went_up=frozenset(self._up),
            repeated=frozenset(self._repeated),
            typed="".join(self._text),
            mouse=Mouse(
                x=self._x,
                y=self._y,
                dx=self._dx,
                dy=self._dy,
                wheel=self._wheel,
                buttons=frozenset(self._buttons),
                pressed=frozenset(self._buttons_down),
                released=frozenset(self._buttons_up),
            ),
            gamepads=tuple(self._gamepads[i] for i in sorted(self._gamepads)),
            files=tuple(self._files),
        )
        for happened in (self._down, self._up, self._repeated, self._buttons_down, self._buttons_up):
            happened.clear()
        self._text.clear()
        self._files.clear()
        self._dx = self._dy = self._wheel = 0.0
        for index, pad in self._gamepads.items():
            if pad.pressed:
                self._gamepads[index] = Gamepad(**{**pad.__dict__, "pressed": frozenset()})
        return state


def _known(names: Iterable[str]) -> Iterable[str]:
    for name in names:
        if not isinstance(name, str) or name not in KEYS:
            raise UnknownNameError("key", name, sorted(KEYS))
    return names


def _trigger(value: float) -> float:
    if not math.isfinite(value) or value <= TRIGGER_DEAD:
        return 0.0
    return min((value - TRIGGER_DEAD) / (1.0 - TRIGGER_DEAD), 1.0)
