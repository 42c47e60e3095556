/** `LocalSource`: the character, its motion and the engine are in the page: the same messages as a server's, without one. */
import { type CharacterInfo, type ClientMessage, type JointNumbers, MAX_COUNT, type PageInfo, type UploadAnswer } from "../protocol";
import { type Ability, type Query, Source } from "../source";
import { invert, multiply } from "./affine";
import { image, needed, pageInfo, part } from "./data";
import type { Engine, EngineCharacter } from "./engine";
import { fillMotion } from "./motion";
import { curvesOf, type Rows, transformOf } from "./numbers";
import { unpackMeshes } from "./packed_meshes";
import { unpackMotion } from "./packed_motion";
import { LocalActor, type Mode } from "./player";
import { LocalSession } from "./session";

const LIVE_MS = 1000 / 15;
const STATS_MS = 1000;
const STRICT = "This browser has no fused multiply-add for WebAssembly (relaxed SIMD): the engine does it in software, exactly and more slowly.";

export class LocalSource extends Source {
  readonly can: ReadonlySet<Ability> = new Set<Ability>();
  private info!: PageInfo;
  private rows!: Rows;
  private session: LocalSession | null = null;
  private readonly images = new Map<number, Blob>();
  private meshes!: Uint8Array;
  private inverseBind: Float32Array = new Float32Array(0);
  private last = 0;
  private liveAt = 0;
  private readonly costs = { ms: 0, updates: 0, since: 0, idle: false };
  private asked = 0;

  constructor(private readonly makeEngine: () => Promise<Engine>) {
    super();
  }

  start(): void {
    this.open().catch((error: Error) => this.onMessage({ type: "error", message: `This page cannot be played here: ${error.message}` }));
  }

  private async open(): Promise<void> {
    const begun = this.makeEngine();
    begun.catch(() => {}); // What goes wrong is told where it is awaited.
    const [info, meshes, motion, clips, graph] = await Promise.all([pageInfo(), needed("meshes"), needed("motion"), needed("clips"), part("graph")]);
    this.info = info;
    this.meshes = meshes;
    const joints = Math.ceil(info.motion.joints / 16) * 16;
    const rest = Float32Array.from(info.motion.rest);
    this.rows = { values: unpackMotion(info.motion, motion, rest), size: rest.length, joints };
    const engine = await begun;
    const loaded = (baked: Uint8Array, at: number): (() => EngineCharacter) => {
      let found: EngineCharacter | null = null;
      return () => (found ??= engine.load(fillMotion(baked, at, this.rows.values)));
    };
    const characters: Record<Mode, (() => EngineCharacter) | null> = { clip: loaded(clips, info.motion.clips_at), graph: graph && loaded(graph, info.motion.graph_at) };
    this.session = new LocalSession(info, new LocalActor(info, characters));
    this.note = engine.strict ? STRICT : "";
    this.setStatus("open");
    this.onMessage({ ...info.hello, max_count: Math.min(info.hello.max_count, MAX_COUNT), state: this.session.state() });
    this.session.told = true;
    this.last = performance.now();
    this.wake();
  }

  // -- time -------------------------------------------------------------------------------------------------------
  private wake(): void {
    if (!this.asked) this.asked = requestAnimationFrame((now) => this.step(now));
  }

  /** One update, if anything moves or has changed: then there is another after it. */
  private step(now: number): void {
    this.asked = 0;
    const session = this.session!;
    try {
      const began = performance.now();
      const moved = session.tick(Math.max(now - this.last, 0) / 1000);
      if (session.changed) this.show();
      if (moved) this.costs.ms += performance.now() - began;
      if (moved) this.costs.updates++;
      if (!session.told) {
        session.told = true;
        this.onMessage(session.state());
      }
      this.stats(now, moved);
    } catch (error) {
      this.onMessage({ type: "error", message: `The character could not be animated: ${(error as Error).message}` });
      return;
    }
    this.last = now;
    if (session.moving || session.changed) this.wake();
    else this.last = 0;
  }

