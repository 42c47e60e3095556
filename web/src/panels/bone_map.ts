/**
 * Motion of another skeleton: how its joints go onto the character's, chain by chain. Rows that are not sure are marked; every row
 * can be changed; the map is kept for this pair of skeletons. What the character's retarget profile says of a chain is beside it.
 */
import type { App } from "../app";
import type { MapAnswer, MapInfo, MapRow, UploadOffer } from "../protocol";
import { button, h, many } from "../ui/dom";
import { download } from "./files";
import { note } from "./notices";
import { headings, profileSettings } from "./profile_settings";

/** Milliseconds without a change of the profile until it is used. */
const QUIET = 250;

export interface BoneMap {
  element: HTMLElement;
  /** Asks about motion that was dropped. */
  open: (offer: UploadOffer & { name: string; slot: number }) => void;
}

/** `left_upper_arm` as a person writes it. */
const words = (chain: string): string => chain.replaceAll("_", " ");

/** `shown` brings the panel to the front, or says that it is no longer needed. */
export function boneMapPanel(app: App, shown: (on: boolean) => void): BoneMap {
  let map: MapInfo | null = null;
  let rows: MapRow[] = [];
  let busy = false;
  let edited = false;
  let character = "";
  /** The timer of changes that were not used yet; 0: there are none. */
  let waiting = 0;
  const later = (): void => {
    window.clearTimeout(waiting);
    waiting = window.setTimeout(() => {
      if (busy) later();
      else {
        waiting = 0;
        void post("api/profile", "add", profile.text());
      }
    }, QUIET);
  };
  const profile = profileSettings(later, (text) => void post("api/profile", "add", text));
  const title = h("h1", {});
  const said = h("p", { class: "note", role: "status" });
  const table = h("tbody", {});
  const left = h("p", { class: "note" });
  const put = button({ label: "Put the motion on the character", text: "Put it on", class: "primary", onclick: () => void send("add") });
  const beside = button({ label: "Put it on, and show the motion's own skeleton beside it", text: "With its source beside", onclick: () => void send("beside") });
  const keep = button({ label: "Save the map as a file", icon: "export", text: "Save map", onclick: () => download(new Blob([JSON.stringify(file(), null, 1)], { type: "application/json" }), "bone map.json") });
  const alone = button({ label: "Open the motion by itself", text: "Open by itself", onclick: () => {
    if (map) app.send({ type: "settle", offer: map.offer, how: "open" });
    shown(false);
  } });
  const options = h("datalist", { id: "map-targets" });
  const sources = h("datalist", { id: "map-sources" });
  const element = h(
    "div", { class: "bone-map" },
    h("header", {}, title, h("div", { class: "buttons" }, put, beside, alone, keep), button({ label: "Close the bone map", icon: "close", onclick: () => shown(false) })),
    profile.element, said,
    h("div", { class: "map-scroll" }, h("table", { class: "map" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Part"), h("th", { scope: "col" }, "Motion"), h("th", { scope: "col" }, "Character"), ...headings.map((text) => h("th", { scope: "col" }, text)))), table)),
    left, options, sources,
  );

  /** The map as a file has it. */
  function file(): unknown {
    return { format: "marrow bone map", version: 1, chains: Object.fromEntries(rows.filter((row) => row.source.length && row.target.length).map((row) => [row.chain, { source: row.source, target: row.target }])) };
  }

  function show(found: MapInfo): void {
    map = found;
    rows = found.rows.map((row) => ({ ...row }));
    edited = false;
    if (!waiting) profile.show(found.profile, character);
    options.replaceChildren(...found.target_joints.map((name) => h("option", { value: name })));
    sources.replaceChildren(...found.source_joints.map((name) => h("option", { value: name })));
    table.replaceChildren(...rows.map((row) => line(row)));
    const unsure = rows.filter((row) => !row.sure).length;
    const unmapped = [found.target_unmapped.length ? `${many(found.target_unmapped.length, "joint")} of the character ${found.target_unmapped.length === 1 ? "keeps its" : "keep their"} rest pose` : "", found.source_unmapped.length ? `${many(found.source_unmapped.length, "joint")} of the motion ${found.source_unmapped.length === 1 ? "is" : "are"} not used` : ""].filter(Boolean);
    left.textContent = unmapped.join("; ");
    left.title = [...found.target_unmapped, "", ...found.source_unmapped].join("\n").trim();
    said.textContent = [found.saved ? "A map you saved is used." : "", unsure ? `${many(unsure, "row is", "rows are")} not sure: look at them.` : "All rows are sure.", ...found.notes].filter(Boolean).join(" ");
  }

  /** A row: joints by name, those of a chain one after the other. */
  function line(row: MapRow): HTMLElement {
    const why = h("span", { class: "map-why" }, row.sure ? "" : row.why || "not sure");
    const cell = (side: "source" | "target", list: string): HTMLElement => {
      const input = h("input", { type: "text", class: "text", value: row[side].join(", "), "aria-label": `${side === "source" ? "Joints of the motion" : "Joints of the character"} for ${words(row.chain)}`, title: row[side].join(", "), onchange: () => {
        row[side] = input.value.split(",").map((name) => name.trim()).filter(Boolean);
        edited = true;
        const known = new Set(side === "source" ? map?.source_joints : map?.target_joints);
        const unknown = row[side].filter((name) => !known.has(name));
        input.setAttribute("aria-invalid", String(unknown.length > 0));
        why.textContent = unknown.length ? `there is no joint ${unknown.join(", ")}` : "";
        element.classList.toggle("edited", edited);
      } });
      // One joint is completed from the list; a chain is written out.
      if (row[side].length <= 1) input.setAttribute("list", list);
      return h("td", {}, input);
    };
    return h("tr", { class: row.sure ? "" : "unsure" }, h("th", { scope: "row" }, words(row.chain), why), cell("source", "map-sources"), cell("target", "map-targets"), ...profile.cells(row.chain, words(row.chain)));
  }

  const send = (how: "add" | "beside"): Promise<void> => post("api/map", how, JSON.stringify(file()));

  /** Uses the map or the profile as it is now, and shows what comes of it. */
  async function post(where: "api/map" | "api/profile", how: "add" | "beside", body: string): Promise<void> {
    if (!map || busy) return;
    busy = true;
    const typed = document.activeElement;
    put.disabled = beside.disabled = true;
    app.emit("loading", { text: "Putting the motion on", fraction: -1 });
    try {
      const answer = await app.source.fetch(where, { offer: map.offer, how }, { method: "POST", headers: { "Content-Type": "application/json" }, body });
      const found = (await answer.json()) as MapAnswer;
      if (found.error) said.textContent = found.error;
      else {
        if (found.map) show(found.map);
        focusAgain(typed);
        said.textContent = found.quality.join(" ") || `${many(found.clips.length, "clip")} put on.`;
        note(`${many(found.clips.length, "clip")} put on`);
      }
    } catch (error) {
      said.textContent = (error as Error).message;
    } finally {
      busy = false;
      put.disabled = beside.disabled = false;
      app.emit("loading", null);
    }
  }

  /** The rows are new: whoever was typing in one goes on there. */
  function focusAgain(typed: Element | null): void {
    const label = typed?.getAttribute("aria-label");
    if (!label || typed?.isConnected) return;
    for (const input of table.querySelectorAll("input")) if (input.getAttribute("aria-label") === label) input.focus();
  }

  const open = (offer: UploadOffer & { name: string; slot: number }): void => {
    if (!offer.map) return;
    character = offer.character;
    window.clearTimeout(waiting);
    waiting = 0;
    title.textContent = `${offer.name} onto ${offer.character || "the character"}`;
    show(offer.map);
    shown(true);
    put.focus();
  };
  return { element, open };
}
