"""Errors that name the tensor and its shape."""

from __future__ import annotations

from typing import Any

import torch
from marrow.errors import ValidationError
from torch import Tensor

__all__ = ["check_last", "check_tensor", "shape_error"]


def shape_error(operation: str, name: str, value: Any, wanted: str) -> ValidationError:
    """What is said of a tensor that does not fit."""
    got = f"{tuple(value.shape)} {value.dtype}" if isinstance(value, Tensor) else type(value).__name__
    return ValidationError(f"{operation}: {name} must be {wanted}, got {got}")


def check_tensor(operation: str, name: str, value: Any, last: tuple[int | None, ...], wanted: str) -> None:
    """Refuses what is not a floating tensor with these last axes (None: any size)."""
    if (
        not isinstance(value, Tensor)
        or not torch.is_floating_point(value)
        or value.ndim < len(last)
        or any(w is not None and w != s for w, s in zip(last, value.shape[value.ndim - len(last) :]))
    ):
        raise shape_error(operation, name, value, f"a floating tensor {wanted}")


def check_last(operation: str, **tensors: tuple[Any, tuple[int, ...]]) -> None:
    """Refuses tensors whose last axes are not those given."""
    for name, (value, last) in tensors.items():
        check_tensor(operation, name, value, last, f"(..., {', '.join(map(str, last))})")
