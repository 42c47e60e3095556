"""Characters and clips as cards in a notebook."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from marrow.display.cards import Titled, card, counted, some, table
from marrow.printing import one_line

if TYPE_CHECKING:
    from marrow.model.character import Character, Clips
    from marrow.model.clip import Clip

__all__ = ["character_card", "clip_card", "clips_card", "clips_line"]

NAMES, ROWS = 8, 12
LONGEST = 30
"""Letters of a name among others."""


def clips_line(clips: Clips) -> str:
    """`Clips(71: idle 6.00 s, walk 0.90 s, ... 69 more)`."""
    told = [f"{_cut(name)} {clip.duration:.2f} s" for name, clip in clips.items()]
    return f"Clips({len(told)}: {some(told, 6)})" if told else "Clips(none)"


def clips_card(clips: Clips) -> str:
    """The first clips, one a row."""
    shown = list(clips.values())[:ROWS]
    rows = [(clip.name, f"{clip.duration:.2f} s", _extras(clip)) for clip in shown]
    more = f"and {len(clips) - ROWS:,} more: list(clips)" if len(clips) > ROWS else ""
    return card("Clips", counted(len(clips), "clip"), table(rows) if rows else "", note=more)


def _extras(clip: Clip) -> str:
    """What is not usual about a clip."""
    parts = ["additive"] if clip.additive else []
    parts += [counted(len(clip.events), "event")] if clip.events else []
    parts += [counted(len(clip.curves), "curve")] if clip.curves else []
    return ", ".join(parts)


def clip_card(clip: Clip) -> str:
    """How long it is and what it moves."""
    tracks = clip.tracks.table
    joints = len(set(tracks["target"][tracks["path"] != 3].tolist()))
    morphs = len(set(tracks["target"][tracks["path"] == 3].tolist()))
    moved = [counted(joints, "joint")] + ([counted(morphs, "morph")] if morphs else [])
    rate = f", {clip.rate:g} frames a second" if clip.rate else ""
    rows = [
        ("lasts", f"{clip.duration:.3f} s{rate}"),
        ("moves", f"{' and '.join(moved)} of {len(clip.skeleton)} joints"),
        ("keys", f"{int(tracks['keys'].sum()):,} in {counted(len(tracks), 'track')}"),
    ]
    if clip.events:
        told = [f"{one_line(e.name)} {e.time:.2f} s" for e in clip.events]
        rows.append(("events", some(told, NAMES)))
    if clip.curves:
        rows.append(("curves", some([one_line(curve.name) for curve in clip.curves], NAMES)))
    return card("Clip", clip.name, table(rows, longest=200), note="additive" if clip.additive else "")


def _cut(name: str) -> str:
    line = one_line(name)
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 3]}..."


def _named(head: str, names: list[str]) -> Titled:
    """The first names; those that were cut are whole in the title."""
    long = [one_line(name) for name in names[:NAMES] if _cut(name) != one_line(name)]
    return Titled(head + some([_cut(name) for name in names], NAMES), ", ".join(long))


def character_card(character: Character) -> str:
    """What it is made of."""
    skeleton = character.skeleton
    roots = [one_line(name) for name, parent in zip(skeleton.names, skeleton.parents.tolist()) if parent < 0]
    morphs = f", {counted(len(skeleton.morph_names), 'morph')}" if skeleton.morph_names else ""
    rows: list[tuple[str, str | Titled]] = [
        ("skeleton", f"{counted(len(skeleton), 'joint')}, from {some(roots, 2)}{morphs}")
    ]
    if character.meshes:
        size = f"{character.vertex_count:,} vertices, {character.triangle_count:,} triangles"
        rows.append(("meshes", f"{counted(len(character.meshes), 'mesh', 'meshes')}: {size}"))
    if character.clips:
        rows.append(("clips", _named(f"{counted(len(character.clips), 'clip')}: ", list(character.clips))))
    if character.materials:
        names = [m.name for m in character.materials]
        rows.append(("materials", _named(f"{len(names)}: ", names)))
    if character.reduced:
        rows.append(("levels", str(len(character.reduced) + 1)))
    for word, placed in (("cameras", character.cameras), ("lights", character.lights)):
        if placed:
            rows.append((word, _named(f"{len(placed)}: ", [p.name for p in placed])))
    if len(character.report):
        rows.append(("report", f"{character.report.counts}: print(character.report)"))
    # The name alone: where files lie on a machine is nobody's business who reads a notebook.
    file = re.split(r"[/\\]", character.source)[-1] if character.source else ""
    note = f"from {file}" if file else ""
    return card("Character", character.name, table(rows, longest=300), note=note)
