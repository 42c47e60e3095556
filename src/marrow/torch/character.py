"""`marrow.torch.CharacterModule`: a character as a module, from clip to skin, with gradients all the way."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

import marrow
import torch
from marrow.errors import ValidationError, WrongTypeError
from marrow.skinning.deform import bind_positions
from marrow.torch import definitions
from marrow.torch.kinematics import forward_kinematics, local_matrices, multiply_affine
from marrow.torch.operators import fast_linear, usable
from marrow.torch.sampling import ClipSampler, PoseTensors
from marrow.torch.tensor_checks import check_tensor, shape_error
from torch import Tensor, nn

__all__ = ["CharacterModule"]

METHODS = ("linear", "dual_quaternion", "blended")


class CharacterModule(nn.Module):
    """A marrow character whose operations take and give tensors, on any device, with free leading axes.

    `skeleton`, `source` and names are those of the marrow character. What a module moves (`to`, `cuda`, `half`) or saves
    (`state_dict`) are buffers: the mesh, the binding, the keys of the clips.
    """

    def __init__(self, character: marrow.Character, *, clips: Sequence[str] | None = None) -> None:
        super().__init__()
        if not isinstance(character, marrow.Character):
            raise WrongTypeError(
                f"marrow.torch.CharacterModule: expected a Character, got {type(character).__name__}"
            )
        self.source = character
        self.joint_names = tuple(character.skeleton.names)
        self.parents = tuple(int(p) for p in character.skeleton.parents)
        palette = character.palette
        wanted = tuple(character.clips) if clips is None else tuple(clips)
        self.clips = nn.ModuleList(ClipSampler(character.clips[name]) for name in wanted)
        self.clip_names = wanted

        meshes = character.meshes
        V, K = character.vertex_count, max((m.influences for m in meshes), default=1)
        joints, weights = np.zeros((V, K), np.int64), np.zeros((V, K), np.float32)
        positions, normals = np.zeros((V, 3), np.float32), np.zeros((V, 3), np.float32)
        share = np.zeros(V, np.float32)
        self.methods = tuple(m.skinning for m in meshes)
        self.has_normals = any(m.normals is not None for m in meshes)
        self.vertex_ranges: list[tuple[int, int]] = []
        for mesh, slots, at in zip(meshes, palette.mesh_slots, character.vertex_offsets):
            rows = slice(at, at + mesh.vertex_count)
            self.vertex_ranges.append((rows.start, rows.stop))
            joints[rows, : mesh.influences] = slots[mesh.joints]
            weights[rows, : mesh.influences] = mesh.weights
            # What has no weight names a joint that has: nothing of another joint comes near it.
            joints[rows] = np.where(weights[rows] > 0, joints[rows], joints[rows][:, :1])
            positions[rows] = mesh.positions
            if mesh.normals is not None:
                normals[rows] = mesh.normals
            if mesh.dual_quaternion_weights is not None:
                share[rows] = mesh.dual_quaternion_weights

        def keep(name: str, values: object, dtype: torch.dtype = torch.float32) -> None:
            self.register_buffer(name, torch.tensor(np.array(values), dtype=dtype))

        keep("points", positions)
        keep("normals", normals)
        keep("vertex_joints", joints, torch.int64)
        keep("vertex_weights", weights)
        keep("dual_share", share)
        keep("palette_joints", palette.joints, torch.int64)
        keep("inverse_bind", palette.inverse_bind)
        keep("pivots", bind_positions(palette))
        keep("used", np.unique(joints[weights > 0]), torch.int64)
        rest = character.skeleton.rest
        for name in PoseTensors._fields:
            keep(f"rest_{name}", getattr(rest, name))
        self._keep_morphs(character)

    def _keep_morphs(self, character: marrow.Character) -> None:
        """Morph targets of all meshes: which rows they move, and how far; and the stops along every channel."""
        rows, position, normal, owner, stops = [], [], [], [], []
        number = 0
        for mesh, at in zip(character.meshes, character.vertex_offsets):
            channels: dict[int, list[tuple[float, int]]] = {}
            for target in mesh.morph_targets:
                vertices = np.arange(mesh.vertex_count) if target.vertices is None else target.vertices
                rows.append(vertices.astype(np.int64) + at)
                position.append(target.positions)
                normal.append(np.zeros_like(target.positions) if target.normals is None else target.normals)
                owner.append(np.full(len(vertices), number))
                channels.setdefault(target.channel, []).append((target.full_weight, number))
                number += 1
            for channel, members in channels.items():
                line = [(0.0, -1), *members]
                stops.append((channel, tuple(sorted(line))))
        self.target_count, self._stops = number, tuple(stops)

        def joined(parts: list[np.ndarray], width: int | None, dtype: torch.dtype) -> Tensor:
            empty = np.zeros((0,) if width is None else (0, width))
            return torch.tensor(np.concatenate(parts) if parts else empty, dtype=dtype)

        self.register_buffer("morph_rows", joined(rows, None, torch.int64))
        self.register_buffer("morph_targets", joined(owner, None, torch.int64))
        self.register_buffer("morph_points", joined(position, 3, torch.float32))
        self.register_buffer("morph_normals", joined(normal, 3, torch.float32))

    # -- poses ------------------------------------------------------------------------------------------------------
    def rest(self, *batch: int) -> PoseTensors:
        """The rest pose, for a batch of any shape."""
        parts = (getattr(self, f"rest_{name}") for name in PoseTensors._fields)
        return PoseTensors(*(p.expand(*batch, *p.shape) for p in parts))

    def sample(self, clip: str | int, time: Tensor | float, *, loop: bool = False) -> PoseTensors:
        """The pose of a clip at `time (...)` in seconds."""
        if isinstance(clip, str):
            if clip not in self.clip_names:
                from marrow.errors import UnknownNameError

                raise UnknownNameError("clip", clip, self.clip_names)
            clip = self.clip_names.index(clip)
        if not isinstance(clip, int) or not -len(self.clips) <= clip < len(self.clips):
            raise ValidationError(f"sample: there are {len(self.clips)} clips, got {clip!r}")
        if not isinstance(time, Tensor):
            time = torch.as_tensor(time, dtype=self.points.dtype, device=self.points.device)
        if not torch.is_floating_point(time):
            raise shape_error("sample", "time", time, "a floating tensor of any shape")
        sampled: PoseTensors = self.clips[clip](time, loop=loop)
        return sampled

    def to_model(self, local: PoseTensors | Tensor) -> Tensor:
        """Model-space matrices `(..., J, 3, 4)` of a pose, or of local matrices `(..., J, 3, 4)`."""
        J = len(self.parents)
        if isinstance(local, Tensor):
            check_tensor("to_model", "local", local, (J, 3, 4), f"(..., {J}, 3, 4)")
        else:
            if not isinstance(local, PoseTensors):
                raise shape_error(
                    "to_model", "local", local, f"a Pose, or a floating tensor (..., {J}, 3, 4)"
                )
            check_tensor("to_model", "local.rotation", local.rotation, (J, 4), f"(..., {J}, 4)")
            local = local_matrices(local.translation, local.rotation, local.scale)
        return forward_kinematics(local, self.parents)

    def joints(self, local: PoseTensors | Tensor) -> Tensor:
        """Where the joints are in model space, `(..., J, 3)`."""
        return self.to_model(local)[..., 3]

    def matrices(self, local: PoseTensors | Tensor) -> Tensor:
        """Skinning matrices `(..., P, 3, 4)`: from the mesh at bind to where each joint carries it."""
        return self.palette(self.to_model(local))

    def palette(self, model: Tensor) -> Tensor:
        """Skinning matrices of model-space ones."""
        return multiply_affine(model.index_select(-3, self.palette_joints), self.inverse_bind.to(model.dtype))

    # -- the skin ---------------------------------------------------------------------------------------------------
    def target_weights(self, morphs: Tensor) -> Tensor:
        """How far each morph target is on, `(..., targets)`, for channel weights `(..., M)`: along straight lines
        through the in-betweens of a channel."""
        parts: list[Tensor] = [torch.zeros_like(morphs[..., 0])] * self.target_count
        for channel, stops in self._stops:
            w = morphs[..., channel]
            if len(stops) == 2:
                full, member = next(stop for stop in stops if stop[1] >= 0)
                parts[member] = w / full
                continue
            for i, ((low, left), (high, right)) in enumerate(itertools.pairwise(stops)):
                above = torch.ones_like(w, dtype=torch.bool) if i == 0 else w >= low
                below = torch.ones_like(w, dtype=torch.bool) if i == len(stops) - 2 else w < high
                here = above & below
                t = (w - low) / (high - low)
                for member, on in ((left, 1 - t), (right, t)):
                    if member >= 0:
                        parts[member] = torch.where(here, on, parts[member])
        return torch.stack(parts, -1) if parts else morphs.new_zeros(*morphs.shape[:-1], 0)

    def morphed(self, morphs: Tensor, values: Tensor | None = None, deltas: Tensor | None = None) -> Tensor:
        """The points of the mesh, `(..., V, 3)`, with morph channels `(..., M)` on."""
        base = self.points if values is None else values
        moved = self.morph_points if deltas is None else deltas
        if not self.target_count:
            return base
        weight = self.target_weights(morphs)[..., self.morph_targets]
        return (
            base.to(weight.dtype)
            .expand(*weight.shape[:-1], -1, -1)
            .index_add(-2, self.morph_rows, weight[..., None] * moved.to(weight.dtype))
        )

    def skin(
        self,
        pose: PoseTensors | Tensor,
        points: Tensor | None = None,
        *,
        skinning: str | None = None,
        morphs: Tensor | None = None,
        normals: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """The skin, `(..., V, 3)`, of a pose or of skinning matrices `(..., P, 3, 4)`; with `normals`, a pair.

        `points (V, 3)` or `(..., V, 3)` take the place of the mesh at rest. `skinning` is `linear`, `dual_quaternion` or
        `blended`; None takes what each mesh's author asked for. `morphs (..., M)` are channel weights; a pose brings its
        own.
        """
        if skinning is not None and skinning not in METHODS:
            raise ValidationError(f"skin: skinning must be one of {', '.join(METHODS)}, got {skinning!r}")
        P, V = len(self.palette_joints), len(self.points)
        if isinstance(pose, PoseTensors):
            morphs = pose.morphs if morphs is None else morphs
            matrices = self.matrices(pose)
        else:
            check_tensor("skin", "pose", pose, (P, 3, 4), f"(..., {P}, 3, 4), or a Pose")
            matrices = pose
        if points is not None:
            check_tensor("skin", "points", points, (V, 3), f"({V}, 3) or (..., {V}, 3)")
        at_rest = self.points if points is None else points
        directions = self.normals
        M = len(self.rest_morphs)
        if morphs is not None:
            check_tensor("skin", "morphs", morphs, (M,), f"(..., {M})")
        if morphs is not None and self.target_count and M:
            at_rest = self.morphed(morphs, at_rest)
            if normals:
                directions = self.morphed(morphs, directions, self.morph_normals)
        asked = {skinning or own for own in self.methods} or {"linear"}
        dtype = torch.promote_types(matrices.dtype, torch.float32)
        at_rest, matrices = at_rest.to(dtype), matrices.to(dtype)
        weights = self.vertex_weights.to(dtype)
        if asked == {"linear"} and not normals and usable(at_rest, self.vertex_joints, weights, matrices):
            return fast_linear(at_rest, self.vertex_joints, weights, matrices)
        blended = self._blended(asked, skinning, weights, matrices)
        moved = definitions.carry(blended, at_rest)
        return (moved, definitions.carry_normals(blended, directions.to(dtype))) if normals else moved

    def _blended(self, asked: set[str], skinning: str | None, weights: Tensor, matrices: Tensor) -> Tensor:
        """The matrix of every vertex, `(..., V, 3, 4)`."""
        with torch.autocast(matrices.device.type, enabled=False):
            return self._mixed(asked, skinning, weights, matrices)

    def _mixed(self, asked: set[str], skinning: str | None, weights: Tensor, matrices: Tensor) -> Tensor:
        linear = dual = None
        if asked & {"linear", "blended"}:
            linear = definitions.linear_matrices(self.vertex_joints, weights, matrices)
        if asked & {"dual_quaternion", "blended"}:
            dual = definitions.dual_quaternion_matrices(
                self.vertex_joints, weights, matrices, self.pivots.to(matrices.dtype), self.used
            )
        if linear is None or dual is None:
            only = dual if linear is None else linear
            assert only is not None
            return only
        share = self.dual_share.to(matrices.dtype).clone()
        for (first, last), own in zip(self.vertex_ranges, self.methods):
            chosen = skinning or own
            if chosen != "blended":
                share[first:last] = float(chosen == "dual_quaternion")
        s = share[:, None, None]
        return (1 - s) * linear + s * dual

    def extra_repr(self) -> str:
        return f"{len(self.parents)} joints, {len(self.points)} vertices, {len(self.clips)} clips"
