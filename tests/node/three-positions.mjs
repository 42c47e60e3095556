// Vertex positions of a GLB as three.js shows it: node three-positions.mjs FILE CLIP TIME > positions.f32
// All meshes in traversal order, vertices in file order, skinned and morphed on the CPU.
import { readFileSync } from "node:fs";
import { AnimationMixer, LoopOnce, Vector3 } from "three";
import { GLTFLoader } from "three/examples/jsm/loaders/GLTFLoader.js";
import { MeshoptDecoder } from "three/examples/jsm/libs/meshopt_decoder.module.js";

globalThis.self = globalThis;
const [file, clipName, time] = process.argv.slice(2);
const bytes = readFileSync(file);
const gltf = await new Promise((resolve, reject) =>
  new GLTFLoader().setMeshoptDecoder(MeshoptDecoder).parse(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), "", resolve, reject),
);
const mixer = new AnimationMixer(gltf.scene);
const action = mixer.clipAction(gltf.animations.find((clip) => clip.name === clipName));
action.setLoop(LoopOnce);
action.clampWhenFinished = true;
action.play();
mixer.setTime(Number(time));
gltf.scene.updateMatrixWorld(true);
const out = [];
const point = new Vector3();
const seen = new Set(); // sections of one mesh share their vertices
gltf.scene.traverse((node) => {
  if (!node.isMesh || seen.has(node.geometry.attributes.position)) return;
  seen.add(node.geometry.attributes.position);
  if (node.isSkinnedMesh) node.skeleton.update();
  for (let v = 0; v < node.geometry.attributes.position.count; v++) {
    node.getVertexPosition(v, point);
    point.applyMatrix4(node.matrixWorld);
    out.push(point.x, point.y, point.z);
  }
});
process.stdout.write(Buffer.from(new Float32Array(out).buffer));
