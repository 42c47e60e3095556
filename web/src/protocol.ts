// The protocol of marrow's studio.
// Made by `make generated` from protocol.py, description.py, answers.py and page/page_info.py in src/marrow/studio.

export const PROTOCOL_VERSION = 5;
export const SOCKET_PROTOCOL = "marrow";
export const TOKEN_PROTOCOL = "marrow.token.";
export const TOKEN_HEADER = "x-marrow-token";
export const PAGE_HEADER = "x-marrow-page";
export const MAX_MESSAGE_BYTES = 98304;
export const MAX_COUNT = 2000;
export const FRAMES_IN_FLIGHT = 2;
export const FRAME_MAGIC = 1297241905;
export const FRAME_HEADER_BYTES = 32;
export const HAS_PLACEMENTS = 1;
export const HAS_LEVELS = 2;
export const HAS_COMPACT = 4;
export const HAS_SCALES = 8;
export const DRAWING_MAGIC = 1297241924;
export const DRAWING_HEADER_BYTES = 16;
export const MAX_UPLOAD_FILES = 256;
export const PARCEL_TYPE = "application/x-marrow-files";

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
}

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
}

/** Lets time pass, or stops it. */
export interface Play {
  type: "play";
  playing: boolean;
}

/** Plays a clip from its start, faded in over `fade` seconds; the character in slot 1 shows the clip of the same name, or one of its own that was picked for it, in step. */
export interface PickClip {
  type: "clip";
  name: string;
  fade?: number;
  slot?: number;
}

/** Goes to a time of the clip, in seconds. */
export interface Seek {
  type: "seek";
  time: number;
}

/** Goes forward (or back) by frames of the clip, and pauses. */
export interface Step {
  type: "step";
  frames: number;
}

/** How fast time passes: 1 is real time, negative runs clips backwards. */
export interface SetSpeed {
  type: "speed";
  value: number;
}

/** Whether a clip starts over at its end. */
export interface SetLoop {
  type: "loop";
  value: boolean;
}

/** Plays single clips, or the graph. */
export interface SetMode {
  type: "mode";
  value: "clip" | "graph";
}

/** Sets a parameter of the graph for all instances (around it, where the crowd is spread). */
export interface SetParameter {
  type: "parameter";
  name: string;
  value: boolean | number | [number, number, number];
}

/** Fires a trigger of the graph. */
export interface Fire {
  type: "trigger";
  name: string;
}

/** Where a character that is played shall go, x and z in the world, at most 1 long; it goes on until told otherwise. `jump` jumps once. */
export interface Steer {
  type: "steer";
  x: number;
  z: number;
  run?: boolean;
  jump?: boolean;
}

/** How many instances there are. */
export interface SetCount {
  type: "count";
  value: number;
}

/** Whether parameters and times differ from instance to instance in a crowd. */
export interface Spread {
  type: "spread";
  on: boolean;
}

/** Whether characters go over the floor where their motion takes them; from their places, each time it is said. */
export interface SetTravel {
  type: "travel";
  on: boolean;
}

/** The joint that is looked at, -1 for none. */
export interface Select {
  type: "select";
  joint: number;
}

/** Where a page looks from, so that instances are sent at the level of detail it needs: the matrix that brings the world in front of the camera and the one to the picture, both row by row; the picture's height in pixels; how many pixels levels may be off; and the instance that was picked, -1 for none. */
export interface Look {
  type: "look";
  view: number[];
  projection: number[];
  height: number;
  pixels?: number;
  picked?: number;
}

/** A view by its name, and what follows it: `weights` of `hand_l`. */
export interface ViewChoice {
  name: string;
  argument: string;
}

/** What a page wants drawn (`CharacterInfo.views` has the names), by the way of skinning it shows; a drawing follows with the next frame. Of a crowd the instance that was `picked` is drawn. `compare` says what `difference` is a difference to: the other way of skinning, the character in slot 1, or the file as it was `before` it was exported again. `mask` is the path of a node whose mask is shown. `pose`: where the page shows a pose of its own, the joints of the first instance in model space, `(J, 3, 4)` float32, as base64. */
export interface SetViews {
  type: "views";
  views: ViewChoice[];
  method?: "dual_quaternion" | "file" | "linear";
  picked?: number;
  compare?: "before" | "second" | "skinning";
  mask?: string | null;
  pose?: string | null;
}