  private show(): void {
    const session = this.session!;
    this.onFrame(session.picture());
    const drawing = session.drawing(this.inverseBind);
    if (drawing) this.onDrawing(drawing);
    const now = performance.now();
    if (now - this.liveAt < LIVE_MS && session.moving) return;
    this.liveAt = now;
    const live = session.live();
    if (live) this.onMessage(live);
  }

  private stats(now: number, moved: boolean): void {
    const { costs } = this;
    if (!moved && !costs.idle) {
      Object.assign(costs, { ms: 0, updates: 0, since: now, idle: true });
      this.onMessage({ type: "stats", ms_per_update: 0, us_per_character: 0, kb_per_s: 0, fps: 0, clients: 1, characters_per_s: 0, wire_error: 0 });
    }
    if (!moved || now - costs.since < STATS_MS) return;
    const [ms, seconds, { count }] = [costs.ms / costs.updates, (now - costs.since) / 1000, this.session!];
    this.onMessage({
      type: "stats", ms_per_update: ms, us_per_character: (1000 * ms) / count, kb_per_s: 0, fps: costs.updates / seconds, clients: 1,
      characters_per_s: (count * costs.updates) / seconds, wire_error: 0,
    });
    Object.assign(costs, { ms: 0, updates: 0, since: now, idle: false });
  }

  send(message: ClientMessage): void {
    const { session } = this;
    if (!session) return;
    try {
      session.apply(message);
    } catch (error) {
      this.onMessage({ type: "error", message: (error as Error).message });
    }
    if (message.type === "ack") return;
    if (!this.last) this.last = performance.now();
    // A picture for each: whoever lets exactly so much time pass waits for what that looks like.
    if (message.type === "advance") this.show();
    this.wake();
  }

  // -- answers ----------------------------------------------------------------------------------------------------
  async fetch(path: string, query: Query = {}): Promise<Response> {
    const { info } = this;
    if (path === "api/character/0") return Response.json(info.character satisfies CharacterInfo);
    if (path === "api/character/0/buffers") return new Response(this.buffers());
    const picture = /^api\/image\/0\/(\d+)$/.exec(path);
    if (picture) return this.image(Number(picture[1]));
    if (path === "api/curves") return Response.json(this.curves(String(query["clip"]), Number(query["joint"])));
    if (path === "api/joint") return Response.json(this.joint(Number(query["joint"]), Number(query["instance"] ?? 0)));
    throw new Error("This page has no server to ask.");
  }

  private buffers(): ArrayBuffer {
    const { arrays, character } = this.info;
    const blob = unpackMeshes(arrays, this.meshes, character.buffer_bytes);
    this.inverseBind = new Float32Array(blob, character.buffers["inverse_bind"].offset, 12 * character.palette).slice();
    return blob;
  }

  upload(): Promise<Partial<UploadAnswer>> {
    return Promise.reject(new Error("This page has no server to send files to."));
  }

  private image(index: number): Response {
    const known = this.images.get(index);
    if (known) return new Response(known);
    const bytes = image(index);
    if (!bytes) throw new Error("This page does not have that image.");
    const blob = new Blob([bytes], { type: this.info.images[index] });
    this.images.set(index, blob);
    return new Response(blob);
  }

  private curves(clip: string, joint: number): ReturnType<typeof curvesOf> {
    const { clips } = this.info.character;
    const at = clips.findIndex(({ name }) => name === clip);
    if (at < 0) throw new Error(`There is no clip ${clip}.`);
    const { frames } = this.info.motion;
    const first = frames.slice(0, at).reduce((sum, n) => sum + n, 1);
    return curvesOf(this.rows, first, frames[at], clip, joint, clips[at].duration);
  }

  private joint(joint: number, instance: number): JointNumbers {
    const actor = this.session!.actor;
    const pose = actor.pose();
    const local = transformOf({ values: pose.values, size: pose.size, joints: this.rows.joints }, instance, joint);
    const at = 12 * (instance * this.info.character.palette + joint);
    const bind = invert(this.inverseBind.subarray(12 * joint, 12 * joint + 12));
    const model = multiply(actor.matrices().subarray(at, at + 12), bind ?? [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0]);
    return { joint, local, model: [...model], layers: [] };
  }
}
