/** What can be taken away: a picture, a video, a GLB with all clips or chosen ones, the Python code. */
import type { App } from "../app";
import { button, h, icon } from "../ui/dom";
import { menuBox } from "../ui/menu";
import { copyCode } from "./code";
import { exportDialog, exportGlb } from "./export";
import { download, fileName } from "./files";
import { filmDialog } from "./film";

export function saveMenu(app: App): HTMLElement {
  const film = filmDialog(app);
  const clips = exportDialog(app);
  const { can } = app.source;
  const items: [string, string, string, () => void, boolean][] = [
    ["camera", "Picture", "PNG", () => void app.viewport.snapshot().then((blob) => download(blob, `${fileName(app)}.png`)), true],
    ["record", "Make a video", "WebM, GIF", film.open, true],
    ["export", "Export character", "GLB", () => void exportGlb(app), can.has("export")],
    ["export", "Export chosen clips", "GLB", clips.open, can.has("export")],
    ["code", "Copy Python code", "", () => void copyCode(app), can.has("code")],
  ];
  const menu = h("div", { class: "menu", role: "menu", "aria-label": "Save" }, ...items.filter(([, , , , possible]) => possible).map(([picture, text, kind, run]) =>
    h("button", { type: "button", role: "menuitem", class: "menu-item", onclick: run },
      icon(picture), h("span", {}, text), kind ? h("span", { class: "row-note" }, kind) : null)));
  return menuBox(button({ label: can.has("export") ? "Save and export" : "Save", icon: "export", text: "Save" }), menu, film.element, clips.element);
}
