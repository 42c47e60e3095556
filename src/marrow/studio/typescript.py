"""The TypeScript of the protocol, made from its structs; `make generated` writes it."""

from __future__ import annotations

import inspect
import json
from types import ModuleType
from typing import Any

import msgspec
from msgspec import inspect as types

__all__ = ["typescript"]

_HEAD = """\
// The protocol of marrow's studio.
// Made by `make generated` from protocol.py, description.py, answers.py and page/page_info.py in src/marrow/studio.
"""


def typescript() -> str:
    """The whole of `web/src/protocol.ts`."""
    from marrow.studio import answers, description, drawing_frames, frames, protocol
    from marrow.studio.page import page_info

    constants = {
        "PROTOCOL_VERSION": protocol.PROTOCOL_VERSION,
        "SOCKET_PROTOCOL": json.dumps(protocol.SOCKET_PROTOCOL),
        "TOKEN_PROTOCOL": json.dumps(protocol.TOKEN_PROTOCOL),
        "TOKEN_HEADER": json.dumps(protocol.TOKEN_HEADER),
        "PAGE_HEADER": json.dumps(protocol.PAGE_HEADER),
        "MAX_MESSAGE_BYTES": protocol.MAX_MESSAGE_BYTES,
        "MAX_COUNT": protocol.MAX_COUNT,
        "FRAMES_IN_FLIGHT": protocol.FRAMES_IN_FLIGHT,
        "FRAME_MAGIC": frames.FRAME_MAGIC,
        "FRAME_HEADER_BYTES": frames.FRAME_HEADER.size,
        "HAS_PLACEMENTS": frames.HAS_PLACEMENTS,
        "HAS_LEVELS": frames.HAS_LEVELS,
        "HAS_COMPACT": frames.HAS_COMPACT,
        "HAS_SCALES": frames.HAS_SCALES,
        "DRAWING_MAGIC": drawing_frames.DRAWING_MAGIC,
        "DRAWING_HEADER_BYTES": drawing_frames.DRAWING_HEADER.size,
        "MAX_UPLOAD_FILES": answers.MAX_UPLOAD_FILES,
        "PARCEL_TYPE": json.dumps(answers.PARCEL_TYPE),
    }
    parts = [_HEAD]
    parts += [f"export const {name} = {value};" for name, value in constants.items()]
    parts += [_FRAME, _DRAWING]
    parts += [
        _interface(struct)
        for module in (protocol, description, answers, page_info)
        for struct in _structs(module)
    ]
    for name in ("ClientMessage", "ServerMessage"):
        members = " | ".join(member.__name__ for member in getattr(protocol, name).__args__)
        parts.append(f"\nexport type {name} =\n  {members};")
    return "\n".join(parts) + "\n"


