/** A baked character whose clips are told apart from it: puts their rows back where they belong. */

/** `baked` with the rows `values` in it, from the byte `at` on. The file says itself whether that is right: it has a checksum. */
export function fillMotion(baked: Uint8Array, at: number, values: Float32Array): Uint8Array {
  const out = baked.slice();
  out.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), at);
  return out;
}
