/** A length in metres as a person writes it. */
export function metres(x: number): string {
  if (x === 0) return "0";
  if (x < 0.001) return `${(1e6 * x).toPrecision(2)} µm`;
  if (x < 0.1) return `${(1000 * x).toPrecision(2)} mm`;
  return `${x.toPrecision(2)} m`;
}
