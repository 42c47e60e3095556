/** What the page has to say: progress, problems, short notes, and that the server is gone. */
import type { App } from "../app";
import type { Status } from "../source";
import { button, h } from "../ui/dom";
import { hints } from "./hints";

const shelf = h("div", { class: "notices", role: "status", "aria-live": "polite" });

/** A few words that go away by themselves. */
export function note(text: string): void {
  const element = h("div", { class: "notice" }, text);
  shelf.append(element);
  window.setTimeout(() => element.remove(), 3500);
}

export function notices(app: App): HTMLElement[] {
  const bar = h("div", { class: "progress-bar" });
  const text = h("span", {});
  const progress = h("div", { class: "progress", role: "progressbar", "aria-label": "Loading", hidden: true }, text, h("div", { class: "progress-track" }, bar));
  const lost = h("div", { class: "lost", role: "alert", hidden: true }, h("span", { class: "pulse" }), "The server is gone. Trying to reach it again…");
  const refused = h("div", { class: "lost", role: "alert", hidden: true }, "This studio was started again. Open the new link it printed: this page has an old one.");
  const unlinked = h("div", { class: "lost", role: "alert", hidden: true }, "This page was opened without its link. Open the whole link that marrow printed, up to the end of #token=…");
  const nothing = h("div", { class: "nothing", hidden: true }, h("strong", {}, "Nothing is open"), h("span", {}, "Drop a GLB, glTF, FBX, BVH, USD or .marrow file here, or press Ctrl O."));
  let timer = 0;

  app.on("loading", (now) => {
    window.clearTimeout(timer);
    if (!now) {
      progress.hidden = true;
      return;
    }
    text.textContent = now.text;
    progress.classList.toggle("unknown", now.fraction < 0);
    bar.style.width = now.fraction < 0 ? "" : `${(100 * now.fraction).toFixed(1)}%`;
    if (now.fraction >= 0) progress.setAttribute("aria-valuenow", (100 * now.fraction).toFixed(0));
    else progress.removeAttribute("aria-valuenow");
    // What is done in a moment needs no bar that flashes up.
    if (progress.hidden) timer = window.setTimeout(() => (progress.hidden = false), 150);
  });
  app.on("problem", (message) => {
    const element = h("div", { class: "notice problem", role: "alert" }, h("span", {}, message), button({ label: "Dismiss", icon: "close", onclick: () => element.remove() }));
    while (shelf.querySelectorAll(".problem").length > 2) shelf.querySelector(".problem")?.remove();
    shelf.append(element);
    window.setTimeout(() => element.remove(), 20_000);
  });
  app.on("well", () => shelf.querySelectorAll(".problem").forEach((element) => element.remove()));
  const tell = (status: Status): void => {
    lost.hidden = status !== "lost";
    refused.hidden = status !== "refused";
    unlinked.hidden = status !== "unlinked";
  };
  app.on("status", tell);
  tell(app.source.status);
  const check = (): void => void (nothing.hidden = !app.hello || app.state?.slots.includes(0) !== false);
  app.on("state", check);
  app.on("character", check);
  return [progress, lost, refused, unlinked, nothing, hints(app), shelf];
}
