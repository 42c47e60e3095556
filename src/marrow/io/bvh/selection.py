"""Which joints of a character are bones worth writing to a motion file."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from marrow.model import Character, Clip

__all__ = ["selected_joints"]


def selected_joints(character: Character, clip: Clip | None, names: Iterable[str] | None) -> list[int]:
    """The joints that are written, in order: those that match `names`, or all bones."""
    skeleton = character.skeleton
    if names is None:
        return _bones(character, clip)
    patterns = [names] if isinstance(names, str) else list(names)
    found = set()
    for pattern in patterns:
        matching = {j for j, name in enumerate(skeleton.names) if name == pattern}
        matching = matching or {j for j, name in enumerate(skeleton.names) if fnmatchcase(name, pattern)}
        if not matching:
            matching = {skeleton.index(pattern)}  # a part such as @head, or an error that names the near one
        found |= matching
    return sorted(found)


def _bones(character: Character, clip: Clip | None) -> list[int]:
    """What moves a skin or is moved by the clip, what joins that above, and what hangs on it, but for the nodes of
    meshes. All joints where nothing is skinned.
    """
    skeleton = character.skeleton
    parents = skeleton.parents.tolist()
    skinned = {int(j) for m in character.meshes if len(m.joint_list) > 1 for j in m.joint_list}
    if not skinned:
        return list(range(len(skeleton)))
    # A node with a mesh that lies in the skin's own list only takes the vertices that no joint moves.
    carriers = {m.node for m in character.meshes}
    moved = (
        {int(row["target"]) for row in clip.tracks.table if row["path"] != 3} if clip is not None else set()
    )
    core = (skinned | moved) - carriers
    below: set[int] = set()
    for j, p in enumerate(parents):
        if j in core or (p in below and j not in carriers):
            below.add(j)
    kept = set(below)
    for j in below:
        while (j := parents[j]) >= 0 and j not in kept:
            kept.add(j)
    # What stands still above the only top joint (a scene's root, an armature's node) says nothing.
    tops = [j for j in kept if parents[j] not in kept]
    while len(tops) == 1 and tops[0] not in core:
        kept.remove(tops[0])
        tops = [j for j in skeleton.children(tops[0]) if j in kept]
    if len(tops) > 1 and parents[tops[0]] >= 0:  # then what was above them is one root for all
        kept.add(parents[tops[0]])
    return sorted(kept)
