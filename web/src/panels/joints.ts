/** The skeleton as a tree: click a joint to pick it. */
import type { App } from "../app";
import { h, icon } from "../ui/dom";
import { VirtualList } from "../ui/virtual_list";
import { JointTree } from "./joint_tree";

/** How far (px) the deepest joint may step in. */
const WIDEST_INDENT = 120;

export function jointsPanel(app: App): HTMLElement {
  const search = h("input", { type: "search", placeholder: "Search joints", "aria-label": "Search joints", oninput: () => {
    tree.search(search.value);
    refresh();
  } });
  // The list has the keyboard, not its rows: those come and go.
  const list = h("ul", { class: "list tree", role: "tree", tabIndex: 0, "aria-label": "Joints", "aria-multiselectable": "true", onclick: click, onkeydown: key });
  const empty = h("p", { class: "empty", hidden: true });
  const rows = new VirtualList(list, make, show);
  let tree = new JointTree([]);
  /** The joint that keys are about. */
  let active = -1;

  function fill(): void {
    const joints = app.characters[0]?.joints ?? [];
    // Where clips were edited the joints are the same: what is open, and how far it was scrolled, stays.
    if (app.kept && tree.isOf(joints)) return;
    tree = new JointTree(joints);
    tree.search(search.value);
    active = -1;
    rows.clear();
    refresh();
    mark(app.selected);
  }

  function make(j: number): HTMLElement {
    const { name } = tree.joints[j];
    return h(
      "li", { role: "treeitem", class: "row joint", id: `joint-${j}`, "data-joint": j, title: name },
      h("span", { class: `twist ${tree.children[j] ? "" : "leaf"}` }, tree.children[j] ? icon("down") : null), h("span", { class: "row-name" }, name),
    );
  }

  function show(row: HTMLElement, j: number): void {
    const above = tree.joints[j].parent;
    // Deep skeletons step in by less, so that their names can still be read.
    const step = Math.min(10, WIDEST_INDENT / Math.max(1, tree.deepest));
    row.style.setProperty("--indent", `${(step * tree.depth[j]).toFixed(1)}px`);
    row.classList.toggle("active", j === active);
    row.setAttribute("aria-selected", String(j === app.selected || app.also.has(j)));
    row.setAttribute("aria-level", String(tree.searching ? 1 : tree.depth[j] + 1));
    // Roots are few: those of a skeleton are not counted among each other.
    if (above >= 0 && !tree.searching) {
      row.setAttribute("aria-posinset", String(tree.position[j] + 1));
      row.setAttribute("aria-setsize", String(tree.children[above]));
    }
    if (tree.children[j] && !tree.searching) row.setAttribute("aria-expanded", String(!tree.isClosed(j)));
    else row.removeAttribute("aria-expanded");
  }

  function refresh(): void {
    list.classList.toggle("flat", tree.searching);
    empty.hidden = tree.shown.length > 0;
    list.hidden = tree.shown.length === 0;
    empty.textContent = tree.joints.length ? "No joint has that in its name." : "Nothing is open.";
    rows.set(tree.shown);
  }

  function fold(j: number, close: boolean): void {
    tree.fold(j, close);
    // What the keys are about does not disappear.
    if (close && active >= 0 && tree.where(active) < 0) active = j;
    refresh();
    activate(active);
  }

  function click(event: MouseEvent): void {
    const row = (event.target as Element).closest<HTMLElement>("[data-joint]");
    if (!row) return;
    const j = Number(row.dataset["joint"]);
    const twist = (event.target as Element).closest(".twist");
    if (twist && tree.children[j] && !tree.searching) fold(j, !tree.isClosed(j));
    else if (event.ctrlKey || event.metaKey || event.shiftKey) app.selectAlso(j);
    else app.select(app.selected === j ? -1 : j);
  }

  function key(event: KeyboardEvent): void {
    const { shown } = tree;
    const at = tree.where(active >= 0 ? active : app.selected);
    const j = shown[at] ?? -1;
    const folder = j >= 0 && tree.children[j] > 0 && !tree.searching;
    const to = (position: number): void => activate(shown[Math.min(shown.length - 1, Math.max(0, position))] ?? -1);
    const moves: Record<string, () => void> = {
      ArrowDown: () => to(at + 1),
      ArrowUp: () => to(at - 1),
      PageDown: () => to(at + rows.page),
      PageUp: () => to(at - rows.page),
      Home: () => to(0),
      End: () => to(shown.length - 1),
      ArrowLeft: () => (folder && !tree.isClosed(j) ? fold(j, true) : activate(tree.searching || j < 0 ? j : tree.joints[j].parent)),
      ArrowRight: () => (folder && tree.isClosed(j) ? fold(j, false) : activate(folder ? tree.firstChild(j) : j)),
      Enter: () => j >= 0 && app.select(j),
    };
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    move();
    event.preventDefault();
    event.stopPropagation();
  }

  function activate(j: number): void {
    if (tree.where(j) < 0) return;
    active = j;
    rows.reveal(tree.where(j));
    list.setAttribute("aria-activedescendant", `joint-${j}`);
  }

  function mark(joint: number): void {
    active = joint;
    if (joint >= 0 && joint < tree.joints.length) {
      if (tree.open(joint)) refresh();
      if (tree.where(joint) >= 0) {
        activate(joint);
        return;
      }
    }
    list.removeAttribute("aria-activedescendant");
    rows.draw();
  }

  app.on("character", (slot) => slot === 0 && fill());
  app.on("selection", mark);
  fill();
  return h("div", { class: "panel column" }, h("label", { class: "search" }, icon("search"), search), list, empty);
}
