/** The keyboard, on one card. */
import type { App } from "../app";
import type { Ability } from "../source";
import { button, h } from "../ui/dom";

/** Keys, what they do, and what the page must be able to do for it. */
const KEYS: [string, [string[], string, Ability?][]][] = [
  ["Time", [[["Space"], "Play or pause"], [["1"], "Next clip"], [["2"], "Previous clip"], [["←", "→"], "A frame back or on"], [["Shift ←", "Shift →"], "Ten frames"], [["L"], "Loop"], [["[", "]"], "Loop from here, up to here"], [["Ctrl Z"], "Undo an edit of a clip", "edit"]]],
  ["Camera", [[["W", "S"], "Fly ahead, back"], [["A", "D"], "Fly left, right"], [["Q", "E"], "Fly down, up"], [["Shift"], "Fly faster"], [["F"], "Frame the picked joint, or all"], [["Home"], "Reset the camera"], [["C"], "Follow the character"], [["R"], "Travel over the floor"]]],
  ["Show", [[["3"], "Skeleton"], [["4"], "Weights of the picked joint"], [["5"], "Normals"], [["6"], "Wireframe"], [["7"], "Bounds"], [["8"], "Texture coordinates"], [["9"], "Levels of detail"], [["O"], "Sockets"], [["P"], "Trails of joints"], [["J"], "Foot contacts"], [["U"], "Grid"], [["K"], "Linear or dual quaternion"], [["X"], "Compare them side by side"], [["T"], "Dark or light"]]],
  ["Mouse", [[["Drag"], "Turn"], [["Right drag"], "Look around"], [["Middle drag", "Shift drag"], "Move"], [["Wheel"], "Zoom"], [["Click"], "Pick a joint"], [["Ctrl click"], "Add a joint's curves (tree)"], [["Drop"], "Open files or a folder", "open"]]],
  ["Page", [[["G"], "Clips or graph"], [["Ctrl O"], "Open a character", "open"], [["Esc"], "Let go of the picked joint"], [["?"], "This card"]]],
];

export function helpDialog(app: App): HTMLDialogElement {
  const possible = ([, , needs]: [string[], string, Ability?]): boolean => !needs || app.source.can.has(needs);
  const dialog = h(
    "dialog", { class: "dialog help", "aria-label": "Keyboard help" },
    h("header", {}, h("h1", {}, "Keyboard and mouse"), button({ label: "Close", icon: "close", onclick: () => dialog.close() })),
    h("div", { class: "help-columns" }, ...KEYS.map(([title, rows]) =>
      h("section", {}, h("h2", {}, title), h("dl", { class: "keys" }, ...rows.filter(possible).flatMap(([keys, text]) => [h("dt", {}, ...keys.map((key) => h("kbd", {}, key))), h("dd", {}, text)]))))),
  );
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  return dialog;
}
