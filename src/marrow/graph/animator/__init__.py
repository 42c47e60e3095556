"""The animator: a small object made of parts, each in a file of its own, over one `AnimatorRuntime` that they share."""

from marrow.graph.animator.animator import Animator

__all__ = ["Animator"]
