/** Puts the page together, for whichever source its frames come from. */
import { App } from "./app";
import { listenToKeys } from "./keys";
import { boneMapPanel } from "./panels/bone_map";
import { checkPanel } from "./panels/check";
import { clipsPanel } from "./panels/clips";
import { crowdPanel } from "./panels/crowd";
import { lodPanel } from "./panels/lod";
import { displayPanel } from "./panels/display";
import { graphPanel } from "./panels/graph";
import { helpDialog } from "./panels/help";
import { infoPanel } from "./panels/info";
import { jointsPanel } from "./panels/joints";
import { notices } from "./panels/notices";
import { offerDialog } from "./panels/offer";
import { chooseCharacter, dropZone, openDialog } from "./panels/open";
import { rigPanel } from "./panels/rig";
import { saveMenu } from "./panels/save";
import { steerPanel } from "./panels/steer";
import { timelinePanel } from "./panels/timeline/timeline";
import { transport } from "./panels/transport";
import "./styles/studio.css";
import { button, h, many, segmented, tabs } from "./ui/dom";
import type { Source } from "./source";
import { resizeHandle } from "./ui/resize";

declare global {
  interface Window {
    /** For tests and for the curious. */
    marrowStudio?: App;
  }
}

/** As in the styles: below this sides lie under the picture, not over it. */
const NARROW = window.matchMedia("(max-width: 760px)");

