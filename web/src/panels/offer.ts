/** Asks what to do with a file that is nothing but motion for the character that is open. */
import type { App } from "../app";
import { button, h } from "../ui/dom";
import type { BoneMap } from "./bone_map";

export function offerDialog(app: App, retarget: BoneMap["open"]): HTMLElement {
  let settle: (how: "add" | "open" | "drop") => void = () => {};
  const title = h("h1", {});
  const words = h("p", {});
  const add = button({ label: "Add its clips", text: "Add", class: "primary", onclick: () => settle("add") });
  const dialog = h(
    "dialog", { class: "dialog", "aria-label": "Add motion" },
    h("header", {}, title, button({ label: "Close", icon: "close", onclick: () => settle("drop") })),
    words,
    h("div", { class: "buttons" }, add, button({ label: "Open it by itself", text: "Open it by itself", onclick: () => settle("open") })),
  );
  dialog.addEventListener("cancel", () => settle("drop"));
  app.on("offer", (offer) => {
    if (offer.kind === "retarget" && offer.map) {
      retarget(offer);
      return;
    }
    const count = offer.clips.length;
    const clips = count === 1 ? "its clip" : `its ${count} clips`;
    title.textContent = offer.name;
    words.textContent = `This file has motion and no mesh, and its joints are those of ${offer.character || "the character that is open"}.`;
    add.lastElementChild!.textContent = `Add ${clips}`;
    add.setAttribute("aria-label", `Add ${clips} to ${offer.character}`);
    add.title = `Add ${clips} to ${offer.character}`;
    settle = (how) => {
      settle = () => {};
      app.send({ type: "settle", offer: offer.number, how, slot: offer.slot });
      dialog.close();
    };
    if (!dialog.open) dialog.showModal();
    add.focus();
  });
  return dialog;
}
