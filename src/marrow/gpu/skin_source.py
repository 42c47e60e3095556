"""The WGSL of skinning: one source, as a function that any vertex shader can include and as a compute pass.

How a vertex is carried comes from the CPU's lane formulas (`kernels/skinning.py`); what is written here is how a GPU gets
at the numbers: records of vertices, palettes, morph deltas, packed results.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from marrow.kernels.language.wgsl_lanes import Lane, WgslEmitter
from marrow.kernels.language.wgsl_text import WgslArray
from marrow.kernels.skinning import carried, carrier

__all__ = ["PART_WORDS", "WORKGROUP", "Variant", "compute_source", "skin_source"]

WORKGROUP = 64
PART_WORDS = 16
"""Words of the uniform struct `SkinPart`."""


@dataclass(frozen=True)
class Variant:
    """What a source is written for: the skinning (linear, dual_quaternion, blended), the vectors that are carried (0 none,
    1 normals, 2 tangents too), influences in groups of four, the bits of joints and weights, whether joints go through a
    table, whether vectors are octahedral, whether there are morph targets."""

    skinning: str
    vectors: int
    groups: int
    joint_bits: int
    weight_bits: int
    table: bool = False
    octahedral: bool = False
    morphs: bool = False

    @property
    def used_words(self) -> int:
        """Words of a vertex record that say something."""
        vector_words = (0, 1, 2) if self.octahedral else (0, 3, 7)
        return 3 + vector_words[self.vectors] + (self.skinning == "blended") + self.groups * self.group_words

    @property
    def words(self) -> int:
        """Words of a vertex record: four at a time are read."""
        return -(-self.used_words // 4) * 4

    @property
    def group_words(self) -> int:
        return self.joint_bits // 8 + self.weight_bits // 8

    @property
    def morph_words(self) -> int:
        """Words of what one target does to one vertex: its number and the delta of the position, then those of the normal
        and the tangent, four words each."""
        return 4 + 4 * self.vectors

    @property
    def inputs(self) -> tuple[str, ...]:
        """The storage buffers that `skin` reads, in the order of their bindings behind the uniform `part`."""
        names = ["skin_mesh"]
        if self.skinning != "dual_quaternion":
            names.append("skin_matrices")
        if self.skinning != "linear":
            names.append("skin_duals")
        if self.morphs:
            names.append("skin_morphs")
        return tuple(names)


_TYPES = {
    "skin_mesh": "vec4u",
    "skin_matrices": "vec4f",
    "skin_duals": "vec4f",
    "skin_morphs": "f32",
    "entries": "vec4u",
    "positions": "f32",
}

_PART = """\
struct SkinPart {
  first: u32,        // vertex of the surface where this part begins
  count: u32,        // vertices of this part
  vertices: u32,     // vertices of the whole surface
  palette: u32,      // entries of a palette
  targets: u32,      // morph targets of the whole surface
  records: u32,      // element of skin_mesh where the vertices begin
  morphs: u32,       // word (a quarter of an element) where their morph lists begin
  table: u32,        // word where their table of joints begins
  entry: u32,        // first of the entries to work on
  entry_count: u32,  // how many
  batch: u32,        // how many of them an invocation does
  first_target: u32, // number of the part's first morph target
  unused: vec4u,
}

struct Skinned { position: vec3f, normal: vec3f, tangent: vec4f }

struct SkinVertex {
  position: vec3f, normal: vec3f, tangent: vec4f, share: f32,
  at: u32, joints: vec4u, weights: vec4f, morphs: vec2u,
}

struct SkinRows { x: vec4f, y: vec4f, z: vec4f }

