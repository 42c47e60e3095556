/** Makes a video picture by picture: time is moved on by exactly one picture, that is drawn, and encoded. */
import type { App } from "../app";
import { GifEncoder } from "./gif";
import { WebmEncoder } from "./webm";

export interface FilmPlan {
  format: "webm" | "gif";
  width: number;
  height: number;
  /** Pictures a second. */
  rate: number;
  seconds: number;
  /** Where in the clip it begins; null: where it is now. */
  start: number | null;
}

/** Hundredths of a second to the next picture: GIF knows no others, and they must not add up to a drift. */
function hundredths(number: number, rate: number): number {
  return Math.max(1, Math.round((100 * (number + 1)) / rate) - Math.round((100 * number) / rate));
}

/** The file's bytes; null where it was cancelled. */
export async function makeFilm(app: App, plan: FilmPlan, progress: (done: number, all: number) => void, cancelled: () => boolean): Promise<Blob | null> {
  const pictures = Math.max(1, Math.round(plan.seconds * plan.rate));
  const canvas = new OffscreenCanvas(plan.width, plan.height);
  const context = canvas.getContext("2d", { willReadFrequently: plan.format === "gif" })!;
  const gif = plan.format === "gif" ? new GifEncoder(plan.width, plan.height) : null;
  const webm = gif ? null : await WebmEncoder.open(plan.width, plan.height, plan.rate);
  const wasPlaying = app.state?.playing ?? false;
  app.viewport.record(plan);
  try {
    await app.advance(0, plan.start);
    for (let number = 0; number < pictures; number++) {
      if (cancelled()) {
        webm?.cancel();
        return null;
      }
      if (number) await app.advance(1 / plan.rate);
      app.viewport.drawInto(context);
      if (gif) gif.add(context.getImageData(0, 0, plan.width, plan.height).data, hundredths(number, plan.rate));
      else await webm!.add(canvas, number);
      progress(number + 1, pictures);
      // Lets the page breathe: it can be cancelled, and shows how far it is.
      await new Promise((done) => setTimeout(done));
    }
    const bytes = gif ? gif.finish() : await webm!.finish(pictures);
    return new Blob([bytes], { type: gif ? "image/gif" : "video/webm" });
  } finally {
    app.viewport.record(null);
    if (wasPlaying) app.send({ type: "play", playing: true });
  }
}
