/** Where the instances of a crowd stand, and how they differ from each other. */

/** The first `count` points of a grid of step 1, from the middle outward: x and z of each. */
export function rings(count: number): [number, number][] {
  const half = Math.ceil((Math.sqrt(count) - 1) / 2);
  const points: [number, number][] = [];
  for (let x = -half; x <= half; x++) for (let z = -half; z <= half; z++) points.push([x, z]);
  const ring = ([x, z]: [number, number]): number => Math.max(Math.abs(x), Math.abs(z));
  points.sort((a, b) => ring(a) - ring(b) || Math.atan2(a[0], a[1]) - Math.atan2(b[0], b[1]));
  return points.slice(0, count);
}

/** Numbers from `low` to 1, the same for an instance at all times; the first and the last, which panels tell of, have 0. */
export function variety(name: string, count: number, low = -1): Float64Array {
  let seed = 2166136261;
  for (const letter of name) seed = Math.imul(seed ^ letter.codePointAt(0)!, 16777619);
  const out = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    out[i] = low + (1 - low) * (((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296);
  }
  if (count) out[0] = out[count - 1] = 0;
  return out;
}
