import { createEngine } from "../../runtime/web/marrow.js";
import { play } from "./player.mjs";

onmessage = async ({ data: { file, count, steps } }) => {
  const engine = await createEngine();
  postMessage(play(engine.load(await (await fetch(file)).arrayBuffer()), count, steps));
};
