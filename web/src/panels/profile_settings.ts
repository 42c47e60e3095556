/**
 * The retarget profile of the character: how motion goes onto each chain, and what becomes of its way over the ground. A change is
 * shown at once; the profile is a file that lies beside the character's.
 */
import { button, h } from "../ui/dom";
import { download } from "./files";

interface Chain {
  fk?: number;
  ik?: number;
  pole_degrees?: number;
  [other: string]: unknown;
}

interface Profile {
  chains?: Record<string, Chain>;
  root?: string;
  contacts?: boolean | "auto";
  [other: string]: unknown;
}

type Setting = "fk" | "ik" | "pole_degrees";

export interface ProfileSettings {
  /** What holds for the whole character, and the buttons. */
  element: HTMLElement;
  /** The profile as its file has it; `character` names the file. */
  show: (text: string, character: string) => void;
  text: () => string;
  /** The cells of a chain. */
  cells: (chain: string, words: string) => HTMLElement[];
}

const usual: Record<Setting, number> = { fk: 1, ik: 0, pole_degrees: 0 };
const ranges: Record<Setting, [number, number, number]> = { fk: [0, 1, 0.05], ik: [0, 1, 0.05], pole_degrees: [-180, 180, 5] };
const titles: Record<Setting, string> = { fk: "How much of the motion's turning it takes", ik: "How far its end goes to where the motion's is", pole_degrees: "Degrees that elbow or knee are turned outwards" };
export const headings = ["FK", "IK", "Pole"];

/** `changed` is called for every change; `loaded` for the text of a file that was chosen. */
export function profileSettings(changed: () => void, loaded: (text: string) => void): ProfileSettings {
  let profile: Profile = {};
  let name = "character";
  const choice = (label: string, options: [string, string][], set: (value: string) => void): HTMLSelectElement => {
    const select = h("select", { "aria-label": label, title: label, onchange: () => {
      set(select.value);
      changed();
    } }, ...options.map(([value, text]) => h("option", { value }, text)));
    return select;
  };
  const root = choice("What becomes of the way over the ground", [["travel", "Travels"], ["in place", "In place"], ["hips to root", "Hips to root"]], (value) => {
    profile.root = value;
  });
  const contacts = choice("Whether planted feet stay planted", [["auto", "Feet: where needed"], ["true", "Feet planted"], ["false", "Feet free"]], (value) => {
    profile.contacts = value === "auto" ? "auto" : value === "true";
  });
  const file = h("input", { type: "file", accept: ".json", hidden: true, "aria-label": "A retarget profile", onchange: () => {
    const chosen = file.files?.[0];
    file.value = "";
    if (chosen) void chosen.text().then(loaded);
  } });
  const load = button({ label: "Load a retarget profile", text: "Load profile", onclick: () => file.click() });
  const save = button({ label: "Save the retarget profile, to lie beside the character's file", icon: "export", text: "Save profile", onclick: () => download(new Blob([`${text()}\n`], { type: "application/json" }), `${name}.retarget.json`) });
  const element = h("div", { class: "map-profile" }, root, contacts, load, save, file);

  const text = (): string => JSON.stringify(profile, null, 2);

  function show(said: string, character: string): void {
    profile = JSON.parse(said) as Profile;
    name = character || "character";
    root.value = profile.root ?? "travel";
    contacts.value = String(profile.contacts ?? "auto");
  }

  function cell(chain: string, setting: Setting, words: string): HTMLElement {
    const limb = /_(arm|leg)$/.test(chain);
    if (setting !== "fk" && !limb) return h("td", {});
    const [low, high, step] = ranges[setting];
    const input = h("input", { type: "number", class: "number", min: String(low), max: String(high), step: String(step), value: String(profile.chains?.[chain]?.[setting] ?? usual[setting]), title: titles[setting], "aria-label": `${titles[setting]}: ${words}`, onchange: () => {
      const value = Number(input.value);
      const wrong = !input.value || !Number.isFinite(value) || value < low || value > high;
      input.setAttribute("aria-invalid", String(wrong));
      if (wrong) return;
      const mine: Chain = { ...profile.chains?.[chain] };
      if (value === usual[setting]) delete mine[setting];
      else mine[setting] = value;
      profile.chains = { ...profile.chains, [chain]: mine };
      changed();
    } });
    return h("td", {}, input);
  }

  const cells = (chain: string, words: string): HTMLElement[] => (["fk", "ik", "pole_degrees"] as const).map((setting) => cell(chain, setting, words));
  return { element, show, text, cells };
}
