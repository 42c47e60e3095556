"""`WarpTo` and `RootSteering`: roots that get where they should, whatever the clips are made for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

from marrow.errors import ValidationError
from marrow.graph.nodes.base import AnyNode, Node, Value, Vector
from marrow.graph.nodes.two_bone_ik import TwoBoneIK
from marrow.graph.tables import Part, Place
from marrow.graph.warp_windows import Warp, check_window, window_events
from marrow.kernels import control_tables as ct

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.placeholder import Requirements

__all__ = ["RootSteering", "WarpAxis", "WarpTo"]

WarpAxis = Literal["x", "y", "z", "yaw"]
AT_ONCE = 1e9
"""Of a second: what has no half-life, or no limit."""


class WarpTo(Node, frozen=True):
    """Warps the root motion of the clips below it so that the root is at `target`, a place in the world, and looks along
    `facing`, a level direction, at the end of a window of the clip: a vault, a seat, a grab. `window` is the name of an
    event that lasts, or where it begins and ends: two events by name, or two times of the clip, in seconds. A clip may
    have several, and one that has none is played as it is; so a `Slot` below it warps the one-shots and montages that
    have the event.

    What the root is away from the clip as it would end at the target dies out inside the window: the place by the share
    of the way the clip goes (of the time, where it does not travel), the facing by the share of the time. The target may
    move. `joint`, where one is named, gets to the target instead of the root. `axes` say what is warped, in the world;
    from `weight` one half on it is. In another WarpTo the inner one goes first.

    `reach` names hands and places in the world for them: arms are bent so that each is there when the window ends (see
    `TwoBoneIK`, which has a window too). With that alone the root goes as the clip does."""

    source: AnyNode
    target: Vector | None = None
    facing: Vector | None = None
    window: str | tuple[Value, Value] = "warp"
    axes: tuple[WarpAxis, ...] = ("x", "z", "yaw")
    joint: str | None = None
    reach: dict[str, Vector] = {}  # noqa: RUF012 (msgspec copies an empty default)
    weight: Value = 1.0

    colour: ClassVar[str] = "#f7e8f3"

    def require(self, requirements: Requirements) -> None:
        if self.joint is not None:
            requirements.joints(self.joint)
        requirements.events.update(window_events(self.window))
        for hand in self._hands():
            hand.require(requirements)

    def _hands(self) -> list[TwoBoneIK]:
        """What bends the limbs, inner ones first."""
        rooted = self.target is not None or self.facing is not None
        inner: AnyNode = self.replace(reach={}, name="") if rooted else self.source
        found: list[TwoBoneIK] = []
        for tip, place in self.reach.items():
            inner = TwoBoneIK(inner, tip, place, weight=self.weight, space="world", window=self.window)
            found.append(inner)
        return found

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c, path, b = compiler, at.path, compiler.builder
        require_travel(c, path)
        if self.reach:
            return self._hands()[-1].compile(c, at)
        if self.target is None and self.facing is None:
            raise ValidationError(f"{path}: expected a target, a facing, or hands that reach")
        if not self.axes or len(set(self.axes)) != len(self.axes):
            raise ValidationError(f"{path}.axes: expected some of {', '.join(get_args(WarpAxis))}, each once")
        check_window(c, self.window, f"{path}.window")
        target = b.vector(self.target if self.target is not None else (0.0, 0.0, 0.0), f"{path}.target")
        facing = -1
        if self.facing is not None and "yaw" in self.axes:
            facing = b.link(b.vector(self.facing, f"{path}.facing"))
        moved = [int(axis in self.axes and self.target is not None) for axis in "xyz"]
        joint = c.joint(self.joint, f"{path}.joint") if self.joint is not None else -1
        row = b.add("warps", b.link(target), facing, 0, *moved, *looks_ahead(c))
        first = len(c.leaves)
        c.warps.append(Warp(path, self.window, joint))
        parts = c.children(at, [(self.source, ".source", at.scope)])
        c.warps[row] = Warp(path, self.window, joint, tuple(leaf["clip"] for leaf in c.leaves[first:]))
        c.row(at, kind=ct.WARP, data=row, ref=b.value(self.weight, f"{path}.weight"))
        return c.summed(at, parts)


class RootSteering(Node, frozen=True):
    """Turns the root, and what it travels, towards `direction`: a level direction in the world for the character to look
    along. Half of the angle that is missing is gone after `half_life` seconds; `most` limits the turn, in radians a
    second. Without a half-life it turns as fast as it may. The way is an arc that does not depend on the frame rate.
    `weight` slows it down; with a direction of no length the root goes as the clips do.

    (`OrientationWarp` turns the lower body instead, and the character goes on looking where it does.)"""

    source: AnyNode
    direction: Vector
    half_life: float | None = 0.15
    most: float | None = None
    weight: Value = 1.0

    colour: ClassVar[str] = "#f7e8f3"

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c, path, b = compiler, at.path, compiler.builder
        require_travel(c, path)
        if not self.half_life and self.most is None:
            raise ValidationError(
                f"{path}: expected a half_life, or most radians a second; set animator.root for a turn at once"
            )
        if self.half_life is not None and not 0 <= self.half_life <= 60:
            raise ValidationError(f"{path}.half_life: expected 0 to 60 seconds, got {self.half_life}")
        if self.most is not None and not 0 < self.most <= 1000:
            raise ValidationError(
                f"{path}.most: expected radians a second, above 0 and up to 1000, got {self.most}"
            )
        rate = math.log(2.0) / self.half_life if self.half_life else AT_ONCE
        most = self.most if self.most is not None else AT_ONCE
        direction = b.link(b.vector(self.direction, f"{path}.direction"))
        row = b.add("steerings", direction, min(rate, AT_ONCE), most, *looks_ahead(c))
        parts = c.children(at, [(self.source, ".source", at.scope)])
        c.row(at, kind=ct.STEER, data=row, ref=b.value(self.weight, f"{path}.weight"))
        return c.summed(at, parts)


def require_travel(c: Compiler, path: str) -> None:
    """Refuses a graph that does not move the root."""
    if c.root_mode != "extract":
        raise ValidationError(
            f"{path}: it changes where the root goes, and this graph moves none: put a "
            "RootMotion (mode 'extract') at its root"
        )


def looks_ahead(c: Compiler) -> tuple[float, float]:
    """The level direction that a character looks along in model space; +Z where that is not known."""
    own = c.character.facing
    if own is None or math.hypot(own[0], own[2]) < 1e-6:
        return 0.0, 1.0
    return float(own[0]), float(own[2])
