"""Poses from one body to another while they are made: what `Retargeter.retarget_pose` does.

The kernel that takes clips across (`transfer.py`) is given N poses as N frames, 16 of them in lanes. Each is taken by
itself: a crowd gets the same bits as its members alone. Feet are not planted, since that needs the frames to come.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.sampling import sample
from marrow.math.counting import repeat
from marrow.model import Pose, Tracks
from marrow.model._validate import owned
from marrow.model.clip import INTERPOLATIONS, TRACK_DTYPE
from marrow.motion.bone_map import same_names
from marrow.motion.chain_settings import finish_chains, reach_with_chains, weigh_chains
from marrow.motion.detached_feet import detached_feet
from marrow.motion.ik_joints import follow_limbs
from marrow.motion.joint_scale import NOTICED, grown_scales, whole_body
from marrow.motion.profile import RetargetProfile
from marrow.motion.retarget_rotations import LocalTracks
from marrow.motion.retarget_setup import moved_joints
from marrow.motion.retarget_translations import add_translations
from marrow.motion.stand_ins import cut, padded
from marrow.motion.stray_skin import stray_skin
from marrow.motion.track_copy import morph_channels
from marrow.motion.transfer import TransferBuilder

if TYPE_CHECKING:
    from marrow.motion.retarget import Retargeter

__all__ = ["PoseTransfer", "transfer_of"]

Array = NDArray[Any]
WIDTH = (3, 4, 3)


class PoseTransfer:
    """The way of poses between the two bodies of a retargeter, found once. `world (4,)` turns the source's world to the
    target's."""

    def __init__(self, tool: Retargeter) -> None:
        self.tool = tool
        source, target = tool.source, tool.target
        names = source.morph_names
        found = morph_channels(names, range(len(names)), target, tool._called)
        self._morphs = np.array(list(found.channels.items()), np.int64).reshape(-1, 2)
        self._pairs = np.array(same_names(source, target), np.int64).reshape(-1, 2) if tool.exact else None
        few = self._example()
        self.world = tool.world(few) if not tool.exact else np.array([0.0, 0.0, 0.0, 1.0])
        if tool.exact:
            return
        settings = tool.profiles[1] or RetargetProfile()
        self._chains = settings.chains
        self._least = float(np.abs(source.rest.scale).min())
        self._reaching = tool.map.humanoid and any(chain.ik for chain in settings.chains.values())
        self._ground = tool.ground(few, self.world) if tool.map.humanoid else 0.0
        moved, slides = self._moving()
        self._drivers = tool._find_drivers(self.world, moved)
        builder = TransferBuilder(source, target, tool._from)
        builder.turn(self._drivers, self.world)
        add_translations(tool, builder, self._drivers, self.world, slides - {*detached_feet(source)})
        needed = builder.needed
        self._joints = [np.flatnonzero(needed[:, path]) for path in range(3)]
        self._keys = 0, np.zeros(0, TRACK_DTYPE), np.zeros(0, np.float32)
        self._transfer = builder.build(self._poses_as_keys(source.rest.broadcast_to((1,))))

    def _example(self) -> Pose:
        """Poses that show where the source stands and faces: of its longest clip, else its rest pose."""
        character = self.tool.source_character
        clips = [] if character is None else [c for c in character.clips.values() if not c.additive]
        longest = max(clips, key=lambda c: c.duration, default=None)
        if longest is None:
            return self.tool.source.rest.broadcast_to((1,))
        return sample(longest, np.linspace(0.0, longest.duration, 128))

    def _moving(self) -> tuple[set[int], set[int]]:
        """The joints of the source that its clips move, and that slide in them; all, where it has none."""
        character = self.tool.source_character
        every = set(range(len(self.tool.source)))
        if character is None or not len(character.clips):
            return every, every
        clips = character.clips.values()
        slides = {int(j) for c in clips for j in c.tracks.table["target"][c.tracks.table["path"] == 0]}
        return {j for c in clips for j in moved_joints(c)}, slides

    def _poses_as_keys(self, pose: Pose) -> Tracks:
        """N poses as keys at the times 0, 1, 2...: of what is needed of them, property by property."""
        keys = self._keys
        if keys[0] != len(pose):
            self._keys = keys = len(pose), self._table(len(pose)), np.arange(len(pose), dtype=np.float32)
        parts = (
            np.swapaxes(values[:, joints], 0, 1).reshape(-1)
            for values, joints in zip((pose.translation, pose.rotation, pose.scale), self._joints)
        )
        values = np.concatenate([*parts], dtype=np.float32)
        return Tracks(owned(keys[1].copy()), owned(keys[2].copy()), owned(values))

    def _table(self, count: int) -> Array:
        """The tracks of so many poses."""
        each = [len(joints) for joints in self._joints]
        sizes = count * repeat(WIDTH, each)
        table = np.zeros(sum(each), TRACK_DTYPE)
        table["target"], table["path"] = np.concatenate(self._joints), repeat(range(3), each)
        table["interpolation"] = INTERPOLATIONS.index("step")  # nothing of the pose behind it
        table["keys"], table["value_start"] = count, np.cumsum(sizes) - sizes
        return table

    def run(self, pose: Pose, threads: int | None = None) -> Pose:
        """N poses of the source on the target."""
        tool, count = self.tool, len(pose)
        pose = padded(pose, tool.source)
        out = tool.target.rest.broadcast_to((count,)).copy()
        if len(self._morphs):
            out.morphs[:, self._morphs[:, 1]] = pose.morphs[:, self._morphs[:, 0]]
        parts = out.translation, out.rotation, out.scale
        if self._pairs is not None:
            for mine, theirs in zip(parts, (pose.translation, pose.rotation, pose.scale)):
                mine[:, self._pairs[:, 1]] = theirs[:, self._pairs[:, 0]]
            return out
        tracks = self._transfer.run(
            self._poses_as_keys(pose), np.arange(count, dtype=np.float64), -tool.scale * self._ground, threads
        )
        tracks |= self._scales(pose)
        weigh_chains(tool, self._chains, tracks)
        if tool.map.humanoid:
            if self._reaching:
                reach_with_chains(tool, self._chains, pose, self.world, self._ground, tracks)
            finish_chains(tool, self._chains, count, tracks)
            tracks |= tool._twists(tracks, apart=True)
            stray = stray_skin(tool.target_character, tool.chains("target"))
            follow_limbs(tool.target, tool.chains("target"), tracks, count, stray)
        for (joint, path), values in tracks.items():
            parts[path][:, joint] = values
        return cut(out, len(tool._given[1]))

    def _scales(self, pose: Pose) -> LocalTracks:
        tool = self.tool
        rest = tool.source.rest.scale
        off = pose.scale - rest
        if max(off.max(initial=0.0), -off.min(initial=0.0)) <= NOTICED * self._least:
            return {}
        grown = off / np.where(np.abs(rest) > 1e-9, rest, 1.0)
        scaled = np.flatnonzero(np.abs(grown).max(axis=(0, 2), initial=0.0) > NOTICED)
        if not len(scaled):
            return {}
        whole = whole_body(tool)
        made = grown_scales(scaled.tolist(), pose, tool.source, tool.target, self._drivers, whole)
        return {(j, 2): values for j, values in made.tracks.items()}


def transfer_of(tool: Retargeter) -> PoseTransfer:
    """The way that single poses go with a retargeter, found once."""
    if tool._pose_transfer is None:
        tool._pose_transfer = PoseTransfer(tool)
    return tool._pose_transfer
