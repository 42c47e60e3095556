"""The Python code that reproduces what the studio shows."""

from __future__ import annotations

import math
from typing import Any

from marrow.studio.actor import Actor
from marrow.studio.session import Session

__all__ = ["python_code"]

LONGEST = 60.0
"""The most seconds a graph is run for: what happened a minute ago hardly shows."""


def python_code(session: Session) -> str:
    """A short script: loads the character, brings it to this moment and skins it."""
    actor = session.main
    if actor is None:
        return "import marrow as mw\n"
    lines = ["import marrow as mw", "", f"character = {_character(actor)}"]
    many = f", count={session.count}" if session.count > 1 else ""
    if session.mode == "graph":
        lines += [f"graph = {_graph(actor)}", f"animator = mw.Animator(character, graph{many})"]
        defaults = actor.graph.parameters if actor.graph else {}
        for name, value in session.parameters.items():
            if value != defaults[name].default:
                lines.append(f"animator[{name!r}] = {_number(value)}")
        lines += _running(actor)
    else:
        lines.append(f"animator = mw.Animator(character{many})")
        if actor.clip is not None:
            options = [f"start={actor.time:.6f}"] if actor.time else []
            options += [] if session.loop else ["loop=False"]
            lines.append(f"animator.play({', '.join([repr(actor.clip), *options])})")
    if session.spread and session.count > 1:
        lines.append("# In the studio each of the crowd has its own time and parameters (Spread).")
    lines += ["surface = animator.skin()  # .positions, .normals, .tangents", "mw.view(animator)"]
    return "\n".join(lines) + "\n"


def _running(actor: Actor) -> list[str]:
    """As long as the graph has run, with the triggers that were fired on the way; parameters as they are now."""
    at = max(actor.ran - LONGEST, 0.0)
    lines: list[str] = []
    for fired, name in actor.fired:
        if fired >= at:
            lines += [*_updates(fired - at), f"animator.trigger({name!r})"]
            at = fired
    return [*lines, *_updates(actor.ran - at)] or ["animator.update(1 / 60)"]


def _updates(seconds: float) -> list[str]:
    """So many seconds, frame by frame."""
    frames = math.floor(60 * seconds + 1e-6)
    rest = seconds - frames / 60
    whole = {0: [], 1: ["animator.update(1 / 60)"]}.get(
        frames, [f"for _ in range({frames}):", "    animator.update(1 / 60)"]
    )
    return [*whole, f"animator.update({rest:.6f})"] if rest > 1e-5 else whole


def _character(actor: Actor) -> str:
    origin = actor.origin
    if origin.kind == "sample":
        note = f"  # and the clips of {', '.join(origin.clips)}" if origin.clips else ""
        return f"mw.samples.{origin.name}(){note}"
    if origin.kind == "file":
        more = f", clips={list(origin.clips)!r}" if origin.clips else ""
        return f"mw.load({origin.name!r}{more})"
    return f"...  # {actor.character.name or 'a character'} made in Python"


def _graph(actor: Actor) -> str:
    origin = actor.origin
    if origin.graph is not None:
        return f"mw.load_graph({origin.graph!r})"
    if origin.kind == "sample":
        return f"mw.samples.{origin.name}_graph()"
    return "...  # a graph made in Python"


def _number(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(f'{v:g}' for v in value)})"
    return str(value) if isinstance(value, bool) else f"{value:g}"
