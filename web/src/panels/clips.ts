/** The list of clips, with a search. */
import type { App } from "../app";
import { h, icon } from "../ui/dom";

export function clipsPanel(app: App): HTMLElement {
  const search = h("input", { type: "search", placeholder: "Search clips", "aria-label": "Search clips", oninput: () => filter() });
  const list = h("ul", { class: "list", role: "listbox", "aria-label": "Clips" });
  const empty = h("p", { class: "empty", hidden: true });

  function fill(): void {
    const clips = app.characters[0]?.clips ?? [];
    list.replaceChildren(
      ...clips.map((clip) =>
        h(
          "li",
          {
            role: "option", class: "row", tabIndex: -1, "data-clip": clip.name, "aria-selected": "false", title: clip.name,
            onclick: () => app.playClip(clip.name),
          },
          h("span", { class: "row-name" }, app.clipLabel(clip.name)),
          clip.additive ? h("span", { class: "tag", title: "Holds differences to add to another pose" }, "additive") : null,
          h("span", { class: "row-note" }, `${clip.duration.toFixed(2)} s`),
        ),
      ),
    );
    filter();
    mark();
  }

  function filter(): void {
    const wanted = search.value.trim().toLowerCase();
    let shown = 0;
    for (const row of list.children as HTMLCollectionOf<HTMLElement>) {
      row.hidden = !(row.dataset["clip"] ?? "").toLowerCase().includes(wanted);
      if (!row.hidden) shown++;
    }
    empty.hidden = shown > 0;
    list.hidden = shown === 0;
    if (list.children.length) empty.textContent = "No clip has that in its name.";
    else empty.textContent = app.characters[0] ? "This character has no clips: it stands in its rest pose." : "Nothing is open.";
  }

  function mark(): void {
    const playing = app.state?.mode === "clip" ? app.state.clip : null;
    for (const row of list.children as HTMLCollectionOf<HTMLElement>) {
      const on = row.dataset["clip"] === playing;
      if (on && row.getAttribute("aria-selected") !== "true") row.scrollIntoView({ block: "nearest" });
      row.setAttribute("aria-selected", String(on));
      row.tabIndex = on ? 0 : -1;
    }
    // One stop for the tab key: the clip that plays, or the first.
    const first = list.firstElementChild as HTMLElement | null;
    if (first && !list.querySelector("[tabindex='0']")) first.tabIndex = 0;
  }

  list.addEventListener("keydown", (event) => {
    const rows = [...list.children].filter((row) => !(row as HTMLElement).hidden) as HTMLElement[];
    const at = rows.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (event.key === "Enter") app.playClip(rows[at]?.dataset["clip"] ?? "");
    else if (to !== undefined) rows[Math.min(rows.length - 1, Math.max(0, to))]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  app.on("character", (slot) => slot === 0 && fill());
  app.on("state", mark);
  fill();
  return h("div", { class: "panel column" }, h("label", { class: "search" }, icon("search"), search), list, empty);
}
