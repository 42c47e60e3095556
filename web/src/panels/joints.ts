/** The skeleton as a tree: click a joint to pick it. */
import type { App } from "../app";
import { h, icon } from "../ui/dom";

/** How far (px) the deepest joint may step in. */
const WIDEST_INDENT = 120;

export function jointsPanel(app: App): HTMLElement {
  const search = h("input", { type: "search", placeholder: "Search joints", "aria-label": "Search joints", oninput: () => refresh() });
  const tree = h("ul", { class: "list tree", role: "tree", "aria-label": "Joints", "aria-multiselectable": "true" });
  const empty = h("p", { class: "empty", hidden: true });
  let rows: HTMLElement[] = [];
  let depth: number[] = [];
  const closed = new Set<number>();

  function fill(): void {
    const joints = app.characters[0]?.joints ?? [];
    closed.clear();
    depth = [];
    const parents = new Set(joints.map((joint) => joint.parent));
    joints.forEach((joint, j) => (depth[j] = joint.parent < 0 ? 0 : depth[joint.parent] + 1));
    rows = joints.map((joint, j) => {
      const folder = parents.has(j);
      const twist = h("span", { class: `twist ${folder ? "" : "leaf"}`, onclick: (event: MouseEvent) => {
        event.stopPropagation();
        fold(j, !closed.has(j));
      } }, folder ? icon("down") : null);
      return h(
        "li",
        {
          role: "treeitem", class: "row joint", tabIndex: -1, "data-joint": j, "aria-level": depth[j] + 1, "aria-selected": "false",
          "aria-expanded": folder ? "true" : undefined, title: joint.name,
          onclick: (event: MouseEvent) => (event.ctrlKey || event.metaKey || event.shiftKey ? app.selectAlso(j) : app.select(app.selected === j ? -1 : j)),
          onkeydown: (event: KeyboardEvent) => key(event, j),
        },
        twist,
        h("span", { class: "row-name" }, joint.name),
      );
    });
    // Trees in depth-first order: parents come before children, but siblings' children may be mixed.
    const order: number[] = [];
    const walk = (parent: number): void =>
      joints.forEach((joint, j) => {
        if (joint.parent === parent) {
          order.push(j);
          walk(j);
        }
      });
    walk(-1);
    // Deep skeletons step in by less, so that their names can still be read.
    const step = Math.min(10, WIDEST_INDENT / Math.max(1, ...depth));
    rows.forEach((row, j) => row.style.setProperty("--indent", `${(step * depth[j]).toFixed(1)}px`));
    tree.replaceChildren(...order.map((j) => rows[j]));
    if (rows[0]) rows[0].tabIndex = 0;
    refresh();
    mark(app.selected);
  }

  function fold(j: number, close: boolean): void {
    if (close) closed.add(j);
    else closed.delete(j);
    rows[j].setAttribute("aria-expanded", String(!close));
    refresh();
  }

  function refresh(): void {
    const joints = app.characters[0]?.joints ?? [];
    const wanted = search.value.trim().toLowerCase();
    let shown = 0;
    rows.forEach((row, j) => {
      let hidden = wanted ? !joints[j].name.toLowerCase().includes(wanted) : false;
      if (!wanted) for (let p = joints[j].parent; p >= 0 && !hidden; p = joints[p].parent) hidden = closed.has(p);
      row.hidden = hidden;
      if (!hidden) shown++;
    });
    tree.classList.toggle("flat", Boolean(wanted));
    empty.hidden = shown > 0;
    tree.hidden = shown === 0;
    empty.textContent = joints.length ? "No joint has that in its name." : "Nothing is open.";
  }

  function key(event: KeyboardEvent, j: number): void {
    const visible = [...tree.children].filter((row) => !(row as HTMLElement).hidden) as HTMLElement[];
    const at = visible.indexOf(rows[j]);
    let target: HTMLElement | undefined;
    if (event.key === "ArrowDown") target = visible[at + 1];
    else if (event.key === "ArrowUp") target = visible[at - 1];
    else if (event.key === "ArrowLeft" && rows[j].hasAttribute("aria-expanded")) fold(j, true);
    else if (event.key === "ArrowRight" && rows[j].hasAttribute("aria-expanded")) fold(j, false);
    else if (event.key === "Enter") app.select(j);
    else return;
    event.preventDefault();
    event.stopPropagation();
    target?.focus();
  }

  function mark(joint: number): void {
    rows.forEach((row, j) => {
      row.setAttribute("aria-selected", String(j === joint || app.also.has(j)));
      row.tabIndex = j === Math.max(0, joint) ? 0 : -1;
    });
    if (joint < 0 || !rows[joint]) return;
    const joints = app.characters[0]?.joints ?? [];
    for (let p = joints[joint].parent; p >= 0; p = joints[p].parent) if (closed.has(p)) fold(p, false);
    rows[joint].scrollIntoView({ block: "nearest" });
  }

  app.on("character", (slot) => slot === 0 && fill());
  app.on("selection", mark);
  fill();
  return h("div", { class: "panel column" }, h("label", { class: "search" }, icon("search"), search), tree, empty);
}
