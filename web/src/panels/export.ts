/** Export as GLB: the character with all its clips, or with those that are ticked. */
import type { App } from "../app";
import { button, h } from "../ui/dom";
import { download } from "./files";

export async function exportGlb(app: App, clips: string[] = []): Promise<void> {
  app.emit("loading", { text: "Writing the GLB", fraction: -1 });
  try {
    const answer = await app.source.fetch("api/export.glb", { slot: 0, clips });
    download(await answer.blob(), `${app.characters[0]?.name || "character"}.glb`);
  } catch (error) {
    app.emit("problem", (error as Error).message);
  } finally {
    app.emit("loading", null);
  }
}

export function exportDialog(app: App): { element: HTMLDialogElement; open: () => void } {
  const list = h("ul", { class: "list choices", "aria-label": "Clips to export" });
  const run = button({ label: "Export the ticked clips", text: "Export", class: "primary", onclick: () => {
    void exportGlb(app, boxes().filter((box) => box.checked).map((box) => box.value));
    element.close();
  } });
  const boxes = (): HTMLInputElement[] => [...list.querySelectorAll("input")];
  const count = (): void => {
    const ticked = boxes().filter((box) => box.checked).length;
    run.disabled = ticked === 0;
    run.lastElementChild!.textContent = ticked ? `Export ${ticked} of ${boxes().length}` : "Export";
  };
  const all = button({ label: "Tick all, or none", text: "All or none", onclick: () => {
    const on = !boxes().every((box) => box.checked);
    for (const box of boxes()) box.checked = on;
    count();
  } });
  const element = h(
    "dialog", { class: "dialog", "aria-label": "Export chosen clips" },
    h("header", {}, h("h1", {}, "Export chosen clips"), button({ label: "Close", icon: "close", onclick: () => element.close() })),
    list, h("div", { class: "buttons" }, run, all),
  );
  const open = (): void => {
    list.replaceChildren(...(app.characters[0]?.clips ?? []).map((clip) =>
      h("li", {}, h("label", { class: "row" }, h("input", { type: "checkbox", value: clip.name, checked: clip.name === app.state?.clip, onchange: count }), h("span", { class: "row-name" }, app.clipLabel(clip.name)), h("span", { class: "row-note" }, `${clip.duration.toFixed(2)} s`)))));
    count();
    element.showModal();
  };
  return { element, open };
}
