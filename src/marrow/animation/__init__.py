"""What happens over time: sampling, resampling, blending, kinematics."""

from marrow.animation.kinematics import skinning_matrices, to_model
from marrow.animation.sampling import sample

__all__ = ["sample", "skinning_matrices", "to_model"]
