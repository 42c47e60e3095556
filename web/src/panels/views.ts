/** The views that the engine can draw over the character: a switch for each, and what follows its name. */
import type { App } from "../app";
import { viewsOf, viewsText } from "../options";
import type { SetViews, ViewInfo } from "../protocol";
import { h, toggle } from "../ui/dom";

const DIFFERENCES: [NonNullable<SetViews["compare"]>, string][] = [
  ["skinning", "linear against dual quaternion"],
  ["second", "the second character"],
  ["before", "the file before it was exported again"],
];

/** The view that a key switches. */
export function viewOfKey(app: App, key: string): string | undefined {
  return app.characters[0]?.views.find((view) => view.key.toLowerCase() === key)?.name;
}

export function viewsMenu(app: App): HTMLElement {
  const body = h("div", {});
  const note = h("p", { class: "note" });
  const section = h("section", { class: "views" }, h("h2", {}, "Show"), body, note);
  let rows: { name: string; show: () => void }[] = [];
  let built = "";

  /** A field for what may follow the name of a view: a number, a word. */
  function field({ name, argument }: ViewInfo): { element: HTMLElement; show: () => void } {
    const input = h("input", { type: "text", class: "text view-argument", placeholder: argument.replace(/[[\]]/g, "").toLowerCase(), "aria-label": `${name}: ${argument}`, onchange: () => {
      const views = viewsOf(app.options.views);
      views.set(name, input.value.trim().replaceAll("+", ""));
      app.set("views", viewsText(views));
    } });
    return { element: input, show: () => void (document.activeElement !== input && (input.value = viewsOf(app.options.views).get(name) ?? "")) };
  }

  function row(view: ViewInfo): { name: string; element: HTMLElement; show: () => void } {
    const { name, meaning, argument, key } = view;
    const title = name.length < 3 ? name.toUpperCase() : name[0].toUpperCase() + name.slice(1);
    const one = toggle(title, (on) => app.toggleView(name, on), key);
    one.element.title = meaning;
    const more: HTMLElement[] = [];
    const shows: (() => void)[] = [];
    if (name === "difference") {
      const to = h("select", { "aria-label": "Difference to", onchange: () => app.set("differenceTo", to.value as SetViews["compare"]) }, ...DIFFERENCES.map(([value, text]) => h("option", { value }, text)));
      more.push(h("label", { class: "row plain" }, h("span", {}, "to"), to));
      shows.push(() => void (to.value = app.options.differenceTo ?? "skinning"));
    }
    if (argument && !argument.includes("JOINT")) {
      const typed = field(view);
      more.push(h("label", { class: "row plain" }, h("span", {}, argument.replace(/[[\]]/g, "").toLowerCase()), typed.element));
      shows.push(typed.show);
    }
    const box = h("div", { class: "view-more" }, ...more);
    const show = (): void => {
      const on = viewsOf(app.options.views).has(name);
      one.show(on);
      box.hidden = !on || !more.length;
      for (const other of shows) other();
    };
    return { name, element: h("div", { class: "view-row", "data-view": name }, one.element, box), show };
  }

  function show(): void {
    const views = app.characters[0]?.views ?? [];
    const names = views.map(({ name }) => name).join();
    if (names !== built) {
      built = names;
      const made = views.map(row);
      rows = made;
      body.replaceChildren(...made.map(({ element }) => element));
    }
    section.hidden = Boolean(app.characters[0]) && !views.length;
    for (const one of rows) one.show();
    const wanted = viewsOf(app.options.views);
    const needed = views.some(({ name, argument }) => argument === "JOINT" && wanted.has(name));
    const joint = app.characters[0]?.joints[app.selected]?.name;
    note.textContent = joint ? `Picked: ${joint}` : needed ? "Pick a joint in the view or the tree to see its weights." : "No joint picked.";
  }

  for (const event of ["options", "selection", "character"] as const) app.on(event, show);
  show();
  return section;
}
