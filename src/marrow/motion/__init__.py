"""Motion for any character: retargeting, mirroring, contacts, clip editing."""

from marrow.motion.batch import blend, from_6d, sample_clips, to_6d
from marrow.motion.bone_map import BoneMap, RetargetError, map_bones
from marrow.motion.joint_angles import JointAngles, joint_angles
from marrow.motion.mirror import MirrorMap, mirror_map, mirrored_pose
from marrow.motion.parts import PARTS
from marrow.motion.profile import ChainProfile, ClipProfile, ContactProfile, RetargetPose, RetargetProfile
from marrow.motion.profile_bodies import retarget_profile
from marrow.motion.quality import FootQuality, MotionQuality
from marrow.motion.reduction import Reduced
from marrow.motion.reduction import reduced as reduce
from marrow.motion.retarget import Retargeter, retarget
from marrow.motion.rig import Rig, find_rig

__all__ = [
    "PARTS",
    "BoneMap",
    "ChainProfile",
    "ClipProfile",
    "ContactProfile",
    "FootQuality",
    "JointAngles",
    "MirrorMap",
    "MotionQuality",
    "Reduced",
    "RetargetError",
    "RetargetPose",
    "RetargetProfile",
    "Retargeter",
    "Rig",
    "blend",
    "find_rig",
    "from_6d",
    "joint_angles",
    "map_bones",
    "mirror_map",
    "mirrored_pose",
    "reduce",
    "retarget",
    "retarget_profile",
    "sample_clips",
    "to_6d",
]
