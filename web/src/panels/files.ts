/** Files that are taken away: their names, and handing them to the browser. */
import type { App } from "../app";
import { note } from "./notices";

export function fileName(app: App): string {
  const parts = [app.characters[0]?.name || "character", app.state?.mode === "clip" ? app.state.clip : "graph"];
  return parts.filter(Boolean).join("-").replace(/[^\p{L}\p{N}_-]+/gu, "_");
}

export function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  note(`Saved ${name}`);
}
