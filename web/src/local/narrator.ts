/** `Narrator`: tells what a running graph does, for the last instance, and which states were entered when. */
import type { GraphInfo, HistoryEntry, Live, MachineState, TransitionInfo } from "../protocol";
import type { LocalActor } from "./player";

interface Machine {
  state: string;
  source: string | null;
  since: number;
  seconds: number;
}

const rounded = (value: number, digits = 3): number => Number(value.toFixed(digits));

export class Narrator {
  private readonly machines = new Map<string, Machine>();
  private last = "";

  constructor(private readonly graph: GraphInfo | null) {}

  /** The graph begins anew. */
  forget(): void {
    this.machines.clear();
    this.last = "";
  }

  tell(actor: LocalActor, clock: number): Live | null {
    if (!this.graph) return null;
    const entered: HistoryEntry[] = [];
    const machines: MachineState[] = [];
    const weights = actor.weights();
    for (const { path, states, transitions } of this.graph.machines) {
      const state = states[actor.state(path)];
      if (state === undefined || !((weights.get(path) ?? 0) > 0)) continue;
      const before = this.machines.get(path);
      if (before?.state !== state) {
        const seconds = before ? secondsOf(transitions, before.state, state) : 0;
        this.machines.set(path, { state, source: before?.state ?? null, since: clock, seconds });
        entered.push({ machine: path, state, at: rounded(clock) });
      }
      const now = this.machines.get(path)!;
      const progress = now.seconds > 0 ? Math.min((clock - now.since) / now.seconds, 1) : 1;
      machines.push({ machine: path, state, source: progress < 1 ? now.source : null, progress: rounded(progress) });
    }
    const values: Record<string, number> = {};
    for (const { name, type } of this.graph.parameters) if (type === "float" || type === "bool") values[name] = rounded(actor.value(name), 4);
    const told = { machines, weights: this.graph.nodes.map(({ path }) => rounded(weights.get(path) ?? Number(path === "root"))), values, instance: actor.count - 1 };
    const text = JSON.stringify(told);
    if (text === this.last && !entered.length) return null;
    this.last = text;
    return { type: "live", time: rounded(clock), entered, ...told };
  }
}

function secondsOf(transitions: TransitionInfo[], source: string, to: string): number {
  const found = transitions.find((one) => one.source === source && one.to === to) ?? transitions.find((one) => one.source === "*" && one.to === to);
  return found?.seconds ?? 0;
}
