/** Opening characters: a dialog with a file picker and the samples, and drag and drop anywhere on the page. */
import type { App } from "../app";
import { button, h, icon } from "../ui/dom";
import { chosenFiles, droppedFiles } from "../ui/files";

const FORMATS = ".glb,.gltf,.fbx,.bvh,.marrow,.usd,.usda,.usdc,.usdz,.vrm,.json";
/** What a glTF or an FBX may need besides. */
const COMPANIONS = ".bin,.png,.jpg,.jpeg,.webp,.avif,.gif,.bmp,.tga,.ktx2";
const WHAT = "GLB, glTF, VRM, FBX, BVH, USD or .marrow, or a graph (JSON)";

let open: ((slot: number) => void) | null = null;

/** Shows the dialog that opens a character into a slot. */
export function chooseCharacter(slot: number): void {
  open?.(slot);
}

export function openDialog(app: App): HTMLElement {
  let slot = 0;
  const file = h("input", { type: "file", multiple: true, accept: `${FORMATS},${COMPANIONS}`, hidden: true, "aria-label": "Choose a file", onchange: () => {
    void app.upload(chosenFiles(file), slot);
    file.value = "";
    dialog.close();
  } });
  const samples = h("ul", { class: "list samples", "aria-label": "Samples" });
  const title = h("h1", {}, "Open a character");
  const dialog = h(
    "dialog", { class: "dialog", "aria-label": "Open a character" },
    h("header", {}, title, button({ label: "Close", icon: "close", onclick: () => dialog.close() })),
    h(
      "button", { type: "button", class: "dropbox", autofocus: true, onclick: () => file.click() },
      icon("open"), h("strong", {}, "Choose a file"), h("span", {}, "or drop one anywhere on the page"),
      h("span", { class: "note" }, `${WHAT}, with the files it uses`),
    ),
    h("h2", {}, "Samples"), samples, file,
  );
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  app.on("hello", (hello) =>
    samples.replaceChildren(
      ...hello.samples.map((sample) =>
        h("li", {}, h(
          "button",
          { type: "button", class: "row", onclick: () => {
            app.send({ type: "open", sample: sample.name, slot });
            dialog.close();
          } },
          h("span", { class: "row-name" }, sample.name), h("span", { class: "row-note wide" }, sample.description),
        )),
      ),
    ),
  );
  open = (where) => {
    slot = where;
    title.textContent = slot === 1 ? "Open a second character to compare" : "Open a character";
    if (!dialog.open) dialog.showModal();
  };
  return dialog;
}

/** Takes files dropped on the page. With two files compared, the right half opens into the second slot. */
export function dropZone(app: App, root: HTMLElement): HTMLElement {
  const text = h("strong", {}, "Drop to open");
  const veil = h("div", { class: "veil", hidden: true }, h("div", { class: "dropbox" }, icon("open"), text, h("span", { class: "note" }, WHAT)));
  let depth = 0;
  const slotAt = (event: DragEvent): number => {
    const frame = app.viewport.element.getBoundingClientRect();
    return app.options.compare === "files" && event.clientX > frame.left + frame.width / 2 ? 1 : 0;
  };
  const carries = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;
  root.addEventListener("dragenter", (event) => {
    if (!carries(event)) return;
    depth++;
    veil.hidden = false;
  });
  root.addEventListener("dragleave", (event) => {
    if (carries(event) && --depth <= 0) veil.hidden = true;
  });
  root.addEventListener("dragover", (event) => {
    if (!carries(event)) return;
    event.preventDefault();
    text.textContent = slotAt(event) === 1 ? "Drop to open on the right" : "Drop to open";
  });
  root.addEventListener("drop", (event) => {
    if (!carries(event)) return;
    event.preventDefault();
    depth = 0;
    veil.hidden = true;
    const slot = slotAt(event);
    if (event.dataTransfer) void droppedFiles(event.dataTransfer).then((files) => app.upload(files, slot), () => app.emit("problem", "What was dropped could not be read."));
  });
  return veil;
}
