"""`ufbx`, imported without what it imports and does not use: `dataclasses`, and with it a fifth of the reader's start."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

__all__ = ["ufbx"]


def _dataclass(*arguments: Any, **options: Any) -> Any:
    """The real one, should a release use it after all."""
    _restore()
    import dataclasses

    return dataclasses.dataclass(*arguments, **options)


def _restore() -> None:
    if sys.modules.get("dataclasses") is _stand_in:
        del sys.modules["dataclasses"]


_stand_in = ModuleType("dataclasses")
_stand_in.dataclass = _dataclass  # type: ignore[attr-defined]
sys.modules.setdefault("dataclasses", _stand_in)
try:
    import ufbx
finally:
    _restore()
