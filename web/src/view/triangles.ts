/**
 * Orders triangles so that those that share vertices follow one another: a vertex is then worked on once or so, not for every
 * triangle anew. Tipsify, by Sander, Nehab and Barczak, 2007: walks over the mesh in fans, in linear time.
 */

/** The graphics card is taken to remember so many vertices. */
const REMEMBERED = 16;

/** The triangles of `index[3 * first ... 3 * (first + count)]` in a better order. */
export function orderTriangles(index: ArrayLike<number>, first: number, count: number, vertices: number): Uint32Array {
  const from = 3 * first;
  const corners = 3 * count;
  const out = new Uint32Array(corners);
  // Which triangles each vertex is part of: lists laid end to end.
  const live = new Int32Array(vertices);
  for (let i = 0; i < corners; i++) live[index[from + i]]++;
  const start = new Int32Array(vertices + 1);
  for (let v = 0; v < vertices; v++) start[v + 1] = start[v] + live[v];
  const fill = start.slice();
  const around = new Int32Array(corners);
  for (let i = 0; i < corners; i++) around[fill[index[from + i]]++] = (i / 3) | 0;

  const usedAt = new Int32Array(vertices).fill(-2 * REMEMBERED);
  const done = new Uint8Array(count);
  const dead: number[] = [];
  let time = REMEMBERED + 1;
  let written = 0;
  let next = 0;
  let fan = count ? index[from] : -1;
  while (fan >= 0) {
    const ring: number[] = [];
    for (let k = start[fan]; k < start[fan + 1]; k++) {
      const t = around[k];
      if (done[t]) continue;
      done[t] = 1;
      for (let c = 0; c < 3; c++) {
        const v = index[from + 3 * t + c];
        out[written++] = v;
        dead.push(v);
        ring.push(v);
        live[v]--;
        if (time - usedAt[v] > REMEMBERED) usedAt[v] = time++;
      }
    }
    // Goes on with the vertex of the ring that has been remembered longest and will still be when its fan is done.
    fan = -1;
    let best = -1;
    for (const v of ring) {
      if (live[v] <= 0) continue;
      const age = time - usedAt[v];
      const priority = age + 2 * live[v] <= REMEMBERED ? age : 0;
      if (priority > best) {
        best = priority;
        fan = v;
      }
    }
    while (fan < 0 && dead.length) {
      const v = dead.pop()!;
      if (live[v] > 0) fan = v;
    }
    while (fan < 0 && next < corners) {
      const v = index[from + next++];
      if (live[v] > 0) fan = v;
    }
  }
  return out;
}
