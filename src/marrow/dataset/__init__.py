"""Data sets: a folder of motion in, training data out, on one machine or many.

mw.dataset.build("mocap/", "out/", features=["rotations_6d", "positions", "contacts"], window=64)
mw.dataset.open("out/")["train"][0]
"""

from marrow.dataset.builder import DEFAULT_FEATURES, Progress, build
from marrow.dataset.dataset import Dataset, FeatureStatistics, Split
from marrow.dataset.dataset import open_dataset as open
from marrow.dataset.features import FEATURES, Feature
from marrow.dataset.packed import unpacked
from marrow.dataset.storage import BuildError, OutputError

__all__ = [
    "DEFAULT_FEATURES",
    "FEATURES",
    "BuildError",
    "Dataset",
    "Feature",
    "FeatureStatistics",
    "OutputError",
    "Progress",
    "Split",
    "build",
    "open",
    "unpacked",
]
