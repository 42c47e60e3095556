/** `App`: what the page knows, and how its parts hear of changes. */
import { Flow } from "./flow";
import { Images } from "./images";
import { Player } from "./play";
import { keepOptions, loadOptions, type ViewOptions, viewsOf, viewsText } from "./options";
import {
  type Changed, type CharacterInfo, type ClientMessage, type Difference, type Frame, type Hello, type HistoryEntry, type Live, MAX_UPLOAD_FILES, type State, type SetViews, type Stats, type UploadOffer, type ViewChoice,
} from "./protocol";
import type { Source, Status } from "./source";
import type { Named } from "./ui/files";
import { commonPrefix, inLine } from "./ui/names";
import { CharacterView } from "./view/character";
import { JointStore } from "./view/joint_store";
import { Viewport } from "./view/viewport";

interface Events {
  hello: Hello;
  state: State;
  live: Live;
  stats: Stats;
  frame: Frame;
  character: number;
  selection: number;
  options: ViewOptions;
  status: Status;
  loading: { text: string; fraction: number } | null;
  problem: string;
  /** The file that is watched was exported again, and this has changed. */
  difference: Difference;
  /** The graph was asked for, and there is none. */
  graphless: void;
  /** The graph needs the whole window to be read. */
  room: void;
  /** Something has worked: what was said to be wrong may go. */
  well: void;
  /** Whether the character can be seen from where the camera stands. */
  sight: boolean;
  /** A mesh, a material or a pose of the page's own was shown or hidden. */
  rig: void;
  offer: UploadOffer & { name: string; slot: number };
}

type Handler<K extends keyof Events> = (value: Events[K]) => void;

const HISTORY_LENGTH = 200;
/** A pose that is longer than this, as text, is not sent. */
const MAX_POSE = 90_000;
/** Values that change with the pointer go out at most this often (ms): as often as the engine updates. */
const GATHER_MS = 1000 / 60;

export class App {
  readonly images: Images;
  readonly options = loadOptions();
  readonly viewport: Viewport;
  /** What steers a character that is played. */
  readonly player: Player;
  hello: Hello | null = null;
  state: State | null = null;
  live: Live | null = null;
  /** How much each node of the graph shows just now, by its path. */
  weights: Record<string, number> = {};
  readonly characters: (CharacterInfo | null)[] = [null, null];
  history: HistoryEntry[] = [];
  selected = -1;
  /** Joints whose curves and keys are shown besides those of the picked one. */
  readonly also = new Set<number>();
  private readonly handlers = new Map<keyof Events, Set<Handler<never>>>();
  private readonly waiting = new Map<number, Frame>();
  private readonly placements = new Map<number, Float32Array>();
  private readonly lastFrames = new Map<number, Frame>();
  private readonly stores = new Map<number, JointStore>();
  private readonly flow = new Flow((frame) => this.source.send({ type: "ack", frame }));
  /** Per key: null while nothing newer waits for its turn. */
  private readonly latest = new Map<string, ClientMessage | null>();
  private readonly loads: number[] = [];
  /** Whether the character that came last is the one that was there, with something changed. */
  kept = false;
  /** Hears of the next frame that comes. */
  private awaited: ((frame: Frame) => void) | null = null;
  /** The upload that others wait for, and how many there are. */
  private uploading: Promise<unknown> = Promise.resolve();
  private uploadsWaiting = 0;
  /** What the engine was told to draw, the node whose mask is shown, and whether the page shows a pose of its own. */
  private toldViews = "";
  private mask: string | null = null;
  private ownPose = false;
  /** While characters are on their way back to their places: the camera is set again once they are there. */
  private homing: "no" | "asked" | "told" = "no";

