// node node_player.mjs FOLDER: plays every recording of FOLDER/recordings.json and writes what it answers to standard output.
import { readFileSync } from "node:fs";
import { createEngine } from "../../runtime/web/marrow.js";
import { play } from "./player.mjs";

const [folder, built, how] = process.argv.slice(2);
const engine = await createEngine({
  strict: how === "strict",
  wasm: () => readFileSync(`${built}/marrow.wasm`),
  strictWasm: () => readFileSync(`${built}/marrow-strict.wasm`),
});
const answers = JSON.parse(readFileSync(`${folder}/recordings.json`, "utf8")).map(({ file, count, steps }) => {
  const character = engine.load(readFileSync(`${folder}/${file}`));
  const found = play(character, count, steps);
  character.dispose();
  return found;
});
process.stdout.write(JSON.stringify({ strict: engine.strict, answers }));
