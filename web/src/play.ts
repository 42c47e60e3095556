/**
 * `Player`: what steers a character that is played, as in marrow's window: W A S D or the left stick walk where the camera looks,
 * shift or the right trigger runs, space or A jumps; a finger has a stick on the picture. The camera follows it.
 */
import type { App } from "./app";
import { firstPad, stick } from "./view/flight";
import { h } from "./ui/dom";

/** What each key adds to the way: to the right, ahead. */
const WAYS: Record<string, readonly [number, number]> = { d: [1, 0], a: [-1, 0], w: [0, 1], s: [0, -1] };
const PRESSED = 0.3;
/** Pixels a finger moves for the whole way. */
const REACH = 48;
/** A change smaller than this is not worth a message. */
const FINE = 0.02;

export class Player {
  /** A stick for a finger, shown where fingers are used. */
  readonly stick = h("div", { class: "touch-stick", hidden: true, "aria-hidden": "true" }, h("span", {}));
  private readonly down = new Set<string>();
  private finger: [number, number] = [0, 0];
  private told: [number, number, boolean] = [0, 0, false];
  private padJumped = false;
  private on = false;

  constructor(private readonly app: App) {
    app.on("state", (state) => this.enable(state.playable && state.mode === "graph"));
    window.addEventListener("blur", () => this.stop());
    const follow = (event: PointerEvent): void => {
      const frame = this.stick.getBoundingClientRect();
      const [x, y] = [event.clientX - frame.left - frame.width / 2, event.clientY - frame.top - frame.height / 2];
      const gain = 1 / Math.max(REACH, Math.hypot(x, y));
      this.finger = [x * gain, -y * gain];
      this.knob();
    };
    this.stick.addEventListener("pointerdown", (event) => {
      this.stick.setPointerCapture(event.pointerId);
      follow(event);
    });
    this.stick.addEventListener("pointermove", (event) => this.stick.hasPointerCapture(event.pointerId) && follow(event));
    for (const end of ["pointerup", "pointercancel"] as const)
      this.stick.addEventListener(end, () => {
        this.finger = [0, 0];
        this.knob();
      });
  }

  /** A key went down; true if it steers. */
  press(key: string): boolean {
    if (!this.on) return false;
    if (key === " ") this.tell(true);
    else if (key in WAYS || key === "shift") this.down.add(key);
    else return false;
    return true;
  }

  release(key: string): void {
    this.down.delete(key);
  }

  stop(): void {
    this.down.clear();
  }

  private enable(on: boolean): void {
    if (on === this.on) return;
    this.on = this.app.viewport.flight.grounded = on;
    this.stick.hidden = !on || !window.matchMedia("(pointer: coarse)").matches;
    this.stop();
    if (on) this.tick();
  }

  private knob(): void {
    const [x, y] = this.finger;
    (this.stick.firstElementChild as HTMLElement).style.transform = `translate(${x * REACH}px, ${-y * REACH}px)`;
  }

  private tick = (): void => {
    if (!this.on) return;
    this.tell(false);
    requestAnimationFrame(this.tick);
  };

  /** Says where to go, where that has changed: as the camera sees it. */
  private tell(jump: boolean): void {
    let [across, ahead] = this.finger;
    for (const key of this.down) {
      const way = WAYS[key] ?? [0, 0];
      [across, ahead] = [across + way[0], ahead + way[1]];
    }
    let run = this.down.has("shift");
    const pad = firstPad();
    if (pad) {
      const [x, y] = stick(pad.axes[0], pad.axes[1]);
      [across, ahead] = [across + x, ahead - y];
      run ||= (pad.buttons[7]?.value ?? 0) > PRESSED;
      const pressed = pad.buttons[0]?.pressed ?? false;
      jump ||= pressed && !this.padJumped;
      this.padJumped = pressed;
    }
    const { camera, controls } = this.app.viewport;
    const [lx, lz] = [controls.target.x - camera.position.x, controls.target.z - camera.position.z];
    const far = Math.hypot(lx, lz) || 1;
    const most = Math.max(1, Math.hypot(across, ahead));
    // To the right of where the camera looks, (x, z), is (-z, x).
    const x = (ahead * lx - across * lz) / far / most;
    const z = (ahead * lz + across * lx) / far / most;
    const same = Math.abs(x - this.told[0]) < FINE && Math.abs(z - this.told[1]) < FINE && run === this.told[2];
    const stops = x === 0 && z === 0 && (this.told[0] !== 0 || this.told[1] !== 0);
    if (same && !jump && !stops) return;
    this.told = [x, z, run];
    if (jump) this.app.send({ type: "steer", x, z, run, jump });
    else this.app.sendLatest("steer", { type: "steer", x, z, run, jump: false });
  }
}
