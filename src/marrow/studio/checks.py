"""What `marrow check` says of a character, with the way to what each line is about."""

from __future__ import annotations

import re

from marrow.io.lint import Finding, lint
from marrow.model import Character
from marrow.studio.answers import CheckAnswer, CheckLine

__all__ = ["check"]

_PLACE = re.compile(r"^(clip|mesh) (['\"])(.*)\2")


def check(character: Character) -> CheckAnswer:
    """Every finding, the worst first."""
    return CheckAnswer([_line(character, finding) for finding in lint(character)])


def _line(character: Character, finding: Finding) -> CheckLine:
    kind, name = _named(finding.place)
    names = character.skeleton.names
    joint = next((names.index(j) for j in finding.joints if j in names), -1)
    meshes = [mesh.name for mesh in character.meshes]
    clip = name if kind == "clip" and name in character.clips else None
    return CheckLine(
        severity=finding.severity,
        rule=finding.rule,
        place=finding.place,
        message=finding.message,
        remedy=finding.remedy,
        joint=joint,
        mesh=meshes.index(name) if kind == "mesh" and name in meshes else -1,
        vertices=list(finding.vertices),
        clip=clip,
        time=finding.time,
    )


def _named(place: str) -> tuple[str, str]:
    """The clip or the mesh that a place names, as `repr` wrote it."""
    found = _PLACE.match(place)
    if found is None:
        return "", ""
    return found[1], found[3].replace("\\'", "'").replace("\\\\", "\\")
