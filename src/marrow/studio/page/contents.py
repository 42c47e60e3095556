"""What a page without a server carries: the character as the studio describes it, its clips, and what the engine
plays, baked.

The studio's own code describes characters, graphs and the state that a session begins in; here it is packed. The
baked characters travel without the rows of their clips, which both share and which the page puts back
(`packed_motion.py`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from marrow._version import __version__
from marrow.animation import ClipBank
from marrow.animation.packed import with_keys
from marrow.errors import ValidationError
from marrow.graph import Graph, RootMotion
from marrow.graph.compiler import compile_graph
from marrow.kernels.lod import PIXELS
from marrow.math import affine
from marrow.model import Character
from marrow.scene.views.stage import shown_joints, side_colors
from marrow.studio import protocol as p
from marrow.studio.actor import Origin, StudioActor
from marrow.studio.budget import most_instances
from marrow.studio.levels import LevelPlan
from marrow.studio.page.images import page_images
from marrow.studio.page.packed_meshes import pack_meshes
from marrow.studio.page.packed_motion import PackedBank, pack_motion
from marrow.studio.page.packing import deflated
from marrow.studio.page.page_info import PageInfo, PageLevels, PageMorphTarget, PageMotion, PageWay
from marrow.studio.session import Session
from marrow.studio.shown import rest_box_shown
from marrow.studio.travel import carrier, ways

if TYPE_CHECKING:
    from marrow.graph import CompiledGraph

__all__ = ["PageContents", "gather"]

Array = NDArray[Any]
VIEWS = ("skeleton",)
"""What a page draws over a character by itself."""
MOST_ROWS = 64 << 20
"""Bytes of rows that all clips have together, as the page plays them."""


@dataclass
class PageContents:
    """The parts of a page by name, each as it is stored (deflated, but for images, which are small already), and
    what is lost."""

    name: str
    parts: dict[str, bytes]
    motion_error: float
    position_error: float
    notes: list[str] = field(default_factory=list)


def gather(
    character: Character,
    graph: Graph | None = None,
    *,
    parameters: Mapping[str, Any] | None = None,
    count: int = 1,
    clip: str | None = None,
    time: float = 0.0,
    texture_size: int | None = None,
) -> PageContents:
    """Everything for a page that begins with these parameters of the graph, so many instances, or this clip at this
    time."""
    if graph is not None:
        for match in compile_graph(graph, character).matches:
            raise ValidationError(
                f"export_page: {match.path} is MotionMatch, whose search pages do not have: export a graph without it"
            )
    character = with_keys(character)  # a page packs all clips in its own way
    actor = StudioActor(character, 0, Origin("python", ""), graph=graph)
    state = _first_state(actor, parameters or {}, count, clip, time)
    bank = ClipBank.of(character)
    if bank.rows.nbytes > MOST_ROWS:
        raise ValidationError(
            f"a page plays up to {MOST_ROWS >> 20} MB of clips, these are {bank.rows.nbytes >> 20}: choose some with clips="
        )
    motion = pack_motion(bank)
    meshes = pack_meshes(actor.asset, _bind_scales(actor.drawn))
    images, notes = page_images(character.images, texture_size)
    parts = {"meshes": meshes.data, "motion": motion.data}
    hollow, clips_at = _baked(character, None, bank, motion)
    parts["clips"], graph_at = deflated(hollow), -1
    if graph is not None:
        hollow, graph_at = _baked(character, actor.compiled, bank, motion)
        parts["graph"] = deflated(hollow)
    info = PageInfo(
        hello=p.Hello(p.PROTOCOL_VERSION, __version__, "", state, [], [], p.MAX_COUNT, 0),
        character=msgspec.structs.replace(
            meshes.info,
            views=[view for view in meshes.info.views if view.name in VIEWS],
            handles=[],
            graph_offer=None,
            graph_hint="",
        ),
        arrays=meshes.arrays,
        motion=_motion_info(bank, motion, clips_at, graph_at),
        levels=_levels(actor),
        targets=_targets(actor.drawn),
        ways=_ways(character),
        travels=graph is not None and isinstance(graph.root, RootMotion) and graph.root.mode == "extract",
        spacing=_spacing(actor.drawn),
        images=[kind for kind, _ in images],
        bones=_bones(actor.drawn),
        position_error=meshes.position_error,
    )
    parts["info"] = deflated(msgspec.json.encode(info))
    parts |= {f"image-{k}": data for k, (_, data) in enumerate(images)}
    return PageContents(character.name, parts, motion.error, meshes.position_error, notes)


def _bind_scales(drawn: Character) -> dict[str, float]:
    """How many times larger a mesh is at rest than its numbers say, by its name: files in centimetres scale."""
    from marrow.animation import skinning_matrices

    palette = np.nan_to_num(skinning_matrices(drawn, drawn.skeleton.rest_model)[:, :, :3].astype(np.float64))
    largest = np.linalg.norm(palette, 2, axis=(1, 2))
    found: dict[str, float] = {}
    for mesh, entries in zip(drawn.meshes, drawn.palette.mesh_slots):
        found[mesh.name] = max(found.get(mesh.name, 0.0), float(largest[entries].max(initial=0.0)))
    return found


def _first_state(
    actor: StudioActor, parameters: Mapping[str, Any], count: int, clip: str | None, time: float
) -> p.State:
    """What a session would tell of it, set as it shall begin."""
    session = Session()
    session.put(actor)
    count = max(1, min(count, most_instances(actor.character)))
    known = {**session.parameters, **{n: v for n, v in parameters.items() if n in session.parameters}}
    state = msgspec.structs.replace(
        session.state(),
        count=count,
        parameters=known,
        spread=count > 1,
        springs=[],  # set by a server only
    )
    if clip is not None and actor.graph is None:
        duration = actor.character.clips[clip].duration
        state = msgspec.structs.replace(
            state, clip=clip, time=min(max(time, 0.0), duration), duration=duration
        )
    return state


def _baked(
    character: Character, compiled: CompiledGraph | None, bank: ClipBank, motion: PackedBank
) -> tuple[bytes, int]:
    """A baked character with the rows that the page plays, but for those rows themselves; and the byte where they
    belong."""
    from marrow.runtime.baking import baked
    from marrow.runtime.container import read_sections, sealed

    data, made = baked(character, compiled)
    told, rows = np.ascontiguousarray(made.bank.rows).tobytes(), motion.rows.astype("<f4").tobytes()
    for at, item, axes, first, second in read_sections(data).values():
        size = item * first * (second if axes == 2 else 1)
        if size == len(told) and data[at : at + size] == told:
            whole = bytearray(data)
            whole[at : at + size] = rows
            hollow = bytearray(sealed(whole))
            hollow[at : at + size] = bytes(size)
            return bytes(hollow), at
    raise AssertionError("a baked character has the rows of its clips")


def _motion_info(bank: ClipBank, motion: PackedBank, clips_at: int, graph_at: int) -> PageMotion:
    return PageMotion(
        frames=motion.frames,
        joints=motion.joints,
        morphs=motion.morphs,
        steps=motion.steps,
        step=motion.step,
        morph_step=motion.morph_step,
        rest=bank.rows[: bank.layout.size].tolist(),
        clips_at=clips_at,
        graph_at=graph_at,
        error=motion.error,
    )


def _levels(actor: StudioActor) -> PageLevels:
    plan = LevelPlan(actor.drawn)
    selector = plan.selector if plan.usable else None
    if selector is None:
        return PageLevels(0, [], [], (0.0, 0.0, 0.0, 1.0))
    by_pixels = selector.how == PIXELS
    ball = selector.moving_sphere if by_pixels else selector.rest_sphere
    x, y, z, radius = (float(v) for v in np.ravel(ball)[:4])
    return PageLevels(
        0 if by_pixels else 1,
        np.asarray(selector.thresholds, np.float64).tolist(),
        [1.0 + slack for slack in selector.hysteresis],
        (x, y, z, radius),
    )


def _targets(drawn: Character) -> list[PageMorphTarget]:
    return [
        PageMorphTarget(k, target.channel, target.full_weight)
        for k, mesh in enumerate(drawn.meshes)
        for target in mesh.morph_targets
    ]


def _bones(drawn: Character) -> list[tuple[float, float, float] | None]:
    colors = np.round(side_colors(drawn), 3).tolist()
    return [tuple(c) if on else None for c, on in zip(colors, shown_joints(drawn).tolist())]


def _ways(character: Character) -> dict[str, PageWay]:
    """Of the clips that get somewhere."""
    found = {}
    for name, clip in character.clips.items():
        joint = carrier(clip)
        if joint is None:
            continue
        begin = clip.skeleton.to_model(clip.sample(0.0))[joint].astype(np.float64)
        whole = ways(clip, joint, np.array([clip.duration]))[0]
        if not np.isfinite(whole).all() or not np.isfinite(affine.invert(whole)).all():
            continue
        bind = character.palette.inverse_bind[joint].astype(np.float64)
        turns = bool(clip.skeleton.parents[joint] < 0)
        found[name] = PageWay(
            joint, turns, begin.ravel().tolist(), whole.ravel().tolist(), bind.ravel().tolist()
        )
    return found


def _spacing(drawn: Character) -> float:
    """Between the instances of a crowd, as in the studio."""
    box = rest_box_shown(drawn)
    extent = 1.0 if box is None else float(np.max((box[1] - box[0])[[0, 2]]))
    return max(1.1 * extent, 0.05)
