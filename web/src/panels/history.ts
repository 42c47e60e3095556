/** The states entered lately, as a strip that moves with time: one row for each machine. */
import type { App } from "../app";
import { plot, themeColor } from "../ui/dom";

const SECONDS = 12;

export function historyStrip(app: App): HTMLElement {
  const strip = plot("State history", (context, width, height) => {
    const graph = app.characters[0]?.graph;
    if (!graph?.machines.length) return;
    const end = app.live?.time ?? 0;
    const rowHeight = height / graph.machines.length;
    const toX = (t: number): number => width - ((end - t) / SECONDS) * width;
    context.font = "10.5px Inter, system-ui, sans-serif";
    context.textBaseline = "middle";
    graph.machines.forEach((machine, row) => {
      const entries = app.history.filter((entry) => entry.machine === machine.path && entry.at <= end + 1e-6);
      entries.forEach((entry, i) => {
        const stop = entries[i + 1]?.at ?? end;
        if (stop < end - SECONDS) return;
        const x0 = Math.max(0, toX(entry.at));
        const x1 = toX(stop);
        if (x1 - x0 < 0.5) return;
        const shade = machine.states.indexOf(entry.state) % 5;
        context.fillStyle = themeColor(`strip-${shade}`);
        context.beginPath();
        context.roundRect(x0, row * rowHeight + 2, Math.max(1, x1 - x0 - 1), rowHeight - 4, 4);
        context.fill();
        context.fillStyle = themeColor("text");
        if (x1 - x0 > context.measureText(entry.state).width + 12) context.fillText(entry.state, x0 + 6, row * rowHeight + rowHeight / 2 + 0.5);
      });
    });
  });
  strip.canvas.classList.add("history");
  const redraw = (): void => {
    const rows = app.characters[0]?.graph?.machines.length ?? 0;
    strip.canvas.hidden = rows === 0;
    strip.canvas.style.height = `${22 * Math.min(3, Math.max(1, rows))}px`;
    strip.redraw();
  };
  app.on("live", redraw);
  app.on("options", redraw);
  app.on("character", redraw);
  return strip.canvas;
}
