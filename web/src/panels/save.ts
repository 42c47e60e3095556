/** What can be taken away: a picture, a video, a GLB with all clips or chosen ones, the Python code. */
import type { App } from "../app";
import { button, h, icon } from "../ui/dom";
import { copyCode } from "./code";
import { exportDialog, exportGlb } from "./export";
import { download, fileName } from "./files";
import { filmDialog } from "./film";

export function saveMenu(app: App): HTMLElement {
  const film = filmDialog(app);
  const clips = exportDialog(app);
  const menu = h("div", { class: "menu", role: "menu", "aria-label": "Save", hidden: true });
  const opener = button({ label: "Save and export", icon: "export", text: "Save", onclick: () => show(menu.hidden === true) });
  opener.setAttribute("aria-haspopup", "menu");
  opener.setAttribute("aria-expanded", "false");

  const items: [string, string, string, () => void][] = [
    ["camera", "Picture", "PNG", () => void app.viewport.snapshot().then((blob) => download(blob, `${fileName(app)}.png`))],
    ["record", "Make a video", "WebM, GIF", film.open],
    ["export", "Export character", "GLB", () => void exportGlb(app)],
    ["export", "Export chosen clips", "GLB", clips.open],
    ["code", "Copy Python code", "", () => void copyCode(app)],
  ];
  menu.append(...items.map(([picture, text, kind, run]) =>
    h("button", { type: "button", role: "menuitem", class: "menu-item", onclick: () => {
      show(false);
      run();
    } }, icon(picture), h("span", {}, text), kind ? h("span", { class: "row-note" }, kind) : null)));
  menu.addEventListener("keydown", (event) => {
    const all = [...menu.children] as HTMLElement[];
    const at = all.indexOf(document.activeElement as HTMLElement);
    if (event.key === "ArrowDown") all[(at + 1) % all.length].focus();
    else if (event.key === "ArrowUp") all[(at - 1 + all.length) % all.length].focus();
    else if (event.key === "Escape") {
      show(false);
      opener.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  function show(on: boolean): void {
    menu.hidden = !on;
    opener.setAttribute("aria-expanded", String(on));
    if (on) (menu.firstElementChild as HTMLElement).focus();
  }
  document.addEventListener("pointerdown", (event) => {
    if (!menu.hidden && !box.contains(event.target as Node)) show(false);
  });

  const box = h("div", { class: "menu-box" }, opener, menu, film.element, clips.element);
  return box;
}
