"""The nouns: frozen, validated data without algorithms beyond themselves."""

from marrow.model.character import Character, Clips, Palette
from marrow.model.clip import Clip, Event, Track, Tracks
from marrow.model.curve import Curve
from marrow.model.hinge import Hinge
from marrow.model.joint_camera import JointCamera, JointLight
from marrow.model.level import Level, Lod, Reduction
from marrow.model.material import Image, Material, Texture
from marrow.model.mesh import Mesh, Section
from marrow.model.morph import MorphTarget
from marrow.model.packed_motion import PackedMotion
from marrow.model.pose import Pose
from marrow.model.skeleton import Skeleton, Socket
from marrow.model.weights import (
    InfluenceLimit,
    limit_influences,
    normalize_weights,
    pack_weights,
    unpack_weights,
)

__all__ = [
    "Character",
    "Clip",
    "Clips",
    "Curve",
    "Event",
    "Hinge",
    "Image",
    "InfluenceLimit",
    "JointCamera",
    "JointLight",
    "Level",
    "Lod",
    "Material",
    "Mesh",
    "MorphTarget",
    "PackedMotion",
    "Palette",
    "Pose",
    "Reduction",
    "Section",
    "Skeleton",
    "Socket",
    "Texture",
    "Track",
    "Tracks",
    "limit_influences",
    "normalize_weights",
    "pack_weights",
    "unpack_weights",
]
