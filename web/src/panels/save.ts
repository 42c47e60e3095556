/** What can be taken away: a picture, a video, a GLB, the Python code. */
import type { App } from "../app";
import { button, h, icon } from "../ui/dom";
import { note } from "./notices";

const VIDEO_TYPES = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"];

export function saveMenu(app: App): HTMLElement {
  let recorder: MediaRecorder | null = null;
  const menu = h("div", { class: "menu", role: "menu", "aria-label": "Save", hidden: true });
  const opener = button({ label: "Save and export", icon: "export", text: "Save", onclick: () => show(menu.hidden === true) });
  opener.setAttribute("aria-haspopup", "menu");
  opener.setAttribute("aria-expanded", "false");
  const stop = button({ label: "Stop recording", icon: "record", text: "Stop", class: "recording", onclick: () => recorder?.stop() });
  stop.hidden = true;

  const items: [string, string, string, () => void][] = [
    ["camera", "Picture", "PNG", () => void app.viewport.snapshot().then((blob) => download(blob, `${fileName(app)}.png`))],
    ["record", "Record video", "WebM", record],
    ["export", "Export character", "GLB", () => void exportGlb(app)],
    ["code", "Copy Python code", "", () => void copyCode(app)],
  ];
  menu.append(...items.map(([picture, text, kind, run]) =>
    h("button", { type: "button", role: "menuitem", class: "menu-item", onclick: () => {
      show(false);
      run();
    } }, icon(picture), h("span", {}, text), kind ? h("span", { class: "row-note" }, kind) : null)));
  menu.addEventListener("keydown", (event) => {
    const all = [...menu.children] as HTMLElement[];
    const at = all.indexOf(document.activeElement as HTMLElement);
    if (event.key === "ArrowDown") all[(at + 1) % all.length].focus();
    else if (event.key === "ArrowUp") all[(at - 1 + all.length) % all.length].focus();
    else if (event.key === "Escape") {
      show(false);
      opener.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  function show(on: boolean): void {
    menu.hidden = !on;
    opener.setAttribute("aria-expanded", String(on));
    if (on) (menu.firstElementChild as HTMLElement).focus();
  }
  document.addEventListener("pointerdown", (event) => {
    if (!menu.hidden && !box.contains(event.target as Node)) show(false);
  });

  function record(): void {
    const type = VIDEO_TYPES.find((one) => typeof MediaRecorder !== "undefined" && MediaRecorder.isTypeSupported(one));
    if (!type) {
      app.emit("problem", "This browser cannot record video.");
      return;
    }
    app.viewport.recording = true;
    const stream = app.viewport.renderer.domElement.captureStream(60);
    const parts: Blob[] = [];
    recorder = new MediaRecorder(stream, { mimeType: type, videoBitsPerSecond: 8_000_000 });
    recorder.ondataavailable = (event) => event.data.size > 0 && parts.push(event.data);
    recorder.onstop = () => {
      stream.getTracks().forEach((track) => track.stop());
      app.viewport.recording = false;
      stop.hidden = true;
      opener.hidden = false;
      recorder = null;
      download(new Blob(parts, { type }), `${fileName(app)}.webm`);
    };
    recorder.start(500);
    stop.hidden = false;
    opener.hidden = true;
    app.viewport.invalidate();
  }
  const box = h("div", { class: "menu-box" }, opener, stop, menu);
  return box;
}

function fileName(app: App): string {
  const parts = [app.characters[0]?.name || "character", app.state?.mode === "clip" ? app.state.clip : "graph"];
  return parts.filter(Boolean).join("-").replace(/[^\w.-]+/g, "_");
}

function download(blob: Blob, name: string): void {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  note(`Saved ${name}`);
}

async function exportGlb(app: App): Promise<void> {
  app.emit("loading", { text: "Writing the GLB", fraction: -1 });
  try {
    const answer = await app.connection.fetch("api/export.glb", { slot: 0 });
    download(await answer.blob(), `${app.characters[0]?.name || "character"}.glb`);
  } catch (error) {
    app.emit("problem", (error as Error).message);
  } finally {
    app.emit("loading", null);
  }
}

async function copyCode(app: App): Promise<void> {
  try {
    const text = await app.connection.text("api/code");
    try {
      await navigator.clipboard.writeText(text);
      note("Python code copied");
    } catch {
      showCode(text);
    }
  } catch (error) {
    app.emit("problem", (error as Error).message);
  }
}

/** Where a page may not write to the clipboard (plain http to another machine), the code is shown to be copied by hand. */
function showCode(text: string): void {
  const dialog = h(
    "dialog", { class: "dialog", "aria-label": "Python code" },
    h("header", {}, h("h1", {}, "Python code"), button({ label: "Close", icon: "close", onclick: () => dialog.close() })),
    h("pre", { class: "code", tabIndex: 0 }, text),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
