"""Real files of many rig families, and which motion goes onto which character. The sheets in the documentation show the
same pairs (tools/docs/motion_pictures.py)."""

from __future__ import annotations

__all__ = ["CORPUS", "MOTION", "PAIRS"]

CORPUS = {
    "xbot": "Xbot.glb",
    "soldier": "Soldier.glb",
    "samba": "Samba_Dancing.fbx",
    "daz": "pirouette.bvh",
    "ozz walk": "ozz_walk.fbx",
    "ozz": "ozz_arnaud.fbx",
    "cesium": "CesiumMan.glb",
    "figure": "RiggedFigure.glb",
    "robot": "BrainStem.glb",
    "kenney": "maya_kenney_character_7700_binary.fbx",
    "maya": "maya_character_7500_binary.fbx",
    "barbarian": "blender_293_barbarian_7400_binary.fbx",
    "fox": "Fox.glb",
}
MOTION = {
    "cmu walk": "cmu_walk.bvh",
    "cmu jog": "cmu_jog.bvh",
    "cmu run": "cmu_run.bvh",
    "unreal": "m2m_rig_human.glb",
    "zombie": "m2m_human_zombie.glb",
    "vrm": "voxel_avatar.vrm",
    "vrma": "vrm_clip.vrma",
    "fox clips": "m2m_fox_clips.glb",
    "horse": "m2m_fox_horse.glb",
}
PAIRS = [
    ("samba", 0, "xbot"),
    ("xbot", "walk", "samba"),
    ("soldier", "Walk", "xbot"),
    ("xbot", "run", "soldier"),
    ("soldier", "Run", "samba"),
    ("cmu walk", 0, "xbot"),
    ("cmu walk", 0, "mannequin"),
    ("cmu jog", 0, "vrm"),
    ("daz", 0, "mannequin"),
    ("daz", 0, "xbot"),
    ("daz", 0, "ozz"),
    ("samba", 0, "ozz"),
    ("ozz walk", 0, "mannequin"),
    ("ozz walk", 0, "xbot"),
    ("cesium", 0, "mannequin"),
    ("mannequin", "walk", "cesium"),
    ("figure", 0, "xbot"),
    ("mannequin", "run", "figure"),
    ("mannequin", "run", "robot"),
    ("kenney", 0, "mannequin"),
    ("mannequin", "walk", "kenney"),
    ("xbot", "run", "kenney"),
    ("mannequin", "attack", "maya"),
    ("samba", 0, "unreal"),
    ("mannequin", "run", "zombie"),
    ("vrma", 0, "vrm"),
    ("vrma", 0, "mannequin"),
    ("mannequin", "walk", "vrm"),
    ("samba", 0, "zombie"),
    ("mannequin", "jump", "vrma"),
    ("mannequin", "walk", "cmu walk"),
]
