// Joint positions of BVH files as three.js reads them: node three-bvh.mjs FILE FRAME [FILE FRAME ...]
// One line of JSON for each: the number of roots and bones, and where every bone is in that frame.
import { readFileSync } from "node:fs";
import { AnimationMixer, LoopOnce, Vector3 } from "three";
import { BVHLoader } from "three/examples/jsm/loaders/BVHLoader.js";

const words = process.argv.slice(2);
for (let i = 0; i < words.length; i += 2) {
  const { skeleton, clip } = new BVHLoader().parse(readFileSync(words[i], "utf8"));
  const root = skeleton.bones[0];
  const mixer = new AnimationMixer(root);
  const action = mixer.clipAction(clip);
  action.setLoop(LoopOnce);
  action.clampWhenFinished = true;
  action.play();
  const step = clip.tracks.length && clip.tracks[0].times.length > 1 ? clip.tracks[0].times[1] : 0;
  mixer.setTime(Number(words[i + 1]) * step);
  root.updateMatrixWorld(true);
  const places = skeleton.bones.map((bone) => [bone.name, new Vector3().setFromMatrixPosition(bone.matrixWorld).toArray()]);
  const roots = skeleton.bones.filter((bone) => !bone.parent || !bone.parent.isBone).length;
  console.log(JSON.stringify({ roots, bones: skeleton.bones.length, places }));
}
