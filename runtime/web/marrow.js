/**
 * marrow for the web: plays characters that `marrow bake-runtime` has baked, to the same bits as Python.
 *
 *     import { createEngine } from "marrow-runtime";
 *     const engine = await createEngine();
 *     const hero = engine.load(await (await fetch("hero.mrt")).arrayBuffer());
 *     const crowd = hero.create(100);
 *     crowd.set("speed", 2);
 *     crowd.update(1 / 60);
 *     crowd.matrices;                      // Float32Array, 100 x hero.palette.size x 12
 *
 * It works in a page, a worker and node. Views of results are valid until the next call that changes the crowd: take them anew
 * each frame.
 */

const LISTS = [
  "character", "graph", "joints", "morphs", "clips", "parameters", "machines", "machineNames", "states", "slots", "montages",
  "sections", "events", "curves", "nodes", "saved", "meshes", "overrides", "springs",
];
const SETTINGS = ["stiffness", "drag", "gravity", "radius", "limit"];
const SIZES = ["joints", "morphs", "palette", "vertices", "hasGraph", "poseRow", "poseJoints", "morphRow"];
const TYPES = ["float", "bool", "trigger", "vector", "curve"];
const KINDS = ["event", "state_entered", "state_left", "transition_started", "transition_ended", "slot_ended", "event_ended", "event_inside"];
const EVENT_BYTES = 32;
/** Calls that use the poses of this moment, and with them the ground. */
const MAKE_POSES = new Set(["mrw_update", "mrw_play", "mrw_save_pose", "mrw_skin", "mrw_add", "mrw_remove", "mrw_reset", "mrw_snapshot"]);

/** An error in the engine's words. */
export class MarrowError extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = "MarrowError";
  }
}

