"""What a reader would find in a file that is being written, next to what the character says: the plain data of other
programs, which comes in any shape."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from marrow.io.gltf.accessors import Accessors
from marrow.io.gltf.context import Context
from marrow.io.gltf.extras import read_extras
from marrow.io.gltf.geometry import read_channels
from marrow.io.gltf.kept_extensions import KEPT
from marrow.io.gltf.limits import Budget
from marrow.io.gltf.lods import read_lods, screen_coverage
from marrow.io.gltf.notes import SceneNotes
from marrow.io.gltf.scene import read_tree
from marrow.io.gltf.schema import Document
from marrow.io.gltf.vrm import read_vrm
from marrow.io.source import Source
from marrow.model import Character
from marrow.model._asset import same
from marrow.model.constraints import constraint_to_data
from marrow.report import ReportBuilder

__all__ = ["note_what_is_read_otherwise"]


def note_what_is_read_otherwise(
    text: bytes, character: Character, nodes: Sequence[int], notes: SceneNotes
) -> None:
    """Fills in the notes of a scene: the kinds of extras, the parts of the VRM data, the constraints and the bones
    that are not found as the character has them. `nodes` show its meshes, those of its levels included."""
    document = msgspec.json.decode(text, type=Document)
    source = Source(Path("saved.glb"), b"")
    budget = Budget(source.path)
    accessors = Accessors(document, None, source, budget)
    ctx = Context(document, accessors, source, ReportBuilder(), budget, 1.0)
    tree = read_tree(ctx, read_lods(ctx).nodes)
    vrm = read_vrm(ctx, tree, read_channels(ctx, tree))
    own = character.vrm
    parts = {key: own.get(key) for key in own | vrm.data if not same(own.get(key), vrm.data.get(key))}
    notes.vrm = parts or None
    if vrm.constraints != character.constraints:
        notes.constraints = [constraint_to_data(c) for c in character.constraints]
    if vrm.humanoid == character.skeleton.bones:
        notes.humanoid = None
    meshes = (*character.meshes, *(m for level in character.reduced for m in level.meshes))
    extras = read_extras(
        ctx,
        tree,
        meshes=list(zip(meshes, nodes)),
        clips=dict(enumerate(character.clips.values())),
        images=character.images,
        coverage=screen_coverage(character.reduced),
    )
    kept = character.extras
    different = {k: kept[k] for k in kept if k != KEPT and not same(kept[k], extras.get(k))}
    notes.extras = different or None
