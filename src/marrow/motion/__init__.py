"""Motion for any character: retargeting, mirroring, contacts, clip editing."""

from marrow.motion.batch import blend, sample_clips
from marrow.motion.mapping import BoneMap, RetargetError, map_bones
from marrow.motion.quality import FootQuality, MotionQuality
from marrow.motion.retarget import Retargeter, retarget
from marrow.motion.rig import Rig, find_rig

__all__ = [
    "BoneMap",
    "FootQuality",
    "MotionQuality",
    "RetargetError",
    "Retargeter",
    "Rig",
    "blend",
    "find_rig",
    "map_bones",
    "retarget",
    "sample_clips",
]
