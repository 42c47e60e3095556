/** How a page looks at what is shown, as the server is told, which chooses levels of detail by it. */
import type { Matrix4, PerspectiveCamera } from "three";
import type { Look } from "../protocol";

const rows = (m: Matrix4): number[] => m.clone().transpose().toArray().map((v) => Number(v.toFixed(5)));

/** Through a camera, in a picture of so many pixels' height, in which levels may be so many pixels off. */
export function lookThrough(camera: PerspectiveCamera, height: number, pixels: number, picked: number): Look {
  return { type: "look", view: rows(camera.matrixWorldInverse), projection: rows(camera.projectionMatrix), height, pixels, picked };
}