struct SkinDual { real: vec4f, dual: vec4f }
"""

_OCTAHEDRAL = """\
// Unit vectors as two 16-bit numbers (octahedral); 0x8000 twice is the zero vector.
// The handedness of a tangent is the last bit of y.
fn skin_pack(v: vec3f) -> u32 {
  let size = abs(v.x) + abs(v.y) + abs(v.z);
  if (size == 0.0) { return 0x80008000u; }
  let n = v / size;
  let folded = (1.0 - abs(n.yx)) * select(vec2f(-1.0), vec2f(1.0), n.xy >= vec2f(0.0));
  return pack2x16snorm(select(n.xy, folded, n.z < 0.0));
}

fn skin_unpack(code: u32) -> vec3f {
  let e = unpack2x16snorm(code);
  let z = 1.0 - abs(e.x) - abs(e.y);
  let xy = e - max(-z, 0.0) * select(vec2f(-1.0), vec2f(1.0), e >= vec2f(0.0));
  return select(normalize(vec3f(xy, z)), vec3f(0.0), (code & 0xfffeffffu) == 0x80008000u);
}

fn skin_pack_tangent(t: vec4f) -> u32 {
  return (skin_pack(t.xyz) & 0xfffeffffu) | select(0u, 0x10000u, t.w < 0.0);
}

fn skin_unpack_tangent(code: u32) -> vec4f {
  return vec4f(skin_unpack(code & 0xfffeffffu), select(1.0, -1.0, (code & 0x10000u) != 0u));
}
"""

_WORD = """\
fn skin_word(i: u32) -> u32 { return skin_mesh[i / 4u][i % 4u]; }
"""
_JOINTS = {
    8: "unpack4xU8({0})",
    16: "vec4u({0} & 0xffffu, {0} >> 16u, {1} & 0xffffu, {1} >> 16u)",
    32: "vec4u({0}, {1}, {2}, {3})",
}
_WEIGHTS = {
    8: "unpack4x8unorm({0})",
    16: "vec4f(unpack2x16unorm({0}), unpack2x16unorm({1}))",
    32: "bitcast<vec4f>(vec4u({0}, {1}, {2}, {3}))",
}


@functools.cache
def skin_source(variant: Variant, *, group: int = 0, first_binding: int = 0) -> str:
    """The struct types, the bindings and `fn skin(vertex: u32, row: u32) -> Skinned`: vertex `vertex` of the part, moved by
    the palette in row `row`. The uniform `part` has the first binding of the group, the inputs of the variant follow."""
    bindings = [f"@group({group}) @binding({first_binding}) var<uniform> part: SkinPart;"]
    for i, name in enumerate(variant.inputs):
        bindings.append(
            f"@group({group}) @binding({first_binding + 1 + i}) var<storage, read> {name}: array<{_TYPES[name]}>;"
        )
    parts = [_PART, "\n".join(bindings) + "\n", _WORD]
    if variant.octahedral:
        parts.append(_OCTAHEDRAL)
    parts += [_influences(variant), _load(variant)]
    if variant.morphs:
        parts.append(_morphed(variant))
    if variant.skinning != "dual_quaternion":
        parts.append(_blend_rows(variant, "matrices", "rows.x * part.palette * 3u"))
    if variant.skinning != "linear":
        parts.append(_blend_duals(variant))
        stretches = "rows.z * (1u + part.palette * 5u) + 1u + part.palette * 2u"
        parts.append(_blend_rows(variant, "duals", stretches, "stretch"))
    parts += [_carry(kind, variant.vectors) for kind in _CARRIERS[variant.skinning]]
    parts.append(_skin(variant))
    return "\n".join(parts)


@functools.cache
def compute_source(variant: Variant) -> str:
    """`skin_source`, with a compute pass that writes positions, normals and tangents for many instances: an invocation
    keeps its vertex and goes through `part.batch` of the `entries` (rows of matrices, of outputs, of dual quaternions,
    of morph weights)."""
    v = variant
    inputs = 1 + len(v.inputs)
    vector = "u32" if v.octahedral else "f32"
    outputs = [("positions", "f32"), ("normals", vector), ("tangents", vector)][: 1 + v.vectors]
    lines = [f"@group(0) @binding({inputs}) var<storage, read> entries: array<vec4u>;"]
    for i, (name, kind) in enumerate(outputs):
        lines.append(f"@group(0) @binding({inputs + 1 + i}) var<storage, read_write> {name}: array<{kind}>;")
    stores = _stores("positions", "s.position", 3)
    if v.octahedral:
        stores += ["normals[at] = skin_pack(s.normal);"] if v.vectors else []
        stores += ["tangents[at] = skin_pack_tangent(s.tangent);"] if v.vectors > 1 else []
    else:
        stores += _stores("normals", "s.normal", 3) if v.vectors else []
        stores += _stores("tangents", "s.tangent", 4) if v.vectors > 1 else []
    body = "\n    ".join(stores)
    lines.append(f"""