/** Holds a joint of an instance at a place in its own space: the whole body bends for it. Without a place the joint stays where the pose has it. */
export interface SetEffector {
  type: "effector";
  joint: number;
  place?: [number, number, number] | null;
  instance?: number;
}

/** Lets a joint go along with the body again. */
export interface FreeEffector {
  type: "free";
  joint: number;
  instance?: number;
}

/** Lets all joints go, of all instances, but for the feet, which stay where the pose has them. */
export interface ResetEffectors {
  type: "reset_effectors";
}

/** Sets some settings of a chain that swings, or of all (no name). */
export interface SetSpring {
  type: "spring";
  chain?: string;
  stiffness?: number | null;
  drag?: number | null;
  gravity?: number | null;
  radius?: number | null;
  limit?: number | null;
}

/** The wind that springs feel, in the world. */
export interface SetWind {
  type: "wind";
  wind: [number, number, number];
}

/** Springs are as the file or the graph has them. */
export interface ResetSprings {
  type: "reset_springs";
}

/** Shows everybody at one level of detail; -1 lets each have its own. */
export interface SetLevel {
  type: "level";
  value: number;
}

/** What a page can take: compact frames, in which joints have 12 bytes and only those instances are that changed. */
export interface Accept {
  type: "accept";
  compact: boolean;
}

/** Lets exactly so many seconds pass, and pauses; a frame follows in any case. For pictures one by one. */
export interface Advance {
  type: "advance";
  seconds: number;
}

/** Plays only a part of the clip, from `start` to `end` seconds; None for its own ends. */
export interface SetRange {
  type: "range";
  start?: number | null;
  end?: number | null;
}

/** Runs the graph that the character's clips make (`CharacterInfo.graph_offer`). */
export interface ReadyGraph {
  type: "ready_graph";
}

/** An event of a clip at `time` seconds; for `duration` seconds where that is more than 0. */
export interface EventEntry {
  time: number;
  name: string;
  duration: number;
  payload: string;
}

/** A tool for a clip of the first character: `trim` to `start` and `end`; `loop_seam` over `seconds`; `in_place`, `mirror`, `reverse`, `remove`; `rename` to `name`, `duplicate` under `name`; `events` puts `events` in place of those there are; `contacts` adds events where feet come down and leave. */
export interface EditClip {
  type: "edit";
  clip: string;
  tool: "contacts" | "duplicate" | "events" | "in_place" | "loop_seam" | "mirror" | "remove" | "rename" | "reverse" | "trim";
  start?: number | null;
  end?: number | null;
  seconds?: number | null;
  name?: string | null;
  events?: EventEntry[] | null;
}

/** Takes the last edit back. */
export interface Undo {
  type: "undo";
}

/** Does what was taken back once more. */
export interface Redo {
  type: "redo";
}

/** Opens a built-in character by its name. */
export interface Open {
  type: "open";
  sample: string;
  slot?: number;
}

/** What to do with uploaded motion that the page was asked about: put its clips on the character that is open, by the bone map; the same with the motion's own skeleton `beside` it; open it by itself, or drop it. */
export interface Settle {
  type: "settle";
  offer: number;
  how: "add" | "beside" | "drop" | "open";
  slot?: number;
}

/** Ends the comparison: removes the second character. */
export interface CloseSlot {
  type: "close";
  slot: number;
}

/** A frame, and all before it, has been taken. */
export interface Ack {
  type: "ack";
  frame: number;
}

/** A state that was entered: which machine, which state, when (seconds of the session's own time). */
export interface HistoryEntry {
  machine: string;
  state: string;
  at: number;
}

/** A joint that is held, and where, in the space of each instance: its number, x, y and z. Instances that are not among them have it where the pose has it; only the first that hold any are told. */
export interface EffectorState {
  joint: number;
  places: [number, number, number, number][];
}

/** A chain that swings: its name, how many joints it has, and how it is set. */
export interface SpringState {
  name: string;
  joints: number;
  stiffness: number;
  drag: number;
  gravity: number;
  radius: number;
  limit: number;
}

