"""The codes of the operations, as plain numbers: what programs hold. `codes.BLEND` is the code of `BLEND`."""

from __future__ import annotations


def __getattr__(name: str) -> int:
    from marrow.kernels.operations import OPERATIONS

    for operation in OPERATIONS:
        if operation.name == name:
            return operation.code
    raise AttributeError(f"there is no operation {name}")
