"""How many vertices are worked on at once. A file can show one mesh on thousands of nodes for a few bytes each."""

from __future__ import annotations

from marrow.errors import ValidationError
from marrow.model.character import Character

__all__ = ["check_vertices"]


def check_vertices(who: str, character: Character, most: int) -> None:
    """Refuses a character that shows more than `most` vertices, unless they are its own: what it holds twice over is
    no trick of its file."""
    shown = character.vertex_count
    if shown <= most:
        return
    held = sum({id(mesh.positions): mesh.vertex_count for mesh in character.meshes}.values())
    if shown > max(most, 2 * held):
        raise ValidationError(
            f"{who}: {len(character.meshes):,} meshes show {shown:,} vertices, made of {held:,} that are shared; at most "
            f"{most:,} are taken at once: leave meshes out"
        )