  constructor(readonly source: Source) {
    this.images = new Images(source);
    // The answer travels while the page is put together.
    source.start();
    this.viewport = new Viewport(this.options);
    this.player = new Player(this);
    this.viewport.onPick = (joint) => this.select(joint);
    this.viewport.handles.onHold = (joint, place, instance) => this.sendLatest("effector", { type: "effector", joint, place, instance });
    this.viewport.onSight = (seen) => this.emit("sight", seen);
    this.viewport.onLook = (look) => this.sendLatest("look", look);
    this.viewport.beforeDraw = () => this.takeFrames();
    source.onDrawing = (message) => this.viewport.takeDrawing(message);
    for (const event of ["options", "selection", "character", "rig", "state"] as const) this.on(event, () => this.tellViews());
    source.onStatus = (status) => this.emit("status", status);
    source.onFrame = (frame) => {
      // Places come only when they change; they hold until then, also for a character that is still on its way.
      const placed = this.placements.get(frame.slot);
      if (frame.placements) this.placements.set(frame.slot, frame.placements);
      else if (placed?.length === 12 * frame.count) frame.placements = placed;
      // A compact frame has only what changed: none may be left out.
      if (frame.compact) this.store(frame.slot).take(frame);
      this.waiting.set(frame.slot, frame);
      this.viewport.invalidate();
      this.flow.took(frame.frame, frame.bytes);
      this.awaited?.(frame);
    };
    source.onMessage = (message) => {
      switch (message.type) {
        case "hello":
          this.hello = message;
          this.lastFrames.clear();
          this.stores.clear();
          this.viewport.forgetDrawings();
          this.toldViews = "";
          this.source.send({ type: "accept", compact: true });
          this.placements.clear();
          this.flow.reset();
          this.history = message.history.slice(-HISTORY_LENGTH);
          this.emit("hello", message);
          this.takeState(message.state);
          // From 2 on: the other actors of a scene.
          for (const slot of new Set([0, 1, ...this.characters.keys(), ...message.state.slots])) void this.load(slot, message.state.slots.includes(slot));
          break;
        case "state":
          this.takeState(message);
          break;
        case "live":
          this.live = message;
          this.weigh();
          this.history = [...this.history, ...message.entered].slice(-HISTORY_LENGTH);
          this.emit("live", message);
          break;
        case "stats":
          this.emit("stats", message);
          break;
        case "progress":
          this.emit("loading", message.fraction >= 1 ? null : message);
          break;
        case "error":
          this.emit("loading", null);
          this.emit("problem", message.message);
          break;
        case "changed":
          void this.load(message.slot, message.present, message);
          break;
      }
    };
  }

  // -- events -----------------------------------------------------------------------------------------------------
  on<K extends keyof Events>(event: K, handler: Handler<K>): void {
    const set = this.handlers.get(event) ?? new Set();
    set.add(handler as Handler<never>);
    this.handlers.set(event, set);
  }

  emit<K extends keyof Events>(event: K, value: Events[K]): void {
    this.handlers.get(event)?.forEach((handler) => (handler as Handler<K>)(value));
  }

  // -- to the server ----------------------------------------------------------------------------------------------
  send(message: ClientMessage): void {
    this.flush();
    this.post(message);
  }

  private post(message: ClientMessage): void {
    this.flow.hurry();
    this.source.send(message);
  }

  /** For values that change with every move of the pointer: the first goes out at once, of those that follow closely the newest. */
  sendLatest(key: string, message: ClientMessage): void {
    if (this.latest.has(key)) {
      this.latest.set(key, message);
      return;
    }
    this.post(message);
    this.latest.set(key, null);
    window.setTimeout(() => {
      const waiting = this.latest.get(key);
      this.latest.delete(key);
      if (waiting) this.sendLatest(key, waiting);
    }, GATHER_MS);
  }

  /** What waits for its turn goes out before anything that was done after it. */
  private flush(): void {
    for (const [key, waiting] of this.latest) {
      if (waiting) this.post(waiting);
      this.latest.set(key, null);
    }
  }

  // -- from the server --------------------------------------------------------------------------------------------
  private takeState(state: State): void {
    this.state = state;
    if (this.homing === "asked") this.homing = "told";
    this.viewport.handles.takeState(state.effectors);
    this.emit("state", state);
    if (state.selected !== this.selected) this.showSelected(state.selected);
  }

