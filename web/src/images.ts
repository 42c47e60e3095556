/** `Images`: the images of characters, each fetched once, for whoever draws or shows them. */
import type { Source } from "./source";

export class Images {
  private readonly blobs = new Map<number, Map<number, Promise<Blob>>>();
  private readonly urls = new Map<number, Map<number, Promise<string>>>();

  constructor(private readonly source: Source) {}

  blob(slot: number, image: number): Promise<Blob> {
    return once(this.blobs, slot, image, async () => (await this.source.fetch(`api/image/${slot}/${image}`)).blob());
  }

  /** What an `<img>` shows: it can bring no token itself. */
  url(slot: number, image: number): Promise<string> {
    return once(this.urls, slot, image, async () => URL.createObjectURL(await this.blob(slot, image)));
  }

  /** Another character is in a slot. */
  forget(slot: number): void {
    for (const url of this.urls.get(slot)?.values() ?? []) void url.then((one) => URL.revokeObjectURL(one), () => {});
    this.urls.delete(slot);
    this.blobs.delete(slot);
  }
}

function once<T>(known: Map<number, Map<number, Promise<T>>>, slot: number, image: number, make: () => Promise<T>): Promise<T> {
  const own = known.get(slot) ?? new Map<number, Promise<T>>();
  known.set(slot, own);
  const found = own.get(image) ?? make();
  own.set(image, found);
  return found;
}
