"""Animation stacks of a ufbx scene as plain data: baked by ufbx, and evaluated where a bake does not reach.

FBX keys Euler angles axis by axis, with tangents, through pivots and layers. ufbx bakes that to keys of local
transforms, densely where a curve bends and at the file's own keys where those are dense already. It bakes from the first
key to the last: where curves go on beyond them (repeated, mirrored, along their last slope) the node is evaluated here,
moment by moment, over the whole take.
"""

from __future__ import annotations

import math
import struct
from typing import Any

import ufbx

from marrow.io.fbx.blocks import Blocks, Buffer
from marrow.io.fbx.keyed_properties import ATTRIBUTES, MIN_RATE, SHOWN, TRANSFORMS
from marrow.io.fbx.ufbx_binding import elements, hold, number, records
from marrow.io.reader_worker import Refusal

__all__ = ["StackWalk", "bake"]

# Between keys of a bent curve the baked motion is straight; at this many samples per frame the difference is
# gone.
_SAMPLES_PER_FRAME = 4
# How far a key may be off the straight line between its neighbours and still be left out, in metres or
# quaternion.
_NEGLIGIBLE = 1e-7
_MAX_KEYS = 20_000_000
_MAX_SAMPLES = 200_000
_CONSTANT = 0
_OWN = int(ufbx.PropFlags.USER_DEFINED)
_VECTOR = int(ufbx.PropFlags.VALUE_VEC3)
_NUMBERS = int(ufbx.PropFlags.VALUE_REAL) | int(ufbx.PropFlags.VALUE_INT)
_KEY = {width: struct.Struct(f"<{1 + width}d2I") for width in (3, 4)}
# Lists of keys of each width that were found to lie as they should; after so many the others do too.
_seen = dict.fromkeys(_KEY, 0)
_TRUSTED = 8
Keyed = tuple[int, str]
"""A property: of an element by its ufbx number, by its name."""


