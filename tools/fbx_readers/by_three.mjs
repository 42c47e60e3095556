// Surfaces of an FBX file as three.js shows it: node by_three.mjs WISHES.json OUT (see by_ufbx.py)
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [wished, out, home] = process.argv.slice(2);
const three = pathToFileURL(`${home}/node_modules/three/`).href;

const { AnimationMixer, LoopOnce, Vector3 } = await import(`${three}build/three.module.js`);
globalThis.self = globalThis;
globalThis.window = { URL: { createObjectURL: () => "" }, innerWidth: 1, innerHeight: 1 };
globalThis.document = { createElementNS: () => ({ addEventListener() {}, removeEventListener() {}, style: {} }) };
const { FBXLoader } = await import(`${three}examples/jsm/loaders/FBXLoader.js`);
console.warn = () => {};
const wishes = JSON.parse(readFileSync(wished, "utf8"));
const bytes = readFileSync(wishes.file);
const load = () => new FBXLoader().parse(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), "");
const listed = [];
const numbers = [];
const point = new Vector3();
let scene = null;
let playing = undefined;
let mixer = null;
wishes.shots.forEach(([clip, time], shot) => {
  if (playing !== clip) {
    scene = load(); // what another clip left behind is gone
    playing = clip;
    mixer = new AnimationMixer(scene);
    if (clip !== null) {
      const action = mixer.clipAction(scene.animations.find((one) => one.name === clip));
      action.setLoop(LoopOnce);
      action.clampWhenFinished = true;
      action.play();
    }
  }
  mixer.setTime(time);
  scene.updateMatrixWorld(true);
  const unit = (scene.userData.unitScaleFactor ?? 1) / 100;
  scene.traverse((node) => {
    if (!node.isMesh) return;
    if (node.isSkinnedMesh) node.skeleton.update();
    const count = node.geometry.attributes.position.count;
    for (let v = 0; v < count; v++) {
      node.getVertexPosition(v, point);
      point.applyMatrix4(node.matrixWorld);
      numbers.push(point.x * unit, point.y * unit, point.z * unit);
    }
    listed.push([shot, node.name, count]);
  });
});
writeFileSync(`${out}.json`, JSON.stringify(listed));
writeFileSync(`${out}.bin`, Buffer.from(new Float64Array(numbers).buffer));
