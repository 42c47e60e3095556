// Runs recorded calls of kernels (see wasm_calls.py) in a module: node wasm_calls.mjs MODULE CALLS OUT, or `run` in a page.
export async function run(module, bytes) {
  const { instance } = await WebAssembly.instantiate(module, {});
  const { memory, __heap_base } = instance.exports;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const base = Math.ceil(__heap_base.value / 64) * 64;
  let at = 0;
  const number = () => view.getInt32((at += 4) - 4, true);
  const blob = () => {
    const size = number();
    return bytes.subarray(at, (at += size));
  };
  const out = [];
  for (let left = number(); left > 0; left--) {
    const name = new TextDecoder().decode(blob());
    const words = blob().slice();
    const arrays = Array.from({ length: number() }, () => [number(), blob()]);
    let place = base + words.length + 64;
    for (const array of arrays) {
      array.push((place = Math.ceil(place / 64) * 64));
      place += array[1].length + 64;
    }
    const short = place - memory.buffer.byteLength;
    if (short > 0) memory.grow(Math.ceil(short / 65536));
    const frame = new DataView(words.buffer, words.byteOffset, words.length);
    for (const [word, , to] of arrays) frame.setBigInt64(8 * word, BigInt(to), true);
    const all = new Uint8Array(memory.buffer);
    all.set(words, base);
    for (const [, data, to] of arrays) all.set(data, to);
    instance.exports[name](base);
    const now = new Uint8Array(memory.buffer);
    out.push(now.slice(base, base + words.length));
    for (const [, data, to] of arrays) out.push(now.slice(to, to + data.length));
  }
  return out;
}

if (typeof process !== "undefined" && process.versions?.node) {
  const { readFileSync, writeFileSync } = await import("node:fs");
  const [module, calls, to] = process.argv.slice(2);
  writeFileSync(to, Buffer.concat(await run(readFileSync(module), new Uint8Array(readFileSync(calls)))));
}
