// Runs worlds of spring bones with @pixiv/three-vrm-springbone: worlds as JSON on stdin, positions of joints on stdout.
import * as THREE from "three";
import * as springs from "@pixiv/three-vrm-springbone";

// As published (3.5.5) a joint measures its length to where its child was before its parent moved: it wanders by half. Here it is the length.
const measure = springs.VRMSpringBoneJoint.prototype._calcWorldSpaceBoneLength;
const mended = process.argv[2] !== "--as-published";
springs.VRMSpringBoneJoint.prototype._calcWorldSpaceBoneLength = function () {
  if (mended && this.child) this.child.updateWorldMatrix(false, false, true);
  measure.call(this);
};
const vector = (v) => new THREE.Vector3(...v);
function shape(s) {
  if (s.plane) return new springs.VRMSpringBoneColliderShapePlane({ offset: vector(s.plane.offset), normal: vector(s.plane.normal) });
  const c = s.capsule ?? s.sphere;
  const settings = { offset: vector(c.offset), radius: c.radius, inside: c.inside ?? false };
  if (s.capsule) return new springs.VRMSpringBoneColliderShapeCapsule({ ...settings, tail: vector(c.tail) });
  return new springs.VRMSpringBoneColliderShapeSphere(settings);
}
function run(world) {
  const top = new THREE.Object3D();
  const nodes = world.parents.map((p, j) => {
    const n = new THREE.Object3D();
    n.position.fromArray(world.translation[j]);
    n.quaternion.fromArray(world.rotation[j]);
    n.scale.fromArray(world.scale[j]);
    return n;
  });
  nodes.forEach((n, j) => (world.parents[j] < 0 ? top : nodes[world.parents[j]]).add(n));
  const colliders = world.springBone.colliders.map((c) => {
    const made = new springs.VRMSpringBoneCollider(shape(c.extensions.VRMC_springBone_extended_collider.shape));
    nodes[c.node].add(made);
    return made;
  });
  const groups = world.springBone.colliderGroups.map((g) => ({ colliders: g.colliders.map((c) => colliders[c]) }));
  const manager = new springs.VRMSpringBoneManager();
  for (const s of world.springBone.springs) {
    for (let k = 0; k + 1 < s.joints.length; k++) {
      const at = s.joints[k];
      const settings = { hitRadius: at.hitRadius, stiffness: at.stiffness, gravityPower: at.gravityPower, gravityDir: vector(at.gravityDir), dragForce: at.dragForce };
      const joint = new springs.VRMSpringBoneJoint(nodes[at.node], nodes[s.joints[k + 1].node], settings, s.colliderGroups.map((g) => groups[g]));
      if (s.center !== undefined) joint.center = nodes[s.center];
      manager.addJoint(joint);
    }
  }
  const out = [];
  const pose = (f) => {
    top.position.fromArray(world.places[f].slice(0, 3));
    top.quaternion.fromArray(world.places[f].slice(3));
    world.moved.forEach((j, k) => nodes[j].quaternion.fromArray(world.turns[f][k]));
    top.updateMatrixWorld(true);
  };
  pose(0);
  manager.setInitState();
  for (let f = 1; f < world.places.length; f++) {
    pose(f);
    manager.update(1 / 60);
    if (f % world.every === 0) {
      top.updateMatrixWorld(true);
      out.push(nodes.map((n) => n.getWorldPosition(new THREE.Vector3()).toArray()));
    }
  }
  return out;
}
let text = "";
process.stdin.on("data", (d) => (text += d));
process.stdin.on("end", () => process.stdout.write(JSON.stringify(JSON.parse(text).map(run))));