/** What the session is set to. Sent whole when something in it changes; time as it passes is in the frames. `rate` is the clip's frames per second; `range` the part of it that is played, None for the whole. `level` is the one that is forced, -1 for none. `driven`: a Python program updates the animator itself, so playback is not the page's to control; `driver` says which. `graph`: there is a graph to run. `undo` and `redo`: what these would do, in words. `max_count`: how many of this character there may be. `second_clip`: what the character in slot 1 plays. `playable`: it is a controller's, and goes where `Steer` says. `effectors`: the joints of the first character that are held; `springs`: its chains that swing, `wind`: what they feel. */
export interface State {
  type: "state";
  mode: "clip" | "graph";
  clip: string | null;
  time: number;
  duration: number;
  rate: number;
  playing: boolean;
  speed: number;
  loop: boolean;
  count: number;
  spread: boolean;
  travel: boolean;
  parameters: Record<string, boolean | number | [number, number, number]>;
  selected: number;
  slots: number[];
  driven: boolean;
  level: number;
  range: [number, number] | null;
  driver: string | null;
  graph: boolean;
  undo: string | null;
  redo: string | null;
  max_count: number;
  second_clip: string | null;
  playable: boolean;
  effectors: EffectorState[];
  springs: SpringState[];
  wind: [number, number, number];
}

/** Where an instance is in one machine: `progress` from 0 to 1 while it goes there from `source`. */
export interface MachineState {
  machine: string;
  state: string;
  source: string | null;
  progress: number;
}

/** What a running graph does, for the instance `instance`: its machines, how much each node shows (in the order of `GraphInfo.nodes`), the values parameters have reached, the states entered since the last such message. `time` is the session's own. */
export interface Live {
  type: "live";
  instance: number;
  time: number;
  machines: MachineState[];
  weights: number[];
  values: Record<string, number>;
  entered: HistoryEntry[];
}

/** What the last second cost. `characters_per_s`: how many instances were sent anew; `wire_error`: how far compact frames may put a vertex off, in metres, 0 where frames are not compact. */
export interface Stats {
  type: "stats";
  ms_per_update: number;
  us_per_character: number;
  kb_per_s: number;
  fps: number;
  clients: number;
  characters_per_s: number;
  wire_error: number;
}

/** Something that takes a while; `fraction` from 0 to 1, at 1 it is done. -1: nobody knows. */
export interface Progress {
  type: "progress";
  text: string;
  fraction: number;
}

/** Something could not be done, in words. */
export interface Failure {
  type: "error";
  message: string;
}

/** What differs between a file and the same file exported again. `vertices_moved`, and the `largest` way in metres, where the meshes are `comparable`: the same numbers of vertices (`/api/difference/{slot}`). */
export interface Difference {
  joints_added: string[];
  joints_removed: string[];
  joints_moved: string[];
  clips_added: string[];
  clips_removed: string[];
  clips_changed: string[];
  meshes_changed: string[];
  vertices_moved: number;
  largest: number;
  comparable: boolean;
}

/** The character of a slot is another one now: fetch it again. `present` is false where there is none. `kept`: it is still the same one (exported again, a clip edited, motion added), so camera and choices stay; `meshes` is false where its buffers are the same too. */
export interface Changed {
  type: "changed";
  slot: number;
  present: boolean;
  kept: boolean;
  meshes: boolean;
  difference: Difference | null;
}

/** A built-in character. */
export interface SampleInfo {
  name: string;
  description: string;
}

/** The first message: the protocol's version, the session's state, recent history, and what can be opened. `page` is what the page is known by: it says so in its requests (`PAGE_HEADER`), so that it waits for itself and others do not wait for it. */
export interface Hello {
  type: "hello";
  version: number;
  server: string;
  page: string;
  state: State;
  history: HistoryEntry[];
  samples: SampleInfo[];
  max_count: number;
  max_upload_bytes: number;
}

/** A joint: its parent (-1 for a root) and rest transform relative to it. A `helper` belongs to the tool that wrote the file (cameras, lights): it is no part of the body and is not drawn. */
export interface JointInfo {
  name: string;
  parent: number;
  translation: [number, number, number];
  rotation: [number, number, number, number];
  scale: [number, number, number];
  helper: boolean;
}

/** A named place on a joint. */
export interface SocketInfo {
  name: string;
  joint: number;
  translation: [number, number, number];
  rotation: [number, number, number, number];
  scale: [number, number, number];
}

