/** Which joints the tree shows, and in which order. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { JointTree } from "../src/panels/joint_tree";
import type { JointInfo } from "../src/protocol";

function joints(parents: number[]): JointInfo[] {
  return parents.map((parent, j) => ({ name: `Joint_${j}`, parent, translation: [0, 0, 0], rotation: [0, 0, 0, 1], scale: [1, 1, 1], helper: false }));
}

// Two arms whose joints the file has in turns, and a second root.
const MIXED = [-1, 0, 0, 1, 2, 3, 4, -1];

test("branches stay together where a file mixes them", () => {
  const tree = new JointTree(joints(MIXED));
  assert.deepEqual(tree.shown, [0, 1, 3, 5, 2, 4, 6, 7]);
  assert.deepEqual([...tree.depth], [0, 1, 1, 2, 2, 3, 3, 0]);
  assert.deepEqual(tree.shown.map((j) => tree.where(j)), [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual([tree.children[0], tree.position[2], tree.firstChild(2)], [2, 1, 4]);
});

test("what is below a closed joint is left out, until something there is looked for or picked", () => {
  const tree = new JointTree(joints(MIXED));
  tree.fold(1, true);
  assert.deepEqual(tree.shown, [0, 1, 2, 4, 6, 7]);
  assert.equal(tree.where(5), -1);
  tree.search("JOINT_5");
  assert.deepEqual(tree.shown, [5]);
  tree.search("");
  assert.equal(tree.open(5), true);
  assert.deepEqual(tree.shown, [0, 1, 3, 5, 2, 4, 6, 7]);
  tree.fold(0, true);
  assert.deepEqual(tree.shown, [0, 7]);
});

test("very many joints, one below the other or all below one, are no more than that", () => {
  const count = 100_000;
  const nested = new JointTree(joints(Array.from({ length: count }, (_, j) => j - 1)));
  assert.equal(nested.shown.length, count);
  assert.equal(nested.deepest, count - 1);
  nested.fold(3, true);
  assert.deepEqual(nested.shown, [0, 1, 2, 3]);
  const flat = new JointTree(joints(Array.from({ length: count }, (_, j) => (j ? 0 : -1))));
  assert.equal(flat.shown[count - 1], count - 1);
  assert.equal(flat.position[count - 1], count - 2);
});
