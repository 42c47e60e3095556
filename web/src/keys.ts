/** What keys do, wherever nothing is being typed. */
import type { App } from "./app";
import { TOGGLE_KEYS } from "./panels/display";
import { viewOfKey } from "./panels/views";
import { chooseCharacter } from "./panels/open";

/** What is typed into keeps the keyboard after a click; so do lists whose rows are gone through with the arrows. */
const KEEPS_KEYBOARD = "input:not([type=range]):not([type=checkbox]), select, textarea, canvas, [role=option], [contenteditable]";

/** After a click the keyboard belongs to time again: space plays and arrows scrub, whatever was clicked. */
function letGo(element: Element | null): void {
  if (!(element instanceof HTMLElement || element instanceof SVGElement) || element === document.body) return;
  if (element.closest("dialog, [role=menu]") || element.matches(KEEPS_KEYBOARD)) return;
  element.blur();
}

/** A key by what it types; by its place where that is a letter of another script. */
function letter(event: KeyboardEvent): string {
  const place = /^Key([A-Z])$/.exec(event.code);
  return (place && !/^[\x20-\x7e]$/.test(event.key) ? place[1] : event.key).toLowerCase();
}

export function listenToKeys(app: App, help: HTMLDialogElement): void {
  const step = (frames: number): void => app.send({ type: "step", frames });
  const actions: Record<string, (event: KeyboardEvent) => void> = {
    " ": () => app.send({ type: "play", playing: !app.state?.playing }),
    "1": () => app.stepClip(1),
    "2": () => app.stepClip(-1),
    arrowleft: (event) => step(event.shiftKey ? -10 : -1),
    arrowright: (event) => step(event.shiftKey ? 10 : 1),
    l: () => app.send({ type: "loop", value: !app.state?.loop }),
    f: () => app.viewport.frame(false, app.selected),
    home: () => app.home(),
    r: () => app.travel(!app.state?.travel),
    k: () => app.set("method", app.options.method === "dual_quaternion" ? "linear" : "dual_quaternion"),
    x: () => app.set("compare", app.options.compare === "skinning" ? "off" : "skinning"),
    t: () => app.set("theme", app.options.theme === "dark" ? "light" : "dark"),
    g: () => app.chooseMode(app.state?.mode === "graph" ? "clip" : "graph"),
    escape: () => app.selected >= 0 && app.select(-1),
    "?": () => (help.open ? help.close() : help.showModal()),
  };
  // A click made with the keyboard has no detail: there the focus is where it was put.
  document.addEventListener("click", (event) => event.detail > 0 && letGo(document.activeElement));
  document.addEventListener("pointerup", () => window.setTimeout(() => document.activeElement?.matches("input[type=range], [role=slider]") && letGo(document.activeElement)));
  document.addEventListener("change", (event) => {
    const target = event.target as HTMLElement;
    if (target.matches("select") && !target.closest("dialog")) target.blur();
  });
  window.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    const key = letter(event);
    if ((event.ctrlKey || event.metaKey) && key === "o" && app.source.can.has("open")) {
      event.preventDefault();
      chooseCharacter(0);
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) {
      app.viewport.flight.stop();
      app.player.stop();
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (document.querySelector("dialog[open]") && key !== "?") return;
    if (target.matches("input:not([type=range]):not([type=checkbox]), select, textarea")) return;
    const arrows = key.startsWith("arrow") || key === "home";
    if (arrows && target.matches("input[type=range], [role=radio], [role=tab]")) return;
    if (key === " " && target.matches("button, input")) return;
    if (app.player.press(key) || app.viewport.flight.press(key, event.shiftKey)) {
      event.preventDefault();
      return;
    }
    const toggled = TOGGLE_KEYS.get(key);
    const action = actions[key];
    const view = viewOfKey(app, key);
    if (!toggled && !action && !view) return;
    event.preventDefault();
    if (action) action(event);
    else if (toggled) app.toggle(toggled);
    else if (view) app.toggleView(view);
  });
  window.addEventListener("keyup", (event) => {
    app.player.release(letter(event));
    app.viewport.flight.release(letter(event), event.shiftKey);
  });
}
