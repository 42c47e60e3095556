"""Which relaxed instructions the modules for pages have: those of the strict one load in any engine with SIMD."""

import pytest

from marrow.kernels.language.wasm_binary import exchanged
from marrow.runtime.build import built


@pytest.mark.parametrize(("what", "wanted"), [("wasm", {0x105}), ("strict", set())])
def test_only_the_multiply_add_is_relaxed(what, wanted):
    module = built(what).read_bytes()
    other = bytes((0xFD, 0xEA, 0x01))
    assert {n for n in range(0x100, 0x114) if exchanged(module, {n: other}) != module} == wanted
