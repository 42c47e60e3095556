"""SMPL, SMPL+H and SMPL-X bodies from their `.npz` files, with shape, pose correctives and expression."""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np

import marrow
import torch
from marrow.errors import FormatError, ValidationError
from marrow.io.smpl import body_arrays, body_character
from marrow.io.smpl import joints as joint_table
from marrow.report import ReportBuilder
from marrow.torch.kinematics import affine, forward_kinematics
from marrow.torch.rotations import axis_angle_to_quaternion, quaternion_to_matrix
from marrow.torch.skinning import skin
from marrow.torch.tensor_checks import check_tensor, shape_error
from torch import Tensor, nn

__all__ = ["Body", "BodyPose"]

SHAPE_SPACE = 300
"""In full SMPL-X files the expressions come after this many shapes."""


class BodyPose(NamedTuple):
    """What a body gives: `points (..., V, 3)` of its skin and `joints (..., J, 3)`."""

    points: Tensor
    joints: Tensor


class Body(nn.Module):
    """A body model: `body(pose, shape, expression, translation)`, by the formula of the smplx package."""

    template: Tensor
    regressor: Tensor
    shape_directions: Tensor
    expression_directions: Tensor
    pose_directions: Tensor

    def __init__(self, arrays: dict[str, np.ndarray], *, shapes: int = 10, expressions: int = 10) -> None:
        super().__init__()
        self._arrays = arrays
        template = np.asarray(arrays["v_template"], np.float64).reshape(-1, 3)
        weights = np.asarray(arrays["weights"], np.float64)
        V, J = weights.shape
        if len(template) != V:
            raise ValidationError(f"Body: {len(template)} vertices, but weights for {V}")
        parents = np.asarray(arrays["kintree_table"])[0].astype(np.int64)
        self.parents = tuple(int(p) if 0 <= p < J else -1 for p in parents)
        try:
            self.joint_names = tuple(name for name, _, _ in joint_table(J))
        except ValueError:
            self.joint_names = tuple(f"joint_{j}" for j in range(J))
        directions = np.asarray(arrays.get("shapedirs", np.zeros((V, 3, 0))), np.float64).reshape(V, 3, -1)
        total = directions.shape[-1]
        first = 0
        if J == 55:  # SMPL-X: shapes, then expressions
            first = SHAPE_SPACE if total > SHAPE_SPACE else min(10, total)
        shape_part = directions[..., : first or total]
        correctives = np.asarray(arrays.get("posedirs", np.zeros((V, 3, 0))), np.float64).reshape(V, 3, -1)
        if correctives.shape[-1] not in (0, 9 * (J - 1)):
            raise ValidationError(
                f"Body: posedirs has {correctives.shape[-1]} directions, {9 * (J - 1)} expected"
            )

        def keep(name: str, values: np.ndarray, dtype: torch.dtype = torch.float32) -> None:
            self.register_buffer(name, torch.tensor(np.ascontiguousarray(values), dtype=dtype))

        keep("template", template)
        keep("regressor", np.asarray(arrays["J_regressor"], np.float64).reshape(J, V))
        # One row a direction, so that shapes and poses are one matrix product each.
        keep("shape_directions", shape_part[..., :shapes].reshape(V * 3, -1).T)
        keep(
            "expression_directions",
            directions[..., first : first + expressions if first else 0].reshape(V * 3, -1).T,
        )
        keep("pose_directions", correctives.reshape(V * 3, -1).T)
        K = max(1, int((weights != 0).sum(1).max(initial=1)))
        order = np.argsort(-weights, axis=1, kind="stable")[:, :K]
        keep("vertex_joints", order, torch.int64)
        keep("vertex_weights", np.take_along_axis(weights, order, axis=1))

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, shapes: int = 10, expressions: int = 10) -> Body:
        """The body model in an `.npz` file. Pickles are refused, with the line that converts them."""
        try:
            return cls(body_arrays(os.fspath(path)), shapes=shapes, expressions=expressions)
        except (ValueError, IndexError, TypeError) as error:
            raise FormatError(f"its arrays do not fit together: {error}", path=path) from None

    def rotations(self, pose: Tensor) -> Tensor:
        """Rotation matrices `(..., J, 3, 3)` of rotation vectors `(..., J, 3)` or `(..., 3 J)`, quaternions `(..., J,
        4)` or matrices."""
        J = len(self.parents)
        if isinstance(pose, Tensor):
            if pose.shape[-3:] == (J, 3, 3):
                return pose
            if pose.shape[-1:] == (3 * J,):
                pose = pose.unflatten(-1, (J, 3))
            if pose.shape[-2:] == (J, 3):
                return quaternion_to_matrix(axis_angle_to_quaternion(pose))
            if pose.shape[-2:] == (J, 4):
                return quaternion_to_matrix(pose)
        raise shape_error(
            "Body", "pose", pose, f"a floating tensor (..., {J}, 3), (..., {J}, 4) or (..., {J}, 3, 3)"
        )

    def shaped(self, shape: Tensor | None = None, expression: Tensor | None = None) -> Tensor:
        """The body at rest, `(..., V, 3)`."""
        flat = self.template.reshape(-1)
        for name, values, directions in (
            ("shape", shape, self.shape_directions),
            ("expression", expression, self.expression_directions),
        ):
            if values is not None:
                most = len(directions)
                check_tensor("Body", name, values, (None,), f"(..., {most}) or fewer numbers")
                if values.shape[-1] > most:
                    raise shape_error(
                        "Body",
                        name,
                        values,
                        f"at most {most} numbers; load it with {name}s= for more, as far as the file has them",
                    )
                flat = flat + values @ directions[: values.shape[-1]].to(values.dtype)
        return flat.unflatten(-1, (-1, 3))

    def forward(
        self,
        pose: Tensor,
        shape: Tensor | None = None,
        expression: Tensor | None = None,
        translation: Tensor | None = None,
    ) -> BodyPose:
        """Skin and joints of a pose. All arguments may have leading axes of their own; they broadcast."""
        with torch.autocast(self.template.device.type, enabled=False):
            return self._posed(pose, shape, expression, translation)

    def _posed(
        self, pose: Tensor, shape: Tensor | None, expression: Tensor | None, translation: Tensor | None
    ) -> BodyPose:
        turns = self.rotations(pose)
        rest = self.shaped(shape, expression).to(turns.dtype)
        places = self.regressor.to(turns.dtype) @ rest
        points = rest
        if len(self.pose_directions):
            eye = torch.eye(3, dtype=turns.dtype, device=turns.device)
            feature = (turns[..., 1:, :, :] - eye).flatten(-3)
            points = rest + (feature @ self.pose_directions.to(turns.dtype)).unflatten(-1, (-1, 3))
        above = [p if p >= 0 else j for j, p in enumerate(self.parents)]
        has_parent = torch.tensor([p >= 0 for p in self.parents], device=turns.device)[:, None]
        local = places - torch.where(has_parent, places[..., above, :], torch.zeros_like(places))
        batch = torch.broadcast_shapes(turns.shape[:-3], local.shape[:-2])
        J = len(self.parents)
        model = forward_kinematics(
            affine(turns.expand(*batch, J, 3, 3), local.expand(*batch, J, 3)), self.parents
        )
        linear, joints = model[..., :3], model[..., 3]
        matrices = affine(linear, joints - (linear * places[..., None, :]).sum(-1))
        weights = self.vertex_weights.to(turns.dtype)
        moved = skin(points, self.vertex_joints, weights, matrices)
        assert isinstance(moved, Tensor)
        if translation is not None:
            check_tensor("Body", "translation", translation, (3,), "(..., 3)")
            moved, joints = moved + translation[..., None, :], joints + translation[..., None, :]
        return BodyPose(moved, joints)

    def character(self, shape: Tensor | None = None, expression: Tensor | None = None) -> marrow.Character:
        """A marrow character of one shape, its joints where that shape has them: to animate, look at, or save as a
        rigged GLB.

        Pose correctives are left out: files have no place for them. The report says so."""
        with torch.no_grad():
            rest = self.shaped(shape, expression)
        if rest.ndim != 2:
            raise shape_error("Body.character", "shape", shape, "one body: (n,)")
        report = ReportBuilder()
        made = body_character({**self._arrays, "v_template": rest.double().cpu().numpy()}, report)
        return made.replace(report=report.build())
