/** What can be done with the clip that plays: tools that change it, with undo, and the part of it that is looped. */
import type { App } from "../../app";
import type { EditClip } from "../../protocol";
import { button, h, icon } from "../../ui/dom";
import { menuBox } from "../../ui/menu";
import { ask } from "../ask";

type Tool = EditClip["tool"];

export function clipTools(app: App, addEvent: () => void): HTMLElement {
  const edit = (tool: Tool, more: Partial<EditClip> = {}): void => {
    const clip = app.state?.clip;
    if (clip) app.send({ type: "edit", clip, tool, ...more });
  };
  const range = (): [number, number] => app.state?.range ?? [0, app.state?.duration ?? 0];
  const named = async (tool: Tool, question: string, suggestion: string): Promise<void> => {
    const name = await ask(question, suggestion);
    if (name) edit(tool, { name });
  };
  const items: [string, string, () => void][] = [
    ["Trim to the looped part", "Keeps what is between the ends of the looped part", () => edit("trim", { start: range()[0], end: range()[1] })],
    ["Close the loop seam", "Blends the end into the beginning, over a fifth of a second", () => edit("loop_seam", { seconds: 0.2 })],
    ["In place", "Takes the way over the floor out", () => edit("in_place")],
    ["Mirror", "Left becomes right", () => edit("mirror")],
    ["Reverse", "Plays backwards", () => edit("reverse")],
    ["Mark foot contacts", "Adds events where feet come down and leave", () => edit("contacts")],
    ["Add an event here", "Or double-click on the ruler", addEvent],
    ["Rename…", "", () => void named("rename", "New name of the clip", app.state?.clip ?? "")],
    ["Duplicate…", "", () => void named("duplicate", "Name of the copy", `${app.state?.clip ?? ""} copy`)],
    ["Remove", "", () => edit("remove")],
  ];
  const menu = h("div", { class: "menu up", role: "menu", "aria-label": "Clip tools" }, ...items.map(([text, title, run]) =>
    h("button", { type: "button", role: "menuitem", class: "menu-item", title, onclick: run }, h("span", {}, text))));
  const opener = button({ label: "Clip tools", text: "Edit" });
  opener.append(icon("down"));
  const box = menuBox(opener, menu);

  const time = (): number => app.viewport.character()?.time ?? app.state?.time ?? 0;
  const begin = button({ label: "Loop from here ([)", text: "[", onclick: () => setRange("start") });
  const end = button({ label: "Loop up to here (])", text: "]", onclick: () => setRange("end") });
  const whole = button({ label: "Loop the whole clip", text: "Whole", onclick: () => app.send({ type: "range", start: null, end: null }) });
  function setRange(which: "start" | "end"): void {
    if (!app.clip) return;
    const [a, b] = range();
    const t = time();
    const duration = app.state?.duration ?? 0;
    const [start, stop] = which === "start" ? [t, b > t + 0.01 ? b : duration] : [a < t - 0.01 ? a : 0, t];
    if (stop - start > 0.005) app.send({ type: "range", start, end: stop });
  }
  const undo = button({ label: "Undo (Ctrl Z)", icon: "undo", onclick: () => app.send({ type: "undo" }) });
  const redo = button({ label: "Redo (Ctrl Shift Z)", icon: "redo", onclick: () => app.send({ type: "redo" }) });
  window.addEventListener("keydown", (event) => {
    if ((event.target as HTMLElement).matches("input:not([type=range]):not([type=checkbox]), textarea, select") || document.querySelector("dialog[open]")) return;
    const key = event.key.toLowerCase();
    if ((event.ctrlKey || event.metaKey) && key === "z" && app.source.can.has("edit")) app.send({ type: event.shiftKey ? "redo" : "undo" });
    else if (event.ctrlKey || event.metaKey || event.altKey) return;
    else if (key === "[") setRange("start");
    else if (key === "]") setRange("end");
    else return;
    event.preventDefault();
  });
  const allow = (): void => {
    const { state } = app;
    if (!state) return;
    const none = state.driven || !app.clip;
    for (const control of [opener, begin, end]) control.disabled = none;
    whole.disabled = none || !state.range;
    undo.disabled = !state.undo;
    redo.disabled = !state.redo;
    undo.title = state.undo ? `Undo: ${state.undo} (Ctrl Z)` : "Nothing to undo";
    redo.title = state.redo ? `Redo: ${state.redo} (Ctrl Shift Z)` : "Nothing to redo";
  };
  app.on("state", allow);
  app.on("character", allow);
  return h("div", { class: "clip-tools", role: "group", "aria-label": "Clip" }, begin, end, whole, ...(app.source.can.has("edit") ? [undo, redo, box] : []));
}
