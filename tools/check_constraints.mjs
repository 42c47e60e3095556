// Poses with VRM's node constraints, as @pixiv/three-vrm-node-constraint has them: see check_constraints.py.
// node check_constraints.mjs cases.json results.json, where node_modules has three and @pixiv/three-vrm-node-constraint.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [, , input, output] = process.argv;
const from = (file) => import(pathToFileURL(path.join(process.cwd(), "node_modules", file)).href);
const three = await from("three/build/three.module.js");
const vrm = await from("@pixiv/three-vrm-node-constraint/lib/three-vrm-node-constraint.module.js");

function posed(nodes, pose) {
  nodes.forEach((node, j) => {
    node.position.fromArray(pose.translation[j]);
    node.quaternion.fromArray(pose.rotation[j]);
    node.scale.fromArray(pose.scale[j]);
  });
}

const results = JSON.parse(fs.readFileSync(input, "utf8")).map((one) => {
  const scene = new three.Scene();
  const nodes = one.parents.map(() => new three.Object3D());
  one.parents.forEach((parent, j) => (parent < 0 ? scene : nodes[parent]).add(nodes[j]));
  posed(nodes, one.rest);
  scene.updateMatrixWorld(true);
  const manager = new vrm.VRMNodeConstraintManager();
  for (const { joint, constraint } of one.constraints) {
    const [[kind, body]] = Object.entries(constraint);
    const kinds = { roll: vrm.VRMRollConstraint, aim: vrm.VRMAimConstraint, rotation: vrm.VRMRotationConstraint };
    const made = new kinds[kind](nodes[joint], nodes[body.source]);
    made.weight = body.weight;
    if (body.rollAxis) made.rollAxis = body.rollAxis;
    if (body.aimAxis) made.aimAxis = body.aimAxis;
    manager.addConstraint(made);
  }
  manager.setInitState();
  posed(nodes, one.pose);
  scene.updateMatrixWorld(true);
  manager.update();
  return nodes.map((node) => node.quaternion.toArray());
});
fs.writeFileSync(output, JSON.stringify(results));