class StackWalk:
    """The stacks of a scene. `plain` are the nodes (by index) that turn by their angles alone."""

    def __init__(
        self,
        scene: Any,
        nodes: list[Any],
        plain: dict[int, Any],
        meshes: list[dict[str, Any]],
        rate: float | None,
        blocks: Blocks,
    ) -> None:
        self._scene, self._nodes, self._plain, self._blocks = scene, nodes, plain, blocks
        self._node_of = {int(node.element_id): i for i, node in enumerate(nodes)}
        self._placed: set[int] = set()
        for node in nodes:
            self._placed |= {
                int(a.element_id) for a in (hold(node.camera), hold(node.light)) if a is not None
            }
        self._morphs: set[Keyed] = set()
        for mesh in meshes:
            for channel in mesh.get("channels", ()):
                self._morphs |= {
                    (channel["element"], "DeformPercent"),
                    (mesh["element"], channel["name"]),
                }
        scene_rate = number(hold(scene.settings).frames_per_second) or 0.0
        scene_rate = scene_rate if 1 <= scene_rate <= 1000 else MIN_RATE
        self._rate = max(MIN_RATE, scene_rate, rate or 0) * _SAMPLES_PER_FRAME
        self.own: list[tuple[int, str, int]] = []
        """Properties artists gave to nodes, with how many numbers each has: those of names one of which is animated."""

    def walk(self) -> list[dict[str, Any]]:
        """The stacks in order, see `plain_scene.PlainStack`."""
        stacks = [(stack, _properties(stack)) for stack in elements(self._scene.anim_stacks)]
        animated = {key for _, properties in stacks for key, _, _ in properties if key[0] in self._node_of}
        names = sorted({name for element, name in animated if self._width(self._node_of[element], name)})
        for i, node in enumerate(self._nodes):
            widths = [(name, self._width(i, name)) for name in names]
            self.own += [(int(node.element_id), name, width) for name, width in widths if width]
        return [self._stack(stack, properties) for stack, properties in stacks]

    def _width(self, node: int, name: str) -> int:
        """How many numbers a node's property has that artists gave it; 0 for any other."""
        prop = hold(hold(self._nodes[node].props).find_prop(name))
        flags = 0 if prop is None else int(hold(prop.flags))
        if not (flags & _OWN and flags & (_NUMBERS | _VECTOR)):
            return 0
        return 3 if flags & _VECTOR else 1

    def _stack(self, stack: Any, properties: list[tuple[Keyed, Any, list[Any]]]) -> dict[str, Any]:
        curves = [(key, curve) for key, _, found in properties for curve in found]
        keyed = {key for key, _ in curves}
        found: dict[str, Any] = {
            "name": str(hold(stack.name)),
            "animated": list(dict.fromkeys(key for key, _, _ in properties)),
            "keyed": list(keyed),
        }
        moved = any(e in self._node_of and (n in TRANSFORMS or n == SHOWN) for e, n in keyed)
        own = {(element, name) for element, name, _ in self.own}
        own |= {key for key in keyed if key[0] in self._placed and key[1] in ATTRIBUTES}
        if not moved and not keyed & (self._morphs | own):
            return found
        begin, end, running = _span(stack, curves)
        anim = hold(stack.anim)
        baked = bake(self._scene, anim, self._rate)
        beyond = [i for element, i in self._node_of.items() if element in running]
        found |= {
            "begin": begin,
            "end": end,
            "step": 1 / self._rate,
            "sampled": [(i, *self._sampled_node(anim, i, begin, end)) for i in sorted(beyond)],
            "nodes": self._baked_nodes(baked, set(beyond), properties),
            "properties": self._baked_properties(baked, own, curves, running, begin, end),
        }
        return found

    def _baked_nodes(
        self, baked: Any, apart: set[int], properties: list[tuple[Keyed, Any, list[Any]]]
    ) -> list[tuple[int, ...]]:
        """Node, translation, rotation and scale keys; and the angles at the rotation keys of nodes that turn by them."""
        found: list[tuple[int, ...]] = []
        put = self._blocks.put
        for node in elements(baked.nodes):
            i = int(node.typed_id)
            if i in apart:
                continue
            rotation = _keys(node.rotation_keys, 4)
            row: tuple[int, ...] = (
                i,
                put(_keys(node.translation_keys, 3)),
                put(rotation),
                put(_keys(node.scale_keys, 3)),
            )
            if i in self._plain:
                row += self._angles(self._plain[i], rotation, properties)
            found.append(row)
        return found

    def _angles(
        self, node: Any, rotation: Buffer, properties: list[tuple[Keyed, Any, list[Any]]]
    ) -> tuple[int, ...]:
        wanted = (int(node.element_id), "Lcl Rotation")
        value = next((prop.anim_value for key, prop, curves in properties if key == wanted and curves), None)
        if value is None:
            return ()
        hold(value)
        angles: list[float] = []
        for time, *_ in _KEY[4].iter_unpack(rotation):
            angles += hold(ufbx.evaluate_anim_value_vec3(value, time if math.isfinite(time) else 0.0))
        return (self._blocks.doubles(*angles),)

    def _baked_properties(
        self,
        baked: Any,
        own: set[Keyed],
        curves: list[tuple[Keyed, Any]],
        running: set[int],
        begin: float,
        end: float,
    ) -> list[tuple[int, str, int, int]]:
        """Element, name and keys of properties that drive something; and for a morph whose curve goes on beyond its keys
        (else -1) its values over the whole take."""
        found = []
        for element in elements(baked.elements):
            number_of = int(element.element_id)
            for prop in elements(element.props):
                key = (number_of, str(hold(prop.name)))
                is_morph = key in self._morphs
                if not (is_morph or key in own or (key[1] == SHOWN and number_of in self._node_of)):
                    continue
                sampled = -1
                if is_morph and number_of in running:
                    curve = next(c for k, c in curves if k == key)
                    sampled = self._sampled_value(curve, begin, end)
                found.append((*key, self._blocks.put(_keys(prop.keys, 3)), sampled))
        return found

    def _sampled_node(self, anim: Any, node: int, begin: float, end: float) -> tuple[int, int]:
        """Times, and the node's local transform at each."""
        times = _moments(begin, end, self._rate)
        rows: list[float] = []
        for time in times:
            for part in hold(ufbx.evaluate_transform(anim, self._nodes[node], time)):
                rows += part
        return self._blocks.doubles(*times), self._blocks.doubles(*rows)

    def _sampled_value(self, curve: Any, begin: float, end: float) -> int:
        """The values of one curve, times and values apart."""
        times = _moments(begin, end, self._rate)
        return self._blocks.doubles(*times, *(float(ufbx.evaluate_curve(curve, t, 0.0)) for t in times))