/** How an image is looked up; `image` is the number in `/api/image/{slot}/{image}`. */
export interface TextureInfo {
  image: number;
  uv_set: number;
  wrap_u: "clamp" | "mirror" | "repeat";
  wrap_v: "clamp" | "mirror" | "repeat";
  mag_filter: "linear" | "nearest" | null;
  min_filter: string | null;
  offset: [number, number];
  rotation: number;
  scale: [number, number];
}

/** A metallic-roughness material as in glTF; colours are linear. */
export interface MaterialInfo {
  name: string;
  base_color: [number, number, number, number];
  metallic: number;
  roughness: number;
  emissive: [number, number, number];
  base_color_texture: TextureInfo | null;
  metallic_roughness_texture: TextureInfo | null;
  normal_texture: TextureInfo | null;
  normal_scale: number;
  occlusion_texture: TextureInfo | null;
  occlusion_strength: number;
  emissive_texture: TextureInfo | null;
  alpha_mode: "blend" | "mask" | "opaque";
  alpha_cutoff: number;
  double_sided: boolean;
  unlit: boolean;
}

/** An array in the blob of `/api/character/{slot}/buffers`: byte offset (a multiple of 16), type and shape. */
export interface BufferInfo {
  offset: number;
  dtype: "float32" | "uint16" | "uint32" | "uint8";
  shape: number[];
}

/** A run of triangles with one material: `first` and `count` in triangles; `material` -1 for none. */
export interface SectionInfo {
  first: number;
  count: number;
  material: number;
  name: string;
}

/** A morph target; `weight` is its place among the M morph weights of a frame. */
export interface MorphTargetInfo {
  name: string;
  weight: number;
}

/** A mesh and where its arrays lie. `buffers` always has `positions (V, 3)`, `triangles (F, 3)`, `joints (V, K)` (palette entries) and `weights (V, K)`, strongest first and padded with zeros; and where the mesh has them `normals (V, 3)`, `tangents (V, 4)`, `uv0`, `uv1`... `(V, 2)`, `colors (V, 4)`, `dual_quaternion_weights (V,)`, `morph_positions`, `morph_normals` and `morph_tangents` `(T, V, 3)`. */
export interface MeshInfo {
  name: string;
  vertices: number;
  triangles: number;
  influences: number;
  sections: SectionInfo[];
  morph_targets: MorphTargetInfo[];
  skinning: "blended" | "dual_quaternion" | "linear";
  visible: boolean;
  buffers: Record<string, BufferInfo>;
}

/** Something that happens at a moment of a clip, or for `duration` seconds from then on. */
export interface EventInfo {
  time: number;
  name: string;
  duration: number;
  payload: string;
}

/** A clip; `rate` is its frames per second, for stepping; `joints` are those it moves. `label` is its name without what the names of all clips begin with. */
export interface ClipInfo {
  name: string;
  label: string;
  duration: number;
  rate: number;
  events: EventInfo[];
  additive: boolean;
  joints: number[];
}

/** What the importer had to say. */
export interface ReportLine {
  kind: "dropped" | "info" | "repaired" | "warning";
  place: string;
  message: string;
}

/** A parameter; `range` is what a slider should span. */
export interface ParameterInfo {
  name: string;
  type: "bool" | "float" | "trigger" | "vector";
  default: boolean | number | [number, number, number];
  range: [number, number];
  smoothing: number;
}

/** A node of the graph by its `path`; `parent` is None for the root, `role` says what it is to its parent. `details` are its own settings in words; `parameters` the ones it reads. */
export interface NodeInfo {
  path: string;
  kind: string;
  title: string;
  parent: string | null;
  role: string;
  clip: string | null;
  details: Record<string, string>;
  parameters: string[];
}

/** A transition of a machine; `source` may be `*`. */
export interface TransitionInfo {
  source: string;
  to: string;
  when: string[];
  seconds: number;
  blend: "fade" | "inertia";
}

/** A state machine: its node's path, its states and where each one's node is. */
export interface MachineInfo {
  path: string;
  states: string[];
  nodes: string[];
  initial: string;
  transitions: TransitionInfo[];
}

/** A point of a blend space (`y` is 0 on a line) and the path of the node it shows. */
export interface SpacePoint {
  x: number;
  y: number;
  label: string;
  node: string;
}

/** A blend space: parameters of its axes (None: a constant), points, triangles between them. */
export interface BlendSpaceInfo {
  path: string;
  x: string | null;
  y: string | null;
  points: SpacePoint[];
  triangles: [number, number, number][];
}

