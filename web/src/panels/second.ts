/** The clip of the second file: its own, or the one that goes with the first's. */
import type { App } from "../app";
import type { CharacterInfo } from "../protocol";
import { h } from "../ui/dom";

export function secondClip(app: App, other: CharacterInfo): HTMLElement | "" {
  if (!other.clips.length) return "";
  const choice = h(
    "select", { "aria-label": "Clip of the second character", onchange: () => app.send({ type: "clip", name: choice.value, slot: 1 }) },
    ...other.clips.map((clip) => h("option", { value: clip.name }, app.clipLabel(clip.name, 1))),
  );
  const same = other.clips.find((clip) => clip.name === app.state?.clip);
  if (same) choice.value = same.name;
  return choice;
}
