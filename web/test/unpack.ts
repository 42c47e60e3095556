/** Unpacks a folder's packed clips and meshes, as the page does: `tests/studio/test_packed_pages.py` runs it in Node. */
import { readFileSync, writeFileSync } from "node:fs";
import { unpackMeshes } from "../src/local/packed_meshes";
import { unpackMotion } from "../src/local/packed_motion";
import type { PackedArray, PageMotion } from "../src/protocol";

interface Case {
  motion: PageMotion;
  arrays: PackedArray[];
  bytes: number;
}

const folder = process.argv[2];
const { motion, arrays, bytes } = JSON.parse(readFileSync(`${folder}/case.json`, "utf8")) as Case;
writeFileSync(`${folder}/rows.bin`, new Uint8Array(unpackMotion(motion, readFileSync(`${folder}/motion.bin`), Float32Array.from(motion.rest)).buffer));
writeFileSync(`${folder}/blob.bin`, new Uint8Array(unpackMeshes(arrays, readFileSync(`${folder}/meshes.bin`), bytes)));