/** How much of each joint a layer takes, `(J,)`. */
export interface MaskInfo {
  path: string;
  weights: number[];
}

/** A graph, laid out for drawing. */
export interface GraphInfo {
  name: string;
  parameters: ParameterInfo[];
  nodes: NodeInfo[];
  machines: MachineInfo[];
  blend_spaces: BlendSpaceInfo[];
  masks: MaskInfo[];
}

/** A level of detail after the first: what is drawn, and its figures. An instance at this level is sent the matrices of the first `entries` entries of the palette; `stand_in (P,)` among `buffers` says which of those to take for each. `error` and `mean_error` are in metres, None where nobody measured. */
export interface LevelInfo {
  meshes: MeshInfo[];
  joints: number;
  entries: number;
  vertices: number;
  triangles: number;
  influences: number;
  error: number | null;
  mean_error: number | null;
  buffers: Record<string, BufferInfo>;
}

/** Something of the file that is not shown: a mesh or a joint, by its number there, and `why`. */
export interface HiddenInfo {
  kind: "joint" | "mesh";
  name: string;
  index: number;
  why: string;
}

/** A view that can be asked for (`SetViews`): what it shows, what may (`[COUNT]`) or must (`JOINT`) follow its name, and the key that switches it, "" for none. */
export interface ViewInfo {
  name: string;
  meaning: string;
  argument: string;
  key: string;
}

/** A constraint of the character: what it does, to which joints (or which channel), what it looks at, and its weight. */
export interface ConstraintInfo {
  kind: string;
  name: string;
  moves: string[];
  reads: string[];
  weight: string;
}

/** `/api/character/{slot}`: everything about a character but its arrays. `bounds` are those of what is shown; `facing` is how far it looks away from +Z, towards +X, in radians (0 where that is not known): the camera begins in front of it. Where there is no graph, `graph_offer` says what its clips would make (`ReadyGraph`), None where they make none, and `graph_hint` how to get one. `buffers` of the character itself: `inverse_bind (P, 3, 4)`, `palette_joints (P,)`, and `bind_positions (P, 3)`, the point a palette entry's scale is applied about in dual-quaternion skinning. The model-space matrix of a joint is its palette matrix times the inverse of its `inverse_bind`; the first J palette entries are the J joints. `views` can be drawn of it. `handles` are the joints that have one where joints are held (`SetEffector`): hips, head, hands and feet, where they are known. */
export interface CharacterInfo {
  name: string;
  slot: number;
  joints: JointInfo[];
  sockets: SocketInfo[];
  morphs: string[];
  materials: MaterialInfo[];
  images: number;
  meshes: MeshInfo[];
  clips: ClipInfo[];
  constraints: ConstraintInfo[];
  report: ReportLine[];
  palette: number;
  morph_weights: number;
  vertices: number;
  triangles: number;
  bounds: [[number, number, number], [number, number, number]];
  facing: number;
  buffers: Record<string, BufferInfo>;
  buffer_bytes: number;
  levels: LevelInfo[];
  graph: GraphInfo | null;
  graph_offer: string | null;
  graph_hint: string;
  hidden: HiddenInfo[];
  views: ViewInfo[];
  handles: number[];
}

/** Words at a place of the world. The array `label_at (L, 5)` has, row by row, where that is, a rank and a length: where there is no room for all, those of higher rank are kept; where the length, in metres, is seen smaller than letters are, there is none. Colours are sRGB, 0 to 1. */
export interface LabelInfo {
  text: string;
  color: [number, number, number];
}

/** What colours mean: a bar through the colours of `ramp`, evenly spaced, from `low` to `high`, or named `entries`. */
export interface LegendInfo {
  title: string;
  low: string;
  high: string;
  ramp: [number, number, number][];
  entries: [string, [number, number, number]][];
}

/** Lines on the surface of `instances` at a level, the k-th of the text: from vertex to vertex (`surface{k}_start` and `surface{k}_end (L,)`), or `length` metres `along` the "normal" of their start; vertices are numbered through all meshes. `surface{k}_color` is `(L, 4)`, or `(1, 4)` where all have one. */
export interface SurfaceLinesInfo {
  level: number;
  along: string;
  length: number;
  width: number;
  hidden: number;
  instances: number[];
}

