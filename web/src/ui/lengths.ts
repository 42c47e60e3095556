/** A number with two digits that count, without an exponent. */
function short(x: number): string {
  return `${Number(x.toPrecision(2))}`;
}

/** A length in metres as a person writes it: in µm, mm, cm or m, by its size. */
export function metres(x: number): string {
  if (x === 0) return "0";
  if (!Number.isFinite(x)) return `${x}`;
  const size = Number(Math.abs(x).toPrecision(2)); // what is shown decides: 999.9 µm are 1 mm
  if (size < 1e-9) return `${x < 0 ? "-" : ""}< 0.001 µm`;
  if (size < 1e-3) return `${short(1e6 * x)} µm`;
  if (size < 0.1) return `${short(1000 * x)} mm`;
  if (size < 1) return `${short(100 * x)} cm`;
  return `${short(x)} m`;
}
