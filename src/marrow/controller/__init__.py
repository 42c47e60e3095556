"""Characters to play: a graph made from the clips of any rigged file, and what steers it."""

from marrow.controller.controller import Controller
from marrow.controller.locomotion import Locomotion, find_locomotion

__all__ = ["Controller", "Locomotion", "find_locomotion"]
