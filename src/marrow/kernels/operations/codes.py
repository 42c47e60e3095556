"""The codes of the operations, as plain numbers: what programs hold."""

from __future__ import annotations

from marrow.kernels import operations as _operations

SAMPLE, ACCUMULATE, BLEND, LAYER, ADD, LAYER_CHANNELS, LAYER_MODEL, MERGE, SCALE, STORE, LOAD, START_INERTIA, INERTIA, REACH, LOOK, MIRROR, TURN, LEGS, ADD_MODEL, INERTIA_PROFILE = (
    operation.code for operation in _operations.OPERATIONS
)  # fmt: skip
