/** What stands in the place of a graph where there is none: one made of the character's clips, or how to get one. */
import type { App } from "../app";
import { button, h } from "../ui/dom";
import { chooseCharacter } from "./open";

export function graphOffer(app: App): HTMLElement {
  const words = h("p", {});
  const hint = h("p", { class: "note" });
  const run = button({ label: "Run the graph that its clips make", text: "Run it", class: "primary", onclick: () => app.send({ type: "ready_graph" }) });
  const open = button({ label: "Open a graph file", text: "Open a graph (.json)", onclick: () => chooseCharacter(0) });
  const box = h("div", { class: "graph-offer", hidden: true }, words, h("div", { class: "buttons" }, run, open), hint);
  app.on("character", (slot) => {
    if (slot !== 0) return;
    const info = app.characters[0];
    run.hidden = !info?.graph_offer || !app.source.can.has("open");
    words.textContent = info ? (info.graph_offer ?? `${info.name || "This character"} has no graph.`) : "Nothing is open.";
    open.hidden = !info || !app.source.can.has("open");
    hint.textContent = info ? info.graph_hint || "Drop a graph (JSON) onto the page, or start with --graph FILE." : "";
  });
  return box;
}
