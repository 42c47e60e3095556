// Plays VRMA files on VRM avatars with @pixiv/three-vrm-animation: node check_vrma.mjs < tasks.json > answers.json
// A task is {avatar, motion, clip, times}; an answer has, for every time, where the bones are, how strong expressions are and
// the gaze.
import { readFileSync } from "node:fs";
import * as THREE from "three";
import { GLTFLoader } from "three/examples/jsm/loaders/GLTFLoader.js";
import { VRMLoaderPlugin, VRMUtils } from "@pixiv/three-vrm";
import { VRMAnimationLoaderPlugin, createVRMAnimationClip } from "@pixiv/three-vrm-animation";

globalThis.self = globalThis;
globalThis.window = globalThis;
globalThis.document = { createElement: () => ({}) };
console.log = console.warn = () => {};
function load(file, plugin) {
  const bytes = readFileSync(file);
  const loader = new GLTFLoader();
  loader.register(() => ({ name: "no_pictures", loadTexture: async () => new THREE.Texture() }));
  loader.register((parser) => new plugin(parser));
  return new Promise((done, fail) =>
    loader.parse(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), "", done, fail),
  );
}
const answers = [];
for (const task of JSON.parse(readFileSync(0, "utf8"))) {
  const vrm = (await load(task.avatar, VRMLoaderPlugin)).userData.vrm;
  VRMUtils.rotateVRM0(vrm);
  const motions = (await load(task.motion, VRMAnimationLoaderPlugin)).userData.vrmAnimations;
  const clip = createVRMAnimationClip(motions[task.clip], vrm);
  const mixer = new THREE.AnimationMixer(vrm.scene);
  const action = mixer.clipAction(clip);
  action.setLoop(THREE.LoopOnce);
  action.clampWhenFinished = true;
  action.play();
  const rows = [];
  for (const time of task.times) {
    mixer.setTime(time);
    vrm.humanoid.update();
    vrm.scene.updateMatrixWorld(true);
    const bones = {};
    for (const name of Object.keys(vrm.humanoid.humanBones)) {
      const place = new THREE.Vector3().setFromMatrixPosition(vrm.humanoid.getRawBoneNode(name).matrixWorld);
      bones[name] = place.toArray();
    }
    const weights = {};
    for (const name of Object.keys(vrm.expressionManager?.expressionMap ?? {})) weights[name] = vrm.expressionManager.getValue(name);
    rows.push({ bones, weights, yaw: vrm.lookAt?.yaw ?? 0, pitch: vrm.lookAt?.pitch ?? 0 });
  }
  answers.push(rows);
}
process.stdout.write(JSON.stringify(answers));
