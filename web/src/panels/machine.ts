/** A state machine: states on an oval, arrows between them; the state it is in is lit, a running transition fills up. */
import type { MachineInfo, MachineState } from "../protocol";
import { h, s } from "../ui/dom";

const WIDTH = 330;
const HEIGHT = 168;
const STATE = { width: 88, height: 26 };

export interface MachineDrawing {
  path: string;
  element: HTMLElement;
  show: (live: MachineState | null) => void;
}

export function machineDrawing(machine: MachineInfo): MachineDrawing {
  const N = machine.states.length;
  const centers = machine.states.map((_, i) => {
    const angle = (2 * Math.PI * i) / N - Math.PI / 2 - (N === 2 ? Math.PI / 2 : 0);
    return { x: WIDTH / 2 + (WIDTH / 2 - STATE.width / 2 - 6) * Math.cos(angle), y: HEIGHT / 2 + (HEIGHT / 2 - STATE.height / 2 - 6) * Math.sin(angle) };
  });
  const arrows = new Map<string, SVGPathElement>();
  const lines: Element[] = [];
  for (const transition of machine.transitions) {
    const sources = transition.source === "*" ? machine.states.filter((name) => name !== transition.to) : [transition.source];
    for (const source of sources) {
      const key = `${source}>${transition.to}`;
      if (arrows.has(key)) continue;
      const from = centers[machine.states.indexOf(source)];
      const to = centers[machine.states.indexOf(transition.to)];
      if (!from || !to) continue;
      const line = arrow(from, to);
      if (transition.source === "*") line.classList.add("any");
      line.append(s("title", {}, `${source} → ${transition.to}${transition.when.length ? ` when ${transition.when.join(" and ")}` : ""}, ${transition.seconds} s ${transition.blend}`));
      arrows.set(key, line);
      lines.push(line);
    }
  }
  const states = machine.states.map((name, i) =>
    s(
      "g", { class: "state", transform: `translate(${centers[i].x - STATE.width / 2},${centers[i].y - STATE.height / 2})`, "data-state": name },
      s("rect", { width: STATE.width, height: STATE.height, rx: 13 }),
      s("rect", { class: "level", width: 0, height: STATE.height, rx: 13 }),
      s("text", { x: STATE.width / 2, y: STATE.height / 2 + 4, "text-anchor": "middle" }, name.length > 14 ? `${name.slice(0, 13)}…` : name),
    ),
  );
  const marker = `arrow-${machine.path.replace(/\W/g, "-")}`;
  for (const line of arrows.values()) line.setAttribute("marker-end", `url(#${marker})`);
  const drawing = s(
    "svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "machine", role: "img", "aria-label": `State machine with states ${machine.states.join(", ")}` },
    s("defs", {}, s("marker", { id: marker, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse", markerUnits: "userSpaceOnUse" }, s("path", { d: "M0,0.8L7.500,4L0,7.200z", class: "arrow-head" }))),
    ...lines, ...states,
  );
  let last = "";
  const show = (live: MachineState | null): void => {
    const now = JSON.stringify(live);
    if (now === last) return;
    last = now;
    machine.states.forEach((name, i) => {
      const here = live?.state === name;
      const leaving = live?.source === name && live.progress < 1;
      states[i].classList.toggle("active", here);
      states[i].classList.toggle("leaving", leaving);
      const level = here ? (live.source ? live.progress : 1) : leaving ? 1 - live.progress : 0;
      states[i].querySelector(".level")?.setAttribute("width", String(STATE.width * Math.min(1, Math.max(0, level))));
    });
    for (const [key, line] of arrows) line.classList.toggle("running", Boolean(live?.source) && live!.progress < 1 && key === `${live!.source}>${live!.state}`);
  };
  return { path: machine.path, element: h("div", { class: "machine-box" }, drawing), show };
}

/** An arrow between two states, bent to the side so that the way back has its own, cut off at the boxes' edges. */
function arrow(from: { x: number; y: number }, to: { x: number; y: number }): SVGPathElement {
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  const length = Math.hypot(dx, dy) || 1;
  const side = { x: -dy / length, y: dx / length };
  const middle = { x: (from.x + to.x) / 2 + 14 * side.x, y: (from.y + to.y) / 2 + 14 * side.y };
  const edge = (center: { x: number; y: number }): { x: number; y: number } => {
    const ex = middle.x - center.x;
    const ey = middle.y - center.y;
    const scale = Math.min((STATE.width / 2 + 3) / (Math.abs(ex) || 1e-6), (STATE.height / 2 + 3) / (Math.abs(ey) || 1e-6), 1);
    return { x: center.x + ex * scale, y: center.y + ey * scale };
  };
  const a = edge(from);
  const b = edge(to);
  return s("path", { class: "transition", d: `M${a.x},${a.y}Q${middle.x},${middle.y} ${b.x},${b.y}` });
}
