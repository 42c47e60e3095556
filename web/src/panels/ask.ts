/** Asks for a name. */
import { button, h } from "../ui/dom";

/** Resolves to what was typed, or to null where nothing was. */
export function ask(question: string, suggestion: string): Promise<string | null> {
  return new Promise((resolve) => {
    const input = h("input", { type: "text", class: "text wide", "aria-label": question, value: suggestion, maxLength: 500 });
    let answer: string | null = null;
    const dialog = h(
      "dialog", { class: "dialog", "aria-label": question },
      h("header", {}, h("h1", {}, question), button({ label: "Close", icon: "close", onclick: () => dialog.close() })),
      h("form", { method: "dialog", onsubmit: () => (answer = input.value.trim() || null) }, input, h("div", { class: "buttons" }, h("button", { type: "submit", class: "button primary" }, "OK"))),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(answer);
    });
    document.body.append(dialog);
    dialog.showModal();
    input.select();
  });
}
