/** How many there are, and what that costs. */
import type { App } from "../app";
import type { Stats } from "../protocol";
import { clamp, h, toggle } from "../ui/dom";
import { metres } from "../ui/lengths";

const STEPS = 1000;

export function crowdPanel(app: App): HTMLElement {
  let most = 2000;
  const streams = app.source.can.has("stream");
  // The slider is logarithmic: as much room from 1 to 10 as from 200 to 2,000.
  const toCount = (position: number): number => clamp(Math.round(most ** (position / STEPS)), 1, most);
  const toPosition = (count: number): number => Math.round((STEPS * Math.log(count)) / Math.log(most));
  const number = h("input", { type: "number", class: "number", min: "1", max: String(most), value: "1", "aria-label": "Number of characters", onchange: () => send(Number(number.value)) });
  const slider = h("input", { type: "range", min: "0", max: String(STEPS), value: "0", "aria-label": "Number of characters", oninput: () => {
    number.value = String(toCount(Number(slider.value)));
    send(Number(number.value));
  } });
  const spread = toggle("Spread times and parameters", (on) => app.send({ type: "spread", on }));
  const send = (count: number): void => {
    if (Number.isFinite(count)) app.sendLatest("count", { type: "count", value: clamp(Math.round(count), 1, most) });
  };

  const figures = {
    ms: figure("Engine update", "ms"),
    us: figure("Per character", "µs"),
    kb: figure("Stream", "kB/s"),
    rate: figure("Updates", "per s"),
    fps: figure("Pictures", "per s"),
    viewers: figure("Viewers", ""),
  };

  const shown = Object.values(figures).filter((f) => streams || (f !== figures.kb && f !== figures.viewers));

  app.on("hello", (hello) => {
    most = hello.max_count;
    number.max = String(most);
  });
  app.on("state", (state) => {
    if (document.activeElement !== number) number.value = String(state.count);
    if (!slider.matches(":active")) slider.value = String(toPosition(state.count));
    spread.show(state.spread);
    for (const control of [slider, number, spread.input]) control.disabled = state.driven;
  });
  app.on("stats", (stats) => {
    // Nothing moves, nothing is updated: that is not an update of no time.
    figures.ms.show(stats.ms_per_update > 0 ? stats.ms_per_update.toFixed(2) : "–");
    figures.us.show(stats.us_per_character <= 0 ? "–" : stats.us_per_character < 100 ? stats.us_per_character.toFixed(1) : stats.us_per_character.toFixed(0));
    figures.kb.show(stats.kb_per_s.toFixed(0));
    figures.rate.show(stats.fps.toFixed(0));
    figures.viewers.show(String(stats.clients));
  });
  const limits = h("p", { class: "note", role: "status" });
  const wire = h("p", { class: "note" });
  let drawn = 0;
  let last: Stats | null = null;
  app.on("stats", (stats) => {
    last = stats;
    wire.textContent = stats.wire_error > 0 ? `Joints travel with 16 bits a number: vertices are within ${metres(stats.wire_error)} of the engine's.` : "";
  });
  window.setInterval(() => {
    const pictures = app.viewport.drawn - drawn;
    figures.fps.show(String(pictures));
    drawn = app.viewport.drawn;
    limits.textContent = app.state?.playing && last ? limit(last, pictures, app.viewport.pace) : "";
  }, 1000);

  return h(
    "div", { class: "panel" },
    h("section", {}, h("h2", {}, "Crowd"), h("div", { class: "slider-row" }, slider, number), spread.element,
      h("p", { class: "note" }, "One engine update moves them all. Spread gives each its own time and parameters.")),
    h("section", {}, h("h2", {}, "Now"), h("dl", { class: "figures" }, ...shown.map((f) => f.element)), limits, wire),
  );
}

/** What keeps the crowd from being fluent, in words: the slowest of engine, wire and drawing. */
function limit(stats: Stats, pictures: number, pace: { cost: number; software: boolean }): string {
  const fluent = 1000 / 60;
  if (pictures >= 55) return "Nothing limits: the picture is fluent.";
  if (pace.cost > 1.1 * fluent && pace.cost >= stats.ms_per_update)
    return `Drawing limits: ${pace.cost.toFixed(0)} ms a picture${pace.software ? ", as this browser draws in software. A graphics card draws a hundred times as fast." : ". Fewer characters, coarser levels or a smaller window help."}`;
  if (stats.ms_per_update > 0.8 * fluent) return `The engine limits: ${stats.ms_per_update.toFixed(1)} ms an update. Levels of detail with fewer joints help.`;
  if (stats.fps < 50) return `The connection limits: ${(stats.kb_per_s / 1000).toFixed(1)} MB/s arrive as ${stats.fps.toFixed(0)} updates a second.`;
  return `The browser limits: it shows ${pictures} pictures a second of ${stats.fps.toFixed(0)} that arrive.`;
}

function figure(label: string, unit: string): { element: HTMLElement; show: (text: string) => void } {
  const value = h("b", {}, "–");
  return {
    element: h("div", {}, h("dt", {}, label), h("dd", {}, value, unit ? h("span", {}, unit) : null)),
    show: (text) => void (value.textContent = text),
  };
}
