/** Sliders for morph targets: what is moved here stands in for what the clip says, until it is let go. */
import type { App } from "../app";
import { button, h } from "../ui/dom";
import { slider } from "../ui/slider";

/** More sliders than anybody scrolls through are not made. */
const MOST = 200;

export function morphSliders(app: App): HTMLElement {
  const list = h("div", {});
  const release = button({ label: "Let the clip move all morph targets again", text: "Let go", onclick: () => {
    app.viewport.character()?.morphsByHand.clear();
    redraw();
    show();
  } });
  const section = h("section", { hidden: true }, h("h2", {}, "Morph targets"), list, h("div", { class: "buttons" }, release));
  let sliders: { targets: number[]; show: (value: number) => void }[] = [];

  function redraw(): void {
    const view = app.viewport.character();
    view?.refresh();
    app.viewport.invalidate();
    release.disabled = !view?.morphsByHand.size;
  }

  function build(): void {
    // Targets of one name, in several meshes, are one: a face is often cut into parts.
    const named = new Map<string, number[]>();
    for (const mesh of app.characters[0]?.meshes ?? []) for (const target of mesh.morph_targets) if (target.weight >= 0) named.set(target.name, [...(named.get(target.name) ?? []), target.weight]);
    section.hidden = named.size === 0;
    sliders = [];
    const made = [...named].slice(0, MOST).map(([name, targets]) => {
      const one = slider(name, [0, 1], (value) => {
        for (const target of targets) app.viewport.character()?.morphsByHand.set(target, value);
        redraw();
      });
      sliders.push({ targets, show: one.show });
      return one.element;
    });
    list.replaceChildren(...made, named.size > MOST ? h("p", { class: "note" }, `The first ${MOST} of ${named.size}.`) : "");
    redraw();
    show();
  }

  /** The weights as they are now. */
  function show(): void {
    const view = app.viewport.character();
    if (!view || section.hidden) return;
    for (const one of sliders) one.show(view.morphs[one.targets[0]] ?? 0);
  }

  app.on("character", (slot) => slot === 0 && build());
  app.on("frame", (frame) => frame.slot === 0 && section.offsetParent && show());
  return section;
}
