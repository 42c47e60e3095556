"""KTX2 textures to pixels: Basis Universal (ETC1S and UASTC), BC1 to BC7, ETC2, ASTC and plain texels, with Zstandard
or zlib
around them.

Files are bounded before anything is unpacked: what a level holds follows from its size, and no more than that is taken.
"""

from __future__ import annotations

from marrow.io.ktx2.container import Ktx2, read_container
from marrow.io.ktx2.decoding import decode_ktx2

__all__ = ["Ktx2", "decode_ktx2", "read_container"]
