/** How far each morph target is on, from the weights of its channel: as `model/morph.py` has it, in-betweens included. */
import type { PageMorphTarget } from "../protocol";

interface Stop {
  at: number;
  target: number;
}

export class MorphTargets {
  /** Targets that alone have their channel in their mesh; and the others, by channel, with the stops along it. */
  private readonly single: { target: number; channel: number; full: number }[] = [];
  private readonly between: { channel: number; stops: Stop[] }[] = [];

  constructor(private readonly targets: PageMorphTarget[]) {
    const groups = new Map<string, number[]>();
    targets.forEach(({ mesh, channel }, i) => groups.set(`${mesh} ${channel}`, [...(groups.get(`${mesh} ${channel}`) ?? []), i]));
    for (const members of groups.values()) {
      const { channel, full_weight } = targets[members[0]];
      if (members.length === 1) {
        this.single.push({ target: members[0], channel, full: full_weight });
        continue;
      }
      const stops = [{ at: 0, target: -1 }, ...members.map((target) => ({ at: targets[target].full_weight, target }))];
      this.between.push({ channel, stops: stops.sort((a, b) => a.at - b.at || a.target - b.target) });
    }
  }

  get count(): number {
    return this.targets.length;
  }

  /** Writes the weights of one instance's targets into `out` from `at` on. */
  put(channels: Float32Array, first: number, out: Float32Array, at: number): void {
    for (const { target, channel, full } of this.single) out[at + target] = channels[first + channel] / full;
    for (const { channel, stops } of this.between) {
      const weight = channels[first + channel];
      for (const { target } of stops) if (target >= 0) out[at + target] = 0;
      let segment = stops.findLastIndex((stop) => stop.at <= weight);
      segment = Math.min(Math.max(segment, 0), stops.length - 2);
      const [low, high] = [stops[segment], stops[segment + 1]];
      const share = (weight - low.at) / (high.at === low.at ? 1 : high.at - low.at);
      if (low.target >= 0) out[at + low.target] = 1 - share;
      if (high.target >= 0) out[at + high.target] = share;
    }
  }
}
