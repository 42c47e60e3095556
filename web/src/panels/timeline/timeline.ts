/** The timeline of a clip: a ruler to scrub on, and below it the curves or the keys of the picked joints, on one time axis. */
import type { App } from "../../app";
import type { Curves, Keys } from "../../protocol";
import { button, clamp, h, segmented } from "../../ui/dom";
import { TimeAxis } from "./axis";
import { curvePlot } from "./curves";
import { dopeSheet } from "./dope";
import { eventDialog } from "./events";
import { timeRuler } from "./ruler";
import { scrubbing } from "./scrub";
import { clipTools } from "./tools";

/** Assistive technology reads along this often (ms); each change costs the browser a look at the whole page. */
const SPOKEN_MS = 250;
/** So many joints' curves are shown at once. */
const MOST_JOINTS = 5;

export function timelinePanel(app: App): HTMLElement {
  let time = 0;
  let wanted = "";
  let fitted = "";
  let shown: "curves" | "keys" = "curves";
  const duration = (): number => Math.max(app.state?.duration ?? 0, 1e-6);

  // -- parts ------------------------------------------------------------------------------------------------------
  const axis = new TimeAxis(() => redraw());
  const dialog = eventDialog(app);
  const moved = (t: number): void => {
    time = t;
    showTime();
  };
  const ruler = timeRuler(app, axis, moved, dialog.open);
  const curves = curvePlot(app, axis);
  const dope = dopeSheet(app, axis);
  for (const canvas of [curves.canvas, dope.canvas]) {
    scrubbing(app, axis, canvas, moved);
    axis.listen(canvas);
  }
  const kind = segmented("What is shown of the joints", [["curves", "Curves"], ["keys", "Keys"]] as const, (value) => {
    shown = value;
    kind.show(value);
    wanted = "?";
    void refresh();
  });
  kind.show(shown);
  const title = h("span", { class: "curve-title" });
  const empty = h("p", { class: "empty over" });
  const zoom = h(
    "div", { class: "clip-tools", role: "group", "aria-label": "Time shown" },
    button({ label: "Less of the clip", text: "+", onclick: () => axis.zoom(0.6, time) }),
    button({ label: "More of the clip", text: "−", onclick: () => axis.zoom(1 / 0.6, time) }),
    button({ label: "The whole clip", text: "All", onclick: () => axis.fit(duration()) }),
  );
  const head = h("div", { class: "curve-head" }, kind.element, title, curves.picker, curves.values, h("span", { class: "space" }), zoom, clipTools(app, () => dialog.open(null, time)));
  kind.element.hidden = !app.source.can.has("keys");

  // The cursors lie over the plots: as time passes they move, and nothing else is drawn again.
  const cursors = [h("div", { class: "time-cursor head" }), h("div", { class: "time-cursor" })];
  ruler.element.append(cursors[0]);
  const plots = h("div", { class: "curve-plots" }, curves.canvas, dope.element, cursors[1], empty);
  const track = ruler.canvas;
  let spoken = 0;

  function showTime(): void {
    const x = axis.toX(clamp(time, 0, duration()), track.clientWidth);
    const inside = x >= 0 && x <= track.clientWidth;
    for (const cursor of cursors) {
      cursor.style.transform = `translateX(${x.toFixed(1)}px)`;
      cursor.style.visibility = inside ? "" : "hidden";
    }
    curves.legend(time);
    const now = performance.now();
    if (app.state?.playing && now - spoken < SPOKEN_MS) return;
    spoken = now;
    track.setAttribute("aria-valuemax", duration().toFixed(3));
    track.setAttribute("aria-valuenow", time.toFixed(3));
    track.setAttribute("aria-valuetext", `${time.toFixed(2)} of ${duration().toFixed(2)} seconds`);
  }

  // -- what is shown ----------------------------------------------------------------------------------------------
  async function refresh(): Promise<void> {
    const clip = app.clip;
    const info = app.characters[0];
    const joints = app.joints.slice(0, MOST_JOINTS);
    const listed = shown === "keys" || joints.length > 0;
    const key = clip && listed ? [info?.name, clip.name, clip.duration, shown, ...app.joints].join("/") : "";
    if (!key) empty.textContent = why(clip !== null);
    // There is nothing to scrub without a clip; the room stays, so that nothing jumps.
    track.style.visibility = clip ? "" : "hidden";
    cursors[0].hidden = !clip;
    cursors[1].hidden = !key;
    title.hidden = shown === "keys" || !key;
    title.textContent = title.title = joints.map((joint) => info?.joints[joint]?.name ?? "").join(", ");
    curves.picker.hidden = curves.values.hidden = shown !== "curves" || !key;
    curves.canvas.hidden = shown !== "curves";
    dope.element.hidden = shown !== "keys";
    if (key === wanted) return;
    wanted = key;
    curves.show([]);
    dope.show(null);
    empty.hidden = Boolean(key);
    redraw();
    if (!clip || !key) return;
    try {
      if (shown === "keys") await fetchKeys(key, clip.name, joints);
      else await fetchCurves(key, clip.name, joints);
    } catch (error) {
      if (wanted !== key) return;
      empty.hidden = false;
      empty.textContent = `What belongs here could not be fetched: ${(error as Error).message}`;
    }
  }

  async function fetchCurves(key: string, clip: string, joints: number[]): Promise<void> {
    const of = (joint: number): { slot: number; clip: string; joint: number } => ({ slot: 0, clip, joint });
    const found = await Promise.all(joints.map((joint) => app.source.json<Curves>("api/curves", of(joint))));
    if (wanted !== key) return;
    curves.show(found);
    redraw();
  }

  async function fetchKeys(key: string, clip: string, joints: number[]): Promise<void> {
    const found = await app.source.json<Keys>("api/keys", { slot: 0, clip, ...(joints.length ? { joints: app.joints.join(",") } : {}) });
    if (wanted !== key) return;
    dope.show(found);
    empty.hidden = found.joints.length > 0 || found.morphs.length > 0;
    empty.textContent = joints.length ? "The picked joints have no keys in this clip." : "This clip has no keys.";
  }

  /** Why there is nothing to see, and what to do about it. */
  function why(playing: boolean): string {
    if (!app.characters[0]) return "Nothing is open.";
    if (playing) return "Pick a joint in the view or the tree to see its curves.";
    return app.characters[0].clips.length ? "Choose a clip to see its timeline." : "There are no clips: the character stands in its rest pose.";
  }

  function redraw(): void {
    ruler.redraw();
    curves.redraw();
    dope.redraw();
    showTime();
  }

  app.on("state", (state) => {
    time = state.time;
    const fit = `${state.clip} ${state.duration}`;
    if (fit !== fitted) {
      fitted = fit;
      axis.fit(state.duration);
    } else redraw();
    void refresh();
  });
  app.on("frame", (frame) => {
    if (frame.slot !== 0 || app.state?.mode !== "clip" || frame.time === time) return;
    time = frame.time;
    axis.follow(time);
    showTime();
  });
  app.on("selection", () => void refresh());
  app.on("options", redraw);
  app.on("character", (slot) => {
    if (slot !== 0) return;
    wanted = "?";
    void refresh();
  });
  new ResizeObserver(showTime).observe(track);
  return h("div", { class: "timeline" }, ruler.element, h("div", { class: "curve-box" }, head, plots), dialog.element);
}
