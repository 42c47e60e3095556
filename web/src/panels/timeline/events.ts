/** The dialog that changes an event of a clip, or adds one: its name, when it is, and for how long. */
import type { App } from "../../app";
import type { EventInfo } from "../../protocol";
import { button, h } from "../../ui/dom";

export function eventDialog(app: App): { element: HTMLDialogElement; open: (event: EventInfo | null, time: number) => void } {
  let old: EventInfo | null = null;
  let clip = "";
  const field = (label: string, type: string, step = ""): HTMLInputElement => h("input", { type, class: type === "text" ? "text" : "number", "aria-label": label, ...(step ? { step, min: "0" } : {}) });
  const name = field("Name of the event", "text");
  const time = field("Time in seconds", "number", "any");
  const duration = field("Duration in seconds", "number", "any");
  const payload = field("What it carries", "text");
  const row = (label: string, ...parts: Node[]): HTMLElement => h("div", { class: "form-row" }, h("span", {}, label), h("div", {}, ...parts));
  const title = h("h1", {});
  const remove = button({ label: "Remove the event", text: "Remove", onclick: () => send(null) });
  const form = h(
    "form", { method: "dialog", onsubmit: () => send({ name: name.value.trim() || "event", time: Math.max(0, Number(time.value) || 0), duration: Math.max(0, Number(duration.value) || 0), payload: payload.value }) },
    row("Name", name), row("At", time, h("span", {}, "s")), row("For", duration, h("span", {}, "s, 0 is a moment")), row("Carries", payload),
    h("div", { class: "buttons" }, h("button", { type: "submit", class: "button primary" }, "Save"), remove),
  );
  const element = h("dialog", { class: "dialog", "aria-label": "Event of the clip" }, h("header", {}, title, button({ label: "Close", icon: "close", onclick: () => element.close() })), form);

  /** Puts the event in the place of the old one. */
  function send(event: EventInfo | null): void {
    const all = app.characters[0]?.clips.find((one) => one.name === clip)?.events ?? [];
    const others = all.filter((one) => !old || one.name !== old.name || one.time !== old.time);
    const events = [...others, ...(event ? [event] : [])].sort((a, b) => a.time - b.time);
    app.send({ type: "edit", clip, tool: "events", events: events.map(({ name, time, duration, payload }) => ({ name, time, duration, payload })) });
    element.close();
  }

  const open = (event: EventInfo | null, at: number): void => {
    clip = app.state?.clip ?? "";
    old = event;
    title.textContent = event ? "Change an event" : "Add an event";
    remove.hidden = !event;
    name.value = event?.name ?? "event";
    time.value = String(Number((event?.time ?? at).toFixed(4)));
    duration.value = String(Number((event?.duration ?? 0).toFixed(4)));
    payload.value = event?.payload ?? "";
    element.showModal();
    name.select();
  };
  return { element, open };
}
