"""How much the studio takes on: said in words before anything is allocated."""

from __future__ import annotations

from marrow.errors import ResourceLimitError, ValidationError
from marrow.model import Character
from marrow.studio.protocol import MAX_COUNT

__all__ = ["check_character", "check_count", "most_instances"]

MAX_VERTICES = 8_000_000
"""Vertices of all meshes, one that is shown often counted as often."""
MAX_MESHES = 10_000
MAX_JOINTS = 100_000
MAX_MATRICES = 600_000
"""Joints times instances: 2,000 characters of 300 joints."""


def check_character(character: Character) -> None:
    """An error where a character would take more memory than a studio should."""
    meshes, vertices = len(character.meshes), character.vertex_count
    if vertices > MAX_VERTICES or meshes > MAX_MESHES:
        from marrow.io.lint.rest_bounds import distinct

        mesh, uses = max(distinct(character), key=lambda found: found[0].vertex_count * found[1])
        often = (
            f"{mesh.name or 'one mesh'!r} is shown {uses:,} times, which makes "
            if uses > 1
            else f"its {meshes:,} meshes have "
        )
        raise ResourceLimitError(
            f"{often}{vertices:,} vertices in {meshes:,} meshes in all; the studio draws at most {MAX_VERTICES:,} in "
            f"{MAX_MESHES:,}",
            remedy="leave copies out, or open a part of the scene",
        )
    joints = len(character.skeleton)
    if joints > MAX_JOINTS:
        raise ResourceLimitError(
            f"has {joints:,} joints; the studio moves at most {MAX_JOINTS:,}",
            remedy="leave out what is no part of the character",
        )


def most_instances(character: Character) -> int:
    """How many of a character the studio moves at once."""
    return max(1, min(MAX_COUNT, MAX_MATRICES // max(len(character.skeleton), 1)))


def check_count(character: Character, count: int) -> None:
    """An error where so many of a character are too many."""
    most = most_instances(character)
    if count > most:
        raise ValidationError(
            f"{count:,} characters of {len(character.skeleton):,} joints are more than the studio moves at once: of this "
            f"one it is at most {most:,}"
        )
