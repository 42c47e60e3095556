"""libmarrow from Python's ctypes, as any language calls it: bakes the mannequin with its graph, plays it, and compares.

python examples/libmarrow_crowd.py
"""

import ctypes
import tempfile
from pathlib import Path

import numpy as np

import marrow as mw
from marrow.runtime.build import built

hero, graph = mw.samples.mannequin(), mw.samples.mannequin_graph()
with tempfile.TemporaryDirectory() as folder:
    mw.bake_runtime(hero, graph, Path(folder) / "hero.mrt", skins=False)
    data = (Path(folder) / "hero.mrt").read_bytes()

library = ctypes.CDLL(str(built("native")))
library.mrw_load.restype = library.mrw_create.restype = library.mrw_matrices.restype = ctypes.c_void_p
library.mrw_find.restype = library.mrw_size.restype = ctypes.c_int64
library.mrw_error.restype = ctypes.c_char_p
PARAMETERS, PALETTE, N = 5, 2, 10

character = ctypes.c_void_p(library.mrw_load(data, ctypes.c_int64(len(data))))
crowd = ctypes.c_void_p(library.mrw_create(character, ctypes.c_int64(N)))
assert crowd.value, library.mrw_error().decode()
speeds = np.linspace(0, 3.6, N)
speed = ctypes.c_int64(library.mrw_find(character, PARAMETERS, b"speed"))
library.mrw_set(
    crowd, speed, speeds.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(N), None, ctypes.c_int64(0)
)
for _ in range(60):
    library.mrw_update(crowd, ctypes.byref(ctypes.c_double(1 / 60)), ctypes.c_int64(1))
count = N * library.mrw_size(character, PALETTE) * 12
found = np.ctypeslib.as_array(
    ctypes.cast(library.mrw_matrices(crowd), ctypes.POINTER(ctypes.c_float)), (count,)
)

animator = mw.Animator(hero, graph, count=N)
animator["speed"] = speeds
for _ in range(60):
    animator.update(1 / 60)
differ = int((found.view(np.uint32) != animator.matrices.reshape(-1).view(np.uint32)).sum())
print(f"{count} numbers of {N} characters after a second, {differ} of which differ from Python's")
library.mrw_destroy(crowd)
library.mrw_free(character)
