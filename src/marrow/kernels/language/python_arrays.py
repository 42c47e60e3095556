"""Arrays for kernels that Python runs: their elements are Python's own numbers, which compute as compiled kernels do (NumPy's
float32 numbers would round after every step)."""

from __future__ import annotations

from typing import Any

__all__ = ["PythonRecord", "PythonRows", "Records", "plain"]


def plain(array: Any) -> Any:
    """An array as kernels see it: a memory view, or something that looks like an array of rows or records."""
    if array.dtype.names is not None:
        return Records(array)
    return memoryview(array) if array.ndim == 1 else PythonRows(array)


class PythonRows:
    """An array of several axes."""

    __slots__ = ("_array", "_view", "shape")

    def __init__(self, array: Any) -> None:
        self._array, self._view, self.shape = array, memoryview(array), array.shape

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, index: Any) -> Any:
        whole = isinstance(index, tuple) and len(index) == len(self.shape)
        return self._view[index] if whole else plain(self._array[index])

    def __setitem__(self, index: Any, value: Any) -> None:
        self._view[index] = value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self._array


class Records:
    """An array of records."""

    __slots__ = ("_array", "_fields", "shape")

    def __init__(self, array: Any) -> None:
        self._array, self.shape = array, array.shape
        self._fields: dict[str, Any] = {}

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice) or (not isinstance(index, tuple) and len(self.shape) > 1):
            return Records(self._array[index])
        return PythonRecord(self, index)

    def field(self, name: str) -> Any:
        if name not in self._fields:
            self._fields[name] = plain(self._array[name])
        return self._fields[name]


class PythonRecord:
    """One record of an array; fields are read and written by name."""

    __slots__ = ("_index", "_records")

    def __init__(self, records: Records, index: Any) -> None:
        self._records, self._index = records, index

    def __getitem__(self, name: str) -> Any:
        return self._records.field(name)[self._index]

    def __setitem__(self, name: str, value: Any) -> None:
        self._records.field(name)[self._index] = value
