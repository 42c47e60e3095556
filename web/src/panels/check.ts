/** What `marrow check` says of the character; each line leads to its joint, its vertices or its moment. */
import type { App } from "../app";
import type { CheckAnswer, CheckLine } from "../protocol";
import { button, h, many } from "../ui/dom";

const KINDS: Record<CheckLine["severity"], string> = { error: "Error", warning: "Warning", info: "Note" };

export function checkPanel(app: App): HTMLElement {
  const summary = h("p", { class: "note" });
  const list = h("ul", { class: "checks" });
  const again = button({ label: "Check again", text: "Check again", onclick: () => void refresh(true) });
  const panel = h("div", { class: "panel" }, h("section", {}, h("h2", {}, "Check"), summary, h("div", { class: "buttons" }, again)), h("section", {}, list));
  let checked: unknown = null;
  let turn = 0;

  async function refresh(anew = false): Promise<void> {
    const info = app.characters[0];
    // A check takes a while: it is done when somebody looks.
    if (!panel.offsetParent || (info === checked && !anew)) return;
    checked = info;
    const mine = ++turn;
    list.replaceChildren();
    app.viewport.mark(null);
    summary.textContent = info ? "Checking…" : "Nothing is open.";
    if (!info) return;
    try {
      const { lines } = await app.source.json<CheckAnswer>("api/check", { slot: 0 });
      if (mine !== turn) return;
      const counted = (["error", "warning", "info"] as const).flatMap((kind) => {
        const n = lines.filter((line) => line.severity === kind).length;
        return n ? [many(n, KINDS[kind].toLowerCase())] : [];
      });
      summary.textContent = counted.length ? `${counted.join(", ")}.` : "Nothing to mend.";
      list.replaceChildren(...lines.map((line) => h("li", { "data-severity": line.severity }, describe(line))));
    } catch (error) {
      if (mine !== turn) return;
      checked = null;
      summary.textContent = (error as Error).message;
    }
  }

  function describe(line: CheckLine): HTMLElement {
    const leads = line.joint >= 0 || line.vertices.length > 0 || line.clip !== null;
    const parts = [
      h("span", { class: "check-head" }, h("b", {}, KINDS[line.severity]), h("code", {}, line.rule), line.place ? h("span", { class: "row-note" }, line.place) : null),
      h("span", {}, line.message),
      line.remedy ? h("span", { class: "note" }, line.remedy) : null,
    ];
    return leads ? h("button", { type: "button", class: "check", title: "Show where", onclick: () => go(line) }, ...parts) : h("div", { class: "check" }, ...parts);
  }

  /** Goes where a line points. */
  function go(line: CheckLine): void {
    if (line.clip !== null) {
      if (app.state?.clip !== line.clip || app.state.mode !== "clip") app.playClip(line.clip);
      if (line.time !== null) {
        app.send({ type: "play", playing: false });
        app.send({ type: "seek", time: line.time });
      }
    }
    if (line.joint >= 0) {
      app.select(line.joint);
      app.viewport.frame(false, line.joint);
    }
    if (line.mesh >= 0 && !app.viewport.character()?.shows(line.mesh)) app.showMesh(0, line.mesh, true);
    app.viewport.mark(line.mesh >= 0 && line.vertices.length ? { mesh: line.mesh, vertices: line.vertices } : null);
  }

  app.on("character", (slot) => slot === 0 && void refresh());
  new ResizeObserver(() => void refresh()).observe(panel);
  return panel;
}
