/** Play, pause, step, speed, loop and the time. */
import type { App } from "../app";
import { button, h, icon } from "../ui/dom";

const SPEEDS = [0.1, 0.25, 0.5, 1, 1.5, 2, 4, -1];

const CLOCK_MS = 80;

export function transport(app: App): HTMLElement {
  const play = button({ label: "Play (space)", icon: "play", class: "primary", onclick: () => app.send({ type: "play", playing: !app.state?.playing }) });
  const previous = button({ label: "Previous clip (2)", icon: "previous", onclick: () => app.stepClip(-1) });
  const next = button({ label: "Next clip (1)", icon: "next", onclick: () => app.stepClip(1) });
  const loop = button({ label: "Loop (L)", icon: "loop", pressed: true, onclick: () => app.send({ type: "loop", value: !app.state?.loop }) });
  const speed = h(
    "select", { "aria-label": "Speed", title: "Speed", onchange: () => app.send({ type: "speed", value: Number(speed.value) }) },
    ...SPEEDS.map((value) => h("option", { value: String(value) }, value < 0 ? `${value}× back` : `${value}×`)),
  );
  const name = h("span", { class: "clip-name" });
  const clock = h("span", { class: "clock", role: "timer", "aria-live": "off", "aria-label": "Time" });
  let shown = "";
  let shownAt = 0;

  function tick(time: number): void {
    const state = app.state;
    if (!state) return;
    // A clock that changes with every picture cannot be read, and is drawn anew each time.
    const now = performance.now();
    if (state.playing && now - shownAt < CLOCK_MS) return;
    shownAt = now;
    const duration = state.mode === "clip" ? state.duration : 0;
    const frame = app.clip ? Math.round(time * app.clip.rate) : 0;
    const text = duration > 0 ? `${time.toFixed(2)} / ${duration.toFixed(2)} s · frame ${frame}` : `${time.toFixed(1)} s`;
    if (text !== shown) clock.textContent = shown = text;
  }

  app.on("state", (state) => {
    const playing = state.playing && (state.mode === "graph" || state.duration > 0);
    play.replaceChildren(icon(playing ? "pause" : "play"));
    const label = playing ? "Pause (space)" : "Play (space)";
    play.setAttribute("aria-label", label);
    play.title = label;
    loop.setAttribute("aria-pressed", String(state.loop));
    const known = SPEEDS.includes(state.speed);
    speed.querySelector("[data-other]")?.remove();
    if (!known) speed.append(h("option", { value: String(state.speed), "data-other": "" }, `${state.speed.toFixed(2)}×`));
    speed.value = String(state.speed);
    allow();
    showName();
    tick(state.time);
  });
  /** What can be done just now: not everything is ours to control, and not everything has clips. */
  function allow(): void {
    const driven = app.state?.driven ?? true;
    const clips = app.characters[0]?.clips.length ?? 0;
    for (const control of [previous, next, loop]) control.disabled = driven || clips === 0;
    loop.disabled ||= app.state?.mode === "graph";
    const moves = app.state?.mode === "graph" || (app.state?.duration ?? 0) > 0;
    for (const control of [play, speed]) control.disabled = driven || !moves;
  }
  function showName(): void {
    const still = app.state?.slots.includes(0) ? "Rest pose" : "";
    name.textContent = app.state?.mode === "graph" ? (app.characters[0]?.graph?.name || "Graph") : app.state?.clip ? app.clipLabel(app.state.clip) : still;
    name.title = app.state?.mode === "clip" ? (app.state.clip ?? "") : name.textContent;
  }
  app.on("character", () => {
    allow();
    showName();
  });
  app.on("frame", (frame) => frame.slot === 0 && tick(frame.time));
  return h("div", { class: "transport", role: "group", "aria-label": "Playback" }, previous, play, next, loop, speed, name, clock);
}
