/** Joints that are held, for which the whole body bends: which they are, how far they are off, and where the picked one shall be. */
import type { App } from "../app";
import { button, h } from "../ui/dom";
import { metres } from "../ui/lengths";
import { copyText } from "./code";

/** A joint is where it is held within this part of the character's size. */
const REACHED = 0.0005;
const AXES = ["X", "Y", "Z"] as const;

export function effectorTools(app: App): { element: HTMLElement; show: () => void } {
  const words = h("p", { class: "note" }, "Drag a handle: the whole body bends so that it gets there. A disc stays where it was put, a square where the pose has it; rings go along.");
  const list = h("div", { class: "effectors", role: "group", "aria-label": "Effectors" });
  const fields = AXES.map((axis, i) => h("input", {
    type: "number", step: 0.01, class: "number", "aria-label": `${axis} of the picked joint's target in metres`,
    onchange: () => moveTo(i),
  }));
  const place = h("div", { class: "effector-place" }, ...AXES.flatMap((axis, i) => [h("span", { "aria-hidden": "true" }, axis), fields[i]]));
  const reset = button({ label: "Let all joints go, but for the feet", text: "Put back", onclick: () => app.send({ type: "reset_effectors" }) });
  const copy = button({ label: "Copy the body's pose as Python code", icon: "code", text: "Copy code", onclick: () => void copyCode() });
  const element = h("div", { hidden: true }, words, list, place, h("div", { class: "buttons" }, reset, copy));
  let rows: { joint: number; name: HTMLElement; note: HTMLElement; hold: HTMLButtonElement }[] = [];

  async function copyCode(): Promise<void> {
    try {
      await copyText(await app.source.text("api/code"), "The pose was copied as Python code");
    } catch (error) {
      app.emit("problem", (error as Error).message);
    }
  }

  /** Holds a joint where it is, or lets it go. */
  function toggle(joint: number): void {
    const { handles, pickedInstance: instance } = app.viewport;
    if (handles.how(joint) !== "free") app.send({ type: "free", joint, instance });
    else app.send({ type: "effector", joint, place: handles.place(joint).toArray(), instance });
  }

  function moveTo(axis: number): void {
    const value = fields[axis].valueAsNumber;
    const joint = app.selected;
    if (joint < 0 || !Number.isFinite(value)) return;
    const at = app.viewport.handles.wanted(joint).setComponent(axis, value);
    app.send({ type: "effector", joint, place: at.toArray(), instance: app.viewport.pickedInstance });
  }

  function build(joints: number[]): void {
    rows = joints.map((joint) => {
      const name = h("button", { type: "button", class: "row", onclick: () => app.select(joint) }, h("span", { class: "row-name" }, app.characters[0]!.joints[joint].name));
      const note = h("span", { class: "row-note" });
      name.append(note);
      const hold = button({ label: `Hold ${app.characters[0]!.joints[joint].name}`, text: "Hold", pressed: false, onclick: () => toggle(joint) });
      return { joint, name, note, hold };
    });
    list.replaceChildren(...rows.map(({ name, hold }) => h("div", { class: "effector" }, name, hold)));
  }

  function show(): void {
    const { handles } = app.viewport;
    element.hidden = !handles.on;
    const view = app.viewport.character();
    if (!handles.on || !view?.count || !app.characters[0]) return;
    const joints = handles.joints;
    if (joints.join() !== rows.map(({ joint }) => joint).join()) build(joints);
    let placed = false;
    for (const { joint, name, note, hold } of rows) {
      const how = handles.how(joint);
      placed ||= how === "placed";
      const far = how === "placed" ? handles.distance(joint) : 0;
      note.textContent = how === "free" ? "goes along" : how === "posed" ? "as played" : far > REACHED * view.size ? `${metres(far)} off` : "reached";
      note.classList.toggle("off", far > REACHED * view.size);
      hold.setAttribute("aria-pressed", String(how !== "free"));
      name.setAttribute("aria-current", String(joint === app.selected));
    }
    copy.disabled = !placed;
    place.hidden = app.selected < 0;
    if (app.selected >= 0) {
      const at = handles.wanted(app.selected).toArray();
      fields.forEach((field, i) => document.activeElement !== field && (field.value = at[i].toFixed(3)));
    }
  }

  for (const event of ["state", "selection", "character", "rig"] as const) app.on(event, show);
  app.on("frame", (frame) => frame.slot === 0 && element.offsetParent && show());
  return { element, show };
}
