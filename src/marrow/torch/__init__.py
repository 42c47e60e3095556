"""Characters with gradients, for PyTorch (`pip install 'marrow-engine[torch]'`).

import marrow.torch as mt

hero = mt.CharacterModule(mw.samples.mannequin())
surface = hero.skin(hero.sample("run", torch.tensor(0.3, requires_grad=True)))
"""

from __future__ import annotations

from marrow.errors import MissingExtraError

try:
    import torch as _torch
except ImportError:
    raise MissingExtraError("torch", "torch", "marrow.torch") from None

from marrow.torch import rotations
from marrow.torch.blend_spaces import BlendSpace
from marrow.torch.character import CharacterModule
from marrow.torch.inverse_kinematics import solve_ik
from marrow.torch.kinematics import forward_kinematics, local_matrices, multiply_affine
from marrow.torch.programs import ProgramModule
from marrow.torch.rotations import (
    axis_angle_to_quaternion,
    euler_to_quaternion,
    matrix_to_quaternion,
    matrix_to_rotation_6d,
    quaternion_to_axis_angle,
    quaternion_to_euler,
    quaternion_to_matrix,
    rotation_6d_to_matrix,
)
from marrow.torch.sampling import PoseTensors
from marrow.torch.skinning import point_rotations, skin
from marrow.torch.smpl import Body, BodyPose

del _torch

__all__ = [
    "BlendSpace",
    "Body",
    "BodyPose",
    "CharacterModule",
    "PoseTensors",
    "ProgramModule",
    "axis_angle_to_quaternion",
    "euler_to_quaternion",
    "forward_kinematics",
    "local_matrices",
    "matrix_to_quaternion",
    "matrix_to_rotation_6d",
    "multiply_affine",
    "point_rotations",
    "quaternion_to_axis_angle",
    "quaternion_to_euler",
    "quaternion_to_matrix",
    "rotation_6d_to_matrix",
    "rotations",
    "skin",
    "solve_ik",
]
