"""`NativeRuntime`: libmarrow, called from Python: what engines call, for tests, benchmarks, and as an example of a
binding."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import MarrowError
from marrow.kernels import control_tables as ct
from marrow.runtime.build import built

__all__ = ["NativeCharacter", "NativeCrowd", "NativeGround", "NativeRuntime"]

Array = NDArray[Any]
_POINTERS = ("mrw_load", "mrw_create", "mrw_matrices", "mrw_model_matrices", "mrw_pose", "mrw_morphs", "mrw_events",
"mrw_root",
             "mrw_travel", "mrw_parents", "mrw_palette_joints", "mrw_inverse_bind", "mrw_ground_field",
             "mrw_ground_mesh")  # fmt: skip
_WIDE = ("mrw_count", "mrw_find", "mrw_size", "mrw_instances", "mrw_slot_play", "mrw_montage_play", "mrw_montage_jump",
"mrw_snapshot",
         "mrw_machine_states", "mrw_montage_info", "mrw_override_joints", "mrw_ground_asked", "mrw_dropped")  # fmt: skip
ASKED = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.POINTER(ctypes.c_double), ctypes.c_int64, ctypes.c_double, ctypes.POINTER(ctypes.c_double)
)  # fmt: skip
LISTS = ("character", "graph", "joints", "morphs", "clips", "parameters", "machines", "machine_names", "states",
"slots", "montages",
         "sections", "events", "curves", "nodes", "saved", "meshes", "overrides", "springs")  # fmt: skip
SETTINGS = ("stiffness", "drag", "gravity", "radius", "limit")
SIZES = ("joints", "morphs", "palette", "vertices", "has_graph", "pose_row", "pose_joints", "morph_row")


class NativeRuntime:
    """The library."""

    def __init__(self, path: str | Path | None = None) -> None:
        self.library = ctypes.CDLL(str(path or built("native")))
        for name in _POINTERS:
            getattr(self.library, name).restype = ctypes.c_void_p
        for name in _WIDE:
            getattr(self.library, name).restype = ctypes.c_int64
        for name in ("mrw_error", "mrw_level", "mrw_name"):
            getattr(self.library, name).restype = ctypes.c_char_p
        self.library.mrw_duration.restype = ctypes.c_double

    @property
    def level(self) -> str:
        return str(self.library.mrw_level().decode())

    def error(self) -> MarrowError:
        return MarrowError(self.library.mrw_error().decode("utf-8", "replace"))

    def load(self, data: bytes) -> NativeCharacter:
        pointer = self.library.mrw_load(data, ctypes.c_int64(len(data)))
        if not pointer:
            raise self.error()
        return NativeCharacter(self, pointer)

    def height_field(
        self, heights: ArrayLike, spacing: float, origin: tuple[float, float] = (0.0, 0.0)
    ) -> NativeGround:
        array = np.ascontiguousarray(heights, np.float64)
        sizes, f = map(ctypes.c_int64, array.shape), ctypes.c_double
        return NativeGround(
            self, "mrw_ground_field", _address(array), *sizes, f(spacing), f(origin[0]), f(origin[1])
        )

    def ground_mesh(self, positions: ArrayLike, triangles: ArrayLike) -> NativeGround:
        places, corners = (
            np.ascontiguousarray(positions, np.float64),
            np.ascontiguousarray(triangles, np.int32),
        )
        n = ctypes.c_int64
        return NativeGround(
            self, "mrw_ground_mesh", _address(places), n(len(places)), _address(corners), n(len(corners))
        )


def _address(array: Array) -> Any:
    return array.ctypes.data_as(ctypes.c_void_p)


class NativeGround:
    """Ground that crowds stand on; freed after them."""

    def __init__(self, runtime: NativeRuntime, name: str, *given: Any) -> None:
        self.runtime = runtime
        self.pointer = ctypes.c_void_p(getattr(runtime.library, name)(*given))
        if not self.pointer:
            raise runtime.error()

    def free(self) -> None:
        self.runtime.library.mrw_ground_free(self.pointer)


class NativeCharacter:
    """A baked character."""

    def __init__(self, runtime: NativeRuntime, pointer: int) -> None:
        self.runtime, self.pointer = runtime, ctypes.c_void_p(pointer)
        library = runtime.library
        self.names = {
            kind: [
                library.mrw_name(self.pointer, k, ctypes.c_int64(i)).decode("utf-8", "replace")
                for i in range(library.mrw_count(self.pointer, k))
            ]
            for k, kind in enumerate(LISTS)
        }
        self.sizes = {name: int(library.mrw_size(self.pointer, k)) for k, name in enumerate(SIZES)}

    def create(self, count: int) -> NativeCrowd:
        pointer = self.runtime.library.mrw_create(self.pointer, ctypes.c_int64(count))
        if not pointer:
            raise self.runtime.error()
        return NativeCrowd(self, pointer)

    def free(self) -> None:
        """Gives its memory back; its crowds must be gone."""
        self.runtime.library.mrw_free(self.pointer)


def _numbers(instances: ArrayLike | None) -> tuple[Any, Any, Any]:
    if instances is None:
        return None, ctypes.c_int64(0), None
    array = np.ascontiguousarray(np.atleast_1d(np.asarray(instances)), np.int64)
    return array.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(len(array)), array


class NativeCrowd:
    """A crowd. Arrays are copies."""

    def __init__(self, character: NativeCharacter, pointer: int) -> None:
        self.character, self.pointer = character, ctypes.c_void_p(pointer)
        self.library = character.runtime.library
        self._asked: Any = None

    def destroy(self) -> None:
        self.library.mrw_destroy(self.pointer)

    def _call(self, name: str, *arguments: Any) -> int:
        found = int(getattr(self.library, name)(self.pointer, *arguments))
        if found < 0:
            raise self.character.runtime.error()
        return found

    def __len__(self) -> int:
        return int(self.library.mrw_instances(self.pointer))

    def _index(self, kind: str, name: str) -> Any:
        names = self.character.names[kind]
        return ctypes.c_int64(names.index(name) if name in names else -1)

    # -- steering ---------------------------------------------------------------------------------------------------
    def set(self, name: str, value: ArrayLike, instances: ArrayLike | None = None) -> None:
        values = np.ascontiguousarray(value, np.float64).reshape(-1)
        who = _numbers(instances)
        self._call(
            "mrw_set",
            self._index("parameters", name),
            values.ctypes.data_as(ctypes.c_void_p),
            ctypes.c_int64(len(values)),
            *who[:2],
        )

    def get(self, name: str, *, smoothed: bool = False, width: int = 1) -> Array:
        out = np.zeros((len(self), width))
        self._call(
            "mrw_get", self._index("parameters", name), int(smoothed), out.ctypes.data_as(ctypes.c_void_p)
        )
        return out[:, 0] if width == 1 else out

    def trigger(self, name: str, instances: ArrayLike | None = None) -> None:
        who = _numbers(instances)
        self._call("mrw_trigger", self._index("parameters", name), *who[:2])

    def play(
        self, clip: str, fade: float = 0.0, *, loop: bool = True, speed: float = 1.0, start: float = -1.0,
        instances: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        who = _numbers(instances)
        f = ctypes.c_double
        self._call("mrw_play", self._index("clips", clip), f(fade), int(loop), f(speed), f(start), *who[:2])

    def slot_play(
        self, slot: str, clip: str, *, seconds: float = 0.15, out_seconds: float = 0.2, speed: float = 1.0, how: int = 0,
        start: float = -1.0, queue: bool = False, instances: ArrayLike | None = None,
    ) -> int:  # fmt: skip
        who, f = _numbers(instances), ctypes.c_double
        return self._call("mrw_slot_play", self._index("slots", slot), self._index("clips", clip), f(seconds),
        f(out_seconds),
                          f(speed), how, f(start), int(queue), *who[:2])  # fmt: skip

    def slot_stop(self, slot: str, seconds: float = 0.2, instances: ArrayLike | None = None) -> None:
        who = _numbers(instances)
        self._call("mrw_slot_stop", self._index("slots", slot), ctypes.c_double(seconds), *who[:2])

    def montage_call(self, what: str, montage: str, *given: Any) -> int:
        """`montage` (plays it from a section on), `jump` to a section, or `next` (the section after another): names of
        sections, None for
        the first or for none, and last the instances."""
        first = ctypes.c_int64(0)
        index = self._index("montages", montage)
        count = self.library.mrw_montage_info(self.character.pointer, index, ctypes.byref(first), None, None)
        names = self.character.names["sections"][self._before(index.value) :][:count]
        sections = [ctypes.c_int64(-1 if name is None else names.index(name)) for name in given[:-1]]
        who, f = _numbers(given[-1]), ctypes.c_double
        if what == "montage":
            return self._call("mrw_montage_play", index, *sections, f(-1.0), f(-1.0), f(-1.0), 0, *who[:2])
        return self._call(f"mrw_montage_{what}", index, *sections, *who[:2])

    def _before(self, montage: int) -> int:
        """How many sections the montages before one have."""
        info = self.library.mrw_montage_info
        return sum(info(self.character.pointer, ctypes.c_int64(k), None, None, None) for k in range(montage))

    def has_states(self, machine: int) -> bool:
        return bool(
            self.library.mrw_machine_states(self.character.pointer, ctypes.c_int64(machine), None) > 0
        )

    def save_pose(self, name: str, instances: ArrayLike | None = None) -> None:
        who = _numbers(instances)
        self._call("mrw_save_pose", self._index("saved", name), *who[:2])

    def _put(self, name: str, values: ArrayLike, dtype: Any) -> None:
        array = np.ascontiguousarray(np.atleast_1d(np.asarray(values)), dtype)
        self._call(name, array.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(array.size))

    def set_speed(self, speed: ArrayLike) -> None:
        self._put("mrw_set_speed", speed, np.float64)

    def set_seeds(self, seeds: ArrayLike) -> None:
        self._put("mrw_set_seeds", seeds, np.int64)

    def set_interval(self, every: ArrayLike) -> None:
        self._put("mrw_set_interval", every, np.int64)

    def update(self, seconds: ArrayLike) -> None:
        self._put("mrw_update", seconds, np.float64)

    def set_root(
        self,
        translation: ArrayLike | None = None,
        rotation: ArrayLike | None = None,
        instances: ArrayLike | None = None,
    ) -> None:
        who = _numbers(instances)
        given = [None if a is None else np.ascontiguousarray(a, np.float64) for a in (translation, rotation)]
        each = any(a is not None and a.ndim == 2 for a in given)
        pointers = [None if a is None else a.ctypes.data_as(ctypes.c_void_p) for a in given]
        self._call("mrw_set_root", *pointers, int(each), *who[:2])

    # -- joints that code places, and the ground ------------------------------------------------------------------------
    def override(
        self, name: str, *, rotation: ArrayLike | None = None, translation: ArrayLike | None = None, weight: float = 1.0,
        instances: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        """Joints of a `JointOverride`: quaternions `(k, 4)` and translations `(k, 3)`, or `(n, k, ...)`."""
        who = _numbers(instances)
        given = [None if a is None else np.ascontiguousarray(a, np.float64) for a in (rotation, translation)]
        each = any(a is not None and a.ndim == 3 for a in given)
        pointers = [None if a is None else _address(a) for a in given]
        index = self._index("overrides", name)
        self._call("mrw_override", index, *pointers, ctypes.c_double(weight), int(each), *who[:2])

    def set_ground(self, ground: Any) -> None:
        """A height, heights `(N,)`, a `NativeGround`, a function of places `(n, 2)`, None; or "by hand"."""
        self._asked = None
        if ground is None or isinstance(ground, NativeGround):
            self._call("mrw_set_ground", None if ground is None else ground.pointer)
        elif ground == "by hand":
            self._call("mrw_set_ground_by_hand")
        elif callable(ground):

            def ask(_: Any, points: Any, count: int, reach: float, heights: Any) -> None:
                places = np.ctypeslib.as_array(points, (count, 3))[:, [0, 2]]
                np.ctypeslib.as_array(heights, (count,))[:] = ground(places)

            self._asked = ASKED(ask)
            self._call("mrw_set_ground_function", self._asked, None)
        else:
            self._put("mrw_set_ground_heights", ground, np.float64)

    def asked(self) -> tuple[Array, float]:
        """Points `(n, 3)` where the ground is asked for by hand, and how far from them it may be."""
        points, reach = ctypes.POINTER(ctypes.c_double)(), ctypes.c_double(0.0)
        count = self._call("mrw_ground_asked", ctypes.byref(points), ctypes.byref(reach))
        found = np.ctypeslib.as_array(points, (count, 3)).copy() if count else np.zeros((0, 3))
        return found, reach.value

    def answer(self, heights: ArrayLike) -> None:
        self._put("mrw_ground_answer", heights, np.float64)

    @property
    def dropped(self) -> tuple[int, int, int]:
        """Events and pose operations that the last update had no room for, and instances whose machine goes in a circle."""
        found = [ctypes.c_int64(0) for _ in range(3)]
        self._call("mrw_dropped", *(ctypes.byref(k) for k in found))
        return found[0].value, found[1].value, found[2].value

    # -- what swings ----------------------------------------------------------------------------------------------------
    def spring(self, chain: str, setting: str) -> float:
        found = ctypes.c_double(0.0)
        self._call(
            "mrw_springs_get", self._index("springs", chain), SETTINGS.index(setting), ctypes.byref(found)
        )
        return found.value

    def set_spring(self, chain: str, **settings: float) -> None:
        """`stiffness`, `drag`, `gravity`, `radius`, `limit` of a chain."""
        for name, value in settings.items():
            index = self._index("springs", chain)
            self._call("mrw_springs_set", index, SETTINGS.index(name), ctypes.c_double(value))

    def set_wind(self, wind: ArrayLike) -> None:
        array = np.ascontiguousarray(wind, np.float64)
        self._call("mrw_springs_wind", _address(array))

    def set_exact(self, exact: bool) -> None:
        self._call("mrw_springs_exact", int(exact))

    def reset_springs(self) -> None:
        self._call("mrw_springs_reset")

    # -- instances ----------------------------------------------------------------------------------------------------
    def add(self, count: int = 1) -> None:
        self._call("mrw_add", ctypes.c_int64(count))

    def remove(self, instances: ArrayLike) -> None:
        who = _numbers(instances)
        self._call("mrw_remove", *who[:2])

    def reset(self, instances: ArrayLike | None = None) -> None:
        who = _numbers(instances)
        self._call("mrw_reset", *who[:2])

    def snapshot(self) -> bytes:
        size = self._call("mrw_snapshot", None, ctypes.c_int64(0))
        out = ctypes.create_string_buffer(size)
        self._call("mrw_snapshot", out, ctypes.c_int64(size))
        return out.raw

    def restore(self, data: bytes) -> None:
        self._call("mrw_restore", data, ctypes.c_int64(len(data)))

    # -- results --------------------------------------------------------------------------------------------------------
    def _array(self, name: str, kind: Any, *shape: int) -> Array:
        pointer = getattr(self.library, name)(self.pointer)
        if not pointer:
            raise self.character.runtime.error()
        count = int(np.prod(shape))
        return (
            np.ctypeslib.as_array(ctypes.cast(pointer, ctypes.POINTER(kind)), (count,)).reshape(shape).copy()
        )

    @property
    def matrices(self) -> Array:
        return self._array("mrw_matrices", ctypes.c_float, len(self), self.character.sizes["palette"], 3, 4)

    @property
    def model_matrices(self) -> Array:
        return self._array(
            "mrw_model_matrices", ctypes.c_float, len(self), self.character.sizes["joints"], 3, 4
        )

    @property
    def pose(self) -> Array:
        """Pose rows."""
        return self._array("mrw_pose", ctypes.c_float, len(self), self.character.sizes["pose_row"])

    @property
    def morphs(self) -> Array:
        found = self._array("mrw_morphs", ctypes.c_float, len(self), self.character.sizes["morph_row"])
        return found[:, : self.character.sizes["morphs"]]

    @property
    def root(self) -> Array:
        return self._array("mrw_root", ctypes.c_double, len(self), 7)

    @property
    def travel(self) -> Array:
        return self._array("mrw_travel", ctypes.c_double, len(self), 7)

    @property
    def events(self) -> Array:
        """Records of `control_tables.HAPPENED`."""
        count = ctypes.c_int64(0)
        pointer = self.library.mrw_events(self.pointer, ctypes.byref(count))
        if not count.value:
            return np.zeros(0, ct.HAPPENED)
        raw = ctypes.string_at(pointer, count.value * ct.HAPPENED.itemsize)
        return np.frombuffer(raw, ct.HAPPENED)

    def states(self, machine: int = 0) -> list[str]:
        first, out = ctypes.c_int64(0), np.zeros(len(self), np.int64)
        names = self.character.names["states"]
        self.library.mrw_machine_states(self.character.pointer, ctypes.c_int64(machine), ctypes.byref(first))
        self._call("mrw_states", ctypes.c_int64(machine), out.ctypes.data_as(ctypes.c_void_p))
        return [names[first.value + k] for k in out.tolist()]

    def inspect(self, instance: int = 0) -> dict[str, float]:
        """How much of each node is seen, of those that are."""
        weights = np.zeros(len(self.character.names["nodes"]))
        self._call(
            "mrw_inspect", ctypes.c_int64(instance), weights.ctypes.data_as(ctypes.c_void_p), None, None
        )
        return {name: w for name, w in zip(self.character.names["nodes"], weights.tolist()) if w}

    def skin(
        self, instances: ArrayLike | None = None, *, normals: bool = True, tangents: bool = True
    ) -> tuple[Array, Array | None, Array | None]:
        """Positions, normals and tangents."""
        who = _numbers(instances)
        n, V = (
            len(self) if instances is None else len(np.atleast_1d(np.asarray(instances))),
            self.character.sizes["vertices"],
        )
        shapes = [(n, V, 3), (n, V, 3) if normals else None, (n, V, 4) if normals and tangents else None]
        outs = [None if s is None else np.zeros(s, np.float32) for s in shapes]
        self._call(
            "mrw_skin", *who[:2], *(None if o is None else o.ctypes.data_as(ctypes.c_void_p) for o in outs)
        )
        return outs[0], outs[1], outs[2]  # type: ignore[return-value]
