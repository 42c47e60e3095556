"""`StateMachine`: one of several motions at a time, and when to go from one to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from marrow.graph.nodes.base import Ease, Node

if TYPE_CHECKING:
    from marrow.graph.nodes import AnyNode

__all__ = ["State", "StateMachine", "Transition"]


class State(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a machine shows in one state: any node. It starts over when the state is entered, unless it is still fading
    out from the last time: then it goes on."""

    source: AnyNode


class Transition(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Goes from the state `source` (`"*"`: from any other) to the state `to` once all of `when` hold.

    Each condition is a comparison of a parameter (`"speed > 0.5"`, `"gear == 2"`), a bool or trigger by name
    (`"jump"`, `"not grounded"`), `"elapsed >= 0.5"` (seconds in this state) or `"remaining <= 0.2"` (seconds until its
    main clip ends). Times are met exactly, whatever the frame rate. Where several could start, the highest `priority`
    wins, then the first.

    `blend="fade"` mixes the two for `seconds` along `ease`; `"inertia"` switches at once and lets the difference die out
    in `seconds`, smooth in place and speed, at the cost of one pose. `interrupt` says what may start while it runs: any
    transition, only those of higher priority, or none. Nothing pops when it does.
    """

    source: str
    to: str
    when: tuple[str, ...] = ()
    seconds: float = 0.2
    ease: Ease = "smooth"
    blend: Literal["fade", "inertia"] = "fade"
    priority: int = 0
    interrupt: Literal["any", "higher", "none"] = "any"


class StateMachine(Node, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag=str):
    """Holds `states` by name, begins in `initial` (the first when left out) and follows `transitions`."""

    states: dict[str, State]
    transitions: tuple[Transition, ...] = ()
    initial: str | None = None