/** @param {string} name */
async function besideThis(name) {
  const url = new URL(`./${name}`, import.meta.url);
  if (url.protocol === "file:" && typeof process !== "undefined" && process.versions?.node) {
    const { readFile } = await import(/* @vite-ignore */ "node:fs/promises");
    return readFile(url);
  }
  const answer = await fetch(url);
  if (!answer.ok) throw new MarrowError(`${url} cannot be fetched: ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}

/** @param {any} source @param {string} name */
async function bytesOf(source, name) {
  let given = await (typeof source === "function" ? source() : source);
  if (given === undefined) return besideThis(name);
  if (typeof given === "string" || given instanceof URL) given = await fetch(given);
  if (typeof Response !== "undefined" && given instanceof Response) {
    if (!given.ok) throw new MarrowError(`${given.url} cannot be fetched: ${given.status}`);
    given = await given.arrayBuffer();
  }
  return given;
}

/** The module with relaxed SIMD, where the engine has it and its multiply-adds are rounded once; null where not. */
async function relaxedInstance(source) {
  const bytes = await bytesOf(source, "marrow.wasm");
  if (!(bytes instanceof WebAssembly.Module) && !WebAssembly.validate(bytes)) return null;
  const module = bytes instanceof WebAssembly.Module ? bytes : await WebAssembly.compile(bytes);
  const instance = await WebAssembly.instantiate(module, {});
  return instance.exports.mrw_is_fused() ? instance : null;
}

async function strictInstance(source) {
  const bytes = await bytesOf(source, "marrow-strict.wasm");
  const module = bytes instanceof WebAssembly.Module ? bytes : await WebAssembly.compile(bytes);
  return WebAssembly.instantiate(module, {});
}

export async function createEngine(options = {}) {
  let instance = null;
  if (!options.strict) instance = await relaxedInstance(options.wasm);
  const strict = instance === null;
  if (instance === null) instance = await strictInstance(options.strictWasm);
  return new Engine(instance.exports, strict);
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class Engine {
  constructor(exports, strict) {
    this.exports = exports;
    this.memory = exports.memory;
    this.strict = strict;
  }

  load(bytes) {
    const data = bytes instanceof Uint8Array ? bytes : ArrayBuffer.isView(bytes) ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength) : new Uint8Array(bytes);
    const at = this._lend(data);
    const pointer = this.exports.mrw_load(at, BigInt(data.length));
    this.exports.mrw_release(at);
    if (!pointer) throw this._error();
    return new Character(this, pointer);
  }

  /** Ground of heights, row by row: row r, column c is at (x + c * spacing, z + r * spacing). */
  heightField(heights, rows, columns, spacing, [x, z] = [0, 0]) {
    const numbers = Float64Array.from(heights);
    if (numbers.length !== rows * columns) throw new MarrowError(`heightField: expected ${rows * columns} heights, got ${numbers.length}`);
    return new Ground(this, this._with([numbers], (at) => this.exports.mrw_ground_field(at, BigInt(rows), BigInt(columns), spacing, x, z)));
  }

  /** Ground of triangles: three numbers for each place, three places for each triangle. */
  groundMesh(positions, triangles) {
    const places = Float64Array.from(positions);
    const corners = Int32Array.from(triangles);
    if (places.length % 3 || corners.length % 3) throw new MarrowError("groundMesh: expected three numbers for each place, and three places for each triangle");
    const pointer = this._with([places, corners], (p, t) => this.exports.mrw_ground_mesh(p, BigInt(places.length / 3), t, BigInt(corners.length / 3)));
    return new Ground(this, pointer);
  }

  _error() {
    return new MarrowError(this._text(this.exports.mrw_error()));
  }

  _text(at) {
    const memory = new Uint8Array(this.memory.buffer);
    let end = at;
    while (memory[end]) end++;
    return decoder.decode(memory.slice(at, end));
  }

  /** Memory of the module with these bytes in it. */
  _lend(data) {
    const at = this._room(data.byteLength);
    new Uint8Array(this.memory.buffer).set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at);
    return at;
  }

  _room(size) {
    const at = this.exports.mrw_alloc(BigInt(size));
    if (!at) throw this._error();
    return at;
  }

  /** Calls with arrays lent to the module, which are given back whatever happens. */
  _with(arrays, call) {
    const lent = arrays.map((array) => (array === null ? 0 : this._lend(array)));
    try {
      return call(...lent);
    } finally {
      for (const at of lent) if (at) this.exports.mrw_release(at);
    }
  }
}

/** Ground that crowds stand on; disposed of after them. */
export class Ground {
  constructor(engine, pointer) {
    if (!pointer) throw engine._error();
    this.engine = engine;
    this._pointer = pointer;
  }

  dispose() {
    if (this._pointer) this.engine.exports.mrw_ground_free(this._pointer);
    this._pointer = 0;
  }
}

export class Character {
  constructor(engine, pointer) {
    this.engine = engine;
    this._pointer = pointer;
    const x = engine.exports;
    const names = Object.fromEntries(LISTS.map((list, k) => [list, this._names(k)]));
    const sizes = Object.fromEntries(SIZES.map((size, k) => [size, Number(x.mrw_size(pointer, k))]));
    this._sizes = sizes;
    this.name = names.character[0] ?? "";
    this.graph = sizes.hasGraph ? (names.graph[0] ?? "") : null;
    this.joints = names.joints;
    this.morphs = names.morphs;
    this.events = names.events;
    this.curves = names.curves;
    this.nodes = names.nodes;
    this.slots = sizes.hasGraph ? names.slots : [];
    this.savedPoses = names.saved;
    this.meshes = names.meshes;
    this.overrides = names.overrides.map((name, k) => ({ name, joints: Number(x.mrw_override_joints(pointer, BigInt(k))) }));
    this.springs = names.springs;
    this.vertexCount = sizes.vertices;
    this.parents = this._array(Int32Array, x.mrw_parents(pointer), sizes.joints);
    this.palette = {
      size: sizes.palette,
      joints: this._array(Int32Array, x.mrw_palette_joints(pointer), sizes.palette),
      inverseBind: this._array(Float32Array, x.mrw_inverse_bind(pointer), sizes.palette * 12),
    };
    this.clips = names.clips.slice(1).map((name, k) => ({
      name,
      duration: x.mrw_duration(pointer, BigInt(k + 1)),
      additive: x.mrw_is_additive(pointer, BigInt(k + 1)) !== 0,
    }));
    this.parameters = this._parameters(names.parameters);
    this.machines = names.machines.map((path, k) => {
      const [first, count] = this._pair((at) => x.mrw_machine_states(pointer, BigInt(k), at));
      return { path, name: names.machineNames[k] || path, states: names.states.slice(first, first + count) };
    });
    let section = 0;
    this.montages = names.montages.map((name, k) => {
      const at = engine._room(24);
      const count = Number(x.mrw_montage_info(pointer, BigInt(k), at, at + 8, at + 16));
      const [, slot, clip] = new BigInt64Array(engine.memory.buffer, at, 3);
      x.mrw_release(at);
      section += count;
      return { name, slot: names.slots[Number(slot)], clip: names.clips[Number(clip)], sections: names.sections.slice(section - count, section) };
    });
  }

  create(count = 1) {
    const pointer = this.engine.exports.mrw_create(this._pointer, BigInt(count));
    if (!pointer) throw this.engine._error();
    return new Crowd(this, pointer);
  }

  dispose() {
    if (this._pointer) this.engine.exports.mrw_free(this._pointer);
    this._pointer = 0;
  }

  _names(list) {
    const { exports } = this.engine;
    const count = Number(exports.mrw_count(this._pointer, list));
    return Array.from({ length: count }, (_, k) => this.engine._text(exports.mrw_name(this._pointer, list, BigInt(k))));
  }

  _array(Kind, at, length) {
    return new Kind(this.engine.memory.buffer, at, length).slice();
  }

  _pair(call) {
    const at = this.engine._room(8);
    const count = Number(call(at));
    const first = Number(new BigInt64Array(this.engine.memory.buffer, at, 1)[0]);
    this.engine.exports.mrw_release(at);
    return [first, count];
  }

  _parameters(names) {
    const { engine } = this;
    const at = engine._room(64);
    const found = names.map((name, k) => {
      engine.exports.mrw_parameter_info(this._pointer, BigInt(k), at);
      const [type, width] = new Int32Array(engine.memory.buffer, at, 2);
      const [low, high, x, y, z, smoothing] = new Float64Array(engine.memory.buffer, at + 8, 6);
      const kind = TYPES[type];
      const begin = kind === "vector" ? [x, y, z] : kind === "bool" || kind === "trigger" ? x !== 0 : x;
      return { name, type: kind, width, default: begin, range: Number.isFinite(low) ? [low, high] : null, smoothing };
    });
    engine.exports.mrw_release(at);
    return found;
  }
}

/** Clips in a slot of the graph. */
export class Slot {
  constructor(crowd, name, index) {
    this.crowd = crowd;
    this.name = name;
    this._index = index;
  }

  play(clip, { fade = 0.15, fadeOut = 0.2, speed = 1, loop = false, hold = false, start = -1, queue = false, instances = null } = {}) {
    const { crowd } = this;
    const how = loop ? 1 : hold ? 2 : 0;
    return crowd._chosen(instances, (at, count) =>
      crowd._checked("mrw_slot_play", BigInt(this._index), crowd._clip(clip), fade, fadeOut, speed, how, start, queue ? 1 : 0, at, count));
  }

  stop({ fade = 0.2, instances = null } = {}) {
    this.crowd._chosen(instances, (at, count) => this.crowd._checked("mrw_slot_stop", BigInt(this._index), fade, at, count));
  }

  /** What plays: the clip's name (null: nothing) and its time, for each instance. */
  get playing() {
    return this.crowd._playing("mrw_slot_playing", BigInt(this._index));
  }
}

/** A clip in sections, played in its slot. */
export class Montage {
  constructor(crowd, index) {
    this.crowd = crowd;
    this._index = index;
    const facts = crowd.character.montages[index];
    this.name = facts.name;
    this.sections = facts.sections;
  }

  _section(name) {
    if (name === null || name === undefined) return -1n;
    const index = this.sections.indexOf(name);
    if (index < 0) throw new MarrowError(`montage ${JSON.stringify(this.name)} has no section ${JSON.stringify(name)}`);
    return BigInt(index);
  }

  play(section = null, { fade = -1, fadeOut = -1, speed = -1, queue = false, instances = null } = {}) {
    return this.crowd._chosen(instances, (at, count) =>
      this.crowd._checked("mrw_montage_play", BigInt(this._index), this._section(section), fade, fadeOut, speed, queue ? 1 : 0, at, count));
  }

  stop({ fade = 0.2, instances = null } = {}) {
    this.crowd._chosen(instances, (at, count) => this.crowd._checked("mrw_montage_stop", BigInt(this._index), fade, at, count));
  }

  jumpTo(section, { instances = null } = {}) {
    return this.crowd._chosen(instances, (at, count) => this.crowd._checked("mrw_montage_jump", BigInt(this._index), this._section(section), at, count));
  }

  setNext(section, following, { instances = null } = {}) {
    this.crowd._chosen(instances, (at, count) =>
      this.crowd._checked("mrw_montage_next", BigInt(this._index), this._section(section), this._section(following), at, count));
  }

  /** The section each instance is in, null where it does not play. */
  get section() {
    const found = this.crowd._out(BigInt64Array, this.crowd.count, (at) => this.crowd._checked("mrw_montage_sections", BigInt(this._index), at));
    return Array.from(found, (k) => (k < 0n ? null : this.sections[Number(k)]));
  }
}

/** A chain that swings; its settings count for all instances at once. */
export class SpringChain {
  constructor(crowd, name, index) {
    this.crowd = crowd;
    this.name = name;
    this._index = BigInt(index);
  }

  set(settings) {
    for (const [name, value] of Object.entries(settings)) {
      const k = SETTINGS.indexOf(name);
      if (k < 0 || typeof value !== "number") throw new MarrowError(`springs: expected numbers for ${SETTINGS.join(", ")}, got ${JSON.stringify(name)}`);
      this.crowd._checked("mrw_springs_set", this._index, k, value);
    }
  }
}

SETTINGS.forEach((name, k) =>
  Object.defineProperty(SpringChain.prototype, name, {
    get() {
      return this.crowd._out(Float64Array, 1, (at) => this.crowd._checked("mrw_springs_get", this._index, k, at))[0];
    },
    set(value) {
      this.set({ [name]: value });
    },
  }));

export class Crowd {
  constructor(character, pointer) {
    this.character = character;
    this.engine = character.engine;
    this._pointer = pointer;
    this._asks = null;
    this._skinRoom = { at: 0, size: 0 };
    this._clips = new Map(character.clips.map((clip, k) => [clip.name, BigInt(k + 1)]));
    this._parameterIndex = new Map(character.parameters.map((parameter, k) => [parameter.name, k]));
  }

  get count() {
    return Number(this.engine.exports.mrw_instances(this._pointer));
  }

  // -- calls
  _checked(name, ...given) {
    if (!this._pointer) throw new MarrowError("this crowd was disposed of");
    if (this._asks && MAKE_POSES.has(name)) this._answer();
    const found = Number(this.engine.exports[name](this._pointer, ...given));
    if (found < 0) throw this.engine._error();
    return found;
  }

  /** Asks the function that knows the ground whatever the last update has to know. */
  _answer() {
    const { engine } = this;
    const { exports } = engine;
    const at = engine._room(16);
    try {
      for (;;) {
        const count = Number(exports.mrw_ground_asked(this._pointer, at, at + 8));
        if (count < 0) throw engine._error();
        if (count === 0) return;
        const points = new Float64Array(engine.memory.buffer, new Uint32Array(engine.memory.buffer, at, 1)[0], 3 * count).slice();
        const heights = Float64Array.from(this._asks(points, new Float64Array(engine.memory.buffer, at + 8, 1)[0]));
        const done = engine._with([heights], (h) => exports.mrw_ground_answer(this._pointer, h, BigInt(heights.length)));
        if (done < 0) throw engine._error();
      }
    } finally {
      exports.mrw_release(at);
    }
  }

  _chosen(instances, call) {
    if (instances === null || instances === undefined) return call(0, 0n);
    const list = typeof instances === "number" ? [instances] : instances;
    const numbers = BigInt64Array.from(list, (n) => BigInt(n));
    return this.engine._with([numbers], (at) => call(at, BigInt(numbers.length)));
  }

  _out(Kind, length, call) {
    const at = this.engine._room(Math.max(length, 1) * Kind.BYTES_PER_ELEMENT);
    try {
      call(at);
      return new Kind(this.engine.memory.buffer, at, length).slice();
    } finally {
      this.engine.exports.mrw_release(at);
    }
  }

  _clip(clip) {
    const index = typeof clip === "number" ? BigInt(clip + 1) : this._clips.get(clip);
    if (index === undefined || index > BigInt(this._clips.size)) throw new MarrowError(`there is no clip ${JSON.stringify(clip)}`);
    return index;
  }

  _parameter(name) {
    const index = this._parameterIndex.get(name);
    if (index === undefined) throw new MarrowError(`there is no parameter ${JSON.stringify(name)}; there are ${[...this._parameterIndex.keys()].join(", ")}`);
    return index;
  }

  _numbers(name, value) {
    const list = typeof value === "number" || typeof value === "boolean" ? [value] : value;
    const numbers = Float64Array.from(list, Number);
    return this.engine._with([numbers], (at) => this._checked(name, at, BigInt(numbers.length)));
  }

  // -- what steers it
  set(name, value, instances = null) {
    const index = BigInt(this._parameter(name));
    const numbers = Float64Array.from(typeof value === "number" || typeof value === "boolean" ? [value] : value, Number);
    this._chosen(instances, (who, count) => this.engine._with([numbers], (at) => this._checked("mrw_set", index, at, BigInt(numbers.length), who, count)));
  }

  get(name, { smoothed = false } = {}) {
    const index = this._parameter(name);
    const length = this.count * this.character.parameters[index].width;
    return this._out(Float64Array, length, (at) => this._checked("mrw_get", BigInt(index), smoothed ? 1 : 0, at));
  }

  trigger(name, instances = null) {
    const index = BigInt(this._parameter(name));
    this._chosen(instances, (at, count) => this._checked("mrw_trigger", index, at, count));
  }

  /** Without a graph: plays a clip, faded in over `fade` seconds. */
  play(clip, { fade = 0, loop = true, speed = 1, start = -1, instances = null } = {}) {
    this._chosen(instances, (at, count) => this._checked("mrw_play", this._clip(clip), fade, loop ? 1 : 0, speed, start, at, count));
  }

  /** Without a graph: shows a clip at a time, standing still there until `play` or `update`. */
  seek(clip, time, { instances = null } = {}) {
    this.play(clip, { start: Math.max(time, 0), loop: false, instances });
  }

  _playing(name, ...given) {
    const n = this.count;
    const at = this.engine._room(16 * n);
    try {
      this._checked(name, ...given, at, at + 8 * n);
      const clips = new BigInt64Array(this.engine.memory.buffer, at, n);
      const times = new Float64Array(this.engine.memory.buffer, at + 8 * n, n);
      return Array.from(clips, (clip, k) => ({ clip: clip > 0n ? this.character.clips[Number(clip) - 1].name : null, time: times[k] }));
    } finally {
      this.engine.exports.mrw_release(at);
    }
  }

  /** Without a graph: the clip each instance plays, and where it is. */
  get playing() {
    return this._playing("mrw_playing");
  }

  slot(name) {
    const index = this.character.slots.indexOf(name);
    if (index < 0) throw new MarrowError(`there is no slot ${JSON.stringify(name)}; there are ${this.character.slots.join(", ")}`);
    return new Slot(this, name, index);
  }

  montage(name) {
    const index = this.character.montages.findIndex((montage) => montage.name === name);
    if (index < 0) throw new MarrowError(`there is no montage ${JSON.stringify(name)}`);
    return new Montage(this, index);
  }

  savePose(name, instances = null) {
    const index = this.character.savedPoses.indexOf(name);
    if (index < 0) throw new MarrowError(`there is no saved pose ${JSON.stringify(name)}`);
    this._chosen(instances, (at, count) => this._checked("mrw_save_pose", BigInt(index), at, count));
  }

  /**
   * Places the joints of a JointOverride from the next update on: rotations (k x 4) and translations (k x 3), or as many for each
   * instance.
   */
  override(name, { rotation = null, translation = null, weight = 1, instances = null } = {}) {
    const index = this.character.overrides.findIndex((one) => one.name === name);
    if (index < 0) throw new MarrowError(`there is no override ${JSON.stringify(name)}`);
    const k = this.character.overrides[index].joints;
    const arrays = [rotation, translation].map((array) => (array === null ? null : Float64Array.from(array)));
    const n = instances === null ? this.count : typeof instances === "number" ? 1 : instances.length;
    const each = arrays.some((array, i) => array !== null && array.length > k * (4 - i)) ? 1 : 0;
    arrays.forEach((array, i) => {
      const wanted = (each ? n : 1) * k * (4 - i);
      if (array && array.length !== wanted) throw new MarrowError(`override: expected ${wanted} numbers, got ${array.length}`);
    });
    this._chosen(instances, (who, count) =>
      this.engine._with(arrays, (r, t) => this._checked("mrw_override", BigInt(index), r, t, weight, each, who, count)));
  }

  /**
   * The ground that feet stand on: a height, one for each instance, a `Ground`, null, or a function that is given points (x, y, z in the
   * world, one behind the other) and how far from each ground may be, and returns the heights there, NaN where there is none.
   */
  setGround(ground) {
    if (!this._pointer) throw new MarrowError("this crowd was disposed of");
    this._asks = null;
    if (typeof ground === "function") {
      this._checked("mrw_set_ground_by_hand");
      this._asks = ground;
    } else if (ground === null || ground instanceof Ground) this._checked("mrw_set_ground", ground === null ? 0 : ground._pointer);
    else this._numbers("mrw_set_ground_heights", ground);
  }

  /** A chain that swings: `crowd.springs("hair").stiffness = 2`. */
  springs(name) {
    const index = this.character.springs.indexOf(name);
    if (index < 0) throw new MarrowError(`there is no chain ${JSON.stringify(name)}; there are ${this.character.springs.join(", ")}`);
    return new SpringChain(this, name, index);
  }

  setWind(wind) {
    const numbers = Float64Array.from(wind);
    if (numbers.length !== 3) throw new MarrowError(`setWind: expected 3 numbers, got ${numbers.length}`);
    this.engine._with([numbers], (at) => this._checked("mrw_springs_wind", at));
  }

  /** Whether updates are made in parts that end where springs step (so it begins), or poses in between are guessed. */
  setExactSprings(exact) {
    this._checked("mrw_springs_exact", exact ? 1 : 0);
  }

  /** Settings and wind as they were baked. */
  resetSprings() {
    this._checked("mrw_springs_reset");
  }

  /** What the last update could not do: events and pose operations without room, instances whose state machine goes in a circle. */
  get dropped() {
    const [events, operations, circling] = this._out(BigInt64Array, 3, (at) => this._checked("mrw_dropped", at, at + 8, at + 16));
    return { events: Number(events), operations: Number(operations), circling: Number(circling) };
  }

  setSpeed(speed) {
    this._numbers("mrw_set_speed", speed);
  }

  setSeeds(seeds) {
    const numbers = BigInt64Array.from(typeof seeds === "number" ? [seeds] : seeds, (n) => BigInt(n));
    this.engine._with([numbers], (at) => this._checked("mrw_set_seeds", at, BigInt(numbers.length)));
  }

  /** Evaluates instances every update (1), every second one (2)...; in between they are interpolated. */
  setUpdateEvery(every) {
    const numbers = BigInt64Array.from(typeof every === "number" ? [every] : every, (n) => BigInt(n));
    this.engine._with([numbers], (at) => this._checked("mrw_set_interval", at, BigInt(numbers.length)));
  }

  update(seconds) {
    this._numbers("mrw_update", seconds);
  }

  // -- results of this moment
  _view(name, width) {
    if (!this._pointer) throw new MarrowError("this crowd was disposed of");
    if (this._asks) this._answer();
    const at = this.engine.exports[name](this._pointer);
    if (!at) throw this.engine._error();
    return new Float32Array(this.engine.memory.buffer, at, this.count * width);
  }

  get matrices() {
    return this._view("mrw_matrices", this.character.palette.size * 12);
  }

  get modelMatrices() {
    return this._view("mrw_model_matrices", this.character.joints.length * 12);
  }

  get poseRows() {
    return this._view("mrw_pose", this.character._sizes.poseRow);
  }

  get morphRows() {
    return this._view("mrw_morphs", this.character._sizes.morphRow);
  }

  /** Weights of morph channels, N x morphs. */
  get morphs() {
    const M = this.character.morphs.length;
    const out = new Float32Array(this.count * M);
    if (M === 0) return out;
    const rows = this.morphRows;
    const width = this.character._sizes.morphRow;
    for (let n = 0; n < this.count; n++) out.set(rows.subarray(n * width, n * width + M), n * M);
    return out;
  }

  get root() {
    return new Float64Array(this.engine.memory.buffer, this.engine.exports.mrw_root(this._pointer), this.count * 7);
  }

  get travel() {
    return new Float64Array(this.engine.memory.buffer, this.engine.exports.mrw_travel(this._pointer), this.count * 7);
  }

  setRoot({ translation = null, rotation = null, instances = null } = {}) {
    const arrays = [translation, rotation].map((array) => (array === null ? null : Float64Array.from(array)));
    const each = (translation !== null && translation.length > 3) || (rotation !== null && rotation.length > 4) ? 1 : 0;
    const n = instances === null ? this.count : typeof instances === "number" ? 1 : instances.length;
    [3, 4].forEach((width, k) => {
      const wanted = each ? n * width : width;
      if (arrays[k] && arrays[k].length !== wanted) throw new MarrowError(`setRoot: expected ${wanted} numbers, got ${arrays[k].length}`);
    });
    this._chosen(instances, (who, count) => this.engine._with(arrays, (t, r) => this._checked("mrw_set_root", t, r, each, who, count)));
  }

  /** What happened in the last update, as plain objects. */
  get events() {
    const { character, engine } = this;
    const size = engine._room(8);
    const at = engine.exports.mrw_events(this._pointer, size);
    const count = Number(new BigInt64Array(engine.memory.buffer, size, 1)[0]);
    engine.exports.mrw_release(size);
    const view = new DataView(engine.memory.buffer, at, count * EVENT_BYTES);
    const found = [];
    for (let k = 0; k < count; k++) {
      const o = k * EVENT_BYTES;
      const [instance, kind, event, source] = [0, 4, 8, 12].map((i) => view.getInt32(o + i, true));
      const called = KINDS[kind];
      const ofClips = called === "event" || called === "event_ended" || called === "event_inside";
      const names = ofClips ? character.events : called === "slot_ended" ? null : character.machines[source]?.states;
      const name = names === null ? (character.clips[event - 1]?.name ?? "") : (names?.[event] ?? "");
      const from = ofClips ? character.clips[source - 1]?.name : called === "slot_ended" ? character.slots[source] : character.machines[source]?.name;
      found.push({ instance, kind: called, name, source: from ?? "", weight: view.getFloat32(o + 16, true), time: view.getFloat64(o + 24, true) });
    }
    return found;
  }

  /** The state each instance is in, of the first machine, or of the one of a name or at a path. */
  states(machine = null) {
    const { machines } = this.character;
    const index = machine === null ? machines.findIndex((m) => m.states.length > 0) : machines.findIndex((m) => m.name === machine || m.path === machine);
    if (index < 0) throw new MarrowError(machine === null ? "the graph has no state machine" : `there is no state machine ${JSON.stringify(machine)}`);
    const found = this._out(BigInt64Array, this.count, (at) => this._checked("mrw_states", BigInt(index), at));
    return Array.from(found, (k) => machines[index].states[Number(k)]);
  }

  get clocks() {
    return this._out(Float64Array, this.count, (at) => this._checked("mrw_clocks", at));
  }

  /** How much of each node is seen, where clips are and how fast they go, for one instance: three Float64Arrays, by node. */
  inspect(instance = 0) {
    const n = this.character.nodes.length;
    const found = this._out(Float64Array, 3 * n, (at) => this._checked("mrw_inspect", BigInt(instance), at, at + 8 * n, at + 16 * n));
    return { weights: found.slice(0, n), times: found.slice(n, 2 * n), speeds: found.slice(2 * n) };
  }

  /**
   * The deformed meshes of some instances, one behind the other. Only where skins were baked. `into` has arrays of an earlier call, which
   * are written again where they are as long.
   */
  skin({ instances = null, normals = true, tangents = false, into = null } = {}) {
    const { engine } = this;
    const V = this.character.vertexCount;
    const n = instances === null ? this.count : typeof instances === "number" ? 1 : instances.length;
    const sizes = [n * V * 3, normals ? n * V * 3 : 0, normals && tangents ? n * V * 4 : 0];
    const places = [0, sizes[0], sizes[0] + sizes[1]];
    const whole = Math.max(sizes[0] + sizes[1] + sizes[2], 1);
    if (this._skinRoom.size < whole) {
      if (this._skinRoom.at) engine.exports.mrw_release(this._skinRoom.at);
      this._skinRoom = { at: 0, size: 0 };
      this._skinRoom = { at: engine._room(4 * whole), size: whole };
    }
    const { at } = this._skinRoom;
    this._chosen(instances, (who, count) =>
      this._checked("mrw_skin", who, count, at, sizes[1] ? at + 4 * places[1] : 0, sizes[2] ? at + 4 * places[2] : 0));
    const part = (k, given) => {
      if (!sizes[k]) return null;
      const found = new Float32Array(engine.memory.buffer, at + 4 * places[k], sizes[k]);
      if (!(given instanceof Float32Array) || given.length !== sizes[k]) return found.slice();
      given.set(found);
      return given;
    };
    return { positions: part(0, into?.positions), normals: part(1, into?.normals), tangents: part(2, into?.tangents) };
  }

  // -- instances
  add(count = 1) {
    this._checked("mrw_add", BigInt(count));
  }

  remove(instances) {
    this._chosen(instances, (at, count) => this._checked("mrw_remove", at, count));
  }

  reset(instances = null) {
    this._chosen(instances, (at, count) => this._checked("mrw_reset", at, count));
  }

  // -- moments to come back to
  snapshot() {
    const size = this._checked("mrw_snapshot", 0, 0n);
    return this._out(Uint8Array, size, (at) => this._checked("mrw_snapshot", at, BigInt(size)));
  }

  restore(bytes) {
    this.engine._with([bytes], (at) => this._checked("mrw_restore", at, BigInt(bytes.byteLength)));
  }

  dispose() {
    if (this._pointer) this.engine.exports.mrw_destroy(this._pointer);
    if (this._skinRoom.at) this.engine.exports.mrw_release(this._skinRoom.at);
    this._skinRoom = { at: 0, size: 0 };
    this._pointer = 0;
  }
}
