/** Keeps the marks of foot contacts those of the clip that plays. */
import type { App } from "../app";
import type { Contacts } from "../protocol";

export function followContacts(app: App): void {
  let shown = "";
  const refresh = async (): Promise<void> => {
    const clip = app.options.contacts ? app.clip : null;
    const key = clip ? `${app.characters[0]?.name}/${clip.name}/${clip.duration}` : "";
    if (key === shown) return;
    shown = key;
    const marks = app.viewport.overlays()?.contacts;
    marks?.show([], 1);
    app.viewport.invalidate();
    if (!clip) return;
    try {
      const { feet } = await app.connection.json<Contacts>("api/contacts", { slot: 0, clip: clip.name });
      if (key !== shown) return;
      marks?.show(feet, app.viewport.character()?.size ?? 1);
      if (!feet.length) app.emit("problem", "There are no feet to find contacts of: the character has no two legs.");
      app.viewport.invalidate();
    } catch (error) {
      app.emit("problem", (error as Error).message);
    }
  };
  app.on("state", () => void refresh());
  app.on("options", () => void refresh());
  app.on("character", (slot) => {
    if (slot === 0) shown = "";
    void refresh();
  });
}
