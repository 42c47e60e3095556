/** The timeline of a clip: a ruler to scrub on, event marks, and curves of the picked joint on the same axis. */
import type { App } from "../app";
import type { Curves } from "../protocol";
import { clamp, h, onMove, plot, segmented, setText, themeColor } from "../ui/dom";

const PAD = 14;
const CHANNELS = ["euler", "rotation", "translation", "scale"] as const;
type ChannelName = (typeof CHANNELS)[number];
const NAMES: Record<ChannelName, string> = { euler: "Rotation", rotation: "Quaternion", translation: "Translation", scale: "Scale" };
const UNITS: Record<ChannelName, string> = { euler: "°", rotation: "", translation: " m", scale: "×" };
const LETTERS = ["x", "y", "z", "w"];
const SPOKEN_MS = 250;

export function timelinePanel(app: App): HTMLElement {
  let time = 0;
  let curves: Curves | null = null;
  let channel: ChannelName = "euler";
  let wanted = "";

  const duration = (): number => Math.max(app.state?.duration ?? 0, 1e-6);
  const toX = (t: number, width: number): number => PAD + (t / duration()) * (width - 2 * PAD);

  // -- ruler ------------------------------------------------------------------------------------------------------
  const ruler = plot("Timeline", (context, width, height) => {
    if (!app.clip) return;
    context.font = "10.5px Inter, system-ui, sans-serif";
    context.textBaseline = "top";
    const step = niceStep(duration() / Math.max(2, width / 80));
    context.fillStyle = themeColor("text-dim");
    context.strokeStyle = themeColor("line-strong");
    context.lineWidth = 1;
    context.beginPath();
    for (let t = 0; t <= duration() + 1e-6; t += step / 5) {
      const major = Math.abs(t / step - Math.round(t / step)) < 1e-3;
      const x = Math.round(toX(t, width)) + 0.5;
      context.moveTo(x, height);
      context.lineTo(x, height - (major ? 9 : 4));
      if (major) {
        context.textAlign = t === 0 ? "left" : "center";
        context.fillText(`${Number(t.toFixed(3))}s`, t === 0 ? x - 2 : x, 5);
      }
    }
    context.stroke();
    drawEvents(context, width, height);
    across = width;
    showTime();
  });

  function drawEvents(context: CanvasRenderingContext2D, width: number, height: number): void {
    context.fillStyle = themeColor("warm");
    for (const event of app.clip?.events ?? []) {
      const x = toX(event.time, width);
      context.beginPath();
      context.moveTo(x, height - 15);
      context.lineTo(x + 4, height - 10);
      context.lineTo(x, height - 5);
      context.lineTo(x - 4, height - 10);
      context.fill();
    }
  }

  // The cursors lie over the plots: as time passes they move, and nothing else is drawn again.
  const cursors = [h("div", { class: "time-cursor head" }), h("div", { class: "time-cursor" })];
  let across = 0;
  let spoken = 0;

  function showTime(): void {
    const x = toX(clamp(time, 0, duration()), across);
    for (const cursor of cursors) cursor.style.transform = `translateX(${x.toFixed(1)}px)`;
    legend();
    // Assistive technology reads along a few times a second; each change costs the browser a look at the whole page.
    const now = performance.now();
    if (app.state?.playing && now - spoken < SPOKEN_MS) return;
    spoken = now;
    track.setAttribute("aria-valuemax", duration().toFixed(3));
    track.setAttribute("aria-valuenow", time.toFixed(3));
    track.setAttribute("aria-valuetext", `${time.toFixed(2)} of ${duration().toFixed(2)} seconds`);
  }

  const track = ruler.canvas;
  track.classList.add("ruler");
  track.tabIndex = 0;
  track.setAttribute("role", "slider");
  track.setAttribute("aria-label", "Time in the clip");
  track.setAttribute("aria-valuemin", "0");
  const tip = h("div", { class: "tip", hidden: true });

  function scrub(event: PointerEvent): void {
    const frame = track.getBoundingClientRect();
    const t = clamp((event.clientX - frame.left - PAD) / (frame.width - 2 * PAD), 0, 1) * duration();
    time = t;
    app.sendLatest("seek", { type: "seek", time: t });
    showTime();
  }
  let resume = false;
  function scrubbing(canvas: HTMLCanvasElement): void {
    canvas.addEventListener("pointerdown", (event) => {
      if (!app.clip || app.state?.driven) return;
      canvas.setPointerCapture(event.pointerId);
      resume = app.state?.playing ?? false;
      if (resume) app.send({ type: "play", playing: false });
      scrub(event);
    });
    onMove(canvas, (event) => {
      if (canvas.hasPointerCapture(event.pointerId)) scrub(event);
    });
    canvas.addEventListener("pointerup", (event) => {
      if (!canvas.hasPointerCapture(event.pointerId)) return;
      canvas.releasePointerCapture(event.pointerId);
      if (resume) app.send({ type: "play", playing: true });
      resume = false;
    });
  }
  scrubbing(track);
  track.addEventListener("pointermove", (event) => {
    const frame = track.getBoundingClientRect();
    const near = app.clip?.events.find((mark) => Math.abs(toX(mark.time, frame.width) - (event.clientX - frame.left)) < 6);
    tip.hidden = !near;
    if (!near) return;
    tip.textContent = `${near.name} · ${near.time.toFixed(2)} s`;
    tip.style.left = `${toX(near.time, frame.width)}px`;
  });
  track.addEventListener("pointerleave", () => (tip.hidden = true));

  // -- curves -----------------------------------------------------------------------------------------------------
  const graph = plot("Curves of the picked joint", (context, width, height) => {
    if (!curves || !app.clip) return;
    const rows: number[][] = curves[channel];
    const width4 = rows[0]?.length ?? 0;
    let low = Infinity;
    let high = -Infinity;
    for (const row of rows) for (const value of row) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    const least = channel === "euler" ? 2 : 0.02;
    if (high - low < least) [low, high] = [(low + high - least) / 2, (low + high + least) / 2];
    const toY = (value: number): number => 8 + (1 - (value - low) / (high - low)) * (height - 16);
    context.font = "10.5px Inter, system-ui, sans-serif";
    context.textBaseline = "middle";
    const step = niceStep((high - low) / Math.max(2, height / 30));
    for (let value = Math.ceil(low / step) * step; value <= high + 1e-9; value += step) {
      context.strokeStyle = themeColor("line");
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(PAD, toY(value));
      context.lineTo(width - PAD, toY(value));
      context.stroke();
    }
    for (let c = 0; c < width4; c++) {
      context.strokeStyle = themeColor(`curve-${LETTERS[c]}`);
      context.lineWidth = 1.75;
      context.lineJoin = "round";
      context.beginPath();
      rows.forEach((row, i) => {
        const x = toX(curves!.times[i], width);
        if (i) context.lineTo(x, toY(row[c]));
        else context.moveTo(x, toY(row[c]));
      });
      context.stroke();
    }
    context.fillStyle = themeColor("text-dim");
    context.textAlign = "left";
    for (let value = Math.ceil(low / step) * step; value <= high + 1e-9; value += step)
      context.fillText(`${Number(value.toFixed(4))}${UNITS[channel]}`, PAD + 2, Math.max(7, toY(value) - 6));
  });
  scrubbing(graph.canvas);
  graph.canvas.classList.add("curves");
  const picker = segmented("Curve", CHANNELS.map((name) => [name, NAMES[name]] as const), (value) => {
    channel = value;
    picker.show(value);
    redraw();
    legend();
  });
  picker.show(channel);
  const values = h("span", { class: "curve-values" });
  const title = h("span", { class: "curve-title" });
  const empty = h("p", { class: "empty over" });
  const head = h("div", { class: "curve-head" }, title, picker.element, values);

  /** The values at the cursor, in the colours of their curves. */
  function legend(): void {
    if (!curves) {
      values.replaceChildren();
      return;
    }
    const { times } = curves;
    let i = times.findIndex((t) => t >= time);
    if (i < 0) i = times.length - 1;
    const row: number[] = curves[channel][i] ?? [];
    if (values.children.length !== row.length)
      values.replaceChildren(...row.map((_, c) => h("span", { class: "curve-value" }, h("i", { class: `dot-${LETTERS[c]}` }), h("span"))));
    row.forEach((value, c) => setText(values.children[c].lastElementChild!, `${LETTERS[c]} ${value.toFixed(channel === "euler" ? 1 : 3)}${UNITS[channel]}`));
  }

  async function refresh(): Promise<void> {
    const clip = app.clip;
    const joint = app.characters[0]?.joints[app.selected];
    const key = clip && joint ? `${app.characters[0]?.name}/${clip.name}/${app.selected}` : "";
    if (!key) empty.textContent = why(clip !== null);
    // There is nothing to scrub without a clip; the room stays, so that nothing jumps.
    track.style.visibility = clip ? "" : "hidden";
    cursors[0].hidden = !clip;
    cursors[1].hidden = !key;
    if (key === wanted) return;
    wanted = key;
    curves = null;
    const overlays = app.viewport.overlays();
    overlays?.clearPath();
    title.textContent = joint?.name ?? "";
    head.hidden = !key;
    empty.hidden = Boolean(key);
    redraw();
    if (!clip || !key) return;
    try {
      const query = { slot: 0, clip: clip.name, joint: app.selected };
      const [found, path] = await Promise.all([app.connection.json<Curves>("api/curves", query), app.fetchPath(query)]);
      if (wanted !== key) return;
      curves = found;
      overlays?.setPath(path.points, path.times);
      app.viewport.invalidate();
      redraw();
      legend();
    } catch (error) {
      if (wanted !== key) return;
      empty.hidden = false;
      head.hidden = true;
      empty.textContent = `The curves could not be fetched: ${(error as Error).message}`;
    }
  }

  /** Why there are no curves, and what to do about it. */
  function why(playing: boolean): string {
    if (!app.characters[0]) return "Nothing is open.";
    if (playing) return "Pick a joint in the view or the tree to see its curves.";
    return app.characters[0].clips.length ? "Choose a clip to see its timeline." : "There are no clips: the character stands in its rest pose.";
  }

  function redraw(): void {
    ruler.redraw();
    graph.redraw();
    showTime();
  }

  app.on("state", (state) => {
    time = state.time;
    redraw();
    void refresh();
  });
  app.on("frame", (frame) => {
    if (frame.slot !== 0 || app.state?.mode !== "clip" || frame.time === time) return;
    time = frame.time;
    showTime();
  });
  app.on("selection", () => void refresh());
  app.on("options", redraw);
  app.on("character", (slot) => {
    if (slot !== 0) return;
    wanted = "?";
    void refresh();
  });
  return h(
    "div", { class: "timeline" },
    h("div", { class: "track" }, track, cursors[0], tip),
    h("div", { class: "curve-box" }, head, graph.canvas, cursors[1], empty),
  );
}

/** A round number (1, 2 or 5 times a power of ten) at least as large. */
function niceStep(x: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(x, 1e-9)));
  for (const factor of [1, 2, 5, 10]) if (factor * power >= x) return factor * power;
  return 10 * power;
}
