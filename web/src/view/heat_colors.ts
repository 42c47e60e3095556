/** `SurfaceColors`: what the vertices of the first character are coloured by, and what those colours mean. */
import type { ViewOptions } from "../options";
import type { CharacterView } from "./character";
import { distances, type HeatScale, influenceCounts, metres, scaled } from "./heat";

export class SurfaceColors {
  /** How far each vertex has moved since the file was read before, in metres. */
  changes: Float32Array | null = null;

  /** Colours vertices as the options say; `mask` is a number for each joint, and comes first. */
  apply(character: CharacterView, options: ViewOptions, joint: number, mask: ArrayLike<number> | null): HeatScale | null {
    if (mask) {
      character.showJointHeat(mask);
      return { low: "0", high: "1", text: "How much of each joint the layer takes" };
    }
    if (!options.heat) {
      character.showHeat(null);
      return null;
    }
    switch (options.heatOf) {
      case "weights":
        return this.weights(character, joint);
      case "influences":
        return this.influences(character);
      case "limit":
        return this.limit(character, options.limit);
      case "methods":
        // Told with every picture: it changes with the pose.
        return null;
      case "change":
        return this.change(character);
    }
  }

  private weights(character: CharacterView, joint: number): HeatScale | null {
    if (joint < 0) {
      character.showHeat(null);
      return null;
    }
    const one = new Float32Array(character.info.joints.length);
    one[joint] = 1;
    character.showJointHeat(one);
    return { low: "0", high: "1", text: `Weights of ${character.info.joints[joint]?.name ?? ""}` };
  }

  private influences(character: CharacterView): HeatScale {
    const counts = new Map(character.parts.map((part) => [part, influenceCounts(part)]));
    const most = Math.max(1, ...[...counts.values()].map((one) => one.reduce((a, b) => Math.max(a, b), 0)));
    character.showHeat((part) => scaled(counts.get(part)!, most));
    return { low: "0", high: String(most), text: "Joints that move each vertex" };
  }

  private limit(character: CharacterView, limit: number): HeatScale {
    let over = 0;
    character.showHeat((part) =>
      Float32Array.from(influenceCounts(part), (count) => {
        if (count > limit) over++;
        return count > limit ? 1 : 0;
      }),
    );
    return { low: "fits", high: "over", text: `${over.toLocaleString("en")} vertices have more than ${limit} influences` };
  }

  private change(character: CharacterView): HeatScale | null {
    const { changes } = this;
    if (!changes || changes.length !== character.info.vertices) {
      character.showHeat(null);
      return null;
    }
    return this.show(character, changes, "Moved since the file was read before");
  }

  /** Shows how far linear blend and dual quaternions are apart in the pose that is shown. */
  showMethods(character: CharacterView, linear: Float32Array, dual: Float32Array): HeatScale {
    return this.show(character, distances(linear, dual), "Linear blend against dual quaternions, in this pose");
  }

  private show(character: CharacterView, values: Float32Array, text: string): HeatScale {
    const largest = values.reduce((a, b) => Math.max(a, b), 0);
    // A difference nobody could see is none.
    const scale = Math.max(largest, 1e-6 * character.size);
    character.showHeat((part) => scaled(character.ofPart(part, values), scale));
    return { low: "0", high: metres(largest), text };
  }
}
