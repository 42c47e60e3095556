/** Lines over the picture that say what is not seen, each with the button that shows it. */
import type { App } from "../app";
import type { Difference } from "../protocol";
import { button, h, many } from "../ui/dom";
import { metres } from "../ui/lengths";

/** What has changed, in words. */
function describe(found: Difference): string {
  const named = (what: string, names: string[]): string => (names.length ? `${many(names.length, what)} (${names.slice(0, 3).join(", ")}${names.length > 3 ? ", …" : ""})` : "");
  const said = [
    [named("joint", found.joints_added), "added"], [named("joint", found.joints_removed), "removed"], [named("joint", found.joints_moved), "moved"],
    [named("clip", found.clips_added), "added"], [named("clip", found.clips_removed), "removed"], [named("clip", found.clips_changed), "changed"],
    [found.comparable ? "" : named("mesh", found.meshes_changed), "changed"],
    [found.vertices_moved ? many(found.vertices_moved, "vertex", "vertices") : "", `moved by up to ${metres(found.largest)}`],
  ].flatMap(([what, how]) => (what ? [`${what} ${how}`] : []));
  return said.join(", ") || "nothing that is seen has changed";
}

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
  const changed = h("span", {});
  const difference = h("div", { class: "hint", hidden: true }, changed);
  const colour = button({ label: "Colour the surface by the way each vertex has moved", text: "Show the difference", onclick: () => {
    app.set("differenceTo", "before");
    app.toggleView("difference", true);
  } });
  difference.append(colour, button({ label: "Close this line", icon: "close", onclick: () => {
    difference.hidden = true;
    if (app.options.differenceTo === "before") app.toggleView("difference", false);
  } }));
  app.on("difference", (found) => {
    difference.hidden = false;
    colour.hidden = !found.comparable || !found.vertices_moved;
    changed.textContent = `Exported again: ${describe(found)}`;
  });
  app.on("sight", (seen) => (away.hidden = seen));
  app.on("state", (state) => {
    driver.hidden = !state.driven;
    driver.textContent = `Driven by ${state.driver || "a Python program"}: it decides when time passes.`;
  });
  const note = h("span", {});
  const noted = h("div", { class: "hint", hidden: true }, note, button({ label: "Close this line", icon: "close", onclick: () => (noted.hidden = true) }));
  app.on("hello", () => {
    note.textContent = app.source.note;
    noted.hidden = !app.source.note;
  });
  return h("div", { class: "hints", role: "status" }, away, hidden, difference, driver, noted);
}
