/** Two-bone inverse kinematics: how to bend an arm or a leg so that its end comes to a place. */
import { Quaternion, Vector3 } from "three";

/** A limb is not stretched quite straight: a straight one has no plane to bend in. */
const STRAIGHT = 0.9995;

/**
 * Rotations, in the space of the points, that bring the end of a limb (root, middle, end) to the target or as near as it
 * reaches: `upper` of the first bone, then `lower` of the second one as the first has left it. The limb keeps the plane it is
 * bent in; a straight one bends forward (+Z).
 */
export function bend(root: Vector3, middle: Vector3, end: Vector3, target: Vector3): { upper: Quaternion; lower: Quaternion } {
  const a = middle.distanceTo(root);
  const b = end.distanceTo(middle);
  const reach = target.clone().sub(root);
  const length = Math.min(Math.max(reach.length(), Math.abs(a - b) * 1.0005 + 1e-9), (a + b) * STRAIGHT);
  const along = reach.lengthSq() > 1e-18 ? reach.normalize() : end.clone().sub(root).normalize();
  // Where the middle joint is aside of the line from root to end says which way to bend.
  const line = end.clone().sub(root).normalize();
  const offset = middle.clone().sub(root);
  const aside = offset.addScaledVector(line, -offset.dot(line));
  if (aside.length() < 1e-4 * (a + b)) aside.set(0, 0, 1).addScaledVector(line, -line.z);
  if (aside.length() < 1e-6) aside.set(0, 1, 0).addScaledVector(line, -line.y);
  const swing = new Quaternion().setFromUnitVectors(line, along);
  const pole = aside.applyQuaternion(swing);
  pole.addScaledVector(along, -pole.dot(along)).normalize();
  // The law of cosines gives how far along, and how far aside, the middle joint comes to lie.
  const forward = (a * a - b * b + length * length) / (2 * length);
  const height = Math.sqrt(Math.max(0, a * a - forward * forward));
  const elbow = root.clone().addScaledVector(along, forward).addScaledVector(pole, height);
  const goal = root.clone().addScaledVector(along, length);
  const upper = between(middle.clone().sub(root), elbow.clone().sub(root));
  const carried = end.clone().sub(middle).applyQuaternion(upper);
  const lower = between(carried, goal.sub(elbow));
  return { upper, lower };
}

function between(from: Vector3, to: Vector3): Quaternion {
  return new Quaternion().setFromUnitVectors(from.normalize(), to.normalize());
}
