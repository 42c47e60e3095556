"""`SkinLevel`: one level of detail of a skinner: its vertices, its results, and the passes that make them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import GpuMemoryError, ValidationError
from marrow.gpu.bindings import Bindings
from marrow.gpu.bounds_source import BOUNDS
from marrow.gpu.buffers import Buffer, Pages, chunks, usage
from marrow.gpu.device import Device
from marrow.gpu.skin_rows import PoseRows, runs
from marrow.gpu.skin_source import PART_WORDS, WORKGROUP, compute_source, skin_source
from marrow.gpu.vertices import SurfacePart, Vertices, unpack_octahedral, unpack_tangents
from marrow.model.character import Character
from marrow.skinning.surface import Surface

__all__ = ["SkinLevel", "VertexPart"]

Array = NDArray[Any]
# An invocation keeps its vertex for this many instances, once there are invocations enough to fill a GPU.
BATCH = 16
FILL = 1 << 20


@dataclass(frozen=True, eq=False)
class VertexPart:
    """Vertices `first..first + count` of a surface for a vertex shader: `source` is WGSL to put before it, with
    `skin(vertex, row)` for vertices counted from 0, and `buffers` are the `wgpu.GPUBuffer`s of bindings 0, 1, ... of its
    group, the first one uniform, the others read-only storage."""

    first: int
    count: int
    source: str
    buffers: tuple[Any, ...]


class SkinLevel:
    """`character` is the level's own; `instances` are those that have a row in `positions`, `normals`, `tangents`."""

    def __init__(
        self,
        device: Device,
        character: Character,
        *,
        slots: Sequence[Array],
        first_target: int,
        skinning: str | None,
        influences: int | None,
        vectors: int,
        weight_bits: int,
        octahedral: bool,
    ) -> None:
        self.device, self.character, self.first_target = device, character, first_target
        options: dict[str, Any] = {
            "skinning": skinning,
            "influences": influences,
            "vectors": vectors,
            "weight_bits": weight_bits,
            "octahedral": octahedral,
        }
        self.vertices = Vertices(character, slots=slots, **options)
        self.mesh = self._uploaded(self.vertices)
        # Palettes may be the whole character's or the level's own; where these differ, so do the vertices' joints.
        self._own_options = options
        own = character.palette.mesh_slots
        same = all(np.array_equal(a[m.joints], b[m.joints]) for a, b, m in zip(own, slots, character.meshes))
        self._own_vertices: tuple[Vertices, Buffer] | None = (self.vertices, self.mesh) if same else None
        self.instances: Array = np.zeros(0, np.int64)
        V = max(1, self.vertices.count)
        sizes = [12 * V, *([4 * V, 4 * V] if octahedral else [12 * V, 16 * V])[:vectors]]
        rows = max(1, device.max_binding // max(sizes))
        kinds: list[tuple[str, Any, tuple[int, ...]]] = [
            ("positions", np.float32, (self.vertices.count, 3)),
            ("normals", np.float32, (self.vertices.count, 3)),
            ("tangents", np.float32, (self.vertices.count, 4)),
        ]
        if octahedral:
            kinds[1:] = [(label, np.uint32, (self.vertices.count,)) for label in ("normals", "tangents")]
        pages = [
            Pages(device, size, label=label, flags=usage("vertex"), per_page=rows, dtype=dtype, shape=shape)
            for size, (label, dtype, shape) in zip(sizes, kinds)
        ]
        self.positions = pages[0]
        self.normals = pages[1] if vectors else None
        self.tangents = pages[2] if vectors > 1 else None
        self._outputs = pages
        self._entries = Buffer(device, 16, label="instances")
        self._places = Buffer(device, 8, label="places of boxes")
        self._planned: Any = None
        self._bindings = Bindings(device)

    def resize(self, members: Array) -> bool:
        """Makes room for the instances of this level. Returns whether what was there is lost."""
        self.instances = members
        changed = [pages.resize(len(members)) for pages in self._outputs]
        return any(changed)

    def _uploaded(self, vertices: Vertices) -> Buffer:
        words, device = vertices.words, self.device
        if words.nbytes > device.max_binding:
            raise GpuMemoryError(
                f"{self.character.name!r}: its vertices take {words.nbytes:,} bytes, more than the {device.max_binding:,} "
                f"that {device.adapter.name} lets a shader see; use weights=8, vectors='octahedral' or fewer influences"
            )
        return Buffer.of(device, words, label="vertices")

    def _read_by(self, rows: PoseRows) -> tuple[Vertices, Buffer]:
        """The vertices whose joints are where these rows have them."""
        if rows.character is not self.character:
            return self.vertices, self.mesh
        if self._own_vertices is None:
            own = Vertices(self.character, slots=self.character.palette.mesh_slots, **self._own_options)
            self._own_vertices = own, self._uploaded(own)
        return self._own_vertices

    # -- skinning ---------------------------------------------------------------------------------------------------
    def encode(self, encoder: Any, rows: PoseRows, places: Array, outputs: Array, timer: Any) -> None:
        """The dispatches that skin the poses in rows `places` to rows `outputs` of the results, both in order."""
        if not len(places) or not self.vertices.count:
            return
        key = self._plan(rows, places, outputs)
        step = encoder.begin_compute_pass(**({} if timer is None else timer.writes("skinning")))
        vertices, mesh = self._read_by(rows)
        for part in vertices.parts:
            pipeline = self.device.compute_pipeline(compute_source(part.variant), label="skin")
            step.set_pipeline(pipeline)
            for pages, start, stop in key:
                for block in chunks(part.count, self.device.max_workgroups * WORKGROUP):
                    self._dispatch(step, pipeline, part, mesh, rows, pages, start, stop, block)
        step.end()

    def _plan(self, rows: PoseRows, poses: Array, outputs: Array) -> list[Any]:
        """Runs of instances that lie in the same pages. For each instance its rows there go to the GPU, if they changed."""
        used = (rows.matrices, self.positions, rows.duals, rows.weights)
        pages = [0 if p is None else p.per_page for p in used]
        if self._planned is not None:
            kept_pages, kept_poses, kept_outputs, keys = self._planned
            if pages == kept_pages and _same(poses, kept_poses) and _same(outputs, kept_outputs):
                return keys
        keys, entries = self._new_plan(rows, poses, outputs)
        self._entries.write(entries)
        self._planned = pages, poses, outputs, keys
        return keys

    def _new_plan(self, rows: PoseRows, poses: Array, outputs: Array) -> tuple[list[Any], Array]:
        zero = np.zeros(len(poses), np.int64)
        sources = [
            (poses, rows.matrices.per_page),
            (outputs, self.positions.per_page),
            (poses, rows.duals.per_page if rows.duals is not None else 0),
            (poses, rows.weights.per_page if rows.weights is not None else 0),
        ]
        places = [(i // n, i % n) if n else (zero, zero) for i, n in sources]
        code = zero
        for page, _ in places:
            code = code * 4096 + page
        keys = []
        for number, start, stop in runs(code):
            pages = tuple((number >> shift) & 4095 for shift in (36, 24, 12, 0))
            keys.append((pages, start, stop))
        entries = np.stack([row for _, row in places], 1).astype(np.uint32)
        return keys, entries

    def _dispatch(
        self,
        step: Any,
        pipeline: Any,
        part: SurfacePart,
        mesh: Buffer,
        rows: PoseRows,
        pages: tuple[int, ...],
        start: int,
        stop: int,
        block: tuple[int, int],
    ) -> None:
        a, b = block
        count = stop - start
        batch = BATCH if count * (b - a) > BATCH * FILL else max(1, count * (b - a) // FILL)
        batch = max(batch, -(-count // self.device.max_workgroups))
        words = self._words(part, rows, block)
        words[8:11] = start, count, batch
        outputs = [p.buffers[pages[1]] for p in self._outputs]
        key = (part.first, a, pages)  # pages come once in an update: instances are in order
        raw = [x.raw for x in (*self._inputs(part, mesh, rows, pages), self._entries, *outputs)]
        step.set_bind_group(0, self._bindings.group(key, pipeline, words, raw))
        step.dispatch_workgroups(-(-(b - a) // WORKGROUP), -(-count // batch))

    def _words(self, part: SurfacePart, rows: PoseRows, block: tuple[int, int]) -> Array:
        """The uniform struct `SkinPart` for some vertices of a part, without entries."""
        a, b = block
        words = np.zeros(PART_WORDS, np.uint32)
        words[:8] = (
            part.first + a,
            b - a,
            self.vertices.count,
            rows.palette,
            rows.targets,
            (part.records + a * part.variant.words) // 4,
            part.morphs + a,
            part.table,
        )
        words[11] = 0 if rows.character is self.character else self.first_target
        return words

    def _inputs(
        self, part: SurfacePart, mesh: Buffer, rows: PoseRows, pages: tuple[int, ...]
    ) -> list[Buffer]:
        """What the function `skin` reads."""
        found = {"skin_mesh": mesh, "skin_matrices": rows.matrices.buffers[pages[0]]}
        if rows.duals is not None:
            found["skin_duals"] = rows.duals.buffers[pages[2]]
        if rows.weights is not None:
            found["skin_morphs"] = rows.weights.buffers[pages[3]]
        return [found[name] for name in part.variant.inputs]

    def vertex_parts(self, rows: PoseRows, group: int) -> list[VertexPart]:
        """What a vertex shader needs to skin this level by itself."""
        for pages in (rows.matrices, rows.duals, rows.weights):
            if pages is not None and rows.count:
                _ = pages.raw  # an error where one buffer does not hold all rows
        if not rows.count:
            raise ValidationError("Skinner.vertex_parts: there are no instances yet: call update first")
        found = []
        vertices, mesh = self._read_by(rows)
        for part in vertices.parts:
            words = Buffer.of(self.device, self._words(part, rows, (0, part.count)), flags=usage("uniform"))
            buffers = (words.raw, *(b.raw for b in self._inputs(part, mesh, rows, (0, 0, 0, 0))))
            found.append(VertexPart(part.first, part.count, skin_source(part.variant, group=group), buffers))
        return found

    # -- bounds -----------------------------------------------------------------------------------------------------
    def encode_bounds(self, encoder: Any, instances: Array, row_of: Array, out: Buffer) -> None:
        """Boxes around instances, to their places of `out`."""
        if not len(instances) or not self.vertices.count:
            return
        pipeline = self.device.compute_pipeline(BOUNDS, label="bounds")
        rows = row_of[instances]
        self._places.write(np.stack([rows % self.positions.per_page, instances], 1).astype(np.uint32))
        step = encoder.begin_compute_pass()
        step.set_pipeline(pipeline)
        for page, start, stop in runs(rows // self.positions.per_page):
            for a, b in chunks(stop - start, self.device.max_workgroups):
                sizes = np.array([self.vertices.count, start + a, 0, 0], np.uint32)
                raw = [self.positions.buffers[page].raw, self._places.raw, out.raw]
                step.set_bind_group(0, self._bindings.group(("bounds", page, a), pipeline, sizes, raw))
                step.dispatch_workgroups(b - a)
        step.end()

    # -- results ----------------------------------------------------------------------------------------------------
    def surface(self) -> Surface:
        """The vertices of this level's instances, in the order of `instances`."""

        def vectors(pages: Pages | None, unpack: Any) -> Array | None:
            if pages is None or not self.vertices.octahedral:
                return None if pages is None else pages.numpy()
            unpacked: Array = unpack(pages.numpy())
            return unpacked

        return Surface(
            self.positions.numpy(),
            vectors(self.normals, unpack_octahedral),
            vectors(self.tangents, unpack_tangents),
        )


def _same(a: Array, b: Array) -> bool:
    return a is b or np.array_equal(a, b)
