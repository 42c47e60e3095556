/** The keyboard, on one card. */
import { button, h } from "../ui/dom";

const KEYS: [string, [string[], string][]][] = [
  ["Time", [[["Space"], "Play or pause"], [["1"], "Next clip"], [["2"], "Previous clip"], [["←", "→"], "A frame back or on"], [["Shift ←", "Shift →"], "Ten frames"], [["L"], "Loop"], [["[", "]"], "Loop from here, up to here"], [["Ctrl Z"], "Undo an edit of a clip"]]],
  ["View", [[["F"], "Frame the picked joint, or all"], [["Home"], "Reset the camera"], [["C"], "Follow the character"], [["R"], "Travel over the floor"], [["K"], "Linear or dual quaternion"], [["X"], "Compare them side by side"], [["T"], "Dark or light"]]],
  ["Show", [[["S"], "Skeleton"], [["N"], "Joint names"], [["A"], "Axes"], [["O"], "Sockets"], [["W"], "Wireframe"], [["M"], "Normals"], [["B"], "Bounds"], [["H"], "Colour the surface"], [["P"], "Path of the picked joint"], [["J"], "Foot contacts"], [["G"], "Grid"]]],
  ["Mouse", [[["Drag"], "Turn"], [["Right drag"], "Move"], [["Wheel"], "Zoom"], [["Click"], "Pick a joint"], [["Ctrl click"], "Add a joint's curves (tree)"], [["Drop"], "Open files or a folder"]]],
  ["Page", [[["E"], "Clips or graph"], [["Ctrl O"], "Open a character"], [["Esc"], "Let go of the picked joint"], [["?"], "This card"]]],
];

export function helpDialog(): HTMLDialogElement {
  const dialog = h(
    "dialog", { class: "dialog help", "aria-label": "Keyboard help" },
    h("header", {}, h("h1", {}, "Keyboard and mouse"), button({ label: "Close", icon: "close", onclick: () => dialog.close() })),
    h("div", { class: "help-columns" }, ...KEYS.map(([title, rows]) =>
      h("section", {}, h("h2", {}, title), h("dl", { class: "keys" }, ...rows.flatMap(([keys, text]) => [h("dt", {}, ...keys.map((key) => h("kbd", {}, key))), h("dd", {}, text)]))))),
  );
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  return dialog;
}
