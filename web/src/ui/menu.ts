/** A button with a menu: arrows go through it; a choice, Escape or a press elsewhere closes it. */
import { h } from "./dom";

/** The box with both. The button must not open the menu by itself; `beside` lies in the box too, such as dialogs. */
export function menuBox(opener: HTMLElement, menu: HTMLElement, ...beside: HTMLElement[]): HTMLElement {
  menu.hidden = true;
  opener.setAttribute("aria-haspopup", "menu");
  opener.setAttribute("aria-expanded", "false");
  function show(on: boolean): void {
    menu.hidden = !on;
    opener.setAttribute("aria-expanded", String(on));
    if (on) (menu.firstElementChild as HTMLElement).focus();
  }
  opener.addEventListener("click", () => show(menu.hidden === true));
  // On the way down: the menu is gone before what was chosen begins.
  menu.addEventListener("click", (event) => {
    if ((event.target as HTMLElement).closest(".menu-item")) show(false);
  }, true);
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
  const box = h("div", { class: "menu-box" }, opener, menu, ...beside);
  document.addEventListener("pointerdown", (event) => {
    if (!menu.hidden && !box.contains(event.target as Node)) show(false);
  });
  return box;
}
