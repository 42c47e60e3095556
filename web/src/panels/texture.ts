/** A texture with the triangles that lie on it: UVs, as lines. */
import type { App } from "../app";
import type { TextureInfo } from "../protocol";
import { button, h, many } from "../ui/dom";

const SIZE = 640;

export function showTexture(app: App, title: string, texture: TextureInfo, material: number): void {
  const image = h("img", { alt: title });
  const canvas = h("canvas", { width: SIZE, height: SIZE, role: "img", "aria-label": "UVs of the triangles that use it" });
  const facts = h("p", { class: "note" });
  const dialog = h(
    "dialog", { class: "dialog texture", "aria-label": title },
    h("header", {}, h("h1", {}, title), button({ label: "Close", icon: "close", onclick: () => dialog.close() })),
    h("div", { class: "texture-box" }, image, canvas), facts,
  );
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  const { triangles, outside } = drawUvs(app, canvas, texture.uv_set, material);
  const words = (): string => [
    image.naturalWidth ? `${image.naturalWidth} × ${image.naturalHeight} pixels` : "", many(triangles, "triangle"), `UV set ${texture.uv_set}`,
    outside ? `${many(outside, "triangle")} outside of the picture (${texture.wrap_u}ed)` : "",
  ].filter(Boolean).join(" · ");
  facts.textContent = words();
  image.onload = () => (facts.textContent = words());
  image.onerror = () => (facts.textContent = `The browser cannot show this image. ${words()}`);
  app.images.url(0, texture.image).then((url) => (image.src = url), (error: Error) => (facts.textContent = error.message));
}

/** Draws the triangles of a material in UV space; v grows downwards, as in glTF. */
function drawUvs(app: App, canvas: HTMLCanvasElement, set: number, material: number): { triangles: number; outside: number } {
  const context = canvas.getContext("2d")!;
  context.strokeStyle = "rgba(92, 200, 215, 0.8)";
  context.lineWidth = 0.7;
  let triangles = 0;
  let outside = 0;
  context.beginPath();
  for (const part of app.viewport.character()?.parts ?? []) {
    const uv = part.mesh.geometry.getAttribute(set ? `uv${set}` : "uv");
    const index = part.mesh.geometry.index;
    if (!uv || !index) continue;
    for (const section of part.info.sections) {
      if (section.material !== material) continue;
      for (let t = section.first; t < section.first + section.count; t++) {
        const corners = [0, 1, 2].map((c) => index.getX(3 * t + c)).map((v) => [uv.getX(v), uv.getY(v)] as const);
        triangles++;
        if (corners.some(([u, v]) => u < -1e-3 || v < -1e-3 || u > 1.001 || v > 1.001)) outside++;
        corners.forEach(([u, v], i) => (i ? context.lineTo(u * SIZE, v * SIZE) : context.moveTo(u * SIZE, v * SIZE)));
        context.closePath();
      }
    }
  }
  context.stroke();
  return { triangles, outside };
}
