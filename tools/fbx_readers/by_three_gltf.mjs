// Surfaces of a GLB as three.js shows it: node by_three_gltf.mjs WISHES.json OUT HOME (see by_ufbx.py)
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [wished, out, home] = process.argv.slice(2);
const three = pathToFileURL(`${home}/node_modules/three/`).href;
const { AnimationMixer, LoopOnce, Vector3 } = await import(`${three}build/three.module.js`);
globalThis.self = globalThis;
const { GLTFLoader } = await import(`${three}examples/jsm/loaders/GLTFLoader.js`);
console.warn = () => {};
console.error = () => {}; // there are no pictures here
const wishes = JSON.parse(readFileSync(wished, "utf8"));
const bytes = readFileSync(wishes.file);
const data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
const load = () => new Promise((resolve, reject) => new GLTFLoader().parse(data, "", resolve, reject));
const listed = [];
const numbers = [];
const point = new Vector3();
let gltf = null;
let playing = undefined;
let mixer = null;
for (let shot = 0; shot < wishes.shots.length; shot++) {
  const [clip, time] = wishes.shots[shot];
  if (playing !== clip) {
    gltf = await load();
    playing = clip;
    mixer = new AnimationMixer(gltf.scene);
    if (clip !== null) {
      const action = mixer.clipAction(gltf.animations.find((one) => one.name === clip));
      action.setLoop(LoopOnce);
      action.clampWhenFinished = true;
      action.play();
    }
  }
  mixer.setTime(time);
  gltf.scene.updateMatrixWorld(true);
  gltf.scene.traverse((node) => {
    if (!node.isMesh) return;
    if (node.isSkinnedMesh) node.skeleton.update();
    const index = node.geometry.index;
    const count = index ? index.count : node.geometry.attributes.position.count;
    for (let k = 0; k < count; k++) {
      node.getVertexPosition(index ? index.getX(k) : k, point);
      point.applyMatrix4(node.matrixWorld);
      numbers.push(point.x, point.y, point.z);
    }
    listed.push([shot, node.name, count]);
  });
}
writeFileSync(`${out}.json`, JSON.stringify(listed));
writeFileSync(`${out}.bin`, Buffer.from(new Float64Array(numbers).buffer));
