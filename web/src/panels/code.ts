/** Python code to take away: on the clipboard, or shown where a page may not write there. */
import type { App } from "../app";
import { button, h } from "../ui/dom";
import { note } from "./notices";

export async function copyCode(app: App): Promise<void> {
  try {
    await copyText(await app.source.text("api/code"), "Python code copied");
  } catch (error) {
    app.emit("problem", (error as Error).message);
  }
}

/** Puts text on the clipboard and says so; where a page may not (plain http to another machine) it is shown to be copied by hand. */
export async function copyText(text: string, done: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    note(done);
  } catch {
    showCode(text);
  }
}

function showCode(text: string): void {
  const dialog = h(
    "dialog", { class: "dialog", "aria-label": "Python code" },
    h("header", {}, h("h1", {}, "Python code"), button({ label: "Close", icon: "close", onclick: () => dialog.close() })),
    h("pre", { class: "code", tabIndex: 0 }, text),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