  /** Applies the newest frame of each slot just before drawing, and tells the server that there is room for more. */
  private takeFrames(): void {
    if (this.viewport.hands.kind !== "played" || this.ownPose) this.tellViews();
    if (!this.waiting.size) return;
    for (const frame of this.waiting.values()) {
      this.viewport.apply(frame, this.store(frame.slot));
      this.lastFrames.set(frame.slot, frame);
      this.emit("frame", frame);
    }
    this.waiting.clear();
    if (this.homing === "told") {
      this.homing = "no";
      this.viewport.frame(true);
    }
    this.flow.drew();
  }

  /** The compact joints of a slot. */
  private store(slot: number): JointStore {
    const known = this.stores.get(slot) ?? new JointStore();
    this.stores.set(slot, known);
    return known;
  }

  /** Lets exactly so many seconds pass, from `start` on where that is given, and pauses; resolves once that is shown. */
  async advance(seconds: number, start: number | null = null): Promise<void> {
    if (this.state?.playing) this.send({ type: "play", playing: false });
    if (start !== null) this.send({ type: "seek", time: start });
    const before = this.waiting.get(0) ?? this.lastFrames.get(0);
    // Pictures that were on their way already show no other time.
    const moves = seconds > 0 && (this.state?.mode === "graph" || (this.state?.duration ?? 0) > 1.5 * seconds);
    const end = this.state?.mode === "clip" && !this.state.loop ? this.state.duration - 1e-6 : Infinity;
    const arrived = new Promise<void>((resolve) => {
      this.awaited = (frame) => {
        if (frame.slot !== 0 || (moves && frame.time === before?.time && frame.time < end)) return;
        this.awaited = null;
        resolve();
      };
    });
    this.send({ type: "advance", seconds });
    await arrived;
    this.takeFrames();
  }

  /** The number of the frame a slot shows, -1 before the first. */
  shownFrame(slot: number): number {
    return this.lastFrames.get(slot)?.frame ?? -1;
  }

  /** What each node of the graph weighs, once both the graph and its numbers are here. */
  private weigh(): void {
    this.weights = Object.fromEntries((this.characters[0]?.graph?.nodes ?? []).map((node, i) => [node.path, this.live?.weights[i] ?? 0]));
  }

  /** Fetches the character of a slot. One that is still the same (`kept`) keeps camera, choices and, where they are the same, meshes. */
  private async load(slot: number, present: boolean, changed: Changed | null = null): Promise<void> {
    const turn = (this.loads[slot] = (this.loads[slot] ?? 0) + 1);
    const old = this.viewport.character(slot);
    const kept = Boolean(changed?.kept && old);
    this.kept = kept;
    if (!present) {
      this.characters[slot] = null;
      this.viewport.setCharacter(slot, null);
      this.images.forget(slot);
      this.emit("character", slot);
      return;
    }
    if (!kept) this.emit("loading", { text: "Fetching the character", fraction: 0 });
    try {
      const wanted = !kept || changed!.meshes;
      const buffers = wanted ? this.source.fetch(`api/character/${slot}/buffers`) : null;
      buffers?.catch(() => {}); // What goes wrong is told where it is awaited.
      const info = await this.source.json<CharacterInfo>(`api/character/${slot}`);
      const blob = buffers && (await this.source.bytes(await buffers, info.buffer_bytes, (fraction) =>
        this.emit("loading", { text: `Fetching ${info.name}`, fraction }),
      ));
      if (turn !== this.loads[slot]) return;
      this.characters[slot] = info;
      this.kept = kept;
      this.weigh();
      if (blob) this.showView(slot, info, blob, kept);
      if (slot === 1 && !kept) this.set("compare", "files");
      if (slot === 0) this.showSelected(this.state?.selected ?? -1);
      this.emit("character", slot);
      this.emit("loading", null);
      this.emit("well", undefined);
      if (changed?.difference && slot === 0) this.emit("difference", changed.difference);
    } catch (error) {
      if (turn !== this.loads[slot]) return;
      this.emit("loading", null);
      this.emit("problem", `The character could not be fetched: ${(error as Error).message}`);
    }
  }