/** How the surface of a level is coloured, the k-th of the text: "vertices" by `paint{k} (V, 3)`, `(1, 3)` where all have one, or `(N, V, 3)` for the `instances` named; "checker" by texture coordinates; "normals" by where it faces. `strength` mixes it with the material's colour, `lit` lets light fall on it. */
export interface PaintInfo {
  level: number;
  mode: "checker" | "normals" | "vertices";
  strength: number;
  lit: boolean;
  instances: number[];
}

/** What views draw over an actor. Lines of the world are the arrays `line_start` and `line_end (L, 3)`, `line_color (L, 4)`, `line_width (L, 2)` in pixels at a picture 720 high, `line_hidden (L,)`: how much of their opacity is left behind a surface; a line of no length is a round point. `ghosts` is the number of rows in `ghost_matrices (G, P, 3, 4)`, `ghost_morphs (G, M)`, `ghost_placements (G, 3, 4)` and `ghost_colors (G, 4)`. */
export interface DrawingText {
  labels: LabelInfo[];
  legends: LegendInfo[];
  notes: string[];
  surface: SurfaceLinesInfo[];
  paints: PaintInfo[];
  ghosts: number;
}

/** The text of a binary message with a drawing: what has changed. `text` None, and arrays that are not named, are as they were. */
export interface DrawingInfo {
  text: DrawingText | null;
  arrays: Record<string, BufferInfo>;
}

/** `/api/curves?slot=&clip=&joint=`: one joint's local transform over a clip. Euler angles in degrees, XYZ order. */
export interface Curves {
  clip: string;
  joint: number;
  times: number[];
  translation: [number, number, number][];
  rotation: [number, number, number, number][];
  euler: [number, number, number][];
  scale: [number, number, number][];
}

/** `/api/bounds?slot=&clip=`: the box that what is shown stays in over a clip (None: the rest pose). */
export interface Bounds {
  clip: string | null;
  low: [number, number, number];
  high: [number, number, number];
}

/** When a joint has keys, in seconds. */
export interface JointKeys {
  joint: number;
  translation: number[];
  rotation: number[];
  scale: number[];
}

/** `/api/keys?slot=&clip=&joints=1,2,3`: the keys of joints, of all that have some where none are named; `morphs` has those of all morph channels together. */
export interface Keys {
  clip: string;
  joints: JointKeys[];
  morphs: number[];
}

/** What a rule has to say, and where: a joint, a mesh with the first of its vertices, a clip at a time; -1 or None where that is nowhere. */
export interface CheckLine {
  severity: "error" | "info" | "warning";
  rule: string;
  place: string;
  message: string;
  remedy: string;
  joint: number;
  mesh: number;
  vertices: number[];
  clip: string | null;
  time: number | null;
}

/** `/api/check?slot=`: what `marrow check` says of the character. */
export interface CheckAnswer {
  lines: CheckLine[];
}

/** A transform relative to the parent; `euler` in degrees, XYZ order. */
export interface Transform {
  translation: [number, number, number];
  rotation: [number, number, number, number];
  euler: [number, number, number];
  scale: [number, number, number];
}

/** A joint before and after a node of the graph that lays something over its base. */
export interface LayerNumbers {
  node: string;
  title: string;
  before: Transform;
  after: Transform;
}

/** `/api/joint?slot=&joint=&instance=`: a joint now: relative to its parent, in model space (3x4, row by row), and before and after each layer of the graph. */
export interface JointNumbers {
  joint: number;
  local: Transform;
  model: number[];
  layers: LayerNumbers[];
}

/** A chain of joints of the motion and of the character that are one part of the body; `why` says what is not `sure`. */
export interface MapRow {
  chain: string;
  source: string[];
  target: string[];
  sure: boolean;
  why: string;
}

/** `/api/map?offer=`: how motion goes onto the character. `exact`: both have the same skeleton, so its keys are copied; `saved`: somebody made this map before; `profile`: the character's retarget profile, as its file has it (JSON). */
export interface MapInfo {
  offer: number;
  rows: MapRow[];
  notes: string[];
  source_joints: string[];
  target_joints: string[];
  source_unmapped: string[];
  target_unmapped: string[];
  exact: boolean;
  saved: boolean;
  profile: string;
}