export function buildStudio(root: HTMLElement, source: Source): void {
  let app: App;
  try {
    app = new App(source);
  } catch {
    root.append(h("div", { class: "nothing" }, h("strong", {}, "This browser cannot show the studio"), h("span", {}, "It needs WebGL 2 with float textures. Turn on hardware acceleration, or try another browser.")));
    return;
  }
  window.marrowStudio = app;
  const { can } = source;
  const help = helpDialog(app);

  // -- bars and panels --------------------------------------------------------------------------------------------
  const title = h("h1", { class: "title" }, "marrow studio");
  const facts = h("span", { class: "facts-line" });
  const mode = segmented("Mode", [["clip", "Clips"], ["graph", "Graph"]] as const, (value) => app.chooseMode(value));
  const drawer = (side: "left" | "right", label: string): HTMLButtonElement =>
    button({ label, icon: side, class: "drawer-button", onclick: () => {
      root.classList.toggle(`show-${side}`);
      root.classList.remove(side === "left" ? "show-right" : "show-left");
    } });
  const top = h(
    "header", { class: "top" },
    drawer("left", "Show clips and joints"),
    h("span", { class: "brand", "aria-hidden": "true" }, "marrow"),
    h("div", { class: "heading" }, title, facts),
    mode.element,
    can.has("open") ? button({ label: "Open a character (Ctrl O)", icon: "open", text: "Open", onclick: () => chooseCharacter(0) }) : null,
    saveMenu(app),
    button({ label: "Dark or light (T)", icon: "theme", onclick: () => app.set("theme", app.options.theme === "dark" ? "light" : "dark") }),
    button({ label: "Keyboard help (?)", icon: "help", onclick: () => help.showModal() }),
    drawer("right", "Show settings"),
  );
  const left = tabs("Character", [{ id: "clips", title: "Clips", panel: clipsPanel(app) }, { id: "joints", title: "Joints", panel: jointsPanel(app) }]);
  const right = tabs("Settings", [
    { id: "view", title: "View", panel: displayPanel(app) },
    { id: "rig", title: "Rig", panel: rigPanel(app) },
    { id: "steer", title: "Steer", panel: steerPanel(app) },
    { id: "crowd", title: "Crowd", panel: h("div", {}, crowdPanel(app), lodPanel(app)) },
    ...(can.has("check") ? [{ id: "check", title: "Check", panel: checkPanel(app) }] : []),
    { id: "info", title: "Info", panel: infoPanel(app) },
  ]);
  const map = can.has("open") ? boneMapPanel(app, (on) => {
    dock.enable("map", on);
    if (on) dock.show("map");
  }) : null;
  const dock = tabs("Motion", [
    { id: "timeline", title: "Timeline", panel: timelinePanel(app) }, { id: "graph", title: "Graph", panel: graphPanel(app) },
    ...(map ? [{ id: "map", title: "Bone map", panel: map.element }] : []),
  ]);
  if (map) dock.enable("map", false);
  const fill = button({ label: "Give the timeline and the graph the whole window", icon: "fill", pressed: false, onclick: () => fillWindow(!root.classList.contains("filled")) });
  const fillWindow = (on: boolean): void => {
    root.classList.toggle("filled", on);
    fill.setAttribute("aria-pressed", String(on));
  };
  const edges = {
    dock: resizeHandle(root, { side: "top", variable: "--dock", label: "Height of the timeline", size: 232, least: 110, most: () => 0.6 * window.innerHeight }),
    left: resizeHandle(root, { side: "right", variable: "--left", label: "Width of clips and joints", size: 232, least: 160, most: () => 0.4 * window.innerWidth }),
    right: resizeHandle(root, { side: "left", variable: "--right", label: "Width of the settings", size: 288, least: 232, most: () => 0.5 * window.innerWidth }),
  };
  dock.element.prepend(edges.dock.element, h("div", { class: "dock-head" }, transport(app), dock.bar, fill));

  // -- the viewport and what lies over it -------------------------------------------------------------------------
  const paneNames = h("div", { class: "panes", "aria-hidden": "true" }, h("span", {}), h("span", {}));
  const main = h("main", { class: "stage" }, app.viewport.element, paneNames, app.player.stick, ...notices(app));
  root.append(
    top,
    h("aside", { class: "side left", "aria-label": "Clips and joints" }, left.element, edges.left.element),
    main,
    h("aside", { class: "side right", "aria-label": "Settings" }, edges.right.element, right.element),
    h("footer", { class: "dock" }, dock.element),
    ...(map ? [dropZone(app, document.body), openDialog(app), offerDialog(app, map.open)] : []), help,
  );
  app.viewport.renderer.domElement.addEventListener("pointerdown", () => {
    // A drawer over the picture goes; where it lies below, there is no need to.
    if (!NARROW.matches) root.classList.remove("show-left", "show-right");
  });

  // -- what changes -----------------------------------------------------------------------------------------------
  let shownMode = "";
  /** Brings the panels of the mode to the front when it changes, and leaves them alone otherwise. */
  const showMode = (): void => {
    if (!app.state || !app.characters[0]) return;
    mode.show(app.state.mode);
    if (app.state.mode === shownMode) return;
    shownMode = app.state.mode;
    dock.show(shownMode === "graph" ? "graph" : "timeline");
    if (shownMode === "graph") {
      right.show("steer");
      // On a telephone a page to try begins with what there is to try.
      if (!can.has("open") && NARROW.matches) root.classList.add("show-right");
    } else if (right.current() === "steer") right.show("view");
  };
  app.on("state", showMode);
  app.on("room", () => fillWindow(true));
  app.on("graphless", () => {
    mode.show("clip");
    dock.show("graph");
  });
  window.addEventListener("keydown", (event) => event.key === "Escape" && fillWindow(false));
  const names = (): void => {
    const { compare } = app.options;
    const files = compare === "files" && app.characters[1] !== null;
    paneNames.hidden = compare !== "skinning" && !files;
    paneNames.children[0].textContent = files ? (app.characters[0]?.name ?? "") : "Linear blend";
    paneNames.children[1].textContent = files ? (app.characters[1]?.name ?? "") : "Dual quaternion";
  };
  app.on("character", (slot) => {
    names();
    if (slot !== 0) return;
    const info = app.characters[0];
    title.textContent = info?.name || "marrow studio";
    document.title = info ? `${info.name} · marrow studio` : "marrow studio";
    facts.textContent = info ? [many(info.joints.length, "joint"), many(info.vertices, "vertex", "vertices"), many(info.clips.length, "clip")].join(" · ") : "";
    title.title = info?.name ?? "";
    right.enable("steer", Boolean(info?.graph));
    mode.element.hidden = !can.has("open") && !info?.graph;
    if (!can.has("open")) dock.enable("graph", Boolean(info?.graph));
    if (!app.kept) shownMode = "";
    showMode();
  });
  const look = (): void => {
    document.documentElement.dataset["theme"] = app.options.theme;
    names();
  };
  app.on("options", look);
  look();
  listenToKeys(app, help);
  performance.mark("marrow: page built");
}
