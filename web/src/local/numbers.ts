/** Numbers of joints, read off pose rows: transforms for panels, curves for the timeline. */
import { Euler, Quaternion } from "three";
import type { Curves, Transform } from "../protocol";

const DEGREES = 180 / Math.PI;

export interface Rows {
  values: Float32Array;
  size: number;
  /** The numbers in each of a row's ten parts. */
  joints: number;
}

/** The transform of a joint in a row, relative to its parent. */
export function transformOf({ values, size, joints }: Rows, row: number, joint: number): Transform {
  const part = (k: number): number => values[row * size + k * joints + joint];
  const rotation: Transform["rotation"] = [part(3), part(4), part(5), part(6)];
  return { translation: [part(0), part(1), part(2)], rotation, euler: eulerOf(rotation), scale: [part(7), part(8), part(9)] };
}

function eulerOf(rotation: [number, number, number, number]): [number, number, number] {
  const { x, y, z } = new Euler().setFromQuaternion(new Quaternion(...rotation), "XYZ");
  return [x * DEGREES, y * DEGREES, z * DEGREES];
}

/** The transforms of a joint over a clip whose frames are the rows from `first` on. Angles go on past 180 degrees rather than jump. */
export function curvesOf(rows: Rows, first: number, frames: number, clip: string, joint: number, duration: number): Curves {
  const found: Curves = { clip, joint, times: [], translation: [], rotation: [], euler: [], scale: [] };
  for (let f = 0; f < frames; f++) {
    const one = transformOf(rows, first + f, joint);
    const before = found.rotation[f - 1];
    if (before && one.rotation.reduce((sum, v, c) => sum + v * before[c], 0) < 0) one.rotation = one.rotation.map((v) => -v) as Transform["rotation"];
    const turned = found.euler[f - 1];
    if (turned) one.euler = one.euler.map((angle, c) => angle + 360 * Math.round((turned[c] - angle) / 360)) as Transform["euler"];
    found.times.push(frames > 1 ? (duration * f) / (frames - 1) : 0);
    found.translation.push(one.translation);
    found.rotation.push(one.rotation);
    found.euler.push(one.euler);
    found.scale.push(one.scale);
  }
  return found;
}