/** `POST /api/map?offer=&how=` and `POST /api/profile?offer=&how=`: the map as it is now, the clips that were made by it, and a sentence about each. */
export interface MapAnswer {
  error: string | null;
  map: MapInfo | null;
  clips: string[];
  quality: string[];
}

/** A file of an upload: its name, with the folders it was dropped with, and its size in bytes. */
export interface UploadFile {
  name: string;
  size: number;
}

/** What a body of the type `PARCEL_TYPE` begins with, after its length: the files, in the order they come in. */
export interface UploadManifest {
  files: UploadFile[];
}

/** A file that is nothing but motion for the `character` that is open: its `clips` may be added (`Settle`), as they are where both have the `same` skeleton, else by a bone map. */
export interface UploadOffer {
  number: number;
  character: string;
  clips: string[];
  kind: "retarget" | "same";
  map: MapInfo | null;
}

/** `POST /api/upload?name=&slot=`: what became of the file; `error` is None when it is shown now, or when there is an `offer` to settle. */
export interface UploadAnswer {
  name: string;
  slot: number;
  error: string | null;
  offer: UploadOffer | null;
  kind: "character" | "graph" | "map" | "motion" | "profile";
}

/** An array of the page: where it lies there (`BufferInfo`), and how it is told. "floats": as they are. "whole": differences down the numbers, `order` times. "grid": `low + step * whole`. "directions": unit vectors of 12 bits a number on an octahedron, with the sign of `w` behind it where rows have 4. "joints" and "weights": column by column; rows of weights are shares of their sum. "rows": the rows `index` (an array of the page) of the array `of`; of three axes, those of the second. */
export interface PackedArray {
  place: BufferInfo;
  kind: "directions" | "floats" | "grid" | "joints" | "rows" | "weights" | "whole";
  order: number;
  low: number[];
  step: number;
  of: number;
  index: number;
}

/** The clips: how many frames each has; J joints and M morphs of a row; the steps of rotations and scales by joint, of translations, of morph weights; the `rest` row. `clips_at` and `graph_at` are the bytes of the baked characters where rows belong. `error`: how far joints may be off by this, in metres. */
export interface PageMotion {
  frames: number[];
  joints: number;
  morphs: number;
  steps: number[];
  step: number;
  morph_step: number;
  rest: number[];
  clips_at: number;
  graph_at: number;
  error: number;
}

/** What turns a morph target on: its channel, and the weight there at which it is fully on; `mesh` is whose it is. */
export interface PageMorphTarget {
  mesh: number;
  channel: number;
  full_weight: number;
}

/** How levels of detail are chosen: `how` 0 by errors in metres, 1 by one over screen sizes; the thresholds of levels 1, 2..., by which factor each has to be passed, and the ball (x, y, z, radius) that a character stays in. */
export interface PageLevels {
  how: number;
  thresholds: number[];
  slacks: number[];
  ball: [number, number, number, number];
}

/** The way of a clip over the floor: the joint that goes it, whether turning counts, where it begins and the whole way, as matrices of three rows of four; and the joint's inverse bind. */
export interface PageWay {
  joint: number;
  turns: boolean;
  begin: number[];
  whole: number[];
  inverse_bind: number[];
}

/** A page's own data. `travels`: the graph tells how far characters go; `spacing`: metres between those of a crowd; `images`: their types. `bones`: the colour of each joint in the view `skeleton`, None for those that are not drawn. `position_error`: how far vertices may be off by how they are told, in metres. */
export interface PageInfo {
  hello: Hello;
  character: CharacterInfo;
  arrays: PackedArray[];
  motion: PageMotion;
  levels: PageLevels;
  targets: PageMorphTarget[];
  ways: Record<string, PageWay>;
  travels: boolean;
  spacing: number;
  images: string[];
  bones: ([number, number, number] | null)[];
  position_error: number;
}

export type ClientMessage =
  Play | PickClip | Seek | Step | SetSpeed | SetLoop | SetMode | SetParameter | Fire | Steer | SetCount | Spread | SetTravel | Select | Look | SetViews | SetEffector | FreeEffector | ResetEffectors | SetSpring | SetWind | ResetSprings | SetLevel | Accept | Advance | SetRange | ReadyGraph | EditClip | Undo | Redo | Open | Settle | CloseSlot | Ack;

export type ServerMessage =
  Hello | State | Live | Stats | Progress | Failure | Changed;