  private showView(slot: number, info: CharacterInfo, blob: ArrayBuffer, kept: boolean): void {
    this.images.forget(slot);
    const view = new CharacterView(info, blob, (image) => this.images.blob(slot, image), () => this.viewport.invalidate());
    this.viewport.setCharacter(slot, view, kept);
    // Frames may have come while its meshes were on their way; nothing more is sent while nothing moves.
    const known = this.waiting.get(slot) ?? this.lastFrames.get(slot);
    if (known) this.viewport.apply(known, this.store(slot));
  }

  // -- choices ----------------------------------------------------------------------------------------------------
  set<K extends keyof ViewOptions>(name: K, value: ViewOptions[K]): void {
    if (this.options[name] === value) return;
    this.options[name] = value;
    keepOptions(this.options);
    this.viewport.setOptions(this.options);
    this.emit("options", this.options);
  }

  toggle(name: { [K in keyof ViewOptions]: ViewOptions[K] extends boolean ? K : never }[keyof ViewOptions]): void {
    this.set(name, !this.options[name]);
  }

  /** Draws a view, or no longer. */
  toggleView(name: string, on = !viewsOf(this.options.views).has(name)): void {
    const views = viewsOf(this.options.views);
    if (on) views.set(name, views.get(name) ?? "");
    else views.delete(name);
    this.set("views", viewsText(views));
  }

  /** Shows the mask of a node of the graph; null ends it. */
  showMask(path: string | null): void {
    this.mask = path;
    this.tellViews();
  }

  /** Says what the engine should draw, where that is something else than before. */
  private tellViews(): void {
    const view = this.viewport.character();
    if (!this.hello || !view) return;
    const { method, differenceTo } = this.options;
    const message: SetViews = { type: "views", views: this.viewChoices(), method, picked: this.viewport.pickedInstance, compare: differenceTo, mask: this.mask };
    this.ownPose = this.viewport.hands.kind !== "played";
    if (this.ownPose && (message.views!.length || this.mask)) {
      const pose = base64(view.models());
      if (pose.length < MAX_POSE) message.pose = pose;
      else this.emit("problem", "This character has too many joints for views of a pose by hand: they show what is played.");
    }
    const text = JSON.stringify(message);
    if (text === this.toldViews) return;
    this.toldViews = text;
    this.sendLatest("views", message);
  }

  /** The views that are wanted, with the joints that are picked where they are about joints. */
  private viewChoices(): ViewChoice[] {
    const views = viewsOf(this.options.views);
    const joints = this.characters[0]?.joints ?? [];
    const picked = this.joints.map((joint) => joints[joint].name);
    const out = (this.characters[0]?.views ?? []).flatMap(({ name, argument }) => {
      const typed = views.get(name);
      if (typed === undefined) return [];
      if (!argument.includes("JOINT")) return [{ name, argument: typed }];
      const wanted = argument.includes(",") ? picked.join(",") : (picked[0] ?? "");
      return wanted || argument.startsWith("[") ? [{ name, argument: wanted }] : [];
    });
    // What has no mesh is shown by its bones.
    if (this.viewport.character()?.bare && !views.has("skeleton")) out.push({ name: "skeleton", argument: "plain" });
    if (this.viewport.handles.on && this.state?.effectors.some(({ places }) => places.length) && !views.has("effectors")) out.push({ name: "effectors", argument: "" });
    return out;
  }

  /** Lets characters travel over the floor, or not; either way they begin in their places. */
  travel(on: boolean): void {
    this.send({ type: "travel", on });
  }

  /** Everything back: the camera, and characters that have travelled. */
  home(): void {
    if (this.state?.travel) {
      this.travel(true);
      this.homing = "asked";
    }
    this.viewport.frame(true);
  }

  /** Shows or hides a mesh. */
  showMesh(slot: number, mesh: number, on: boolean): void {
    this.viewport.showMesh(slot, mesh, on);
    this.emit("rig", undefined);
  }

  select(joint: number): void {
    this.showSelected(joint);
    this.send({ type: "select", joint });
  }

  /** Shows a joint's curves and keys besides those of the picked one, or no longer. */
  selectAlso(joint: number): void {
    if (this.selected < 0) {
      this.select(joint);
      return;
    }
    if (joint === this.selected) return;
    if (!this.also.delete(joint)) this.also.add(joint);
    this.emit("selection", this.selected);
  }

