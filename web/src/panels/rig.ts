/** The rig to look into: pose, what swings, the picked joint, morph targets, meshes, materials and textures. */
import type { App } from "../app";
import { h } from "../ui/dom";
import { jointNumbers } from "./joint_numbers";
import { materialList, meshList } from "./meshes";
import { morphSliders } from "./morphs";
import { poseTools } from "./pose";
import { springTools } from "./springs";
import { vertexNumbers } from "./vertex";

export function rigPanel(app: App): HTMLElement {
  return h("div", { class: "panel" }, poseTools(app), springTools(app), jointNumbers(app), vertexNumbers(app), morphSliders(app), meshList(app), materialList(app));
}
