"""glTF 2.0 and GLB to a `Character`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from marrow.errors import FormatError, ValidationError
from marrow.io.constraint_reading import constraints_from_data, fitting_constraints
from marrow.io.constraint_space import turned_constraints
from marrow.io.gltf import limits
from marrow.io.gltf.accessors import Accessors
from marrow.io.gltf.cameras import CamerasAndLights, read_cameras, read_lights
from marrow.io.gltf.clips import read_clips
from marrow.io.gltf.container import parse
from marrow.io.gltf.context import Context
from marrow.io.gltf.extensions import rewrite
from marrow.io.gltf.extras import read_extras
from marrow.io.gltf.geometry import read_channels, read_meshes
from marrow.io.gltf.kept_extensions import KEPT, read_kept, report_extensions
from marrow.io.gltf.lods import read_lods, screen_coverage
from marrow.io.gltf.materials import read_images, read_materials
from marrow.io.gltf.notes import LevelNote
from marrow.io.gltf.scene import Tree, read_sockets, read_tree, rest_transforms
from marrow.io.gltf.schema import Document
from marrow.io.gltf.variants import read_variants
from marrow.io.gltf.vrm import VrmReader as VrmReader
from marrow.io.gltf.vrm import read_vrm
from marrow.io.gltf.vrma import read_vrma
from marrow.io.source import LoadOptions, Source
from marrow.io.vrm_space import turned
from marrow.model import Character, Lod, Mesh, Pose, Skeleton
from marrow.model.constraints import Constraint
from marrow.report import ReportBuilder

__all__ = ["read"]


def read(source: Source, options: LoadOptions) -> Character:
    """The character in a `.glb` or `.gltf` file.

    Every node of the default scene is a joint, depth first; every node with a mesh gives meshes in that
    order, with the vertices of its primitives in accessor order. Clips keep the keys and the interpolation of
    the file.
    """
    # Damaged numbers are found by looking at results, not by NumPy's warnings on the way there.
    with np.errstate(all="ignore"):
        try:
            return _read(source, options)
        except ValidationError as error:
            raise FormatError(str(error), path=source.path) from None


def _check_sizes(document: Document, source: Source) -> None:
    """Refuses files whose JSON alone would take too long to go through."""
    limits.limit(len(document.nodes), limits.MAX_NODES, "nodes", source.path)
    for kind in ("animations", "materials", "images"):
        limits.limit(len(getattr(document, kind)), limits.MAX_LISTED, kind, source.path)
    primitives = [p for mesh in document.meshes for p in mesh.primitives]
    limits.limit(len(primitives), limits.MAX_PRIMITIVES, "primitives", source.path)
    limits.limit(
        sum(len(p.targets or ()) for p in primitives), limits.MAX_MORPHS, "morph targets", source.path
    )
    channels = sum(len(a.channels) for a in document.animations)
    limits.limit(channels, limits.MAX_CHANNELS, "animation channels", source.path)


def _read(source: Source, options: LoadOptions) -> Character:
    report = ReportBuilder()
    document, chunk = parse(source.data, source.path, report)
    _check_sizes(document, source)
    budget = limits.Budget(source.path, len(source.data))
    accessors = Accessors(document, chunk, source, budget)
    ctx = Context(document, accessors, source, report, budget, options.scale or 1.0, scene=options.scene)
    pointers = rewrite(ctx)
    read_variants(ctx)
    lods = read_lods(ctx)
    tree = read_tree(ctx, lods.nodes)
    channels = read_channels(ctx, tree)
    lods.take_channels(ctx, channels)
    vrm = read_vrm(ctx, tree, channels)
    motion = read_vrma(ctx, VrmReader(ctx, tree, channels))
    skeleton = Skeleton(
        tree.names,
        np.array(tree.parents, np.int32),
        Pose(*rest_transforms(ctx, tree), np.array(channels.rest, np.float32)),
        tuple(channels.names),
        read_sockets(ctx, tree),
        _noted_bones(ctx, tree) or (motion.humanoid if motion is not None else vrm.humanoid),
    )
    images = read_images(ctx)
    noted_name = tree.scene_notes.name
    placed = CamerasAndLights()
    read_cameras(ctx, tree, placed)
    read_lights(ctx, tree, placed)
    clips = read_clips(ctx, tree, channels, skeleton, pointers, placed)
    if vrm.faces_back:
        report.add("info", "VRM", "it is VRM 0.x and faces -Z; it was turned to face +Z")
    meshes, shown = read_meshes(ctx, tree, channels)
    levels, shown_far = lods.levels(ctx, tree, channels)
    materials = read_materials(ctx, images)
    every_mesh = (*meshes, *(mesh for level in levels for mesh in level.meshes))
    extras = read_extras(
        ctx,
        tree,
        meshes=list(zip(every_mesh, (*shown, *shown_far))),
        clips=clips,
        images=images,
        coverage=screen_coverage(levels),
    )
    kept = read_kept(
        ctx, tree, meshes=list(zip(every_mesh, (*shown, *shown_far))), clips=clips, images=images
    )
    report_extensions(ctx)
    if kept:
        extras = extras | {KEPT: kept}
    character = Character(
        skeleton,
        meshes,
        [clip if motion is None else motion.clip(clip) for clip in clips.values()],  # type: ignore[arg-type]
        materials,
        images,
        name=source.path.stem if noted_name is None else noted_name,
        extras=extras,
        variants=tuple(ctx.variants),
        vrm=turned(vrm.data, np.eye(3), ctx.scale) if ctx.scale != 1 else vrm.data,
        constraints=_constraints(ctx, tree, vrm.constraints, skeleton),
        cameras=placed.cameras,
        lights=placed.lights,
        reduced=levels,
        lod=_lod(ctx, tree, meshes),
        report=report.build(),
    )
    return character.converted(up="y", forward="-z") if vrm.faces_back else character


def _constraints(
    ctx: Context, tree: Tree, found: tuple[Constraint, ...], skeleton: Skeleton
) -> tuple[Constraint, ...]:
    """What marrow noted, or what VRM's extension of nodes says."""
    noted = tree.scene_notes.constraints
    given = found if noted is None else constraints_from_data(noted, ctx.report)
    fitting = fitting_constraints(given, skeleton, ctx.report)
    return fitting if ctx.scale == 1 else turned_constraints(fitting, np.eye(3), ctx.scale)


def _lod(ctx: Context, tree: Tree, meshes: Sequence[Mesh]) -> Lod:
    """The figures of the character itself."""
    size = tree.scene_notes.size
    note = tree.scene_notes.lod or LevelNote(len(tree.nodes), 0.0, 0.0, size)
    error, mean, size = (
        None if v is None else v * ctx.scale for v in (note.error, note.mean_error, note.size)
    )
    figures = {"error": error, "mean_error": mean, "size": size, "screen_size": note.screen_size}
    try:
        return Lod.of(meshes, note.joints, **figures)
    except ValidationError as wrong:
        ctx.report.add("dropped", "scenes", f"marrow's note on its level of detail: {wrong}")
        return Lod.of(meshes, len(tree.nodes), error=0.0, mean_error=0.0)


def _noted_bones(ctx: Context, tree: Tree) -> dict[str, int]:
    """The bones of a body that is no VRM avatar, as marrow noted them."""
    found = tree.scene_notes.humanoid or {}
    fits = len(set(found.values())) == len(found) and all(0 <= j < len(tree.nodes) for j in found.values())
    if not fits:
        ctx.report.add("dropped", "scenes", "marrow's note on the bones of the body does not fit the nodes")
    return found if fits else {}
