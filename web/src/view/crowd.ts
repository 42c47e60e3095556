/**
 * `Crowd`: how the instances of a crowd are drawn; only those that the camera sees are.
 *
 * A character with levels of detail is drawn at the levels the server sends: those whose error is not seen, or, where pictures take
 * too long, is seen a little. Of one without levels as many are drawn in full as the measured speed allows, the nearest first,
 * and the others as figures.
 */
import { Frustum, Group, Matrix4, type PerspectiveCamera, Sphere, Vector3 } from "three";
import type { CharacterView } from "./character";
import { Figures } from "./figures";
import type { Pace } from "./pace";

/** Vertices drawn in full before anything was measured. */
const FIRST_SOFTWARE = 150_000;
const FIRST_HARDWARE = 4_000_000;
/** A crowd may take this much longer than a single character. */
const LEISURE = 3;
/** So many, the nearest, are drawn in full whatever it takes. */
const LEAST = 3;
/** The picture that stays may show so many times more in full. */
const AT_REST = 3;
/** A crowd at levels of detail may take this much longer than a single character; errors grow up to so many pixels for that. */
const LEVEL_LEISURE = 1.2;
const MOST_PIXELS = 16;
/** More triangles than this are not drawn in a picture: those further away are drawn at coarser levels than they came. */
const TRIANGLES_SOFTWARE = 300_000;
const TRIANGLES_HARDWARE = 20_000_000;
/** Among more than so many, moving ones are not drawn at the finest level where the processor draws. */
const MANY = 100;
/** So many the processor draws fluently at the levels the picture needs. */
const FIRST_FINE = 40;
/** Where the processor draws, these levels and coarser ones have plain colours and no shadows. */
const PLAIN_FROM = 2;

export class Crowd {
  readonly group = new Group();
  /** What is left out, in words; empty when nothing is. */
  words = "";
  /** Made when there is a crowd. */
  private figures: Figures | null = null;
  /** How many instances may be drawn in full while they move. */
  private allowed: number;
  private measured = 0;
  /** How many pixels levels of detail may be off. */
  private allowedError = 1;
  private expected = 0;

  constructor(
    private readonly character: CharacterView,
    private readonly pace: Pace,
  ) {
    if (pace.software) character.plainFrom = PLAIN_FROM;
    this.allowed = (pace.software ? FIRST_SOFTWARE : FIRST_HARDWARE) / Math.max(1, character.info.vertices);
  }

  /** Shares the crowd out as the camera sees it; true when a picture at rest would show more in full. */
  arrange(camera: PerspectiveCamera, picked: number, moving: boolean): boolean {
    const { character } = this;
    this.words = "";
    if (character.count <= 1) {
      character.choose([0]);
      this.figures?.show([]);
      return false;
    }
    if (character.levels.length === character.count) {
      this.expect(character.count);
      if (moving) this.learnError();
      const seen = this.seen(camera, picked);
      this.byLevel(seen, moving);
      // The one that was picked is drawn in full when motion stops.
      return moving && this.pace.software && seen.length > MANY;
    }
    if (!this.figures) this.group.add((this.figures = new Figures(character, this.pace.software)).group);
    if (moving) this.learn();
    const seen = this.seen(camera, picked);
    if (!character.parts.length) {
      // Skeletons without a mesh: one is drawn with all its joints.
      this.figures.show(seen.filter((instance) => instance !== Math.max(picked, 0)));
      return false;
    }
    const wanted = Math.max(LEAST, Math.round(this.allowed * (moving ? 1 : AT_REST)));
    const full = Math.min(seen.length, wanted, character.most);
    character.choose(seen.slice(0, full));
    this.figures.show(seen.slice(full));
    if (full < seen.length) {
      const reason = this.pace.software ? ": this browser draws in software" : "";
      this.words = `${full.toLocaleString("en")} of ${character.count.toLocaleString("en")} drawn in full, the rest as figures${reason}`;
    }
    return moving && full < seen.length;
  }

