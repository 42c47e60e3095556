/** The principal axes of a cloud of points, from its moments. */

export interface Axes {
  center: [number, number, number];
  /** Unit vectors, right-handed, the longest first. */
  axes: [number, number, number][];
  /** Standard deviation along each. */
  spread: [number, number, number];
}

/** `sum` of x, y, z and `squares` of xx, yy, zz, xy, xz, yz over `count` points. */
export function principalAxes(count: number, sum: Float64Array, squares: Float64Array): Axes {
  const center: [number, number, number] = [sum[0] / count, sum[1] / count, sum[2] / count];
  const [x, y, z] = center;
  const a = [
    [squares[0] / count - x * x, squares[3] / count - x * y, squares[4] / count - x * z],
    [squares[3] / count - x * y, squares[1] / count - y * y, squares[5] / count - y * z],
    [squares[4] / count - x * z, squares[5] / count - y * z, squares[2] / count - z * z],
  ];
  const v = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  // Jacobi's method: turns away one off-diagonal number after the other; a few sweeps are exact for 3x3.
  for (let sweep = 0; sweep < 8; sweep++)
    for (const [p, q] of [[0, 1], [0, 2], [1, 2]]) {
      if (Math.abs(a[p][q]) < 1e-18) continue;
      const theta = 0.5 * Math.atan2(2 * a[p][q], a[p][p] - a[q][q]);
      const c = Math.cos(theta);
      const s = Math.sin(theta);
      for (let k = 0; k < 3; k++) [a[k][p], a[k][q]] = [c * a[k][p] + s * a[k][q], c * a[k][q] - s * a[k][p]];
      for (let k = 0; k < 3; k++) [a[p][k], a[q][k]] = [c * a[p][k] + s * a[q][k], c * a[q][k] - s * a[p][k]];
      for (let k = 0; k < 3; k++) [v[k][p], v[k][q]] = [c * v[k][p] + s * v[k][q], c * v[k][q] - s * v[k][p]];
    }
  const order = [0, 1, 2].sort((i, j) => a[j][j] - a[i][i]);
  const axes = order.map((k) => [v[0][k], v[1][k], v[2][k]] as [number, number, number]);
  const [p, q] = axes;
  axes[2] = [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]];
  const spread = order.map((k) => Math.sqrt(Math.max(0, a[k][k]))) as [number, number, number];
  return { center, axes, spread };
}
