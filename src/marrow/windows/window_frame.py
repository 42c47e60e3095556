"""`WindowFrame`: a turn of a window's loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from marrow.model import _validate
from marrow.scene.camera import Camera
from marrow.scene.scene import Scene
from marrow.windows.camera_controls import CameraControls
from marrow.windows.inputs import Gamepad, InputState, Mouse

if TYPE_CHECKING:
    from marrow.rendering.frame import Frame
    from marrow.windows.window import Window

__all__ = ["WindowFrame"]


class WindowFrame:
    """A turn of the loop: how much time went by, what the player did, and what the picture will show."""

    __slots__ = ("_window", "dt", "index", "inputs", "time")

    def __init__(self, window: Window, index: int, dt: float, time: float, inputs: InputState) -> None:
        self._window = window
        self.index: int = index
        """How many frames came before."""
        self.dt: float = dt
        """Seconds since the last frame, at most 0.1; 0 for the first one."""
        self.time: float = time
        """Seconds since the first frame, as `dt` adds up."""
        self.inputs: InputState = inputs
        """All the player did."""

    # -- what the player does ---------------------------------------------------------------------------------------
    @property
    def keys(self) -> frozenset[str]:
        """The keys that are held down."""
        return self.inputs.keys

    def down(self, *names: str) -> bool:
        """Whether one of these keys is held down."""
        return self.inputs.down(*names)

    def pressed(self, *names: str) -> bool:
        """Whether one of these keys went down since the last frame."""
        return self.inputs.pressed(*names)

    def released(self, *names: str) -> bool:
        """Whether one of these keys went up since the last frame."""
        return self.inputs.released(*names)

    def axis(self, negative: str, positive: str) -> float:
        """-1, 0 or 1: what two opposite keys say together."""
        return self.inputs.axis(negative, positive)

    @property
    def typed(self) -> str:
        """What was typed, as the keyboard's own layout has it."""
        return self.inputs.typed

    @property
    def mouse(self) -> Mouse:
        return self.inputs.mouse

    @property
    def gamepad(self) -> Gamepad:
        """The first gamepad, or one that is let go where there is none."""
        return self.inputs.gamepad

    @property
    def gamepads(self) -> tuple[Gamepad, ...]:
        """All that are connected."""
        return self.inputs.gamepads

    @property
    def files(self) -> tuple[str, ...]:
        """Paths of files that were dropped on the window."""
        return self.inputs.files

    # -- what the picture shows -------------------------------------------------------------------------------------
    @property
    def window(self) -> Window:
        return self._window

    @property
    def scene(self) -> Scene:
        """What is drawn; another one may be set."""
        return self._window.scene

    @scene.setter
    def scene(self, scene: Scene) -> None:
        self._window.scene = _validate.instance("frame", "scene", scene, Scene)

    @property
    def camera(self) -> Any:
        """`CameraControls`: set its `target`, `distance`, `yaw` and `pitch`; or put a `Camera` in its place."""
        return self._window.camera

    @camera.setter
    def camera(self, camera: Camera | CameraControls) -> None:
        self._window.camera = camera

    @property
    def view(self) -> str | None:
        """As in `mw.render`; may be set."""
        return self._window.view

    @view.setter
    def view(self, view: str | None) -> None:
        self._window.view = view

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the picture in pixels; 0 while the window is minimised."""
        return self._window.size

    def print(self, *words: object) -> None:
        """Writes a line into the picture of this frame."""
        self._window._lines.append(" ".join(str(word) for word in words))

    def picture(self) -> Frame:
        """The scene as it is now, as a picture that can be saved."""
        return self._window.picture()

    def close(self) -> None:
        """Ends the loop."""
        self._window.close()

    def __repr__(self) -> str:
        return f"WindowFrame({self.index}, {self.time:.3f} s, keys {sorted(self.keys)})"