def bake(scene: Any, anim: Any, rate: float) -> Any:
    """The motion as keys of local transforms, at `rate` a second where a curve bends."""
    return hold(
        ufbx.bake_anim(
            scene,
            anim,
            resample_rate=rate,
            minimum_sample_rate=MIN_RATE - 0.5,
            max_keyframe_segments=1 << 16,
            key_reduction_enabled=True,
            key_reduction_rotation=True,
            key_reduction_threshold=_NEGLIGIBLE,
            step_handling=ufbx.BakeStepHandling.IDENTICAL_TIME,
        )
    )


def _properties(stack: Any) -> list[tuple[Keyed, Any, list[Any]]]:
    """Every property that a layer of the stack animates, and its curves that have keys."""
    found = []
    for layer in elements(stack.layers):
        for prop in elements(layer.anim_props):
            key = (int(hold(prop.element).element_id), str(hold(prop.prop_name)))
            # They come as a bare tuple, so each has to be held.
            curves = [hold(curve) for curve in hold(hold(prop.anim_value).curves) if curve is not None]
            found.append((key, prop, [curve for curve in curves if len(hold(curve.keyframes))]))
    return found


def _span(stack: Any, curves: list[tuple[Keyed, Any]]) -> tuple[float, float, set[int]]:
    """Begin and end of the clip, and which elements move beyond their keys: it is the stack's own span, but not
    past the last key where everything rests from there on.
    """
    begin, end = float(stack.time_begin), float(stack.time_end)
    first = min((float(c.min_time) for _, c in curves), default=0.0)
    last = max((float(c.max_time) for _, c in curves), default=0.0)
    if not math.isfinite(begin) or not math.isfinite(end) or end <= begin:
        begin, end = first, last
    running = set()
    for (element, _), curve in curves:
        before = curve.min_time > begin and _goes_on(curve.pre_extrapolation)
        after = curve.max_time < end and _goes_on(curve.post_extrapolation)
        if (before or after) and len(hold(curve.keyframes)) > 1:
            running.add(element)
    return begin, max(begin, end if running else min(end, last)), running


def _goes_on(extrapolation: Any) -> bool:
    return int(hold(hold(extrapolation).mode)) != _CONSTANT


def _moments(begin: float, end: float, rate: float) -> list[float]:
    """The times to evaluate at: both ends, and as often as the rate says between them."""
    count = max(min(math.ceil((end - begin) * rate) + 1, _MAX_SAMPLES), 2)
    step = (end - begin) / (count - 1)
    return [i * step + begin for i in range(count - 1)] + [end]


def _keys(items: Any, width: int) -> Buffer:
    """The keys of one baked property: time, value, two words of flags for each."""
    hold(items)
    n, key = len(items), _KEY[width]
    if n > _MAX_KEYS:
        raise Refusal(f"has a track of {n} keys, more than the {_MAX_KEYS} marrow reads")
    table = records(items, key.size)
    if table is not None and (
        _seen[width] >= _TRUSTED
        or all(_is_key(table[i * key.size :], hold(items[i]), width) for i in (0, n - 1))
    ):
        _seen[width] += 1
        return table
    packed = (key.pack(k.time, *hold(k.value), 0, 0) for k in elements(items))
    return b"".join(packed)


def _is_key(row: memoryview, key: Any, width: int) -> bool:
    seen = struct.pack(f"<{1 + width}d", key.time, *hold(key.value))
    return bytes(row[: len(seen)]) == seen
