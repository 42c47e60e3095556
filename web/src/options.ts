/** How the page shows things: kept in this browser, never sent. */
import type { SetViews } from "./protocol";
import type { MethodChoice } from "./view/character";

export type Compare = "off" | "skinning" | "files";
export type Theme = "dark" | "light";

export interface ViewOptions {
  theme: Theme;
  method: MethodChoice;
  compare: Compare;
  /** The views that are drawn, as `mw.render(view=...)` takes them: "skeleton+ghosts:8". Joints are those that are picked. */
  views: string;
  /** What the view `difference` is a difference to. */
  differenceTo: SetViews["compare"];
  grid: boolean;
  shadows: boolean;
  follow: boolean;
}

/** The views of an option, by name, with what follows their colon. */
export function viewsOf(text: string): Map<string, string> {
  return new Map(text.split("+").filter(Boolean).map((one) => [one.split(":")[0], one.split(":").slice(1).join(":")]));
}

export function viewsText(views: Map<string, string>): string {
  return [...views].map(([name, argument]) => (argument ? `${name}:${argument}` : name)).join("+");
}

const KEY = "marrow-studio";

export const DEFAULTS: ViewOptions = {
  theme: "dark", method: "file", compare: "off", views: "", differenceTo: "skinning", grid: true, shadows: true, follow: true,
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
