/** How the page shows things: kept in this browser, never sent. */
import type { MethodChoice } from "./view/character";
import type { HeatKind } from "./view/heat";

export type Compare = "off" | "skinning" | "files";
export type Theme = "dark" | "light";

export interface ViewOptions {
  theme: Theme;
  method: MethodChoice;
  compare: Compare;
  skeleton: boolean;
  names: boolean;
  axes: boolean;
  wireframe: boolean;
  normals: boolean;
  bounds: boolean;
  sockets: boolean;
  heat: boolean;
  heatOf: HeatKind;
  /** More influences than this are too many. */
  limit: number;
  path: boolean;
  contacts: boolean;
  grid: boolean;
  shadows: boolean;
  levels: boolean;
  follow: boolean;
}

const KEY = "marrow-studio";

export const DEFAULTS: ViewOptions = {
  theme: "dark", method: "file", compare: "off", skeleton: false, names: false, axes: false, wireframe: false,
  normals: false, bounds: false, sockets: false, heat: false, heatOf: "weights", limit: 4, path: false, contacts: false, grid: true, shadows: true, levels: false, follow: true,
};

/** What is worth keeping from visit to visit; the rest starts as it does for everybody. */
const KEPT = ["theme", "grid", "shadows"] as const;

export function loadOptions(): ViewOptions {
  const prefersLight = window.matchMedia?.("(prefers-color-scheme: light)").matches ?? false;
  const options: ViewOptions = { ...DEFAULTS, theme: prefersLight ? "light" : "dark" };
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<ViewOptions>;
    if (kept.theme === "dark" || kept.theme === "light") options.theme = kept.theme;
    for (const name of ["grid", "shadows"] as const) if (typeof kept[name] === "boolean") options[name] = kept[name];
  } catch {
    // A browser that keeps nothing is fine.
  }
  return options;
}

export function keepOptions(options: ViewOptions): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(KEPT.map((name) => [name, options[name]]))));
  } catch {
    // Private windows may refuse.
  }
}