@compute @workgroup_size({WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3u) {{
  if (id.x >= part.count) {{ return; }}
  let vertex = skin_vertex(id.x);
  let first = id.y * part.batch;
  let last = min(first + part.batch, part.entry_count);
  for (var k = first; k < last; k++) {{
    let rows = entries[part.entry + k];
    let s = skin_carried(vertex, rows);
    let at = rows.y * part.vertices + part.first + id.x;
    {body}
  }}
}}
""")
    return skin_source(v) + "\n" + "\n".join(lines)


def _stores(name: str, value: str, width: int) -> list[str]:
    return [f"{name}[at * {width}u + {i}u] = {value}.{c};" for i, c in enumerate("xyzw"[:width])]


def _influences(v: Variant) -> str:
    """`skin_joints`, `skin_weights`: four influences at a word of `skin_mesh`; `skin_listed`: joints by a table."""
    words = [f"skin_word(at + {i}u)" for i in range(4)]
    listed = """\
fn skin_listed(j: vec4u) -> vec4u {
  let t = part.table;
  return vec4u(skin_word(t + j.x), skin_word(t + j.y), skin_word(t + j.z), skin_word(t + j.w));
}
"""
    more = f"""\
fn skin_joints(at: u32) -> vec4u {{ return {_listed(v, _JOINTS[v.joint_bits].format(*words))}; }}

fn skin_weights(at: u32) -> vec4f {{ return {_WEIGHTS[v.weight_bits].format(*words)}; }}
"""
    return "\n".join([listed] * v.table + [more] * (v.groups > 1))


def _listed(v: Variant, joints: str) -> str:
    return f"skin_listed({joints})" if v.table else joints


def _load(v: Variant) -> str:
    """`skin_vertex`: what is the same for all instances."""
    words = iter([f"q{i // 4}.{'xyzw'[i % 4]}" for i in range(v.words)])

    def take(count: int) -> list[str]:
        return [next(words) for _ in range(count)]

    def floats(count: int) -> str:
        return f"bitcast<vec{count}f>(vec{count}u({', '.join(take(count))}))"

    lines = ["var v: SkinVertex;", f"let at = part.records + number * {v.words // 4}u;"]
    lines += [f"let q{i} = skin_mesh[at + {i}u];" for i in range(v.words // 4)]
    lines.append(f"v.position = {floats(3)};")
    if v.vectors:
        lines.append(f"v.normal = {f'skin_unpack({take(1)[0]})' if v.octahedral else floats(3)};")
    if v.vectors > 1:
        lines.append(f"v.tangent = {f'skin_unpack_tangent({take(1)[0]})' if v.octahedral else floats(4)};")
    if v.skinning == "blended":
        lines.append(f"v.share = bitcast<f32>({take(1)[0]});")
    if v.groups > 1:
        lines.append(f"v.at = at * 4u + {v.used_words - v.groups * v.group_words}u;")
    lines.append(f"v.joints = {_listed(v, _JOINTS[v.joint_bits].format(*take(v.joint_bits // 8)))};")
    lines.append(f"v.weights = {_WEIGHTS[v.weight_bits].format(*take(v.weight_bits // 8))};")
    if v.morphs:
        lines.append(
            "v.morphs = vec2u(skin_word(part.morphs + number), skin_word(part.morphs + number + 1u));"
        )
    lines.append("return v;")
    return _function("skin_vertex(number: u32) -> SkinVertex", lines)


def _morphed(v: Variant) -> str:
    adds = ["v.position += w * bitcast<vec3f>(skin_mesh[e].yzw);"]
    if v.vectors:
        adds.append("v.normal += w * bitcast<vec3f>(skin_mesh[e + 1u].xyz);")
    if v.vectors > 1:
        adds.append("v.tangent += w * bitcast<vec4f>(skin_mesh[e + 2u]);")
    body = "\n      ".join(adds)
    return f"""\
// A target that is off changes nothing, even where its deltas are not numbers.
fn skin_morphed(vertex: SkinVertex, row: u32) -> SkinVertex {{
  var v = vertex;
  let weights = row * part.targets + part.first_target;
  for (var e = v.morphs.x; e < v.morphs.y; e += {v.morph_words // 4}u) {{
    let w = skin_morphs[weights + skin_mesh[e].x];
    if (w != 0.0) {{
      {body}
    }}
  }}
  return v;
}}
"""


def _each_group(v: Variant, body: str) -> str:
    """A body for all influences, four (`j`, `w`) at a time; unused ones are at the end, with a weight of zero."""
    if v.groups == 1:
        return f"  let j = v.joints;\n  let w = v.weights;\n{body}"
    inner = body.replace("\n", "\n  ").rstrip()
    return f"""\
  var j = v.joints;
  var w = v.weights;
  for (var g = 1u; ; g++) {{
  {inner}
    if (g == {v.groups}u) {{ break; }}
    j = skin_joints(v.at + g * {v.group_words}u);
    w = skin_weights(v.at + g * {v.group_words}u + {v.joint_bits // 8}u);
    if (w.x == 0.0) {{ break; }}
  }}
"""


def _blend_rows(v: Variant, table: str, base: str, name: str = "") -> str:
    """`skin_blend_NAME`: a weighted sum of affine matrices."""
    steps = "".join(
        f"  r = SkinRows(r.x + w.{c} * skin_{table}[b + j.{c} * 3u], "
        f"r.y + w.{c} * skin_{table}[b + j.{c} * 3u + 1u], r.z + w.{c} * skin_{table}[b + j.{c} * 3u + 2u]);\n"
        for c in "xyzw"
    )
    return f"""\
fn skin_blend_{name or table}(v: SkinVertex, rows: vec4u) -> SkinRows {{
  let b = {base};
  var r = SkinRows(vec4f(0.0), vec4f(0.0), vec4f(0.0));
{_each_group(v, steps)}  return r;
}}
"""


def _blend_duals(v: Variant) -> str:
    """`skin_blend_duals`: dual quaternions, each on the side of the first joint, which has the largest weight."""
    steps = "".join(
        f"  q = skin_duals[b + j.{c} * 2u];\n"
        f"  s = select(w.{c}, -w.{c}, dot(lead, q) < 0.0);\n"
        f"  r = SkinDual(r.real + s * q, r.dual + s * skin_duals[b + j.{c} * 2u + 1u]);\n"
        for c in "xyzw"
    )
    return f"""\
fn skin_blend_duals(v: SkinVertex, rows: vec4u) -> SkinDual {{
  let b = rows.z * (1u + part.palette * 5u) + 1u;
  let lead = skin_duals[b + v.joints.x * 2u];
  var r = SkinDual(vec4f(0.0), vec4f(0.0));
  var q: vec4f;
  var s: f32;
{_each_group(v, steps)}  return r;
}}
"""


class _Given:
    """Blends that were made already, as the formulas ask for them."""

    def __init__(self, e: WgslEmitter) -> None:
        self.e = e

    def sum(self, table: str, base: Any, width: int, columns: Iterable[int]) -> list[Lane]:
        rows = [n for row in "xyz" for n in _components(self.e, f"{table}.{row}", 4)]
        return [rows[i] for i in columns]

    def sum_dual_quaternions(self, dual: Any, base: Any) -> list[Lane]:
        return _components(self.e, "d.real", 4) + _components(self.e, "d.dual", 4)


def _components(e: WgslEmitter, name: str, width: int) -> list[Lane]:
    """The first components of a vector variable."""
    return [e.lane(f"{name}.{c}") for c in "xyzw"[:width]]


_CARRIERS = {"linear": ("linear",), "dual_quaternion": ("rigid", "stretch"), "blended": ("blended",)}
_ARGUMENTS = {
    "linear": "m: SkinRows",
    "rigid": "d: SkinDual",
    "stretch": "d: SkinDual, s: SkinRows",
    "blended": "d: SkinDual, s: SkinRows, m: SkinRows",
}


def _carry(skinning: str, vectors: int) -> str:
    """`skin_METHOD`: a vertex under what was blended for it, by the formulas of the CPU's kernels."""
    e = WgslEmitter("x")
    shares = WgslArray("share", lambda _: "v.share")
    work = SimpleNamespace(matrices="m", stretch="s", dual="d", shares=shares)
    carry = carrier(skinning)(e, skinning, _Given(e), work, "0", "0")
    normal = _components(e, "v.normal", 3) if vectors else []
    tangent = _components(e, "v.tangent", 3) if vectors > 1 else []
    p, n, t, mirrored = carried(e, carry, _components(e, "v.position", 3), normal, tangent)
    if tangent:
        hand = e.lane("v.tangent.w")
        e.store(
            WgslArray("r.tangent", functools.partial(_always, "r.tangent.w")),
            0,
            hand if mirrored is None else e.select(mirrored, -hand, hand),
        )
    for vector, place in zip((p, n, t), ("r.position", "r.normal", "r.tangent")):
        for value, axis in zip(vector, "xyz"):
            e.store(WgslArray(place, functools.partial(_always, f"{place}.{axis}")), 0, value)
    lines = ["  var r: Skinned;", *e.text()]
    return _function(
        f"skin_{skinning}(v: SkinVertex, {_ARGUMENTS[skinning]}) -> Skinned",
        [*(line.strip() for line in lines), "return r;"],
    )


def _always(text: str, offset: str) -> str:
    return text


def _skin(v: Variant) -> str:
    """`skin_carried`, and `skin` for whoever has a vertex number and a row."""
    lines = ["let v = skin_morphed(vertex, rows.w);" if v.morphs else "let v = vertex;"]
    if v.skinning == "linear":
        lines.append("return skin_linear(v, skin_blend_matrices(v, rows));")
    else:
        lines.append("let d = skin_blend_duals(v, rows);")
        if v.skinning == "dual_quaternion":
            lines.append(
                "if (skin_duals[rows.z * (1u + part.palette * 5u)].x == 0.0) { return skin_rigid(v, d); }"
            )
            lines.append("return skin_stretch(v, d, skin_blend_stretch(v, rows));")
        else:
            lines.append(
                "return skin_blended(v, d, skin_blend_stretch(v, rows), skin_blend_matrices(v, rows));"
            )
    return (
        _function("skin_carried(vertex: SkinVertex, rows: vec4u) -> Skinned", lines)
        + "\n"
        + _function(
            "skin(vertex: u32, row: u32) -> Skinned",
            ["return skin_carried(skin_vertex(vertex), vec4u(row));"],
        )
    )


def _function(head: str, lines: list[str]) -> str:
    body = "\n  ".join(lines)
    return f"fn {head} {{\n  {body}\n}}\n"
