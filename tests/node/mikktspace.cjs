// Reads float32 positions, normals and uvs of unindexed triangles from stdin, writes their tangents to stdout.
const { generateTangents } = require("mikktspace");
const input = require("fs").readFileSync(0);
const numbers = new Float32Array(input.buffer.slice(input.byteOffset, input.byteOffset + input.length));
const count = numbers.length / 8;
const tangents = generateTangents(
  numbers.slice(0, 3 * count),
  numbers.slice(3 * count, 6 * count),
  numbers.slice(6 * count),
);
process.stdout.write(Buffer.from(tangents.buffer, tangents.byteOffset, tangents.byteLength));
