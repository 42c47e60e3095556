/** The dialog that makes a video: format, size, rate and duration. */
import type { App } from "../app";
import { button, clamp, h, segmented } from "../ui/dom";
import { type FilmPlan, makeFilm } from "../video/film";
import { canEncode } from "../video/webm";
import { download, fileName } from "./files";

const SIZES: [string, number, number][] = [["640 × 360", 640, 360], ["1280 × 720", 1280, 720], ["1920 × 1080", 1920, 1080], ["720 × 720", 720, 720], ["1080 × 1920", 1080, 1920]];
const RATES = [10, 15, 20, 24, 25, 30, 50, 60];
const LONGEST = 120;

export function filmDialog(app: App): { element: HTMLDialogElement; open: () => void } {
  let format: FilmPlan["format"] = "webm";
  let cancel = false;
  let busy = false;
  const formats = segmented("Format", [["webm", "WebM"], ["gif", "GIF"]] as const, (value) => {
    format = value;
    formats.show(value);
    rate.value = value === "gif" ? "20" : "30";
    words();
  });
  const number = (label: string, value: string, min: number, max: number, step = 1): HTMLInputElement => h("input", { type: "number", class: "number", "aria-label": label, value, min: String(min), max: String(max), step: String(step), oninput: () => words() });
  const width = number("Width in pixels", "1280", 16, 3840, 2);
  const height = number("Height in pixels", "720", 16, 3840, 2);
  const seconds = number("Duration in seconds", "3", 0.1, LONGEST, 0.1);
  const size = h("select", { "aria-label": "Size", onchange: () => {
    const chosen = SIZES.find(([name]) => name === size.value);
    if (chosen) [width.value, height.value] = [String(chosen[1]), String(chosen[2])];
    words();
  } }, ...SIZES.map(([name]) => h("option", { value: name }, name)));
  size.value = "1280 × 720";
  const rate = h("select", { "aria-label": "Pictures a second", onchange: () => words() }, ...RATES.map((value) => h("option", { value: String(value) }, `${value} a second`)));
  rate.value = "30";
  const begin = h("select", { "aria-label": "Where it begins" }, h("option", { value: "start" }, "the start of the clip"), h("option", { value: "now" }, "now"));
  const row = (name: string, ...children: Node[]): HTMLElement => h("div", { class: "form-row" }, h("span", {}, name), h("div", {}, ...children));
  const note = h("p", { class: "note", role: "status" });
  const bar = h("progress", { max: 1, value: 0, "aria-label": "Progress of the video", hidden: true });
  const make = button({ label: "Make the video", text: "Make it", class: "primary", onclick: () => void run() });
  const stop = button({ label: "Close", text: "Cancel", onclick: () => (busy ? (cancel = true) : element.close()) });
  const element = h(
    "dialog", { class: "dialog film", "aria-label": "Make a video" },
    h("header", {}, h("h1", {}, "Make a video"), button({ label: "Close the dialog", icon: "close", onclick: () => {
      cancel = true;
      element.close();
    } })),
    row("Format", formats.element), row("Size", size, width, h("span", {}, "×"), height), row("Rate", rate), row("Duration", seconds, h("span", {}, "s")), row("From", begin),
    note, bar, h("div", { class: "buttons" }, make, stop),
  );

  function plan(): FilmPlan {
    const even = (input: HTMLInputElement): number => 2 * Math.round(clamp(Number(input.value) || 2, 16, 3840) / 2);
    const start = app.state?.mode === "clip" && begin.value === "start" ? (app.state.range?.[0] ?? 0) : null;
    return { format, width: even(width), height: even(height), rate: Number(rate.value), seconds: clamp(Number(seconds.value) || 1, 0.05, LONGEST), start };
  }

  function words(): void {
    const { rate: perSecond, seconds: long } = plan();
    const webm = format === "webm" && !canEncode() ? " This page may not encode WebM here: open it as localhost or over https, or make a GIF." : "";
    note.textContent = app.state?.driven ? "A Python program decides when time passes: record there, with `marrow.render`." : `${Math.max(1, Math.round(perSecond * long))} pictures, drawn one by one: none is left out, however long each takes.${webm}`;
    make.disabled = busy || Boolean(app.state?.driven) || Boolean(webm);
  }

  async function run(): Promise<void> {
    const wanted = plan();
    busy = true;
    cancel = false;
    bar.hidden = false;
    words();
    try {
      const film = await makeFilm(app, wanted, (done, all) => {
        bar.value = done / all;
        note.textContent = `Picture ${done} of ${all}`;
      }, () => cancel);
      if (film) download(film, `${fileName(app)}.${wanted.format}`);
      if (element.open) element.close();
    } catch (error) {
      app.emit("problem", (error as Error).message);
    } finally {
      busy = false;
      bar.hidden = true;
      words();
    }
  }

  const open = (): void => {
    const clip = app.state?.mode === "clip";
    const long = app.state?.range ? app.state.range[1] - app.state.range[0] : (app.state?.duration ?? 0);
    seconds.value = String(clip && long > 0 ? Number(Math.min(long, LONGEST).toFixed(3)) : 3);
    begin.disabled = !clip;
    formats.show(format);
    words();
    element.showModal();
  };
  return { element, open };
}