  /** The picked joint and those besides it. */
  get joints(): number[] {
    return this.selected < 0 ? [] : [this.selected, ...this.also].filter((joint) => joint < (this.characters[0]?.joints.length ?? 0));
  }

  private showSelected(joint: number): void {
    if (joint !== this.selected) this.also.clear();
    this.selected = joint;
    this.viewport.select(joint);
    this.emit("selection", joint);
  }

  /** Sends files to be shown in a slot, after those that were dropped before. Motion that fits is asked about (`offer`) first. */
  async upload(files: Named[], slot = 0): Promise<boolean> {
    const before = this.uploading;
    this.uploadsWaiting++;
    const turn = before.then(() => this.uploadNow(files, slot)).finally(() => this.uploadsWaiting--);
    this.uploading = turn;
    return turn;
  }

  private async uploadNow(files: Named[], slot: number): Promise<boolean> {
    if (!files.length) return false;
    const refusal = this.refusal(files);
    if (refusal) {
      this.emit("problem", refusal);
      return false;
    }
    const waiting = this.uploadsWaiting > 1 ? ` (${this.uploadsWaiting - 1} more to come)` : "";
    const name = (files.length > 1 ? `${files.length} files` : files[0].file.name) + waiting;
    this.emit("loading", { text: `Sending ${name}`, fraction: 0 });
    try {
      const answer = await this.source.upload(files, slot, (fraction) =>
        this.emit("loading", { text: fraction < 1 ? `Sending ${name}` : `Reading ${name}`, fraction: fraction < 1 ? fraction : -1 }),
      );
      this.emit("loading", null);
      if (answer.error) this.emit("problem", answer.error);
      else this.emit("well", undefined);
      if (!answer.error && answer.offer) this.emit("offer", { ...answer.offer, name: answer.name ?? name, slot });
      return !answer.error;
    } catch (error) {
      this.emit("loading", null);
      this.emit("problem", (error as Error).message);
      return false;
    }
  }

  /** Why files are not even sent, in words; null when they may be. */
  private refusal(files: Named[]): string | null {
    const limit = this.hello?.max_upload_bytes ?? Infinity;
    const size = files.reduce((sum, { file }) => sum + file.size, 0);
    const what = files.length > 1 ? `These ${files.length} files have` : `${files[0].file.name} has`;
    if (size > limit) return `${what} ${megabytes(size)}, more than the ${megabytes(limit)} the studio takes.`;
    if (files.length > MAX_UPLOAD_FILES) return `These are ${files.length} files; the studio takes up to ${MAX_UPLOAD_FILES} at once. Drop only what the character needs.`;
    return null;
  }

  // -- clips ------------------------------------------------------------------------------------------------------
  get clip(): CharacterInfo["clips"][number] | null {
    return this.characters[0]?.clips.find((clip) => clip.name === this.state?.clip) ?? null;
  }

  /** Plays clips or the graph; where there is no graph, shows how to get one. */
  chooseMode(value: State["mode"]): void {
    if (value === "graph" && !this.characters[0]?.graph) this.emit("graphless", undefined);
    else this.send({ type: "mode", value });
  }

  /** A clip's name as it is shown: without what all names begin with. */
  clipLabel(name: string, slot = 0): string {
    const clips = this.characters[slot]?.clips ?? [];
    const label = clips.find((clip) => clip.name === name)?.label ?? name.slice(commonPrefix(clips.map((clip) => clip.name)).length);
    return inLine(label || name);
  }

  stepClip(by: number): void {
    const clips = this.characters[0]?.clips ?? [];
    if (!clips.length) return;
    const at = clips.findIndex((clip) => clip.name === this.state?.clip);
    const next = clips[(Math.max(at, by > 0 ? at : 0) + by + clips.length) % clips.length];
    this.playClip(next.name);
  }

  playClip(name: string): void {
    if (this.state?.mode === "graph") this.send({ type: "mode", value: "clip" });
    this.send({ type: "clip", name, fade: 0.2 });
  }
}

function base64(values: Float32Array): string {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(bytes < 10 * 2 ** 20 ? 1 : 0)} MB`;
}
