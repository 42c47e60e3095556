/** Colours of the viewport in the two themes. */
export interface Palette {
  skyTop: string;
  skyBottom: string;
  floor: string;
  grid: string;
  gridStrong: string;
  shadow: number;
  bone: string;
  accent: string;
  bounds: string;
  maskOff: string;
  maskOn: string;
  pathStart: string;
  wire: number;
  normals: number;
  label: string;
  labelHalo: string;
}

export const PALETTES: Record<"dark" | "light", Palette> = {
  dark: {
    skyTop: "#23272e", skyBottom: "#15181c", floor: "#363c45", grid: "#39404a", gridStrong: "#4b5563", shadow: 0.46, bone: "#efe3c6",
    accent: "#5cc8d7", bounds: "#8a94a3", maskOff: "#1d3a66", maskOn: "#ffe14d", pathStart: "#3b5f7a", wire: 0x1a93a8,
    normals: 0x6fd0dd, label: "#e9ecf1", labelHalo: "rgba(16,18,22,.85)",
  },
  light: {
    skyTop: "#f7f8fa", skyBottom: "#dde1e7", floor: "#eef0f3", grid: "#c3c9d2", gridStrong: "#a7afbb", shadow: 0.26, bone: "#5b4f35",
    accent: "#086878", bounds: "#6b7480", maskOff: "#1d3a66", maskOn: "#e8b400", pathStart: "#9db8c8", wire: 0x1b2430,
    normals: 0x0a7f93, label: "#1b2026", labelHalo: "rgba(255,255,255,.9)",
  },
};
