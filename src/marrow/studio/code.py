"""The Python code that reproduces what the studio shows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from marrow.studio.effectors import STEPS

if TYPE_CHECKING:
    from marrow.studio.actor import StudioActor
    from marrow.studio.session import Session

__all__ = ["python_code"]

LONGEST = 60.0
"""The most seconds a graph is run for: what happened a minute ago hardly shows."""
MOST_LINES = 12
"""Changes that are written out one by one; more are a table."""
REPLAY = """\
now = 0.0
for when, name, value in steering:
    while now < when - 1e-6:
        step = min(1 / 60, when - now)
        animator.update(step)
        now += step
    if value is None:
        animator.trigger(name)
    else:
        animator[name] = value"""


def python_code(session: Session) -> str:
    """A short script: loads the character, brings it to this moment and skins it."""
    actor = session.main
    if actor is None:
        return "import marrow as mw\n"
    lines = ["import marrow as mw", "", f"character = {_character(actor)}"]
    if session.mode == "graph" and actor.origin.graph_text is not None:
        lines[1] = "from marrow.graph.description import from_json\n"
    many = f", count={session.count}" if session.count > 1 else ""
    if session.mode == "graph":
        lines += [f"graph = {_graph(actor)}", f"animator = mw.Animator(character, graph{many})"]
        lines += _running(actor, session)
    else:
        lines.append(f"animator = mw.Animator(character{many})")
        if actor.clip is not None:
            options = [f"start={actor.time:.6f}"] if actor.time else []
            options += [] if session.loop else ["loop=False"]
            lines.append(f"animator.play({', '.join([repr(actor.clip), *options])})")
    if session.edits is not None and session.edits.past:
        done = "; ".join(words for words, _ in session.edits.past)
        lines.insert(3, f"# In the studio clips were edited ({done}): export the character to have them.")
    if session.spread and session.count > 1:
        lines.append("# In the studio each of the crowd has its own time and parameters (Spread).")
    lines += actor.springs.code()
    if len(actor.effectors.holding):
        lines += _reaching(actor)
    else:
        lines += ["surface = animator.skin()  # .positions, .normals, .tangents", "mw.view(animator)"]
    return "\n".join(lines) + "\n"


def _reaching(actor: StudioActor) -> list[str]:
    """The joints that are held, and the pose that holds them."""
    held, names = actor.effectors, actor.character.skeleton.names
    lines, targets = [], []
    made = ", ".join(
        f"mw.ik.Effector({names[j]!r}, position={e.position:g}, rotation={e.rotation:g})"
        if (e := held.effector(j)).rotation
        else repr(names[j])
        for j in held.places
    )
    pose = actor.animator.pose if actor.animator.pose.batch_shape else actor.animator.pose[None]
    played = actor.character.skeleton.to_model(pose)[..., 3].astype(np.float64)
    for k, (joint, at) in enumerate(held.goals(played, np.arange(held.count)).items()):
        who = np.flatnonzero(np.isfinite(at[:, 0]))
        if not len(who):
            continue
        value = _number(tuple(at[0]))
        if held.count > 1:
            value = f"places_{k}"
            lines.append(
                f"{value} = [[float('nan')] * 3] * {held.count}  # those without a place stay as they are"
            )
            lines += [f"{value}[{n}] = {_number(tuple(at[n]))}" for n in who.tolist()]
        targets.append(f"{names[joint]!r}: {value}")
    return [
        *lines,
        f"reach = mw.ik.Solver(character, [{made}], steps={STEPS})",
        f"pose = reach.solve(animator.pose, {{{', '.join(targets)}}}).pose",
        "surface = mw.skin(character, pose)  # .positions, .normals, .tangents",
        "studio = mw.view(mw.Scene(mw.Actor(character, pose)))  # or mw.view(character), and studio.effectors there",
    ]


def _running(actor: StudioActor, session: Session) -> list[str]:
    """As long as the graph has run, with what was set and fired on the way, when it was."""
    begin = max(actor.ran - LONGEST, 0.0)
    known = actor.graph.parameters if actor.graph else {}
    values = {**actor.steered.first} or dict(session.parameters)
    changes = []
    for at, name, value in actor.steered.changes:
        if at > begin + 1e-6 or value is None:
            if at >= begin:
                changes.append((at - begin, name, value))
        else:
            values[name] = value
    lines = [
        f"animator[{name!r}] = {_number(value)}"
        for name, value in values.items()
        if name in known and value != known[name].default
    ]
    if len(changes) > MOST_LINES:
        rows = [f"    ({at:.6f}, {name!r}, {_number(value)})," for at, name, value in changes]
        lines += ["steering = [  # seconds, parameter, value; None fires a trigger", *rows, "]", REPLAY]
        return [*lines, *_updates(actor.ran - begin - changes[-1][0])]
    now = 0.0
    for at, name, value in changes:
        lines += _updates(at - now)
        lines.append(
            f"animator.trigger({name!r})" if value is None else f"animator[{name!r}] = {_number(value)}"
        )
        now = at
    lines += _updates(actor.ran - begin - now)
    return lines if any("update" in line for line in lines) else [*lines, "animator.update(1 / 60)"]


def _updates(seconds: float) -> list[str]:
    """So many seconds, frame by frame."""
    frames = math.floor(60 * seconds + 1e-6)
    rest = seconds - frames / 60
    whole = {0: [], 1: ["animator.update(1 / 60)"]}.get(
        frames, [f"for _ in range({frames}):", "    animator.update(1 / 60)"]
    )
    return [*whole, f"animator.update({rest:.6f})"] if rest > 1e-5 else whole


def _character(actor: StudioActor) -> str:
    origin = actor.origin
    if origin.kind == "sample":
        note = f"  # and the clips of {', '.join(origin.clips)}" if origin.clips else ""
        return f"mw.samples.{origin.name}(){note}"
    if origin.kind == "file":
        more = f", clips={list(origin.clips)!r}" if origin.clips else ""
        metres = ", units='metres'" if origin.name.lower().endswith(".bvh") else ""
        return f"mw.load({origin.name!r}{more}{metres})"
    return f"...  # {actor.character.name or 'a character'} made in Python"


def _graph(actor: StudioActor) -> str:
    origin = actor.origin
    if origin.graph is not None:
        return f"mw.load_graph({origin.graph!r})"
    if origin.graph_text is not None:
        return f"from_json({_quoted(origin.graph_text)})"
    if origin.kind == "sample":
        return f"mw.samples.{origin.name}_graph()"
    return "...  # a graph made in Python"


def _quoted(text: str) -> str:
    """A text over several lines, as Python reads it back."""
    plain = text.strip()
    if '"""' in plain or "\\" in plain:
        return repr(plain)
    return f'"""\n{plain}\n"""'


def _number(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, tuple):
        return f"({', '.join(f'{v:.7g}' for v in value)})"
    return str(value) if isinstance(value, bool) else f"{value:.7g}"