_FRAME = """
/**
 * A binary frame: eight little-endian words (u32 magic, frame, slot, N, P, M; f32 time; u32 flags), then
 * float32 arrays: N*P*12 skinning matrices (3x4, row-major), N*M weights of morph targets, and N*12
 * placements (3x4) if flags has HAS_PLACEMENTS. With HAS_LEVELS, in place of the matrices: u32 G, for each of G
 * groups u32 level, n, E; then for each group n instances (u32), and for each n*E*12 matrices, of the first E
 * entries of the palette.
 *
 * With HAS_COMPACT, after the header: f32 reach; u32 G and the table of groups as above; for each group its n
 * instances; for each n*3 f32 centers; for each n*E*3 u32 words; with HAS_SCALES for each n*E half floats; for each n*M
 * half floats of morph weights (each run of half floats up to a whole word); then placements as above. Instances that
 * are in no group stay as they were sent before. An entry's words: px | py << 16, pz | q0 << 16, q1 | q2 << 16. Its pivot
 * (bind_positions) is at center + reach * (2 * p / 65535 - 1). Bit 15 of q0 and q1 is the number (q0 first) of the largest
 * of x, y, z, w, which is positive and follows from the others: in order, ((q & 0x7fff) / 32767 * 2 - 1) * sqrt(1/2).
 */
export interface LevelGroup {
  level: number;
  instances: Uint32Array;
  /** Entries of the palette whose matrices are there. */
  entries: number;
  matrices: Float32Array;
}

/** Instances at one level of detail whose joints changed, 12 bytes a joint. */
export interface CompactGroup {
  level: number;
  instances: Uint32Array;
  entries: number;
  /** n x 3. */
  centers: Float32Array;
  /** n x entries x 3. */
  words: Uint32Array;
  /** Half floats, n x entries; null where all are 1. */
  scales: Uint16Array | null;
  /** Half floats, n x morphWeights. */
  morphs: Uint16Array;
}

export interface Frame {
  frame: number;
  slot: number;
  count: number;
  palette: number;
  morphWeights: number;
  time: number;
  /** Of all instances; empty where there are groups. */
  matrices: Float32Array;
  groups: LevelGroup[] | null;
  /** Of the instances that changed; then there are neither matrices nor groups nor morphs. */
  compact: CompactGroup[] | null;
  reach: number;
  bytes: number;
  morphs: Float32Array;
  placements: Float32Array | null;
}

/** Takes a binary frame apart without copying it; null when it is not one. */
export function parseFrame(data: ArrayBuffer): Frame | null {
  if (data.byteLength < FRAME_HEADER_BYTES) return null;
  const head = new DataView(data);
  const word = (i: number): number => head.getUint32(4 * i, true);
  const count = word(3);
  const palette = word(4);
  const morphWeights = word(5);
  const placed = (word(7) & HAS_PLACEMENTS) !== 0;
  const byLevel = (word(7) & HAS_LEVELS) !== 0;
  const matricesAt = FRAME_HEADER_BYTES;
  if (word(0) === FRAME_MAGIC && word(7) & HAS_COMPACT) return parseCompact(data, head);
  const groups = byLevel ? parseGroups(data, matricesAt) : null;
  if (byLevel && !groups) return null;
  const morphsAt = groups ? groups.end : matricesAt + 4 * count * palette * 12;
  const placementsAt = morphsAt + 4 * count * morphWeights;
  const end = placementsAt + (placed ? 4 * count * 12 : 0);
  if (word(0) !== FRAME_MAGIC || data.byteLength !== end) return null;
  return {
    frame: word(1),
    slot: word(2),
    count,
    palette,
    morphWeights,
    time: head.getFloat32(24, true),
    matrices: groups ? new Float32Array(0) : new Float32Array(data, matricesAt, count * palette * 12),
    groups: groups ? groups.found : null,
    compact: null,
    reach: 0,
    bytes: data.byteLength,
    morphs: new Float32Array(data, morphsAt, count * morphWeights),
    placements: placed ? new Float32Array(data, placementsAt, count * 12) : null,
  };
}

function parseCompact(data: ArrayBuffer, head: DataView): Frame | null {
  const whole = data.byteLength >> 2;
  const word = (i: number): number => head.getUint32(4 * i, true);
  const [count, morphWeights, flags] = [word(3), word(5), word(7)];
  let next = FRAME_HEADER_BYTES >> 2;
  if (data.byteLength & 3 || next + 2 > whole) return null;
  const reach = head.getFloat32(4 * next, true);
  const groups = word(next + 1);
  next += 2 + 3 * groups;
  if (next > whole) return null;
  const sizes = Array.from({ length: groups }, (_, g) => {
    const at = (FRAME_HEADER_BYTES >> 2) + 2 + 3 * g;
    return { level: word(at), n: word(at + 1), entries: word(at + 2) };
  });
  // A view past the end throws: the whole is then no frame.
  const words = <T>(length: number, make: (at: number) => T): T => {
    const at = 4 * next;
    next += length;
    return make(at);
  };
  const ints = (n: number) => words(n, (at) => new Uint32Array(data, at, n));
  const floats = (n: number) => words(n, (at) => new Float32Array(data, at, n));
  const halves = (n: number) => words((n + 1) >> 1, (at) => new Uint16Array(data, at, n));
  try {
    const instances = sizes.map(({ n }) => ints(n));
    const centers = sizes.map(({ n }) => floats(3 * n));
    const joints = sizes.map(({ n, entries }) => ints(3 * n * entries));
    const scales = sizes.map(({ n, entries }) => (flags & HAS_SCALES ? halves(n * entries) : null));
    const morphs = sizes.map(({ n }) => halves(n * morphWeights));
    const placements = flags & HAS_PLACEMENTS ? floats(12 * count) : null;
    if (next !== whole) return null;
    return {
      frame: word(1),
      slot: word(2),
      count,
      palette: word(4),
      morphWeights,
      time: head.getFloat32(24, true),
      matrices: new Float32Array(0),
      groups: null,
      compact: sizes.map(({ level, entries }, g) => ({
        level,
        entries,
        instances: instances[g],
        centers: centers[g],
        words: joints[g],
        scales: scales[g],
        morphs: morphs[g],
      })),
      reach,
      bytes: data.byteLength,
      morphs: new Float32Array(0),
      placements,
    };
  } catch {
    return null;
  }
}

function parseGroups(data: ArrayBuffer, at: number): { found: LevelGroup[]; end: number } | null {
  const whole = data.byteLength >> 2;
  const words = new Uint32Array(data, 0, whole);
  let next = at >> 2;
  const count = words[next++] ?? 0;
  if (next + 3 * count > whole) return null;
  const table = words.subarray(next, next + 3 * count);
  next += 3 * count;
  const found: LevelGroup[] = [];
  for (let g = 0; g < count; g++) {
    const n = table[3 * g + 1];
    if (next + n > whole) return null;
    found.push({ level: table[3 * g], instances: words.subarray(next, next + n), entries: table[3 * g + 2], matrices: new
    Float32Array(0) }); next += n;
  }
  for (const group of found) {
    const size = 12 * group.instances.length * group.entries;
    if (next + size > whole) return null;
    group.matrices = new Float32Array(data, 4 * next, size);
    next += size;
  }
  return { found, end: 4 * next };
}"""


