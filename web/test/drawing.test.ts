/** What is drawn: the tree of a graph, the time axis, names, lengths. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { layoutTree } from "../src/panels/graph";
import { niceStep, PAD, TimeAxis } from "../src/panels/timeline/axis";
import type { NodeInfo } from "../src/protocol";
import { metres } from "../src/ui/lengths";
import { commonPrefix } from "../src/ui/names";
import { viewsOf, viewsText } from "../src/options";
import { DRAWING_MAGIC, parseDrawing } from "../src/protocol";
import { Drawing } from "../src/view/drawing";

const node = (path: string, parent: string | null): NodeInfo => ({ path, parent }) as NodeInfo;

test("no box of a tree lies on another, and parents stand right of the middle of their inputs", () => {
  const nodes = [node("root", null), node("a", "root"), node("b", "root"), node("a1", "a"), node("a2", "a"), node("a3", "a")];
  const { places, width, height } = layoutTree(nodes);
  assert.equal(places.size, nodes.length);
  const boxes = [...places.values()];
  for (const one of boxes) {
    assert(one.x >= 0 && one.y >= 0 && one.x < width && one.y + one.height <= height);
    for (const other of boxes)
      assert(one === other || one.x !== other.x || one.y + one.height <= other.y || other.y + other.height <= one.y);
  }
  const middle = (path: string): number => places.get(path)!.y + places.get(path)!.height / 2;
  assert.equal(middle("a"), middle("a2"));
  assert(places.get("root")!.x > places.get("a")!.x && places.get("a")!.x > places.get("a1")!.x);
});

test("a graph of one node, and one of none, have a place", () => {
  assert.equal(layoutTree([node("root", null)]).places.get("root")!.x, 0);
  assert.equal(layoutTree([]).places.size, 0);
});

test("times and places on the axis are each other's inverse, zoomed or not", () => {
  let changes = 0;
  const axis = new TimeAxis(() => changes++);
  axis.fit(4);
  assert(!axis.zoomed && axis.toX(0, 400) === PAD && axis.toX(4, 400) === 400 - PAD);
  axis.zoom(0.25, 3);
  assert(axis.zoomed);
  assert.equal(Math.round(1000 * axis.to - 1000 * axis.from), 1000);
  assert(Math.abs(axis.toTime(axis.toX(3.1, 400), 400) - 3.1) < 1e-9);
  axis.pan(100);
  assert.equal(axis.to, 4);
  axis.follow(0.5);
  assert(axis.from <= 0.5 && axis.to >= 0.5);
  axis.zoom(100);
  assert(axis.from === 0 && axis.to === 4 && changes === 5);
});

test("steps of a ruler are round numbers", () => {
  assert.deepEqual([0.003, 0.03, 0.6, 1, 1.1, 7].map((x) => Number(niceStep(x).toPrecision(6))), [0.005, 0.05, 1, 1, 2, 10]);
});

test("what all names begin with is left out, up to a separator", () => {
  assert.equal(commonPrefix(["Armature|Walk", "Armature|Run"]), "Armature|");
  assert.equal(commonPrefix(["mixamorig:Hips", "mixamorig:Spine"]), "mixamorig:");
  assert.equal(commonPrefix(["walk_back", "walk_left", "walk"]), "");
  assert.equal(commonPrefix(["Rig|Idle"]), "Rig|");
  assert.equal(commonPrefix(["walking", "walker"]), "");
  assert.equal(commonPrefix([]), "");
});

test("lengths are written as people write them", () => {
  assert.deepEqual([0, 2e-5, 0.0123, 1.84].map(metres), ["0", "20 µm", "12 mm", "1.8 m"]);
});

/** A message as the engine packs one. */
function packed(text: unknown, arrays: Record<string, Float32Array>): ArrayBuffer {
  let offset = 0;
  const table = Object.fromEntries(Object.entries(arrays).map(([name, data]) => {
    const info = { offset, dtype: "float32", shape: [data.length] };
    offset += data.byteLength;
    return [name, info];
  }));
  const words = new TextEncoder().encode(JSON.stringify({ text, arrays: table }));
  const begin = 16 + 4 * Math.ceil(words.length / 4);
  const out = new Uint8Array(begin + offset);
  new Uint32Array(out.buffer, 0, 4).set([DRAWING_MAGIC, 7, 1, words.length]);
  out.set(words, 16);
  let at = begin;
  for (const data of Object.values(arrays)) {
    out.set(new Uint8Array(data.buffer), at);
    at += data.byteLength;
  }
  return out.buffer;
}

test("a drawing keeps what a message does not name", () => {
  const drawing = new Drawing();
  const text = { labels: [], legends: [], notes: ["hello"], surface: [], paints: [], ghosts: 0 };
  drawing.take(parseDrawing(packed(text, { line_start: Float32Array.of(1, 2, 3), line_width: Float32Array.of(2, 2) }))!);
  const before = drawing.version;
  const message = parseDrawing(packed(null, { line_start: Float32Array.of(4, 5, 6) }))!;
  assert.deepEqual([message.frame, message.slot, message.text], [7, 1, null]);
  drawing.take(message);
  assert.deepEqual([...drawing.floats("line_start")], [4, 5, 6]);
  assert.deepEqual([...drawing.floats("line_width")], [2, 2]);
  assert.deepEqual(drawing.text.notes, ["hello"]);
  assert(drawing.newer(before, "line_start") && !drawing.newer(before, "", "line_width"));
});

test("bytes that are no drawing are none", () => {
  assert.equal(parseDrawing(new ArrayBuffer(8)), null);
  assert.equal(parseDrawing(new ArrayBuffer(64)), null);
  assert.equal(parseDrawing(packed(null, { line_start: Float32Array.of(1, 2, 3) }).slice(0, -4)), null);
});

test("views are written as the engine writes them", () => {
  const views = viewsOf("skeleton+ghosts:8");
  assert.deepEqual([...views], [["skeleton", ""], ["ghosts", "8"]]);
  assert.equal(viewsText(views), "skeleton+ghosts:8");
  assert.equal(viewsOf("").size, 0);
});
