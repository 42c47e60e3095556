/** Colours of the viewport in the two themes. */
export interface Palette {
  skyTop: string;
  skyBottom: string;
  floor: string;
  grid: string;
  gridStrong: string;
  shadow: number;
  accent: string;
  labelHalo: string;
}

export const PALETTES: Record<"dark" | "light", Palette> = {
  dark: {
    skyTop: "#23272e", skyBottom: "#15181c", floor: "#363c45", grid: "#39404a", gridStrong: "#4b5563", shadow: 0.46,
    accent: "#5cc8d7",
    labelHalo: "rgba(16,18,22,.85)",
  },
  light: {
    skyTop: "#f7f8fa", skyBottom: "#dde1e7", floor: "#eef0f3", grid: "#c3c9d2", gridStrong: "#a7afbb", shadow: 0.26,
    accent: "#086878",
    labelHalo: "rgba(255,255,255,.9)",
  },
};
