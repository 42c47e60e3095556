"""What happens over time: sampling, resampling, kinematics, and the bank of clips a crowd plays from."""

from marrow.animation.bank import ClipBank
from marrow.animation.kinematics import skinning_matrices, to_model
from marrow.animation.resampling import SampledClip, resampled
from marrow.animation.sampling import sample

__all__ = ["ClipBank", "SampledClip", "resampled", "sample", "skinning_matrices", "to_model"]
