/** The picked joint's numbers as they are now: its own transform, its place, and before and after each layer of the graph. */
import type { App } from "../app";
import type { JointNumbers, Transform } from "../protocol";
import { h } from "../ui/dom";

/** While things move, numbers that change faster than this (ms) cannot be read. */
const EVERY_MS = 250;

export function jointNumbers(app: App): HTMLElement {
  const title = h("h2", {}, "Picked joint");
  const body = h("div", {});
  const section = h("section", {}, title, body);
  let asked = 0;
  let waiting = false;
  let askedAt = 0;

  async function refresh(): Promise<void> {
    const joint = app.characters[0]?.joints[app.selected];
    title.textContent = joint ? joint.name : "Picked joint";
    if (!joint) {
      body.replaceChildren(h("p", { class: "note" }, "Pick a joint in the view or the tree to see its numbers."));
      return;
    }
    // A hidden panel asks nothing.
    if (!section.offsetParent || waiting) return;
    waiting = true;
    askedAt = performance.now();
    const turn = ++asked;
    try {
      const found = await app.source.json<JointNumbers>("api/joint", { slot: 0, joint: app.selected, instance: app.viewport.pickedInstance });
      if (turn === asked && found.joint === app.selected) body.replaceChildren(...describe(found));
    } catch (error) {
      if (turn === asked) body.replaceChildren(h("p", { class: "note" }, (error as Error).message));
    } finally {
      waiting = false;
    }
  }

  app.on("selection", () => void refresh());
  app.on("character", (slot) => slot === 0 && void refresh());
  app.on("state", () => void refresh());
  app.on("frame", (frame) => {
    if (frame.slot === 0 && app.selected >= 0 && performance.now() - askedAt > EVERY_MS) void refresh();
  });
  new ResizeObserver(() => void refresh()).observe(section);
  return section;
}

function describe(found: JointNumbers): HTMLElement[] {
  const { model } = found;
  const place: [number, number, number] = [model[3], model[7], model[11]];
  return [
    transformTable([["", found.local]], [["Place", place, 3, "m"]]),
    ...found.layers.map((layer) => h("div", { class: "layer" }, h("h3", {}, layer.title), transformTable([["before", layer.before], ["after", layer.after]], []))),
  ];
}

/** Transforms side by side, a row for each kind of number. */
function transformTable(columns: [string, Transform][], more: [string, number[], number, string][]): HTMLElement {
  const rows: [string, (t: Transform) => number[], number, string][] = [
    ["Translation", (t) => t.translation, 3, "m"], ["Rotation", (t) => t.euler, 1, "°"], ["Quaternion", (t) => t.rotation, 3, ""], ["Scale", (t) => t.scale, 3, ""],
  ];
  const cells = (values: number[], digits: number, unit: string): HTMLElement => h("td", {}, values.map((v) => v.toFixed(digits)).join("  "), unit ? h("span", { class: "unit" }, ` ${unit}`) : null);
  const head = columns.some(([name]) => name) ? h("thead", {}, h("tr", {}, h("td", {}), ...columns.map(([name]) => h("th", { scope: "col" }, name)))) : null;
  return h(
    "table", { class: "numbers" }, head,
    h("tbody", {},
      ...rows.map(([name, of, digits, unit]) => h("tr", {}, h("th", { scope: "row" }, name), ...columns.map(([, t]) => cells(of(t), digits, unit)))),
      ...more.map(([name, values, digits, unit]) => h("tr", {}, h("th", { scope: "row" }, name), cells(values, digits, unit)))),
  );
}
