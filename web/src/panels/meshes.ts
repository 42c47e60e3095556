/** Meshes and materials: each can be hidden; textures are shown with the UVs that lie on them. */
import type { App } from "../app";
import type { CharacterInfo, MaterialInfo, TextureInfo } from "../protocol";
import { h, many, toggle } from "../ui/dom";
import { showTexture } from "./texture";

export function meshList(app: App): HTMLElement {
  const list = h("div", {});
  const section = h("section", {}, h("h2", {}, "Meshes"), list);
  let switches: { show: (on: boolean) => void }[] = [];
  const show = (): void => switches.forEach((one, mesh) => one.show(app.viewport.character()?.shows(mesh) ?? true));
  app.on("character", (slot) => {
    if (slot !== 0) return;
    const info = app.characters[0];
    section.hidden = !info?.meshes.length;
    switches = [];
    list.replaceChildren(...(info?.meshes ?? []).map((mesh, i) => {
      const one = toggle(mesh.name || `Mesh ${i}`, (on) => app.showMesh(0, i, on), many(mesh.vertices, "vertex", "vertices"));
      one.element.title = `${mesh.name}: ${many(mesh.triangles, "triangle")}, up to ${many(mesh.influences, "influence")}, ${mesh.skinning.replace("_", " ")} skinning${mesh.visible ? "" : "; hidden in the file"}`;
      switches.push(one);
      return one.element;
    }));
    show();
  });
  app.on("rig", show);
  return section;
}

/** What a material's textures are called. */
const TEXTURES: [keyof MaterialInfo, string][] = [
  ["base_color_texture", "Colour"], ["metallic_roughness_texture", "Metal and roughness"], ["normal_texture", "Normals"], ["occlusion_texture", "Occlusion"], ["emissive_texture", "Glow"],
];

export function materialList(app: App): HTMLElement {
  const list = h("div", {});
  const section = h("section", { hidden: true }, h("h2", {}, "Materials and textures"), list);
  app.on("character", (slot) => {
    if (slot !== 0) return;
    const info = app.characters[0];
    section.hidden = !info?.materials.length;
    list.replaceChildren(...(info?.materials ?? []).map((material, i) => row(app, info!, material, i)));
  });
  return section;
}

function row(app: App, info: CharacterInfo, material: MaterialInfo, number: number): HTMLElement {
  const name = material.name || `Material ${number}`;
  const one = toggle(name, (on) => {
    app.viewport.character()?.showMaterial(number, on);
    app.viewport.invalidate();
  });
  one.show(true);
  const [r, g, b] = material.base_color.map((v) => Math.round(255 * Math.min(1, Math.max(0, v)) ** (1 / 2.2)));
  const swatch = h("span", { class: "swatch", title: `Colour ${material.base_color.slice(0, 3).map((v) => v.toFixed(2)).join(", ")}` });
  swatch.style.background = `rgb(${r} ${g} ${b})`;
  one.element.prepend(swatch);
  const textures = TEXTURES.flatMap(([field, title]) => {
    const texture = material[field] as TextureInfo | null;
    return texture ? [thumbnail(app, info, `${title} of ${name}`, texture, number)] : [];
  });
  return h("div", { class: "material" }, one.element, textures.length ? h("div", { class: "thumbnails" }, ...textures) : null);
}

function thumbnail(app: App, info: CharacterInfo, title: string, texture: TextureInfo, material: number): HTMLElement {
  const image = h("img", { alt: "", width: 44, height: 44 });
  void app.images.url(info.slot, texture.image).then((url) => (image.src = url), () => {});
  return h(
    "button", { type: "button", class: "thumbnail", title: `${title}: show it with its UVs`, "aria-label": `${title}: show it with its UVs`, onclick: () => showTexture(app, title, texture, material) },
    image,
  );
}
