/** What a character is made of, and what its importer had to say. */
import type { App } from "../app";
import type { CharacterInfo } from "../protocol";
import { h } from "../ui/dom";

const KINDS: Record<string, string> = { info: "Note", repaired: "Repaired", dropped: "Left out", warning: "Warning" };

export function infoPanel(app: App): HTMLElement {
  const body = h("div", { class: "panel" });
  const fill = (): void => {
    const shown = app.characters.filter((info): info is CharacterInfo => info !== null);
    body.replaceChildren(...shown.flatMap(describe));
    if (!shown.length) body.append(h("p", { class: "empty" }, "Nothing is open."));
  };
  app.on("character", fill);
  fill();
  return body;
}

function describe(info: CharacterInfo): HTMLElement[] {
  const facts: [string, string][] = [
    ["Joints", number(info.joints.length)],
    ["Vertices", number(info.vertices)],
    ["Triangles", number(info.triangles)],
    ["Influences", info.meshes.length ? `up to ${Math.max(...info.meshes.map((m) => m.influences))}` : "–"],
    ["Clips", number(info.clips.length)],
    ["Morph channels", number(info.morphs.length)],
    ["Materials", number(info.materials.length)],
    ["Images", number(info.images)],
    ["Sockets", number(info.sockets.length)],
  ];
  const report = info.report.length
    ? h("ul", { class: "report" }, ...info.report.map((line) =>
        h("li", { "data-kind": line.kind }, h("b", {}, KINDS[line.kind] ?? line.kind), line.place ? h("code", {}, line.place) : null, h("span", {}, line.message))))
    : h("p", { class: "note" }, "The importer had nothing to repair.");
  const constraints = info.constraints.length
    ? [h("section", {}, h("h2", {}, "Constraints"),
        h("ul", { class: "meshes", "data-list": "constraints" }, ...info.constraints.map((c) =>
          h("li", { title: c.name || c.kind },
            h("span", { class: "row-name" }, `${c.moves.join(", ")}${c.reads.length ? ` ← ${c.reads.join(", ")}` : ""}`),
            h("span", { class: "row-note" }, `${c.kind} · ${c.weight}`)))))]
    : [];
  return [
    h("section", {}, h("h2", {}, info.name || "Character"),
      h("dl", { class: "facts" }, ...facts.flatMap(([k, v]) => [h("dt", {}, k), h("dd", {}, v)]))),
    h("section", {}, h("h2", {}, "Meshes"),
      info.meshes.length
        ? h("ul", { class: "meshes" }, ...info.meshes.map((m) =>
            h("li", {}, h("span", { class: "row-name" }, m.name), h("span", { class: "row-note" }, `${number(m.vertices)} · ${m.skinning.replace("_", " ")}`))))
        : h("p", { class: "note" }, "A skeleton without a mesh: its bones are shown.")),
    ...constraints,
    h("section", {}, h("h2", {}, "Import report"), report),
  ];
}

const number = (n: number): string => n.toLocaleString("en");