  /** How many pixels levels of detail may be off just now; in steps, so that the server is not told of every change. */
  get pixels(): number {
    return 2 ** (Math.round(2 * Math.log2(this.allowedError)) / 2);
  }

  /** Draws each at the level it was sent; where one is full, at the next coarser, whose joints are there too. */
  private byLevel(seen: number[], moving: boolean): void {
    const { character } = this;
    const lists: number[][] = Array.from({ length: character.levelCount }, () => []);
    const last = lists.length - 1;
    const sizes = [character.info.triangles, ...character.info.levels.map((level) => level.triangles)];
    // Before the server knows how they are looked at all come in full: no picture is to take seconds for that.
    // One level for everybody that is not the finest is somebody's wish.
    const forced = seen.length > 1 && character.levels[seen[0]] > 0 && seen.every((instance) => character.levels[instance] === character.levels[seen[0]]);
    let left = forced ? Infinity : this.pace.software ? TRIANGLES_SOFTWARE : TRIANGLES_HARDWARE;
    const finest = this.pace.software && moving && seen.length > MANY ? 1 : 0;
    seen.forEach((instance, i) => {
      const rest = (seen.length - i - 1) * sizes[last];
      let level = Math.min(Math.max(character.levels[instance], finest), last);
      while (level < last && (sizes[level] > left - rest || lists[level].length >= character.body(level).most)) level++;
      if (lists[level].length >= character.body(level).most) return;
      lists[level].push(instance);
      left -= sizes[level];
    });
    character.chooseLevels(lists);
    this.figures?.show([]);
    if (this.pixels > 1) this.words = `coarser levels of detail than the picture needs${this.pace.software ? ": this browser draws in software" : ", so that it stays fluent"}`;
  }

  /** A crowd of another size: where the processor draws, many begin at coarser levels, and get finer as that turns out to be quick. */
  private expect(count: number): void {
    if (count === this.expected) return;
    this.expected = count;
    if (this.pace.software) this.allowedError = Math.max(this.allowedError, Math.min(MOST_PIXELS / 2, count / FIRST_FINE));
  }

  /** Lets levels be off by more or fewer pixels, by what the last pictures took. */
  private learnError(): void {
    const { pace } = this;
    if (pace.measured === this.measured || !pace.cost) return;
    this.measured = pace.measured;
    const goal = LEVEL_LEISURE * pace.goal;
    // Far too slow is mended in a few pictures: clicks wait for them.
    const step = Math.min(2, Math.max(1.12, Math.sqrt(pace.cost / goal)));
    if (pace.cost > 1.15 * goal) this.allowedError = Math.min(MOST_PIXELS, this.allowedError * step);
    else if (pace.cost < 0.7 * goal) this.allowedError = Math.max(1, this.allowedError / 1.06);
  }

  /** Draws more or fewer in full, by what the last pictures took. */
  private learn(): void {
    const { pace, character } = this;
    if (pace.measured === this.measured || !pace.cost) return;
    this.measured = pace.measured;
    const goal = LEISURE * pace.goal;
    if (pace.cost > 1.2 * goal) this.allowed = Math.max(LEAST, this.allowed * Math.max(0.7, goal / pace.cost));
    else if (pace.cost < 0.75 * goal && this.allowed < character.count) this.allowed *= 1.08;
  }

  /** The instances in view, the picked one and then the nearest first. */
  private seen(camera: PerspectiveCamera, picked: number): number[] {
    const { character } = this;
    const view = new Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
    const frustum = new Frustum().setFromProjectionMatrix(view);
    const sphere = new Sphere(new Vector3(), 0.7 * character.size);
    const found: { instance: number; distance: number }[] = [];
    for (let instance = 0; instance < character.count; instance++) {
      character.middle(instance, sphere.center);
      if (!frustum.intersectsSphere(sphere)) continue;
      found.push({ instance, distance: instance === picked ? 0 : sphere.center.distanceToSquared(camera.position) });
    }
    return found.sort((a, b) => a.distance - b.distance).map((one) => one.instance);
  }

  dispose(): void {
    this.figures?.dispose();
  }
}
