"""The engine that a page carries: the kernels as WebAssembly, with relaxed SIMD and without."""

from __future__ import annotations

from functools import cache

from marrow.studio.page.packing import deflated

__all__ = ["engine_parts"]


@cache
def engine_parts() -> dict[str, bytes]:
    """`engine`, and `strict` for browsers that cannot run it."""
    from marrow.runtime.build import built

    return {"engine": deflated(built("wasm").read_bytes()), "strict": deflated(built("strict").read_bytes())}
