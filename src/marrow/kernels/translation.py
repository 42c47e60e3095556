"""From a Python function to machine code, through Numba. Only what has never been compiled on this machine comes here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from marrow.kernels.calling import FLOAT, MAX_RESULTS, ArrayOf, Kind, TupleOf, emit_entry
from marrow.kernels.linking import helper

__all__ = ["translate"]


def translate(function: Callable[..., Any], kinds: tuple[Kind, ...]) -> bytes:
    """The object code of a kernel for arguments of these kinds, with the entry Python calls it by.

    The function returns nothing, or a tuple of whole numbers. It must not make arrays, and cannot raise errors: there is
    nobody below Python to answer for either.
    """
    from llvmlite import binding

    types = _types()
    delivered: list[int | None] = []
    run, unpack, deliver = helper(function), _unpacker(kinds), _deliverer(delivered)

    def enter(block):
        deliver(block, run(*unpack(block)))

    entered = helper(enter)
    entered.compile((types.voidptr,))
    compiled = entered.overloads[(types.voidptr,)]
    module = binding.parse_bitcode(compiled.library._final_module.as_bitcode())
    module.link_in(binding.parse_assembly(emit_entry(kinds, compiled.fndesc.llvm_func_name, delivered[0])))
    module.verify()
    code: bytes = compiled.library._codegen._tm.emit_object(module)
    return code


def _types() -> Any:
    from numba import types

    return types


def _type_of(kind: Kind) -> Any:
    """The same in Numba's words."""
    from numba.np.numpy_support import from_dtype

    types = _types()
    if isinstance(kind, ArrayOf):
        return types.Array(from_dtype(kind.dtype), kind.ndim, "C", readonly=not kind.writeable)
    if isinstance(kind, TupleOf):
        items = [_type_of(item) for item in kind.items]
        named = hasattr(kind.made_by, "_fields")
        return types.NamedTuple(items, kind.made_by) if named else types.Tuple(items)
    return types.float64 if kind is FLOAT else types.int64


def _unpacker(kinds: tuple[Kind, ...]) -> Any:
    """A function of the block that returns the kernel's arguments."""
    from llvmlite import ir
    from numba.extending import intrinsic
    from numba.np.arrayobj import populate_array

    types = _types()
    all_types = types.Tuple([_type_of(kind) for kind in kinds])
    word = ir.IntType(64)

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        at = iter(range(1 << 20))

        def take(kind: Any = word) -> Any:
            return builder.load(builder.gep(arguments[0], [word(next(at))], source_etype=word), typ=kind)

        def make(kind: Kind, numba_type: Any) -> Any:
            if isinstance(kind, TupleOf):
                items = [make(item, t) for item, t in zip(kind.items, numba_type.types)]
                return context.make_tuple(builder, numba_type, items)
            if not isinstance(kind, ArrayOf):
                return take(ir.DoubleType() if kind is FLOAT else word)
            array = context.make_array(numba_type)(context, builder)
            data = builder.inttoptr(take(), array.data.type)
            shape = [take() for _ in range(kind.ndim)]
            strides = [word(kind.dtype.itemsize)] * kind.ndim
            for axis in reversed(range(kind.ndim - 1)):
                strides[axis] = builder.mul(strides[axis + 1], shape[axis + 1])
            itemsize = context.get_constant(types.intp, kind.dtype.itemsize)
            populate_array(array, data, shape, strides, itemsize, meminfo=None)
            return array._getvalue()

        made = [make(kind, t) for kind, t in zip(kinds, all_types.types)]
        return context.make_tuple(builder, all_types, made)

    @intrinsic  # type: ignore[untyped-decorator]
    def unpack(typing: Any, block: Any) -> Any:
        return all_types(types.voidptr), emit

    return unpack


def _deliverer(delivered: list[int | None]) -> Any:
    """A function that puts the kernel's result into the block; notes in `delivered` how many numbers that are."""
    from llvmlite import ir
    from numba.extending import intrinsic

    types, word = _types(), ir.IntType(64)

    @intrinsic  # type: ignore[untyped-decorator]
    def deliver(typing: Any, block: Any, result: Any) -> Any:
        numbers = [] if result is types.none else list(result.types)
        assert len(numbers) <= MAX_RESULTS
        delivered.append(len(numbers) if numbers else None)

        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            block = builder.bitcast(arguments[0], word.as_pointer())
            for i, kind in enumerate(numbers):
                value = context.cast(builder, builder.extract_value(arguments[1], i), kind, types.int64)
                builder.store(value, builder.gep(block, [word(i)]))
            return context.get_dummy_value()

        return types.void(types.voidptr, result), emit

    return deliver
