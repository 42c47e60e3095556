"""The mannequin, put together: body, baton, morphs, clips."""

from __future__ import annotations

from marrow.model import Character, Clips, Mesh
from samples_modeller import atlas, paint, rig
from samples_modeller.assembly import skinned_mesh
from samples_modeller.baton import baton
from samples_modeller.clips import clips
from samples_modeller.morphs import morph_targets
from samples_modeller.surface import surface
from samples_modeller.weights import skin_weights

__all__ = ["build"]


def _body() -> Mesh:
    shape = surface()
    skin = skin_weights(shape)
    _, _, bind = rig.bind_frames()
    materials = [m.name for m in paint.MATERIALS]
    mesh = skinned_mesh("body", shape, skin, bind, atlas.charts(shape, skin[0]), materials)
    return mesh.replace(morph_targets=morph_targets(mesh))


def build() -> Character:
    """The whole character."""
    skeleton = rig.skeleton()
    meshes = (_body(), baton(skeleton))
    return Character(skeleton, meshes, Clips(clips(skeleton)), paint.MATERIALS, name="mannequin")
