/**
 * `Flight`: keys and sticks that move the camera, as those of marrow's window do: W A S D ahead, back and aside, Q and E down and
 * up, with shift faster. A gamepad flies with its left stick and triggers, and turns with its right stick.
 */
import type { Framing } from "./camera";

/** What each key adds to the way: to the right, up, ahead. */
const WAYS: Record<string, readonly [number, number, number]> = {
  d: [1, 0, 0], a: [-1, 0, 0], e: [0, 1, 0], q: [0, -1, 0], w: [0, 0, 1], s: [0, 0, -1],
};
const FASTER = 4;
/** Radians a second that a stick turns which is pushed all the way. */
const STICK_TURN = (120 * Math.PI) / 180;
/** A stick counts from here on, and fully from there on; a trigger from here on. */
const DEAD = 0.15;
const FULL = 0.95;
const TRIGGER_DEAD = 0.05;
/** Seconds a single step may span: after a hiccup the camera goes on, it does not jump. */
const LONGEST_STEP = 0.1;

export class Flight {
  /** Whether the left stick belongs to a character that is played. */
  grounded = false;
  private readonly down = new Set<string>();
  private fast = false;
  private pads = 0;
  private before = 0;

  constructor(private readonly framing: Framing) {
    window.addEventListener("gamepadconnected", () => this.pads++);
    window.addEventListener("gamepaddisconnected", () => this.pads--);
    // Keys that are let go elsewhere are not heard of.
    window.addEventListener("blur", () => this.stop());
  }

  /** A key went down, with or without shift; true if it is one that flies. */
  press(key: string, shift: boolean): boolean {
    this.fast = shift;
    if (!(key in WAYS)) return false;
    this.down.add(key);
    return true;
  }

  release(key: string, shift: boolean): void {
    this.fast = shift;
    this.down.delete(key);
  }

  stop(): void {
    this.down.clear();
  }

  /** Moves the camera by what is pressed, at a time in milliseconds; true while something is. */
  tick(now: number): boolean {
    const seconds = Math.min(LONGEST_STEP, Math.max(0, now - this.before) / 1000);
    this.before = now;
    return this.step(seconds);
  }

  step(seconds: number): boolean {
    let [across, up, ahead] = [0, 0, 0];
    for (const key of this.down) {
      const way = WAYS[key];
      [across, up, ahead] = [across + way[0], up + way[1], ahead + way[2]];
    }
    const pad = this.pads > 0 ? firstPad() : null;
    let [x, y] = [0, 0];
    if (pad) {
      const [right, forward] = this.grounded ? [0, 0] : stick(pad.axes[0], pad.axes[1]);
      [across, ahead] = [across + right, ahead - forward];
      if (!this.grounded) up += trigger(pad.buttons[7]?.value) - trigger(pad.buttons[6]?.value);
      [x, y] = stick(pad.axes[2], pad.axes[3]);
    }
    const turns = x !== 0 || y !== 0;
    const flies = across !== 0 || up !== 0 || ahead !== 0;
    if (turns) this.framing.orbit(-x * STICK_TURN * seconds, -y * STICK_TURN * seconds);
    const way = this.framing.size * seconds * (this.fast ? FASTER : 1);
    if (flies) this.framing.fly(across * way, up * way, ahead * way);
    return turns || flies;
  }
}

export function firstPad(): Gamepad | null {
  return navigator.getGamepads().find((pad) => pad?.connected && pad.mapping === "standard") ?? null;
}

/** A stick without the slack of its middle and its rim. */
export function stick(x = 0, y = 0): [number, number] {
  const length = Math.hypot(x, y);
  if (!(length > DEAD)) return [0, 0];
  const gain = Math.min((length - DEAD) / (FULL - DEAD), 1) / length;
  return [x * gain, y * gain];
}

function trigger(value = 0): number {
  return value > TRIGGER_DEAD ? Math.min((value - TRIGGER_DEAD) / (1 - TRIGGER_DEAD), 1) : 0;
}
