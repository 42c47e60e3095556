"""Animation graphs: what to play, evaluated for a whole crowd at once."""

from marrow.graph.animator import Animator

__all__ = ["Animator"]
