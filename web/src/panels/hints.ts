/** Lines over the picture that say what is not seen, each with the button that shows it. */
import type { App } from "../app";
import { button, h, many } from "../ui/dom";

export function hints(app: App): HTMLElement {
  const away = h("div", { class: "hint", hidden: true }, h("span", {}, "The character is out of sight."),
    button({ label: "Bring the character back into sight (F)", text: "Frame it", onclick: () => app.viewport.frame(true) }));
  const words = h("span", {});
  const hidden = h("div", { class: "hint", hidden: true }, words,
    button({ label: "Show the hidden meshes", text: "Show", onclick: () => unhidden().forEach((mesh) => app.showMesh(0, mesh, true)) }),
    button({ label: "Leave them hidden", icon: "close", onclick: () => {
      dismissed = app.characters[0]?.name ?? null;
      show();
    } }));
  const driver = h("div", { class: "hint", hidden: true });
  let dismissed: string | null = null;

  /** Meshes that the file hides and that are still hidden. */
  const unhidden = (): number[] => {
    const view = app.viewport.character();
    return (app.characters[0]?.meshes ?? []).flatMap((mesh, i) => (!mesh.visible && view && !view.shows(i) ? [i] : []));
  };
  const show = (): void => {
    const info = app.characters[0];
    const those = unhidden();
    hidden.hidden = !those.length || dismissed === info?.name;
    if (!info) return;
    const all = those.length === info.meshes.length;
    const names = those.map((mesh) => info.meshes[mesh].name).slice(0, 3).join(", ");
    words.textContent = `${all ? (those.length > 1 ? "All meshes are" : "The mesh is") : `${many(those.length, "mesh is", "meshes are")}`} hidden in the file: ${names}${those.length > 3 ? ", …" : ""}`;
  };
  app.on("character", (slot) => {
    if (slot !== 0) return;
    dismissed = null;
    show();
  });
  app.on("rig", show);
  app.on("sight", (seen) => (away.hidden = seen));
  app.on("state", (state) => {
    driver.hidden = !state.driven;
    driver.textContent = `Driven by ${state.driver || "a Python program"}: it decides when time passes.`;
  });
  return h("div", { class: "hints", role: "status" }, away, hidden, driver);
}
