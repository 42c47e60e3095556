/** The vertex that was clicked: which joints move it, and by how much. */
import type { App } from "../app";
import { button, h } from "../ui/dom";

export function vertexNumbers(app: App): HTMLElement {
  const pick = button({ label: "Pick a vertex in the view", text: "Pick a vertex", pressed: false, onclick: () => {
    app.viewport.picksVertices = !app.viewport.picksVertices;
    show();
  } });
  const body = h("div", {});
  const show = (): void => void pick.setAttribute("aria-pressed", String(app.viewport.picksVertices));
  app.viewport.onPickVertex = (found) => {
    const info = app.characters[0];
    const part = found && app.viewport.character()?.parts[found.mesh];
    if (!found || !part || !info) {
      body.replaceChildren(h("p", { class: "note" }, "No vertex is there."));
      return;
    }
    const K = part.info.influences;
    const influences = Array.from({ length: K }, (_, k) => ({ entry: part.joints[found.vertex * K + k], weight: part.weights[found.vertex * K + k] })).filter(({ weight }) => weight > 0);
    body.replaceChildren(
      h("p", { class: "note" }, `Vertex ${found.vertex.toLocaleString("en")} of ${part.info.name}`),
      h("ul", { class: "influences" }, ...influences.map(({ entry, weight }) => {
        const joint = app.viewport.character()!.jointOf(entry);
        const level = h("i", {});
        level.style.width = `${100 * weight}%`;
        return h("li", {}, h("button", { type: "button", class: "row", onclick: () => app.select(joint) }, h("span", { class: "row-name" }, info.joints[joint]?.name ?? "?"), h("span", { class: "row-note" }, weight.toFixed(3))), level);
      })),
    );
  };
  app.on("character", (slot) => slot === 0 && body.replaceChildren());
  show();
  return h("section", {}, h("h2", {}, "Influences"), h("div", { class: "buttons" }, pick), body);
}