_DRAWING = """
/** A binary message with a drawing: what has changed of it (`DrawingInfo`), and the arrays that are new. */
export interface DrawingMessage {
  frame: number;
  slot: number;
  bytes: number;
  text: DrawingText | null;
  arrays: Map<string, DrawingArray>;
}

export interface DrawingArray {
  shape: number[];
  data: Float32Array | Uint32Array | Uint8Array;
}

/**
 * Takes a drawing apart without copying it; null when it is none. Four little-endian words (u32 magic, frame, slot, bytes
 * of the JSON text), the text up to a whole word, and arrays, whose offsets count from there.
 */
export function parseDrawing(data: ArrayBuffer): DrawingMessage | null {
  if (data.byteLength < DRAWING_HEADER_BYTES) return null;
  const head = new DataView(data);
  const word = (i: number): number => head.getUint32(4 * i, true);
  const length = word(3);
  if (word(0) !== DRAWING_MAGIC || DRAWING_HEADER_BYTES + length > data.byteLength) return null;
  const begin = DRAWING_HEADER_BYTES + 4 * Math.ceil(length / 4);
  const info = JSON.parse(new TextDecoder().decode(new Uint8Array(data, DRAWING_HEADER_BYTES, length))) as DrawingInfo;
  const arrays = new Map<string, DrawingArray>();
  for (const [name, { offset, dtype, shape }] of Object.entries(info.arrays)) {
    const size = shape.reduce((a, b) => a * b, 1);
    const kind = dtype === "float32" ? Float32Array : dtype === "uint32" ? Uint32Array : Uint8Array;
    if (begin + offset + size * kind.BYTES_PER_ELEMENT > data.byteLength) return null;
    arrays.set(name, { shape, data: new kind(data, begin + offset, size) });
  }
  return { frame: word(1), slot: word(2), bytes: data.byteLength, text: info.text, arrays };
}"""


def _structs(module: ModuleType) -> list[type[msgspec.Struct]]:
    """The structs a module defines that are sent as JSON, in order."""
    bases = ("Frame", "Message", "Info")
    return [
        value
        for value in vars(module).values()
        if inspect.isclass(value)
        and issubclass(value, msgspec.Struct)
        and value.__module__ == module.__name__
        and value.__name__ not in bases
    ]


def _interface(struct: type[msgspec.Struct]) -> str:
    info = types.type_info(struct)
    assert isinstance(info, types.StructType)
    lines = [f"/** {' '.join((struct.__doc__ or '').split())} */", f"export interface {struct.__name__} {{"]
    if info.tag is not None:
        lines.append(f'  type: "{info.tag}";')
    for field in info.fields:
        mark = "" if field.required or _from_server(struct) else "?"
        lines.append(f"  {field.encode_name}{mark}: {_type(field.type)};")
    return "\n" + "\n".join([*lines, "}"])


def _from_server(struct: type[msgspec.Struct]) -> bool:
    """What the server sends is always whole; only a page may leave out what has a default."""
    from marrow.studio import protocol

    return struct not in protocol.ClientMessage.__args__


def _type(kind: types.Type) -> str:
    if isinstance(kind, types.Metadata):
        return _type(kind.type)
    if isinstance(kind, types.StructType):
        return kind.cls.__name__
    if isinstance(kind, types.LiteralType):
        return " | ".join(f'"{value}"' for value in kind.values)
    if isinstance(kind, types.UnionType):
        return " | ".join(dict.fromkeys(_type(member) for member in kind.types))
    if isinstance(kind, types.ListType):
        inner = _type(kind.item_type)
        return f"({inner})[]" if "|" in inner else f"{inner}[]"
    if isinstance(kind, types.TupleType):
        return f"[{', '.join(_type(member) for member in kind.item_types)}]"
    if isinstance(kind, types.DictType):
        return f"Record<string, {_type(kind.value_type)}>"
    plain: dict[Any, str] = {
        types.BoolType: "boolean",
        types.FloatType: "number",
        types.IntType: "number",
        types.StrType: "string",
        types.NoneType: "null",
    }
    return plain[type(kind)]
